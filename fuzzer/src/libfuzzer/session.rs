//! Fuzzing as libFuzzer's users see it: lines of progress, new inputs in the first folder, artifacts of findings.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::{Error, Result},
    files, shell,
};
use quagmire_execution::{abi::Status, own_program};
use quagmire_results::summary::{Finding, StoppedBy};

use super::{
    artifacts::{Artifacts, name_of, write_input},
    console::Console,
    degradation::MARGIN,
    ends,
    flags::Flags,
};
use crate::campaign::listener::{Answer, Listener, Progress};

/// Name of the list of findings that end the campaign, in its output folder.
pub(super) const FOUND: &str = "found";

/// Word for a degradation in that list; for other findings, it is the start of the artifact's name.
pub(super) const DEGRADATION: &str = "degradation";

/// Fuzzing by one command line.
#[derive(Debug)]
pub(super) struct Session {
    /// The harness, as typed.
    pub(super) program: String,
    /// Standard error.
    pub(super) console: Console,
    /// Flags of the command line.
    pub(super) flags: Flags,
    /// Folders of the corpus, absolute; the first one receives new inputs.
    pub(super) folders: Vec<PathBuf>,
    /// Places of artifacts.
    pub(super) artifacts: Artifacts,
    /// File with a line for each finding that ends the campaign.
    pub(super) found: PathBuf,
    /// Number of seeds.
    pub(super) seeds: u64,
    /// Whether degradations are judged by ordinary inputs that come with the harness, and end fuzzing.
    pub(super) has_ordinary_inputs: bool,
    /// State of this process.
    pub(super) state: Mutex<State>,
}

/// State of the session in one process.
#[derive(Debug)]
pub(super) struct State {
    /// Executions from which on the next line of progress is printed.
    pulse: u64,
    /// Last look at the folders.
    looked: Instant,
    /// Time of change of the youngest file that was looked at.
    youngest: SystemTime,
    /// Names of files that are known.
    known: HashSet<PathBuf>,
    /// Inputs of the folders that are still to be run, since they are no seeds.
    pending: Vec<Vec<u8>>,
    /// Names of these inputs.
    given: HashSet<String>,
    /// Whether an input could not be written to the first folder.
    is_unwritable: bool,
}

impl State {
    /// Makes the state at the start, with inputs to run after the seeds: files from now on are new.
    pub(super) fn new(pending: Vec<Vec<u8>>) -> Self {
        Self {
            pulse: 2,
            looked: Instant::now(),
            youngest: SystemTime::now(),
            known: HashSet::new(),
            given: pending.iter().map(|input| name_of(input)).collect(),
            pending,
            is_unwritable: false,
        }
    }
}

/// Command that runs a file once, in a process of its own, with the limits and exit codes of these flags.
pub(super) fn again(flags: &Flags, path: &Path) -> Command {
    let mut command = own_program::again();
    command.args(["-verbosity=0", "-runs=1"]).arg(path).stdin(Stdio::null());
    for name in ["timeout", "rss_limit_mb", "malloc_limit_mb", "error_exitcode", "timeout_exitcode", "close_fd_mask"] {
        // its reports go to the engine's standard error
        let value = if name == "close_fd_mask" { flags.number(name) & 1 } else { flags.number(name) };
        command.arg(format!("-{name}={value}"));
    }
    command
}

/// Start of the name of an artifact, and the flag with which `-fork` goes on after such a run.
fn kind_of(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Hung => ("timeout-", "ignore_timeouts"),
        Status::Memory => ("oom-", "ignore_ooms"),
        _ => ("crash-", "ignore_crashes"),
    }
}

impl Session {
    /// Prints a line of progress.
    fn line(&self, what: &str, progress: Progress, more: &str) {
        let Progress { executions, edges, buckets, entries, bytes, elapsed, .. } = progress;
        let per_second = (executions as f64 / elapsed.as_secs_f64().max(1.0)) as u64;
        let size = if bytes < 1 << 16 { format!("{bytes}b") } else { format!("{}Kb", bytes >> 10) };
        self.console.inform(&format!(
            "#{executions}\t{what:<6} cov: {edges} ft: {buckets} corp: {entries}/{size} exec/s: {per_second} rss: {}Mb{more}",
            ends::peak_mib()
        ));
    }

    /// Whether `-fork` goes on after a run that ended like this.
    fn ignores(&self, status: Status) -> bool {
        self.flags.number("fork") > 0 && self.flags.is_on(kind_of(status).1)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line to the list of findings that end the campaign.
    fn list(&self, kind: &str, path: &Path) -> Result<()> {
        let file = File::options().append(true).create(true).open(&self.found);
        let line = format!("{kind}\t{}\n", path.display());
        file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| unwritable(&self.found, &error))
    }

    /// Whether a run of the input by itself finds a degradation as well, by a margin.
    fn is_repeated(&self, input: &[u8]) -> Result<bool> {
        let path = self.found.with_file_name(format!("candidate-{}", std::process::id()));
        write_whole(&path, input)?;
        let mut command = again(&self.flags, &path);
        command.args(["-degradations=1".to_owned(), format!("-degradation_margin={MARGIN}")]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let status = status.map_err(|error| Error::other(format!("cannot start this harness again: {error}")))?;
        Ok(status.code() == Some(ends::timeout_code(&self.flags)))
    }

    /// Removes an input from the folder that it was written to, so that it does not end the next session.
    fn take_back(&self, input: &[u8]) {
        let Some(folder) = self.folders.first() else { return };
        let path = folder.join(name_of(input));
        if self.state().known.contains(&path) {
            // it stays as an artifact
            let _ = std::fs::remove_file(path);
        }
    }

    /// Files of the folders that have changed since the last look.
    fn changed(&self, state: &mut State) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let since = state.youngest;
        for file in self.folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten() {
            let Ok(about) = file.metadata() else { continue };
            let Ok(changed) = about.modified() else { continue };
            let is_hidden = file.file_name().as_encoded_bytes().starts_with(b".");
            if about.is_file() && !is_hidden && changed >= since && state.known.insert(file.path()) {
                state.youngest = state.youngest.max(changed);
                found.push(file.path());
            }
        }
        found
    }

