//! The details of a cause: where it burns, what to do next, how it grows, its input.

use maud::{Markup, html};

use super::{
    Extras,
    causes::{self, Cause, SHOWN},
    input, next, pictures, source,
};
use crate::{campaign::Campaign, markup, rules::RuleWords, sources::Sources, words};
use quagmire_base::{
    format::{counted, grouped, ratio},
    visible::shown,
};
use quagmire_execution::info::Instrumentation;
use quagmire_results::{
    explanation::special_cost,
    summary::{Finding, FindingKind, OrdinaryInput, Unexplained},
};

/// Number of causes that are open at first.
const OPEN: usize = 3;

/// Maximum number of other findings of a cause that are listed.
const OTHERS: usize = 100;

/// Renders the causes in full.
pub(super) fn details(campaign: &Campaign, rules: &RuleWords, extras: &Extras, causes: &[Cause]) -> Markup {
    let mut sources = Sources::default();
    html! {
        @for (at, cause) in causes.iter().take(SHOWN).enumerate() {
            (detail(campaign, rules, extras, (at, cause), &mut sources))
        }
        @if causes.len() > SHOWN { p class="dim" { "The others are in the table above, and in " span class="code" { "summary.json" } "." } }
    }
}

fn detail(
    campaign: &Campaign,
    rules: &RuleWords,
    extras: &Extras,
    (at, cause): (usize, &Cause),
    sources: &mut Sources,
) -> Markup {
    let finding = &campaign.summary.findings[cause[0]];
    let by = campaign.summary.target.instrumentation;
    html! {
        details class="finding" id={ "c" (at) } open[at < OPEN] {
            summary {
                span class="headline" { (causes::place(finding)) }
                @if let Some(law) = &finding.law { " " (causes::badge_of_law(&law.class)) }
                " " span class="dim" { (headline(finding, by)) }
            }
            h3 { "Where" }
            (source::places(finding, sources))
            (pictures::law(finding, extras.has_pictures))
            h3 { "Next" }
            (next::next(campaign, finding))
            h3 { "The input" }
            p { (input_line(finding)) }
            (input::excerpt(campaign, finding))
            p class="dim" {
                @if finding.minimized.is_some() { "The large one: " (markup::input_link("", &finding.path)) ", " (counted(finding.bytes, "byte")) "; " }
                "found after " (words::duration(finding.seconds))
                @if let Some(page) = extras.diffs.get(&cause[0]) { " · " a href=(markup::address("", page)) { "differences from its seed" } }
            }
            details class="more" {
                summary { "Measurements, and how it was found" }
                (facts(campaign, finding))
                (markup::costs(finding))
                (source::table(finding, by))
                @if !finding.parts.is_empty() { h4 { "Its parts" } pre class="parts" { (finding.parts.join("\n")) } }
                h4 { "From the seed to it" }
                (markup::history(&rules.steps(&finding.rules)))
            }
            @if cause.len() > 1 { (others(campaign, extras, &cause[1..])) }
        }
    }
}

/// The clearest input, and why there is no smaller one.
fn input_line(finding: &Finding) -> Markup {
    let (path, bytes) = input::clearest(finding);
    html! {
        @if finding.minimized.is_some() { "The smallest with the same cause: " }
        (markup::input_link("", path)) ", " (counted(bytes, "byte"))
        @if let Some(reason) = &finding.no_smallest { " " span class="dim" { (unexplained("No smaller one", reason)) } }
    }
}

/// Verdict, and the inputs that it was measured beside.
fn facts(campaign: &Campaign, finding: &Finding) -> Markup {
    html! {
        dl class="facts" {
            dt { "verdict" } dd { (words::verdict(finding)) }
            @if let Some(ordinary) = &finding.ordinary_input { dt { "ordinary input" } dd { (ordinary_input(ordinary)) } }
            @if let Some(root) = campaign.root(finding) { dt { "seed" } dd { (markup::input_link("", &root)) } }
            dt { "found" } dd { "after " (words::duration(finding.seconds)) ", " (counted(finding.executions, "execution")) }
        }
    }
}

/// The ordinary input that a finding was measured beside, and why its times were corrected.
fn ordinary_input(ordinary: &OrdinaryInput) -> Markup {
    let scale = ordinary.scale;
    html! {
        (markup::input_link("", &ordinary.path))
        @if scale.is_finite() && scale > 0.0 && (scale - 1.0).abs() >= 0.005 {
            ": it costs " (words::percent((1.0 / scale - 1.0).abs())) (if scale < 1.0 { " more" } else { " less" })
            " than is ordinary for its size, so its times were multiplied by " (format!("{scale:.2}"))
        }
    }
}

