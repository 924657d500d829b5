//! Result of a bench, and what its folder keeps.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::log::Header as ScoreHeader;

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
