//! What `replay` prints: a table for people, JSON for programs (and for the campaign itself).

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};

use super::{
    against::{self, Against, against},
    attribution::{Attribution, LeftOut},
    growth,
    measure::{Input, Measurement},
    source::SourceFile,
};
use quagmire_base::{
    error::{Error, Result},
    format::{grouped, short},
    plain::{self, Form},
    terminal::terminal_width,
};
use quagmire_cost::{
    decision::Question,
    judgement::{Severity, Verdict, judge, noise_floor},
    resource::Resource,
    statistics::{median, median_interval, ratio_of_medians},
};
use quagmire_execution::{info::Instrumentation, lines::LineCost, perf};

/// All inputs; ratios are against the first one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Of the program that printed it.
    pub version: String,
    /// In the order in which they were given.
    pub inputs: Vec<InputReport>,
    /// What the first input shows against itself, which no difference can be told from: 0.02 is 2 %. Null if it was not
    /// measured.
    #[serde(default)]
    pub noise_floor: Option<f64>,
    /// What counts in the target; left out if it is our pass.
    #[serde(default, skip_serializing_if = "Instrumentation::is_usual")]
    pub instrumentation: Instrumentation,
    /// The source files that were asked for: all their lines are among those of the inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotated: Vec<SourceFile>,
}

/// One input.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InputReport {
    /// As given.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// See [`Measurement::status`].
    pub status: String,
    /// What more is known of an early end.
    pub detail: Option<String>,
    /// Instructions of one run.
    pub instructions: u64,
    /// Smallest and largest over all runs.
    pub instructions_range: (u64, u64),
    /// Sum of all edge counts of one run.
    pub edges: u64,
    /// Largest edge count of one run.
    pub hottest_edge: u64,
    /// Edges that it hits.
    pub edges_hit: u64,
    /// What one run used of each resource.
    #[serde(default)]
    pub costs: BTreeMap<Resource, u64>,
    /// CPU seconds of a run, round by round.
    pub seconds: Vec<f64>,
    /// Their median.
    pub seconds_median: f64,
    /// Lower end of the median's 95 % interval.
    pub seconds_low: f64,
    /// Upper end.
    pub seconds_high: f64,
    /// Instructions over those of the first input.
    pub instructions_ratio: f64,
    /// CPU time over that of the first input; null where either was not timed.
    pub time_ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub time_ratio_low: Option<f64>,
    /// Upper end.
    pub time_ratio_high: Option<f64>,
    /// What its time comes to beside that of the first input; null for the first.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// How much more it costs.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Of the rank test, one-sided.
    #[serde(default)]
    pub p_value: Option<f64>,
    /// Why the verdict is what it is, in one line.
    #[serde(default)]
    pub explanation: Option<String>,
    /// Of the last input, if that was asked for: what it comes to beside each of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Against>,
    /// How often it was timed: the length of `seconds`.
    #[serde(default)]
    pub rounds: u64,
    /// What the hardware counted in one run, the medians: `hw-instructions` and `hw-cycles`, where the machine has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// The most expensive first; not all of a large program.
    pub functions: Vec<FunctionReport>,
    /// The most expensive first; not all of a large program.
    #[serde(default)]
    pub lines: Vec<LineCost>,
    /// Lines that were executed and are not among `lines`.
    #[serde(default)]
    pub lines_left_out: LeftOut,
}

/// One function of one input: see [`quagmire_execution::lines::FunctionCost`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionReport {
    /// Demangled name.
    pub function: String,
    /// `file:line` of its most expensive line, with debug information.
    pub location: Option<String>,
    /// How often its most executed line was executed.
    #[serde(default)]
    pub count: u64,
    /// In all its lines.
    pub instructions: u64,
    /// Of the run's instructions, 0 to 1.
    pub share: f64,
}

impl Report {
    /// Compares all inputs with the first, and the last one with whatever `question` asks for.
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
        let mut of_first = Some(first.attribution.clone().as_first_of(&others, &annotated));
        let one = |(index, (input, m)): (usize, (&Input, &Measurement))| {
            let is_judged = index > 0 && !m.seconds.is_empty() && !first.seconds.is_empty();
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
                severity: judgement.map(|j| j.severity),
                p_value: judgement.map(|j| j.p_value),
                explanation: judgement.map(|j| j.explanation()),
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
        Self { version, inputs, noise_floor, instrumentation, annotated }
    }
}

/// Of one run; time is the median of all.
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

/// Medians of what the hardware counted.
fn counters(measured: &Measurement) -> BTreeMap<String, u64> {
    if measured.counters.is_empty() {
        return BTreeMap::new();
    }
    let middle = |at: usize| median(&measured.counters.iter().map(|amounts| amounts[at]).collect::<Vec<f64>>()) as u64;
    perf::NAMES.iter().enumerate().map(|(at, name)| (name.to_string(), middle(at))).collect()
}

/// A time in the unit that suits it.
fn seconds(value: f64) -> String {
    match value {
        v if v >= 1.0 => format!("{v:.2} s"),
        v if v >= 1e-3 => format!("{:.2} ms", v * 1e3),
        v => format!("{:.2} us", v * 1e6),
    }
}

