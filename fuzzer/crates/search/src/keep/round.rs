//! What one round of the search does.

use crate::mask::target::Goal;

/// The round that the scheduler has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// What mutants should go on doing; `None` for a round of ordinary mutation.
    pub goal: Option<Goal>,
    /// Mutants are held to a mask of the goal.
    pub masked: bool,
    /// The entry is trimmed to the goal first.
    pub trimmed: bool,
}

impl Round {
    /// A round of ordinary mutation.
    pub const ORDINARY: Self = Self { goal: None, masked: false, trimmed: false };
}
