//! Record of a campaign: its entries, findings and figures, as plain data that every checkpoint holds.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    alike::Alike,
    samples::Samples,
    seed_ends::SeedEnds,
    sync::{Progress, Published},
};
use quagmire_cost::{
    baseline::Baseline,
    distribution::Distributions,
    noise::NoiseFloor,
    resource::{Cost, Resource},
    sizes::{Series, SizeModel},
};
use quagmire_execution::{abi::Status, counts::CountsObserver, symbols::Symbols};
use quagmire_results::{
    EntryName,
    summary::{Finding, FindingKind, Noise, Rule, WhyUnconfirmed},
};
use quagmire_search::{EntryId, stages::gathering::Gathering, strategy::Yields};

/// A kept input; its [`EntryId`] is its index in `Record::entries` and in LibAFL's corpus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// File name in `queue/`.
    pub file: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Hash of its contents.
    pub hash: u64,
    /// Whether its file was lost or damaged, and nothing else held its contents. It keeps its number, and its place in the
    /// history of others.
    pub is_lost: bool,
    /// Cost of its run; time and cycles as measured precisely, if they were.
    pub cost: Cost,
    /// Perun's score: its cost as a multiple of the baseline, times one plus the share of degraded resources.
    pub score: f64,
    /// First edge of the function that executed most instructions.
    pub hottest: Option<u32>,
    /// Time of the find, since the start of the campaign.
    pub found: Duration,
    /// Time of the find, in executions of the campaign.
    pub executions: u64,
    /// Entry that it was made from; `None` for a seed.
    pub parent: Option<EntryId>,
    /// Seed that it descends from.
    pub root: EntryId,
    /// Rules that made it from its parent: indices of `Record::rules`.
    pub rules: Vec<u16>,
    /// Generations since the seed.
    pub depth: u32,
}

impl Entry {
    /// Whether another campaign has found it.
    pub fn is_foreign(&self) -> bool {
        self.file.split(',').nth(1).is_some_and(|field| field.starts_with("sync_"))
    }
}

/// An entry that waits for confirmation, or for a retry since its time was not told from noise.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Candidate {
    pub entry: EntryId,
    /// Number of times that it was measured.
    pub tries: u32,
    /// Time since the start of the campaign from which it is measured.
    pub due: Duration,
}

/// Edges and places of the runs that ended early in one way, by which new faults are told from known ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EndsSeen {
    places: Vec<u64>,
    edges: Vec<u64>,
}

impl EndsSeen {
    /// Whether this end is new, at another place or with an edge that no earlier one had; remembers both.
    pub fn is_new(&mut self, place: u64, counts: &CountsObserver) -> bool {
        let mut new = !self.places.contains(&place);
        if new {
            self.places.push(place);
        }
        // a library that this process has not opened yet has edges, too
        self.edges.resize(counts.program().edges().div_ceil(64).max(self.edges.len()), 0);
        for &function in counts.ran() {
            let (first, counts) = counts.branches(function);
            for (edge, _) in (first..).zip(counts).filter(|(_, count)| **count != 0) {
                let (word, bit) = (edge / 64, 1 << (edge % 64));
                new |= self.edges[word] & bit == 0;
                self.edges[word] |= bit;
            }
        }
        new
    }
}

/// Size model, and the progress of its measurement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// Finished model; `None` until all seeds were measured.
    pub model: Option<SizeModel>,
    /// Measurements so far, one series for each seed; empty once the model is finished.
    pub series: Vec<Series>,
    /// Next step of the last series.
    pub step: usize,
    /// Time spent in workers that had to stop.
    pub spent: Duration,
}

