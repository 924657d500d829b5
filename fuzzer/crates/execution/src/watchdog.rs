//! Detection of runs that the timer cannot end, from outside the process: targets that block the timer's signal.

use std::time::{Duration, Instant};

use super::input_page::InputPage;

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
