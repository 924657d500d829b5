//! Output of `replay`: a table for people, JSON for programs (and for the campaign itself).

use std::fmt::Write as _;

use super::{
    against, growth,
    report::{InputReport, Report},
};
use quagmire_base::{
    error::{Error, Result},
    format::{grouped, short},
    plain::{self, Form},
    terminal::terminal_width,
};
use quagmire_cost::{decision::Question, judgement::Verdict, resource::Resource};

/// Formats a time in a suitable unit.
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

fn for_people(report: &Report, question: Question) -> String {
    let width = terminal_width(&std::io::stdout()).unwrap_or(USUAL_WIDTH);
    let is_last_asked = question != Question::First;
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

/// Prints a report to standard output, as a table or as JSON.
pub(crate) fn print(report: &Report, question: Question, json: bool) -> Result<()> {
    if !json {
        return print_text(&for_people(report, question), Form::Lines);
    }
    let json = serde_json::to_string_pretty(report);
    print_text(&(json.map_err(|error| Error::other(format!("cannot write JSON: {error}")))? + "\n"), Form::Json)
}

/// Prints to standard output; a closed pipe is no error.
pub(crate) fn print_text(text: &str, form: Form) -> Result<()> {
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
