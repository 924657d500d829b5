//! Files of entries and findings: their names, contents, origins and lines in the logs, and when they are on the disk.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use libafl_bolts::hash_std;

use super::{Recorder, candidates};
use crate::campaign::{
    confirm::Confirmation,
    listener::Answer,
    ordinary::spread_out,
    record::{Entry, folder_of},
    supervisor::Lost,
};
use quagmire_base::{
    atomic::{make_durable, write_whole},
    error::{Error, Result},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi,
    counts::CountsObserver,
    lines,
    own_mutator::MutatorFailure,
    process,
    symbols::{CodeLocation, Symbols},
};
use quagmire_results::{
    EntryName,
    journal::{JOURNAL, Saved},
    summary::{Finding, FindingKind, OrdinaryInput},
};
use quagmire_search::{EntryId, origin::Origin, stages::operators::CUSTOM_MUTATOR};

/// Number of inputs saved for one way in which a worker was ended: nothing distinguishes such inputs.
const LOST_SAVED: u32 = 5;

/// Number of times that the harness's own mutator may fail before it has to work more often than that.
const MUTATOR_FAILURES: u64 = 50;

/// Least interval between two times at which new files are written to the disk, and one in so many seconds that goes into
/// it at most.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
const SYNC_SHARE: u32 = 100;

