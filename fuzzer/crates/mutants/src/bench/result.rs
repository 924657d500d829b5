//! Result of a bench, and what its folder keeps: campaigns, and places of the fuzzers by what each kills beyond the seeds.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use super::{BenchOptions, fuzzer::Fuzzer};
use crate::{
    InputOrder, ScoreOptions,
    compare::{a12, mann_whitney},
    log::Header as ScoreHeader,
    score::scored,
};
use quagmire_base::error::Result;
use quagmire_cost::statistics::median;
use quagmire_results::score_file::{MutantCounts, MutantState, ScoredMutant};

/// Name of the result in the output folder.
pub(super) const BENCH: &str = "bench.json";

/// Identity of a bench: campaigns of another one cannot be compared with its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BenchHeader {
    /// Identity of the program with mutants, and of the seeds.
    pub score: ScoreHeader,
    /// Seconds of each campaign.
    pub seconds: u64,
    /// Largest input in bytes.
    pub max_size: u64,
    /// Multiple of an input's own cost from which on it kills a performance mutant, if one was asked for.
    pub cost_factor: Option<f64>,
}

/// Result of a bench, as printed with `--json` and written to [`BENCH`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Bench {
    #[serde(flatten)]
    pub header: BenchHeader,
    /// Number of mutants that can be killed.
    pub mutants: u64,
    /// Number of them that the seeds kill: they are in no other number.
    pub killed_by_seeds: u64,
    /// Whether they are performance mutants.
    pub is_performance: bool,
    /// The fuzzers, the best first.
    pub fuzzers: Vec<Standing>,
}

/// Medians over the campaigns of one fuzzer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Standing {
    pub name: String,
    /// Name in tables.
    pub title: String,
    /// Its place, from 1; fuzzers with the same median share one.
    pub rank: u64,
    /// Mutants that a campaign kills.
    pub killed: f64,
    /// Its share of those that the seeds leave.
    pub share: f64,
    /// Mutants that some campaign kills.
    pub killed_by_any: u64,
    pub at_10: f64,
    pub at_100: f64,
    /// Mutants that a campaign kills, by gate.
    pub gates: BTreeMap<u64, f64>,
    /// Time and executions to a mutant, over all mutants that its campaigns kill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<f64>,
    /// Mutants that are killed by then.
    pub curve: Vec<Point>,
    /// P value of the rank test of Mann and Whitney, two-sided, against the first fuzzer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Probability that a campaign of the first fuzzer kills more than one of this (Vargha and Delaney's A12).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a12: Option<f64>,
    pub campaigns: Vec<Campaign>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Point {
    pub seconds: f64,
    pub killed: f64,
}

/// A finished campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Campaign {
    /// Name of the fuzzer.
    pub fuzzer: String,
    pub seed: u64,
    /// The command, as a shell reads it.
    pub command: String,
    /// Its time in seconds.
    pub seconds: f64,
    /// Number of executions, if the fuzzer says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// Folders with its inputs, and the number of those that it has written before its time was over.
    pub folders: Vec<PathBuf>,
    pub inputs: u64,
    pub end: CampaignEnd,
    /// Mutants that its inputs kill and the seeds do not, the first first.
    pub killed: Vec<Kill>,
    /// Number of performance mutants with which some input costs at least 10 and 100 times what it does without, where none of the
    /// seeds does.
    pub at_10: u64,
    pub at_100: u64,
}

/// How a campaign has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CampaignEnd {
    /// When its time was over.
    InTime,
    /// Before, as libFuzzer does at an input that crashes.
    Early,
    /// It did not end, and was killed.
    Killed,
}

/// A mutant that a campaign kills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kill {
    /// Name by which `QUAGMIRE_MUTANT` chooses it.
    pub mutant: String,
    /// Gate of a performance mutant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<u64>,
    /// Age of the first input that kills a performance mutant, and the executions by then at the mean rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
}

/// Number of points of a curve: the last is the whole time, each other one half of that after it.
const POINTS: u32 = 8;

/// Mutants of the program, and what the seeds do to them.
pub(super) struct Known {
    all: MutantCounts,
    is_performance: bool,
    /// Fate of each mutant by its name, and the largest multiple of a seed's cost.
    by_name: HashMap<String, (MutantState, f64)>,
}

impl Known {
    /// Scores the seeds.
    pub(super) fn of_seeds(options: &BenchOptions) -> Result<Self> {
        let score = scored(&options.score, &|_| ())?;
        let fate = |one: ScoredMutant| (one.mutant.id, (one.state, one.worst_factor.unwrap_or(1.0)));
        let by_name = score.mutants.into_iter().map(fate).collect();
        Ok(Self { all: score.all, is_performance: score.cost_factor.is_some(), by_name })
    }

    /// Number of mutants that the seeds do not kill.
    pub(super) fn open(&self) -> u64 {
        self.all.mutants - self.all.killed
    }

    /// Scores the inputs of a campaign.
    pub(super) fn outcomes(&self, options: &ScoreOptions) -> Result<Vec<ScoredMutant>> {
        let order = self.is_performance.then_some(InputOrder::Modified);
        scored(&ScoreOptions { order, ..options.clone() }, &|_| ()).map(|score| score.mutants)
    }

