//! Knowledge of the choices of generators and grammars.

use std::collections::{BTreeSet, HashSet};

use libafl_bolts::hash_std;
use serde::{Deserialize, Serialize};

use super::{arms::Arms, history::Novelty};
use crate::EntryId;
use quagmire_choices::draws::{Draw, SiteKind, Sites};

/// Knowledge of choices; part of the checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChoiceState {
    /// Success of changed structures and of changed values, for each entry.
    pub arms: Arms,
    /// Effects of the places at which draws are made.
    pub sites: Sites,
    /// Structures of the inputs that were entered.
    pub structures: Structures,
    /// Entries without choices, which are mutated as bytes: the grammar does not describe them, or they draw nothing.
    pub opaque: BTreeSet<EntryId>,
    /// Whether some entry has choices.
    pub are_found: bool,
    /// Mutants that were made by choices.
    pub by_choices: u64,
    /// Mutants that were made by bytes.
    pub by_bytes: u64,
}

/// Mutants by choices for each one by bytes, over the whole campaign (BeDivFuzz makes a tenth of its mutants by bytes).
const CHOICES_FOR_BYTES: u64 = 9;

/// Mutants by bytes before that share holds.
const FIRST_BY_BYTES: u64 = 500;

impl ChoiceState {
    /// Whether the parent of a round should be another one: it has no choices, others have, and bytes have had their share.
    pub(crate) fn should_pass(&self, entry: EntryId) -> bool {
        self.are_found
            && self.by_bytes > FIRST_BY_BYTES + self.by_choices / CHOICES_FOR_BYTES
            && self.opaque.contains(&entry)
    }

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

/// Structures that are remembered; when there are more, none is new.
const MOST: usize = 1 << 20;

/// Hashes of the structures of all entries.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Structures {
    /// Whether new coverage counts only with a new structure (`--choices structure`).
    #[serde(skip)]
    pub are_required: bool,
    /// Structure of the mutant that is run; `None` if it has none.
    #[serde(skip)]
    pub current: Option<u64>,
    /// Whether the last run had new coverage that was no reason to keep it: it is new again in a run with a new structure.
    #[serde(skip)]
    pub took_back: bool,
    known: HashSet<u64>,
}

impl Structures {
    /// Takes new coverage back as a reason to keep the mutant that was run, unless it is valid and has a new structure. Cost
    /// stays a reason.
    pub fn judge(&mut self, is_valid: bool, novelty: &mut Novelty) {
        self.took_back = false;
        let Some(structure) = self.current.filter(|_| self.are_required) else { return };
        if !is_valid || self.known.contains(&structure) || self.known.len() >= MOST {
            self.took_back = novelty.edge || novelty.bucket;
            (novelty.edge, novelty.bucket) = (false, false);
        }
    }

    /// Remembers the structure of the mutant that was entered.
    pub fn entered(&mut self) {
        if let Some(structure) = self.current.filter(|_| self.are_required && self.known.len() < MOST) {
            self.known.insert(structure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Novelty =
        Novelty { edge: true, bucket: true, valid_edge: false, maximum: true, total: false, memory: false };

    #[test]
    fn new_coverage_counts_once_for_each_structure_of_valid_inputs_and_cost_always() {
        let mut structures = Structures { are_required: true, current: Some(7), ..Structures::default() };
        let judged = |structures: &mut Structures, is_valid| {
            let mut novelty = NEW;
            structures.judge(is_valid, &mut novelty);
            assert!(novelty.maximum && structures.took_back != novelty.bucket);
            novelty.bucket
        };
        assert!(!judged(&mut structures, false));
        assert!(judged(&mut structures, true));
        structures.entered();
        assert!(!judged(&mut structures, true));
        structures.current = None;
        assert!(judged(&mut structures, true), "bytes have no structure");
    }
}
