//! The report of `replay`: measurements, verdicts and comparisons of each input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    against::{Against, against},
    attribution::{Attribution, LeftOut},
    explanation::explanation,
    measure::Input,
    measurement::Measurement,
    source::SourceFile,
};
use quagmire_cost::{
    decision::Question,
    judgement::{Severity, Verdict, judge, noise_floor},
    resource::Resource,
    statistics::{median, median_interval, ratio_of_medians},
};
use quagmire_execution::{info::Instrumentation, lines::LineCost, perf};

/// Results of all inputs; ratios are relative to the first one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Version of quagmire.
    pub version: String,
    /// Results in the order of the inputs.
    pub inputs: Vec<InputReport>,
    /// Relative difference that the first input shows against itself, below which differences mean nothing: 0.02 is 2
    /// %. Null if it was not measured.
    #[serde(default)]
    pub noise_floor: Option<f64>,
    /// Reason why inputs have no `counters`; omitted if they have some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_counters: Option<String>,
    /// Source of the target's counts; omitted if it is quagmire's pass.
    #[serde(default, skip_serializing_if = "Instrumentation::is_usual")]
    pub instrumentation: Instrumentation,
    /// The requested source files, all of whose lines are among those of the inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotated: Vec<SourceFile>,
}

/// Results of one input.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InputReport {
    /// Path, as given.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// How its runs ended: see [`Measurement::status`].
    pub status: String,
    /// Details of an early end, such as the signal.
    pub detail: Option<String>,
    /// Instructions of one run.
    pub instructions: u64,
    /// Minimum and maximum of the instructions over all runs.
    pub instructions_range: (u64, u64),
    /// Sum of all edge counts of one run.
    pub edges: u64,
    /// Largest edge count of one run.
    pub hottest_edge: u64,
    /// Number of edges that it hits.
    pub edges_hit: u64,
    /// Cost of one run by resource.
    #[serde(default)]
    pub costs: BTreeMap<Resource, u64>,
    /// CPU seconds of a run, by sample.
    pub seconds: Vec<f64>,
    /// Median of `seconds`.
    pub seconds_median: f64,
    /// Lower end of the median's 95 % interval.
    pub seconds_low: f64,
    /// Upper end of the median's 95 % interval.
    pub seconds_high: f64,
    /// Instructions as a multiple of the first input's.
    pub instructions_ratio: f64,
    /// CPU time as a multiple of the first input's; null if either was not timed.
    pub time_ratio: Option<f64>,
    /// Lower end of the time ratio's 95 % interval.
    pub time_ratio_low: Option<f64>,
    /// Upper end of the time ratio's 95 % interval.
    pub time_ratio_high: Option<f64>,
    /// Verdict on its time compared with the first input's; null for the first, and if a run of either did not return.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Reason why it has no verdict, such as `the run hung`; omitted if it has one, and for the first input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_verdict: Option<String>,
    /// Severity of the degradation.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// P value of the one-sided rank test.
    #[serde(default)]
    pub p_value: Option<f64>,
    /// Reasons for the verdict, in one line.
    #[serde(default)]
    pub explanation: Option<String>,
    /// For the last input, if asked for: judgements against each of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Against>,
    /// Number of samples: the length of `seconds`.
    #[serde(default)]
    pub rounds: u64,
    /// Medians of the hardware counts of one run: `hw-instructions` and `hw-cycles`, if the machine has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// Functions, the most expensive first; reduced for large programs.
    pub functions: Vec<FunctionReport>,
    /// Lines, the most expensive first; reduced for large programs.
    #[serde(default)]
    pub lines: Vec<LineCost>,
    /// Executed lines that are not in `lines`.
    #[serde(default)]
    pub lines_left_out: LeftOut,
}

/// Cost of one function: see [`quagmire_execution::lines::FunctionCost`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionReport {
    /// Demangled name.
    pub function: String,
    /// `file:line` of its most expensive line, if there is debug information.
    pub location: Option<String>,
    /// Number of executions of its most executed line.
    #[serde(default)]
    pub count: u64,
    /// Instructions in all its lines.
    pub instructions: u64,
    /// Share of the run's instructions, 0 to 1.
    pub share: f64,
}

