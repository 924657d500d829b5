//! Command lines of harnesses, and what they have in common with those of `quagmire`.

pub(crate) mod hints;
pub(crate) mod resumed;

use std::{
    error::Error as _,
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::{
    ArgMatches, CommandFactory, FromArgMatches, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};
use quagmire_analysis::{
    command::{Command, EXIT_CODES},
    distill::DistillOptions,
    diversity::DiversityOptions,
    growth::GrowthOptions,
    mine::MineOptions,
    minimize::MinimizeOptions,
    options::ReplayOptions,
    runner::offer::OfferOptions,
};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
};

use crate::{generate::Generate, options::Options};

/// A command: its arguments for clap, and how it is made from them.
pub(crate) struct Row {
    pub(crate) arguments: fn() -> clap::Command,
    read: fn(&ArgMatches) -> std::result::Result<Box<dyn Command>, clap::Error>,
}

pub(crate) const fn row<T: Command + CommandFactory + FromArgMatches>() -> Row {
    Row { arguments: T::command, read: |matches| Ok(Box::new(T::from_arg_matches(matches)?)) }
}

/// A command of a harness, beside the search.
struct HarnessRow {
    row: Row,
    name: &'static str,
    /// Arguments in the line that shows its usage.
    usage: &'static str,
}

const fn of_harness<T: Command + CommandFactory + FromArgMatches>(
    name: &'static str,
    usage: &'static str,
) -> HarnessRow {
    HarnessRow { row: row::<T>(), name, usage }
}

/// The commands of a harness, in the order of its help text.
const OF_HARNESS: [HarnessRow; 8] = [
    of_harness::<ReplayOptions>("replay", "INPUTS..."),
    of_harness::<GrowthOptions>("growth", "INPUT"),
    of_harness::<MinimizeOptions>("minimize", "INPUT [-o FILE]"),
    of_harness::<DistillOptions>("distill", "INPUTS... -o DIR"),
    of_harness::<OfferOptions>("serve-runs", "INPUTS..."),
    of_harness::<DiversityOptions>("diversity", "INPUTS..."),
    of_harness::<MineOptions>("mine", "EXAMPLES... -o GRAMMAR"),
    of_harness::<Generate>("generate", "-n N -o DIR [INPUTS...]"),
];

/// Options that make no sense in a harness, which its help texts leave out.
const NOT_OF_HARNESS: [&str; 7] =
    ["program", "generator", "uninstrumented", "extension", "scratch", "grammar", "depth"];

/// Whether a word is a command of harnesses.
pub fn is_of_harness(word: &str) -> bool {
    OF_HARNESS.iter().any(|command| command.name == word)
}