/// Entries, findings and figures of a campaign.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Name of the campaign: a random number.
    pub campaign: String,
    /// Kept inputs, seeds first.
    pub entries: Vec<Entry>,
    /// Baseline of the seeds; `None` until all of them ran.
    pub baseline: Option<Baseline>,
    /// CPU seconds of the reference seed.
    pub baseline_seconds: Option<f64>,
    /// Reference seed: the one with the median instructions.
    pub reference: EntryId,
    /// Expected costs by size.
    pub sizes: Sizes,
    /// Entry with the largest ratio, by size or by seed as for degradations.
    pub worst: Option<EntryId>,
    /// For each hottest function (number of its first edge), the most expensive large entry: one that exceeds the
    /// median seed by the threshold, but not an ordinary input of its size.
    pub large: BTreeMap<u32, EntryId>,
    /// Number of all large entries.
    pub large_entries: u64,
    /// Entries above the threshold for their size that were measured and not confirmed, or not to be measured, with the
    /// reason: for each hottest function the worst.
    pub unconfirmed: BTreeMap<u32, (EntryId, WhyUnconfirmed)>,
    /// For each hottest function, the largest ratio that was confirmed.
    pub confirmed: BTreeMap<u32, f64>,
    /// Ways in which seeds end that cannot be used.
    pub seed_ends: SeedEnds,
    /// How alike the first runs are.
    pub alike: Alike,
    /// Samples of what runs executed.
    pub samples: Samples,
    /// Name of a grammar that the seeds follow, once it was looked for, where none is used.
    pub fitting_grammar: Option<Option<String>>,
    /// Number of seeds that were run.
    pub seeds_done: usize,
    /// Notices of the runtime that the user was shown, as bits ([`notices`](quagmire_execution::notices)).
    pub told: u32,
    /// Mutation operators, with their applications and finds.
    pub rules: Vec<Rule>,
    /// Recent finds of the operators.
    pub yields: Yields,
    /// Tokens, and the number of entries that are new with them.
    pub tokens: BTreeMap<Vec<u8>, u64>,
    /// Gathering phase of the search; `None` before mutation begins.
    pub gathering: Option<Gathering>,
    /// Cost distributions over all runs that returned.
    pub distributions: Distributions,
    /// Number of measured entries whose runs differ in instructions.
    pub varying: u64,
    /// Measured resource that the search follows, and its noise; `None` if it follows counts, or before the noise was
    /// measured.
    pub steered: Option<(Resource, NoiseFloor)>,
    /// Noise of this machine; `None` if it was not measured.
    pub noise: Option<Noise>,
    /// Longest time of an entry, in nanoseconds.
    pub slowest_ns: u64,
    /// Findings, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Hashes of the contents of their files, and of ordinary inputs, by their paths in the output folder.
    pub hashes: BTreeMap<String, u64>,
    /// Files that may not be on the disk yet.
    #[serde(skip)]
    pub unsynced: BTreeSet<PathBuf>,
    /// Time from which they may be written to the disk, since the start of the campaign.
    pub next_sync: Duration,
    /// Number of runs that ended early, in known or new ways.
    pub early_ends: u64,
    /// Number of calls of the harness's own mutator that did not return.
    pub mutator_failures: u64,
    /// Hashes of the inputs that ended a worker and are recorded.
    pub lost: BTreeSet<u64>,
    /// Number of these inputs for each way in which workers ended.
    pub lost_saved: BTreeMap<String, u32>,
    /// Edges and places of early ends, for each [`Status`] of a run.
    pub ends: BTreeMap<u8, EndsSeen>,
    /// For each hottest function (number of its first edge), the largest ratio that was confirmed or refuted.
    pub judged: BTreeMap<u32, f64>,
    /// For each hottest function, the entry that waits for confirmation (`false`), and the one that waits for a retry (`true`).
    pub candidates: BTreeMap<(u32, bool), Candidate>,
    /// Worst entry whose time was measured, and its CPU time as a multiple of the median seed's.
    pub worst_time: Option<(EntryId, f64)>,
    /// Progress of the imports from other campaigns, by their names.
    pub taken_in: BTreeMap<String, Progress>,
    /// Libraries that runs have opened under a fork server; see [`opened`](quagmire_execution::executor::HarnessExecutor::opened).
    pub libraries: Vec<u8>,
    /// Hash of the file of the generator in front of the program; `None` without one.
    pub generator: Option<u64>,
    /// Hash of the command of an uninstrumented program, and of the size and time of the program and its script; `None` if the
    /// program is instrumented.
    pub uncounted: Option<u64>,
    /// Names of other campaigns whose files are invalid: nothing of them is imported in this session.
    pub left_out: BTreeSet<String>,
    /// Messages that are shown only once, such as those about other campaigns.
    pub said: BTreeSet<String>,
    /// State of this campaign's files in the sync folder.
    pub published: Option<Published>,
    /// Time of the latest find, since the start of the campaign.
    pub last_new: Option<Duration>,
    /// Time of the latest fault, since the start of the campaign.
    pub last_fault: Option<Duration>,
    /// Time of the latest hang, since the start of the campaign.
    pub last_hang: Option<Duration>,
    /// Length of all earlier sessions together.
    pub earlier_sessions: Duration,
    /// Number of executions in all earlier sessions.
    pub earlier_executions: u64,
    /// Time of the latest write of the progress, since the start of the campaign; kept here since workers may be
    /// short-lived.
    pub last_write: Duration,
    /// Time of the latest display of the status, likewise.
    pub last_print: Duration,
    /// Time of the latest checkpoint on disk, likewise.
    pub last_save: Duration,
    /// Time of the latest exchange with clients on other cores, likewise.
    pub last_share: Duration,
    /// Time of the latest exchange over the sync folder, likewise; `None` before the first.
    pub last_far_share: Option<Duration>,
    /// Number of lines of the display that are on the terminal.
    pub lines_on_screen: usize,
    /// Time spent on confirmations in this session.
    pub confirming: Duration,
    /// Number of rounds of the scheduler.
    pub rounds: u64,
}