fn bytes(amount: u64) -> String {
    format!("{} B", grouped(amount))
}

/// What stands before the values of the table.
const COLUMN: &str = "                ";

/// The verdict on an input, and why.
fn verdict(input: &InputReport, width: usize) -> String {
    let (Some(verdict), Some(severity), Some(p)) = (input.verdict, input.severity, input.p_value) else {
        return String::new();
    };
    let p = if p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {p:.4}") };
    let severity = if verdict == Verdict::Degradation { format!(", {}", severity.words()) } else { String::new() };
    let indented = textwrap::Options::new(width).initial_indent(COLUMN).subsequent_indent(COLUMN);
    let why = textwrap::fill(input.explanation.as_deref().unwrap_or_default(), indented);
    format!("  verdict       {}{severity}   rank test p {p}\n{why}\n", verdict.words())
}

/// Functions shown per input.
const SHOWN_FUNCTIONS: usize = 5;

/// Width of the table if nobody knows that of the terminal, in columns.
pub(super) const USUAL_WIDTH: usize = 100;

fn for_people(report: &Report) -> String {
    let width = terminal_width(&std::io::stdout()).unwrap_or(USUAL_WIDTH);
    let mut text = String::new();
    for (index, input) in report.inputs.iter().enumerate() {
        let _ = writeln!(text, "{}  {} bytes", plain::shown(&input.path), grouped(input.bytes));
        if input.status != "returned" {
            let detail = input.detail.as_deref().map_or(String::new(), |d| format!(" ({d})"));
            let _ = writeln!(text, "  status        {}{detail}", input.status);
        }
        let against = |ratio: String| if index == 0 { String::new() } else { format!("   {ratio} the first") };
        let (low, high) = input.instructions_range;
        let range =
            if low < high { format!("   varies from {} to {}", grouped(low), grouped(high)) } else { String::new() };
        let ratio = against(format!("{:.2} x", input.instructions_ratio));
        let counted = report.instrumentation;
        let label = if counted.is_usual() { counted.work() } else { "executed" };
        let _ = writeln!(text, "  {label:<13} {}{ratio}{range}", grouped(input.instructions));
        if !input.seconds.is_empty() {
            let ratio = match (input.time_ratio, input.time_ratio_low, input.time_ratio_high) {
                (Some(value), Some(low), Some(high)) => against(format!("{value:.2} x [{low:.2}, {high:.2}]")),
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "  {:<13} {} [{}, {}] over {} runs{ratio}",
                counted.time(),
                seconds(input.seconds_median),
                seconds(input.seconds_low),
                seconds(input.seconds_high),
                input.seconds.len(),
            );
        }
        if let Some(floor) = report.noise_floor.filter(|_| index == 0) {
            let _ = writeln!(text, "  noise floor   {:.1} %, by timing this input against itself", floor * 100.0);
        }
        text.push_str(&verdict(input, width));
        text.push_str(&against::in_words(&input.against, COLUMN, width));
        for (name, amount) in &input.counters {
            let _ = writeln!(text, "  {name:<13} {}", grouped(*amount));
        }
        let amount = |resource: Resource| input.costs.get(&resource).copied().unwrap_or(0);
        if counted.measures(Resource::Heap) {
            let _ = writeln!(
                text,
                "  memory        heap {} at most, {} in all; stack {}",
                bytes(amount(Resource::Heap)),
                bytes(amount(Resource::HeapTotal)),
                bytes(amount(Resource::Stack)),
            );
        }
        let _ = writeln!(
            text,
            "  edges         {} hit, {} executed, the hottest {} times",
            grouped(input.edges_hit),
            grouped(input.edges),
            grouped(input.hottest_edge)
        );
        if let Some(&lines) = input.costs.get(&Resource::Lines) {
            let first = report.inputs.first().and_then(|first| first.costs.get(&Resource::Lines));
            let ratio =
                first.map_or(String::new(), |&first| against(format!("{:.2} x", Resource::Lines.ratio(lines, first))));
            let _ = writeln!(text, "  lines         {} executed{ratio}", grouped(lines));
        }
        for function in input.functions.iter().take(SHOWN_FUNCTIONS) {
            let at = function.location.as_deref().map_or(String::new(), |l| format!("  at {l}"));
            let _ = writeln!(text, "  {:5.1} %  {}{at}", function.share * 100.0, short(&function.function));
        }
        if let Some(first) = report.inputs.first().filter(|_| index > 0) {
            text += &quagmire_results::growth::table(&growth::growth(first, input), width);
        }
    }
    text
}

/// Prints to standard output.
pub fn print(report: &Report, json: bool) -> Result<()> {
    if !json {
        return print_text(&for_people(report), Form::Lines);
    }
    let json = serde_json::to_string_pretty(report);
    print_text(&(json.map_err(|error| Error::other(format!("cannot write JSON: {error}")))? + "\n"), Form::Json)
}

/// Prints to standard output; a closed pipe is no error.
pub fn print_text(text: &str, form: Form) -> Result<()> {
    plain::print(text, form).map_err(|error| Error::other(format!("cannot print: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_the_unit_that_suits_them() {
        assert_eq!(seconds(0.0000015), "1.50 us");
        assert_eq!(seconds(0.25), "250.00 ms");
    }
}
