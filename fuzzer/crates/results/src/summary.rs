//! `summary.json`: the results of a campaign, and the one snapshot of it. The screen, AFL's files, metrics and reports are
//! renderings of it. The keys are an interface: more may be added, none may change.

mod finding;

pub(crate) use finding::is_superlinear;
pub use finding::{Finding, FindingCost, FindingKind, FindingLaw, LawPoint, Minimized, Unexplained};

use std::{
    ops::AddAssign,
    path::Path,
    time::{Duration, SystemTime},
};

use quagmire_base::{
    atomic::write_whole,
    error::{Error, Result},
    files,
};
use quagmire_cost::{resource::Resource, sizes::RelativeTo};
use quagmire_execution::{
    diversity::trace::TraceKind,
    info::{Engine, Instrumentation},
};
use quagmire_mutators::kinds::{GoalKind, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Content of `summary.json`. Values that are not known (yet) are `null`, and so are ratios that are not finite. Paths are
/// relative to the output folder. Further keys may be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of quagmire.
    pub version: String,
    /// Command line, as typed.
    pub command: Vec<String>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Resource that the search follows: `time` or `cycles` with that `--steer`, `time` or `resident` with `--uninstrumented`,
    /// otherwise `instructions`, which stands for what `--cost` names.
    pub steer: Resource,
    /// Whether the same seed, inputs and options repeat the search: not on several cores, with `--sync`, with `--steer time` or
    /// `cycles`, or with `--uninstrumented`.
    pub repeatable: bool,
    /// Name of the campaign, the same in all of its sessions: a random number. Its checkpoint and its findings name it, too.
    pub campaign: String,
    /// Start of the campaign, in RFC 3339, in UTC.
    pub started: String,
    /// Duration in seconds, all sessions together.
    pub seconds: f64,
    /// Reason for the end; `null` while the campaign runs.
    pub stopped_by: Option<StoppedBy>,
    /// Runs of the target.
    pub executions: u64,
    /// Executions per second, on average over this session.
    pub executions_per_second: f64,
    /// Clients of a campaign on several cores; left out if there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<Client>,
    /// Size limit of inputs at that time, in bytes: it grows if none was asked for.
    pub size_limit: u64,
    /// Entries of the queue.
    pub entries: u64,
    /// Entries of the queue that other clients and campaigns have found; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foreign: u64,
    /// The target.
    pub target: Target,
    /// Edges executed by any entry.
    pub edges_found: u64,
    /// Steps of comparisons that any entry reached; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub progress_found: u64,
    /// Median cost of the seeds.
    pub baseline: Baseline,
    /// The most expensive input so far.
    pub worst: Option<Worst>,
    /// Reference of `--threshold` and severity: an ordinary input of the same size, or the median seed.
    pub relative_to: RelativeTo,
    /// Expected cost of ordinary inputs of each size; `null` before it was measured.
    pub sizes: Option<Sizes>,
    /// Number of confirmed degradations.
    pub degradations: u64,
    /// Number of large inputs: entries that cost more than the median seed by the threshold, but not more than an
    /// ordinary input of their size.
    pub large: u64,
    /// The most expensive large inputs, one for each function where most instructions are spent, the most expensive
    /// first.
    pub large_inputs: Vec<Large>,
    /// Inputs above the threshold for their size that were not confirmed, one for each function where most instructions are
    /// spent, the worst first.
    pub unconfirmed: Vec<Unconfirmed>,
    /// Number of inputs that crash.
    pub faults: u64,
    /// Number of inputs that run into the hang timeout.
    pub hangs: u64,
    /// Applications and finds of each rule.
    pub rules: Vec<Rule>,
    /// Degradations, faults and hangs, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Groups of findings with the same cause, the worst group first, and in it the worst finding, or one made of a template
    /// that is nearly as bad.
    pub groups: Vec<Group>,
    /// Distribution of each resource over all executions.
    pub costs: Vec<Distribution>,
    /// Rare branches: those that few runs hit.
    pub rare: Rare,
    /// Costs and finds of masks.
    pub masks: Masks,
    /// Success of mutants with and without masks; empty without `--experiment shadow-mask`.
    pub shadow: Vec<Shadow>,
    /// Places that the search works towards; empty without `--towards` and `--towards-patch`.
    pub towards: Vec<TowardsPlace>,
    /// Valid runs among mutants and seeds.
    pub validity: Validity,
    /// Unique traces, and how evenly they cover the branches; `null` without `--diversity`.
    pub diversity: Option<Diversity>,
    /// Tokens that mutants were made with; `null` if there are none.
    pub dictionary: Option<Dictionary>,
    /// Code and runs that the counts do not show.
    pub unseen: Unseen,
    /// The most useful advice on this campaign, in one line; `null` if there is none.
    pub advice: Option<String>,
    /// Noise of this machine, from comparing an input with itself; `null` if it was not measured.
    pub noise: Option<Noise>,
    /// Machine and system of the campaign.
    pub environment: Environment,
    /// State that only the screen and AFL's files show; it is not in the file.
    #[serde(skip)]
    pub live: Live,
}

