//! Corpus that was chosen: its inputs, and the folder that it is written to.

use std::{fs, path::Path};

use super::{
    Weight,
    cover::{self, Solution},
    inputs::{Examined, Examiner},
};
use crate::interruption;
use quagmire_base::{
    atomic::unwritable,
    error::{Error, Result},
    files::{Folder, FreeNames},
};

/// Input of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Index among the candidates.
    pub candidate: usize,
    /// Name of its file in the corpus; `None` as long as it was not written.
    pub name: Option<String>,
    /// Whether it has a feature that no other candidate with other features has.
    pub is_essential: bool,
    /// Whether it did the same in a second run; `None` if it was not run again.
    pub is_stable: Option<bool>,
    /// Reason why it could not be written.
    pub lost: Option<String>,
}

/// Inputs that keep everything.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// In the order in which they were found.
    pub members: Vec<Member>,
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
        let member = |row: u32| Member {
            candidate: best[row as usize],
            name: None,
            is_essential: essentials.binary_search(&row).is_ok(),
            is_stable: None,
            lost: None,
        };
        let mut members: Vec<Member> = rows.into_iter().map(member).collect();
        members.sort_by_key(|member| member.candidate);
        Self { members, weight, bound }
    }

    /// Runs the inputs once more, and writes them, each under the name of its file.
    ///
    /// # Errors
    /// If the folder is not empty or cannot be written, or the target cannot be run.
    pub(super) fn write(&mut self, examiner: &mut Examiner, examined: &Examined, output: &Path) -> Result<()> {
        check_empty(output)?;
        fs::create_dir_all(output).map_err(|error| unwritable(output, &error))?;
        let folder = Folder::named(output);
        let mut names = FreeNames::default();
        for member in &mut self.members {
            let candidate = &examined.candidates[member.candidate];
            let input = match examiner.reread(candidate) {
                Ok(input) => input,
                Err(why) => {
                    member.lost = Some(why);
                    continue;
                }
            };
            let name = names.of(&candidate.path);
            folder.write_whole(&name, &input).map_err(|error| unwritable(&output.join(&name), &error))?;
            member.name = Some(name);
            // a signal asks for an end: what is written is complete without a second run
            if !interruption::has_come() {
                member.is_stable = Some(examiner.is_stable(candidate, &input)?);
            }
        }
        Ok(())
    }
}

/// Checks that a folder is empty, or does not exist.
///
/// # Errors
/// If it holds files, or is something else.
pub(crate) fn check_empty(output: &Path) -> Result<()> {
    if fs::symlink_metadata(output).is_err() {
        return Ok(());
    }
    if Folder::named(output).is_empty().map_err(|error| unwritable(output, &error))? {
        return Ok(());
    }
    let shown = output.display();
    Err(Error::other(format!("{shown} holds files already: choose another folder with -o, or empty it")))
}