/// Answers that are not known, with the reason and the command that would give them.
fn unexplained(title: &str, reason: &Unexplained) -> Markup {
    html! { (title) ": " (shown(&reason.why)) @if !reason.command.is_empty() { ": " span class="code" { (shown(&reason.command)) } } }
}

/// The other findings of a cause, the worst first.
fn others(campaign: &Campaign, extras: &Extras, cause: &[usize]) -> Markup {
    let summary = &campaign.summary;
    html! {
        details class="more" {
            summary { (counted(cause.len() as u64, "other finding")) " with this cause" }
            div class="scroll" { table class="sortable" {
                thead { tr {
                    th { "input" } th class="number" { "bytes" } th class="number" { "cost for its size" } th class="number" { "by time" }
                    th class="number" { "found after" } @if !extras.diffs.is_empty() { th { "seed" } }
                } }
                tbody { @for &index in cause.iter().take(OTHERS) {
                    @let finding = &summary.findings[index];
                    tr {
                        td class="place" { (markup::input_link("", &finding.path)) }
                        td class="number" data-v=(finding.bytes) { (grouped(finding.bytes)) }
                        (markup::ratio_cell(finding.ratio.or(finding.instructions_ratio), None))
                        (markup::ratio_cell(finding.time_ratio_by_size.or(finding.time_ratio), None))
                        td class="number" data-v=(if finding.seconds.is_finite() { finding.seconds } else { -1.0 }) { (words::duration(finding.seconds)) }
                        @if !extras.diffs.is_empty() {
                            td { @if let Some(page) = extras.diffs.get(&index) { a href=(markup::address("", page)) { "differences" } } }
                        }
                    }
                } }
            } }
            @if cause.len() > OTHERS { p class="dim" { "and " (cause.len() - OTHERS) " more in " span class="code" { "summary.json" } } }
        }
    }
}

/// Formats how a finding ended, or its ratios: `6,804x instructions, 9,870x CPU time (9,700x to 9,990x) for its size`; against the
/// median seed where that is not known.
fn headline(finding: &Finding, by: Instrumentation) -> String {
    let ratios = |instructions: Option<f64>, time: Option<f64>, interval: Option<(f64, f64)>| {
        let instructions = instructions.map(|value| format!("{} {}", ratio(value), by.work()));
        let instructions = special_cost(finding, by).filter(|_| instructions.is_some()).or(instructions);
        let time = time.map(|value| match interval {
            Some((low, high)) => format!("{} {} ({} to {})", ratio(value), by.time(), ratio(low), ratio(high)),
            None => format!("{} {}", ratio(value), by.time()),
        });
        instructions.into_iter().chain(time).collect::<Vec<String>>().join(", ")
    };
    let interval = markup::interval_by_size(finding);
    let by_size = ratios(finding.instructions_ratio_by_size, finding.time_ratio_by_size, interval);
    let by_seed = ratios(finding.instructions_ratio, finding.time_ratio, markup::interval(finding));
    match (finding.kind, by_size.is_empty(), by_seed.is_empty()) {
        (FindingKind::Degradation, false, _) => format!("{by_size} for its size"),
        (FindingKind::Degradation, true, false) => format!("{by_seed} against the median seed"),
        _ => words::verdict(finding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_early_has_no_costs_to_tell() {
        let finding = Finding {
            kind: FindingKind::Fault,
            detail: Some("SIGILL".into()),
            instructions_ratio: Some(0.89),
            ..Finding::default()
        };
        assert_eq!(headline(&finding, Instrumentation::default()), "ends the program early: SIGILL");
    }

    #[test]
    fn a_correction_of_times_is_explained_where_it_stands() {
        let told = |scale: f64| ordinary_input(&OrdinaryInput { path: "ordinary/a".into(), scale }).into_string();
        assert!(!told(1.0).contains("times"));
        assert!(
            told(0.8)
                .ends_with("it costs 25 % more than is ordinary for its size, so its times were multiplied by 0.80")
        );
        assert!(told(1.25).contains("20 % less") && !told(0.0).contains("multiplied"));
    }
}
