//! `quagmire mutants`: how good a corpus is, by the small faults that it notices.
//!
//! `score`: a program with all its mutants (`table`) is run with each input as it is (`baseline`), with copies that tell
//! which mutants the input reaches and infects (`probing`), and with the mutants that it infects (`hunt`), as often as it
//! takes to tell them from the original (`kill`). The result (`result`) is printed (`print`) and written beside the log
//! that a run resumes from (`log`). Performance mutants need one run of each input (`charging`) to know what all of them
//! would cost (`slowness`, `ladder`), but for those that are run (`running`). `list`: the table. `compare`: results side by
//! side (`comparison`). `bench`: campaigns of several fuzzers, and their scores. `distill`: few inputs that
//! kill as many (`distillation`).

mod baseline;
mod bench;
mod charging;
mod comparison;
mod distillation;
mod hunt;
mod kill;
mod ladder;
mod list;
mod log;
mod print;
mod probing;
mod progress;
mod result;
mod running;
mod score;
mod slowness;
mod table;
mod workers;

use std::{
    ffi::OsString,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use quagmire_execution::fork_server::run_folder::RunFiles;

pub use self::{
    bench::{BenchOptions, Contestant, known_fuzzers, run as bench},
    comparison::run as compare,
    distillation::run as distill,
    list::run as list,
    score::run as score,
};

/// Options of `mutants score` after defaults and checks.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreOptions {
    /// Files and folders of inputs, as given; at least one.
    pub inputs: Vec<PathBuf>,
    /// The program and its arguments.
    pub program: Vec<OsString>,
    /// Files that its runs see.
    pub files: RunFiles,
    /// Folder for the log and the result.
    pub output: Option<PathBuf>,
    /// Whether to go on with the log in that folder.
    pub resume: bool,
    /// Most inputs that a mutant is run with.
    pub inputs_per_mutant: usize,
    /// Whether mutants are run with inputs that reach but do not infect them, too.
    pub with_reached: bool,
    /// Multiple of the CPU time from which on an input kills a fault, above 1; `None`: only a hang does.
    pub slower: Option<f64>,
    /// Multiple of an input's own cost from which on it kills a performance mutant, above 1; `None` if it is not given.
    pub cost_factor: Option<f64>,
    /// Order of the inputs, of which the first one that kills a performance mutant is named; `None` if it is not given.
    pub order: Option<InputOrder>,
    /// Time since which the ages of the inputs count; `None`: that of the first one.
    pub since: Option<SystemTime>,
    /// Number of processes that run at a time; at least 1.
    pub jobs: usize,
    /// Whether to print JSON.
    pub json: bool,
    /// Longest time of a run.
    pub hang_timeout: Duration,
    /// Memory limit of a run in bytes; 0 for none.
    pub memory_limit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputOrder {
    /// The cheapest first.
    Cost,
    /// By the time of their last modification: as a campaign has found them.
    Modified,
}

/// Options of `mutants list` after checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// The program and its arguments.
    pub program: Vec<OsString>,
    /// Whether to print JSON.
    pub json: bool,
}

/// Options of `mutants compare` after checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareOptions {
    /// Groups of results of `score`, files or folders: at least two groups, each of at least one.
    pub groups: Vec<Vec<PathBuf>>,
    /// Whether to print JSON.
    pub json: bool,
}
