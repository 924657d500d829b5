//! Fuzzing with folders of inputs: quagmire's campaign, in an output folder that does not stay.

use std::{
    ffi::OsString,
    path::{Path, PathBuf, absolute},
    sync::{Arc, Mutex},
    time::Duration,
};

use quagmire_base::{
    dictionary,
    error::{Error, Result},
    files,
    seeds::{Seed, Seeds},
};
use quagmire_execution::info::TargetInfo;
use quagmire_results::{Summary, summary::StoppedBy};

use super::{
    Call,
    artifacts::Artifacts,
    console::Console,
    ends,
    flags::Flags,
    limits, scratch, seed_corpus,
    session::{DEGRADATION, FOUND, Session, State, again},
};
use clap::Parser as _;

use crate::{campaign, options::Options};

/// Smallest and largest limit of inputs that is chosen by the seeds, in bytes.
const USUAL_SIZES: (u64, u64) = (4096, 1 << 20);

/// Seconds after which a timeout is cut off when it is repeated for its stack trace.
const REPEATED_TIMEOUT: i64 = 2;

/// Fuzzes until a limit of the flags, a signal or a finding ends it. Returns the exit code of the process.
///
/// # Errors
/// If a folder cannot be read or written, or the target cannot be used.
pub(super) fn run(call: Call) -> Result<i32> {
    let (scratch, Call { program, harness, flags, paths, console }) = (scratch()?, call);
    let folders = paths.iter().map(|path| folder(path, &flags)).collect::<Result<Vec<PathBuf>>>()?;
    let mut options = options(&program, &flags, scratch.path())?;
    console.inform(&format!("INFO: Seed: {}", options.search.seed()));
    if let Some(path) = flags.text("dict") {
        let text = files::read_named(Path::new(path), files::LARGEST_TEXT).map_err(|error| {
            Error::other(format!("-dict={path}: {error}: name a file of lines such as name=\"value\""))
        })?;
        match dictionary::count(&text) {
            Ok(entries) => console.inform(&format!("Dictionary: {entries} entries")),
            Err(line) => {
                console.say(&format!("ParseDictionaryFile: error in line {line}"));
                return Ok(1);
            }
        }
    }
    let (mut seeds, largest) = seeds(&flags, &paths, &folders, &console)?;
    let pending = set_ordinary_inputs(&mut seeds, &flags, largest, &console)?;
    let given = pending.as_ref().map_or(0, Vec::len) + seeds.inputs.len();
    options.search.size.max_size = Some(largest);
    options.execs = executions(&flags, given as u64);
    let (artifacts, found) = (Artifacts::new(&flags), scratch.path().join(FOUND));
    let target = TargetInfo::of_harness(OsString::from(&program), harness.sources().instrumentation());
    let session = Arc::new(Session {
        program,
        console,
        flags,
        folders,
        artifacts,
        found,
        seeds: given as u64,
        has_ordinary_inputs: pending.is_some(),
        state: Mutex::new(State::new(pending.unwrap_or_default())),
    });
    let options = options.for_target(&target)?;
    // workers are forked from this process
    harness.limit_allocations(ends::allocation_limit(&session.flags));
    let (_, output) = campaign::run(options, seeds, None, target, harness, Some(session.clone()))?;
    let summary = Summary::read(&output.summary())?;
    drop(output);
    if let Some(code) = report_finding(&session)? {
        return Ok(code);
    }
    if summary.stopped_by == Some(StoppedBy::Signal) {
        let process = std::process::id();
        session.console.say(&format!("=={process}== libFuzzer: run interrupted; exiting"));
        return Ok(ends::INTERRUPTED);
    }
    Ok(0)
}

/// Absolute path of a folder of the corpus, which is created if `-create_missing_dirs` says so.
pub(super) fn folder(path: &str, flags: &Flags) -> Result<PathBuf> {
    let given = Path::new(path);
    if flags.is_on("create_missing_dirs") && !given.exists() {
        files::create_folder(given).map_err(|error| Error::other(format!("{path} cannot be created: {error}")))?;
    }
    if !given.is_dir() {
        let reason = if given.exists() { "Not a directory" } else { "No such file or directory" };
        return Err(Error::other(format!("{reason}: {path}; exiting")));
    }
    absolute(given).map_err(|error| Error::other(format!("{path}: {error}")))
}

