//! Arguments of `quagmire distill`.

use std::path::PathBuf;

use clap::Args;

use super::TargetArgs;

/// `quagmire distill`, as typed.
#[derive(Debug, Clone, Args)]
pub struct DistillArgs {
    /// The inputs: files, or folders of files
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// The folder for the corpus: a new one, or an empty one
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Purpose of the corpus, which says what it keeps. coverage: each edge in each of AFL's buckets; cost: the maximum of each edge, function and
    /// resource, and each law of findings; mutants: each mutant that is killed, of a build with QUAGMIRE_MUTANTS=1
    #[arg(long = "for", value_name = "PURPOSE", default_value = "coverage")]
    pub purpose: String,
    /// The amount to keep small: cost (instructions), size (bytes) or inputs [default: cost for
    /// coverage, size for cost]
    #[arg(long, value_name = "WEIGHT")]
    pub weight: Option<String>,
    /// Say of each input that is left out which ones subsume it
    #[arg(long)]
    pub verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}
