//! Finds of runs of one kind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::EntryId;

/// Runs, and what came of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finds {
    /// Number of runs.
    pub runs: u64,
    /// Number of finds: inputs that were kept, or words.
    pub kept: u64,
}

impl Finds {
    /// Counts a run.
    pub fn count(&mut self, is_kept: bool) {
        self.runs += 1;
        self.kept += u64::from(is_kept);
    }

    /// Whether something was found, and no less than by as many runs of the other kind.
    pub fn is_as_good_as(&self, other: &Self) -> bool {
        let [one, two] = [(self, other), (other, self)].map(|(a, b)| u128::from(a.kept) * u128::from(b.runs));
        self.kept > 0 && one >= two
    }
}

/// Once so many entries were sampled, and fewer than one in [`RARE`] has mutants that fail checks, only one entry in so many is
/// sampled: watched mutants are slower.
const FIRST_ENTRIES: u64 = 32;
const RARE: u64 = 8;

/// Runs of mutants that were put right, as long as they find less than mutants do as they are: so many at first, and this
/// share of all executions.
const FIRST_RUNS: f64 = 256.0;
const SHARE: f64 = 1.0 / 64.0;

/// Entries whose mutants fail checks, and what came of putting them right.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CheckState {
    /// Whether mutants of an entry fail checks that can be put right, for those that were sampled.
    fails: BTreeMap<EntryId, bool>,
    /// Entries that were sampled, and those whose mutants fail checks.
    sampled: Finds,
    /// Entries that were not sampled since the last that was.
    passed: u64,
    /// Watched mutants as they are, and after they were put right.
    plain: Finds,
    right: Finds,
}

impl CheckState {
    /// Whether mutants of an entry fail checks; `None` if it was not sampled.
    pub fn fails(&self, entry: EntryId) -> Option<bool> {
        self.fails.get(&entry).copied()
    }

    /// Notes whether mutants of an entry fail checks.
    pub fn settle(&mut self, entry: EntryId, fails: bool) {
        if self.fails.insert(entry, fails).is_none() {
            self.sampled.count(fails);
        }
    }

    /// Whether the next entry that was not sampled yet is sampled. Each call is the turn of one.
    pub fn samples_next(&mut self) -> bool {
        let Finds { runs, kept } = self.sampled;
        self.passed += 1;
        let is_due = runs < FIRST_ENTRIES || kept * RARE >= runs || self.passed >= RARE;
        if is_due {
            self.passed = 0;
        }
        is_due
    }

    /// Counts a watched mutant as it is.
    pub fn count_plain(&mut self, is_kept: bool) {
        self.plain.count(is_kept);
    }

    /// Counts a mutant that was put right.
    pub fn count_right(&mut self, is_kept: bool) {
        self.right.count(is_kept);
    }

    /// Whether mutants may be put right, after so many executions of the campaign.
    pub fn may_put_right(&self, executions: u64) -> bool {
        self.right.is_as_good_as(&self.plain) || (self.right.runs as f64) < FIRST_RUNS + SHARE * executions as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::id;

    #[test]
    fn kinds_are_compared_by_their_rates() {
        let finds = |runs, kept| Finds { runs, kept };
        assert!(finds(100, 2).is_as_good_as(&finds(1000, 20)) && finds(10, 1).is_as_good_as(&finds(0, 0)));
        assert!(!finds(100, 2).is_as_good_as(&finds(1000, 21)) && !finds(100, 0).is_as_good_as(&finds(1000, 0)));
    }

    #[test]
    fn every_eighth_entry_is_sampled_where_checks_are_rare() {
        let mut state = CheckState::default();
        for entry in 0..FIRST_ENTRIES as u32 {
            assert!(state.samples_next());
            state.settle(id(entry), false);
        }
        let due: Vec<bool> = (0..16).map(|_| state.samples_next()).collect();
        assert_eq!(due.iter().filter(|&&due| due).count(), 2);
        assert!(due[7] && due[15], "{due:?}");
        for entry in 0..5 {
            state.settle(id(100 + entry), true);
        }
        assert!(state.samples_next() && state.samples_next(), "5 of 37 are not rare");
        assert_eq!((state.fails(id(0)), state.fails(id(100)), state.fails(id(99))), (Some(false), Some(true), None));
    }

    #[test]
    fn what_finds_less_is_a_share_of_all_executions() {
        let (plain, right) = (Finds { runs: 1000, kept: 20 }, Finds { runs: 255, kept: 0 });
        let mut state = CheckState { plain, right, ..CheckState::default() };
        assert!(state.may_put_right(0));
        state.right.runs = 300;
        assert!(!state.may_put_right(0) && state.may_put_right(6_400));
        state.right.kept = 9;
        assert!(state.may_put_right(0));
    }
}
