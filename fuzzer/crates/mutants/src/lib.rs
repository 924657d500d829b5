//! `quagmire mutants`: how good a corpus is, by the small faults and slow places that it notices.
//!
//! `score`: a program with all its mutants (`table`) is run with each input as it is (`runs`). Of small faults (`faults`), copies
//! tell which the input reaches and infects; the mutants that it infects are run until one run tells them from the original,
//! and each verdict is written to a log that `--resume` goes on from (`log`). Performance mutants (`performance`) need one run
//! of each input to know what most of them would cost.

mod bench;
mod compare;
mod distill;
mod faults;
mod list;
mod log;
mod performance;
mod print;
mod runs;
mod score;
mod table;

use std::{
    ffi::OsString,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use quagmire_execution::fork_server::run_folder::RunFiles;

pub use self::{
    bench::{BenchOptions, Contestant, known_fuzzers, run as bench},
    compare::run as compare,
    distill::run as distill,
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
