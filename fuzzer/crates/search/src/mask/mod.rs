//! Mutation masks as in FairFuzz, for any goal: the positions of an input at which bytes may be overwritten, inserted
//! or deleted so that a run still reaches the goal.
//!
//! [`compute`] and [`trim`] know no executor: they call a closure that probes an input.

pub mod cache;
pub mod compute;
pub mod trim;

use serde::{Deserialize, Serialize};

pub use compute::Computation;
use quagmire_execution::counts::CountsObserver;

/// Answer of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The run reaches the goal.
    Satisfied,
    /// The run does not reach the goal.
    Missed,
    /// Not run: no more probes now, the work can go on another time.
    Stop,
}

impl Probe {
    /// Whether the run reaches the goal.
    pub fn is_satisfied(self) -> bool {
        self == Self::Satisfied
    }
}

/// Predicate on a run. Masks, trimming, masked mutation and shadow runs know nothing else about goals.
pub trait Goal {
    /// Whether the run in `counts` reaches the goal. A run that ended early is judged by its counts up to that point.
    fn is_satisfied(&self, counts: &CountsObserver) -> bool;
}

/// FairFuzz's goal, the one of campaigns: the run executes the edge with this number. A run does not execute an edge of
/// a library that this process has not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HitsBranch(pub u32);

impl Goal for HitsBranch {
    #[inline]
    fn is_satisfied(&self, counts: &CountsObserver) -> bool {
        (self.0 as usize) < counts.program().edges() && counts.count(self.0 as usize) != 0
    }
}

/// Computes the rarity cutoff from the hits of the least hit branch: the smallest power of two that is not below them.
/// Branches with no more hits are rare. The cutoff rises with the hits, so there is always a rare branch.
pub fn cutoff(least: u64) -> u64 {
    least.max(1).checked_next_power_of_two().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::testing::made_up;

    #[test]
    fn a_branch_is_hit_by_a_run_that_executes_its_edge() {
        let (program, slots) = made_up(&[2]);
        let mut counts = CountsObserver::new(program);
        let mut is_hit = |branch: u32, run: [u32; 2]| {
            counts.clear();
            slots.set(0, &run);
            counts.digest();
            HitsBranch(branch).is_satisfied(&counts)
        };
        assert!(is_hit(1, [1, 1]) && !is_hit(1, [1, 0]));
        assert!(!is_hit(2, [1, 1]), "the edge of a library that is not there");
    }
    use super::cutoff;

    #[test]
    fn the_cutoff_is_the_next_power_of_two() {
        assert_eq!([0, 1, 2, 3, 16, 19, u64::MAX].map(cutoff), [1, 1, 2, 4, 16, 32, u64::MAX]);
    }
}
