//! The commands of `quagmire`, and parsing of a command line into one of them.

mod distill;
mod doctor;
mod manual;
mod mutants;
mod report;
mod setup;

use std::ffi::OsString;

use quagmire_analysis::{
    command::ALL_EXIT_CODES, compare::CompareOptions, diversity::DiversityOptions, growth::GrowthOptions,
    mine::MineOptions, minimize::MinimizeOptions, options::ReplayOptions, runner::offer::OfferOptions,
};
use quagmire_base::error::{Error, Result};

use crate::{
    cli::{Parsed, Row, Stop, as_typed, hints, read, resumed, row, with_short_help},
    generate::Generate,
    init::Init,
    options::Options,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commands of `quagmire`, in the order of its help text.
const COMMANDS: [Row; 17] = [
    row::<Options>(),
    row::<ReplayOptions>(),
    row::<GrowthOptions>(),
    row::<MinimizeOptions>(),
    row::<distill::Distill>(),
    row::<CompareOptions>(),
    row::<OfferOptions>(),
    row::<mutants::Mutants>(),
    row::<DiversityOptions>(),
    row::<MineOptions>(),
    row::<report::Report>(),
    row::<Generate>(),
    row::<Init>(),
    row::<setup::Setup>(),
    row::<doctor::Doctor>(),
    row::<manual::Completions>(),
    row::<manual::Man>(),
];

/// The command line of `quagmire`.
pub fn quagmire() -> clap::Command {
    clap::Command::new("quagmire")
        .version(VERSION)
        .about("Finds the inputs that bog a C or C++ program down")
        .long_about(
            "Finds the inputs that bog a C or C++ program down, proves that they do, and keeps them.\n\n\
             The program is built with quagmire-cc or quagmire-c++ instead of the usual compiler.",
        )
        .after_help(ALL_EXIT_CODES)
        .disable_help_subcommand(true)
        .max_term_width(110)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(COMMANDS.map(|row| (row.arguments)()))
        .mut_subcommand("fuzz", with_short_help)
}

/// Parses the command line of `quagmire`. `args` starts with the program's name; `commit` goes into the version, if it is known.
pub fn parse_for_quagmire(
    args: impl IntoIterator<Item = impl Into<OsString>>,
    commit: Option<&'static str>,
) -> Result<Parsed, Stop> {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let is_search = args.get(1).is_some_and(|command| command == "fuzz");
    let args = if is_search { resumed::with_earlier(args, true) } else { args };
    if is_search {
        hints::refuse_libfuzzer_flags(&args)?;
    }
    let hint = |error: clap::Error| Stop::because_of(&error, hints::remedy(&error, &args).filter(|_| is_search));
    let version = commit.map_or(VERSION.to_owned(), |commit| format!("{VERSION} ({commit})"));
    let matches = quagmire().version(version).try_get_matches_from(&args).map_err(hint)?;
    let (name, matches) = matches.subcommand().ok_or_else(|| Error::usage("no command: see quagmire --help"))?;
    let mut command = read(COMMANDS.into_iter(), name, matches)?;
    if let Some(target) = command.target() {
        target.command = as_typed(&args);
        // a grammar needs no program
        if target.program.is_empty() && name != "generate" {
            return Err(Error::usage("no program to run: end the command with `-- PROGRAM [ARGS... @@]`").into());
        }
    }
    Ok(Parsed { name: name.to_owned(), command })
}
