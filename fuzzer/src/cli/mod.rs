//! Parsing of command lines into a [`Command`].

mod hints;
mod resumed;

pub use crate::options::args::{Command, FuzzArgs, ReplayArgs, ReportArgs};

use crate::options::args;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_base::plain::{self, Form};
use std::ffi::OsString;

/// Environment variable with the name of the program as the user called it.
pub const PROGRAM: &str = "QUAGMIRE_PROGRAM";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The reason why no command runs: a help text was requested, or the command line is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Exit code of the process.
    pub code: ExitCode,
    /// Text for standard output if the code is [`ExitCode::Ended`], for standard error otherwise.
    pub text: String,
}

impl Stop {
    /// Prints the text and returns the exit code; a closed pipe is no error.
    pub fn print(&self) -> ExitCode {
        match self.code {
            ExitCode::Ended => drop(plain::print(&self.text, Form::Lines)),
            _ => plain::complain(&self.text),
        }
        self.code
    }
}

impl Stop {
    /// Reduces an error of clap to one line. `hint` is a remedy better than clap's own, if there is one.
    fn because_of(error: &clap::Error, hint: Option<String>) -> Self {
        let text = error.render().to_string();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Self { code: ExitCode::Ended, text },
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Self { code: ExitCode::Usage, text },
            _ => {
                // reduce clap's paragraph to one line: the error, and its tip if there is one
                let lines = || text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
                let what = lines().next().unwrap_or_default();
                let what = what.strip_prefix("error: ").unwrap_or(what);
                let missing = lines().skip(1).find(|line| line.starts_with(['-', '<'])).unwrap_or_default();
                let separator = if missing.is_empty() { "" } else { " " };
                let values = match error.get(ContextKind::ValidValue) {
                    Some(ContextValue::Strings(values)) if !values.is_empty() => {
                        Some(format!("write one of {}", values.join(", ")))
                    }
                    _ => None,
                };
                let tip = lines().find_map(|line| line.strip_prefix("tip: ")).unwrap_or("see --help");
                let remedy = hint.as_deref().or(values.as_deref()).unwrap_or(tip);
                Self { code: ExitCode::Usage, text: format!("quagmire: {what}{separator}{missing} ({remedy})\n") }
            }
        }
    }
}

impl From<clap::Error> for Stop {
    fn from(error: clap::Error) -> Self {
        Self::because_of(&error, None)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self { code: error.code, text: format!("quagmire: {error}\n") }
    }
}

/// Parses the command line of `quagmire`. `args` starts with the program's name; `commit` goes into the version, if it is known.
pub fn parse_for_quagmire(
    args: impl IntoIterator<Item = impl Into<OsString>>,
    commit: Option<&'static str>,
) -> Result<Command, Stop> {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let is_search = args.get(1).is_some_and(|command| command == "fuzz");
    let args = if is_search { resumed::with_earlier(args, true) } else { args };
    if is_search {
        hints::refuse_libfuzzer_flags(&args)?;
    }
    let hint = |error: clap::Error| Stop::because_of(&error, hints::remedy(&error, &args).filter(|_| is_search));
    let version = commit.map_or(VERSION.to_owned(), |commit| format!("{VERSION} ({commit})"));
    let matches = args::quagmire().version(version).try_get_matches_from(&args).map_err(hint)?;
    let mut command = args::Quagmire::from_arg_matches(&matches)?.command;
    // a grammar needs no program
    let needs_program = !matches!(command, Command::Generate(_));
    if let Some(target) = command.target_mut() {
        target.command = as_typed(&args);
        if target.program.is_empty() && needs_program {
            return Err(Error::usage("no program to run: end the command with `-- PROGRAM [ARGS... @@]`").into());
        }
    }
    Ok(command)
}

