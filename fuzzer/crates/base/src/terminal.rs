//! The terminal: its size, colours, and reading single keys without disturbing other processes that use it.

use std::os::fd::AsRawFd;

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
pub fn terminal_size(terminal: &impl AsRawFd) -> Option<Size> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one `winsize` to the address, which is that of one; a bad descriptor is an error return
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    let rows = if size.ws_row > 0 { size.ws_row.into() } else { USUAL_ROWS };
    (result == 0 && size.ws_col > 0).then(|| Size { columns: size.ws_col.into(), rows })
}

/// Width of a terminal in columns; `None` if it is not a terminal.
pub fn terminal_width(terminal: &impl AsRawFd) -> Option<usize> {
    terminal_size(terminal).map(|size| size.columns)
}

/// Standard input in a mode that delivers single keys: no echo, no line buffering. Ctrl-C, Ctrl-Z and the like keep
/// their meaning. Restores the previous settings when dropped.
pub struct KeyMode {
    /// Process that created this: forks hold a copy, which must not restore settings.
    owner: u32,
    before: Option<libc::termios>,
    is_on: bool,
}

impl KeyMode {
    /// Prepares the mode for standard input, without entering it; `None` if that is not a terminal.
    pub fn new() -> Option<Self> {
        // SAFETY: asks about a descriptor.
        let is_terminal = unsafe { libc::isatty(libc::STDIN_FILENO) } == 1;
        is_terminal.then(|| Self { owner: std::process::id(), before: None, is_on: false })
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
        let Some(now) = settings() else { return false };
        let mut wanted = now;
        wanted.c_lflag &= !(libc::ICANON | libc::ECHO);
        (wanted.c_cc[libc::VMIN], wanted.c_cc[libc::VTIME]) = (0, 0);
        if wanted.c_lflag == now.c_lflag && wanted.c_cc == now.c_cc {
            return true;
        }
        // keep the settings from before the first change
        self.before.get_or_insert(now);
        apply(&wanted)
    }

    /// Restores the previous settings and discards unread keys.
    pub fn leave(&mut self) {
        if let Some(before) = self.before.filter(|_| self.is_on && std::process::id() == self.owner)
            && is_foreground()
        {
            apply(&before);
            // SAFETY: a plain system call.
            without_stops(|| unsafe { libc::tcflush(libc::STDIN_FILENO, libc::TCIFLUSH) });
        }
        self.is_on = false;
    }

    /// Keys pressed since the last call; does not block.
    pub fn read(&self) -> Vec<u8> {
        let mut ready = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
        let mut keys = [0u8; 64];
        // SAFETY: one entry; so many bytes at most.
        let length = without_stops(|| unsafe {
            if !self.is_on || libc::poll(&raw mut ready, 1, 0) <= 0 {
                return 0;
            }
            libc::read(libc::STDIN_FILENO, keys.as_mut_ptr().cast(), keys.len())
        });
        keys[..usize::try_from(length).unwrap_or(0)].to_vec()
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
    // SAFETY: asks for numbers.
    unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() }
}

fn settings() -> Option<libc::termios> {
    // SAFETY: zeros are valid, and the call writes one of them.
    unsafe {
        let mut settings: libc::termios = std::mem::zeroed();
        (libc::tcgetattr(libc::STDIN_FILENO, &raw mut settings) == 0).then_some(settings)
    }
}

fn apply(settings: &libc::termios) -> bool {
    // SAFETY: reads one of them.
    without_stops(|| unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, settings) == 0 })
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
