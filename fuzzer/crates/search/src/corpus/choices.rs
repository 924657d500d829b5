//! Knowledge of the choices of generators and grammars.

use serde::{Deserialize, Serialize};

use super::{arms::Arms, structures::Structures};
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
    /// Parents whose choices were found.
    pub found: u64,
    /// Parents without choices, which are mutated as bytes: the grammar does not describe them, or they draw nothing.
    pub opaque: u64,
}