impl Recorder<'_> {
    /// Creates the record of the next entry. The ratios in its file name are those of the last run.
    pub(super) fn entry_of(&self, origin: &Origin<'_>, bytes: &[u8], counts: &CountsObserver) -> Entry {
        let number = self.record.next_entry();
        let (file, parent, rules) = match *origin {
            Origin::Seed(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let name = EntryName { extension: self.extension(), ..EntryName::seed(number.into(), &name) };
                (name.to_string(), None, Vec::new())
            }
            Origin::Resumed(file) => {
                let (parent, rules) = self.origin_in(&file.parse().unwrap_or_default());
                (file.to_owned(), parent, rules)
            }
            Origin::Mutant { .. } | Origin::Import { .. } | Origin::Measured | Origin::Unknown => {
                // an input without a known ancestor counts as made from the median seed
                let parent = origin.parent().unwrap_or(self.record.reference);
                let rules = origin.operators();
                (self.name_of(number, parent, origin, bytes, counts).to_string(), Some(parent), rules.to_vec())
            }
        };
        let of_parent = parent.map(|parent| self.record.entry(parent));
        let (root, depth) = of_parent.map_or((number, 0), |parent| (parent.root, parent.depth + 1));
        let cost = counts.cost();
        Entry {
            file,
            bytes: bytes.len() as u64,
            hash: hash_std(bytes),
            is_lost: false,
            cost,
            // without the share of degraded resources, which only a measurement tells
            score: self.ratio(&cost),
            // of a run that was cut off, nothing is judged
            hottest: Some(counts)
                .filter(|counts| counts.status() == abi::Status::Returned)
                .and_then(candidates::hottest),
            found: self.elapsed(),
            executions: self.moment.executions,
            parent,
            root,
            rules,
            depth,
        }
    }

    fn name_of(
        &self,
        number: EntryId,
        parent: EntryId,
        origin: &Origin<'_>,
        bytes: &[u8],
        counts: &CountsObserver,
    ) -> EntryName {
        let cost = counts.cost();
        let labels = origin.operators().iter().map(|&rule| self.record.rules[usize::from(rule)].label.clone());
        let sync = if let Origin::Import { sibling, .. } = *origin { Some(sibling.to_owned()) } else { None };
        EntryName {
            sync,
            by_size: self.ratio_by_size(&cost, bytes.len() as u64),
            extension: self.extension(),
            ..EntryName::mutant(number.into(), parent.into(), self.ratio(&cost), labels)
        }
    }

    /// Writes a new entry: its file, a line of the log, and its name in the index for the other clients.
    pub(super) fn write(&mut self, entry: &Entry, bytes: &[u8]) -> Result<()> {
        write_whole(&self.folder().queue().join(&entry.file), bytes)?;
        self.note_unsynced(&entry.file);
        self.logs.entry(entry.found, entry.executions, &entry.file, &entry.cost)?;
        self.index.as_mut().map_or(Ok(()), |index| index.add(&entry.file))
    }

    /// Parent and rules of an input, as far as its name tells them and they are known.
    pub(super) fn origin_in(&self, name: &EntryName) -> (Option<EntryId>, Vec<u16>) {
        let known = name.src.filter(|&parent| parent < self.record.entries.len() as u64);
        let parent = known.map(|parent| EntryId::at(parent as usize));
        (parent, self.record.labelled(&name.rules))
    }

    /// Entries and contents of the median seed and others, together not larger than the size limit of inputs.
    pub fn sampled_seeds(&self) -> Result<(Vec<EntryId>, Vec<Vec<u8>>)> {
        let count = self.record.entries.iter().take_while(|entry| entry.parent.is_none()).count();
        let (mut entries, mut seeds, mut total) = (Vec::new(), Vec::new(), 0);
        for entry in spread_out(count, self.record.reference.index()) {
            total += self.record.entries[entry].bytes;
            if total > self.setup.max_size as u64 && !entries.is_empty() {
                break;
            }
            let path = self.path_of(EntryId::at(entry));
            let cannot = |error| Error::other(format!("cannot read {}: {error}", path.display()));
            seeds.push(std::fs::read(&path).map_err(cannot)?);
            entries.push(EntryId::at(entry));
        }
        Ok((entries, seeds))
    }

    /// Records a run that ended early, and saves its input if it ended in a new way.
    pub fn early_end(&mut self, bytes: &[u8], origin: &Origin<'_>, counts: &CountsObserver) -> Result<()> {
        self.record.early_ends += 1;
        let mut symbols = Symbols::new();
        if !self.record.is_new_end(counts, &symbols) {
            return Ok(());
        }
        let status = counts.status();
        let event = counts.event();
        let (kind, what) = match status {
            abi::Status::Hung => (FindingKind::Hang, "hang".to_owned()),
            abi::Status::Memory => (FindingKind::Fault, "out of memory".to_owned()),
            abi::Status::Exited => (FindingKind::Fault, format!("exit code {}", event.exit_code)),
            _ if event.signal == 0 => (FindingKind::Fault, "sanitizer report".to_owned()),
            _ => (FindingKind::Fault, process::signal_name(event.signal as i32)),
        };
        let place = counts
            .hottest_function()
            .map(|(function, _)| lines::place_of(&counts.program().functions()[function as usize], &mut symbols));
        let ratio = self.instructions_ratio(&counts.cost());
        self.tell_early_end(status, bytes)?;
        self.save_early_end(kind, &what, bytes, origin, ratio, place)
    }

    /// Records that the harness's own mutator did not return; says so once for each way in which it ends. This is no finding,
    /// since the target has run no input.
    ///
    /// # Errors
    /// If the mutator fails more often than not, or the log cannot be written.
    pub fn own_mutator_failed(&mut self, parent: EntryId, failure: MutatorFailure) -> Result<()> {
        self.record.mutator_failures += 1;
        let failures = self.record.mutator_failures;
        let own = self.record.rules.iter().filter(|rule| rule.label.starts_with(CUSTOM_MUTATOR));
        let applied: u64 = own.map(|rule| rule.applied).sum();
        let what = failure.in_words();
        if failures >= MUTATOR_FAILURES && failures > applied {
            return Err(Error::target(format!(
                "the harness's own mutator fails more often than it works ({failures} times, at last it {what}): repair it, or \
                 leave it out with --rules"
            )));
        }
        if self.record.said.insert(format!("own mutator: {what}")) {
            let file = self.relative(&self.path_of(parent));
            self.note(&format!(
                "the harness's own mutator {what}, called for a mutant of {file}: there is no mutant then, and the target is \
                 loaded afresh"
            ))?;
        }
        Ok(())
    }

    /// Records an input that ended its worker (SIGKILL, a raw system call, a run that no signal ends), of which no
    /// counts are known. Saves the first few for each way of ending.
    pub fn lost_run(&mut self, lost: &Lost) -> Result<()> {
        self.record.early_ends += 1;
        let saved = self.record.lost_saved.entry(lost.end.to_string()).or_default();
        *saved += 1;
        if *saved > LOST_SAVED {
            return Ok(());
        }
        let kind = if lost.stuck { FindingKind::Hang } else { FindingKind::Fault };
        self.tell_early_end(if lost.stuck { abi::Status::Hung } else { abi::Status::Crashed }, &lost.input)?;
        let setup = self.setup;
        let seed = setup.seeds.inputs.iter().find(|seed| seed.bytes == lost.input);
        let origin = seed.map_or(Origin::Unknown, |seed| Origin::Seed(&seed.path));
        self.save_early_end(kind, &lost.in_words(), &lost.input, &origin, None, None)
    }

    /// Tells the listener of a run that ended early, and ends the campaign if it says so.
    fn tell_early_end(&self, status: abi::Status, bytes: &[u8]) -> Result<()> {
        let answer = self.setup.listener.as_ref().map(|listener| listener.ended_early(status, bytes)).transpose()?;
        self.obey(answer);
        Ok(())
    }

    fn obey(&self, answer: Option<Answer>) {
        if answer == Some(Answer::End) {
            self.setup.place.statistics.end_with_finding();
        }
    }

    fn save_early_end(
        &mut self,
        kind: FindingKind,
        what: &str,
        bytes: &[u8],
        origin: &Origin<'_>,
        ratio: Option<f64>,
        place: Option<CodeLocation>,
    ) -> Result<()> {
        let folder = self.folder().path().join(folder_of(kind));
        let number = self.record.next_number(kind);
        let parent = origin.parent();
        // rules mean nothing without the ancestor that they were applied to
        let rules = if parent.is_some() { origin.operators() } else { &[] };
        let labels: Vec<String> = rules.iter().map(|&rule| self.record.rules[rule as usize].label.clone()).collect();
        let mut name = EntryName {
            id: number,
            src: parent.map(u64::from),
            cost: ratio,
            rules: labels.clone(),
            extension: self.extension(),
            ..EntryName::default()
        };
        if let Origin::Seed(path) = origin {
            name.orig = Some(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
        let path = folder.join(name.to_string());
        write_whole(&path, bytes)?;
        self.logs.message(&format!("{what}: {}", self.relative(&path)))?;
        let finding = Finding { detail: Some(what.to_owned()), ..self.found(kind, &path, (parent, rules), ratio) };
        let (function, location) = place.map_or((None, None), |place| (Some(place.function), place.location));
        let finding = Finding { bytes: bytes.len() as u64, hot_function: function, hot_location: location, ..finding };
        self.record_finding(finding, bytes)
    }

    /// Writes a finding, whose file has these contents, to the journal, and enters it.
    pub(super) fn record_finding(&mut self, finding: Finding, bytes: &[u8]) -> Result<()> {
        self.record.hashes.insert(finding.path.clone(), hash_std(bytes));
        self.record.unsynced.insert(self.folder().path().join(&finding.path));
        self.record.unsynced.insert(self.folder().path().join(JOURNAL));
        let saved = Saved::of(&finding, |path| self.record.hashes.get(path).copied());
        self.logs.finding(self.elapsed(), &saved.finding)?;
        self.journal.add(&saved)?;
        self.enter_finding(saved);
        Ok(())
    }

    /// Enters a finding that is written; one of the same file takes its place.
    pub(super) fn enter_finding(&mut self, saved: Saved) {
        let Saved { files, finding } = saved;
        let found = Some(Duration::try_from_secs_f64(finding.seconds).unwrap_or_default());
        match finding.kind {
            FindingKind::Degradation => {
                let file = finding.path.rsplit('/').next().unwrap_or_default();
                if let Some(entry) = self.record.entry_of_file(file) {
                    let rules: BTreeSet<u16> = self.record.entry(entry).rules.iter().copied().collect();
                    rules.into_iter().for_each(|rule| self.record.rules[usize::from(rule)].degradations += 1);
                    self.note_confirmed(entry);
                }
            }
            FindingKind::Hang => self.record.last_hang = found,
            FindingKind::Fault => self.record.last_fault = found,
        }
        self.record.hashes.extend(files);
        match self.record.findings.iter_mut().find(|known| known.path == finding.path) {
            Some(known) => *known = finding,
            None => self.record.findings.push(finding),
        }
    }

    /// Creates a finding without its details.
    pub(super) fn found(
        &self,
        kind: FindingKind,
        path: &Path,
        (parent, rules): (Option<EntryId>, &[u16]),
        ratio: Option<f64>,
    ) -> Finding {
        let mut history = parent.map(|parent| self.record.history(parent)).unwrap_or_default();
        history.extend(rules.iter().map(|&rule| self.record.rules[usize::from(rule)].label.clone()));
        Finding {
            kind,
            path: self.relative(path),
            parent: parent.map(|parent| self.relative(&self.path_of(parent))),
            rules: history,
            instructions_ratio: ratio,
            reproduce: self.reproduce(path, None),
            root: parent.map(|parent| {
                let root = self.record.entry(parent).root;
                self.relative(&self.path_of(root))
            }),
            seconds: self.elapsed().as_secs_f64(),
            executions: self.moment.executions,
            ..Finding::default()
        }
    }

    /// Records a confirmed degradation, whose outline is `parts`, and saves its input.
    pub fn degradation(
        &mut self,
        entry: EntryId,
        bytes: &[u8],
        parts: Vec<String>,
        confirmation: &Confirmation,
    ) -> Result<()> {
        let of = self.record.entry(entry).clone();
        let path = self.folder().degradations().join(&of.file);
        write_whole(&path, bytes)?;
        let (time, by_size) = (confirmation.time_ratio, confirmation.time_ratio_by_size);
        let ordinary_input = confirmation.stand_in.as_ref();
        let place = confirmation.growth.place();
        let ratio = confirmation.ratio(Resource::Instructions);
        let finding = Finding {
            bytes: of.bytes,
            time_ratio: Some(time.value),
            time_ratio_low: Some(time.low),
            time_ratio_high: Some(time.high),
            instructions_ratio_by_size: confirmation.ratio_by_size(Resource::Instructions),
            time_ratio_by_size: by_size.map(|time| time.value),
            time_ratio_by_size_low: by_size.map(|time| time.low),
            time_ratio_by_size_high: by_size.map(|time| time.high),
            ratio: Some(confirmation.ratio),
            ordinary_input: ordinary_input
                .map(|(path, scale)| OrdinaryInput { path: self.relative(path), scale: *scale }),
            hot_function: place.as_ref().map(|place| place.function.to_owned()),
            hot_location: place.and_then(|place| place.location),
            reproduce: self.reproduce(&path, ordinary_input.map(|(path, _)| path.as_path())),
            root: Some(self.relative(&self.path_of(of.root))),
            seconds: of.found.as_secs_f64(),
            executions: of.executions,
            verdict: Some(confirmation.verdict),
            severity: Some(confirmation.severity),
            p_value: Some(confirmation.p_value),
            costs: confirmation.costs.clone(),
            growth: confirmation.growth.clone(),
            parts,
            ..self.found(FindingKind::Degradation, &path, (of.parent, &of.rules), ratio)
        };
        let answer = self.setup.listener.as_ref().map(|listener| listener.degraded(bytes, &finding)).transpose()?;
        self.obey(answer);
        self.record_finding(finding, bytes)
    }

    /// Extension of saved inputs: that of the program's file.
    pub(super) fn extension(&self) -> Option<String> {
        self.setup.target.extension.clone()
    }

    pub(super) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(self.folder().path()).unwrap_or(path).display().to_string()
    }

    /// Notes the contents of an ordinary input that was written.
    pub fn note_ordinary(&mut self, path: &Path, bytes: &[u8]) {
        self.record.hashes.insert(self.relative(path), hash_std(bytes));
    }

    /// Removes the file of an ordinary input, unless a finding was confirmed beside it.
    pub fn drop_unless_used(&mut self, path: &Path) {
        let relative = self.relative(path);
        let is_used = |finding: &Finding| finding.ordinary_input.as_ref().is_some_and(|one| one.path == relative);
        if !self.record.findings.iter().any(is_used) {
            let _ = std::fs::remove_file(path);
            self.record.hashes.remove(&relative);
        }
    }

    /// Command that reproduces a finding: replays it beside the median seed, and beside the ordinary input of its size
    /// if that is another file.
    fn reproduce(&self, path: &Path, ordinary: Option<&Path>) -> String {
        let shown = |path: &Path| self.setup.options.output().join(self.relative(path));
        let Some(_) = self.record.entries.get(self.record.reference.index()) else {
            return self.setup.target.replay_command(&[], &[&shown(path)]);
        };
        let reference = self.path_of(self.record.reference);
        match ordinary.filter(|&ordinary| ordinary != reference) {
            Some(ordinary) => {
                let inputs = [reference.as_path(), ordinary, path].map(shown);
                self.setup.target.replay_command(&["--against-all"], &inputs.each_ref().map(PathBuf::as_path))
            }
            None => self.setup.target.replay_command(&[], &[&shown(&reference), &shown(path)]),
        }
    }

    pub(super) fn program(&self) -> String {
        self.setup.target.name()
    }

    /// Notes that an entry's file may not be on the disk yet.
    pub(super) fn note_unsynced(&mut self, file: &str) {
        let path = self.folder().queue().join(file);
        self.record.unsynced.insert(path);
    }

    /// Writes new entries and findings to the disk, if it is time: not each, and never for long.
    pub(super) fn make_durable(&mut self) -> Result<()> {
        if self.record.unsynced.is_empty() || self.elapsed() < self.record.next_sync {
            return Ok(());
        }
        let started = Instant::now();
        make_durable(&std::mem::take(&mut self.record.unsynced))?;
        let took = started.elapsed();
        self.record.next_sync = self.elapsed() + SYNC_INTERVAL.max(took * SYNC_SHARE);
        Ok(())
    }
}
