//! Gathering phase of the search, as in Perun: mutants are run fast until enough interesting ones are gathered, which
//! are then measured precisely.

use serde::{Deserialize, Serialize};

use crate::EntryId;

/// Amount by which the threshold rises after a phase that has found something.
const RISE: f64 = 0.05;

/// Amount by which the threshold falls after a phase that has found nothing.
const FALL: f64 = 0.01;

/// Limits of a gathering phase, and the first threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatheringLimits {
    /// Number of interesting inputs that end a phase (`--interesting-files-limit`); at least 1.
    pub files: u64,
    /// Number of executions that end a phase (`--exec-limit`); at least 1.
    pub executions: u64,
    /// First threshold of an interesting input, as a multiple of the baseline (`--coverage-increase-rate`); at least
    /// 1.
    pub rate: f64,
}

/// State of the gathering phase; part of the checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// Current threshold, as a multiple of the baseline.
    rate: f64,
    /// Number of executions in this phase.
    executions: u64,
    found: u64,
    /// Entries that wait to be measured.
    waiting: Vec<EntryId>,
}

impl Gathering {
    /// Creates the state of the first phase.
    pub fn new(limits: &GatheringLimits) -> Self {
        Self { rate: limits.rate, ..Self::default() }
    }

    /// Entries that wait to be measured.
    pub fn waiting(&self) -> &[EntryId] {
        &self.waiting
    }

    /// Current threshold: an interesting input costs more, as a multiple of the baseline. At least 1.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts an execution.
    #[inline]
    pub fn count(&mut self) {
        self.executions += 1;
    }

    /// Offers an entry that was just kept. It is interesting, and will be measured, if its `ratio` exceeds the
    /// threshold and its parent's ratio (both as multiples of the baseline).
    pub fn offer(&mut self, entry: EntryId, ratio: f64, of_parent: f64) {
        if ratio > self.rate && ratio > of_parent {
            self.found += 1;
            self.waiting.push(entry);
        }
    }

    /// Whether the phase has reached one of its limits.
    #[inline]
    pub fn is_over(&self, limits: &GatheringLimits) -> bool {
        self.found >= limits.files || self.executions >= limits.executions
    }

    /// Removes and returns the next entry to measure, in the order in which they were gathered.
    pub fn pop(&mut self) -> Option<EntryId> {
        if self.waiting.is_empty() { None } else { Some(self.waiting.remove(0)) }
    }

    /// Ends the phase and begins the next: moves the threshold, which never falls below 1, and clears the rest.
    pub fn begin_anew(&mut self) {
        self.rate = if self.found > 0 { self.rate + RISE } else { (self.rate - FALL).max(1.0) };
        (self.executions, self.found) = (0, 0);
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: GatheringLimits = GatheringLimits { files: 2, executions: 5, rate: 1.5 };

    #[test]
    fn interesting_is_what_costs_more_than_the_threshold_and_than_its_parent() {
        let mut gathering = Gathering::new(&LIMITS);
        gathering.offer(EntryId::new(1), 1.5, 1.0);
        gathering.offer(EntryId::new(2), 3.0, 3.0);
        gathering.offer(EntryId::new(3), 1.6, 1.0);
        assert!(!gathering.is_over(&LIMITS));
        gathering.offer(EntryId::new(4), 3.1, 3.0);
        assert!(gathering.is_over(&LIMITS));
        assert_eq!(
            [gathering.pop(), gathering.pop(), gathering.pop()],
            [Some(EntryId::new(3)), Some(EntryId::new(4)), None]
        );
    }

    #[test]
    fn a_phase_without_finds_ends_by_its_executions() {
        let mut gathering = Gathering::new(&LIMITS);
        (0..4).for_each(|_| gathering.count());
        assert!(!gathering.is_over(&LIMITS));
        gathering.count();
        assert!(gathering.is_over(&LIMITS));
    }

    #[test]
    fn the_threshold_rises_with_success_falls_without_and_never_below_one() {
        let mut gathering = Gathering::new(&LIMITS);
        gathering.offer(EntryId::new(1), 9.0, 1.0);
        gathering.begin_anew();
        assert!((gathering.rate() - 1.55).abs() < 1e-9);
        (0..1000).for_each(|_| gathering.begin_anew());
        assert_eq!(gathering.rate(), 1.0);
        assert_eq!(gathering.pop(), None);
    }
}
