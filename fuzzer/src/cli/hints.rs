//! Remedies for command lines with habits from other fuzzers.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use quagmire_base::error::{Error, Result};
use std::{ffi::OsString, path::Path};

/// Flags of libFuzzer with the option that does the same, and what follows the flag's number there. Flags without such
/// an option are listed if clap would read them as one of ours with a value, such as `-o nly_ascii=1`.
const LIBFUZZER: [(&str, Option<(&str, &str)>); 13] = [
    ("runs", Some(("--execs", ""))),
    ("max_total_time", Some(("--time", ""))),
    ("max_len", Some(("--max-size", ""))),
    ("seed", Some(("--seed", ""))),
    ("dict", Some(("-x", ""))),
    ("timeout", Some(("--hang-timeout", ""))),
    ("rss_limit_mb", Some(("--memory-limit", "MiB"))),
    ("jobs", Some(("-j", ""))),
    ("workers", Some(("-j", ""))),
    ("fork", Some(("-j", ""))),
    ("only_ascii", None),
    ("ignore_crashes", None),
    ("ignore_timeouts", None),
];

/// Options of other fuzzers and near misses, with ours. Where AFL++ and Perun have the same letter, AFL++'s meaning.
const OTHERS: [(&str, &str); 35] = [
    ("--corpus", "-i DIR"),
    ("--input", "-i DIR"),
    ("--input-sample", "-i FILE"),
    ("-w", "-i FILE"),
    ("--out", "-o OUT"),
    ("--output-dir", "-o OUT"),
    ("--jobs", "-j N"),
    ("--workers", "-j N"),
    ("--timeout", "--hang-timeout DURATION"),
    ("-t", "--hang-timeout DURATION"),
    ("-ht", "--hang-timeout DURATION"),
    ("-V", "--time DURATION"),
    ("--runs", "--execs N"),
    ("-E", "--execs N"),
    ("-m", "--memory-limit SIZE"),
    ("-M", "--sync DIR --name NAME"),
    ("-S", "--sync DIR --name NAME"),
    ("-F", "--sync DIR --name NAME"),
    ("-G", "--max-size SIZE"),
    ("-N", "--max-size SIZE"),
    ("--max-len", "--max-size SIZE"),
    ("-mi", "--max-size-increase SIZE"),
    ("-mp", "--max-size-ratio RATIO"),
    ("-s", "--seed N"),
    ("-a", "--input-type text or binary"),
    ("-n", "--uninstrumented"),
    ("-Q", "--uninstrumented"),
    ("-c", "QUAGMIRE_COMPARES=1 when you build"),
    ("-wf", "--workloads-filter REGEX"),
    ("-l", "--interesting-files-limit N"),
    ("-cr", "--coverage-increase-rate RATIO"),
    ("-mpr", "--mutations-per-rule STRATEGY"),
    ("-r", "--regex-rules FILE"),
    ("-np", "--no-plotting"),
    ("--cmd", "the program behind `--`: -- ./program @@"),
];

/// Refuses flags of libFuzzer in the options of a search, and names the options to write instead.
///
/// # Errors
/// A usage error for the first such flag.
pub(crate) fn refuse_libfuzzer_flags(args: &[OsString]) -> Result<()> {
    let typed = args.iter().skip(1).take_while(|arg| *arg != "--");
    for (name, value) in typed.filter_map(|arg| libfuzzer_flag(arg.to_str()?)) {
        let known = LIBFUZZER.iter().find(|(flag, _)| *flag == name);
        // our own short options with a value, such as -oout=1
        if known.is_none() && name.starts_with(['i', 'j', 'n', 'o', 'x']) {
            continue;
        }
        let remedy = match known {
            Some((_, Some((option, unit)))) => format!("write {option} {value}{unit}"),
            _ => "no option does the same: leave it out, or see --help".to_owned(),
        };
        return Err(Error::usage(format!("-{name}={value} is a flag of libFuzzer: {remedy}")));
    }
    Ok(())
}

/// Name and value of an argument that looks like a flag of libFuzzer, `-name=value`.
fn libfuzzer_flag(arg: &str) -> Option<(&str, &str)> {
    let (name, value) = arg.strip_prefix('-')?.split_once('=')?;
    let is_name = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((name, value))
}

/// Refuses a command of `quagmire` that a harness does not have. `replay` is one that it has, and a file of that name
/// is an input.
///
/// # Errors
/// A usage error that says what to write instead.
pub(crate) fn refuse_commands_of_quagmire(args: &[OsString]) -> Result<()> {
    let Some(word) = args.get(1).and_then(|word| word.to_str()).filter(|word| !Path::new(word).exists()) else {
        return Ok(());
    };
    match word {
        "fuzz" => Err(Error::usage("a harness takes the options of `fuzz` directly: leave out the word `fuzz`")),
        "compare" => {
            Err(Error::usage("a harness does not compare builds: `quagmire compare INPUTS -- OLD --and NEW` does"))
        }
        "report" => Err(Error::usage("a harness writes no reports: `quagmire report OUT` does")),
        _ => Ok(()),
    }
}

/// Remedy for an argument of `args` that no option of a search takes; `None` if clap's own tip is as good.
pub(crate) fn remedy(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(arg)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    if !arg.starts_with('-') {
        return Some("seeds follow -i, and the program with its arguments follows `--`: -- ./program @@".to_owned());
    }
    // clap takes -mpr for -m and more
    let is_typed = |other: &str| other == arg || other.starts_with(&**arg) && args.iter().any(|word| word == other);
    let ours = OTHERS.iter().filter(|(other, _)| is_typed(other)).max_by_key(|(other, _)| other.len());
    ours.map(|(_, ours)| format!("write {ours}"))
}
