//! A campaign's memory of its inputs and findings. Plain data, saved with every checkpoint.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::sync::{Progress, Published};
use quagmire_cost::{
    baseline::Baseline,
    distribution::Distributions,
    resource::Cost,
    sizes::{Series, SizeModel},
};
use quagmire_execution::{abi::Status, counts::CountsObserver, symbols::Symbols};
use quagmire_results::{
    EntryName,
    summary::{Finding, Noise, Rule},
};
use quagmire_search::{EntryId, schedule::strategy::Yields, stages::gathering::Gathering};

/// A kept input; its [`EntryId`] is its place in `Record::entries` and in LibAFL's corpus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// File name in queue/.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Cost of its run; noisy resources as measured precisely, if they were.
    pub cost: Cost,
    /// Perun's score: its cost as a multiple of the baseline, times one plus the share of degraded resources.
    pub score: f64,
    /// First edge of the function that executed most instructions.
    pub hottest: Option<u32>,
    /// When it was found, since the campaign's start.
    pub found: Duration,
    /// When it was found, in executions of the campaign.
    pub executions: u64,
    /// The entry that it was made from.
    pub parent: Option<EntryId>,
    /// The seed that it goes back to.
    pub root: EntryId,
    /// Rules that made it from its parent: indices of `Record::rules`.
    pub rules: Vec<u16>,
    /// Generations since the seed.
    pub depth: u32,
}

/// Edges and places at which runs ended early, for one way of ending: tells new faults from known ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EndsSeen {
    places: Vec<u64>,
    edges: Vec<u64>,
}

impl EndsSeen {
    /// Whether this end is new: at another place, or with an edge that no earlier one had. Remembers it.
    pub fn is_new(&mut self, place: u64, counts: &CountsObserver) -> bool {
        let mut new = !self.places.contains(&place);
        if new {
            self.places.push(place);
        }
        self.edges.resize(counts.program().edges().div_ceil(64), 0);
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

/// Costs of ordinary inputs by size, and how far the seeds were measured for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// Once all were measured.
    pub model: Option<SizeModel>,
    /// Until then.
    pub series: Vec<Series>,
    /// The next run for the last of the series.
    pub step: usize,
    /// Time spent by workers that had to stop.
    pub spent: Duration,
}

/// Everything that a campaign remembers of its inputs and findings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Kept inputs, seeds first.
    pub entries: Vec<Entry>,
    /// Baseline of the seeds, once all of them ran.
    pub baseline: Option<Baseline>,
    /// CPU seconds of the seed that is the baseline.
    pub baseline_seconds: Option<f64>,
    /// The seed whose cost is the median.
    pub reference: EntryId,
    /// Expected costs by size.
    pub sizes: Sizes,
    /// The entry with the largest ratio, which is the one that degradations go by.
    pub worst: Option<EntryId>,
    /// Per hottest function (number of its first edge): the most expensive entry that costs more than the median seed by
    /// the threshold, but not more than an ordinary input of its size.
    pub large: BTreeMap<u32, EntryId>,
    /// How many such entries there are.
    pub large_entries: u64,
    /// How many of the seeds were run.
    pub seeds_done: usize,
    /// The notices that the user was told (`target::notices`).
    pub told: u32,
    /// Mutation operators, with their yields.
    pub rules: Vec<Rule>,
    /// Their finds lately.
    pub yields: Yields,
    /// The phase of the search; nothing before mutation begins.
    pub gathering: Option<Gathering>,
    /// Costs of all runs that returned.
    pub distributions: Distributions,
    /// Kept inputs whose runs differ in instructions.
    pub varying: u64,
    /// Difference of an input from itself on this machine.
    pub noise: Option<Noise>,
    /// The longest time of a kept input, in nanoseconds.
    pub slowest_ns: u64,
    /// In the order in which they were found.
    pub findings: Vec<Finding>,
    /// Inputs in faults/.
    pub faults: u64,
    /// Inputs in hangs/.
    pub hangs: u64,
    /// Confirmed ones, in degradations/.
    pub degradations: u64,
    /// Every run that ended early, known or new.
    pub early_ends: u64,
    /// Hashes of the inputs that took a worker with them and are recorded.
    pub lost: BTreeSet<u64>,
    /// How many of them for each way of ending the process.
    pub lost_saved: BTreeMap<String, u32>,
    /// For each way of ending early.
    pub ends: BTreeMap<u8, EndsSeen>,
    /// Per hottest function (number of its first edge): the largest ratio that was confirmed or refuted.
    pub judged: BTreeMap<u32, f64>,
    /// Per hottest function: the entry that waits for confirmation.
    pub candidates: BTreeMap<u32, EntryId>,
    /// CPU time ratio of the worst entry, and which entry that was.
    pub worst_time: Option<(EntryId, f64)>,
    /// How far the queues of other campaigns were taken in, by their names.
    pub taken_in: BTreeMap<String, Progress>,
    /// The libraries that runs have opened under a fork server: see [`opened`](quagmire_execution::fork_server::opened).
    pub libraries: Vec<u8>,
    /// Other campaigns whose files cannot be any campaign's, by their names: nothing of them is taken in in this session.
    pub left_out: BTreeSet<String>,
    /// Messages about other campaigns, each said once.
    pub said: BTreeSet<String>,
    /// Inputs that other campaigns have found.
    pub foreign: u64,
    /// Files in the sync folder.
    pub published: Option<Published>,
    /// When something new was found last, since the campaign's start.
    pub last_new: Option<Duration>,
    /// When a fault was found last.
    pub last_fault: Option<Duration>,
    /// When a hang was found last.
    pub last_hang: Option<Duration>,
    /// Length of all earlier sessions.
    pub earlier_sessions: Duration,
    /// Executions in all earlier sessions.
    pub earlier_executions: u64,
    /// When progress was last written, printed, and saved to disk, since the campaign's start: workers may be short-lived.
    pub last_write: Duration,
    /// See `last_write`.
    pub last_print: Duration,
    /// See `last_write`.
    pub last_save: Duration,
    /// See `last_write`: when others were looked at last, and those that are far away.
    pub last_share: Duration,
    /// See `last_share`; nothing before the first time.
    pub last_far_share: Option<Duration>,
    /// Lines of the status that are on the terminal.
    pub lines_on_screen: usize,
    /// Time spent on confirmations in this session.
    pub confirming: Duration,
    /// Rounds of the scheduler.
    pub rounds: u64,
}

