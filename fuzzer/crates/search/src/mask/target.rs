//! Testing targets: what a run has to do to be of interest.

use serde::{Deserialize, Serialize};

use quagmire_cost::resource::Resource;
use quagmire_execution::counts::CountsObserver;
use quagmire_mutators::kinds::TargetKind;

/// A predicate on a run. Masks, trimming, masked mutation and shadow runs know nothing else of it.
pub trait Target {
    /// Whether the run that `counts` shows does what is asked for. A run that ended early counts as far as it came.
    fn is_satisfied(&self, counts: &CountsObserver) -> bool;

    /// As it is called in results.
    fn kind(&self) -> TargetKind;
}

/// What a mutant of an expensive input should keep of an amount: nine tenths.
pub fn kept_share(amount: u64) -> u64 {
    (amount as f64 * 0.9) as u64
}

/// The targets that campaigns use. Edges go by their numbers in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Goal {
    /// FairFuzz's: the run executes this edge.
    HitsBranch(u32),
    /// The run executes an edge at least so often: a slow structure is kept while the rest is varied.
    KeepsHot {
        /// Which.
        edge: u32,
        /// How often.
        least: u64,
    },
    /// The run uses at least so much.
    KeepsCost {
        /// Of what.
        resource: Resource,
        /// How much, in its unit.
        least: u64,
    },
}

impl Goal {
    /// The run keeps nine tenths of the cost of an input that uses this amount of a resource.
    pub fn keeps_cost(resource: Resource, amount: u64) -> Self {
        Self::KeepsCost { resource, least: kept_share(amount) }
    }

    /// The run executes an edge nine tenths as often as an input that does so `count` times; once at least.
    pub fn keeps_edge(edge: u32, count: u32) -> Self {
        Self::KeepsHot { edge, least: kept_share(count.into()).max(1) }
    }

    /// Whether a mask for one of them says much about the other, for an input that differs little.
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
