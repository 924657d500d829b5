//! Arguments of `quagmire minimize`.

use std::path::PathBuf;

use clap::Args;

use super::TargetArgs;
use crate::options::defaults;

/// `quagmire minimize`, as typed.
#[derive(Debug, Clone, Args)]
pub struct MinimizeArgs {
    /// The input
    #[arg(value_name = "INPUT")]
    pub input: Option<PathBuf>,
    /// Write the smallest input to this file [default: INPUT.min]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Seeds: what costs so much as they do for their size is ordinary [default: as the first bytes of the input]
    #[arg(short = 'i', long = "seeds", value_name = "SEEDS")]
    pub seeds: Vec<PathBuf>,
    /// Keep this multiple of the cost of an ordinary input of the same size
    #[arg(long, value_name = "RATIO", default_value = defaults::THRESHOLD)]
    pub threshold: String,
    /// The resource whose cost is kept [default: instructions, or another one that only is unusual]
    #[arg(long, value_name = "RESOURCE")]
    pub cost: Option<String>,
    /// The cause that has to stay: same (the hottest function, and the ratios of all), or any
    #[arg(long, value_name = "CAUSE", default_value = defaults::MINIMIZE_CAUSE)]
    pub cause: String,
    /// Time for all runs
    #[arg(long, value_name = "DURATION", default_value = defaults::MINIMIZE_BUDGET)]
    pub budget: String,
    /// Run the target at most so often
    #[arg(long, value_name = "N", default_value = defaults::MINIMIZE_EXECS)]
    pub execs: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}
