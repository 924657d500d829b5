//! Arguments of `quagmire mutants`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand};

use super::{EXIT_CODES, TargetArgs};

/// Default of `--inputs-per-mutant`.
pub(in crate::options) const INPUTS_PER_MUTANT: &str = "50";
/// Default of `--time` of `mutants bench`.
const BENCH_TIME: &str = "10m";
/// Default of `--runs` there.
const BENCH_RUNS: &str = "10";
/// Default of `--max-size` there.
const BENCH_SIZE: &str = "4096";

/// `quagmire mutants`, as typed.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct MutantsArgs {
    /// Command on scores.
    #[command(subcommand)]
    pub command: MutantsCommand,
}

impl MutantsArgs {
    /// Its target as typed; `None` if it has none.
    pub fn target(&self) -> Option<&TargetArgs> {
        match &self.command {
            MutantsCommand::Score(score) => Some(&score.target),
            MutantsCommand::Bench(bench) => Some(&bench.target),
            MutantsCommand::List(_) | MutantsCommand::Compare(_) => None,
        }
    }

    /// Its target as typed, to be changed.
    pub fn target_mut(&mut self) -> Option<&mut TargetArgs> {
        match &mut self.command {
            MutantsCommand::Score(score) => Some(&mut score.target),
            MutantsCommand::Bench(bench) => Some(&mut bench.target),
            MutantsCommand::List(_) | MutantsCommand::Compare(_) => None,
        }
    }
}

/// Subcommands of `quagmire mutants`.
#[derive(Debug, Clone, Subcommand)]
pub enum MutantsCommand {
    /// Show how many mutants of a program the inputs notice
    #[command(
        override_usage = "quagmire mutants score [OPTIONS] INPUTS... -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Score(Box<ScoreArgs>),
    /// Show the mutants of a program, with the IDs by which QUAGMIRE_MUTANT chooses one
    #[command(override_usage = "quagmire mutants list [OPTIONS] -- PROGRAM [ARGS... @@]", after_help = EXIT_CODES)]
    List(ListArgs),
    /// Show results of `score` side by side
    #[command(
        override_usage = "quagmire mutants compare [OPTIONS] SCORE SCORE...\n       \
                          quagmire mutants compare [OPTIONS] -- SCORE... --and SCORE...",
        long_about = "Shows which mutants the results of `score` kill that others do not: each is a result of its own, or, with \
                      --and between them, they are groups, such as of repeated campaigns.",
        after_help = EXIT_CODES
    )]
    Compare(CompareScoresArgs),
    /// Make campaigns of several fuzzers, and show how many mutants each kills, and how soon
    #[command(
        override_usage = "quagmire mutants bench [OPTIONS] -i SEEDS -o DIR --fuzzer NAME=PROGRAM... -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Bench(Box<BenchArgs>),
}

/// `quagmire mutants bench`, as typed.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// The seeds of all campaigns: one file or folder (repeatable)
    #[arg(short = 'i', long, value_name = "PATH", required = true)]
    pub seeds: Vec<PathBuf>,
    /// Write campaigns and bench.json to this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: PathBuf,
    /// A fuzzer, and the program as it is built for it (repeatable): quagmire; perffuzz, quagmire with PerfFuzz's feedback;
    /// afl; libfuzzer
    #[arg(long, value_name = "NAME=PROGRAM")]
    pub fuzzer: Vec<String>,
    /// Another fuzzer, and a script that runs it (repeatable). The script gets the folder of the seeds, one to write to, seconds, seed
    /// and largest size, and prints the folders with its inputs, and a line `executions: N` if it knows
    #[arg(long, value_name = "NAME=FILE")]
    pub script: Vec<String>,
    /// Time of each campaign
    #[arg(long, value_name = "DURATION", default_value = BENCH_TIME)]
    pub time: String,
    /// Campaigns of each fuzzer
    #[arg(long, value_name = "N", default_value = BENCH_RUNS)]
    pub runs: String,
    /// Seed of the first campaign of each fuzzer; the others have those after it
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Largest size of an input
    #[arg(long, value_name = "SIZE", default_value = BENCH_SIZE)]
    pub max_size: String,
    /// Performance mutants: an input kills a mutant that makes it cost at least X times as much [default: 2]
    #[arg(long, value_name = "X")]
    pub cost_factor: Option<String>,
    /// Run a mutant with at most so many of the inputs that infect it, the cheapest first
    #[arg(long, value_name = "N", default_value = INPUTS_PER_MUTANT)]
    pub inputs_per_mutant: String,
    /// Run so many campaigns at a time
    #[arg(short = 'j', value_name = "N", default_value = "1")]
    pub jobs: String,
    /// Go on with the campaigns in the folder
    #[arg(long)]
    pub resume: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `quagmire mutants score`, as typed.
#[derive(Debug, Clone, Args)]
pub struct ScoreArgs {
    /// The inputs: files, or folders of files
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// Write the result to score.json in this folder, and what --resume needs
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Go on with the score in the folder
    #[arg(long, requires = "output")]
    pub resume: bool,
    /// Run a mutant with at most so many of the inputs that infect it, the cheapest first; a degraded hash or a dropped cache,
    /// whose cost cannot be charged, with those that use it most
    #[arg(long, value_name = "N", default_value = INPUTS_PER_MUTANT)]
    pub inputs_per_mutant: String,
    /// Run a mutant with the inputs that only reach it, too: checks that nothing is lost by leaving them out
    #[arg(long)]
    pub reached: bool,
    /// Kill a mutant by its cost as well: by an input that takes X times the CPU time, and 5 ms more, in each of four runs
    #[arg(long, value_name = "X")]
    pub slower: Option<String>,
    /// Performance mutants: an input kills a mutant that makes it cost at least X times as much [default: 2]
    #[arg(long, value_name = "X")]
    pub cost_factor: Option<String>,
    /// Performance mutants: order of the inputs, of which the first that kills one is named: cost, the cheapest first; mtime,
    /// the oldest file first, as a campaign has found them [default: cost]
    #[arg(long, value_name = "ORDER")]
    pub in_order: Option<String>,
    /// Run so many processes at a time [default: one for each core]
    #[arg(short = 'j', value_name = "N")]
    pub jobs: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `quagmire mutants list`, as typed.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The program, built with QUAGMIRE_MUTANTS, and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `quagmire mutants compare`, as typed.
#[derive(Debug, Clone, Args)]
pub struct CompareScoresArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Results: files, or folders of `score -o`
    #[arg(value_name = "SCORE")]
    pub scores: Vec<PathBuf>,
    /// Groups of results, with --and between them.
    #[arg(last = true, value_name = "SCORE", hide = true)]
    pub groups: Vec<OsString>,
}
