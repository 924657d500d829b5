//! Detection of runs that the timer cannot end, from outside the process: targets that block the timer's signal, and custom
//! mutators that do not return.

use std::time::{Duration, Instant};

use super::input_page::InputPage;

/// Time granted beyond the moment when the timer should have ended the run.
const GRACE: Duration = Duration::from_secs(5);

/// Watches the runs of another process through its input page.
#[derive(Debug)]
pub struct Watchdog {
    /// Numbers of runs and of calls.
    latest: (u64, u64),
    since: Instant,
}

impl Watchdog {
    /// Starts watching the runs of `page`.
    pub fn new(page: &InputPage) -> Self {
        Self { latest: (page.runs(), page.calls()), since: Instant::now() }
    }

    /// Whether the current run or call has exceeded twice the hang timeout and five seconds. Call it periodically.
    pub fn is_stuck(&mut self, page: &InputPage) -> bool {
        let is_busy = page.interrupted_bytes().is_some() || page.is_calling();
        if !is_busy || self.latest != (page.runs(), page.calls()) {
            *self = Self::new(page);
        }
        self.since.elapsed() > page.patience() + GRACE
    }
}
