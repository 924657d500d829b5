//! Completions of shells and pages of the manual, made from the command line's own descriptions.

use std::{fs, path::PathBuf};

use clap::{
    Parser,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use clap_complete::Shell;
use quagmire_analysis::command::{Command, EXIT_CODES_ALONE};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
};

use super::quagmire;

/// Print the completions for a shell
#[derive(Debug, Parser)]
#[command(name = "completions", after_help = EXIT_CODES_ALONE)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_parser = PossibleValuesParser::new(["bash", "zsh", "fish"]).try_map(|shell| shell.parse::<Shell>()))]
    shell: Shell,
}

impl Command for Completions {
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut quagmire(), "quagmire", &mut text);
        let printed = plain::print(&String::from_utf8_lossy(&text), Form::Lines);
        let unprinted = |error| Error::other(format!("cannot print: {error}"));
        Some(printed.map(|()| ExitCode::Ended).map_err(unprinted))
    }
}

/// Write the pages of the manual
#[derive(Debug, Parser)]
#[command(name = "man", after_help = EXIT_CODES_ALONE)]
pub(super) struct Man {
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Command for Man {
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        let written =
            fs::create_dir_all(&self.folder).and_then(|()| clap_mangen::generate_to(quagmire(), &self.folder));
        let unwritten = |error| Error::other(format!("cannot write pages to {}: {error}", self.folder.display()));
        Some(written.map(|()| ExitCode::Ended).map_err(unwritten))
    }
}
