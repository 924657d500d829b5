//! `summary.json`: the results of a campaign. The keys are an interface: more may be added, none may change.

use quagmire_cost::{resource::Resource, sizes::RelativeTo};
use quagmire_execution::info::{Engine, Instrumentation};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};

mod client;
mod dictionary;
mod diversity;
mod file;
mod finding;
mod law;
mod machine;
mod masks;
mod sizes;
mod towards;
mod unseen;

pub use client::Client;
pub use dictionary::{Dictionary, Token};
pub use diversity::{Diversity, Validity};
pub use finding::{Finding, FindingCost, FindingKind};
pub use law::{FindingLaw, LawPoint, Minimized, Unexplained};
pub use machine::{Environment, Noise};
pub use masks::{Masks, Rare, Shadow};
pub use sizes::{Large, OrdinaryInput, SizeCost, Sizes, Unconfirmed, WhyUnconfirmed};
pub use towards::TowardsPlace;
pub use unseen::{Unseen, UnseenFunction};

/// Content of `summary.json`. Values that are not known (yet) are `null`, and so are ratios that are not finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of quagmire.
    pub version: String,
    /// Command line, as typed.
    pub command: Vec<String>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Resource that the search follows: `time` or `cycles` with that `--steer`, otherwise `instructions`, which stands for
    /// what `--cost` names.
    #[serde(default = "instructions")]
    pub steer: Resource,
    /// Whether the same seed, inputs and options repeat the search: not on several cores, with `--sync`, or if a measured
    /// resource is followed.
    #[serde(default)]
    pub repeatable: bool,
    /// Name of the campaign, the same in all of its sessions: a random number.
    #[serde(default)]
    pub campaign: String,
    /// Start of the campaign, in RFC 3339; see [`rfc3339`].
    pub started: String,
    /// Duration in seconds, all sessions together.
    pub seconds: f64,
    /// Reason for the end; `null` while the campaign runs.
    pub stopped_by: Option<StoppedBy>,
    /// Runs of the target.
    pub executions: u64,
    /// Executions per second, on average over this session; see [`per_second`].
    pub executions_per_second: f64,
    /// Clients of a campaign on several cores; left out if there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<Client>,
    /// Size limit of inputs at that time, in bytes: it grows if none was asked for.
    #[serde(default)]
    pub size_limit: u64,
    /// Entries of the queue.
    #[serde(default)]
    pub entries: u64,
    /// Entries of the queue that other clients and campaigns have found; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foreign: u64,
    /// The target.
    pub target: Target,
    /// Edges executed by any entry.
    pub edges_found: u64,
    /// Progress slots of comparisons (see [`Target::progress_slots`]) that any entry hit; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub progress_found: u64,
    /// Median cost of the seeds.
    pub baseline: Baseline,
    /// The most expensive input so far.
    pub worst: Option<Worst>,
    /// Reference of `--threshold` and severity.
    #[serde(default)]
    pub relative_to: RelativeTo,
    /// Expected cost of ordinary inputs of each size; `null` before it was measured.
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// Number of confirmed degradations.
    pub degradations: u64,
    /// Number of large inputs: entries that cost more than the median seed by the threshold, but not more than an
    /// ordinary input of their size.
    #[serde(default)]
    pub large: u64,
    /// The most expensive large inputs, one for each function where most instructions are spent, the most expensive
    /// first.
    #[serde(default)]
    pub large_inputs: Vec<Large>,
    /// Inputs above the threshold for their size that were not confirmed, one for each function where most instructions are
    /// spent, the worst first.
    #[serde(default)]
    pub unconfirmed: Vec<Unconfirmed>,
    /// Number of inputs that crash.
    pub faults: u64,
    /// Number of inputs that run into the hang timeout.
    pub hangs: u64,
    /// Applications and finds of each rule.
    pub rules: Vec<Rule>,
    /// Degradations, faults and hangs, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Groups of findings with the same cause, the worst first.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Distribution of each resource over all executions.
    #[serde(default)]
    pub costs: Vec<Distribution>,
    /// Rare branches: those that few runs hit.
    #[serde(default)]
    pub rare: Rare,
    /// Costs and finds of masks.
    #[serde(default)]
    pub masks: Masks,
    /// Success of mutants with and without masks; empty without `--experiment shadow-mask`.
    #[serde(default)]
    pub shadow: Vec<Shadow>,
    /// Places that the search works towards; empty without `--towards`.
    #[serde(default)]
    pub towards: Vec<TowardsPlace>,
    /// Valid runs among mutants and seeds.
    #[serde(default)]
    pub validity: Validity,
    /// Unique traces, and how evenly they cover the branches; `null` without `--diversity`.
    #[serde(default)]
    pub diversity: Option<Diversity>,
    /// Tokens that mutants were made with; `null` if there are none.
    #[serde(default)]
    pub dictionary: Option<Dictionary>,
    /// Code and runs that the counts do not show.
    #[serde(default)]
    pub unseen: Unseen,
    /// The most useful advice on this campaign, in one line; `null` if there is none.
    #[serde(default)]
    pub advice: Option<String>,
    /// Noise of this machine, from comparing an input with itself; `null` if it was not measured.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// Machine and system of the campaign.
    #[serde(default)]
    pub environment: Environment,
}

