//! Choices of generators and grammars in the search: which arm mutates them, and what was learned of them.

pub mod arms;
pub mod mode;
pub mod model;
pub mod structures;

use serde::{Deserialize, Serialize};

use self::{arms::Arms, structures::Structures};
use quagmire_choices::draws::Sites;

/// Knowledge of choices; part of the checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChoiceState {
    /// What structure and values brought, for each entry.
    pub arms: Arms,
    /// Effects of the places at which draws are made.
    pub sites: Sites,
    /// Structures of the inputs that were entered.
    pub structures: Structures,
    /// Entries whose choices were found, and those that have none.
    pub found: u64,
    /// Entries without choices: the grammar does not describe them, or they draw nothing.
    pub opaque: u64,
}
