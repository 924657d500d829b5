//! The terminal: its size, colours, and reading single keys without disturbing other processes that use it.

use std::{io::stdin, os::fd::AsFd};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::getpgrp,
    termios::{
        LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, isatty, tcflush, tcgetattr, tcgetpgrp,
        tcgetwinsize, tcsetattr,
    },
};

/// When output is coloured (`--color`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    /// Whether to write colours to an output that is, or is not, a terminal.
    pub fn enabled(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }
}

/// Rows of a terminal that reports columns only.
const USUAL_ROWS: usize = 24;

/// Size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

/// Size of a terminal; `None` if it is not a terminal or does not report a size.
pub fn terminal_size(terminal: &impl AsFd) -> Option<Size> {
    let size = tcgetwinsize(terminal).ok().filter(|size| size.ws_col > 0)?;
    let rows = if size.ws_row > 0 { size.ws_row.into() } else { USUAL_ROWS };
    Some(Size { columns: size.ws_col.into(), rows })
}

/// Width of a terminal in columns; `None` if it is not a terminal.
pub fn terminal_width(terminal: &impl AsFd) -> Option<usize> {
    terminal_size(terminal).map(|size| size.columns)
}

/// Standard input in a mode that delivers single keys: no echo, no line buffering. Ctrl-C, Ctrl-Z and the like keep
/// their meaning. Restores the previous settings when dropped.
pub struct KeyMode {
    /// Process that created this: forks hold a copy, which must not restore settings.
    owner: u32,
    before: Option<Termios>,
    is_on: bool,
}

impl KeyMode {
    /// Prepares the mode for standard input, without entering it; `None` if that is not a terminal.
    pub fn new() -> Option<Self> {
        isatty(stdin()).then(|| Self { owner: std::process::id(), before: None, is_on: false })
    }

    /// Whether keys are delivered one by one. False while the process is in the background.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Enters the mode if this process is in the foreground; also after a shell has changed the settings.
    pub fn enter(&mut self) {
        self.is_on = is_foreground() && self.set();
    }

    fn set(&mut self) -> bool {
        let Ok(now) = tcgetattr(stdin()) else { return false };
        let mut wanted = now.clone();
        wanted.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        let codes = [SpecialCodeIndex::VMIN, SpecialCodeIndex::VTIME];
        if wanted.local_modes == now.local_modes && codes.iter().all(|&code| now.special_codes[code] == 0) {
            return true;
        }
        codes.iter().for_each(|&code| wanted.special_codes[code] = 0);
        // keep the settings from before the first change
        self.before.get_or_insert(now);
        apply(&wanted)
    }

    /// Restores the previous settings and discards unread keys.
    pub fn leave(&mut self) {
        if let Some(before) = self.before.as_ref().filter(|_| self.is_on && std::process::id() == self.owner)
            && is_foreground()
        {
            apply(before);
            let _ = without_stops(|| tcflush(stdin(), QueueSelector::IFlush));
        }
        self.is_on = false;
    }

    /// Keys pressed since the last call; does not block.
    pub fn read(&self) -> Vec<u8> {
        let input = stdin();
        let mut keys = [0u8; 64];
        let length = without_stops(|| {
            let mut ready = [PollFd::new(&input, PollFlags::IN)];
            let is_ready = self.is_on && poll(&mut ready, Some(&Timespec::default())).is_ok_and(|count| count > 0);
            if is_ready { rustix::io::read(&input, &mut keys).unwrap_or(0) } else { 0 }
        });
        keys[..length].to_vec()
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Removes escape sequences, as of arrow keys, from the keys that were read.
pub fn letters(keys: &[u8]) -> Vec<u8> {
    let mut letters = Vec::new();
    let mut keys = keys.iter();
    while let Some(&key) = keys.next() {
        if key != 0x1b {
            letters.push(key);
        } else if matches!(keys.next(), Some(b'[' | b'O')) {
            // up to the final byte, which says which key it was
            keys.find(|key| (0x40..0x7f).contains(*key));
        }
    }
    letters
}

/// Whether this process is in the foreground of the terminal. False if it is not the controlling terminal.
fn is_foreground() -> bool {
    tcgetpgrp(stdin()) == Ok(getpgrp())
}

fn apply(settings: &Termios) -> bool {
    without_stops(|| tcsetattr(stdin(), OptionalActions::Now, settings).is_ok())
}

/// Runs a system call with stop signals blocked: a process that has just moved to the background gets an error
/// instead of being stopped.
fn without_stops<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: works on local sets and this thread's mask.
    unsafe {
        let (mut stops, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigaddset(&raw mut stops, libc::SIGTTIN);
        libc::sigaddset(&raw mut stops, libc::SIGTTOU);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const stops, &raw mut before);
        let result = call();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_are_no_letters() {
        assert_eq!(letters(b"a\x1b[Qb\x1b[1;5qc\x1bOqd\x1bqe\x1b[3~f\x1b"), b"abcdef");
        assert_eq!(letters(b"\x1b["), b"");
    }

    #[test]
    fn a_file_has_no_size() {
        assert_eq!(terminal_size(&std::fs::File::open("/dev/null").unwrap()), None);
    }
}
