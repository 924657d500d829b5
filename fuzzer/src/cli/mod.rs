//! The command line: from arguments to a [`Command`].

pub use crate::options::args::{Command, FuzzArgs, ReplayArgs, ReportArgs};

use crate::options::args;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_base::plain::{self, Form};
use std::ffi::OsString;

/// Why there is no command to run: a help text was asked for, or the command line does not make sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// What the process ends with.
    pub code: ExitCode,
    /// What to print, to standard output if the code is [`ExitCode::Ended`] and to standard error otherwise.
    pub text: String,
}

impl Stop {
    /// Prints the text where it belongs; a closed pipe is no error.
    pub fn print(&self) -> ExitCode {
        match self.code {
            ExitCode::Ended => drop(plain::print(&self.text, Form::Lines)),
            _ => plain::complain(&self.text),
        }
        self.code
    }
}

impl From<clap::Error> for Stop {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Self { code: ExitCode::Ended, text },
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Self { code: ExitCode::Usage, text },
            _ => {
                // clap's paragraph in one line: what is wrong, and its tip if it has one
                let lines = || text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
                let what = lines().next().unwrap_or_default();
                let what = what.strip_prefix("error: ").unwrap_or(what);
                let missing = lines().skip(1).find(|line| line.starts_with(['-', '<'])).unwrap_or_default();
                let separator = if missing.is_empty() { "" } else { " " };
                let tip = lines().find_map(|line| line.strip_prefix("tip: ")).unwrap_or("see --help");
                Self { code: ExitCode::Usage, text: format!("quagmire: {what}{separator}{missing} ({tip})\n") }
            }
        }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self { code: error.code, text: format!("quagmire: {error}\n") }
    }
}

/// Reads the command line of `quagmire`. `args` starts with the program's own name.
pub fn parse_for_quagmire(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Command, Stop> {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let matches = args::Quagmire::command().try_get_matches_from(&args)?;
    let mut command = args::Quagmire::from_arg_matches(&matches)?.command;
    let program = match &mut command {
        Command::Fuzz(fuzz) => {
            fuzz.command = as_typed(&args);
            &fuzz.program
        }
        Command::Replay(replay) => {
            replay.command = as_typed(&args);
            &replay.program
        }
        Command::Report(_) => return Ok(command),
    };
    if program.is_empty() {
        return Err(Error::usage("no program to run: end the command with `-- PROGRAM [ARGS... @@]`").into());
    }
    Ok(command)
}

/// Reads the command line of a harness that contains the engine. `args` starts with the harness's own name.
pub fn parse_for_harness(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Command, Stop> {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let matches = harness_command(&args).try_get_matches_from(&args)?;
    let args::Harness { mut fuzz, inputs, command } = args::Harness::from_arg_matches(&matches)?;
    fuzz.command = as_typed(&args);
    let command = match command {
        Some(args::HarnessCommand::Replay(replay)) => Command::Replay(ReplayArgs { command: fuzz.command, ..replay }),
        None if inputs.is_empty() => Command::Fuzz(fuzz),
        None => {
            refuse_options_of_a_search(&matches)?;
            Command::Replay(ReplayArgs {
                inputs,
                seeds: fuzz.seeds,
                repeats: "1".into(),
                budget: crate::options::defaults::BUDGET.into(),
                against_all: false,
                ordinary: None,
                joined: false,
                json: false,
                annotate: Vec::new(),
                mask: false,
                branch: None,
                exact: false,
                target: fuzz.target,
                program: fuzz.program,
                command: fuzz.command,
            })
        }
    };
    let program = match &command {
        Command::Fuzz(fuzz) => &fuzz.program,
        Command::Replay(replay) => &replay.program,
        Command::Report(_) => return Ok(command),
    };
    if program.is_empty() {
        Ok(command)
    } else {
        Err(Error::usage("this harness is the program: leave out `--` and what follows it").into())
    }
}

/// The harness's options under the harness's own name, without the `-- PROGRAM` that it has no use for.
fn harness_command(args: &[OsString]) -> clap::Command {
    let name = args.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "harness".into());
    let usage = format!(
        "{name} -i SEEDS... -o OUT [OPTIONS]\n       {name} INPUTS...\n       {name} replay [OPTIONS] INPUTS..."
    );
    args::Harness::command().override_usage(usage).mut_arg("program", |arg| arg.hide(true)).mut_subcommand(
        "replay",
        |replay| {
            replay.override_usage(format!("{name} replay [OPTIONS] INPUTS...")).mut_arg("program", |arg| arg.hide(true))
        },
    )
}

/// Files as arguments are replayed: options that only a search has would be ignored in silence.
fn refuse_options_of_a_search(matches: &ArgMatches) -> Result<()> {
    const SHARED: [&str; 6] = ["seeds", "hang_timeout", "memory_limit", "debug_target", "inputs", "program"];
    let typed = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    // groups of clap's own carry the names of types
    let option = |id: &&clap::Id| !SHARED.contains(&id.as_str()) && !id.as_str().starts_with(char::is_uppercase);
    match matches.ids().filter(typed).find(option) {
        None => Ok(()),
        Some(id) => Err(Error::usage(format!(
            "--{} has no meaning when files are replayed: remove it, or give the files as seeds with -i",
            id.as_str().replace('_', "-")
        ))),
    }
}

fn as_typed(args: &[OsString]) -> Vec<String> {
    args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests;
