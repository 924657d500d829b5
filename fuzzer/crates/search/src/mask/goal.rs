//! Goals: what a run has to do for a mask, for trimming or for a round.

use serde::{Deserialize, Serialize};

use quagmire_execution::counts::CountsObserver;

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
}
