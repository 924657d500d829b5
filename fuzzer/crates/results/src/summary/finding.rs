//! A finding: a degradation, a fault or a hang.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OrdinaryInput;
use crate::growth::{Grown, Growth};
use quagmire_cost::{
    judgement::{Severity, Verdict},
    resource::Resource,
};

/// Kind of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Exceeds the threshold, confirmed.
    #[default]
    Degradation,
    /// Crashes, exits, or exceeds the memory limit.
    Fault,
    /// Runs into the hang timeout.
    Hang,
}

impl FindingKind {
    /// Name in `summary.json` and the logs.
    pub fn label(self) -> &'static str {
        match self {
            Self::Degradation => "degradation",
            Self::Fault => "fault",
            Self::Hang => "hang",
        }
    }
}

/// A degradation, a fault or a hang. The default has nothing measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// Way in which a fault or hang ended: a signal, `out of memory`, an exit code; `null` for degradations.
    pub detail: Option<String>,
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// File of its parent, relative to the output folder; `null` for a seed.
    pub parent: Option<String>,
    /// Labels of the rules that lead from its seed to it, in order.
    pub rules: Vec<String>,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its CPU time as a multiple of the baseline.
    pub time_ratio: Option<f64>,
    /// Lower end of the 95 % interval of `time_ratio`.
    pub time_ratio_low: Option<f64>,
    /// Upper end of the 95 % interval of `time_ratio`.
    pub time_ratio_high: Option<f64>,
    /// Its instructions as a multiple of an ordinary input of its size.
    pub instructions_ratio_by_size: Option<f64>,
    /// Its CPU time as a multiple of that of an ordinary input of its size, measured beside it; see `ordinary_input`.
    pub time_ratio_by_size: Option<f64>,
    /// Lower end of the 95 % interval of `time_ratio_by_size`.
    pub time_ratio_by_size_low: Option<f64>,
    /// Upper end of the 95 % interval of `time_ratio_by_size`.
    pub time_ratio_by_size_high: Option<f64>,
    /// Ratio that severity is computed from: the largest among the resources of `--cost`, by size or by seed as
    /// `relative_to` says.
    pub ratio: Option<f64>,
    /// Input that served as an ordinary input of its size when it was confirmed.
    pub ordinary_input: Option<OrdinaryInput>,
    /// Function that grew most: of the program where one of its functions grew, otherwise of a library.
    pub hot_function: Option<String>,
    /// Location of its line that grew most, as `file:line`.
    pub hot_location: Option<String>,
    /// Command that reproduces it.
    pub reproduce: String,
    /// File of the seed that it descends from, relative to the output folder.
    pub root: Option<String>,
    /// Time of the find, in seconds since the start of the campaign.
    pub seconds: f64,
    /// Time of the find, in executions since the start of the campaign.
    pub executions: u64,
    /// Verdict on its time; `null` for faults and hangs.
    pub verdict: Option<Verdict>,
    /// Severity by `ratio`: `minor` below 2, `moderate` below 10, `severe` below 100, `critical` above.
    pub severity: Option<Severity>,
    /// p-value of the rank test: the probability of times this different by chance.
    pub p_value: Option<f64>,
    /// Use of each resource, beside the median seed's.
    pub costs: Vec<FindingCost>,
    /// Places in the code where the cost grew against the median seed.
    pub growth: Growth,
    /// Outline of its parts, by the grammar or by the draws of the harness: what repeats is shown once. Empty without
    /// either.
    pub parts: Vec<String>,
    /// Law by which its cost grows, if it was looked for and found: of the first finding of each group.
    pub law: Option<FindingLaw>,
    /// Reason why there is no law, if it was looked for.
    pub no_law: Option<Unexplained>,
    /// Literal parts and parts that repeat, which make up the finding and larger ones; see the book, Growth.
    pub template: Option<String>,
    /// Smallest input with the same cause, if it was looked for and found.
    pub minimized: Option<Minimized>,
    /// Reason why there is no smallest input, if it was looked for.
    pub no_smallest: Option<Unexplained>,
}

impl Finding {
    /// Value by which the worst finding is chosen: the time ratio, by size where that is known, or the instructions
    /// ratio without one; 0 without any.
    pub fn slowness(&self) -> f64 {
        let time = self.time_ratio_by_size.or(self.time_ratio);
        time.or(self.instructions_ratio).filter(|ratio| ratio.is_finite()).unwrap_or(0.0)
    }

    /// Ratio that determines its severity, or else the largest known one.
    pub fn badness(&self) -> Option<f64> {
        let ratio = self.ratio.filter(|ratio| ratio.is_finite());
        let known = [self.instructions_ratio, self.time_ratio].into_iter().flatten();
        let all = known.chain(self.costs.iter().map(|cost| cost.ratio));
        ratio.or_else(|| all.filter(|ratio| ratio.is_finite()).reduce(f64::max))
    }

    /// The slowest degradation; `None` without any.
    pub fn slowest(findings: &[Self]) -> Option<&Self> {
        let slow = findings.iter().filter(|finding| finding.kind == FindingKind::Degradation);
        slow.max_by(|a, b| a.slowness().total_cmp(&b.slowness()))
    }

