//! What the user can press while a campaign runs on a terminal. The keys are read by the process above the workers, so that
//! no run of the target waits for them and the terminal is left as it was whatever becomes of a worker.

use super::board::Board;
use crate::options::Options;
use quagmire_base::terminal::{KeyMode, letters};
use quagmire_results::screen::View;

/// Keys of the campaign whose clients share a board.
pub struct Keys {
    mode: KeyMode,
    board: Board,
    view: View,
    has_quit: bool,
}

impl Keys {
    /// Nothing unless the display is a terminal, and keys come from one.
    pub fn new(options: &Options, board: Board) -> Option<Self> {
        use std::io::IsTerminal;
        if options.quiet || !std::io::stdout().is_terminal() {
            return None;
        }
        Some(Self { mode: KeyMode::new()?, board, view: View::default(), has_quit: false })
    }

    /// Does what was asked for since the last look.
    pub fn look(&mut self) {
        self.mode.enter();
        for key in letters(&self.mode.read()) {
            match key {
                b'c' | b'C' => self.view.clients ^= true,
                b'h' | b'H' | b'?' => self.view.help ^= true,
                b'q' | b'Q' if !self.has_quit => {
                    self.has_quit = true;
                    // SAFETY: to this process, which waits for the signal.
                    unsafe { libc::kill(libc::getpid(), libc::SIGINT) };
                }
                _ => {}
            }
        }
        self.view.keys = self.mode.is_on();
        self.board.set_view(self.view);
    }

    /// Gives the terminal back, until the next look.
    pub fn leave(&mut self) {
        self.mode.leave();
        self.board.set_view(View { keys: false, ..self.view });
    }
}
