//! Structures that inputs of the corpus have: BeDivFuzz-structure keeps an input for new coverage only with a new one.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::history::Novelty;

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
