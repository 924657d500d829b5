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

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::{
    Parser,
    builder::{PossibleValuesParser, TypedValueParser},
};

use serde::Serialize;

use self::{corpus::Corpus, inputs::Examiner, report::DistillReport};
use crate::{
    command::{Command, EXIT_CODES, TargetOptions, need, say_what_is_missing},
    interruption, values,
};
pub use features::Purpose;
use quagmire_base::{
    corpus_folder::CorpusFolder,
    error::{Error, ExitCode, Result},
    format::{counted, grouped},
    plain::warn,
    seeds::Seeds,
};
use quagmire_execution::{harness::Harness, info::TargetInfo};

/// Find the smallest corpus that covers as much, or costs as much, as given inputs
#[derive(Clone, Debug, Parser)]
#[command(
    name = "distill",
    override_usage = "quagmire distill [OPTIONS] INPUTS... -o DIR -- PROGRAM [ARGS... @@]",
    after_help = EXIT_CODES
)]
pub struct DistillOptions {
    /// The inputs: files, or folders of files
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// The folder for the corpus: a new one, or an empty one
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Purpose of the corpus, which says what it keeps. coverage: each edge in each of AFL's buckets; cost: the maximum of each edge, function and
    /// resource, and each law of findings; mutants: each mutant that is killed, of a build with QUAGMIRE_MUTANTS=1
    #[arg(long = "for", value_name = "PURPOSE", default_value = "coverage", value_parser = kept())]
    pub purpose: Kept,
    /// The amount to keep small: cost (instructions), size (bytes) or inputs [default: cost for
    /// coverage, size for cost]
    #[arg(long, value_name = "WEIGHT", value_parser = values::named(&Weight::ALL, Weight::name))]
    pub weight: Option<Weight>,
    /// Say of each input that is left out which ones subsume it
    #[arg(long)]
    pub verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

/// Properties that the corpus keeps; `None` for the mutants that are killed, which need a build of their own.
pub type Kept = Option<Purpose>;

/// Name of `None` among [`Kept`].
const MUTANTS: &str = "mutants";

fn kept() -> impl TypedValueParser<Value = Kept> {
    let names = Purpose::ALL.map(Purpose::name).into_iter().chain([MUTANTS]);
    PossibleValuesParser::new(names).map(|name| Purpose::ALL.into_iter().find(|purpose| purpose.name() == name))
}

impl Command for DistillOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.inputs.clone()
    }

    fn check(&self) -> Result<()> {
        need(&self.inputs, "no inputs to distill: name files or folders")?;
        if self.output.is_none() {
            return Err(Error::usage("no folder for the corpus: name one with -o"));
        }
        for (option, is_given) in [("--weight", self.weight.is_some()), ("--verbose", self.verbose)] {
            if is_given && self.purpose.is_none() {
                return Err(Error::usage(format!("{option}: it is for --for coverage and cost: leave it out")));
            }
        }
        Ok(())
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        if self.purpose.is_none() {
            return Err(Error::usage(
                "--for mutants: they are of a build of their own: quagmire distill --for mutants",
            ));
        }
        say_what_is_missing(&target, harness, self.json);
        run(&self, &target, harness)
    }
}

impl DistillOptions {
    /// Folder for the corpus, which [`check`](Command::check) has asked for.
    pub fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(""))
    }

    fn purpose(&self) -> Purpose {
        self.purpose.unwrap_or_default()
    }

    fn weight(&self) -> Weight {
        self.weight.unwrap_or(match self.purpose() {
            Purpose::Coverage => Weight::Cost,
            Purpose::Cost => Weight::Size,
        })
    }
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

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Runs `quagmire distill`.
///
/// # Errors
/// If the output folder is not empty, an input cannot be read, the target cannot be run, no input returns, or the user
/// has stopped it: then the corpus is that of the inputs so far.
fn run(options: &DistillOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    CorpusFolder::check(options.output())?;
    let (paths, warnings) = Seeds::list(&options.inputs)?;
    warnings.iter().for_each(|warning| warn(warning));
    interruption::watch();
    let mut examiner = Examiner::new(harness, options.target.runner(), options.purpose(), target, &paths)?;
    let examined = examiner.examine(&paths)?;
    if examined.candidates.is_empty() && examined.left == 0 {
        let files = counted(paths.len() as u64, "input");
        return Err(Error::other(format!(
            "none of {files} can be part of a corpus, {}: give inputs that the target accepts",
            report::reasons(&examined.unfit)
        )));
    }
    let mut corpus = Corpus::choose(&examined, options.weight());
    corpus.write(&mut examiner, &examined, options.output())?;
    let left = examined.left;
    print::print(&DistillReport::new(options, examined, corpus, examiner.executions()), options)?;
    if left > 0 {
        let (done, all) = (grouped((paths.len() - left) as u64), grouped(paths.len() as u64));
        return Err(Error::other(format!(
            "stopped by a signal after {done} of {all} inputs: the corpus in {} keeps what these do, and not what the \
             others do",
            options.output().display()
        )));
    }
    Ok(ExitCode::Ended)
}
