//! Keys that the user can press while a campaign runs on a terminal. The process above the workers reads them, so that
//! no run of the target waits for them, and the terminal is restored whatever happens to a worker.

use super::shared_statistics::SharedStatistics;
use crate::options::Options;
use quagmire_base::terminal::{KeyMode, letters};
use quagmire_results::screen::View;

/// Reader of the keys, which writes the choices of the user to the shared memory of the clients.
pub struct Keyboard {
    mode: KeyMode,
    statistics: SharedStatistics,
    view: View,
    has_quit: bool,
}

impl Keyboard {
    /// Prepares reading of keys; `None` unless output and input are a terminal and the display is on.
    pub fn new(options: &Options, statistics: SharedStatistics) -> Option<Self> {
        use std::io::IsTerminal;
        if options.display.quiet || !std::io::stdout().is_terminal() {
            return None;
        }
        Some(Self { mode: KeyMode::new()?, statistics, view: View::default(), has_quit: false })
    }

    /// Handles the keys that were pressed since the last call.
    pub fn look(&mut self) {
        self.mode.enter();
        for key in letters(&self.mode.read()) {
            match key {
                b'c' | b'C' => self.view.clients ^= true,
                b'h' | b'H' | b'?' => self.view.help ^= true,
                b'q' | b'Q' if !self.has_quit => {
                    self.has_quit = true;
                    // SAFETY: a signal to this process, which waits for it.
                    unsafe { libc::kill(libc::getpid(), libc::SIGINT) };
                }
                _ => {}
            }
        }
        self.view.keys = self.mode.is_on();
        self.statistics.set_view(self.view);
    }

    /// Restores the terminal, until [`Self::look`] is called again.
    pub fn leave(&mut self) {
        self.mode.leave();
        self.statistics.set_view(View { keys: false, ..self.view });
    }
}
