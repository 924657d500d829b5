//! Knowledge of the choices of generators and grammars.

use libafl_bolts::hash_std;
use serde::{Deserialize, Serialize};

use super::{arms::Arms, history::Novelty, structures::Structures};
use quagmire_choices::draws::{Draw, SiteKind, Sites};

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

impl ChoiceState {
    /// Takes new coverage back as a reason to keep the mutant that was run and has made these draws, if a new structure is
    /// required.
    pub(crate) fn judge(&mut self, is_valid: bool, draws: &[Draw], novelty: &mut Novelty) {
        if !self.structures.are_required {
            return;
        }
        if !draws.is_empty() {
            let structural = draws.iter().filter(|draw| self.sites.kind(draw) == SiteKind::Structural);
            let decisions: Vec<(u64, u64)> = structural.map(|draw| (draw.site, draw.value)).collect();
            self.structures.current = Some(hash_std(&decisions_as_bytes(&decisions)));
        }
        self.structures.judge(is_valid, novelty);
    }
}

fn decisions_as_bytes(decisions: &[(u64, u64)]) -> Vec<u8> {
    decisions.iter().flat_map(|(site, value)| [site.to_le_bytes(), value.to_le_bytes()]).flatten().collect()
}