    /// Mutants that are killed and not by seeds, the first first, and the numbers of those that cost 10 and 100 times as much
    /// where the seeds do not. `rate`: executions per second.
    pub(super) fn beyond(&self, scored: &[ScoredMutant], rate: Option<f64>) -> (Vec<Kill>, [u64; 2]) {
        let of_seeds =
            |one: &ScoredMutant| self.by_name.get(&one.mutant.id).copied().unwrap_or((MutantState::NotReached, 1.0));
        let is_new = |one: &&ScoredMutant| one.state == MutantState::Killed && of_seeds(one).0 != MutantState::Killed;
        let kill = |one: &ScoredMutant| Kill {
            mutant: one.mutant.id.clone(),
            gate: one.mutant.gate,
            seconds: one.first_killed_at,
            executions: one.first_killed_at.zip(rate).map(|(seconds, rate)| (seconds * rate) as u64),
        };
        let mut killed: Vec<Kill> = scored.iter().filter(is_new).map(kill).collect();
        killed.sort_by(|a, b| a.seconds.unwrap_or(0.0).total_cmp(&b.seconds.unwrap_or(0.0)));
        let beyond = [10.0, 100.0].map(|factor| {
            let is_new = |one: &&ScoredMutant| one.worst_factor.unwrap_or(1.0) >= factor && of_seeds(one).1 < factor;
            scored.iter().filter(is_new).count() as u64
        });
        (killed, beyond)
    }
}

impl Bench {
    /// Ranks the fuzzers.
    pub(super) fn new(header: &BenchHeader, fuzzers: &[Fuzzer], known: &Known, mut campaigns: Vec<Campaign>) -> Self {
        campaigns.sort_by_key(|one| one.seed);
        let standing = |fuzzer: &Fuzzer| {
            let of_fuzzer = campaigns.iter().filter(|one| one.fuzzer == fuzzer.name).cloned();
            Standing::new(fuzzer, of_fuzzer.collect(), known, header.seconds as f64)
        };
        let mut standings: Vec<Standing> = fuzzers.iter().map(standing).collect();
        standings.sort_by(|a, b| b.killed.total_cmp(&a.killed));
        rank(&mut standings);
        Self {
            header: header.clone(),
            mutants: known.all.mutants,
            killed_by_seeds: known.all.killed,
            is_performance: known.is_performance,
            fuzzers: standings,
        }
    }
}

/// Gives fuzzers, the best first, their places, and compares each with the first.
fn rank(standings: &mut [Standing]) {
    let numbers = |one: &Standing| one.campaigns.iter().map(|one| one.killed.len() as f64).collect::<Vec<f64>>();
    let Some(first) = standings.first().map(numbers) else { return };
    let mut place = (1, f64::INFINITY);
    for (number, one) in (1..).zip(standings) {
        if one.killed != place.1 {
            place = (number, one.killed);
        }
        one.rank = place.0;
        if number > 1 {
            let own = numbers(one);
            one.p = Some(mann_whitney(&first, &own));
            one.a12 = Some(a12(&first, &own));
        }
    }
}

impl Standing {
    fn new(fuzzer: &Fuzzer, campaigns: Vec<Campaign>, known: &Known, time: f64) -> Self {
        let of_all = |number: &dyn Fn(&Campaign) -> f64| middle(campaigns.iter().map(number).collect()).unwrap_or(0.0);
        let kills = || campaigns.iter().flat_map(|one| &one.killed);
        let killed = of_all(&|one| one.killed.len() as f64);
        let gates: BTreeMap<u64, f64> = kills()
            .filter_map(|kill| kill.gate)
            .map(|gate| (gate, of_all(&|one| one.killed.iter().filter(|kill| kill.gate == Some(gate)).count() as f64)))
            .collect();
        let by = |seconds: f64| {
            of_all(&|one| one.killed.iter().filter(|kill| kill.seconds.is_some_and(|at| at <= seconds)).count() as f64)
        };
        let times = (0..POINTS).rev().map(|halves| time / f64::from(1 << halves));
        let curve: Vec<Point> = times.map(|seconds| Point { seconds, killed: by(seconds) }).collect();
        let names: BTreeSet<&String> = kills().map(|kill| &kill.mutant).collect();
        Self {
            name: fuzzer.name.clone(),
            title: fuzzer.title.clone(),
            rank: 0,
            killed,
            share: killed / known.open().max(1) as f64,
            killed_by_any: names.len() as u64,
            at_10: of_all(&|one| one.at_10 as f64),
            at_100: of_all(&|one| one.at_100 as f64),
            gates,
            seconds: middle(kills().filter_map(|kill| kill.seconds).collect()),
            executions: middle(kills().filter_map(|kill| kill.executions.map(|number| number as f64)).collect()),
            curve: if known.is_performance { curve } else { Vec::new() },
            p: None,
            a12: None,
            campaigns,
        }
    }
}

/// The median; `None` of nothing.
fn middle(numbers: Vec<f64>) -> Option<f64> {
    (!numbers.is_empty()).then(|| median(&numbers))
}