/// Environment variable with the name of the program as the user called it.
pub const PROGRAM: &str = "QUAGMIRE_PROGRAM";

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
    pub(crate) fn because_of(error: &clap::Error, hint: Option<String>) -> Self {
        let text = error.render().to_string();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Self { code: ExitCode::Ended, text },
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Self { code: ExitCode::Usage, text },
            // the parsers of values say what to write instead
            ErrorKind::ValueValidation => {
                let option = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
                let option = option.split(' ').next().unwrap_or_default();
                let value = error.get(ContextKind::InvalidValue).map(ToString::to_string).unwrap_or_default();
                let reason = error.source().map(ToString::to_string).unwrap_or_default();
                let of_value = reason.strip_prefix(&format!("`{value}`")).or_else(|| reason.strip_prefix(&value));
                let text = match of_value {
                    Some(rest) => format!("quagmire: {option} {value}{rest}\n"),
                    None => format!("quagmire: {option} {value}: {reason}\n"),
                };
                Self { code: ExitCode::Usage, text }
            }
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
                let remedy = hint.as_deref().or(values.as_deref()).unwrap_or(match error.kind() {
                    ErrorKind::ArgumentConflict => "leave one of them out",
                    _ => tip,
                });
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

/// A command, and its name on the command line.
pub struct Parsed {
    pub name: String,
    pub command: Box<dyn Command>,
}

/// End of the short help of a search, behind the options that most campaigns need.
const MORE_HELP: &str = "\
Example: quagmire fuzz -i seeds -o out --max-size 4000 -- ./harness
--help shows all options and the exit codes.";

/// Options of a search that `-h` shows.
const USUAL: [&str; 14] = [
    "help",
    "seeds",
    "output",
    "resume",
    "time",
    "jobs",
    "cost",
    "max_size",
    "grammar",
    "dict",
    "seed",
    "uninstrumented",
    "hang_timeout",
    "quiet",
];

/// Leaves all but the usual options of a search out of the short help.
pub(crate) fn with_short_help(search: clap::Command) -> clap::Command {
    search.after_long_help(EXIT_CODES).after_help(MORE_HELP).mut_args(|arg| {
        let is_usual = USUAL.contains(&arg.get_id().as_str());
        arg.hide_short_help(!is_usual)
    })
}

/// Makes the command with this name.
pub(crate) fn read(
    rows: impl Iterator<Item = Row>,
    name: &str,
    matches: &ArgMatches,
) -> Result<Box<dyn Command>, Stop> {
    let mut rows = rows.filter(|row| (row.arguments)().get_name() == name);
    let row = rows.next().ok_or_else(|| Error::usage(format!("{name} is no command: see --help")))?;
    Ok((row.read)(matches)?)
}

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
struct Harness {
    // before the program, which is the last positional argument
    /// Run these files once each, show what they cost, and search for nothing
    #[arg(value_name = "INPUTS")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    fuzz: Options,
}

/// Parses the command line of a harness, which contains the engine. `args` starts with the harness's name.
pub fn parse_for_harness(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Parsed, Stop> {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let is_subcommand = args.get(1).and_then(|word| word.to_str()).is_some_and(is_of_harness);
    let args = if is_subcommand { args } else { resumed::with_earlier(args, std::env::var_os(PROGRAM).is_none()) };
    if !is_subcommand {
        hints::refuse_libfuzzer_flags(&args)?;
        hints::refuse_commands_of_quagmire(&args)?;
    }
    let hint = |error: clap::Error| Stop::because_of(&error, hints::remedy(&error, &args).filter(|_| !is_subcommand));
    let matches = harness_command(&args).try_get_matches_from(&args).map_err(hint)?;
    let (name, mut command) = match matches.subcommand() {
        Some((name, matches)) => (name, read(OF_HARNESS.into_iter().map(|command| command.row), name, matches)?),
        None => {
            let Harness { fuzz, inputs } = Harness::from_arg_matches(&matches)?;
            if inputs.is_empty() {
                ("fuzz", Box::new(fuzz) as Box<dyn Command>)
            } else {
                refuse_options_of_a_search(&matches)?;
                let mut replay = ReplayOptions::try_parse_from(["replay", "-n", "1"])?;
                (replay.inputs, replay.seeds, replay.target) = (inputs, fuzz.seeds, fuzz.target);
                replay.uninstrumented = fuzz.uninstrumented;
                ("replay", Box::new(replay) as Box<dyn Command>)
            }
        }
    };
    if let Some(target) = command.target() {
        target.command = as_typed(&args);
        if !target.program.is_empty() {
            return Err(Error::usage("this harness is the program: leave out `--` and what follows it").into());
        }
    }
    Ok(Parsed { name: name.to_owned(), command })
}

/// The harness's options under the harness's name, without `-- PROGRAM`, which a harness does not take.
fn harness_command(args: &[OsString]) -> clap::Command {
    let name = args.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "harness".into());
    let usage = format!(
        "{name} -i SEEDS... -o OUT [OPTIONS]\n       {name} INPUTS...\n       {name} replay [OPTIONS] INPUTS...\n       \
         {name} growth [OPTIONS] INPUT\n       {name} minimize [OPTIONS] INPUT [-o FILE]\n       \
         {name} distill [OPTIONS] INPUTS... -o DIR\n       {name} diversity [OPTIONS] INPUTS...\n       {name} mine [OPTIONS] EXAMPLES... -o GRAMMAR\n       {name} generate -n N -o DIR [OPTIONS]"
    );
    let hide = |command: clap::Command| {
        command.mut_args(|arg| {
            let is_hidden = NOT_OF_HARNESS.contains(&arg.get_id().as_str()) || arg.is_hide_set();
            arg.hide(is_hidden)
        })
    };
    let subcommand = |HarnessRow { row, name: own, usage }: HarnessRow| {
        let command = hide((row.arguments)()).override_usage(format!("{name} {own} [OPTIONS] {usage}"));
        match own {
            "mine" => command
                .about("Mine a grammar from examples that the harness accepts: it rejects an input by returning -1")
                .long_about(None::<&str>),
            "generate" => {
                command.about("Write inputs that the harness generates from random draws").long_about(None::<&str>)
            }
            _ => command,
        }
    };
    let search = with_short_help(Harness::command().override_usage(usage));
    // a grammar is for searches, too
    let search = hide(search).mut_arg("grammar", |arg| arg.hide(false));
    search.subcommands(OF_HARNESS.map(subcommand))
}

/// A path that is not looked for in `PATH`.
pub fn with_folder(path: &Path) -> PathBuf {
    if path.components().count() == 1 { Path::new(".").join(path) } else { path.to_owned() }
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

pub(crate) fn as_typed(args: &[OsString]) -> Vec<String> {
    args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests;