/// State of a campaign that only the screen and AFL's files show. Times are since the start of the campaign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// Name of the target, without its folders.
    pub target: String,
    /// Current phase of the campaign.
    pub phase: &'static str,
    /// Time that the campaign may run.
    pub limit: Duration,
    /// Start of the first session, in Unix time.
    pub started: Duration,
    /// Time of this state, in Unix time.
    pub now: Duration,
    /// Process id of the fuzzer.
    pub process: u32,
    /// Timeout of one run.
    pub hang_timeout: Duration,
    /// Number of passes over the whole queue.
    pub cycles: u64,
    /// Position in the current pass.
    pub current: u64,
    /// Entries that are mutated: the top-rated ones.
    pub active: u64,
    /// Entries that have not been mutated yet, and the top-rated ones of them.
    pub pending: [u64; 2],
    /// Entries that are neither seeds nor imported.
    pub found: u64,
    /// Longest chain of parents; 1 for a seed.
    pub depth: u64,
    /// Cost of the worst input as a multiple of the baseline, by what the search follows.
    pub worst_ratio: f64,
    /// Cost of that input as a multiple of an ordinary input of its size, once that is known.
    pub worst_ratio_by_size: Option<f64>,
    /// CPU time of the worst input that was measured, as a multiple of the baseline.
    pub worst_time_ratio: Option<f64>,
    /// Where the worst finding spends its cost: a place of the program, and then that of a library below it; empty if that is
    /// not known.
    pub spent_in: Vec<String>,
    /// The latest finding; `None` if there is none.
    pub last_found: Option<LastFound>,
    /// Time of the latest entry with a new edge or a new largest cost.
    pub last_new: Option<Duration>,
    /// Time of the latest fault.
    pub last_fault: Option<Duration>,
    /// Time of the latest hang.
    pub last_hang: Option<Duration>,
}

/// The latest finding of a campaign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastFound {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Ratio that severity is computed from; `None` for faults and hangs.
    pub ratio: Option<f64>,
    /// Time since it was found.
    pub ago: Duration,
}

impl Summary {
    /// Time that the campaign has run.
    pub fn elapsed(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }

    /// Text of `summary.json`, with a line feed at its end.
    pub fn to_json(&self) -> String {
        // cannot fail: a summary consists of strings, numbers, and lists and records of them
        serde_json::to_string_pretty(self).expect("a summary is plain data") + "\n"
    }

    /// Writes `summary.json` atomically.
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

    /// Reads the summary in the output folder of a campaign, as a user names it.
    ///
    /// # Errors
    /// If it is not the output folder of a campaign, or has no summary yet.
    pub fn of_campaign(out: &Path) -> Result<Self> {
        let path = out.join("summary.json");
        if path.is_file() {
            return Self::read(&path);
        }
        let shown = out.display();
        Err(Error::other(if out.is_dir() {
            format!(
                "{shown} holds no summary.json: name the output folder of a campaign, or wait for its first seconds"
            )
        } else {
            format!("there is no folder {shown}: name the output folder of a campaign")
        }))
    }
}

/// Group of findings with the same cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Cause: the function that grew most, or how a run ended.
    pub title: String,
    /// Indices of its findings in `findings`, the worst first.
    pub findings: Vec<usize>,
}

/// Distribution of the use of one resource, over all executions that returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Median cost and size of the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Instructions of a run.
    pub instructions: Option<u64>,
    /// Seconds of CPU time of a run.
    pub seconds: Option<f64>,
    /// Size in bytes.
    pub bytes: Option<u64>,
}

/// The most expensive input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub instructions_ratio_by_size: Option<f64>,
}

/// Applications and finds of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Figures of one client of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Client {
    /// Name: `client-0` is the campaign itself; the others have folders in `clients/`.
    pub name: String,
    /// Runs of the target.
    pub executions: u64,
    /// Runs of the target per second, on average.
    pub executions_per_second: f64,
    /// Edges executed by any of its entries.
    pub edges_found: u64,
    /// Entries of its queue.
    pub entries: u64,
}

/// Expected cost of ordinary inputs of each size, measured with seeds, parts of them, and several of them joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sizes {
    /// Number of seeds that were measured.
    pub seeds: u64,
    /// Number of runs that were measured.
    pub runs: u64,
    /// Size of the largest input that was measured, in bytes.
    pub largest: u64,
    /// Expected amounts of each deterministic resource.
    pub costs: Vec<SizeCost>,
}