/// Group of findings with the same cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Cause: the function that grew most, or how a run ended.
    pub title: String,
    /// Indices of its findings in `findings`, the worst first.
    pub findings: Vec<usize>,
}

/// Distribution of the use of one resource, over all executions that returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The resource.
    pub resource: Resource,
    /// Unit of all amounts here: `ns`, `bytes`, or empty for counts.
    pub unit: String,
    /// Median amount of the seeds.
    pub baseline: u64,
    /// Number of runs.
    pub count: u64,
    /// The smallest amount.
    pub min: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median. Percentiles are exact to 1 %.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// The largest amount.
    pub max: u64,
    /// Histogram as (upper bound, runs up to it and above the previous bound), with two to four bounds for each
    /// doubling; empty bins are left out.
    pub histogram: Vec<(u64, u64)>,
}

/// Reason for the end of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// The time limit, `--time`.
    Time,
    /// The limit of executions, `--execs`.
    Execs,
    /// Ctrl-C, or another signal that asks to terminate.
    Signal,
    /// An error, such as a full disk.
    Error,
    /// A finding that was to end it, under libFuzzer's command line.
    Finding,
}

/// The target of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its path, as typed.
    pub program: String,
    /// Way in which it is run.
    pub engine: Engine,
    /// Source of its counts; left out if it is quagmire's pass.
    #[serde(default, skip_serializing_if = "Instrumentation::is_usual")]
    pub instrumentation: Instrumentation,
    /// Number of its edges.
    pub edges: Option<u64>,
    /// Number of steps of comparisons that it reports, if it was built with `QUAGMIRE_COMPARES=1`; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub progress_slots: u64,
}

fn instructions() -> Resource {
    Resource::Instructions
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Median cost and size of the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Instructions of a run.
    pub instructions: Option<u64>,
    /// Seconds of CPU time of a run.
    pub seconds: Option<f64>,
    /// Size in bytes.
    pub bytes: Option<u64>,
}

/// The most expensive input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its CPU time as a multiple of the baseline.
    pub time_ratio: Option<f64>,
    /// Its instructions as a multiple of an ordinary input of its size.
    #[serde(default)]
    pub instructions_ratio_by_size: Option<f64>,
}

/// Applications and finds of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its label, such as `T.10`.
    pub label: String,
    /// Its name, such as `insert_whitespace`.
    pub name: String,
    /// Number of mutants to which it was applied.
    pub applied: u64,
    /// Number of its mutants that were kept.
    pub coverage_increases: u64,
    /// Number of its mutants that are degradations.
    pub degradations: u64,
}

impl Rule {
    /// Creates the entry of a rule that was not applied yet.
    pub fn unused(label: String, name: String) -> Self {
        Self { label, name, applied: 0, coverage_increases: 0, degradations: 0 }
    }
}

/// Executions per second, on average; 0 before any time has passed.
pub fn per_second(executions: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { executions as f64 / time.as_secs_f64() }
}

/// Formats a moment as in `summary.json`: RFC 3339, in UTC, without fractions of a second.
pub fn rfc3339(moment: SystemTime) -> String {
    let moment = jiff::Timestamp::try_from(moment).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    // a fraction adds nothing, and its number of digits varies
    jiff::Timestamp::from_second(moment.as_second()).unwrap_or(moment).to_string()
}

#[cfg(test)]
pub(crate) mod tests;
