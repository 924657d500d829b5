//! Final report of a campaign: findings and where to look, as text.

use super::explanation::{places, special_cost, worst};
use super::summary::{Dictionary, Finding, FindingKind, Rule, StoppedBy, Summary, TowardsPlace, Worst};
use quagmire_base::format::{clock, counted, grouped, rate, ratio, short};
use quagmire_base::plain::is_obeyed;
use quagmire_cost::sizes::RelativeTo;
use std::fmt::Write;
use std::path::Path;

/// Number of rules in the report.
const RULES: usize = 3;

/// Number of tokens in the report.
const TOKENS: usize = 5;
/// Number of unconfirmed inputs in the report.
const UNCONFIRMED: usize = 3;
/// Number of places in the report that were never reached.
const PLACES: usize = 3;

/// Ratio of instructions below which two inputs count as equally bad.
const NEARLY: f64 = 1.1;

/// Names of the two references that costs are compared with.
const BASELINE: &str = "the baseline";
const ORDINARY: &str = "an ordinary input";

/// One rule with its finds, such as `T.11 repeat_whitespace: 34 of 1,200, 2 degradations`.
fn rule_in_words(rule: &Rule) -> String {
    let name = if rule.name == rule.label { String::new() } else { format!(" {}", rule.name) };
    let of_them = match rule.degradations {
        0 => String::new(),
        degradations => format!(", {}", counted(degradations, "degradation")),
    };
    format!("{}{name}: {} of {}{of_them}", rule.label, grouped(rule.coverage_increases), grouped(rule.applied))
}

/// Places of `--towards` that were hit, those that were not, and the one whose cost grew most; `None` without places.
fn towards_in_words(summary: &Summary) -> Option<String> {
    let growth = |place: &TowardsPlace| {
        let (first, most) = (place.first_instructions?, place.most_instructions?);
        Some((most as f64 / first.max(1) as f64, most, short(&place.place)))
    };
    let hits = hits_in_words(summary)?;
    let most = summary.towards.iter().filter_map(growth).max_by(|one, other| one.0.total_cmp(&other.0));
    Some(match most.filter(|&(times, ..)| times > 1.0) {
        None => hits,
        Some((times, most, place)) => {
            let place = if summary.towards.len() == 1 { "there".to_owned() } else { format!("most at {place}") };
            format!("{hits} Cost grew {place}: {} instructions, {} those at first.", grouped(most), ratio(times))
        }
    })
}

