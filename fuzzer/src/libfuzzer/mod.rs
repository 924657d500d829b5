//! libFuzzer's command line: a harness that is run with flags of the form `-name=value`, or with folders as arguments,
//! takes and prints what libFuzzer takes and prints, and ends with its exit codes. The campaign underneath is the same.

mod artifacts;
mod attempt;
mod baseline;
mod cleanse;
mod console;
mod control_file;
mod degradation;
mod ends;
mod files;
pub mod flags;
mod fuzz;
mod jobs;
mod merge;
mod minimize;
mod seed_corpus;
mod session;

use std::{ffi::OsString, os::unix::process::CommandExt as _, path::Path, time::Duration};

use crate::cli::is_of_harness;
use quagmire_base::{
    error::{Error, Result},
    files::LARGEST_INPUT,
    plain::{self, warn},
};
use quagmire_execution::{
    harness::Harness,
    own_program,
    timer::{HangClock, RunLimits},
};

use tempfile::TempDir;

use self::{
    console::Console,
    flags::{Arguments, Flags},
};

/// Options of sanitizers that make them report crashes themselves, unless the user sets others.
const REPORTING: &str = "handle_segv=1:handle_sigbus=1:handle_abort=1:handle_sigill=1:handle_sigfpe=1:symbolize=1";

/// Environment variables of the sanitizers with such options.
const SANITIZERS: [&str; 3] = ["ASAN_OPTIONS", "UBSAN_OPTIONS", "MSAN_OPTIONS"];

/// Timeout that stands for none.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Whether a harness is called with libFuzzer's command line: with a flag of its form, or with folders, and without an
/// option of quagmire. `arguments` begins with the name of the harness.
pub(crate) fn is_meant(arguments: &[OsString]) -> bool {
    let words: Vec<_> = arguments.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let is_flag = |word: &str| flags::split(word).is_some();
    if words.first().is_some_and(|word| is_of_harness(word)) && !words.iter().any(|word| is_flag(word)) {
        return false;
    }
    // an option of quagmire is a dash and a letter, or two dashes and a word
    let is_own = |word: &str| word.len() > 1 && word.starts_with('-') && word != "--" && !is_flag(word);
    let is_short = |word: &str| is_own(word) && !word.starts_with("--");
    if words.iter().any(|word| is_flag(word)) {
        // `-oout=1` is an option of quagmire, with its value
        return !words.iter().any(|word| is_short(word));
    }
    !words.iter().any(|word| is_own(word)) && words.iter().any(|word| Path::new(&**word).is_dir())
}

/// Does what libFuzzer's command line says. `arguments` begins with the name of the harness. Returns the exit code of
/// the process.
pub(crate) fn run(arguments: &[OsString], harness: &'static Harness) -> i32 {
    execute(arguments, harness).unwrap_or_else(|error| {
        warn(&error.message);
        1
    })
}

/// A command line, and the harness that it is of.
struct Call {
    /// Name of the harness, as typed.
    program: String,
    harness: &'static Harness,
    flags: Flags,
    /// Files and folders, as typed.
    paths: Vec<String>,
    console: Console,
}

fn execute(arguments: &[OsString], harness: &'static Harness) -> Result<i32> {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let program = words.first().cloned().unwrap_or_default();
    let Arguments { flags, paths, warnings } = Arguments::parse(words.get(1..).unwrap_or_default())?;
    if flags.is_on("help") {
        plain::complain(&flags::help(&program));
        return Ok(0);
    }
    let console = Console::open(flags.number("close_fd_mask"), flags.is_on("verbosity"))?;
    warnings.iter().for_each(|warning| console.say(warning));
    flags.without_effect().for_each(|name| console.inform(&format!("INFO: -{name} has no effect")));
    artifacts::check_places(&flags)?;
    let are_files = !paths.is_empty() && paths.iter().all(|path| Path::new(path).is_file());
    let call = Call { program, harness, flags, paths, console };
    let flags = &call.flags;
    if flags.is_on("minimize_crash") || flags.is_on("cleanse_crash") {
        with_reports_of_sanitizers(arguments, harness)?;
        return if flags.is_on("minimize_crash") { minimize::run(&call) } else { cleanse::run(&call) };
    }
    if are_files {
        with_reports_of_sanitizers(arguments, harness)?;
        return files::run(&call);
    }
    if flags.is_on("merge") {
        return merge::run(&call);
    }
    if let Some(jobs) = flags.count("jobs") {
        return jobs::run(jobs, &words, flags, &call.console);
    }
    fuzz::run(call)
}

/// Starts this process again with options of sanitizers that make them report crashes themselves, if it was started
/// without: those that the runtime sets leave crashes to the engine.
fn with_reports_of_sanitizers(arguments: &[OsString], harness: &Harness) -> Result<()> {
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|options| options.contains("handle_segv"));
    if !harness.is_sanitized() || SANITIZERS.iter().any(is_set) {
        return Ok(());
    }
    let mut command = own_program::again();
    command.args(arguments.get(1..).unwrap_or_default());
    if let Some(name) = arguments.first() {
        command.arg0(name);
    }
    for name in SANITIZERS {
        // what the user has set counts more
        let options = std::env::var(name).map_or_else(|_| REPORTING.to_owned(), |own| format!("{REPORTING}:{own}"));
        command.env(name, options);
    }
    Err(Error::other(format!("cannot start this harness again: {}", command.exec())))
}

/// A folder for files of this process, removed with what is returned.
fn scratch() -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("quagmire-").tempdir();
    folder.map_err(|error| Error::other(format!("cannot make a folder in $TMPDIR: {error}")))
}

/// Reads a file that the command line names.
fn read(path: &str) -> Result<Vec<u8>> {
    quagmire_base::files::read_named(Path::new(path), LARGEST_INPUT)
        .map_err(|error| Error::other(format!("{path} cannot be read ({error}): name a readable file")))
}

/// Limits of a run, as the flags set them.
fn limits(flags: &Flags) -> RunLimits {
    RunLimits {
        hang: flags.count("timeout").map_or(FOR_EVER, Duration::from_secs),
        clock: HangClock::Wall,
        memory: flags.count("rss_limit_mb").map_or(0, |mib| mib.saturating_mul(1 << 20)),
        deadline: u64::MAX,
    }
}