/// Whether this is the name of a file, which leads to no other folder.
fn is_name(file: &str) -> bool {
    !file.contains(['/', '\0']) && !matches!(file, "" | "." | "..")
}

/// Whether this is a path inside of the output folder.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(is_name)
}

impl Record {
    /// The entry that is entered next.
    pub fn next_entry(&self) -> EntryId {
        EntryId::at(self.entries.len())
    }

    /// All entries, by their numbers.
    pub fn entry_ids(&self) -> impl Iterator<Item = EntryId> + use<> {
        (0..self.entries.len()).map(EntryId::at)
    }

    /// An entry.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn entry(&self, entry: EntryId) -> &Entry {
        &self.entries[entry.index()]
    }

    /// As [`Self::entry`], to change it.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn entry_mut(&mut self, entry: EntryId) -> &mut Entry {
        &mut self.entries[entry.index()]
    }

    /// Takes the operators of this session, whose numbers are their places in `rules`. What earlier sessions know keeps
    /// its labels: `--resume` may come with other `--rules`.
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

    /// Indices of the rules with these labels; those that are not known are left out.
    pub fn labelled(&self, labels: &[String]) -> Vec<u16> {
        let place = |label: &String| self.rules.iter().position(|rule| rule.label == *label);
        labels.iter().filter_map(place).map(|place| place as u16).collect()
    }

    /// Whether numbers are those of entries and rules that there are, and names those of files in the output folder. A record
    /// from a file may hold anything.
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
        let finding = |finding: &Finding| {
            let paths = [Some(&finding.path), finding.parent.as_ref(), finding.root.as_ref()];
            paths.into_iter().flatten().all(|path| is_inside(path))
        };
        self.entries.iter().enumerate().all(entry)
            && (is_entry(self.reference) || entries == 0 && self.reference == EntryId::default())
            && (self.baseline.is_none() || entries > 0)
            && self.candidates.values().all(|&entry| is_entry(entry))
            && self.worst_time.is_none_or(|(entry, _)| is_entry(entry))
            && self.gathering.iter().flat_map(Gathering::waiting).all(|&entry| is_entry(entry))
            && self.taken_in.values().flat_map(Progress::entries).all(is_entry)
            && self.findings.iter().all(finding)
    }

    /// Labels of all rules that led from the seed to an entry, in order.
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

    /// Whether a run that ended early did so in a new way.
    pub fn is_new_end(&mut self, counts: &CountsObserver, symbols: &Symbols) -> bool {
        let event = counts.event();
        // A hang is cut off wherever it happens to be.
        let place = match counts.status() {
            Status::Crashed => symbols.relative(event.pc),
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
