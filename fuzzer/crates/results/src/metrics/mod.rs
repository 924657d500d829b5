//! Prometheus endpoint (`--metrics`), served by a process of its own, which only reads the output folder. It starts
//! before the first worker and ends with the process that started it.

mod address;
mod exposition;
mod figures;
mod http;

pub use address::Address;
pub use figures::About;

use std::{
    fs::File,
    net::TcpListener,
    os::fd::AsRawFd,
    path::Path,
    time::{Duration, SystemTime},
};

use self::{
    exposition::{MEDIA_TYPE, Peaks},
    figures::{Known, figures},
    http::Answer,
};
use crate::Summary;
use quagmire_base::error::Result;
use quagmire_execution::process::{self, leave};

/// Age up to which metrics are served again without looking at the file.
const FRESH: Duration = Duration::from_millis(200);

/// Listening socket of the endpoint, opened before anything else of the campaign exists.
#[derive(Debug)]
pub struct Endpoint {
    listener: TcpListener,
    /// URL of the metrics.
    pub url: String,
}

/// Handle of the process that serves the metrics. Dropping it ends the process.
#[derive(Debug)]
pub struct Server {
    process: libc::pid_t,
    /// Process id of the creator: only there does dropping end the server, not in forks of it, which have a copy of
    /// this.
    owner: u32,
}

impl Endpoint {
    /// Opens a listening socket at `address`.
    ///
    /// # Errors
    /// If the address cannot be listened at, with the remedy.
    pub fn listen(address: &Address) -> Result<Self> {
        let listener = address.listen()?;
        let url = listener.local_addr().map_or_else(|_| String::new(), address::url);
        Ok(Self { listener, url })
    }

    /// Starts the process that serves the metrics of the campaign in `output`. This process closes its copy of the
    /// socket.
    pub fn serve(self, output: &Path, about: About) -> Result<Server> {
        let owner = std::process::id();
        // SAFETY: a campaign starts no thread.
        let child = unsafe { process::fork()? };
        if child == 0 {
            process::die_with_parent(owner);
            keep_to_itself(&self.listener);
            let mut page = Page::new(output, about);
            http::serve(&self.listener, &mut |path| page.answer(path));
            leave(0);
        }
        Ok(Server { process: child, owner })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::process::id() == self.owner {
            // SAFETY: a child of ours that was not waited for.
            unsafe { libc::kill(self.process, libc::SIGKILL) };
            let _ = process::wait(self.process);
        }
    }
}

/// Detaches this process from the campaign: closes all descriptors but the socket (the lock above all), discards
/// output, sets the lowest priority, and ignores Ctrl-C, since the last metrics are still to be served.
fn keep_to_itself(listener: &TcpListener) {
    let descriptor = listener.as_raw_fd();
    // SAFETY: plain system calls; what else this process has open belongs to a campaign that it does not run.
    unsafe {
        // by number: older C libraries have no function for it
        libc::syscall(libc::SYS_close_range, 3u32, (descriptor - 1) as u32, 0u32);
        libc::syscall(libc::SYS_close_range, (descriptor + 1) as u32, u32::MAX, 0u32);
        for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::setpriority(libc::PRIO_PROCESS as _, 0, 19);
        libc::prctl(libc::PR_SET_NAME, c"quagmire-metric".as_ptr());
    }
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        for stream in 0..3 {
            // SAFETY: plain descriptors.
            unsafe { libc::dup2(null.as_raw_fd(), stream) };
        }
    }
}

/// State of the metrics page.
struct Page<'a> {
    output: &'a Path,
    about: About,
    /// Start of this session: an older summary is not of this session.
    began: SystemTime,
    peaks: Peaks,
    latest: Option<(SystemTime, Summary)>,
    looked: Option<std::time::Instant>,
}

impl<'a> Page<'a> {
    fn new(output: &'a Path, about: About) -> Self {
        let began = SystemTime::now();
        Self { output, about, began, peaks: Peaks::new(), latest: None, looked: None }
    }

    fn answer(&mut self, path: &str) -> Answer {
        match path {
            "/metrics" => Answer { status: "200 OK", kind: MEDIA_TYPE, body: self.figures().into_bytes() },
            "/" => Answer { status: "200 OK", kind: "text/html; charset=utf-8", body: front_page().into_bytes() },
            _ => Answer::plain("404 Not Found"),
        }
    }

    fn figures(&mut self) -> String {
        if self.looked.is_none_or(|looked| looked.elapsed() >= FRESH) {
            self.look();
            self.looked = Some(std::time::Instant::now());
        }
        let known = self.latest.as_ref().map(|(written, summary)| Known {
            summary,
            written: *written,
            is_old: *written < self.began,
        });
        figures(&self.about, known, &mut self.peaks)
    }

    /// Reads the summary if it has changed. If it cannot be read, the metrics and their timestamp stay as they are.
    fn look(&mut self) {
        let path = self.output.join("summary.json");
        let Ok(written) = path.metadata().and_then(|file| file.modified()) else { return };
        if self.latest.as_ref().is_none_or(|(latest, _)| *latest != written)
            && let Ok(summary) = Summary::read(&path)
        {
            self.latest = Some((written, summary));
        }
    }
}

fn front_page() -> String {
    maud::html! {
        (maud::DOCTYPE)
        html lang="en" {
            head { title { "quagmire" } }
            body {
                h1 { "quagmire " (env!("CARGO_PKG_VERSION")) }
                p { a href="/metrics" { "Metrics" } " of the campaign, for Prometheus." }
            }
        }
    }
    .into_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn figures_are_those_of_the_latest_summary() {
        let folder = tempfile::tempdir().unwrap();
        let about = About { target: "./trim".into(), engine: "in-process".into() };
        let mut page = Page::new(folder.path(), about);
        let mut body = || {
            page.looked = None;
            String::from_utf8(page.answer("/metrics").body).unwrap()
        };
        assert!(body().contains("quagmire_up 1") && !body().contains("quagmire_executions_total"));
        let path = folder.path().join("summary.json");
        example().write(&path).unwrap();
        assert!(body().contains("\nquagmire_executions_total 812331\n"));
        std::fs::write(&path, "{").unwrap();
        assert!(body().contains("\nquagmire_executions_total 812331\n"));
        std::fs::remove_file(&path).unwrap();
        assert!(body().contains("\nquagmire_executions_total 812331\n"));
    }

    #[test]
    fn other_pages_are_there_or_not() {
        let mut page = Page::new(Path::new("/nowhere"), About::default());
        assert!(String::from_utf8(page.answer("/").body).unwrap().contains("href=\"/metrics\""));
        assert_eq!(page.answer("/metrics/x").status, "404 Not Found");
    }
}
