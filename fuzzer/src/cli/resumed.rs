//! `--resume`: a campaign goes on with the options that it had, unless they are given again. They are in the `summary.json` of the
//! folder, which may be somebody else's: only options that neither run a program nor name a file are taken from there.

use std::{ffi::OsString, path::Path};

use clap::{ArgMatches, Args, parser::ValueSource};
use quagmire_base::plain::warn;
use quagmire_results::Summary;

use crate::options::Options;

/// Options that run programs, open ports, or are about this session. Seeds are in the folder.
const OF_A_SESSION: [&str; 8] = ["program", "generator", "output", "resume", "force", "seeds", "name", "metrics"];

/// Options that name files or folders: what is in them could get into the folder.
const FILES: [&str; 6] = ["custom_mutator", "regex_rules", "grammar", "dict", "towards_patch", "sync"];

/// Options of which at most one is given.
const SIZES: [&str; 3] = ["max_size", "max_size_increase", "max_size_ratio"];

/// The arguments of a search with those that the campaign had before, if it is to be resumed. Arguments without sense are left
/// to the parser. `says`: whether to say which options are not taken.
pub(crate) fn with_earlier(args: Vec<OsString>, says: bool) -> Vec<OsString> {
    let own = args.iter().position(|word| word == "--").unwrap_or(args.len());
    if !args[..own].iter().any(|word| word == "--resume") {
        return args;
    }
    let (now, _) = parsed(&args);
    let Some(folder) = now.get_one::<OsString>("output") else { return args };
    let Ok(summary) = Summary::of_campaign(Path::new(folder)) else { return args };
    let (then, command) = parsed(&summary.command.iter().map(OsString::from).collect::<Vec<_>>());
    let is_given = |matches: &ArgMatches, id: &str| {
        matches.try_contains_id(id).unwrap_or(false) && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let has_size = SIZES.iter().any(|id| is_given(&now, id));
    let mut earlier: Vec<OsString> = Vec::new();
    for arg in command.get_arguments() {
        let id = arg.get_id().as_str();
        let is_other_size = has_size && SIZES.contains(&id);
        if OF_A_SESSION.contains(&id) || is_other_size || is_given(&now, id) || !is_given(&then, id) {
            continue;
        }
        let long = arg.get_long().map(|long| format!("--{long}"));
        let Some(name) = long.or_else(|| arg.get_short().map(|short| format!("-{short}"))) else { continue };
        let occurrences: Vec<Vec<OsString>> = then
            .get_raw_occurrences(id)
            .map(|all| all.map(|values| values.map(OsString::from).collect()).collect())
            .unwrap_or_default();
        if FILES.contains(&id) {
            let values: Vec<String> =
                occurrences.iter().flatten().map(|value| value.to_string_lossy().into_owned()).collect();
            if says {
                let values = values.join(" ");
                warn(&format!(
                    "resumed without {name} {values}, which the campaign had: give it again to go on with it"
                ));
            }
        } else if arg.get_action().takes_values() {
            // a value may begin with a dash
            earlier.extend(occurrences.into_iter().flatten().map(|value| {
                let mut word = OsString::from(format!("{name}="));
                word.push(value);
                word
            }));
        } else {
            earlier.push(name.into());
        }
    }
    let (front, program) = args.split_at(own);
    front.iter().cloned().chain(earlier).chain(program.iter().cloned()).collect()
}

/// The options of a search, as far as its words can be understood: of `quagmire fuzz` or of a harness.
fn parsed(args: &[OsString]) -> (ArgMatches, clap::Command) {
    let is_search = args.get(1).is_some_and(|word| word == "fuzz");
    let command = Options::augment_args(clap::Command::new("fuzz").no_binary_name(true).ignore_errors(true));
    // a value that is refused today would end the parsing
    let command = command.mut_args(|arg| {
        if arg.get_action().takes_values() { arg.value_parser(clap::value_parser!(OsString)) } else { arg }
    });
    let words = args.iter().skip(if is_search { 2 } else { 1 });
    let matches = command.clone().try_get_matches_from(words).unwrap_or_default();
    (matches, command)
}
