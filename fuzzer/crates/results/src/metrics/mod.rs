//! `--metrics`: a campaign's figures for Prometheus, shown by a process of its own, which reads the output folder and nothing
//! else. It is there before the first worker starts and goes with the process that started it.

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

/// Figures that are no older are not read again, whoever asks how often.
const FRESH: Duration = Duration::from_millis(200);

/// A port that is listened to, before anything else of the campaign exists.
#[derive(Debug)]
pub struct Endpoint {
    listener: TcpListener,
    url: String,
}

/// The process that answers. It ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    process: libc::pid_t,
    /// Whose child it is: forks of that process have a copy of this.
    owner: u32,
}

impl Endpoint {
    /// Listens at `address`.
    ///
    /// # Errors
    /// If that cannot be, with the remedy.
    pub fn listen(address: &Address) -> Result<Self> {
        let listener = address.listen()?;
        let url = listener.local_addr().map_or_else(|_| String::new(), address::url);
        Ok(Self { listener, url })
    }

    /// Where the figures are.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Starts the process that answers, about the campaign in `output`. No other process keeps the port.
    ///
    /// # Errors
    /// If there can be no more processes.
    pub fn serve(self, output: &Path, about: About) -> Result<Server> {
        let owner = std::process::id();
        let child = process::fork()?;
        if child == 0 {
            process::die_with_parent();
            if std::os::unix::process::parent_id() == owner {
                keep_to_itself(&self.listener);
                let mut page = Page::new(output, about);
                http::serve(&self.listener, &mut |path| page.answer(path));
            }
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

/// Makes this process one that disturbs nobody: no descriptor of the campaign's (its lock above all), no output, the lowest
/// priority, and Ctrl-C is not for it, since the last figures are still to be shown.
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

/// What is shown, as long as it is fresh.
struct Page<'a> {
    output: &'a Path,
    about: About,
    /// A summary that is older is not of this session.
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

    /// Reads the summary if it is another one. What cannot be read leaves the figures as they are, with their age.
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
