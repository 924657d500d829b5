//! Goals: what a run has to do for a mask, for trimming or for a round.

use serde::{Deserialize, Serialize};

use quagmire_cost::resource::Resource;
use quagmire_execution::counts::CountsObserver;
use quagmire_mutators::kinds::TargetKind;

/// Predicate on a run. Masks, trimming, masked mutation and shadow runs know nothing else about goals.
pub trait Target {
    /// Whether the run in `counts` reaches the goal. A run that ended early is judged by its counts up to that point.
    fn is_satisfied(&self, counts: &CountsObserver) -> bool;

    /// Kind of the goal, for results.
    fn kind(&self) -> TargetKind;
}

/// Amount that a mutant should keep of an expensive input's amount: nine tenths.
pub fn kept_share(amount: u64) -> u64 {
    (amount as f64 * 0.9) as u64
}

/// Goals of campaigns. Edges are given by their numbers in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Goal {
    /// FairFuzz's goal: the run executes this edge.
    HitsBranch(u32),
    /// The run executes an edge at least `least` times: a slow structure is kept while the rest is varied.
    KeepsHot {
        /// Number of the edge.
        edge: u32,
        /// Smallest count.
        least: u64,
    },
    /// The run uses at least `least` of a resource.
    KeepsCost {
        /// The resource.
        resource: Resource,
        /// Smallest amount, in the unit of the resource.
        least: u64,
    },
}

impl Goal {
    /// Goal of keeping nine tenths of this amount of a resource.
    pub fn keeps_cost(resource: Resource, amount: u64) -> Self {
        Self::KeepsCost { resource, least: kept_share(amount) }
    }

    /// Goal of executing an edge nine tenths as often as `count`, and at least once.
    pub fn keeps_edge(edge: u32, count: u32) -> Self {
        Self::KeepsHot { edge, least: kept_share(count.into()).max(1) }
    }

    /// Whether both goals are about the same edge or resource, so that a mask for one is a good start for the other.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::HitsBranch(one), Self::HitsBranch(another)) => one == another,
            (Self::KeepsHot { edge: one, .. }, Self::KeepsHot { edge: another, .. }) => one == another,
            (Self::KeepsCost { resource: one, .. }, Self::KeepsCost { resource: another, .. }) => one == another,
            _ => false,
        }
    }
}

impl Target for Goal {
    #[inline]
    fn is_satisfied(&self, counts: &CountsObserver) -> bool {
        match *self {
            Self::HitsBranch(edge) => counts.count(edge as usize) != 0,
            Self::KeepsHot { edge, least } => u64::from(counts.count(edge as usize)) >= least,
            Self::KeepsCost { resource, least } => counts.cost()[resource] >= least,
        }
    }

    fn kind(&self) -> TargetKind {
        match self {
            Self::HitsBranch(_) => TargetKind::Branch,
            Self::KeepsHot { .. } => TargetKind::Edge,
            Self::KeepsCost { .. } => TargetKind::Cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::{
        abi::{RawModules, Resources},
        program::Program,
        testing::made_up,
    };

    #[test]
    fn an_edge_stays_hot_and_the_cost_is_kept_down_to_nine_tenths() {
        let (program, slots) = made_up(&[2]);
        let mut counts = CountsObserver::new(program);
        let mut is_kept = |goal: Goal, run: [u32; 2]| {
            counts.clear();
            slots.set(0, &run);
            counts.digest();
            goal.is_satisfied(&counts)
        };
        let hot = Goal::keeps_edge(1, 100);
        assert!(is_kept(hot, [1, 90]) && is_kept(hot, [1, 5000]) && !is_kept(hot, [500, 89]) && !is_kept(hot, [0, 0]));
        // once at least
        let once = Goal::keeps_edge(1, 1);
        assert!(is_kept(once, [1, 1]) && !is_kept(once, [1, 0]));
        let cost = Goal::keeps_cost(Resource::Instructions, 100);
        assert!(is_kept(cost, [80, 10]) && is_kept(cost, [1, 89]) && !is_kept(cost, [80, 9]));
        let branch = Goal::HitsBranch(1);
        assert!(is_kept(branch, [1, 1]) && !is_kept(branch, [1, 0]));
    }

    #[test]
    fn the_resource_that_is_looked_for_is_kept() {
        // SAFETY: valid when zero: no objects.
        let nothing: Box<RawModules> = unsafe { Box::new_zeroed().assume_init() };
        let mut counts = CountsObserver::new(Program::new(Box::leak(nothing)));
        let mut is_kept = |goal: Goal, heap_peak| {
            counts.set_measured(1, 1, &Resources { heap_peak, ..Resources::default() });
            counts.digest();
            goal.is_satisfied(&counts)
        };
        let heap = Goal::keeps_cost(Resource::Heap, 1000);
        assert!(is_kept(heap, 900) && !is_kept(heap, 899));
        assert!(!is_kept(Goal::keeps_cost(Resource::Instructions, 1000), 900));
        assert!(heap.is_like(&Goal::keeps_cost(Resource::Heap, 5)));
        assert!(!heap.is_like(&Goal::keeps_cost(Resource::Stack, 1000)));
    }
}
