//! The options of `replay`, as resolved.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use crate::rounds::Rounds;
use quagmire_cost::decision::Question;

/// The options of `replay`, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Files and folders of inputs, as given; at least one.
    pub inputs: Vec<PathBuf>,
    /// Files and folders to compare with; may be empty.
    pub seeds: Vec<PathBuf>,
    /// How often to run each input.
    pub rounds: Rounds,
    /// Which verdicts are asked for.
    pub question: Question,
    /// Print JSON.
    pub json: bool,
    /// Source files to print with counts, as the user named them.
    pub annotate: Vec<PathBuf>,
    /// Print the mask of the one input instead of what it costs.
    pub mask: Option<MaskOptions>,
    /// A run that takes longer is a hang; at least 10 ms.
    pub hang_timeout: Duration,
    /// Memory of the target in bytes; 0 for no limit.
    pub memory_limit: u64,
    /// Show what the target prints.
    pub debug_target: bool,
    /// The program and its arguments; empty in a harness that contains the engine.
    pub program: Vec<OsString>,
    /// The whole command line.
    pub command: Vec<String>,
}

/// What `replay --mask` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskOptions {
    /// The place that runs have to execute, as typed; nine tenths of the cost if there is none.
    pub branch: Option<String>,
    /// Probe each byte by itself.
    pub exact: bool,
    /// How long to probe.
    pub budget: Duration,
}
