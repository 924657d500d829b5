//! Pauses of branches that are left alone for a while.

use serde::{Deserialize, Serialize};

/// Rounds that the first pause of a branch lasts; each further one is twice as long, `LONGEST_PAUSE` times at most.
pub(super) const FIRST_PAUSE: u64 = 64;
const LONGEST_PAUSE: u32 = 12;

/// The latest pause of a branch.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pause {
    until: u64,
    times: u32,
}

impl Pause {
    /// Begins the next pause in this round.
    pub(super) fn begin(&mut self, round: u64) {
        self.until = round + (FIRST_PAUSE << self.times);
        self.times = (self.times + 1).min(LONGEST_PAUSE);
    }

    /// Whether it is on in this round.
    pub(super) fn is_on(self, round: u64) -> bool {
        round < self.until
    }
}