/// Parses the command line of a harness, which contains the engine. `args` starts with the harness's name.
pub fn parse_for_harness(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Command, Stop> {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let is_subcommand = args.get(1).is_some_and(|word| args::OF_HARNESS.iter().any(|command| word == command));
    let args = if is_subcommand { args } else { resumed::with_earlier(args, std::env::var_os(PROGRAM).is_none()) };
    if !is_subcommand {
        hints::refuse_libfuzzer_flags(&args)?;
        hints::refuse_commands_of_quagmire(&args)?;
    }
    let hint = |error: clap::Error| Stop::because_of(&error, hints::remedy(&error, &args).filter(|_| !is_subcommand));
    let matches = harness_command(&args).try_get_matches_from(&args).map_err(hint)?;
    let args::Harness { fuzz, inputs, command } = args::Harness::from_arg_matches(&matches)?;
    let mut command = match command {
        Some(command) => command.into(),
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
                context: None,
                lcov: None,
                mask: false,
                branch: None,
                exact: false,
                uninstrumented: fuzz.uninstrumented,
                target: fuzz.target,
            })
        }
    };
    if let Some(target) = command.target_mut() {
        target.command = as_typed(&args);
        if !target.program.is_empty() {
            return Err(Error::usage("this harness is the program: leave out `--` and what follows it").into());
        }
    }
    Ok(command)
}

/// The harness's options under the harness's name, without `-- PROGRAM`, which a harness does not take.
fn harness_command(args: &[OsString]) -> clap::Command {
    let name = args.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "harness".into());
    let usage = format!(
        "{name} -i SEEDS... -o OUT [OPTIONS]\n       {name} INPUTS...\n       {name} replay [OPTIONS] INPUTS...\n       \
         {name} growth [OPTIONS] INPUT\n       {name} minimize [OPTIONS] INPUT [-o FILE]\n       \
         {name} distill [OPTIONS] INPUTS... -o DIR\n       {name} diversity [OPTIONS] INPUTS...\n       {name} mine [OPTIONS] EXAMPLES... -o GRAMMAR\n       {name} generate -n N -o DIR [OPTIONS]"
    );
    let command = args::with_short_help(args::Harness::command().override_usage(usage));
    let command = ["program", "generator", "uninstrumented", "extension", "scratch"]
        .into_iter()
        .fold(command, |all, id| all.mut_arg(id, |arg| arg.hide(true)));
    args::OF_HARNESS.into_iter().fold(command, |command, subcommand| {
        let what = match subcommand {
            "growth" => "INPUT",
            "minimize" => "INPUT [-o FILE]",
            "distill" => "INPUTS... -o DIR",
            "mine" => "EXAMPLES... -o GRAMMAR",
            "generate" => "-n N -o DIR [INPUTS...]",
            _ => "INPUTS...",
        };
        let command = command.mut_subcommand(subcommand, |command| {
            command
                .override_usage(format!("{name} {subcommand} [OPTIONS] {what}"))
                .mut_arg("program", |arg| arg.hide(true))
                .mut_arg("generator", |arg| arg.hide(true))
                .mut_arg("extension", |arg| arg.hide(true))
                .mut_arg("scratch", |arg| arg.hide(true))
        });
        let hide = |command: clap::Command| {
            ["grammar", "depth"].into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
        };
        let as_it_is = |command: clap::Command| command.mut_arg("uninstrumented", |arg| arg.hide(true));
        match subcommand {
            "generate" => command.mut_subcommand(subcommand, hide),
            "replay" => command.mut_subcommand(subcommand, as_it_is),
            _ => command,
        }
    })
}

/// Refuses options of a search on command lines with files to replay, where they would be ignored silently.
fn refuse_options_of_a_search(matches: &ArgMatches) -> Result<()> {
    const SHARED: [&str; 9] = [
        "seeds",
        "hang_timeout",
        "memory_limit",
        "debug_target",
        "generator",
        "extension",
        "scratch",
        "inputs",
        "program",
    ];
    let typed = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    // clap's own groups have the names of types
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