    fn print_statistics(&self, progress: Progress) {
        let seconds = progress.elapsed.as_secs().max(1);
        for (name, value) in [
            ("number_of_executed_units", progress.executions),
            ("average_exec_per_sec", progress.executions / seconds),
            ("new_units_added", progress.entries.saturating_sub(self.seeds)),
            ("slowest_unit_time_sec", progress.slowest_ns / 1_000_000_000),
            ("peak_rss_mb", ends::peak_mib()),
        ] {
            self.console.say(&format!("{:<32}{value}", format!("stat::{name}:")));
        }
    }
}

impl Listener for Session {
    fn loaded(&self, edges: usize) {
        self.console
            .inform(&format!("INFO: Loaded 1 modules   ({edges} inline 8-bit counters): {edges} [0x0, {edges:#x}), "));
    }

    fn seeds_done(&self, progress: Progress) {
        self.line("INITED", progress, "");
    }

    fn entered(&self, input: &[u8], progress: Progress) -> Result<()> {
        if self.state().given.contains(&name_of(input)) {
            return Ok(());
        }
        if let Some(folder) = self.folders.first() {
            match write_input(folder, input) {
                Ok(path) => drop(self.state().known.insert(path)),
                // as libFuzzer does: the search goes on, and what it finds is reported
                Err(error) if !std::mem::replace(&mut self.state().is_unwritable, true) => {
                    let reason = error.message.split("; ").next().unwrap_or_default().to_owned();
                    self.console.say(&format!("WARNING: new inputs are not kept: {reason}"));
                }
                Err(_) => {}
            }
        }
        self.line("NEW", progress, &format!(" L: {}", input.len()));
        Ok(())
    }

    fn ended_early(&self, status: Status, input: &[u8]) -> Result<Answer> {
        let (kind, _) = kind_of(status);
        let path = self.artifacts.write(kind, input, &self.console)?;
        if self.ignores(status) {
            return Ok(Answer::GoOn);
        }
        self.list(kind, &path)?;
        Ok(Answer::End)
    }

    fn degraded(&self, input: &[u8], finding: &Finding) -> Result<Answer> {
        let ratio = finding.ratio.unwrap_or_default();
        let place = finding.hot_location.as_deref().or(finding.hot_function.as_deref()).unwrap_or("an unknown place");
        self.console.say(&format!("INFO: degradation: {ratio:.1} times the cost of an ordinary input, at {place}"));
        let ends = self.has_ordinary_inputs && self.is_repeated(input)?;
        let kind = if ends { "timeout-" } else { "slow-unit-" };
        let path = self.artifacts.write(kind, input, &self.console)?;
        // without what only the folder of the campaign explains, which does not stay
        let finding = Finding {
            path: path.display().to_string(),
            parent: None,
            root: None,
            ordinary_input: None,
            reproduce: if ends {
                shell::command([OsStr::new(&self.program), OsStr::new("-degradations=1"), path.as_os_str()])
            } else {
                shell::command([OsStr::new(&self.program), OsStr::new("replay"), path.as_os_str()])
            },
            ..finding.clone()
        };
        let report = serde_json::to_vec_pretty(&finding).map_err(|error| Error::other(error.to_string()))?;
        let mut beside = path.clone().into_os_string();
        beside.push(".json");
        write_whole(Path::new(&beside), &report)?;
        if !ends {
            return Ok(Answer::GoOn);
        }
        self.take_back(input);
        if self.ignores(Status::Hung) {
            return Ok(Answer::GoOn);
        }
        self.list(DEGRADATION, &path)?;
        Ok(Answer::End)
    }

    fn ticked(&self, progress: Progress) {
        let mut state = self.state();
        if progress.executions >= state.pulse {
            state.pulse = (progress.executions + 1).next_power_of_two();
            self.line("pulse", progress, "");
        }
    }

    fn added(&self) -> Vec<Vec<u8>> {
        let mut state = self.state();
        if !state.pending.is_empty() {
            return std::mem::take(&mut state.pending);
        }
        let Some(seconds) = self.flags.count("reload") else { return Vec::new() };
        if state.looked.elapsed() < Duration::from_secs(seconds) {
            return Vec::new();
        }
        state.looked = Instant::now();
        let changed = self.changed(&mut state);
        changed.into_iter().filter_map(|path| files::read(&path, files::LARGEST_INPUT).ok()).collect()
    }

    fn reloaded(&self, progress: Progress) {
        self.line("RELOAD", progress, "");
    }

    fn ended(&self, stopped_by: StoppedBy, progress: Progress) {
        if matches!(stopped_by, StoppedBy::Time | StoppedBy::Execs) {
            self.line("DONE", progress, "");
            let (runs, seconds) = (progress.executions, progress.elapsed.as_secs());
            self.console.inform(&format!("Done {runs} runs in {seconds} second(s)"));
        }
        if self.flags.is_on("print_final_stats") {
            self.print_statistics(progress);
        }
    }
}
