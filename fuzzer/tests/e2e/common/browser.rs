//! A headless Chromium, driven through a pair of pipes by its DevTools protocol.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::has_program;

/// Window of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub width: u32,
    pub is_dark: bool,
}

/// The browser with one page.
pub(crate) struct Browser {
    process: Child,
    commands: File,
    answers: BufReader<File>,
    session: Option<String>,
    number: u64,
    /// Events since the last page was opened.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium; `None` if it is missing and may be.
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        if !has_program("chromium", "chromium") {
            return None;
        }
        let profile = tempfile::tempdir().expect("a folder");
        let (to_read, commands) = pipe();
        let (answers, to_write) = pipe();
        let mut command = Command::new("chromium");
        // its sandbox needs rights that root and containers have not; the pages are ours
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let ends = [(to_read.as_raw_fd(), 3), (to_write.as_raw_fd(), 4)];
        // SAFETY: async-signal-safe calls. The ends are moved out of the way first: they may be 3 and 4 themselves.
        unsafe {
            command.pre_exec(move || {
                let high = ends.map(|(end, number)| (libc::fcntl(end, libc::F_DUPFD_CLOEXEC, 64), number));
                for (end, number) in high {
                    if end < 0 || libc::dup2(end, number) < 0 {
                        return Err(std::io::Error::last_os_error());
                    }
                }
                Ok(())
            })
        };
        let process = command.spawn().expect("chromium starts");
        let mut browser = Self {
            process,
            commands: File::from(commands),
            answers: BufReader::new(File::from(answers)),
            session: None,
            number: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Opens a file in a window, and waits until it is loaded.
    pub(crate) fn open(&mut self, page: &Path, view: View) {
        let size = json!({"width": view.width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let scheme = if view.is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": features}));
        self.events.clear();
        self.ask("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push(event);
        }
    }

    /// Value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    /// Errors of scripts, and what the page's policy has refused, since the page was opened.
    pub(crate) fn errors(&self) -> Vec<&Value> {
        let is_error = |event: &&Value| {
            event["method"] == "Runtime.exceptionThrown"
                || event["method"] == "Log.entryAdded" && event["params"]["entry"]["level"] == "error"
        };
        self.events.iter().filter(is_error).collect()
    }

    /// Sends a command and waits for its answer.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut command = json!({"id": self.number, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("chromium runs");
        loop {
            let message = self.receive();
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {message:#}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn receive(&mut self) -> Value {
        let mut message = Vec::new();
        self.answers.read_until(0, &mut message).expect("chromium runs");
        assert_eq!(message.pop(), Some(0), "chromium has ended: {:?}", self.process.try_wait());
        serde_json::from_slice(&message).expect("JSON")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A pipe whose ends other processes do not inherit: its end to read, and its end to write.
fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [-1; 2];
    // SAFETY: writes two descriptors, which are owned from here on.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    }
}
