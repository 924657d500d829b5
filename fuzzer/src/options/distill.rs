//! Resolution of the options of `distill`.

use std::{num::NonZero, path::PathBuf};

use super::{hang_timeout, memory_limit, mutants::at_least_one};
use crate::options::args::{DistillArgs, INPUTS_PER_MUTANT};
use quagmire_analysis::distill::{DistillOptions, Purpose, Weight};
use quagmire_base::error::{Error, Result};
use quagmire_execution::fork_server::run_folder::RunFiles;
use quagmire_mutants::ScoreOptions;

/// Purpose that needs a build with mutants.
const MUTANTS: &str = "mutants";

impl DistillArgs {
    /// Whether the corpus is to keep the mutants that are killed.
    pub fn is_for_mutants(&self) -> bool {
        self.purpose == MUTANTS
    }

    /// Resolves options as typed, of a corpus that keeps the mutants that are killed: the score, and the folder for the corpus.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve_for_mutants(self) -> Result<(ScoreOptions, PathBuf)> {
        if self.inputs.is_empty() {
            return Err(Error::usage("no inputs to distill: name files or folders"));
        }
        let Some(output) = self.output else {
            return Err(Error::usage("no folder for the corpus: name one with -o"));
        };
        for (option, is_given) in [("--weight", self.weight.is_some()), ("--verbose", self.verbose)] {
            if is_given {
                return Err(Error::usage(format!("{option}: it is for --for coverage and cost: leave it out")));
            }
        }
        let score = ScoreOptions {
            inputs: self.inputs,
            output: None,
            resume: false,
            inputs_per_mutant: at_least_one("--inputs-per-mutant", INPUTS_PER_MUTANT)?,
            with_reached: false,
            slower: None,
            cost_factor: None,
            order: None,
            since: None,
            jobs: std::thread::available_parallelism().map_or(1, NonZero::get),
            json: self.json,
            hang_timeout: hang_timeout(&self.target)?,
            memory_limit: memory_limit(&self.target)?,
            program: self.target.program,
            files: RunFiles::default(),
        };
        Ok((score, output))
    }

    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<DistillOptions> {
        if self.inputs.is_empty() {
            return Err(Error::usage("no inputs to distill: name files or folders"));
        }
        let Some(output) = self.output else {
            return Err(Error::usage("no folder for the corpus: name one with -o"));
        };
        let purpose =
            self.purpose.parse().map_err(|()| one_of("for", &self.purpose, &["coverage", "cost", MUTANTS]))?;
        let weight = match (self.weight, purpose) {
            (Some(weight), _) => {
                weight.parse().map_err(|()| one_of("weight", &weight, &Weight::ALL.map(Weight::name)))?
            }
            (None, Purpose::Coverage) => Weight::Cost,
            (None, Purpose::Cost) => Weight::Size,
        };
        let runs = self.target.runner()?;
        let (inputs, verbose, json) = (self.inputs, self.verbose, self.json);
        Ok(DistillOptions { inputs, output, purpose, weight, verbose, json, runs })
    }
}

fn one_of(option: &str, typed: &str, names: &[&str]) -> Error {
    Error::usage(format!("--{option} {typed}: give {}", names.join(" or ")))
}
