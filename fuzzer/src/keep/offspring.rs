//! What became of the mutants of the worst entry, and with that whether a mask for its cost is worth the probes.
//!
//! A mask takes hundreds of runs of an expensive input, and as a rule that is surpassed before long: then nobody uses the
//! mask. So it has to wait until as many mutants were made without one: what is wasted is at most what was spent anyway.
//!
//! Nor is it computed where it has little to gain. Finds come from mutants that keep the cost; what the others cost is what
//! a mask saves. Of a total that is little: whatever does not keep it was cheap.

use serde::{Deserialize, Serialize};

use crate::mask::{Computation, TargetKind};

/// A mask for cost has to promise so many times the finds for the same work.
const LEAST_GAIN: u64 = 2;

/// Masks for cost: they keep the total, or the count of an edge.
pub const KINDS: [TargetKind; 2] = [TargetKind::Cost, TargetKind::Edge];

/// What those mutants of an entry did that were held to nothing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Offspring {
    entry: Option<u32>,
    mutants: usize,
    /// Their work, see [`effort::work`](super::effort::work).
    work: u64,
    /// The work of those that kept what a mask of each kind would.
    useful: [u64; KINDS.len()],
}

impl Offspring {
    /// A mutant of an entry was run; `kept` says which of the entry's goals it satisfied. Another entry than the last one
    /// begins from nothing.
    pub fn count(&mut self, entry: u32, work: u64, kept: [bool; KINDS.len()]) {
        if self.entry != Some(entry) {
            *self = Self { entry: Some(entry), ..Self::default() };
        }
        self.mutants += 1;
        self.work = self.work.saturating_add(work);
        for (useful, _) in self.useful.iter_mut().zip(kept).filter(|(_, kept)| *kept) {
            *useful = useful.saturating_add(work);
        }
    }

    /// Whether to compute a mask of this kind for an entry of so many bytes. With one, all mutants would be as much work, and
    /// find as much, as those that keep its cost.
    pub fn are_worth_a_mask(&self, entry: u32, kind: TargetKind, bytes: usize) -> bool {
        let useful = KINDS.iter().zip(self.useful).find(|(other, _)| **other == kind);
        let gains = useful.is_some_and(|(_, useful)| self.work >= useful.saturating_mul(LEAST_GAIN));
        self.entry == Some(entry) && self.mutants >= Computation::price(bytes) && gains
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 1_000;

    /// Which masks an entry is worth after so many mutants, if one in ten keeps the total, which is so much work, and one in
    /// two the edge's count, and all other mutants are 1,000 each.
    fn worth(mutants: usize, work: u64) -> [bool; 2] {
        let mut offspring = Offspring::default();
        for mutant in 0..mutants {
            let keeps = [mutant % 10 == 0, mutant % 2 == 0];
            offspring.count(3, if keeps[0] { work } else { 1_000 }, keeps);
        }
        let worth = |entry, kind| offspring.are_worth_a_mask(entry, kind, BYTES);
        assert!(!worth(3, TargetKind::Branch) && !worth(2, TargetKind::Cost) && !worth(4, TargetKind::Cost));
        let answer = KINDS.map(|kind| worth(3, kind));
        offspring.count(4, work, [false; 2]);
        assert!(!KINDS.iter().any(|&kind| offspring.are_worth_a_mask(3, kind, BYTES)));
        answer
    }

    #[test]
    fn a_mask_waits_for_as_many_mutants_as_it_takes_probes() {
        let price = Computation::price(BYTES);
        assert_eq!([price - 1, price].map(|mutants| worth(mutants, 2_000)), [[false; 2], [true, false]]);
    }

    #[test]
    fn a_mask_has_to_save_as_much_work_as_it_leaves() {
        // of ten mutants, one keeps the total: the others are 9,000 together; five keep the edge's count, with 4,000
        assert_eq!(
            [900, 1_100, 8_900, 9_100].map(|work| worth(10_000, work)),
            [[true, true], [true, false], [true, false], [false, false]]
        );
    }
}
