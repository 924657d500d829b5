//! Mutation masks as in FairFuzz, for any goal: the positions of an input at which bytes may be overwritten, inserted
//! or deleted so that a run still reaches the goal.
//!
//! [`compute`] and [`trim`] know no executor: they call a closure that probes an input.

pub mod cache;
pub mod compute;
pub mod goal;
pub mod rarity;
pub mod trim;

pub use compute::Computation;
pub use goal::{Goal, HitsBranch};

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
