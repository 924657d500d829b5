//! Resolved options of `replay`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use crate::rounds::Rounds;
use quagmire_cost::decision::Question;

/// Options of `replay` after defaults and checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Files and folders of inputs, as given; at least one.
    pub inputs: Vec<PathBuf>,
    /// Files and folders of inputs to compare with; may be empty.
    pub seeds: Vec<PathBuf>,
    /// How often to run each input.
    pub rounds: Rounds,
    /// The verdicts that are asked for.
    pub question: Question,
    /// Whether to print JSON.
    pub json: bool,
    /// Source files to print with counts, as named by the user.
    pub annotate: Vec<PathBuf>,
    /// If set, print only their hot lines, with this many lines around each.
    pub context: Option<u32>,
    /// If set, write how often all inputs execute each line to this file instead of printing costs.
    pub lcov: Option<PathBuf>,
    /// If set, print the mask of the one input instead of its costs.
    pub mask: Option<MaskOptions>,
    /// Hang timeout of a run; at least 10 ms.
    pub hang_timeout: Duration,
    /// Memory limit of the target in bytes; 0 for none.
    pub memory_limit: u64,
    /// Whether to show the target's output.
    pub debug_target: bool,
    /// The program and its arguments; empty in a harness.
    pub program: Vec<OsString>,
    /// The whole command line.
    pub command: Vec<String>,
}

/// Options of `replay --mask`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskOptions {
    /// The place that runs have to execute, as typed; without one, nine tenths of the instructions.
    pub branch: Option<String>,
    /// Whether to probe each byte separately.
    pub exact: bool,
    /// Time limit for probes.
    pub budget: Duration,
}
