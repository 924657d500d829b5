//! Detection of runs that the timer cannot end, from outside the process: targets that block the timer's signal.

use std::{
    io::PipeReader,
    time::{Duration, Instant},
};

use super::{
    input_page::InputPage,
    pipes,
    process::{self, End},
};
use quagmire_base::error::{Error, Result};

/// Interval between two looks at a process.
const LOOK: Duration = Duration::from_millis(100);

/// Most bytes of its output that are kept.
const MOST_OUTPUT: usize = 1 << 28;

/// Time granted beyond the moment when the timer should have ended the run.
const GRACE: Duration = Duration::from_secs(5);

/// Watches the runs of another process through its input page.
#[derive(Debug)]
pub struct Watchdog {
    run: u64,
    since: Instant,
}

impl Watchdog {
    /// Starts watching the runs of `page`.
    pub fn new(page: &InputPage) -> Self {
        Self { run: page.runs(), since: Instant::now() }
    }

    /// Whether the current run has exceeded twice the hang timeout and five seconds. Call it periodically.
    pub fn is_stuck(&mut self, page: &InputPage) -> bool {
        if page.runs() != self.run || page.interrupted_bytes().is_none() {
            *self = Self::new(page);
        }
        self.since.elapsed() > page.patience() + GRACE
    }
}

/// Reads the output of a child until that ends, even if processes that the target has started keep the pipe open. Kills a child
/// whose run does not end in spite of the timer. Returns how it ended, and whether it was killed.
pub fn read(child: libc::pid_t, mut pipe: PipeReader, bytes: &mut Vec<u8>, page: &InputPage) -> Result<(End, bool)> {
    let failed = |error| Error::other(format!("cannot read what another process has found: {error}"));
    let (mut is_stuck, mut is_open) = (false, true);
    let mut watchdog = Watchdog::new(page);
    loop {
        if !is_open {
            std::thread::sleep(Duration::from_millis(1));
        } else if pipes::readable([&pipe], LOOK) == [true] {
            is_open = pipes::read_part(&mut pipe, bytes, MOST_OUTPUT).map_err(failed)?;
        }
        if let Some(end) = process::poll(child)? {
            if is_open {
                pipes::read_rest(&mut pipe, bytes, MOST_OUTPUT).map_err(failed)?;
            }
            return Ok((end, is_stuck));
        }
        if watchdog.is_stuck(page) {
            is_stuck = true;
            // SAFETY: a child of ours that was not waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
    }
}
