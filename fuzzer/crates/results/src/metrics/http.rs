//! Minimal HTTP server for the metrics page. One thread, with bounded memory and time: a slow client delays nobody
//! else.

use std::{
    collections::VecDeque,
    io::{ErrorKind, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::fd::AsRawFd,
    time::{Duration, Instant},
};

/// Largest number of open connections; a further one closes the oldest.
const CONNECTIONS: usize = 64;

/// Time limit from accepting a connection to the last byte of the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Largest size of a request, in bytes.
const LONGEST_REQUEST: usize = 8192;

/// Pause after an error that may persist, such as no free descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// An HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Status line without the version, such as `200 OK`.
    pub status: &'static str,
    /// Media type of the body.
    pub kind: &'static str,
    /// Bytes of the page.
    pub body: Vec<u8>,
}

impl Answer {
    /// Creates a response whose body is its status.
    pub(super) fn plain(status: &'static str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{status}\n").into_bytes() }
    }

    fn to_bytes(&self, with_body: bool) -> Vec<u8> {
        let Self { status, kind, body } = self;
        let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}Cache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let mut bytes = head.into_bytes();
        if with_body {
            bytes.extend_from_slice(body);
        }
        bytes
    }
}

/// Serves requests for as long as the process lives. `answer` gets the path, without the query.
pub(super) fn serve(listener: &TcpListener, answer: &mut dyn FnMut(&str) -> Answer) {
    let mut connections: VecDeque<Connection> = VecDeque::new();
    if listener.set_nonblocking(true).is_err() {
        return;
    }
    loop {
        wait(listener, &connections);
        accept(listener, &mut connections);
        connections.retain_mut(|connection| connection.go_on(answer));
    }
}

/// Waits until a socket is ready or the oldest connection has timed out.
fn wait(listener: &TcpListener, connections: &VecDeque<Connection>) {
    let entry = |descriptor, events| libc::pollfd { fd: descriptor, events, revents: 0 };
    let mut entries = vec![entry(listener.as_raw_fd(), libc::POLLIN)];
    entries.extend(connections.iter().map(|connection| {
        let events = if connection.answer.is_empty() { libc::POLLIN } else { libc::POLLOUT };
        entry(connection.stream.as_raw_fd(), events)
    }));
    // the oldest connection comes first
    let timeout = connections.front().map_or(-1, |oldest| {
        let left = oldest.until.saturating_duration_since(Instant::now());
        i32::try_from(left.as_millis()).unwrap_or(0) + 1
    });
    // SAFETY: so many entries, of open descriptors.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout) };
}

