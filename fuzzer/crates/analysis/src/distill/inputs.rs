//! Runs of all inputs, each content once: what each costs, and its features.

use std::{
    collections::HashMap,
    fs,
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    features::{Features, Purpose},
    laws::Laws,
    rows::Rows,
};
use crate::{
    interruption,
    runner::{Detail, Run, Runner, RunnerOptions},
};
use quagmire_base::{
    error::Result,
    files::{self, LARGEST_INPUT},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{harness::Harness, info::TargetInfo};

/// An input that can be part of the corpus.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub path: PathBuf,
    pub bytes: u64,
    /// Hash of its contents.
    pub contents: u64,
    /// Amount that its run used of the resource that runs are weighed by.
    pub cost: u64,
    /// Row of its features.
    pub row: u32,
    /// Hash of what its run did.
    pub behaviour: u64,
    /// Whether two runs did the same; `None` if that is not known.
    pub is_stable: Option<bool>,
}

/// Input that is not in the corpus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LeftOut {
    /// Its file.
    pub path: String,
    /// Reason: `subsumed`, `duplicate`, `ended-early`, `rejected`, `unreadable`.
    pub reason: &'static str,
    /// Details of the reason.
    pub detail: Option<String>,
    /// Inputs of the corpus that have all its features together; empty if it has none, and for other reasons than
    /// `subsumed`. For a duplicate, the first file with its contents.
    pub by: Vec<String>,
}

/// Features and costs of the inputs.
#[derive(Debug)]
pub(super) struct Examined {
    /// Resource that runs are weighed by.
    pub resource: Resource,
    /// In the order in which they were found.
    pub candidates: Vec<Candidate>,
    pub rows: Rows,
    /// Inputs that cannot be part of the corpus.
    pub unfit: Vec<LeftOut>,
    /// Number of inputs that were not looked at, since the user has stopped the command.
    pub left: usize,
}

/// Reads and runs files.
pub(super) struct Examiner {
    runner: Runner,
    hasher: RandomState,
    purpose: Purpose,
    resource: Resource,
}

impl Examiner {
    /// Prepares for these files.
    ///
    /// # Errors
    /// If there is no memory to share with the target.
    pub(super) fn new(
        harness: &'static Harness,
        options: RunnerOptions,
        purpose: Purpose,
        target: &TargetInfo,
        paths: &[PathBuf],
    ) -> Result<Self> {
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |about| about.len());
        let largest = paths.iter().map(size).max().unwrap_or(0).min(LARGEST_INPUT);
        let runner = Runner::new(harness, usize::try_from(largest).unwrap_or(usize::MAX), options)?;
        let has_weights = target.instrumentation.measures(Resource::Instructions);
        let resource = if has_weights { Resource::Instructions } else { Resource::Edges };
        Ok(Self { runner, hasher: RandomState::new(), purpose, resource })
    }

    /// Number of runs so far.
    pub(super) fn executions(&self) -> u64 {
        self.runner.executions()
    }

    /// Reads and runs each file once, until a signal comes.
    pub(super) fn examine(&mut self, paths: &[PathBuf]) -> Result<Examined> {
        let (resource, rows) = (self.resource, Rows::default());
        let mut examined = Examined { resource, candidates: Vec::new(), rows, unfit: Vec::new(), left: 0 };
        let (mut features, mut laws) = (Features::new(self.purpose), Laws::default());
        let mut known: HashMap<u64, usize> = HashMap::new();
        let mut numbers = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            if interruption::has_come() {
                examined.left = paths.len() - index;
                break;
            }
            let mut leave_out = |reason, detail, by| {
                examined.unfit.push(LeftOut { path: path.display().to_string(), reason, detail, by });
            };
            let input = match self.read(path) {
                Ok(input) => input,
                Err(why) => {
                    leave_out("unreadable", Some(why), Vec::new());
                    continue;
                }
            };
            // contents that are taken for equal and are not are one in 2^64
            let contents = self.hasher.hash_one(&input);
            if let Some(&first) = known.get(&contents) {
                leave_out("duplicate", None, vec![paths[first].display().to_string()]);
                continue;
            }
            known.insert(contents, index);
            let mut run = self.runner.run(&input, Detail::Edges)?;
            let mut is_stable = None;
            if run.came_back() && run.status != REJECTED && features.has_new(&run) {
                // what is set up once in a process belongs to no input: the second run counts
                let again = self.runner.run(&input, Detail::Edges)?;
                if again.came_back() && again.status == run.status {
                    is_stable = (self.behaviour(&again) == self.behaviour(&run)).then_some(true);
                    run = again;
                }
            }
            if run.status == REJECTED {
                leave_out("rejected", None, Vec::new());
            } else if run.came_back() {
                let law = if self.purpose == Purpose::Cost { laws.of(path) } else { None };
                features.number(&run, law, &mut numbers);
                examined.candidates.push(Candidate {
                    path: path.clone(),
                    bytes: input.len() as u64,
                    contents,
                    cost: run.cost[self.resource],
                    row: examined.rows.push(&mut numbers),
                    behaviour: self.behaviour(&run),
                    is_stable,
                });
            } else if interruption::has_come() {
                // the signal may have ended the target as well
                examined.left = paths.len() - index;
                break;
            } else {
                leave_out("ended-early", Some(run.end_in_words()), Vec::new());
            }
        }
        features.finish(&mut examined.rows);
        Ok(examined)
    }

    /// The contents of a candidate, as they were when it was run.
    ///
    /// # Errors
    /// Why they cannot be read, or that they are not the same any more.
    pub(super) fn reread(&self, candidate: &Candidate) -> std::result::Result<Vec<u8>, String> {
        let input = self.read(&candidate.path)?;
        if self.hasher.hash_one(&input) == candidate.contents { Ok(input) } else { Err(CHANGED.to_owned()) }
    }

    /// Whether a candidate, whose contents are `input`, does once more what it did. It is run again unless that is known.
    pub(super) fn is_stable(&mut self, candidate: &Candidate, input: &[u8]) -> Result<bool> {
        if let Some(is_stable) = candidate.is_stable {
            return Ok(is_stable);
        }
        let run = self.runner.run(input, Detail::Edges)?;
        Ok(run.came_back() && self.behaviour(&run) == candidate.behaviour)
    }

    fn read(&self, path: &Path) -> std::result::Result<Vec<u8>, String> {
        match files::read_named(path, LARGEST_INPUT) {
            Ok(input) if input.len() > self.runner.capacity() => Err(CHANGED.to_owned()),
            read => read.map_err(|error| error.to_string()),
        }
    }

    /// Hash of what a run did, as far as it is of interest.
    fn behaviour(&self, run: &Run) -> u64 {
        match self.purpose {
            Purpose::Coverage => {
                let mut numbers = Vec::new();
                Features::new(self.purpose).number(run, None, &mut numbers);
                self.hasher.hash_one(&numbers)
            }
            Purpose::Cost => {
                let resources = Resource::ALL.into_iter().filter(|resource| resource.is_deterministic());
                let amounts: Vec<u64> = resources.map(|resource| run.cost[resource]).collect();
                let counts: Vec<(u32, u64)> = run.edges.iter().map(|one| (one.edge, one.count)).collect();
                self.hasher.hash_one((amounts, counts))
            }
        }
    }
}

/// Status of inputs that a harness returns -1 for.
const REJECTED: &str = "rejected";

/// Reason for leaving out a file that somebody writes to.
const CHANGED: &str = "it has changed since it was found";