/// Expected amount of one resource: `fixed + per_byte x bytes`, and not less than the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeCost {
    /// The resource.
    pub resource: Resource,
    /// Amount at size 0.
    pub fixed: f64,
    /// Amount for each byte, the median over the seeds.
    pub per_byte: f64,
    /// Amount for each byte of expensive content: the cost that nine tenths of the pieces of the seeds do not exceed.
    /// The threshold refers to that.
    pub per_byte_high: f64,
}

/// An input that costs more than the median seed because it is larger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Large {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its instructions as a multiple of an ordinary input of its size.
    pub instructions_ratio_by_size: Option<f64>,
}

/// Reason why an input above the threshold is no degradation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyUnconfirmed {
    /// There was no time to measure it.
    NotMeasured,
    /// Its time did not tell it from the inputs that it was compared with.
    NotConfirmed,
    /// It did not return when it was run by itself.
    DidNotReturn,
    /// Parts of the seeds cost as much for their size.
    LikeSeeds,
    /// Its cost is in proportion to its size, and below the threshold for such content.
    Dense,
}

impl WhyUnconfirmed {
    /// The reason, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NotMeasured => "not measured in time",
            Self::NotConfirmed => "its time did not confirm it",
            Self::DidNotReturn => "it did not return when it was run by itself",
            Self::Dense => "its half costs half as much: expensive content, in proportion to its size",
            Self::LikeSeeds => "parts of the seeds cost as much for their size",
        }
    }
}

/// An input above the threshold for its size that was not confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unconfirmed {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Largest ratio among the resources of `--cost`; by size or by seed as `relative_to` says.
    pub ratio: f64,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its instructions as a multiple of an ordinary input of its size.
    pub instructions_ratio_by_size: Option<f64>,
    /// Reason why it is no degradation.
    pub why: WhyUnconfirmed,
}

/// Input that served as an ordinary input of a finding's size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OrdinaryInput {
    /// Its file, relative to the output folder: joined seeds, or the median seed.
    pub path: String,
    /// Factor on its times: 1 if it executes as many instructions as are expected of such an input.
    pub scale: f64,
}

/// Rare branches, as in FairFuzz; on several cores, of those that the first client works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rare {
    /// Number of rare branches now.
    pub branches: u64,
    /// Rarity cutoff: branches with no more hits are rare.
    pub cutoff: u64,
    /// Rare branches that are left alone for a while: they could not be hit again, or are too expensive.
    pub paused: u64,
    /// Number of times that ordinary mutation took over since rare branches brought nothing new.
    pub bootstraps: u64,
}

/// Costs and finds of masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Masks {
    /// Inputs that got a mask for a goal, after they were trimmed to it.
    pub computed: u64,
    /// Bytes of these inputs, after trimming.
    pub bytes: u64,
    /// Executions for computing masks.
    pub executions: u64,
    /// Executions for trimming.
    pub trimming: u64,
    /// Mutants made with a mask.
    pub mutants: u64,
    /// Mutants made with a mask that reached its goal.
    pub hits: u64,
    /// Mutants made with a mask that were kept.
    pub kept: u64,
}

impl AddAssign for Masks {
    fn add_assign(&mut self, other: Self) {
        let Self { computed, bytes, executions, trimming, mutants, hits, kept } = other;
        self.computed += computed;
        self.bytes += bytes;
        self.executions += executions;
        self.trimming += trimming;
        self.mutants += mutants;
        self.hits += hits;
        self.kept += kept;
    }
}

/// Success of mutants of one kind, with a mask and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shadow {
    /// Kind of goal.
    pub goal: GoalKind,
    /// Same kind, under the key of earlier versions.
    pub target: GoalKind,
    /// Stage that made the mutants.
    pub stage: Source,
    /// Mutants with a mask.
    pub masked_mutants: u64,
    /// Mutants with a mask that reached the goal.
    pub masked_hits: u64,
    /// Mutants without a mask.
    pub plain_mutants: u64,
    /// Mutants without a mask that reached the goal.
    pub plain_hits: u64,
}

impl Shadow {
    /// Adds the rows of another client to those of the same kind.
    pub fn add_all(rows: &mut Vec<Self>, others: &[Self]) {
        for other in others {
            let Some(row) = rows.iter_mut().find(|row| (row.target, row.stage) == (other.target, other.stage)) else {
                rows.push(*other);
                continue;
            };
            row.masked_mutants += other.masked_mutants;
            row.masked_hits += other.masked_hits;
            row.plain_mutants += other.plain_mutants;
            row.plain_hits += other.plain_hits;
        }
        rows.sort_by_key(|row| (row.target, row.stage));
    }
}

