//! Fuzzing as libFuzzer's users see it: lines of progress, new inputs in the first folder, artifacts of findings.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::{Error, Result},
    files, shell,
};
use quagmire_execution::abi::Status;
use quagmire_results::summary::{Finding, StoppedBy};

use super::{
    artifacts::{Artifacts, write_input},
    console::Console,
    ends,
    flags::Flags,
};
use crate::campaign::listener::{Answer, Listener, Progress};

/// Name of the list of findings that end the campaign, in its output folder.
pub(super) const FOUND: &str = "found";

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
}

impl State {
    /// Makes the state at the start: files from now on are new.
    pub(super) fn new() -> Self {
        Self { pulse: 2, looked: Instant::now(), youngest: SystemTime::now(), known: HashSet::new() }
    }
}

/// Start of the name of an artifact.
fn kind_of(status: Status) -> &'static str {
    match status {
        Status::Hung => "timeout-",
        Status::Memory => "oom-",
        _ => "crash-",
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
        let flag = match status {
            Status::Hung => "ignore_timeouts",
            Status::Memory => "ignore_ooms",
            _ => "ignore_crashes",
        };
        self.flags.number("fork") > 0 && self.flags.is_on(flag)
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
        if let Some(folder) = self.folders.first() {
            let path = write_input(folder, input)?;
            self.state().known.insert(path);
        }
        self.line("NEW", progress, &format!(" L: {}", input.len()));
        Ok(())
    }

    fn ended_early(&self, status: Status, input: &[u8]) -> Result<Answer> {
        let kind = kind_of(status);
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
        let path = self.artifacts.write("slow-unit-", input, &self.console)?;
        // without what only the folder of the campaign explains, which does not stay
        let finding = Finding {
            path: path.display().to_string(),
            parent: None,
            root: None,
            ordinary_input: None,
            reproduce: shell::command([OsStr::new(&self.program), OsStr::new("replay"), path.as_os_str()]),
            ..finding.clone()
        };
        let report = serde_json::to_vec_pretty(&finding).map_err(|error| Error::other(error.to_string()))?;
        let mut beside = path.into_os_string();
        beside.push(".json");
        write_whole(Path::new(&beside), &report)?;
        Ok(Answer::GoOn)
    }

    fn ticked(&self, progress: Progress) {
        let mut state = self.state();
        if progress.executions >= state.pulse {
            state.pulse = (progress.executions + 1).next_power_of_two();
            self.line("pulse", progress, "");
        }
    }

    fn added(&self) -> Vec<Vec<u8>> {
        let Some(seconds) = self.flags.count("reload") else { return Vec::new() };
        let mut state = self.state();
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
