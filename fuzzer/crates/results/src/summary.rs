//! `summary.json`: the campaign in numbers. The keys are an interface: more may be added, none may change.

use crate::growth::Growth;
use quagmire_base::atomic::write_whole;
use quagmire_base::error::{Error, Result};
use quagmire_base::files;
use quagmire_cost::{
    judgement::{Severity, Verdict},
    resource::Resource,
    sizes::RelativeTo,
};
use quagmire_execution::info::{Engine, Instrumentation};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime};

mod masks;
mod sizes;

pub use masks::{Masks, Rare, Shadow};
pub use sizes::{Large, OrdinaryInput, SizeCost, Sizes};

/// Everything in `summary.json`. What is not known (yet) is `null`, and so is a ratio that is not a finite number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of quagmire.
    pub version: String,
    /// The command line, as typed.
    pub command: Vec<String>,
    /// The number that all random choices followed from.
    pub seed: u64,
    /// When the campaign started, in RFC 3339; see [`rfc3339`].
    pub started: String,
    /// How long it has run, in seconds, all resumptions together.
    pub seconds: f64,
    /// Why it stopped; nothing while it runs.
    pub stopped_by: Option<StoppedBy>,
    /// Runs of the target.
    pub executions: u64,
    /// Runs of the target per second, on average; see [`per_second`].
    pub executions_per_second: f64,
    /// The clients of a campaign on several cores; left out if there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<Client>,
    /// Entries of the queue.
    #[serde(default)]
    pub entries: u64,
    /// Entries of the queue that other clients and campaigns have found; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foreign: u64,
    /// The target.
    pub target: Target,
    /// Edges executed by any input.
    pub edges_found: u64,
    /// Progress slots of comparisons (see [`Target::progress_slots`]) that any input hit; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub progress_found: u64,
    /// What the seeds cost.
    pub baseline: Baseline,
    /// The worst input so far.
    pub worst: Option<Worst>,
    /// What `--threshold` and severity go by.
    #[serde(default)]
    pub relative_to: RelativeTo,
    /// What ordinary inputs of each size cost; nothing before that was measured.
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// Number of confirmed degradations.
    pub degradations: u64,
    /// Number of kept inputs that cost more than the median seed by the threshold, but not more than an ordinary input of
    /// their size.
    #[serde(default)]
    pub large: u64,
    /// The most expensive of them, one for each function where most instructions are spent, the most expensive first.
    #[serde(default)]
    pub large_inputs: Vec<Large>,
    /// Number of inputs that crash.
    pub faults: u64,
    /// Number of inputs that run into the hang timeout.
    pub hangs: u64,
    /// What each rule did.
    pub rules: Vec<Rule>,
    /// Degradations, faults and hangs, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Findings with the same cause, the worst group first.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// What runs cost, over all executions.
    #[serde(default)]
    pub costs: Vec<Distribution>,
    /// Branches that few runs hit.
    #[serde(default)]
    pub rare: Rare,
    /// Inputs that were held to masks.
    #[serde(default)]
    pub masks: Masks,
    /// Mutants with and without masks; empty without `--shadow-mask`.
    #[serde(default)]
    pub shadow: Vec<Shadow>,
    /// What the same input measured against itself shows on this machine; nothing if it was not measured.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// Where it ran.
    #[serde(default)]
    pub environment: Environment,
}

/// One of the clients of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// The first one, `client-0`, is the campaign itself; the others have folders in `clients/`.
    pub name: String,
    /// Runs of the target.
    pub executions: u64,
    /// Runs of the target per second, on average.
    pub executions_per_second: f64,
    /// Edges executed by any of its inputs.
    pub edges_found: u64,
    /// Entries of its queue.
    pub entries: u64,
}

/// Findings with the same cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What grew: the function, or how a run ended.
    pub title: String,
    /// Places of its findings in `findings`, the worst first.
    pub findings: Vec<usize>,
}

/// How much of a resource runs used, over all executions that returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Which resource.
    pub resource: Resource,
    /// Of all amounts here: `ns`, `bytes`, or nothing for counts.
    pub unit: String,
    /// Of the seeds: their median.
    pub baseline: u64,
    /// Runs.
    pub count: u64,
    /// The smallest amount.
    pub min: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median. Percentiles are exact to 1 %.
    pub p50: u64,
    /// 90 % of the runs used at most this.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// The largest amount.
    pub max: u64,
    /// (upper bound, runs up to it and above the previous one), with two to four bounds for each doubling; those
    /// without runs are left out.
    pub histogram: Vec<(u64, u64)>,
}

/// What the seed measured against itself shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Largest deviation from 1 of the interval of the time ratio: 0.03 is 3 %.
    pub floor: f64,
    /// Times that it was measured.
    pub rounds: u32,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Name and version of the system and its kernel.
    pub system: String,
    /// Model of the processor.
    pub processor: String,
    /// Processors that the campaign could use.
    pub processors: u64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Load average over one minute at the start.
    pub load: f64,
}

/// Why a campaign stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// `--time`.
    Time,
    /// `--execs`.
    Execs,
    /// Ctrl-C, or a request to terminate.
    Signal,
    /// An error, such as a full disk.
    Error,
}

/// The target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its path, as typed.
    pub program: String,
    /// How it is run.
    pub engine: Engine,
    /// What counts in it; left out if it is our pass.
    #[serde(default, skip_serializing_if = "Instrumentation::is_usual")]
    pub instrumentation: Instrumentation,
    /// Edges in it.
    pub edges: Option<u64>,
    /// How many steps of comparisons it shows, if it was built with `QUAGMIRE_COMPARES=1`; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub progress_slots: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What the seeds cost: the median over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Instructions of a run.
    pub instructions: Option<u64>,
    /// Seconds of CPU time of a run.
    pub seconds: Option<f64>,
    /// Size in bytes.
    pub bytes: Option<u64>,
}

