//! `quagmire doctor`: what the machine and the installation lack, and what each costs.

use std::{
    fmt::Write as _,
    fs::{self, File},
    process::{Command, Stdio},
};

use clap::Parser;
use quagmire_analysis::command::EXIT_CODES_ALONE;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
};
use quagmire_execution::perf::Counters;
use quagmire_results::lock::try_lock;
use serde::Serialize;

/// Memory that a campaign on one core should find free: the default of `--memory-limit`, in KiB.
const MEMORY: u64 = 2 << 20;
/// Free space that the first builds and a campaign need, in bytes.
const SPACE: u64 = 1 << 30;

/// A target that does nothing, with the entry of a harness and one of a program.
const SOURCE: &str = "#include <stddef.h>\n#include <stdint.h>\n\
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return size && data[0] == 1 ? 0 : 0; }\n";
const MAIN: &str = "int main(void) { return 0; }\n";

/// One look at the machine or the installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    /// Description in one line: the thing that is there, or the one that is missing, its price, and the remedy.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// Nothing to do.
    Ok,
    /// It works, and could work better.
    Note,
    /// Nothing works without it.
    Missing,
}

/// Name of a thing, and the function that looks at it.
type Look = (&'static str, fn() -> (State, String));

/// Things to look at, in the order of the output: one more is one row.
const LOOKS: [Look; 9] = [
    ("compiler", compiler),
    ("engine", engine),
    ("clang of sanitizers", sanitizers),
    ("memory", memory),
    ("disk", disk),
    ("file locks", file_locks),
    ("core pattern", core_pattern),
    ("CPU governor", governor),
    ("hardware counters", counters),
];

/// Show what this machine and installation lack, and what each costs
#[derive(Debug, Parser)]
#[command(name = "doctor", after_help = EXIT_CODES_ALONE)]
pub(super) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl quagmire_analysis::command::Command for Doctor {
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        Some(run(self.json))
    }
}

/// Runs `quagmire doctor`.
///
/// # Errors
/// If something is missing without which nothing works, or the result cannot be printed.
fn run(json: bool) -> Result<ExitCode> {
    let findings: Vec<Finding> = LOOKS
        .iter()
        .map(|(what, look)| {
            let (state, text) = look();
            Finding { what, state, text }
        })
        .collect();
    let (text, form) = if json {
        (serde_json::to_string_pretty(&findings).unwrap_or_default() + "\n", Form::Json)
    } else {
        (in_words(&findings), Form::Lines)
    };
    plain::print(&text, form)?;
    let missing: Vec<&str> = findings.iter().filter(|one| one.state == State::Missing).map(|one| one.what).collect();
    if missing.is_empty() {
        return Ok(ExitCode::Ended);
    }
    Err(Error::other(format!("without this nothing can be built and fuzzed: {}", missing.join(", "))))
}

fn in_words(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { what, state, text: says } in findings {
        let word = match state {
            State::Ok => "ok",
            State::Note => "note",
            State::Missing => "MISSING",
        };
        let _ = writeln!(text, "{word:<8} {what:<20} {says}");
    }
    text
}

/// Compiles a source with the wrapper, and runs the result if it is asked for. Returns a line that tells what is wrong.
fn compiled(source: &str, options: &[&str], is_run: bool) -> std::result::Result<(), String> {
    let wrapper = std::env::current_exe().ok().map(|own| own.with_file_name("quagmire-cc"));
    let wrapper = wrapper.filter(|path| path.is_file()).ok_or("quagmire-cc is not beside quagmire: install both")?;
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder for a trial: {error}"))?;
    let (file, program) = (folder.path().join("trial.c"), folder.path().join("trial"));
    fs::write(&file, source).map_err(|error| format!("cannot write a trial: {error}"))?;
    let mut command = Command::new(wrapper);
    command.args(options).arg(&file).arg("-o").arg(&program).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot start quagmire-cc: {error}"))?;
    if !output.status.success() {
        return Err(telling_line(&output.stderr));
    }
    if is_run {
        let ran = Command::new(&program).stdin(Stdio::null()).output();
        let ran = ran.map_err(|error| format!("what quagmire-cc builds cannot be started: {error}"))?;
        if !ran.status.success() {
            return Err(format!("what quagmire-cc builds fails: {}", telling_line(&ran.stderr)));
        }
    }
    Ok(())
}

