//! What can go wrong, as the user sees it: one line that says what, where and what to do next, and an exit code.

use std::fmt;

/// Exit codes of every quagmire program. Documented in the README; never renumbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Ended as asked (time, executions, Ctrl-C).
    Ended = 0,
    /// Anything that has no code of its own: an unwritable folder, a full disk.
    Error = 1,
    /// The command line does not make sense.
    Usage = 2,
    /// The target cannot be used: not instrumented, every seed fails.
    Target = 3,
    /// Reserved for `compare`: the new build is slower.
    Regression = 4,
}

/// An error for a user: its text needs no source code to be understood and names the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What the process ends with.
    pub code: ExitCode,
    /// One line, without the `quagmire: ` in front.
    pub message: String,
}

impl Error {
    /// The command line does not make sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: ExitCode::Usage, message: message.into() }
    }

    /// The target cannot be used.
    pub fn target(message: impl Into<String>) -> Self {
        Self { code: ExitCode::Target, message: message.into() }
    }

    /// Everything else: files, folders, processes.
    pub fn other(message: impl Into<String>) -> Self {
        Self { code: ExitCode::Error, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// What is wrong with a regular expression, in one line: the parser draws several with an arrow, and the last one says it.
pub fn regex_reason(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
