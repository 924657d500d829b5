//! Arguments of harnesses, which contain the engine.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::{
    Command, DistillArgs, DiversityArgs, EXIT_CODES, FuzzArgs, GenerateArgs, GrowthArgs, MineArgs, MinimizeArgs,
    ReplayArgs, ServeRunsArgs,
};

/// A harness that contains the engine: the options of `fuzz` without the subcommand, or files to replay.
#[derive(Debug, Parser)]
#[command(
    name = "harness",
    version,
    about = "Finds the inputs that bog this harness down",
    after_help = EXIT_CODES,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    max_term_width = 110
)]
pub struct Harness {
    /// The options of `quagmire fuzz`.
    #[command(flatten)]
    pub fuzz: FuzzArgs,
    /// Run these files once each, show what they cost, and search for nothing
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// `replay`, or nothing.
    #[command(subcommand)]
    pub command: Option<HarnessCommand>,
}

/// Names of the subcommands of a harness that contains the engine.
pub const OF_HARNESS: [&str; 8] =
    ["replay", "growth", "minimize", "distill", "serve-runs", "diversity", "mine", "generate"];

/// The subcommands of a harness that contains the engine.
#[derive(Debug, Clone, Subcommand)]
pub enum HarnessCommand {
    /// Show what given inputs cost
    #[command(after_help = EXIT_CODES)]
    Replay(ReplayArgs),
    /// Find the law by which the cost of an input grows with its size
    #[command(after_help = EXIT_CODES)]
    Growth(GrowthArgs),
    /// Find the smallest input with the same slowness and the same cause
    #[command(after_help = EXIT_CODES)]
    Minimize(MinimizeArgs),
    /// Find the smallest corpus that covers as much, or costs as much, as given inputs
    #[command(after_help = EXIT_CODES)]
    Distill(DistillArgs),
    /// Run inputs for `quagmire compare`, which starts it
    #[command(hide = true)]
    ServeRuns(ServeRunsArgs),
    /// Show how many distinct things given inputs do, and how evenly they exercise the program
    #[command(after_help = EXIT_CODES)]
    Diversity(DiversityArgs),
    /// Mine a grammar from examples that the harness accepts: it rejects an input by returning -1
    #[command(after_help = EXIT_CODES)]
    Mine(MineArgs),
    /// Write inputs that the harness generates from random draws
    #[command(after_help = EXIT_CODES)]
    Generate(GenerateArgs),
}

impl From<HarnessCommand> for Command {
    fn from(command: HarnessCommand) -> Self {
        match command {
            HarnessCommand::Replay(replay) => Self::Replay(replay),
            HarnessCommand::Growth(growth) => Self::Growth(growth),
            HarnessCommand::Minimize(minimize) => Self::Minimize(minimize),
            HarnessCommand::Distill(distill) => Self::Distill(distill),
            HarnessCommand::ServeRuns(serve) => Self::ServeRuns(serve),
            HarnessCommand::Diversity(diversity) => Self::Diversity(diversity),
            HarnessCommand::Mine(mine) => Self::Mine(mine),
            HarnessCommand::Generate(generate) => Self::Generate(generate),
        }
    }
}
