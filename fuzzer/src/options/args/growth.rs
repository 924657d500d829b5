//! Arguments of `quagmire growth`.

use std::path::PathBuf;

use clap::Args;

use super::TargetArgs;
use crate::options::defaults;

/// `quagmire growth`, as typed.
#[derive(Debug, Clone, Args)]
pub struct GrowthArgs {
    /// The input
    #[arg(value_name = "INPUT")]
    pub input: Option<PathBuf>,
    /// The template of the input, instead of finding it out: 'rep(N){"["}', 'nest(N){"(" | "x" | ")"}'; see the book
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// The resource whose growth is asked for: instructions, edges, time, heap, heap-total or stack
    #[arg(long, value_name = "RESOURCE", default_value = defaults::GROWTH_COST)]
    pub cost: String,
    /// Time for all runs
    #[arg(long, value_name = "DURATION", default_value = defaults::GROWTH_BUDGET)]
    pub budget: String,
    /// Run no larger inputs, unless the input is nearly as large
    #[arg(long, value_name = "SIZE", default_value = defaults::GROWTH_MAX_SIZE)]
    pub max_size: String,
    /// Test the predicted CPU time by a run of so many repetitions, or of so many times the largest size (10x) [without N: of
    /// those expected to take a second]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub verify: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}
