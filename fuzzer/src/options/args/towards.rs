//! Places that a campaign works towards, as typed.

use std::path::PathBuf;

use clap::Args;

/// Where the search goes.
#[derive(Debug, Clone, Default, Args)]
pub struct TowardsArgs {
    /// Work towards this place, and look for costs there: FUNCTION, FILE:LINE or FILE:LINE-LINE (repeatable)
    #[arg(long, value_name = "PLACE", help_heading = "Search")]
    pub towards: Vec<String>,
    /// Work towards the lines that a patch adds or changes, and the neighbours of those that it deletes: a unified diff, such as
    /// `git diff` writes (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub towards_patch: Vec<PathBuf>,
}
