//! Result of `quagmire compare`: what exporters render, and `--json` prints. The keys are an interface: more may be added,
//! none may change.

use std::collections::BTreeMap;

use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;
use serde::{Deserialize, Serialize};

/// Comparison of two builds of a program over the same inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of quagmire.
    pub version: String,
    /// Reference of the comparison.
    pub reference: Reference,
    /// The old build; `null` if there is a baseline or a campaign instead.
    pub old: Option<Build>,
    /// The new build.
    pub new: Build,
    /// Ratio of instructions from which on an input is slower.
    pub threshold: f64,
    /// Whether an interruption or `--time` has left something out.
    pub is_incomplete: bool,
    /// Number of inputs by verdict, the gravest first; verdicts without inputs are left out.
    pub verdicts: Vec<VerdictCount>,
    /// The inputs, the gravest first, those of a verdict by ratio.
    pub inputs: Vec<ComparedInput>,
}

/// Reference that a new build is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// Another build, run beside it.
    Build,
    /// A file of costs, by its path.
    Baseline(String),
    /// The findings of a campaign, by its folder.
    Campaign(String),
}

/// A build of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The program and its arguments, as typed.
    pub command: Vec<String>,
    /// Compiler and flags of each part, such as `clang version 14.0.6 -O2`; empty if nothing says so.
    pub settings: Vec<String>,
    /// Source of its counts.
    pub instrumentation: Instrumentation,
}

/// Number of inputs with one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCount {
    /// The verdict.
    pub verdict: ComparisonVerdict,
    /// Number of inputs.
    pub inputs: u64,
}

/// Verdict on one input, the gravest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonVerdict {
    /// Cost grows faster with size than it did.
    LawWorse,
    /// Crashes, exits or runs out of memory, and did not.
    NewCrash,
    /// Runs into the hang timeout, and did not.
    NewHang,
    /// Costs more, in instructions and in CPU time.
    Slower,
    /// Runs of one build differ, so that nothing can be said.
    Unstable,
    /// Not measured to the end.
    Unfinished,
    /// A regression that is known and accepted for now.
    Tolerated,
    /// Costs more CPU time but not more instructions: a note.
    TimeOnly,
    /// Ended early or was slow, and does not any more.
    Fixed,
    /// Costs less.
    Faster,
    /// No difference that matters.
    #[default]
    Same,
}

impl ComparisonVerdict {
    /// All verdicts, the gravest first.
    pub const ALL: [Self; 11] = [
        Self::LawWorse,
        Self::NewCrash,
        Self::NewHang,
        Self::Slower,
        Self::Unstable,
        Self::Unfinished,
        Self::Tolerated,
        Self::TimeOnly,
        Self::Fixed,
        Self::Faster,
        Self::Same,
    ];

    /// Whether it makes `compare` end with the exit code of a regression.
    pub fn is_regression(self) -> bool {
        matches!(self, Self::LawWorse | Self::NewCrash | Self::NewHang | Self::Slower)
    }

    /// Verdict in words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::LawWorse => "law worse",
            Self::NewCrash => "new crash",
            Self::NewHang => "new hang",
            Self::Slower => "slower",
            Self::Unstable => "unstable",
            Self::Unfinished => "unfinished",
            Self::Tolerated => "tolerated",
            Self::TimeOnly => "time only",
            Self::Fixed => "fixed",
            Self::Faster => "faster",
            Self::Same => "same",
        }
    }
}

/// Comparison of two builds on one input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedInput {
    /// Its path, as found.
    pub path: String,
    /// SHA-256 of its contents, in hexadecimal digits.
    pub hash: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The verdict.
    pub verdict: ComparisonVerdict,
    /// Why, in a sentence without a full stop.
    pub reason: String,
    /// Run of the old build; `null` if it is not known.
    pub old: Option<RunFigures>,
    /// Run of the new build; `null` if there was none.
    pub new: Option<RunFigures>,
    /// Instructions of the new build as a multiple of the old one's; `null` unless both returned.
    pub ratio: Option<f64>,
    /// CPU time of the new build as a multiple of the old one's; `null` if it was not measured.
    pub time: Option<TimeRatio>,
    /// Growth of both builds with size; `null` unless the verdict is `law-worse`.
    pub law: Option<LawChange>,
    /// Functions whose instructions moved, those that grew most first.
    pub moved: Vec<MovedFunction>,
    /// Why it is tolerated, or was until a date; `null` if nothing says so.
    pub tolerance: Option<Tolerance>,
    /// Command that shows what it costs in the new build.
    pub reproduce: String,
}

/// Figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// How it ended, as in `replay`.
    pub status: String,
    /// Details of an early end, such as the signal.
    #[serde(default)]
    pub detail: Option<String>,
    /// Amounts of all resources that every run gives the same of.
    pub costs: BTreeMap<Resource, u64>,
}

/// Ratio of CPU times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeRatio {
    /// Ratio of the medians.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// p-value of the rank test that the new build takes longer.
    pub p_value: f64,
    /// Measured times of each build.
    pub samples: u64,
    /// Median seconds of a run of the old build.
    pub old_seconds: f64,
    /// Median seconds of a run of the new build.
    pub new_seconds: f64,
}

/// Growth of both builds with size: that of a template, or over the inputs as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LawChange {
    /// Part of the input that was repeated, as it stands in the template; empty over the inputs as they are.
    pub pump: String,
    /// Template of the inputs that were run.
    #[serde(default)]
    pub template: String,
    /// Function that shows it; `null` for the whole program.
    pub function: Option<String>,
    /// Exponent of the growth in the old build at the largest sizes.
    pub old_exponent: f64,
    /// Exponent of the growth in the new build at the largest sizes.
    pub new_exponent: f64,
    /// Instructions by size.
    pub sizes: Vec<LawPoint>,
}

impl LawChange {
    /// The size that grows, for people.
    pub fn along(&self) -> String {
        match self.pump.is_empty() {
            true => "bytes of the inputs".to_owned(),
            false => format!("repetitions of {}", self.pump),
        }
    }
}

/// Instructions at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LawPoint {
    /// Repetitions of the pump; without one, the size.
    pub repetitions: u64,
    /// Size of the whole input in bytes.
    pub bytes: u64,
    /// Instructions of the old build.
    pub old: u64,
    /// Instructions of the new build.
    pub new: u64,
}

/// Function whose instructions moved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedFunction {
    /// Its name, demangled.
    pub function: String,
    /// `file:line` of the line that grew most in the new build; `null` without debug information.
    pub location: Option<String>,
    /// Executed instructions in the old build.
    pub old_instructions: u64,
    /// Executed instructions in the new build.
    pub new_instructions: u64,
    /// Executions of that line in the old build; `null` if the function's lines are others there.
    pub old_count: Option<u64>,
    /// Executions of that line in the new build.
    pub new_count: u64,
}

/// Why a regression is tolerated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tolerance {
    /// The verdict that it would have.
    pub verdict: ComparisonVerdict,
    /// The reason given.
    pub reason: String,
    /// Last day on which it holds, such as `2027-01-31`.
    pub expires: String,
    /// Whether that day has passed, so that the verdict stands.
    pub has_expired: bool,
}

impl Comparison {
    /// Text of the result as JSON, with a line feed at its end.
    pub fn to_json(&self) -> String {
        // cannot fail: it consists of strings, numbers, and lists and records of them
        serde_json::to_string_pretty(self).expect("a comparison is plain data") + "\n"
    }

    /// Number of inputs with a verdict.
    pub fn count(&self, verdict: ComparisonVerdict) -> u64 {
        self.verdicts.iter().filter(|one| one.verdict == verdict).map(|one| one.inputs).sum()
    }

    /// Sorts the inputs, and counts them by verdict.
    pub fn settle(&mut self) {
        let growth = |one: &ComparedInput| one.ratio.filter(|ratio| ratio.is_finite()).unwrap_or(0.0);
        self.inputs
            .sort_by(|a, b| a.verdict.cmp(&b.verdict).then(growth(b).total_cmp(&growth(a))).then(a.path.cmp(&b.path)));
        let number = |verdict| self.inputs.iter().filter(|one| one.verdict == verdict).count() as u64;
        let counts = ComparisonVerdict::ALL.map(|verdict| VerdictCount { verdict, inputs: number(verdict) });
        self.verdicts = counts.into_iter().filter(|one| one.inputs > 0).collect();
    }
}
