//! Arguments of `quagmire compare`, and of the hidden command that it starts.

use std::path::PathBuf;

use clap::Args;

use super::TargetArgs;
use crate::options::defaults;

/// `quagmire compare`, as typed.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The inputs: files, folders of files, or the output folder of a campaign
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// Compare with what this file says instead of with an old build
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write what the inputs cost in the build to the file of --baseline
    #[arg(long, requires = "baseline")]
    pub update: bool,
    /// Regressions that are known: a JSON list of records with input (the beginning of its hash) or function, reason, and
    /// expires (a date)
    #[arg(long, value_name = "FILE")]
    pub tolerated: Option<PathBuf>,
    /// How many times the instructions are a regression, if CPU time confirms it; more than 1
    #[arg(long, value_name = "RATIO", default_value = defaults::REGRESSION)]
    pub threshold: String,
    /// Measure no times after this time: what is not confirmed by then is not red
    #[arg(long, value_name = "DURATION", default_value = defaults::COMPARE_TIME)]
    pub time: String,
    /// Exit with 5 if an input is unstable and nothing is red
    #[arg(long)]
    pub strict: bool,
    /// Compare builds with other compilers, flags or instrumentation, too
    #[arg(long)]
    pub force: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write the result to this file as well, as JSON
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `serve-runs`, which `quagmire compare` starts for each build.
#[derive(Debug, Clone, Args)]
pub struct ServeRunsArgs {
    /// Largest input in bytes
    #[arg(long, value_name = "BYTES")]
    pub capacity: String,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}
