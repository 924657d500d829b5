//! Notices, from outside the process, a run that not even the tick can end: a target that blocks the tick's signal.

use std::time::{Duration, Instant};

use super::input_page::InputPage;

/// Beyond what the tick should have ended long ago.
const GRACE: Duration = Duration::from_secs(5);

/// See the module's text.
#[derive(Debug)]
pub struct Watchdog {
    run: u64,
    since: Instant,
}

impl Watchdog {
    /// Watches the runs that `page` shows.
    pub fn new(page: &InputPage) -> Self {
        Self { run: page.runs(), since: Instant::now() }
    }

    /// Whether the run that is on has not ended after twice the hang timeout and five seconds. To be asked now and then.
    pub fn is_stuck(&mut self, page: &InputPage) -> bool {
        if page.runs() != self.run || page.interrupted_bytes().is_none() {
            *self = Self::new(page);
        }
        self.since.elapsed() > page.patience() + GRACE
    }
}