fn accept(listener: &TcpListener, connections: &mut VecDeque<Connection>) {
    for _ in 0..CONNECTIONS {
        match listener.accept() {
            Ok((stream, _)) => {
                if stream.set_nonblocking(true).is_ok() {
                    if connections.len() == CONNECTIONS {
                        connections.pop_front();
                    }
                    connections.push_back(Connection::new(stream));
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            Err(_) => {
                connections.pop_front();
                std::thread::sleep(PAUSE);
                return;
            }
        }
    }
}

struct Connection {
    stream: TcpStream,
    until: Instant,
    request: Vec<u8>,
    /// Bytes of the response; empty until the request is complete.
    answer: Vec<u8>,
    sent: usize,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        let until = Instant::now() + PATIENCE;
        Self { stream, until, request: Vec::new(), answer: Vec::new(), sent: 0 }
    }

    /// Reads and writes as much as is possible without blocking. Returns whether the connection stays open.
    fn go_on(&mut self, answer: &mut dyn FnMut(&str) -> Answer) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let done = if self.answer.is_empty() { self.read(answer) } else { Ok(()) }.and_then(|()| self.write());
        match done {
            Ok(()) if self.answer.is_empty() || self.sent < self.answer.len() => true,
            Ok(()) => {
                let _ = self.stream.shutdown(Shutdown::Write);
                false
            }
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    fn read(&mut self, answer: &mut dyn FnMut(&str) -> Answer) -> std::io::Result<()> {
        let mut part = [0; 1024];
        while self.answer.is_empty() {
            match self.stream.read(&mut part)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                length => self.request.extend_from_slice(&part[..length]),
            }
            // lines may end without a carriage return
            let is_whole = self.request.windows(3).any(|end| end == b"\n\r\n")
                || self.request.windows(2).any(|end| end == b"\n\n");
            if is_whole {
                self.answer = respond(&self.request, answer);
            } else if self.request.len() > LONGEST_REQUEST {
                self.answer = Answer::plain("431 Request Header Fields Too Large").to_bytes(true);
            }
        }
        Ok(())
    }

    fn write(&mut self) -> std::io::Result<()> {
        while self.sent < self.answer.len() {
            self.sent += self.stream.write(&self.answer[self.sent..])?;
        }
        Ok(())
    }
}

fn respond(request: &[u8], answer: &mut dyn FnMut(&str) -> Answer) -> Vec<u8> {
    let line = request.split(|&byte| b"\r\n".contains(&byte)).next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let words: Vec<&str> = line.split(' ').collect();
    let &[method, path, version] = words.as_slice() else {
        return Answer::plain("400 Bad Request").to_bytes(true);
    };
    if !version.starts_with("HTTP/1.") || !path.starts_with('/') {
        return Answer::plain("400 Bad Request").to_bytes(true);
    }
    match method {
        "GET" | "HEAD" => answer(path.split('?').next().unwrap_or_default()).to_bytes(method == "GET"),
        _ => Answer::plain("405 Method Not Allowed").to_bytes(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    /// Starts a server that answers a path such as `/5` with a page of that many bytes.
    fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut answer = |path: &str| match path[1..].parse() {
            Ok(length) => Answer { status: "200 OK", kind: "text/plain", body: vec![b'x'; length] },
            Err(_) => Answer::plain("404 Not Found"),
        };
        std::thread::spawn(move || serve(&listener, &mut answer));
        address
    }

    fn ask(server: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(server).unwrap();
        stream.write_all(request).unwrap();
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    #[test]
    fn requests_get_the_page_that_they_name() {
        let server = server();
        let text = ask(server, b"GET /5?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\nxxxxx"), "{text}");
        assert!(ask(server, b"HEAD /5 HTTP/1.0\r\n\r\n").ends_with("Connection: close\r\n\r\n"));
        assert!(ask(server, b"GET /x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(ask(server, b"GET /5 HTTP/1.1\nHost: x\n\n").ends_with("\r\n\r\nxxxxx"));
        let refused = ask(server, b"POST /5 HTTP/1.1\r\n\r\n");
        assert!(refused.starts_with("HTTP/1.1 405 ") && refused.contains("\r\nAllow: GET, HEAD\r\n"), "{refused}");
        for wrong in
            [&b"\r\n\r\n"[..], b"GET\r\n\r\n", b"GET x HTTP/1.1\r\n\r\n", b"GET / SPDY\r\n\r\n", b"\xff\x00 / \r\n\r\n"]
        {
            assert!(ask(server, wrong).starts_with("HTTP/1.1 400 "), "{wrong:?}");
        }
    }

    #[test]
    fn a_large_answer_arrives_whole_and_a_long_request_is_refused() {
        let server = server();
        let text = ask(server, b"GET /5000000 HTTP/1.1\r\n\r\n");
        assert!(text.ends_with(&format!("\r\n\r\n{}", "x".repeat(5_000_000))));
        let long = [&b"GET /5 HTTP/1.1\r\nX: "[..], &[b'y'; LONGEST_REQUEST]].concat();
        assert!(ask(server, &long).starts_with("HTTP/1.1 431 "));
    }

    #[test]
    fn those_who_say_nothing_hold_up_nobody() {
        let server = server();
        let silent: Vec<TcpStream> = (0..2 * CONNECTIONS).map(|_| TcpStream::connect(server).unwrap()).collect();
        // each of them asks for much and reads nothing
        for mut stream in silent.iter().skip(CONNECTIONS) {
            let _ = stream.write_all(b"GET /200000 HTTP/1.1\r\n\r\n");
        }
        assert!(ask(server, b"GET /5 HTTP/1.1\r\n\r\n").ends_with("xxxxx"));
    }
}
