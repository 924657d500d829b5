//! The two phases of the search, as Perun has them: mutants are run fast until enough interesting ones are gathered,
//! then those are measured precisely.

use serde::{Deserialize, Serialize};

use crate::EntryId;

/// How the threshold moves when a gathering phase has found something.
const RISE: f64 = 0.05;

/// How it moves when it has found nothing.
const FALL: f64 = 0.01;

/// When a phase ends, and where the threshold starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Interesting inputs that end a gathering phase (`--interesting-files-limit`); at least 1.
    pub files: u64,
    /// Executions that end one (`--exec-limit`); at least 1.
    pub executions: u64,
    /// What an input has to cost, as a multiple of the baseline, to be interesting at first
    /// (`--coverage-increase-rate`); at least 1.
    pub rate: f64,
}

/// The phase of gathering. Part of the campaign's saved state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// The moving threshold.
    rate: f64,
    /// Executions in the current phase.
    executions: u64,
    found: u64,
    /// Entries that wait for being measured.
    waiting: Vec<EntryId>,
}

impl Gathering {
    /// The first phase.
    pub fn new(limits: &Limits) -> Self {
        Self { rate: limits.rate, ..Self::default() }
    }

    /// Entries that wait for being measured.
    pub fn waiting(&self) -> &[EntryId] {
        &self.waiting
    }

    /// What an input has to cost now to be interesting, as a multiple of the baseline; at least 1.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// An execution of the gathering phase.
    #[inline]
    pub fn count(&mut self) {
        self.executions += 1;
    }

    /// Offers an entry that was just kept: it is interesting if it costs more than the threshold and than its parent
    /// (both as multiples of the baseline).
    pub fn offer(&mut self, entry: EntryId, ratio: f64, of_parent: f64) {
        if ratio > self.rate && ratio > of_parent {
            self.found += 1;
            self.waiting.push(entry);
        }
    }

    /// Whether enough was gathered, or tried.
    #[inline]
    pub fn is_over(&self, limits: &Limits) -> bool {
        self.found >= limits.files || self.executions >= limits.executions
    }

    /// The next entry to be measured, in the order in which they were gathered.
    pub fn pop(&mut self) -> Option<EntryId> {
        if self.waiting.is_empty() { None } else { Some(self.waiting.remove(0)) }
    }

    /// Ends the phase: moves the threshold, which never falls below 1, and starts to gather anew.
    pub fn begin_anew(&mut self) {
        self.rate = if self.found > 0 { self.rate + RISE } else { (self.rate - FALL).max(1.0) };
        (self.executions, self.found) = (0, 0);
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { files: 2, executions: 5, rate: 1.5 };

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
