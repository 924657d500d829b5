//! Address of the metrics endpoint: the value of `--metrics`.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs},
};

use quagmire_base::error::{Error, Result};

/// Host and port, as typed. Without a host, every address of this machine, as with Prometheus' own exporters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Host name or IP address; `None` for every address of this machine.
    host: Option<String>,
    /// Port; 0 lets the system choose one.
    port: u16,
}

impl Address {
    /// Parses a text such as `127.0.0.1:9091`, `[::1]:9091`, `localhost:0` or `:9091`.
    ///
    /// # Errors
    /// A usage error with the remedy, for any other text.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            Error::usage(format!(
                "--metrics: `{text}` is no address and port: write 127.0.0.1:9091 for this machine only, :9091 for \
                 everybody who reaches it"
            ))
        };
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok()).flatten();
        let port = port.ok_or_else(wrong)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let plain = |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
        match bare {
            Some(address) if address.parse::<Ipv6Addr>().is_ok() => Ok(Self { host: Some(address.to_owned()), port }),
            None if host.is_empty() => Ok(Self { host: None, port }),
            None if plain(host) => Ok(Self { host: Some(host.to_owned()), port }),
            _ => Err(wrong()),
        }
    }

    /// Whether the system chooses the port, so that it is known only after [`Self::listen`].
    pub fn is_chosen_by_system(&self) -> bool {
        self.port == 0
    }

    /// Opens a listening socket at this address.
    ///
    /// # Errors
    /// If the port is in use or not permitted, or the host is not this machine; the message names the remedy.
    pub fn listen(&self) -> Result<TcpListener> {
        let listening = match &self.host {
            // both families where there is IPv6
            None => TcpListener::bind((Ipv6Addr::UNSPECIFIED, self.port))
                .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, self.port))),
            Some(host) => (host.as_str(), self.port)
                .to_socket_addrs()
                .and_then(|addresses| TcpListener::bind(addresses.collect::<Vec<_>>().as_slice())),
        };
        listening.map_err(|error| {
            use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
            let host = self.host.as_deref().map_or_else(String::new, bracketed);
            let remedy = match error.kind() {
                AddrInUse => {
                    format!("the port is in use: choose another one, or --metrics {host}:0 for any that is free")
                }
                PermissionDenied => "not permitted: choose a port above 1023".into(),
                AddrNotAvailable => "not an address of this machine: write 127.0.0.1 or leave the host out".into(),
                _ => format!("{error}: write 127.0.0.1:9091 for this machine only"),
            };
            Error::other(format!("--metrics {self}: {remedy}"))
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host.as_deref().map_or_else(String::new, bracketed), self.port)
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// URL of the metrics for a browser on this machine.
pub(super) fn url(address: SocketAddr) -> String {
    let host = match address.ip() {
        ip if ip.is_unspecified() => "localhost".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    };
    format!("http://{host}:{}/metrics", address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Address::parse(text).unwrap_err().message
    }

    #[test]
    fn addresses_are_a_host_and_a_port() {
        for text in ["127.0.0.1:9091", "[::1]:9091", "localhost:0", ":9091", "0.0.0.0:65535"] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        for wrong in ["", "9091", "localhost", "::1:9091", "[::1:9091", "[x]:1", ":", "a:b", ":65536", ":+1", "a b:1"] {
            assert!(refused(wrong).contains("write 127.0.0.1:9091 for this machine only"), "{wrong}");
        }
    }

    #[test]
    fn a_port_that_is_in_use_is_refused_with_a_remedy() {
        let taken = Address::parse("127.0.0.1:0").unwrap().listen().unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = Address::parse(&format!("127.0.0.1:{port}")).unwrap().listen().unwrap_err();
        assert!(error.message.contains("in use: choose another one, or --metrics 127.0.0.1:0"), "{error}");
        assert!(url(taken.local_addr().unwrap()).starts_with("http://127.0.0.1:"));
    }

    #[test]
    fn an_address_of_another_machine_is_refused() {
        // 192.0.2.0/24 is for documentation: nobody has it
        let error = Address::parse("192.0.2.1:0").unwrap().listen().unwrap_err();
        assert!(error.message.contains("not an address of this machine"), "{error}");
    }

    #[test]
    fn without_a_host_it_is_every_address() {
        let listener = Address::parse(":0").unwrap().listen().unwrap();
        let address = listener.local_addr().unwrap();
        assert!(address.ip().is_unspecified());
        assert!(url(address).starts_with("http://localhost:"));
        std::net::TcpStream::connect(("127.0.0.1", address.port())).unwrap();
    }
}
