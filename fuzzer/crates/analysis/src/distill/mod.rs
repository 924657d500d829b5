//! `quagmire distill`: the smallest corpus that keeps everything, with a proof of how far from the smallest it is at
//! most.
//!
//! Each input is run once. What it did becomes a row of features (`features`, `rows`), the rows are covered (`cover`),
//! and those of the cover are run once more and written (`corpus`).

mod corpus;
mod cover;
mod features;
mod inputs;
mod laws;
mod print;
mod report;
mod rows;
mod subsumed;

use std::{path::PathBuf, str::FromStr};

use serde::Serialize;

use self::{corpus::Corpus, inputs::Examiner, report::DistillReport};
use crate::{interruption, runner::RunnerOptions};
pub use features::Purpose;
use quagmire_base::{
    corpus_folder::CorpusFolder,
    error::{Error, ExitCode, Result},
    format::{counted, grouped},
    plain::warn,
    seeds::Seeds,
};
use quagmire_execution::{harness::Harness, info::TargetInfo};

/// Options of `distill` after defaults and checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistillOptions {
    /// Files and folders of inputs, as given; at least one.
    pub inputs: Vec<PathBuf>,
    /// Folder for the corpus.
    pub output: PathBuf,
    /// Properties that the corpus keeps.
    pub purpose: Purpose,
    /// Sum that the corpus has the least of.
    pub weight: Weight,
    /// Whether to print, for each input that is left out, those that subsume it.
    pub verbose: bool,
    /// Whether to print JSON.
    pub json: bool,
    /// How the target is run.
    pub runs: RunnerOptions,
}

/// Weight of an input; the corpus has the least sum of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Instructions of its run; executions of edges where instructions are not counted.
    Cost,
    /// Its size in bytes.
    Size,
    /// One for each input.
    Inputs,
}

impl Weight {
    pub const ALL: [Self; 3] = [Self::Cost, Self::Size, Self::Inputs];

    /// Name in options and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Size => "size",
            Self::Inputs => "inputs",
        }
    }

    fn of(self, candidate: &inputs::Candidate) -> u64 {
        match self {
            Self::Cost => candidate.cost,
            Self::Size => candidate.bytes,
            Self::Inputs => 1,
        }
    }
}

impl FromStr for Weight {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|weight| weight.name() == name).ok_or(())
    }
}

/// Runs `quagmire distill`.
///
/// # Errors
/// If the output folder is not empty, an input cannot be read, the target cannot be run, no input returns, or the user
/// has stopped it: then the corpus is that of the inputs so far.
pub fn run(options: &DistillOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    CorpusFolder::check(&options.output)?;
    let (paths, warnings) = Seeds::list(&options.inputs)?;
    warnings.iter().for_each(|warning| warn(warning));
    interruption::watch();
    let mut examiner = Examiner::new(harness, options.runs.clone(), options.purpose, target, &paths)?;
    let examined = examiner.examine(&paths)?;
    if examined.candidates.is_empty() && examined.left == 0 {
        let files = counted(paths.len() as u64, "input");
        return Err(Error::other(format!(
            "none of {files} can be part of a corpus, {}: give inputs that the target accepts",
            report::reasons(&examined.unfit)
        )));
    }
    let mut corpus = Corpus::choose(&examined, options.weight);
    corpus.write(&mut examiner, &examined, &options.output)?;
    let left = examined.left;
    print::print(&DistillReport::new(options, examined, corpus, examiner.executions()), options)?;
    if left > 0 {
        let (done, all) = (grouped((paths.len() - left) as u64), grouped(paths.len() as u64));
        return Err(Error::other(format!(
            "stopped by a signal after {done} of {all} inputs: the corpus in {} keeps what these do, and not what the \
             others do",
            options.output.display()
        )));
    }
    Ok(ExitCode::Ended)
}