/// Places of `--towards` that were hit, and those that were not; `None` without places.
fn hits_in_words(summary: &Summary) -> Option<String> {
    let all = summary.towards.len();
    let missed: Vec<&str> =
        summary.towards.iter().filter(|place| place.hits == 0).map(|place| place.place.as_str()).collect();
    let text = match (all - missed.len(), all) {
        (_, 0) => return None,
        (1, 1) => format!(
            "Towards: {} was hit by {}.",
            short(&summary.towards[0].place),
            counted(summary.towards[0].hits, "run")
        ),
        (hit, all) => format!("Towards: {hit} of {} hit", counted(all as u64, "place")),
    };
    if missed.is_empty() {
        return Some(if all == 1 { text } else { text + "." });
    }
    let shown: Vec<String> = missed.iter().take(PLACES).map(|place| short(place)).collect();
    let more = missed.len().saturating_sub(PLACES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{text}; never reached: {}{more}.", shown.join(", ")))
}

/// Costs as a text such as `41.4x the instructions, 38.2x the time of the baseline`; `None` if none is known. What is
/// `special` comes first. `of` names the reference.
fn costs_in_words(
    summary: &Summary,
    special: Option<String>,
    instructions: Option<f64>,
    time: Option<f64>,
    interval: Option<(f64, f64)>,
    of: &str,
) -> Option<String> {
    let instructions = instructions.map(|r| format!("{} the {}", ratio(r), summary.target.instrumentation.work()));
    let time = time.map(|r| match interval {
        Some((low, high)) => format!("{} the time ({} to {})", ratio(r), ratio(low), ratio(high)),
        None => format!("{} the time", ratio(r)),
    });
    let costs: Vec<String> = special.into_iter().chain(instructions).chain(time).collect();
    (!costs.is_empty()).then(|| format!("{} of {of}", costs.join(", ")))
}

fn worst_degradation(text: &mut String, summary: &Summary, finding: &Finding, output: &Path) {
    let path = output.join(&finding.path);
    let _ = writeln!(text, "\nWorst input: {} ({})", path.display(), counted(finding.bytes, "byte"));
    let interval = finding.interval();
    let (instructions, time) = (finding.instructions_ratio, finding.time_ratio);
    let special = special_cost(finding, summary.target.instrumentation);
    let is_by_size = finding.decisive().is_some_and(|cost| cost.ratio_by_size.is_some());
    let [by_seed, by_size] = if is_by_size { [None, special] } else { [special, None] };
    if let Some(costs) = costs_in_words(summary, by_seed, instructions, time, interval, BASELINE) {
        let _ = writeln!(text, "  costs        {costs}");
    }
    let interval = finding.interval_by_size();
    let (instructions, time) = (finding.instructions_ratio_by_size, finding.time_ratio_by_size);
    if let Some(costs) = costs_in_words(summary, by_size, instructions, time, interval, ORDINARY) {
        let _ = writeln!(text, "  for its size {costs}");
    }
    for (label, place) in ["spent in", "below it"].into_iter().zip(places(finding)) {
        let _ = writeln!(text, "  {label:<12} {place}");
    }
    let _ = writeln!(text, "  reproduce    {}", finding.reproduce);
}

/// Numbers of inputs that are no findings, with a comma before each.
fn others(summary: &Summary) -> String {
    let of = [(summary.unconfirmed.len() as u64, "unconfirmed"), (summary.large, "only large")];
    of.iter().filter(|of| of.0 > 0).map(|&(number, what)| format!(", {} {what}", grouped(number))).collect()
}

/// The worst inputs above the threshold that were not confirmed, one a line; nothing if there are none.
fn unconfirmed(text: &mut String, summary: &Summary, output: &Path) {
    // beside a degradation they matter less
    let shown = if summary.degradations > 0 { 1 } else { UNCONFIRMED };
    for one in summary.unconfirmed.iter().take(shown) {
        let path = output.join(&one.path);
        let of = match summary.relative_to {
            RelativeTo::Size => "what is ordinary for its size",
            RelativeTo::Seed => BASELINE,
        };
        let (bytes, times) = (counted(one.bytes, "byte"), ratio(one.ratio));
        let _ = writeln!(text, "Unconfirmed: {} ({bytes}), {times} {of}: {}", path.display(), one.why.in_words());
    }
}

/// Remark on time that the counts do not show, or else the most useful advice; nothing if there is nothing to say.
fn warning_or_advice(text: &mut String, summary: &Summary) {
    let warning = summary.unseen.warning.as_ref().map(|warning| ("Not seen", warning));
    let advice = summary.advice.as_ref().map(|advice| ("Advice", advice));
    let before = if summary.towards.is_empty() { "\n" } else { "" };
    if let Some((label, line)) = warning.or(advice) {
        let _ = writeln!(text, "{before}{label}: {}", short_line(line));
    }
}

/// A line that may name functions and files, without what a terminal would obey.
fn short_line(line: &str) -> String {
    line.chars().map(|c| if is_obeyed(c) { '?' } else { c }).collect()
}

/// Rules with most finds, and tokens; nothing if there are none.
fn best_rules(text: &mut String, summary: &Summary) {
    let mut rules: Vec<&Rule> = summary.rules.iter().filter(|rule| rule.coverage_increases > 0).collect();
    rules.sort_by_key(|rule| std::cmp::Reverse((rule.degradations, rule.coverage_increases)));
    if !rules.is_empty() {
        let _ = writeln!(text, "\nThe best rules (mutants kept of those made):");
    }
    for rule in rules.into_iter().take(RULES) {
        let _ = writeln!(text, "  {}", rule_in_words(rule));
    }
    tokens_that_paid(text, summary);
}

/// Tokens that are in most entries; nothing if there are none.
fn tokens_that_paid(text: &mut String, summary: &Summary) {
    if let Some(Dictionary { tokens, useful }) = summary.dictionary.as_ref().filter(|known| !known.useful.is_empty()) {
        let best: Vec<String> =
            useful.iter().take(TOKENS).map(|of| format!("\"{}\" ({})", short(&of.token), of.entries)).collect();
        let _ = writeln!(text, "Tokens that paid, of {} (entries with them): {}", grouped(*tokens), best.join(", "));
    }
}

/// Text of the final report, in at most 24 lines, with the command that reproduces the worst finding. `output` is
/// the output folder as the user typed it.
pub fn final_report(summary: &Summary, output: &Path) -> String {
    let mut text = String::new();
    let stopped = match summary.stopped_by {
        Some(StoppedBy::Time) => "time is up",
        Some(StoppedBy::Execs) => "all executions done",
        Some(StoppedBy::Signal) => "stopped on request",
        Some(StoppedBy::Error) => "stopped by an error",
        Some(StoppedBy::Finding) => "stopped by a finding",
        None => "so far",
    };
    let _ = writeln!(
        text,
        "{}{}, {}, {}{} in {} ({}).",
        counted(summary.degradations, "degradation"),
        if summary.unseen.warning.is_some() { " in counted code" } else { "" },
        counted(summary.faults, "fault"),
        counted(summary.hangs, "hang"),
        others(summary),
        clock(summary.elapsed()),
        stopped,
    );
    let _ = writeln!(
        text,
        "{}, {}/s{}; seed {}.",
        counted(summary.executions, "execution"),
        rate(summary.executions_per_second),
        if summary.target.instrumentation.counts() {
            format!(", {} found", counted(summary.edges_found, "edge"))
        } else {
            String::new()
        },
        summary.seed,
    );
    let of = |kind| summary.findings.iter().filter(move |finding| finding.kind == kind);
    let is_worst = |finding: &&Finding| summary.worst.as_ref().is_some_and(|worst| worst.path == finding.path);
    let slowest = || Finding::slowest(&summary.findings);
    let confirmed = summary.findings.iter().find(is_worst);
    if let Some(finding) = worst(summary) {
        worst_degradation(&mut text, summary, finding, output);
    }
    // an unconfirmed input that is about as bad as a confirmed degradation is not worth a line
    let is_news = |kept: &&Worst| {
        let ratio = |known: &Finding| match (kept.instructions_ratio_by_size, known.instructions_ratio_by_size) {
            (Some(kept), Some(known)) => kept / known,
            _ => kept.instructions_ratio.unwrap_or(0.0) / known.instructions_ratio.unwrap_or(0.0),
        };
        let is_unlike = |known| summary.unconfirmed.is_empty() && !(1.0 / NEARLY..NEARLY).contains(&ratio(known));
        slowest().is_none_or(is_unlike)
    };
    if let Some(kept) = summary.worst.as_ref().filter(|_| confirmed.is_none()).filter(is_news) {
        let (path, bytes) = (output.join(&kept.path), counted(kept.bytes, "byte"));
        let costs = costs_in_words(summary, None, kept.instructions_ratio, kept.time_ratio, None, BASELINE);
        let by_size = costs_in_words(summary, None, kept.instructions_ratio_by_size, None, None, ORDINARY);
        let (what, then) =
            if slowest().is_some() { ("Not confirmed", ", ") } else { ("\nWorst input", "\n  costs        ") };
        let then_by_size = if slowest().is_some() { ", " } else { "\n  for its size " };
        let costs = costs.map_or_else(String::new, |costs| format!("{then}{costs}"));
        let costs = costs + &by_size.map_or_else(String::new, |costs| format!("{then_by_size}{costs}"));
        let _ = writeln!(text, "{what}: {} ({bytes}){costs}", path.display());
    }
    unconfirmed(&mut text, summary, output);
    let mut before = if summary.unconfirmed.is_empty() { "\n" } else { "" };
    for (kind, label) in [(FindingKind::Fault, "First fault"), (FindingKind::Hang, "First hang")] {
        if let Some(finding) = of(kind).next() {
            // the detail of a hang is always "hang"
            let detail = finding.detail.as_ref().filter(|_| kind == FindingKind::Fault);
            let detail = detail.map_or_else(String::new, |detail| format!(" ({})", short(detail)));
            let _ = writeln!(text, "{before}{label}{detail}: {}", output.join(&finding.path).display());
            let _ = writeln!(text, "  reproduce    {}", finding.reproduce);
            before = "";
        }
    }
    if let Some(towards) = towards_in_words(summary) {
        let _ = writeln!(text, "\n{towards}");
    }
    if summary.findings.is_empty() && summary.worst.is_none() {
        let _ =
            writeln!(text, "\nNothing was found: try more --time, larger inputs (--max-size-increase) or other seeds.");
    }
    warning_or_advice(&mut text, summary);
    best_rules(&mut text, summary);
    let _ = writeln!(text, "\nEverything: {}", output.join("summary.json").display());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{summary::TowardsPlace, testing::example};

    #[test]
    fn the_report_says_what_was_found_and_how_to_see_it() {
        insta::assert_snapshot!("report", final_report(&example(), Path::new("out")));
    }

    #[test]
    fn the_report_of_every_kind_of_finding_fits_on_a_terminal_of_24_lines() {
        let mut summary = example();
        let detail = Some("SIGSEGV".to_owned());
        summary.findings.push(Finding { kind: FindingKind::Fault, detail, ..summary.findings[1].clone() });
        summary.rules = vec![summary.rules[0].clone(); 9];
        assert!(final_report(&summary, Path::new("out")).lines().count() <= 24);
        (summary.unconfirmed, summary.unseen.warning, summary.advice) = (vec![], None, None);
        let path = "queue/id_000099".to_owned();
        summary.worst = Some(Worst {
            path,
            bytes: 7,
            instructions_ratio: Some(99.0),
            time_ratio: None,
            instructions_ratio_by_size: Some(99.0),
        });
        let report = final_report(&summary, Path::new("out"));
        assert!(report.lines().count() <= 24, "{report}");
        for words in
            ["First fault (SIGSEGV): out/", "Not confirmed: out/queue/id_000099 (7 bytes), 99.0x the instructions"]
        {
            assert!(report.contains(words), "no `{words}` in {report}");
        }
        summary.worst = summary.worst.map(|worst| Worst { instructions_ratio_by_size: Some(29.6), ..worst });
        assert!(!final_report(&summary, Path::new("out")).contains("Not confirmed"));
    }

    #[test]
    fn the_report_of_a_campaign_that_found_nothing_says_what_to_try() {
        let summary = Summary { worst: None, findings: vec![], degradations: 0, hangs: 0, ..example() };
        insta::assert_snapshot!("report_nothing", final_report(&summary, Path::new("out")));
    }

    #[test]
    fn the_report_says_which_places_were_never_reached() {
        let place = |at: usize, hits| TowardsPlace {
            place: format!("a.c:{at}"),
            hits,
            first_instructions: (hits > 0).then_some(10),
            most_instructions: (hits > 0).then_some(hits.max(10)),
            ..TowardsPlace::default()
        };
        let said = |hits: &[u64]| {
            let towards = (1..).zip(hits).map(|(at, &hits)| place(at, hits)).collect();
            let report = final_report(&Summary { towards, ..example() }, Path::new("out"));
            report.lines().find_map(|line| line.strip_prefix("Towards: ")).map(str::to_owned)
        };
        assert_eq!(said(&[]), None);
        assert_eq!(
            said(&[1_234]).as_deref(),
            Some("a.c:1 was hit by 1,234 runs. Cost grew there: 1,234 instructions, 123.4x those at first.")
        );
        assert_eq!(said(&[0]).as_deref(), Some("0 of 1 place hit; never reached: a.c:1."));
        assert_eq!(said(&[7, 8]).as_deref(), Some("2 of 2 places hit."));
        assert_eq!(
            said(&[7, 25]).as_deref(),
            Some("2 of 2 places hit. Cost grew most at a.c:2: 25 instructions, 2.50x those at first.")
        );
        assert_eq!(
            said(&[7, 0, 0, 0, 0, 1]).as_deref(),
            Some("2 of 6 places hit; never reached: a.c:2, a.c:3, a.c:4 and 1 more.")
        );
    }

    #[test]
    fn numbers_that_make_no_sense_do_not_panic() {
        let summary = Summary { seconds: f64::NAN, executions_per_second: f64::INFINITY, ..example() };
        assert!(final_report(&summary, Path::new("out")).contains("00:00:00"));
    }
}
