//! The end of a campaign in words: what was found and where to look.

use super::format::{clock, counted, grouped, rate, ratio, short};
use super::summary::{FindingKind, Rule, StoppedBy, Summary};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Rules named at the end.
const RULES: usize = 4;

/// `T.11 repeat_whitespace 34 (2 of them degradations)`
fn rule_in_words(rule: &Rule) -> String {
    let name = if rule.name == rule.label { String::new() } else { format!(" {}", rule.name) };
    let of_them = match rule.degradations {
        0 => String::new(),
        degradations => format!(", {}", counted(degradations, "degradation")),
    };
    format!("{}{name}: {} of {}{of_them}", rule.label, grouped(rule.coverage_increases), grouped(rule.applied))
}

/// What was found and where to look, in at most twenty lines, with the command that reproduces the worst.
/// `output` is the output folder as the user typed it.
pub fn final_report(summary: &Summary, output: &Path) -> String {
    let mut text = String::new();
    let stopped = match summary.stopped_by {
        Some(StoppedBy::Time) => "time is up",
        Some(StoppedBy::Execs) => "all executions done",
        Some(StoppedBy::Signal) => "stopped on request",
        Some(StoppedBy::Error) => "stopped by an error",
        None => "so far",
    };
    let _ = writeln!(
        text,
        "{}, {}, {} in {} ({}).",
        counted(summary.degradations, "degradation"),
        counted(summary.faults, "fault"),
        counted(summary.hangs, "hang"),
        clock(Duration::try_from_secs_f64(summary.seconds).unwrap_or_default()),
        stopped,
    );
    let _ = writeln!(
        text,
        "{}, {}/s, {} found; seed {}.",
        counted(summary.executions, "execution"),
        rate(summary.executions_per_second),
        counted(summary.edges_found, "edge"),
        summary.seed,
    );
    if let Some(worst) = &summary.worst {
        let finding = summary.findings.iter().find(|finding| finding.path == worst.path);
        let _ =
            writeln!(text, "\nWorst input: {} ({})", output.join(&worst.path).display(), counted(worst.bytes, "byte"));
        let instructions =
            worst.instructions_ratio.map(|r| format!("{} the {}", ratio(r), summary.target.instrumentation.work()));
        let time = worst.time_ratio.map(|r| match finding.and_then(|f| f.time_ratio_low.zip(f.time_ratio_high)) {
            Some((low, high)) => format!("{} the time ({} to {})", ratio(r), ratio(low), ratio(high)),
            None => format!("{} the time", ratio(r)),
        });
        let costs: Vec<String> = instructions.into_iter().chain(time).collect();
        if !costs.is_empty() {
            let _ = writeln!(text, "  costs        {} of the baseline", costs.join(", "));
        }
        if let Some(function) = finding.and_then(|finding| finding.hot_function.as_ref()) {
            let place = finding.and_then(|finding| finding.hot_location.as_ref());
            let place = place.map_or_else(String::new, |place| format!(", {place}"));
            let _ = writeln!(text, "  spent in     {}{place}", short(function));
        }
        if let Some(finding) = finding {
            let _ = writeln!(text, "  reproduce    {}", finding.reproduce);
        }
    }
    let first = |kind| summary.findings.iter().find(|finding| finding.kind == kind);
    for (kind, label) in [(FindingKind::Fault, "First fault"), (FindingKind::Hang, "First hang")] {
        if let Some(finding) = first(kind).filter(|f| summary.worst.as_ref().is_none_or(|worst| worst.path != f.path)) {
            let _ = writeln!(text, "\n{label}: {}", output.join(&finding.path).display());
            let _ = writeln!(text, "  reproduce    {}", finding.reproduce);
        }
    }
    if summary.findings.is_empty() && summary.worst.is_none() {
        let _ =
            writeln!(text, "\nNothing was found: try more --time, larger inputs (--max-size-increase) or other seeds.");
    }
    let mut rules: Vec<&Rule> = summary.rules.iter().filter(|rule| rule.coverage_increases > 0).collect();
    rules.sort_by_key(|rule| std::cmp::Reverse((rule.degradations, rule.coverage_increases)));
    if !rules.is_empty() {
        let _ = writeln!(text, "\nThe best rules (mutants kept of those made):");
    }
    for rule in rules.into_iter().take(RULES) {
        let _ = writeln!(text, "  {}", rule_in_words(rule));
    }
    let _ = writeln!(text, "\nEverything: {}", output.join("summary.json").display());
    text
}

#[cfg(test)]
mod tests {
    use super::super::summary::{Finding, tests::example};
    use super::*;

    #[test]
    fn the_report_says_what_was_found_and_how_to_see_it() {
        insta::assert_snapshot!("report", final_report(&example(), Path::new("out")));
    }

    #[test]
    fn the_report_of_every_kind_of_finding_fits_on_twenty_lines() {
        let mut summary = example();
        summary.findings.push(Finding { kind: FindingKind::Fault, ..summary.findings[1].clone() });
        let report = final_report(&summary, Path::new("out"));
        assert!(report.lines().count() <= 20, "{report}");
    }

    #[test]
    fn the_report_of_a_campaign_that_found_nothing_says_what_to_try() {
        let summary = Summary { worst: None, findings: vec![], degradations: 0, hangs: 0, ..example() };
        insta::assert_snapshot!("report_nothing", final_report(&summary, Path::new("out")));
    }

    #[test]
    fn numbers_that_make_no_sense_do_not_panic() {
        let summary = Summary { seconds: f64::NAN, executions_per_second: f64::INFINITY, ..example() };
        assert!(final_report(&summary, Path::new("out")).contains("00:00:00"));
    }
}
