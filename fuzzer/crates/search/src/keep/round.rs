//! Round of the search: what its mutants are made for.

use crate::mask::target::Goal;

/// Round as the scheduler has chosen it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Goal that mutants should reach; `None` for a round of ordinary mutation.
    pub goal: Option<Goal>,
    /// Whether mutants are made with a mask of the goal.
    pub masked: bool,
    /// Whether the entry is trimmed to the goal first.
    pub trimmed: bool,
}

impl Round {
    /// Round of ordinary mutation, without a goal.
    pub const ORDINARY: Self = Self { goal: None, masked: false, trimmed: false };
}
