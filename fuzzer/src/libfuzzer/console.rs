//! Standard error of the engine, which stays when the target's is closed.

use std::{
    fs::File,
    io::Write as _,
    os::fd::{AsRawFd as _, FromRawFd as _, RawFd},
};

use quagmire_base::{
    error::{Error, Result},
    plain::{Form, printed},
};

/// Standard error of the engine.
#[derive(Debug)]
pub(super) struct Console {
    file: File,
    /// Whether lines of information are printed.
    is_talkative: bool,
}

impl Console {
    /// Keeps standard error for the engine, and takes from the target what `close_fd_mask` names: 1 for standard
    /// output, 2 for standard error.
    ///
    /// # Errors
    /// If there is no descriptor left, or no `/dev/null`.
    pub(super) fn open(close_fd_mask: i64, is_talkative: bool) -> Result<Self> {
        let failed = |error| Error::other(format!("cannot open /dev/null: {error}"));
        let null = File::options().write(true).open("/dev/null").map_err(failed)?;
        // SAFETY: plain descriptors; the new one is owned by the file.
        let file = unsafe {
            let own = libc::fcntl(2, libc::F_DUPFD_CLOEXEC, 3);
            if own < 0 { null.try_clone().map_err(failed)? } else { File::from_raw_fd(own) }
        };
        for descriptor in [1, 2].into_iter().filter(|descriptor| close_fd_mask & descriptor != 0) {
            // SAFETY: plain descriptors.
            unsafe { libc::dup2(null.as_raw_fd(), descriptor as i32) };
        }
        Ok(Self { file, is_talkative })
    }

    /// Prints a line, whatever the verbosity. A failure to print is no reason to fail.
    pub(super) fn say(&self, line: &str) {
        let text = format!("{line}\n");
        let _ = (&self.file).write_all(printed(&text, Form::Lines).as_bytes());
    }

    /// Prints a line of information.
    pub(super) fn inform(&self, line: &str) {
        if self.is_talkative {
            self.say(line);
        }
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// A file of the same descriptor, as the standard error of another process.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub(super) fn file(&self) -> Result<File> {
        self.file.try_clone().map_err(|error| Error::other(format!("cannot copy a descriptor: {error}")))
    }
}