    /// Interval of `time_ratio`, if it is known.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.time_ratio_low.zip(self.time_ratio_high)
    }

    /// Interval of `time_ratio_by_size`, if it is known.
    pub fn interval_by_size(&self) -> Option<(f64, f64)> {
        self.time_ratio_by_size_low.zip(self.time_ratio_by_size_high)
    }

    /// Function that grew most, of whatever library; where that is not known, the one in which it ended. It is what tells one
    /// cause from another: a function of the program may call several slow ones.
    pub fn innermost_function(&self) -> Option<&str> {
        self.growth.hottest().map(|grown| grown.function.as_str()).or(self.hot_function.as_deref())
    }

    /// Line of a library that grew most, below the place of the program that comes first; `None` if there is none.
    pub fn below(&self) -> Option<&Grown> {
        let below = self.growth.place()?.below?;
        // findings of an earlier version name the library's first
        (self.hot_function.as_deref() != Some(&below.function)).then_some(below)
    }

    /// The cost that made it a finding: the one whose multiple is [`Self::ratio`]; `None` if that is not known.
    pub fn decisive(&self) -> Option<&FindingCost> {
        let ratio = self.ratio.filter(|ratio| ratio.is_finite())?;
        let is_it = |cost: &&FindingCost| (cost.multiple() - ratio).abs() <= ratio.abs() * 1e-9;
        self.costs.iter().find(is_it)
    }
}

/// Use of one resource by a finding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingCost {
    /// The resource.
    pub resource: Resource,
    /// Amount that the finding used.
    pub amount: u64,
    /// Amount that the median seed used.
    pub baseline: u64,
    /// `amount` as a multiple of `baseline`.
    pub ratio: f64,
    /// Amount expected of an ordinary input of its size.
    pub ordinary: Option<u64>,
    /// `amount` as a multiple of `ordinary`.
    pub ratio_by_size: Option<f64>,
}

impl FindingCost {
    /// Its amount as a multiple of an ordinary input's of its size, or of the median seed's where that is not known.
    pub fn multiple(&self) -> f64 {
        self.ratio_by_size.unwrap_or(self.ratio)
    }
}

/// Law by which the cost of a finding grows with how often the pump of its template repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingLaw {
    /// The law in words, such as `exactly quadratic in the number of "["`.
    pub words: String,
    /// Name of its class, such as `quadratic` or `n log n`.
    pub class: String,
    /// The resource whose amount grows.
    pub resource: Resource,
    /// Confidence: `high`, `medium` or `low`.
    pub confidence: String,
    /// Class of another law that does as well.
    pub rival: Option<String>,
    /// Number of repetitions from which the law holds; `null` if it holds from the smallest that was run.
    pub onset: Option<u64>,
    /// Number of repetitions from which the cost does not grow any more.
    pub cap: Option<u64>,
    /// Expected size in bytes of an input that takes a second of CPU time.
    pub bytes_of_second: Option<u64>,
    /// Expected size in bytes of an input that takes a minute of CPU time.
    pub bytes_of_minute: Option<u64>,
    /// Command in one line that prints such an input; the number of repetitions is its argument.
    pub generator: Option<String>,
    /// Number of repetitions, size in bytes, and amount of each run.
    pub points: Vec<LawPoint>,
}

impl FindingLaw {
    /// Whether it says why an input is slow, and is no guess: it is steeper than linear, and its confidence is not low.
    pub fn is_telling(&self) -> bool {
        is_superlinear(&self.class) && self.confidence != "low"
    }
}

/// Whether amounts of the class of such a name grow faster than the size, by more than a logarithm.
pub(crate) fn is_superlinear(class: &str) -> bool {
    match class.strip_prefix("n^").and_then(|exponent| exponent.parse::<f64>().ok()) {
        Some(exponent) => exponent > 1.0,
        None => !matches!(class, "constant" | "log n" | "logarithmic" | "linear" | "n log n"),
    }
}

/// A run of a template.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LawPoint {
    /// How often the pump repeats.
    pub n: u64,
    /// Size of the input in bytes.
    pub bytes: u64,
    /// Amount of the resource that was used.
    pub amount: u64,
    /// Amount that the law says.
    pub expected: f64,
}

impl LawPoint {
    /// Number of repetitions of the first of these runs with at least so many bytes, for laws of bytes; `bytes` if there is
    /// none.
    pub fn repetitions_of(runs: &[Self], bytes: u64) -> u64 {
        runs.iter().find(|run| run.bytes >= bytes).map_or(bytes, |run| run.n)
    }
}

/// Reason why the law or the smallest input of a finding is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unexplained {
    /// The reason in a sentence, without a full stop.
    pub why: String,
    /// Command that looks for it once more, with more time.
    pub command: String,
    /// Whether it was looked for to the end; if not, the time was up or the user asked for the end.
    pub tried: bool,
}

/// The smallest input that is known to be slow for the same reason as a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Minimized {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Instructions of its run.
    pub instructions: u64,
    /// Runs of the target that were made for it.
    pub executions: u64,
}
