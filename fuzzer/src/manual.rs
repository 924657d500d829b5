//! Completions of shells and pages of the manual, made from the command line's own descriptions.

use std::{fs, path::Path};

use clap_complete::Shell;
use quagmire::options::args;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
};

/// Prints the completions for a shell, by its name.
pub(crate) fn completions(shell: &str) -> Result<ExitCode> {
    let shell: Shell = shell.parse().map_err(|error: String| Error::usage(format!("{shell}: {error}")))?;
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut args::quagmire(), "quagmire", &mut text);
    let text = String::from_utf8_lossy(&text);
    plain::print(&text, Form::Lines)?;
    Ok(ExitCode::Ended)
}

/// Writes a page for `quagmire` and one for each command into a folder, which is made if it is not there.
pub(crate) fn pages(folder: &Path) -> Result<ExitCode> {
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(args::quagmire(), folder));
    written.map_err(|error| Error::other(format!("cannot write pages to {}: {error}", folder.display())))?;
    Ok(ExitCode::Ended)
}
