//! Output of `replay`: a table for people, JSON for programs (and for the campaign itself).

use std::fmt::Write as _;

use super::{
    against, grown,
    report::{InputReport, Report},
};
use quagmire_base::{
    error::Result,
    format::{counted, grouped, ratio, short},
    plain::{self, Form},
    terminal::terminal_width,
};
use quagmire_cost::{
    decision::Question,
    judgement::{LEAST_EFFECT, Verdict},
    resource::Resource,
};

pub(crate) use quagmire_base::plain::print as print_text;

/// Formats a time in a suitable unit.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        v if v >= 1.0 => format!("{v:.2} s"),
        v if v >= 1e-3 => format!("{:.2} ms", v * 1e3),
        v => format!("{:.2} us", v * 1e6),
    }
}

fn bytes(amount: u64) -> String {
    format!("{} B", grouped(amount))
}

/// Indentation of the table's values.
const COLUMN: &str = "                ";

/// Formats the verdict on an input, with its reasons.
fn verdict(input: &InputReport, width: usize) -> String {
    if let Some(why) = &input.no_verdict {
        return format!("  verdict       none: {why}\n");
    }
    let (Some(verdict), Some(severity), Some(p)) = (input.verdict, input.severity, input.p_value) else {
        return String::new();
    };
    let p = if p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {p:.4}") };
    let severity = if verdict == Verdict::Degradation { format!(", {}", severity.words()) } else { String::new() };
    let indented = textwrap::Options::new(width).initial_indent(COLUMN).subsequent_indent(COLUMN);
    let why = textwrap::fill(input.explanation.as_deref().unwrap_or_default(), indented);
    format!("  verdict       {}{severity}   rank test p {p}\n{why}\n", verdict.words())
}

/// Number of functions shown per input.
const SHOWN_FUNCTIONS: usize = 5;

/// Width of the table in columns if that of the terminal is unknown.
pub(super) const USUAL_WIDTH: usize = 100;

/// Longest part of a template that is shown, in characters.
pub(crate) const LONGEST_TEMPLATE: usize = 400;

fn for_people(report: &Report, question: Question, width: usize) -> String {
    let is_last_asked = question != Question::First;
    let mut text = String::new();
    for (index, input) in report.inputs.iter().enumerate() {
        let _ = writeln!(text, "{}  {}", plain::shown(&input.path), counted(input.bytes, "byte"));
        if input.status != "returned" {
            let detail = input.detail.as_deref().map_or(String::new(), |d| format!(" ({d})"));
            let _ = writeln!(text, "  status        {}{detail}", input.status);
        }
        if report.instrumentation.counts() {
            text += &work(report, index);
        }
        text += &time(report, index);
        if index == 0 {
            text += &noise(report);
        }
        // with several to be compared with, the verdict asked for is that on the last one
        if !is_last_asked || index + 1 == report.inputs.len() {
            text.push_str(&verdict(input, width));
        }
        // the first judgement is that against the first input, unless that one did not return
        let others = input.against.get(usize::from(input.no_verdict.is_none())..).unwrap_or_default();
        text.push_str(&against::in_words(others, COLUMN, width));
        for (name, amount) in &input.counters {
            let _ = writeln!(text, "  {name:<13} {}", grouped(*amount));
        }
        text += &resources(report, index);
        for function in input.functions.iter().take(SHOWN_FUNCTIONS) {
            let at = function.location.as_deref().map_or(String::new(), |l| format!("  at {l}"));
            let _ = writeln!(text, "  {:5.1} %  {}{at}", function.share * 100.0, short(&function.function));
        }
        if let Some(first) = report.inputs.first().filter(|_| index > 0) {
            text += &quagmire_results::growth::table(&grown::growth(first, input), width);
        }
    }
    text
}

/// Line of the noise floor, if verdicts depend on it.
fn noise(report: &Report) -> String {
    match report.noise_floor {
        Some(floor) if floor > LEAST_EFFECT && report.inputs.len() > 1 => format!(
            "  noise floor   {:.1} %: smaller differences in time count as no change; an idle machine has less noise\n",
            floor * 100.0
        ),
        _ => String::new(),
    }
}

/// Adds the reference to the ratios of all inputs but the first.
fn of_first(index: usize, ratio: &str) -> String {
    if index == 0 { String::new() } else { format!("   {ratio} the first") }
}

/// Line of the instructions.
fn work(report: &Report, index: usize) -> String {
    let input = &report.inputs[index];
    let (low, high) = input.instructions_range;
    let range =
        if low < high { format!("   varies from {} to {}", grouped(low), grouped(high)) } else { String::new() };
    let label = if report.instrumentation.is_usual() { report.instrumentation.work() } else { "executed" };
    let ratio = of_first(index, &ratio(input.instructions_ratio));
    format!("  {label:<13} {}{ratio}{range}\n", grouped(input.instructions))
}