/// Whether this is a plain file name, which leads to no other folder.
fn is_name(file: &str) -> bool {
    !file.contains(['/', '\0']) && !matches!(file, "" | "." | "..")
}

/// Whether this is a relative path that stays inside the output folder.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(is_name)
}

/// Whether the files of a finding are in the output folder, its own in that of its kind.
pub fn stays_inside(finding: &Finding) -> bool {
    let others = [finding.parent.as_ref(), finding.root.as_ref(), finding.minimized.as_ref().map(|one| &one.path)];
    let ordinary = finding.ordinary_input.as_ref().map(|one| &one.path);
    let own =
        finding.path.split_once('/').is_some_and(|(folder, file)| folder == folder_of(finding.kind) && is_name(file));
    own && others.into_iter().flatten().chain(ordinary).all(|path| is_inside(path))
}

/// Folder of findings of a kind, in the output folder.
pub fn folder_of(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Degradation => "degradations",
        FindingKind::Fault => "faults",
        FindingKind::Hang => "hangs",
    }
}

impl Record {
    pub fn next_entry(&self) -> EntryId {
        EntryId::at(self.entries.len())
    }

    /// Ids of all entries, in ascending order.
    pub fn entry_ids(&self) -> impl Iterator<Item = EntryId> + use<> {
        (0..self.entries.len()).map(EntryId::at)
    }

