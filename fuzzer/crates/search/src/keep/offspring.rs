//! Success of the worst entry's mutants, from which follows whether a mask for its cost is worth computing.
//!
//! A mask takes hundreds of runs of an expensive input, and as a rule another entry surpasses that input before long;
//! then nobody uses the mask. So it is not computed before as much work went into mutants without one: at most half of
//! the work is wasted.
//!
//! Nor is it computed where it has little to gain. Finds come from mutants that keep the cost, and a mask saves the
//! work of all others. For the total cost that is little: mutants that do not keep it are cheap.

use serde::{Deserialize, Serialize};

use super::effort;
use crate::{
    EntryId,
    mask::{Computation, Target, target::Goal},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{abi::Status, counts::CountsObserver};
use quagmire_mutators::kinds::TargetKind;

/// Factor between the finds with a mask and without, for the same work, from which a mask for cost is worth computing.
const LEAST_GAIN: u64 = 2;

/// Kinds of goals of masks for cost: the total, and the count of an edge.
pub const KINDS: [TargetKind; 2] = [TargetKind::Cost, TargetKind::Edge];

/// Goals of an entry that its mutants could keep, one for each of [`KINDS`]; `None` where it has none.
pub type Goals = [Option<Goal>; KINDS.len()];

/// Work of the mutants of one entry that were made without a mask.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Offspring {
    /// Entry that the figures are about, with its goals.
    of: Option<(EntryId, Goals)>,
    /// Work of all its mutants; see [`effort::work`].
    work: u64,
    /// Work of the mutants that reached each goal.
    useful: [u64; KINDS.len()],
}

impl Offspring {
    /// Counts the last run, of a mutant of `entry` with this many bytes. Runs that hung or ran out of memory do not
    /// count: one of them would outweigh all others. Runs that were rejected, crashed or exited count as work that
    /// reached no goal.
    pub fn count(&mut self, entry: EntryId, goals: Goals, bytes: usize, counts: &CountsObserver) {
        let returned = match counts.status() {
            Status::Returned => true,
            Status::Rejected | Status::Crashed | Status::Exited => false,
            Status::Hung | Status::Memory => return,
        };
        let satisfied = goals.map(|goal| returned && goal.is_some_and(|goal| goal.is_satisfied(counts)));
        self.add(entry, goals, effort::work(counts.cost()[Resource::Instructions], bytes), satisfied);
    }

    /// Adds the work of a mutant. Restarts from 0 for another entry, or one with other goals.
    fn add(&mut self, entry: EntryId, goals: Goals, work: u64, satisfied: [bool; KINDS.len()]) {
        if self.of != Some((entry, goals)) {
            *self = Self { of: Some((entry, goals)), ..Self::default() };
        }
        self.work = self.work.saturating_add(work);
        for (useful, _) in self.useful.iter_mut().zip(satisfied).filter(|(_, satisfied)| *satisfied) {
            *useful = useful.saturating_add(work);
        }
    }

    /// Whether to compute a mask that keeps `goal` of an entry with this work (of a run) and size in bytes. With a
    /// mask, all mutants would be as much work, and find as much, as those that reached the goal without one.
    pub fn are_worth_a_mask(&self, entry: EntryId, goal: Goal, work: u64, bytes: usize) -> bool {
        let Some((_, goals)) = self.of.filter(|(of, _)| *of == entry) else { return false };
        let Some(place) = goals.iter().position(|&other| other == Some(goal)) else { return false };
        let price = work.saturating_mul((KINDS.len() * Computation::price(bytes)) as u64);
        self.work >= price.max(self.useful[place].saturating_mul(LEAST_GAIN))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::entry::id;

    const BYTES: usize = 1_000;

    impl Offspring {
        /// Adds the work that masks of an entry would take, as mutants that reach no goal. `work` is the work of one
        /// run.
        pub fn try_in_vain(&mut self, entry: EntryId, goals: Goals, work: u64, bytes: usize) {
            (0..KINDS.len() * Computation::price(bytes))
                .for_each(|_| self.add(entry, goals, work, [false; KINDS.len()]));
        }
    }

    /// Whether a mask for each goal is worth computing for an entry of this work, after this many mutants: one in ten
    /// keeps the total, one in two the edge's count. Mutants that do not keep the total are 1,000 each.
    fn worth(mutants: usize, work: u64) -> [bool; 2] {
        let goals = [Some(Goal::keeps_cost(Resource::Instructions, work)), Some(Goal::keeps_edge(1, 100))];
        let mut offspring = Offspring::default();
        for mutant in 0..mutants {
            let keeps = [mutant % 10 == 0, mutant % 2 == 0];
            offspring.add(id(3), goals, if keeps[0] { work } else { 1_000 }, keeps);
        }
        let worth = |offspring: &Offspring, entry: EntryId| {
            goals.map(|goal| goal.is_some_and(|goal| offspring.are_worth_a_mask(entry, goal, work, BYTES)))
        };
        let answer = worth(&offspring, id(3));
        assert_eq!([2, 4].map(id).map(|entry| worth(&offspring, entry)), [[false; 2]; 2]);
        assert!(!offspring.are_worth_a_mask(id(3), Goal::HitsBranch(1), work, BYTES));
        offspring.add(id(3), [goals[0], None], work, [false; 2]);
        assert_eq!(worth(&offspring, id(3)), [false; 2]);
        answer
    }

    #[test]
    fn masks_wait_for_as_much_work_as_they_take() {
        // twenty mutants are as much work as eleven runs of the entry
        let needed = (KINDS.len() * Computation::price(BYTES)).div_ceil(11) * 20;
        assert_eq!([needed - 20, needed].map(|mutants| worth(mutants, 2_000)), [[false; 2], [true, false]]);
    }

    #[test]
    fn a_mask_has_to_save_as_much_work_as_it_leaves() {
        // of ten mutants, one keeps the total: the others are 9,000 together; five keep the edge's count, with 4,000
        assert_eq!(
            [900, 1_100, 8_900, 9_100].map(|work| worth(100_000, work)),
            [[true, true], [true, false], [true, false], [false, false]]
        );
    }
}
