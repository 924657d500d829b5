//! `quagmire diversity`: unique traces and Hill numbers of any corpus, each input run once.

mod corpus;
mod print;

use std::path::PathBuf;

use clap::{Args, Parser};

use serde::Serialize;

use quagmire_base::{
    error::{ExitCode, Result},
    files,
    plain::warn,
    seeds::Seeds,
};
use quagmire_execution::{
    diversity::{hill::Hill, trace::TraceKind},
    harness::Harness,
    info::TargetInfo,
};

use crate::{
    command::{Command, EXIT_CODES, TargetOptions, need, say_what_is_missing},
    values,
};

/// Show how many distinct things given inputs do, and how evenly they exercise the program
#[derive(Clone, Debug, Parser)]
#[command(
    name = "diversity",
    override_usage = "quagmire diversity [OPTIONS] INPUTS... -- PROGRAM [ARGS... @@]",
    after_help = EXIT_CODES
)]
pub struct DiversityOptions {
    /// The inputs: files, or folders of files; each folder is a corpus of its own
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// Compare random samples of so many unique valid traces of each corpus [default: as many as the smallest has, if
    /// there are several]
    #[arg(long, value_name = "N", value_parser = values::count::<u64>)]
    pub traces: Option<u64>,
    /// The difference between two runs: exact (how often each branch was executed), bucketed (in AFL's eight classes), edges
    /// (whether)
    #[arg(long, value_name = "KIND", default_value = "bucketed")]
    #[arg(value_parser = values::named(&TraceKind::ALL, TraceKind::name))]
    pub trace: TraceKind,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    pub validity: ValidityOptions,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

/// Which runs are valid.
#[derive(Clone, Debug, Args)]
pub struct ValidityOptions {
    /// Only runs that enter this function are valid: its name, or a regular expression
    #[arg(long, value_name = "FUNCTION", help_heading = "Search")]
    pub valid_if_reached: Option<String>,
}

impl Command for DiversityOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.inputs.clone()
    }

    fn check(&self) -> Result<()> {
        need(&self.inputs, "no inputs to look at: name files or folders")
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        say_what_is_missing(&target, harness, self.json);
        run(&self, harness)
    }
}

/// Result of `quagmire diversity`, as printed with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct DiversityReport {
    /// Difference that makes two traces distinct.
    trace: TraceKind,
    /// Corpora in the order given: each folder, and all files together.
    corpora: Vec<Row>,
}

/// Figures of one corpus.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row {
    /// Path of the folder; `files` for the files on the command line.
    corpus: String,
    /// Number of inputs.
    inputs: u64,
    /// Number of valid ones.
    valid: u64,
    /// Number of inputs that ended their runs early: they have no traces.
    ended_early: u64,
    unique_traces: u64,
    unique_valid_traces: u64,
    /// Hill numbers over the unique valid traces.
    #[serde(flatten)]
    hill: Hill,
    /// Whether the set of traces was full, so that there are more.
    is_full: bool,
    /// Expectation for a sample of the unique valid traces; `null` if the corpus has fewer.
    sample: Option<Sample>,
}

/// Hill numbers to expect of a random sample of traces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Sample {
    /// Number of traces.
    traces: u64,
    #[serde(flatten)]
    hill: Hill,
}

/// Runs `quagmire diversity`: runs all inputs and prints the figures.
fn run(options: &DiversityOptions, harness: &'static Harness) -> Result<ExitCode> {
    let corpora = corpora(&options.inputs)?;
    let mut found = Vec::new();
    for (name, inputs) in &corpora {
        found.push((name, inputs.len() as u64, corpus::run(harness, inputs, options)?));
    }
    let fewest = found.iter().map(|(.., figures)| figures.traces.valid).min().unwrap_or(0);
    let traces = options.traces.or((found.len() > 1 && fewest > 0).then_some(fewest));
    let row = |(name, inputs, figures): (&String, u64, corpus::Figures)| {
        let corpus::Figures { valid, ended_early, covered, traces: counts } = figures;
        let sample = traces.filter(|&traces| traces <= counts.valid);
        Row {
            corpus: name.clone(),
            inputs,
            valid,
            ended_early,
            unique_traces: counts.all,
            unique_valid_traces: counts.valid,
            hill: Hill::of(covered.iter().copied()),
            is_full: counts.is_full,
            sample: sample.map(|traces| Sample { traces, hill: Hill::of_sample(&covered, counts.valid, traces) }),
        }
    };
    let report = DiversityReport { trace: options.trace, corpora: found.into_iter().map(row).collect() };
    for row in report.corpora.iter().filter(|row| row.valid == 0) {
        warn(&format!("no input of {} is valid: there is nothing to take B(0), B(1) and B(2) of", row.corpus));
    }
    print::print(&report, traces, options.json)?;
    Ok(ExitCode::Ended)
}

/// Inputs of each corpus: each folder is one, and so are all files together.
fn corpora(paths: &[PathBuf]) -> Result<Vec<(String, Vec<Vec<u8>>)>> {
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| files::is_folder(path));
    let mut corpora = Vec::new();
    let mut load = |name: String, paths: &[PathBuf]| -> Result<()> {
        let seeds = Seeds::load_for_replay(paths)?;
        seeds.warnings.iter().for_each(|warning| warn(warning));
        corpora.push((name, seeds.inputs.into_iter().map(|seed| seed.bytes).collect()));
        Ok(())
    };
    for folder in folders {
        load(folder.display().to_string(), std::slice::from_ref(folder))?;
    }
    let files: Vec<PathBuf> = files.into_iter().cloned().collect();
    if !files.is_empty() {
        load("files".to_owned(), &files)?;
    }
    Ok(corpora)
}