/// Line of the time; empty for an input that was not timed.
fn time(report: &Report, index: usize) -> String {
    let input = &report.inputs[index];
    if input.seconds.is_empty() {
        return String::new();
    }
    let ratio = match (input.time_ratio, input.time_ratio_low, input.time_ratio_high) {
        (Some(value), Some(low), Some(high)) => {
            of_first(index, &format!("{} [{}, {}]", ratio(value), ratio(low), ratio(high)))
        }
        _ => String::new(),
    };
    let [middle, low, high] = [input.seconds_median, input.seconds_low, input.seconds_high].map(seconds);
    let runs = counted(input.seconds.len() as u64, "run");
    format!("  {:<13} {middle} [{low}, {high}] over {runs}{ratio}\n", report.instrumentation.time())
}

/// Lines of memory, edges and source lines.
fn resources(report: &Report, index: usize) -> String {
    let input = &report.inputs[index];
    let amount = |resource: Resource| input.costs.get(&resource).copied().unwrap_or(0);
    let mut text = String::new();
    if !report.instrumentation.counts() {
        let resident = amount(Resource::Resident);
        let first = report.inputs[0].costs.get(&Resource::Resident).copied().unwrap_or(0);
        let ratio = of_first(index, &ratio(Resource::Resident.ratio(resident, first)));
        return format!("  memory        {} at most{ratio}\n", bytes(resident));
    }
    if report.instrumentation.measures(Resource::Heap) {
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
        "  edges         {} hit, {} executed, the hottest {}",
        grouped(input.edges_hit),
        grouped(input.edges),
        counted(input.hottest_edge, "time")
    );
    if let Some(&lines) = input.costs.get(&Resource::Lines) {
        let first = report.inputs[0].costs.get(&Resource::Lines);
        let ratio = first.map_or(String::new(), |&first| of_first(index, &ratio(Resource::Lines.ratio(lines, first))));
        let _ = writeln!(text, "  lines         {} executed{ratio}", grouped(lines));
    }
    text
}

/// Prints a report to standard output, as a table or as JSON.
pub(crate) fn print(report: &Report, question: Question, json: bool) -> Result<()> {
    if !json {
        let width = terminal_width(&std::io::stdout()).unwrap_or(USUAL_WIDTH);
        return plain::print(&for_people(report, question, width), Form::Lines);
    }
    plain::print_json(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Report of a seed, and of an input of one byte with many times its costs.
    fn report() -> Report {
        let input = |path: &str, bytes, factor: u64, seconds: Vec<f64>| InputReport {
            path: path.to_owned(),
            bytes,
            status: "returned".to_owned(),
            instructions: 2_000 * factor,
            instructions_range: (2_000 * factor, 2_000 * factor),
            instructions_ratio: factor as f64,
            edges: 100 * factor,
            hottest_edge: factor,
            edges_hit: 7,
            costs: [(Resource::Lines, 50 * factor)].into(),
            seconds_median: seconds[0],
            seconds_low: seconds[0],
            seconds_high: seconds[0],
            seconds,
            ..InputReport::default()
        };
        let slow = InputReport {
            time_ratio: Some(37_451_838.0),
            time_ratio_low: Some(999.96),
            time_ratio_high: Some(41.38),
            verdict: Some(Verdict::NoChange),
            severity: Some(quagmire_cost::judgement::Severity::Critical),
            p_value: Some(0.5),
            explanation: Some("37,451,838x the time of the first".to_owned()),
            ..input("slow", 1, 1_234_567, vec![2.5])
        };
        Report {
            version: "0".to_owned(),
            inputs: vec![input("seed", 2_000, 1, vec![25e-9, 26e-9]), slow],
            noise_floor: Some(0.155),
            no_counters: Some("none on this machine".to_owned()),
            instrumentation: quagmire_execution::info::Instrumentation::Counts,
            annotated: Vec::new(),
        }
    }

    #[test]
    fn numbers_are_grouped_and_one_of_a_thing_is_singular() {
        insta::assert_snapshot!(for_people(&report(), Question::First, USUAL_WIDTH));
    }

    #[test]
    fn noise_is_shown_where_a_verdict_depends_on_it() {
        let shown = |floor, inputs| {
            let mut report = Report { noise_floor: floor, ..report() };
            report.inputs.truncate(inputs);
            for_people(&report, Question::First, USUAL_WIDTH).contains("noise floor")
        };
        assert!(shown(Some(0.155), 2));
        // a difference of less than 5 % does not matter anyway, and a single input is compared with nothing
        assert!(!shown(Some(0.042), 2) && !shown(Some(0.155), 1) && !shown(None, 2));
    }

    #[test]
    fn times_are_shown_in_the_unit_that_suits_them() {
        assert_eq!(seconds(0.0000015), "1.50 us");
        assert_eq!(seconds(0.25), "250.00 ms");
    }
}