/// Options of the campaign but for those that depend on the seeds.
fn options(program: &str, flags: &Flags, scratch: &Path) -> Result<Options> {
    let mut words: Vec<OsString> =
        [program, "-i", ".", "--debug-target", "--no-plotting", "--quiet", "-o"].map(OsString::from).into();
    words.push(scratch.join("out").into());
    if let Some(seed) = flags.count("seed") {
        words.extend(["--seed".into(), seed.to_string().into()]);
    }
    if let Some(path) = flags.text("dict") {
        words.extend(["-x".into(), path.into()]);
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    if let Some(jobs) = flags.count("fork").map(|jobs| jobs.min(cores)).filter(|&jobs| jobs > 1) {
        words.extend(["-j".into(), jobs.to_string().into()]);
    }
    let refused = |error: clap::Error| Error::other(error.to_string());
    let (mut options, limits) = (Options::try_parse_from(words).map_err(refused)?, limits(flags));
    options.time = flags.count("max_total_time").map_or(super::FOR_EVER, Duration::from_secs);
    options.target.hang_timeout = limits.hang;
    options.target.memory_limit = limits.memory;
    Ok(options)
}

/// Limit of executions: `-runs=0` runs the seeds only.
fn executions(flags: &Flags, given: u64) -> Option<u64> {
    match flags.number("runs") {
        ..0 => None,
        0 => Some(given),
        runs => Some(runs as u64),
    }
}

/// With `-degradations`, makes the ordinary inputs of the harness the seeds, since these are what costs are compared with,
/// and returns those that were seeds before. `None` without the flag, and with a warning if there are no such inputs.
fn set_ordinary_inputs(
    seeds: &mut Seeds,
    flags: &Flags,
    largest: u64,
    console: &Console,
) -> Result<Option<Vec<Vec<u8>>>> {
    if !flags.is_on("degradations") {
        return Ok(None);
    }
    let ordinary = seed_corpus::of_this_harness()?;
    if ordinary.is_empty() {
        console.say(&format!("WARNING: -degradations=1 has no effect: {}", seed_corpus::why_none()));
        return Ok(None);
    }
    let seed = |(at, mut bytes): (usize, Vec<u8>)| {
        bytes.truncate(largest as usize);
        Seed { path: format!("ordinary-{at}").into(), bytes }
    };
    let ordinary: Vec<Seed> = ordinary.into_iter().enumerate().map(seed).collect();
    let before = std::mem::replace(&mut seeds.inputs, ordinary);
    let is_new = |input: &Vec<u8>| seeds.inputs.iter().all(|seed| seed.bytes != *input);
    Ok(Some(before.into_iter().map(|seed| seed.bytes).filter(is_new).collect()))
}

/// Inputs that `-seed_inputs` names. Those that cannot be read are left out with a warning, as the list may be older than
/// the files.
///
/// # Errors
/// If the list itself is a file that cannot be read.
fn named_seeds(flags: &Flags, console: &Console) -> Result<Vec<Seed>> {
    let Some(named) = flags.text("seed_inputs") else { return Ok(Vec::new()) };
    let list = match named.strip_prefix('@') {
        None => named.to_owned(),
        Some(file) => std::fs::read_to_string(file).map_err(|error| {
            Error::other(format!("-seed_inputs={named}: {error}: name a file with a list of files"))
        })?,
    };
    let mut seeds = Vec::new();
    for path in list.trim_end().split(',').filter(|path| !path.is_empty()) {
        match files::read_named(Path::new(path), files::LARGEST_INPUT) {
            Ok(bytes) => seeds.push(Seed { path: path.into(), bytes }),
            Err(error) => console.say(&format!("WARNING: -seed_inputs: {path} cannot be read ({error})")),
        }
    }
    Ok(seeds)
}

/// Inputs of the folders, cut to `-max_len`; without any, an empty one and a line feed. Returns the limit of their
/// size as well.
fn seeds(flags: &Flags, paths: &[String], folders: &[PathBuf], console: &Console) -> Result<(Seeds, u64)> {
    let mut seeds = Seeds::found(folders)?;
    for (path, folder) in paths.iter().zip(folders) {
        let files = seeds.inputs.iter().filter(|seed| seed.path.starts_with(folder)).count();
        console.inform(&format!("INFO: {files:>8} files found in {path}"));
    }
    seeds.inputs.extend(named_seeds(flags, console)?);
    let largest = flags.count("max_len").unwrap_or_else(|| {
        let largest = seeds.largest().clamp(USUAL_SIZES.0, USUAL_SIZES.1);
        console.inform(&format!(
            "INFO: -max_len is not provided; libFuzzer will not generate inputs larger than {largest} bytes"
        ));
        largest
    });
    seeds.inputs.iter_mut().for_each(|seed| seed.bytes.truncate(largest as usize));
    if seeds.inputs.is_empty() {
        console.inform("INFO: A corpus is not provided, starting from an empty corpus");
        let seed = |name: &str, bytes: &[u8]| Seed { path: name.into(), bytes: bytes.to_vec() };
        seeds.inputs = vec![seed("empty", b""), seed("line-feed", b"\n")];
        return Ok((seeds, largest));
    }
    let sizes = || seeds.inputs.iter().map(|seed| seed.bytes.len());
    let (files, total) = (seeds.inputs.len(), sizes().sum::<usize>());
    let (min, max) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let rss = ends::peak_mib();
    console.inform(&format!("INFO: seed corpus: files: {files} min: {min}b max: {max}b total: {total}b rss: {rss}Mb"));
    Ok((seeds, largest))
}

/// Reports the finding that ended the campaign, by running its artifact in a process of its own: its report is that of
/// the sanitizer, and its exit code is returned. `None` if there was no such finding.
fn report_finding(session: &Session) -> Result<Option<i32>> {
    let Ok(found) = std::fs::read_to_string(&session.found) else { return Ok(None) };
    let Some((kind, path)) = found.lines().next().and_then(|line| line.split_once('\t')) else { return Ok(None) };
    let flags = &session.flags;
    let mut command = again(flags, Path::new(path));
    command.stderr(session.console.file()?);
    let (code, what) = match kind {
        DEGRADATION => {
            command.arg("-degradations=1");
            (ends::timeout_code(flags), "timeout")
        }
        "timeout-" => {
            command.arg(format!("-cut_after={}", flags.number("timeout").min(REPEATED_TIMEOUT)));
            (ends::timeout_code(flags), "timeout")
        }
        "oom-" => (ends::OUT_OF_MEMORY, "out-of-memory"),
        _ => (ends::error_code(flags), "deadly signal"),
    };
    let status = command.status().map_err(|error| Error::other(format!("cannot start this harness again: {error}")))?;
    if status.success() {
        let process = std::process::id();
        session.console.say(&format!(
            "=={process}== ERROR: libFuzzer: {what} (the input does not do it again in a process of its own)"
        ));
        session.console.say(&format!("SUMMARY: libFuzzer: {what}"));
    }
    Ok(Some(status.code().filter(|&code| code != 0).unwrap_or(code)))
}
