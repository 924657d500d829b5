//! The result as text for people.

use std::fmt::Write as _;

use quagmire_base::{
    format::{counted, grouped, ratio, short},
    plain::shown,
};
use quagmire_cost::resource::Resource;
use quagmire_results::comparison::{Build, ComparedInput, Comparison, ComparisonVerdict as Verdict, Reference};

/// Inputs shown for each verdict.
const MOST_INPUTS: usize = 20;
/// Functions shown for each input.
const MOST_FUNCTIONS: usize = 3;

/// Lines about the builds, each input that is not the same, and how many there are of each verdict.
pub(super) fn table(comparison: &Comparison) -> String {
    let mut text = String::new();
    let of = match (&comparison.old, &comparison.reference) {
        (Some(old), _) => name(old),
        (None, Reference::Baseline(file)) => format!("baseline {}", shown(file)),
        (None, Reference::Campaign(folder)) => format!("campaign {}", shown(folder)),
        (None, Reference::Build) => String::new(),
    };
    let _ = writeln!(text, "old  {of}\nnew  {}\n", name(&comparison.new));
    for verdict in Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::Same) {
        let mut of_verdict: Vec<&ComparedInput> =
            comparison.inputs.iter().filter(|one| one.verdict == verdict).collect();
        of_verdict.sort_by(|a, b| change(b).total_cmp(&change(a)));
        of_verdict.iter().take(MOST_INPUTS).for_each(|input| text += &one(input));
        if of_verdict.len() > MOST_INPUTS {
            let more = counted((of_verdict.len() - MOST_INPUTS) as u64, "input");
            let _ = writeln!(text, "{:<11} {more} more: --json shows all\n", verdict.words());
        }
    }
    let counts: Vec<String> =
        comparison.verdicts.iter().map(|one| format!("{} {}", grouped(one.inputs), one.verdict.words())).collect();
    let _ = writeln!(text, "{}: {}", counted(comparison.inputs.len() as u64, "input"), counts.join(", "));
    text
}

/// How far an input has changed, in either direction: by counts, or else by time.
fn change(input: &ComparedInput) -> f64 {
    let ratio = input.ratio.or(input.time.as_ref().map(|time| time.value)).unwrap_or(1.0);
    ratio.max(f64::MIN_POSITIVE).ln().abs()
}

/// Program and settings of a build.
fn name(build: &Build) -> String {
    let command: Vec<String> = build.command.iter().map(|word| shown(word)).collect();
    let settings = if build.settings.is_empty() { String::new() } else { format!("  ({})", build.settings.join("; ")) };
    format!("{}{}", command.join(" "), shown(&settings))
}

/// Lines about one input.
fn one(input: &ComparedInput) -> String {
    let mut text = format!("{:<11} {}  {}\n", input.verdict.words(), shown(&input.path), counted(input.bytes, "byte"));
    let mut line = |words: String| {
        let _ = writeln!(text, "            {}", shown(&words));
    };
    line(input.reason.clone());
    let amount = |run: &Option<quagmire_results::comparison::RunFigures>| {
        run.as_ref().and_then(|run| run.costs.get(&Resource::Instructions).copied())
    };
    if let (Some(value), Some(old), Some(new)) = (input.ratio, amount(&input.old), amount(&input.new)) {
        line(format!("instructions {} -> {}   {}", grouped(old), grouped(new), ratio(value)));
    }
    if let Some(time) = &input.time {
        let [old, new] = [time.old_seconds, time.new_seconds].map(crate::print::seconds);
        let [value, low, high] = [time.value, time.low, time.high].map(ratio);
        line(format!("CPU time {old} -> {new}   {value} [{low}, {high}]"));
    }
    if let Some(law) = &input.law
        && let Some(last) = law.sizes.last()
    {
        let (size, old, new) = (counted(last.bytes, "byte"), grouped(last.old), grouped(last.new));
        line(format!("{size}: {old} -> {new}   {}", ratio(last.new as f64 / last.old.max(1) as f64)));
    }
    for function in input.moved.iter().take(MOST_FUNCTIONS) {
        let at = function.location.as_ref().map_or_else(String::new, |at| format!("  at {at}"));
        let (old, new) = (function.old_instructions, function.new_instructions);
        line(format!("{} -> {}  {}{at}", grouped(old), grouped(new), short(&function.function)));
    }
    if let Some(tolerance) = &input.tolerance {
        let (verdict, reason, expires) = (tolerance.verdict.words(), &tolerance.reason, &tolerance.expires);
        line(match tolerance.has_expired {
            true => format!("was tolerated until {expires}: {reason}"),
            false => format!("{verdict}, tolerated until {expires}: {reason}"),
        });
    }
    if input.verdict.is_regression() {
        line(input.reproduce.clone());
    }
    text.push('\n');
    text
}
