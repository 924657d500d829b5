//! Arguments of the commands that look at the installation: `doctor`, `completions`, `man`.

use std::path::PathBuf;

use clap::Args;

/// `quagmire doctor`, as typed.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `quagmire completions`, as typed.
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    pub shell: String,
}

/// `quagmire man`, as typed.
#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
