//! One campaign of a fuzzer, and its score.

use std::{
    ffi::OsString,
    fs::File,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant, SystemTime},
};

use super::{
    fuzzer::{Fuzzer, LOG, PRINTED, Setup},
    result::{Campaign, CampaignEnd, Known},
};
use crate::ScoreOptions;
use quagmire_base::{
    atomic::unwritable,
    error::{Error, Result},
    files,
    format::{counted, grouped},
    seeds::Seeds,
    shell,
};
use quagmire_execution::interruption;

/// Time that a fuzzer may take to end after its own; then it is killed.
const GRACE: Duration = Duration::from_secs(60);
/// Time between two looks at the process.
const LOOK: Duration = Duration::from_millis(50);
/// A campaign that takes less than this share of its time has ended early.
const EARLY: f64 = 0.95;
/// Lines of a log that an error shows.
const SHOWN: usize = 3;

impl Campaign {
    /// Runs a campaign, and scores what it leaves. `None` if the user has stopped it.
    ///
    /// # Errors
    /// If the fuzzer cannot be started or fails, or the program with mutants cannot be run.
    pub(super) fn run(fuzzer: &Fuzzer, setup: &Setup, known: &Known) -> Result<Option<Self>> {
        let out = setup.out;
        if out.exists() {
            // what a campaign that did not finish has left
            std::fs::remove_dir_all(out).map_err(|error| unwritable(out, &error))?;
        }
        for folder in std::iter::once(out.to_owned()).chain(fuzzer.kind.prepared.iter().map(|folder| out.join(folder)))
        {
            files::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
        }
        let command = fuzzer.command(setup)?;
        let began = SystemTime::now();
        let clock = Instant::now();
        let limit = Duration::from_secs(setup.options.seconds);
        let status = execute(fuzzer, &command, out, limit + GRACE)?;
        let seconds = clock.elapsed().as_secs_f64();
        let is_early = seconds < EARLY * limit.as_secs_f64();
        let end = match status {
            None if interruption::has_come() => return Ok(None),
            None => CampaignEnd::Killed,
            Some(status) if !status.success() && !fuzzer.kind.may_fail => {
                return Err(failed(fuzzer, out, "has failed"));
            }
            Some(_) if is_early => CampaignEnd::Early,
            Some(_) => CampaignEnd::InTime,
        };
        let folders = fuzzer.folders(out);
        let inputs = inputs_until(&folders, began + limit);
        if inputs.is_empty() && is_early {
            return Err(failed(fuzzer, out, "has ended without an input"));
        }
        let count = inputs.len() as u64;
        let executions = (fuzzer.kind.executions)(out);
        let scored = if inputs.is_empty() {
            Vec::new()
        } else {
            let options = ScoreOptions { inputs, since: Some(began), ..setup.options.score.clone() };
            known.outcomes(&options)?
        };
        if interruption::has_come() {
            return Ok(None);
        }
        let rate = executions.map(|executions| executions as f64 / seconds);
        let (killed, [at_10, at_100]) = known.beyond(&scored, rate);
        Ok(Some(Self {
            fuzzer: fuzzer.name.clone(),
            seed: setup.seed,
            command: shell::command(&command),
            seconds,
            executions,
            folders,
            inputs: count,
            end,
            killed,
            at_10,
            at_100,
        }))
    }

    /// A line that says how it went.
    pub(super) fn line(&self, known: &Known) -> String {
        let executions = self.executions.map_or_else(String::new, |number| format!(", {} executions", grouped(number)));
        let end = match self.end {
            CampaignEnd::InTime => "",
            CampaignEnd::Early => ", ended early",
            CampaignEnd::Killed => ", did not end by itself",
        };
        format!(
            "{} {}: {:.0} s{end}{executions}, {}: {} of {} killed",
            self.fuzzer,
            self.seed,
            self.seconds,
            counted(self.inputs, "input"),
            grouped(self.killed.len() as u64),
            counted(known.open(), "mutant")
        )
    }
}

/// Executes a command in a process group of its own. `None` if it was killed: at the limit, or since a signal has come.
fn execute(fuzzer: &Fuzzer, words: &[OsString], out: &Path, limit: Duration) -> Result<Option<ExitStatus>> {
    let create = |name: &str| {
        let path = out.join(name);
        File::create(&path).map_err(|error| unwritable(&path, &error))
    };
    let log = create(LOG)?;
    let copy = log.try_clone().map_err(|error| unwritable(&out.join(LOG), &error))?;
    let output = if fuzzer.is_script() { create(PRINTED)? } else { copy };
    let cannot = |error: std::io::Error| Error::target(format!("cannot start {}: {error}", fuzzer.title));
    let [program, arguments @ ..] = words else { return Err(Error::usage("a fuzzer without a command")) };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(fuzzer.kind.environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(log)
        .process_group(0);
    let mut child = command.spawn().map_err(cannot)?;
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(cannot)? {
            return Ok(Some(status));
        }
        if interruption::has_come() || began.elapsed() >= limit {
            // SAFETY: the group of a child that was not waited for.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// Files in some folders that were last modified at a time or before it.
fn inputs_until(folders: &[PathBuf], end: SystemTime) -> Vec<PathBuf> {
    let found = if folders.is_empty() { Ok((Vec::new(), Vec::new())) } else { Seeds::list(folders) };
    let is_in_time =
        |path: &PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).is_ok_and(|time| time <= end);
    found.map(|(files, _)| files.into_iter().filter(is_in_time).collect()).unwrap_or_default()
}

/// Error of a fuzzer, with the end of its log.
fn failed(fuzzer: &Fuzzer, out: &Path, what: &str) -> Error {
    let path = out.join(LOG);
    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(SHOWN)..].join("; ");
    Error::target(format!("{} {what}: {end} (all it said: {})", fuzzer.title, path.display()))
}
