//! Arguments of the commands for the first hour: `init`, `doctor`, `completions`, `man`.

use std::path::PathBuf;

use clap::Args;

/// `quagmire init`, as typed.
#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// The folder with the sources, or a header or source in the one that this is started in [default: this folder]
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Write a harness for this function, with or without its namespace and class
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Build the project with the wrapper first, by the commands that are printed otherwise
    #[arg(long)]
    pub build: bool,
}

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