    /// Entry with this id.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn entry(&self, entry: EntryId) -> &Entry {
        &self.entries[entry.index()]
    }

    /// Entry with this id, mutable.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn entry_mut(&mut self, entry: EntryId) -> &mut Entry {
        &mut self.entries[entry.index()]
    }

    /// Sets the operators of this session, whose numbers are their indices in `rules`. Renumbers what earlier sessions
    /// recorded by label: `--resume` may come with other `--rules`.
    pub fn use_rules(&mut self, rules: Vec<Rule>) {
        let earlier = std::mem::replace(&mut self.rules, rules);
        let mut places = Vec::with_capacity(earlier.len());
        for rule in earlier {
            let place = self.rules.iter().position(|known| known.label == rule.label).unwrap_or(self.rules.len());
            places.push(place as u16);
            if place < self.rules.len() {
                self.rules[place] = rule;
            } else {
                self.rules.push(rule);
            }
        }
        self.yields.renumber(&places);
        for rule in self.entries.iter_mut().flat_map(|entry| &mut entry.rules) {
            *rule = places[*rule as usize];
        }
    }

    /// Counts a mutant that an operator was applied to.
    pub fn apply(&mut self, operator: usize) {
        self.rules[operator].applied += 1;
        self.yields.apply(operator);
    }

    /// Indices of the rules with these labels; unknown labels are left out.
    pub fn labelled(&self, labels: &[String]) -> Vec<u16> {
        let place = |label: &String| self.rules.iter().position(|rule| rule.label == *label);
        labels.iter().filter_map(place).map(|place| place as u16).collect()
    }

    /// Whether all entries and rules that the record names exist, and all file names lead into the output folder; a
    /// checkpoint file may hold anything.
    pub fn is_sound(&self) -> bool {
        let entries = self.entries.len();
        let is_entry = |entry: EntryId| entry.index() < entries;
        let entry = |(number, entry): (usize, &Entry)| {
            let name = entry.file.parse::<EntryName>();
            name.is_ok_and(|name| name.id == number as u64)
                && is_name(&entry.file)
                && entry.parent.is_none_or(|parent| parent.index() < number)
                && entry.root.index() <= number
                && entry.rules.iter().all(|&rule| usize::from(rule) < self.rules.len())
        };
        self.entries.iter().enumerate().all(entry)
            && (is_entry(self.reference) || entries == 0 && self.reference == EntryId::default())
            && (self.baseline.is_none() || entries > 0)
            && self.candidates.values().all(|candidate| is_entry(candidate.entry))
            && self.worst_time.is_none_or(|(entry, _)| is_entry(entry))
            && self.worst.is_none_or(is_entry)
            && self.large.values().all(|&entry| is_entry(entry))
            && self.unconfirmed.values().all(|&(entry, _)| is_entry(entry))
            && self.gathering.iter().flat_map(Gathering::waiting).all(|&entry| is_entry(entry))
            && self.taken_in.values().flat_map(Progress::entries).all(is_entry)
            && self.findings.iter().all(stays_inside)
            && self.hashes.keys().all(|path| is_inside(path))
    }

    /// Number of entries whose files are in `queue/`.
    pub fn kept(&self) -> u64 {
        self.entries.iter().filter(|entry| !entry.is_lost).count() as u64
    }

    /// Number of entries that other campaigns have found.
    pub fn foreign(&self) -> u64 {
        self.entries.iter().filter(|entry| !entry.is_lost && entry.is_foreign()).count() as u64
    }

    /// Number of findings of a kind.
    pub fn count(&self, kind: FindingKind) -> u64 {
        self.findings.iter().filter(|finding| finding.kind == kind).count() as u64
    }

    /// Number of the next fault or hang: numbers only grow.
    pub fn next_number(&self, kind: FindingKind) -> u64 {
        let of_kind = self.findings.iter().filter(|finding| finding.kind == kind);
        let numbers = of_kind.filter_map(|finding| finding.path.rsplit('/').next()?.parse::<EntryName>().ok());
        numbers.map(|name| name.id + 1).max().unwrap_or(0)
    }

    /// Entry with this file name.
    pub fn entry_of_file(&self, file: &str) -> Option<EntryId> {
        let name: EntryName = file.parse().ok()?;
        let entry = EntryId::at(usize::try_from(name.id).ok()?);
        self.entries.get(entry.index()).filter(|entry| entry.file == file).map(|_| entry)
    }

    /// Makes an entry the candidate of a hottest function.
    pub fn wait(&mut self, function: u32, entry: EntryId) {
        self.candidates.insert((function, false), Candidate { entry, tries: 0, due: Duration::ZERO });
    }

    /// Candidates that were not measured yet.
    pub fn waiting(&self) -> impl Iterator<Item = EntryId> {
        self.candidates.iter().filter(|(place, _)| !place.1).map(|(_, candidate)| candidate.entry)
    }

    /// Notes that the file of an entry is lost: it is no candidate, and not the worst one.
    pub fn lose(&mut self, entry: EntryId) {
        self.entry_mut(entry).is_lost = true;
        self.candidates.retain(|_, candidate| candidate.entry != entry);
        self.large.retain(|_, large| *large != entry);
        self.worst_time = self.worst_time.filter(|(worst, _)| *worst != entry);
    }

    /// Labels of all rules that lead from the seed to an entry, in order.
    pub fn history(&self, entry: EntryId) -> Vec<String> {
        let mut generations = Vec::new();
        let mut at = Some(entry);
        while let Some(entry) = at.and_then(|entry: EntryId| self.entries.get(entry.index())) {
            generations.push(&entry.rules);
            at = entry.parent;
        }
        let rules = generations.into_iter().rev().flatten();
        rules.filter_map(|&rule| self.rules.get(rule as usize)).map(|rule| rule.label.clone()).collect()
    }

    /// Whether the last run, which ended early, did so in a new way; remembers it.
    pub fn is_new_end(&mut self, counts: &CountsObserver, symbols: &Symbols) -> bool {
        let event = counts.event();
        // a hang is cut off wherever it happens to be
        let place = match counts.status() {
            // outside of all objects, a jump to an address from the input ends at another one each time
            Status::Crashed => symbols.relative(event.pc).unwrap_or(u64::MAX),
            Status::Exited => event.exit_code as u64,
            _ => 0,
        };
        self.ends.entry(counts.status() as u8).or_default().is_new(place, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(labels: &[&str]) -> Vec<Rule> {
        let one = |label: &&str| Rule {
            label: (*label).to_owned(),
            name: String::new(),
            applied: 0,
            coverage_increases: 0,
            degradations: 0,
        };
        labels.iter().map(one).collect()
    }

    #[test]
    fn a_resumed_campaign_with_other_rules_keeps_the_labels_of_its_history() {
        let mut record = Record::default();
        record.use_rules(rules(&["T.8", "havoc"]));
        record.rules[1].applied = 7;
        let entry = |parent, rules| Entry { parent, rules, ..Entry::default() };
        record.entries = vec![entry(None, vec![]), entry(Some(EntryId::new(0)), vec![1, 0])];
        record.use_rules(rules(&["T.1", "B.6", "havoc"]));
        assert_eq!(record.history(EntryId::new(1)), ["havoc", "T.8"]);
        let labels: Vec<&str> = record.rules.iter().map(|rule| rule.label.as_str()).collect();
        assert_eq!(labels, ["T.1", "B.6", "havoc", "T.8"]);
        assert_eq!(record.rules[2].applied, 7);
    }
}
