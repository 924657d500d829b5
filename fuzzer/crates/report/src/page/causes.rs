//! The causes of findings, one a row: what is slow, how it grows, and the smallest input that shows it.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{by_badness, input};
use crate::{campaign::Campaign, markup, words};
use quagmire_base::{
    format::{counted, grouped, ratio},
    visible::shown,
};
use quagmire_cost::sizes::RelativeTo;
use quagmire_results::{
    explanation::special_cost,
    summary::{Finding, FindingKind, Summary},
};

/// Maximum number of causes that are shown in full; the others are only in the table.
pub(super) const SHOWN: usize = 50;

/// Findings with the same cause, by their indices; the first one is the worst, and the one that was explained.
pub(super) type Cause = Vec<usize>;

/// All causes: of degradations, the worst first, as the terminal names them; then those of hangs and faults.
pub(super) fn causes(summary: &Summary) -> Vec<Cause> {
    let mut seen = BTreeSet::new();
    let mut is_new = |index: usize| index < summary.findings.len() && seen.insert(index);
    let mut causes: Vec<Cause> = summary
        .groups
        .iter()
        .map(|group| group.findings.iter().copied().filter(|&index| is_new(index)).collect())
        .collect();
    // one that is in no group has a cause of its own
    causes.extend(by_badness(&summary.findings).into_iter().filter(|&index| is_new(index)).map(|index| vec![index]));
    causes.retain(|cause: &Cause| !cause.is_empty());
    causes.sort_by_key(|cause| match summary.findings[cause[0]].kind {
        FindingKind::Degradation => 0,
        FindingKind::Hang => 1,
        FindingKind::Fault => 2,
    });
    causes
}

/// Table of the causes, with links to their details.
pub(super) fn table(campaign: &Campaign, causes: &[Cause]) -> Markup {
    let summary = &campaign.summary;
    let is_any = |kind| causes.iter().any(|cause| summary.findings[cause[0]].kind == kind);
    let slow = is_any(FindingKind::Degradation);
    html! {
        div class="scroll" {
            table class="causes" {
                thead { tr {
                    th { "cause" }
                    @if slow { th { "law" } th class="number" { "1 s at" } }
                    th { "smallest input" }
                    @if slow { th class="number" { (factor_title(summary)) } th class="number" { "by time" } }
                } }
                tbody { @for (at, cause) in causes.iter().enumerate() { (row(campaign, cause, at, slow)) } }
            }
        }
        @if slow { p class="dim legend" { (legend(summary)) } }
    }
}

fn factor_title(summary: &Summary) -> &'static str {
    match summary.relative_to {
        RelativeTo::Size => "cost for its size",
        RelativeTo::Seed => "cost",
    }
}

/// Meaning of the columns and of the names of severities.
fn legend(summary: &Summary) -> String {
    let of = match summary.relative_to {
        RelativeTo::Size => "what an ordinary input of its size costs",
        RelativeTo::Seed => "what the median seed costs",
    };
    format!(
        "Costs are multiples of {of}: minor below 2, moderate below 10, severe below 100, critical above. \"By time\" is the same of \
         CPU time, which confirms it."
    )
}

fn row(campaign: &Campaign, cause: &Cause, at: usize, slow: bool) -> Markup {
    let summary = &campaign.summary;
    let finding = &summary.findings[cause[0]];
    let by = summary.target.instrumentation;
    let law = finding.law.as_ref();
    html! {
        tr {
            td class="place" {
                @let name = html! { (place(finding)) };
                @if at < SHOWN { a href={ "#c" (at) } { (name) } } @else { (name) }
                @if let Some(location) = &finding.hot_location { " " span class="dim" { (markup::location(location)) } }
                @if let Some(below) = finding.below() { div class="dim" { "below it " (markup::brief(&below.function)) } }
                @if finding.kind != FindingKind::Degradation { div class="dim" { (words::verdict(finding)) } }
                @if cause.len() > 1 { div class="dim" { (counted(cause.len() as u64, "finding")) } }
            }
            @if slow {
                td data-title="law" { @match law { Some(law) => (badge_of_law(&law.class)), None => span class="dim" { "-" } } }
                td class="number" data-title="1 s at" { @match law.and_then(|law| law.bytes_of_second) {
                    Some(bytes) => { (grouped(bytes)) " bytes" },
                    None => span class="dim" { "-" },
                } }
            }
            td data-title="smallest input" { (input::brief(campaign, finding)) " " div class="dim" { (counted(input::clearest(finding).1, "byte")) } }
            @if slow {
                td class="number" data-title=(factor_title(summary)) {
                    @match special_cost(finding, by) {
                        Some(special) => (special),
                        None => @match finding.ratio.or(finding.instructions_ratio_by_size).or(finding.instructions_ratio) {
                            Some(value) => (ratio(value)),
                            None => span class="dim" { "-" },
                        },
                    }
                    @if let Some(severity) = words::severity_of(finding) {
                        " " div { span class=(severity.words()) { (severity.words()) } }
                    }
                }
                td class="number" data-title="by time" { (by_time(finding)) }
            }
        }
    }
}

/// How many times as long it takes, with the interval, against what its cost is compared with.
fn by_time(finding: &Finding) -> Markup {
    let by_size = finding.time_ratio_by_size.map(|value| (value, finding.interval_by_size()));
    let by_seed = || finding.time_ratio.map(|value| (value, finding.interval()));
    html! {
        @match by_size.or_else(by_seed) {
            Some((value, interval)) => {
                (ratio(value))
                @if let Some((low, high)) = interval { " " span class="interval" { (ratio(low)) " to " (ratio(high)) } }
            },
            None => span class="dim" { "-" },
        }
    }
}

/// The place that a cause is named by: its function, or how it ended.
pub(super) fn place(finding: &Finding) -> Markup {
    html! { @match &finding.hot_function {
        Some(function) => (markup::brief(function)),
        None => (shown(finding.detail.as_deref().unwrap_or(finding.kind.label()))),
    } }
}

/// A law as a badge, `n²`, with its name as a tooltip.
pub(super) fn badge_of_law(class: &str) -> Markup {
    html! { span class="badge law" title=(shown(class)) { (shown(words::law(class))) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{example, example_folder};
    use quagmire_results::summary::Group;

    #[test]
    fn a_cause_is_a_group_and_degradations_come_first() {
        let mut summary = example();
        let group = |findings: &[usize]| Group { title: "a".into(), findings: findings.to_vec() };
        summary.findings = vec![summary.findings[0].clone(); 3];
        summary.findings.push(example().findings[1].clone());
        // a hang is the first group of a campaign; places that do not exist or exist twice are left out
        summary.groups = vec![group(&[3]), group(&[1, 9, 1]), group(&[1, 0])];
        assert_eq!(causes(&summary), [vec![1], vec![0], vec![2], vec![3]]);
    }

    #[test]
    fn a_row_says_place_law_size_of_a_second_input_and_factor() {
        let folder = example_folder();
        std::fs::create_dir(folder.path().join("minimized")).unwrap();
        std::fs::write(folder.path().join("minimized/id_000012"), format!("x{}<b>", " ".repeat(200))).unwrap();
        let campaign = Campaign::read(folder.path()).unwrap();
        let html = table(&campaign, &causes(&campaign.summary)).into_string();
        for part in [
            "<a href=\"#c0\">",
            "trim.cpp:12",
            ">n²</span>",
            "14,200 bytes",
            "× 200",
            "&lt;b&gt;",
            "29.5x",
            "severe",
            "27.1x <span class=\"interval\">26.2x to 27.9x</span>",
            "does not end within the hang timeout",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