/// A place of `--towards` or `--towards-patch`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TowardsPlace {
    /// The place: as typed, or the file and the lines that a patch changes.
    pub place: String,
    /// Number of edges in its code.
    pub edges: u64,
    /// Number of executions that hit it, which is that of the edge that most of them hit.
    pub hits: u64,
    /// Executions until one hit it, that one included; on several cores, of the client that needed the fewest. `null` if it was
    /// never hit.
    pub first_hit: Option<u64>,
    /// Instructions there of the most expensive seed, or of the first entry that hits it if no seed does. `null` before. This
    /// and the next two are of the client with the most expensive entry.
    pub first_instructions: Option<u64>,
    /// Instructions there of the most expensive entry.
    pub most_instructions: Option<u64>,
    /// Executions until an entry took at least twice `first_instructions` there. `null` if none did.
    pub doubled: Option<u64>,
}

impl TowardsPlace {
    /// Adds the figures of another client to those of the same places.
    pub fn add_all(places: &mut [Self], others: &[Self]) {
        for other in others {
            let Some(place) = places.iter_mut().find(|place| place.place == other.place) else { continue };
            place.hits += other.hits;
            place.first_hit = place.first_hit.into_iter().chain(other.first_hit).min();
            if other.most_instructions > place.most_instructions {
                place.first_instructions = other.first_instructions;
                place.most_instructions = other.most_instructions;
                place.doubled = other.doubled;
            }
        }
    }
}

/// Valid runs among mutants and seeds; on several cores, of the first client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validity {
    /// Number of valid runs.
    pub valid: u64,
    /// Number of runs that were not valid.
    pub invalid: u64,
    /// Number of edges that valid entries execute.
    pub valid_edges: u64,
}

impl Validity {
    /// Share of the runs that were valid, 0 to 1; `None` before the first run.
    pub fn share(&self) -> Option<f64> {
        let all = self.valid + self.invalid;
        (all > 0).then(|| self.valid as f64 / all as f64)
    }
}

/// Unique traces of mutants and seeds in this session, and Hill numbers over the valid ones; on several cores, of the
/// first client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diversity {
    /// Difference that makes two traces distinct.
    pub trace: TraceKind,
    /// Number of distinct traces.
    pub unique_traces: u64,
    /// Number of distinct traces of valid runs.
    pub unique_valid_traces: u64,
    /// B(0): the number of branches that valid traces cover.
    pub b0: f64,
    /// B(1): their effective number by Shannon's entropy.
    pub b1: f64,
    /// B(2): their effective number by Simpson's index.
    pub b2: f64,
    /// Whether the set of traces is full, so that new ones are not counted any more.
    pub is_full: bool,
}

/// Tokens that mutants were made with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dictionary {
    /// Number of tokens: those of `--dict`, the constants that the code compares with, and words that runs have compared.
    pub tokens: u64,
    /// Tokens that are oftener in an entry than in its parent, where tokens were put in; those in most entries first.
    pub useful: Vec<Token>,
}

/// A token with its success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// The token, escaped as in dictionaries of AFL: `\x00`.
    pub token: String,
    /// Number of entries with it.
    pub entries: u64,
}

/// Code and runs that the counts do not show. Shares are of the time of runs, and `null` where it was not sampled: of programs in processes
/// of their own, and before there are enough samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unseen {
    /// Number of samples of what runs executed.
    pub samples: u64,
    /// Share of the time in code of the program and its libraries that has no counts.
    pub uncounted_share: Option<f64>,
    /// Share of the time in libraries of the system, without the functions whose costs their callers are charged with.
    pub system_share: Option<f64>,
    /// Functions of both in which most of that time is spent, the first of them most.
    pub functions: Vec<UnseenFunction>,
    /// Runs that were compared with the first one, while that was done.
    pub runs: u64,
    /// Those of them that executed the same edges as often, within AFL's buckets.
    pub runs_alike: u64,
    /// Edges that the first run executed.
    pub edges: u64,
    /// Warning in words if part of the program is not seen; then "no degradation" holds for counted code only.
    pub warning: Option<String>,
}

/// Function without counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnseenFunction {
    /// Its demangled name.
    pub function: String,
    /// File name of its program or library.
    pub object: String,
    /// Share of the time of runs.
    pub share: f64,
}

/// Noise of time measurements on this machine: a seed compared with itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// Largest deviation from 1 of the interval of the time ratio: 0.03 is 3 %.
    pub floor: f64,
    /// Number of rounds of the measurement.
    pub rounds: u32,
}

/// Machine and system that a campaign ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Name and version of the system and its kernel.
    pub system: String,
    /// Model of the processor.
    pub processor: String,
    /// Processors that the campaign could use.
    pub processors: u64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Load average over one minute at the start of the campaign.
    pub load: f64,
}

#[cfg(test)]
mod tests;
