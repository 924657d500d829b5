//! The option `--metrics`: metrics of a running campaign, over HTTP.

use std::{io::BufRead, io::BufReader, io::Read, io::Write, net::TcpListener, net::TcpStream};

use crate::common::*;

fn get(address: &str, path: &str) -> Option<(String, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head.to_owned(), body.to_owned()))
}

/// Samples of a metrics page; asserts that each is of a metric that was declared.
#[track_caller]
fn samples(page: &str) -> BTreeMap<String, f64> {
    let mut kinds = BTreeMap::new();
    let mut samples = BTreeMap::new();
    for line in page.lines() {
        if let Some(of) = line.strip_prefix("# TYPE ") {
            let (name, kind) = of.split_once(' ').expect("a kind");
            assert_eq!(kinds.insert(name, kind), None, "{name} is announced twice");
        } else if !line.starts_with("# HELP ") {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let name = series.split('{').next().expect("a name");
            let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let is_known =
                kinds.contains_key(name) || of_histogram.is_some_and(|of| kinds.get(of) == Some(&"histogram"));
            assert!(is_known, "{series} was not announced");
            assert_eq!(samples.insert(series.to_owned(), value.parse().expect("a number")), None, "{series} twice");
        }
    }
    samples
}

#[test]
fn a_running_campaign_shows_its_figures() {
    let scene = Scene::new(GREETING);
    let options = "--seed 1 --max-size 200 --time 1h --no-plotting --metrics 127.0.0.1:0";
    let mut campaign = start(&mut scene.campaign(&harness("quadratic.c"), options));
    // the first line says where
    let mut output = BufReader::new(campaign.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("text");
    let address = line.trim().strip_prefix("Metrics: http://").and_then(|url| url.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
    std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    let page = || get(&address, "/metrics").map(|(_, page)| samples(&page));
    let executions = || page()?.get("quagmire_executions_total").copied();
    let first = wait_until("there are figures", executions);
    assert_eq!(page().expect("a page")["quagmire_up"], 1.0);
    assert!(get(&address, "/metrics").expect("a page").0.contains("text/plain; version=0.0.4"));
    assert!(get(&address, "/nothing").expect("an answer").0.starts_with("HTTP/1.1 404"));
    // workers come and go, the figures stay
    for process in children(campaign.id()) {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        if !name.starts_with("quagmire-metric") {
            signal(process, libc::SIGKILL);
        }
    }
    assert!(executions() >= Some(first));
    wait_until("they go on", || executions().filter(|now| *now > first));
    let shown = page().expect("a page");
    for resource in ["instructions", "time_seconds", "heap_bytes", "stack_bytes"] {
        let count = shown[&format!("quagmire_run_{resource}_count")];
        assert!(count > 0.0 && count == shown[&format!("quagmire_run_{resource}_bucket{{le=\"+Inf\"}}")]);
    }
    signal(campaign.id(), libc::SIGINT);
    campaign.wait().expect("a child");
    // nobody is left who holds the port
    TcpListener::bind(&address).expect("it is free");
    assert_eq!(scene.summary()["stopped_by"], "signal");
    assert!(number(&scene.summary()["entries"]) > 0);
}

#[test]
fn the_port_goes_with_a_campaign_that_is_killed() {
    let scene = Scene::new(GREETING);
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let options = format!("--seed 1 --max-size 200 --time 1h --metrics {free}");
    let mut campaign = start_silently(&mut scene.campaign(&harness("quadratic.c"), &options));
    wait_until("it answers", || get(&free.to_string(), "/"));
    campaign.kill().expect("killed");
    campaign.wait().expect("a child");
    wait_until("the port is free", || TcpListener::bind(free).ok());
}

#[test]
fn an_address_that_cannot_be_is_refused_before_anything_is_written() {
    let scene = Scene::new(GREETING);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let in_use = taken.local_addr().expect("an address").to_string();
    for (address, code, remedy) in [
        ("9091", 2, "write 127.0.0.1:9091 for this machine only"),
        ("192.0.2.1:9091", 1, "not an address of this machine"),
        (in_use.as_str(), 1, "--metrics 127.0.0.1:0 for any that is free"),
    ] {
        scene.fuzz(&harness("quadratic.c"), &format!("--execs 10 --metrics {address}")).refused(code, &[remedy]);
        assert!(!scene.path("out").exists());
    }
}