impl Report {
    /// Compares all inputs with the first, and the last one with others as `question` asks.
    pub fn new(
        inputs: &[Input],
        measured: &[Measurement],
        question: Question,
        instrumentation: Instrumentation,
    ) -> Self {
        let first = measured.first().cloned().unwrap_or_default();
        let noise_floor = noise_floor(&first.seconds);
        let annotated = measured.iter().map(|m| &m.sources).find(|sources| !sources.is_empty()).cloned();
        let annotated = annotated.unwrap_or_default();
        let others: Vec<&Attribution> = measured.iter().skip(1).map(|m| &m.attribution).collect();
        let mut of_first = Some(first.attribution.clone().first_of(&others, &annotated));
        let one = |(index, (input, m)): (usize, (&Input, &Measurement))| {
            let no_verdict = if index > 0 { no_verdict(&first, m) } else { None };
            let is_judged = index > 0 && no_verdict.is_none() && !m.seconds.is_empty() && !first.seconds.is_empty();
            let judgement = is_judged.then(|| judge(&m.seconds, &first.seconds, noise_floor));
            let attribution = of_first.take().unwrap_or_else(|| m.attribution.clone());
            let seconds = median_interval(&m.seconds);
            let ratio = (!m.seconds.is_empty() && !first.seconds.is_empty())
                .then(|| ratio_of_medians(&m.seconds, &first.seconds));
            let functions = attribution.functions.into_iter().map(|f| FunctionReport {
                function: f.function,
                location: f.location,
                count: f.count,
                instructions: f.instructions,
                share: f.instructions as f64 / m.cost[Resource::Instructions].max(1) as f64,
            });
            InputReport {
                path: input.path.display().to_string(),
                bytes: input.bytes.len() as u64,
                status: m.status.clone(),
                detail: m.detail.clone(),
                instructions: m.cost[Resource::Instructions],
                instructions_range: m.instructions_range,
                edges: m.cost[Resource::Edges],
                hottest_edge: m.cost[Resource::HottestEdge],
                edges_hit: m.edges_hit,
                costs: costs(m, seconds.value, instrumentation),
                functions: functions.collect(),
                lines: attribution.lines,
                lines_left_out: attribution.left_out,
                seconds: m.seconds.clone(),
                seconds_median: seconds.value,
                seconds_low: seconds.low,
                seconds_high: seconds.high,
                instructions_ratio: m.cost[Resource::Instructions] as f64
                    / first.cost[Resource::Instructions].max(1) as f64,
                time_ratio: ratio.map(|r| r.value),
                time_ratio_low: ratio.map(|r| r.low),
                time_ratio_high: ratio.map(|r| r.high),
                verdict: judgement.map(|j| j.verdict),
                no_verdict,
                severity: judgement.map(|j| j.severity),
                p_value: judgement.map(|j| j.p_value),
                explanation: judgement.as_ref().map(explanation),
                against: if index + 1 == inputs.len() {
                    against(inputs, measured, question, noise_floor)
                } else {
                    Vec::new()
                },
                rounds: m.seconds.len() as u64,
                counters: counters(m),
            }
        };
        let inputs = inputs.iter().zip(measured).enumerate().map(one).collect();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { version, inputs, noise_floor, no_counters: None, instrumentation, annotated }
    }
}

/// Reason why the times of an input cannot be compared with the first one's; `None` if they can.
fn no_verdict(first: &Measurement, input: &Measurement) -> Option<String> {
    match (input.early_end(), first.early_end()) {
        (Some(end), _) => Some(format!("the run {end}")),
        (None, Some(end)) => Some(format!("the run of the first input {end}")),
        (None, None) => None,
    }
}

/// Cost of one run by resource; time is the median of all samples.
fn costs(measured: &Measurement, seconds: f64, instrumentation: Instrumentation) -> BTreeMap<Resource, u64> {
    let mut cost = measured.cost;
    if !measured.seconds.is_empty() {
        cost[Resource::Time] = (seconds * 1e9) as u64;
    }
    cost[Resource::Lines] = measured.attribution.executed_lines;
    let is_measured = |resource: &Resource| {
        instrumentation.measures(*resource) && (resource.is_always_measured() || cost[*resource] > 0)
    };
    Resource::ALL.into_iter().filter(is_measured).map(|resource| (resource, cost[resource])).collect()
}

/// Medians of the hardware counts.
fn counters(measured: &Measurement) -> BTreeMap<String, u64> {
    if measured.counters.is_empty() {
        return BTreeMap::new();
    }
    let middle = |at: usize| median(&measured.counters.iter().map(|amounts| amounts[at]).collect::<Vec<f64>>()) as u64;
    perf::NAMES.iter().enumerate().map(|(at, name)| (name.to_string(), middle(at))).collect()
}
