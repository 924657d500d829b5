//! FairFuzz's mutation masks, over any testing target: which bytes of an input may be overwritten, inserted at, deleted so
//! that a run still does what the target asks for.
//!
//! [`compute`] and [`trim`] know no executor: they ask a closure what a run does.

pub mod cache;
pub mod compute;
pub mod rarity;
pub mod target;
pub mod trim;

pub use compute::Computation;
pub use target::Target;

/// What a probe says: the target is satisfied, it is not, or there is no time for more probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// The target is satisfied.
    Satisfied,
    /// It is not.
    Missed,
    /// Not run: stop here, and go on another time.
    Stop,
}

impl Probe {
    /// Whether the target is satisfied.
    pub fn is_satisfied(self) -> bool {
        self == Self::Satisfied
    }
}
