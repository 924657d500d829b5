//! Errors as users see them: one line that says what is wrong, where, and what to do next, and an exit code.

use std::fmt;

/// Exit codes of every quagmire program. An interface: values are added, never renumbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The program did what was asked (a campaign: time or executions are used up, Ctrl-C).
    Ended = 0,
    /// Any error without a code of its own, such as an unwritable folder or a full disk.
    Error = 1,
    /// The command line cannot be understood or contradicts itself.
    Usage = 2,
    /// The target cannot be used: it is not instrumented, or every seed fails.
    Target = 3,
    /// `compare`: the new build is slower.
    Regression = 4,
    /// `compare --strict`: an input is unstable, so that nothing can be said of it.
    Unstable = 5,
}

/// An error for a user: its text needs no source code to be understood and names the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Exit code of the process.
    pub code: ExitCode,
    /// One line, without the leading `quagmire: `.
    pub message: String,
}

impl Error {
    /// Makes an error of the command line: [`ExitCode::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: ExitCode::Usage, message: message.into() }
    }

    /// Makes an error of an unusable target: [`ExitCode::Target`].
    pub fn target(message: impl Into<String>) -> Self {
        Self { code: ExitCode::Target, message: message.into() }
    }

    /// Makes an error of files, folders or processes: [`ExitCode::Error`].
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

/// The reason why a regular expression is invalid, in one line: the last of the several lines that the parser writes.
pub fn regex_reason(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
