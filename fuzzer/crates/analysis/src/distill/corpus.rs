//! Corpus that was chosen: its inputs, and the folder that it is written to.

use std::path::Path;

use serde::Serialize;

use super::{
    Weight,
    cover::{self, Solution},
    inputs::{Examined, Examiner},
};
use crate::interruption;
use quagmire_base::{corpus_folder::CorpusFolder, error::Result};

/// Input of the corpus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Kept {
    /// Index among the candidates.
    #[serde(skip)]
    pub candidate: usize,
    /// File that it was read from.
    pub path: String,
    /// Its file in the corpus; `null` as long as it was not written.
    pub name: Option<String>,
    pub bytes: u64,
    pub cost: u64,
    /// Number of its features.
    pub features: u64,
    /// Whether it has a feature that no other input has, unless that has the same features.
    pub essential: bool,
    /// Whether it did the same in a second run; `null` if it was not run again.
    pub stable: Option<bool>,
    /// Reason why it could not be written.
    pub lost: Option<String>,
}

/// Inputs that keep everything.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// In the order in which they were found.
    pub kept: Vec<Kept>,
    /// Sum of the weights.
    pub weight: u64,
    /// Lower bound of the weight of a corpus that keeps everything.
    pub bound: u64,
}

impl Corpus {
    /// Chooses a corpus of the least weight that is found. Of candidates with the same features, the lightest one stands
    /// for all: the smallest of these, and the first.
    pub(super) fn choose(examined: &Examined, weight: Weight) -> Self {
        let candidates = &examined.candidates;
        let order = |index: usize| (weight.of(&candidates[index]), candidates[index].bytes, index);
        let mut best: Vec<usize> = vec![usize::MAX; examined.rows.len()];
        for (index, candidate) in candidates.iter().enumerate() {
            let best = &mut best[candidate.row as usize];
            if *best == usize::MAX || order(index) < order(*best) {
                *best = index;
            }
        }
        let weights: Vec<u64> = best.iter().map(|&index| weight.of(&candidates[index])).collect();
        let Solution { rows, essentials, weight, bound } = cover::solve(&examined.rows, &weights);
        let mut features = Vec::new();
        let kept = |row: u32| {
            let candidate = &candidates[best[row as usize]];
            examined.rows.read(row, &mut features);
            Kept {
                candidate: best[row as usize],
                path: candidate.path.display().to_string(),
                name: None,
                bytes: candidate.bytes,
                cost: candidate.cost,
                features: features.len() as u64,
                essential: essentials.binary_search(&row).is_ok(),
                stable: None,
                lost: None,
            }
        };
        let mut kept: Vec<Kept> = rows.into_iter().map(kept).collect();
        kept.sort_by_key(|one| one.candidate);
        Self { kept, weight, bound }
    }

    /// Runs the inputs once more, and writes them, each under the name of its file.
    ///
    /// # Errors
    /// If the folder is not empty or cannot be written, or the target cannot be run.
    pub(super) fn write(&mut self, examiner: &mut Examiner, examined: &Examined, output: &Path) -> Result<()> {
        let mut folder = CorpusFolder::create(output)?;
        for one in &mut self.kept {
            let candidate = &examined.candidates[one.candidate];
            let input = match examiner.reread(candidate) {
                Ok(input) => input,
                Err(why) => {
                    one.lost = Some(why);
                    continue;
                }
            };
            one.name = Some(folder.write(&candidate.path, &input)?);
            // a signal asks for an end: what is written is complete without a second run
            if !interruption::has_come() {
                one.stable = Some(examiner.is_stable(candidate, &input)?);
            }
        }
        Ok(())
    }
}