/// The wrapper's own message, which has the remedy, or else the first error, or else the first line.
fn telling_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let own = lines().rfind(|line| line.starts_with("quagmire-cc: "));
    let line = own.or_else(|| lines().find(|line| line.contains("error: "))).or_else(|| lines().next());
    line.unwrap_or("it says nothing").to_owned()
}

fn ok(text: impl Into<String>) -> (State, String) {
    (State::Ok, text.into())
}

fn note(text: impl Into<String>) -> (State, String) {
    (State::Note, text.into())
}

fn compiler() -> (State, String) {
    match compiled(MAIN, &["-O1"], true) {
        Ok(()) => ok("quagmire-cc builds a program, and it runs"),
        Err(why) => (State::Missing, why),
    }
}

fn engine() -> (State, String) {
    match compiled(SOURCE, &["-O1", "-fsanitize=fuzzer"], false) {
        Ok(()) => ok("quagmire-cc -fsanitize=fuzzer builds a harness"),
        Err(why) => (State::Missing, why),
    }
}

fn sanitizers() -> (State, String) {
    match compiled(MAIN, &["-O1", "-fsanitize=address"], true) {
        Ok(()) => ok("programs can be built with -fsanitize=address"),
        Err(why) => note(format!(
            "no AddressSanitizer, which finds faults ({why}): install libclang-rt-N-dev of clang's version"
        )),
    }
}

/// A number of KiB in `/proc/meminfo`.
fn meminfo(key: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn memory() -> (State, String) {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    match meminfo("MemAvailable:") {
        None => note("the free memory is not known"),
        Some(free) if free < MEMORY => note(format!(
            "{} MiB are free: a program may use 2 GiB before it is stopped; lower --memory-limit",
            free >> 10
        )),
        Some(free) if free < MEMORY * cores => {
            note(format!("{} GiB are free for {cores} cores: with -j {cores}, lower --memory-limit", free >> 20))
        }
        Some(free) => ok(format!("{} GiB are free for {cores} cores", free >> 20)),
    }
}

fn disk() -> (State, String) {
    match rustix::fs::statvfs(".").map(|about| about.f_bavail.saturating_mul(about.f_frsize)) {
        Err(error) => note(format!("the free space of this folder is not known: {error}")),
        Ok(free) if free < SPACE => {
            note(format!("{} MiB are free in this folder: a campaign stops when it is full", free >> 20))
        }
        Ok(free) => ok(format!("{} GiB are free in this folder", free >> 30)),
    }
}

fn file_locks() -> (State, String) {
    let tried = tempfile::NamedTempFile::new_in(".").and_then(|file| File::open(file.path()).map(|open| (file, open)));
    match tried.and_then(|(_file, open)| try_lock(&open)) {
        Ok(_) => ok("files in this folder can be locked"),
        Err(error) => note(format!(
            "files in this folder cannot be locked ({error}): two campaigns could write to one output folder; use a local disk"
        )),
    }
}

fn core_pattern() -> (State, String) {
    match fs::read_to_string("/proc/sys/kernel/core_pattern") {
        Ok(pattern) if pattern.starts_with('|') => note(
            "each crash starts a handler, and campaigns with crashes are slow: echo core > /proc/sys/kernel/core_pattern",
        ),
        Ok(_) => ok("crashes start no handler"),
        Err(_) => ok("not known on this system"),
    }
}

fn governor() -> (State, String) {
    match fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") {
        Ok(governor) if governor.trim() != "performance" => note(format!(
            "{}: times are noisier, and confirmations take longer: cpupower frequency-set -g performance",
            governor.trim()
        )),
        Ok(_) => ok("performance"),
        Err(_) => ok("this system does not show one"),
    }
}

fn counters() -> (State, String) {
    match Counters::start_tested() {
        Ok(_) => ok("--steer cycles can use them"),
        Err(why) => note(format!("none ({why}): all but --steer cycles works without")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_look_says_something_in_one_line() {
        // the first three build programs: the end-to-end tests see those
        for (what, look) in &LOOKS[3..] {
            let (_, text) = look();
            assert!(!text.is_empty() && !text.contains('\n'), "{what}: {text}");
        }
        let finding = Finding { what: "disk", state: State::Missing, text: "full".into() };
        assert_eq!(in_words(&[finding]), "MISSING  disk                 full\n");
    }
}
