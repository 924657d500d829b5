//! Limits of a comparison.

use std::time::{Duration, Instant};

use crate::interruption;

/// Limits of a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Ratio of instructions from which on an input is slower.
    pub threshold: f64,
    /// Moment after which no times are measured any more.
    pub until: Instant,
    /// Hang timeout of a run.
    pub hang_timeout: Duration,
}

impl Limits {
    /// Whether nothing more is measured: time is up, or the user has had enough.
    pub(super) fn are_over(&self) -> bool {
        interruption::has_come() || Instant::now() >= self.until
    }
}