/// The worst input.
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

/// What one rule did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its label, such as `T.10`.
    pub label: String,
    /// Its name, such as `insert_whitespace`.
    pub name: String,
    /// How often it was applied.
    pub applied: u64,
    /// How many of its mutants cost more than what was known.
    pub coverage_increases: u64,
    /// How many of its mutants are degradations.
    pub degradations: u64,
}

impl Rule {
    /// A rule that was not applied yet.
    pub fn unused(label: String, name: String) -> Self {
        Self { label, name, applied: 0, coverage_increases: 0, degradations: 0 }
    }
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Costs more than the baseline by the threshold, confirmed.
    Degradation,
    /// Crashes.
    Fault,
    /// Runs into the hang timeout.
    Hang,
}

impl FindingKind {
    /// As in `summary.json` and the logs.
    pub fn label(self) -> &'static str {
        match self {
            Self::Degradation => "degradation",
            Self::Fault => "fault",
            Self::Hang => "hang",
        }
    }
}

/// A degradation, a fault or a hang.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// What a fault or hang was: a signal, `out of memory`, an exit code; nothing for degradations.
    #[serde(default)]
    pub detail: Option<String>,
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The file of its parent, relative to the output folder; nothing for a seed.
    pub parent: Option<String>,
    /// Labels of the rules from its seed to it, in order.
    pub rules: Vec<String>,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its CPU time as a multiple of the baseline.
    pub time_ratio: Option<f64>,
    /// Lower end of the interval around `time_ratio`.
    pub time_ratio_low: Option<f64>,
    /// Upper end of the interval around `time_ratio`.
    pub time_ratio_high: Option<f64>,
    /// Its instructions as a multiple of an ordinary input of its size.
    #[serde(default)]
    pub instructions_ratio_by_size: Option<f64>,
    /// Its CPU time as a multiple of an ordinary input of its size, as that was measured beside it: see `ordinary_input`.
    #[serde(default)]
    pub time_ratio_by_size: Option<f64>,
    /// Lower end of the interval around `time_ratio_by_size`.
    #[serde(default)]
    pub time_ratio_by_size_low: Option<f64>,
    /// Upper end of the interval around `time_ratio_by_size`.
    #[serde(default)]
    pub time_ratio_by_size_high: Option<f64>,
    /// The ratio that severity goes by: the largest among the costs that count, by size or by seed as `relative_to` says.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// What stood for an ordinary input of its size when it was confirmed.
    #[serde(default)]
    pub ordinary_input: Option<OrdinaryInput>,
    /// The function that grew most.
    pub hot_function: Option<String>,
    /// Where in the code, as `file:line`.
    pub hot_location: Option<String>,
    /// The command that shows it.
    pub reproduce: String,
    /// The seed that it goes back to, relative to the output folder.
    #[serde(default)]
    pub root: Option<String>,
    /// When it was found: seconds since the start of the campaign.
    #[serde(default)]
    pub seconds: f64,
    /// When it was found: executions since the start of the campaign.
    #[serde(default)]
    pub executions: u64,
    /// What the judgement of its time is; nothing for faults and hangs.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// How bad it is, by the largest ratio among the costs that count.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Probability that the rank test finds the times this different by chance.
    #[serde(default)]
    pub p_value: Option<f64>,
    /// Each resource: what it used, beside the median seed.
    #[serde(default)]
    pub costs: Vec<FindingCost>,
    /// Where the cost grew against the median seed.
    #[serde(default)]
    pub growth: Growth,
}

impl Finding {
    /// What the worst is chosen by: the ratio that severity goes by, of times, or of instructions where those are not
    /// known; 0 without any.
    pub fn slowness(&self) -> f64 {
        let time = self.time_ratio_by_size.or(self.time_ratio);
        time.or(self.instructions_ratio).filter(|ratio| ratio.is_finite()).unwrap_or(0.0)
    }
}

/// How much of a resource a finding used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingCost {
    /// Which resource.
    pub resource: Resource,
    /// What it used.
    pub amount: u64,
    /// What the median seed used.
    pub baseline: u64,
    /// One as a multiple of the other.
    pub ratio: f64,
    /// What an ordinary input of its size uses.
    #[serde(default)]
    pub ordinary: Option<u64>,
    /// What it used as a multiple of that.
    #[serde(default)]
    pub ratio_by_size: Option<f64>,
}

impl Summary {
    /// The text of `summary.json`.
    pub fn to_json(&self) -> String {
        // strings, numbers and lists of them: nothing in it that has no JSON
        serde_json::to_string_pretty(self).expect("a summary is plain data") + "\n"
    }

    /// Writes `summary.json` whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_whole(path, self.to_json().as_bytes())
    }

    /// Reads `summary.json`.
    ///
    /// # Errors
    /// If it cannot be read or is not a summary.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path, files::LARGEST_TEXT).map_err(|error| {
            Error::other(format!("cannot read {}: {error}; name the output folder of a campaign", path.display()))
        })?;
        serde_json::from_str(&text).map_err(|error| {
            Error::other(format!("{} is not a summary of a campaign ({error}): remove it", path.display()))
        })
    }
}

/// Runs of the target per second on average; 0 before any time has passed.
pub fn per_second(executions: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { executions as f64 / time.as_secs_f64() }
}

/// A moment as in `summary.json`: RFC 3339, in UTC, to the second.
pub fn rfc3339(moment: SystemTime) -> String {
    let moment = jiff::Timestamp::try_from(moment).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    // whole seconds: a fraction adds nothing and its digits vary
    jiff::Timestamp::from_second(moment.as_second()).unwrap_or(moment).to_string()
}

#[cfg(test)]
pub(crate) mod tests;
