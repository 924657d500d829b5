//! `report.html`: the page with everything about a campaign, in the order of the questions that people ask.

mod cause;
mod causes;
mod input;
mod search;
mod source;

use std::collections::HashMap;

use maud::{Markup, html};

use super::{campaign::Campaign, diff::page::file_name, markup, rules::RuleWords, words};
use quagmire_base::{format::counted, visible::shown};
use quagmire_cost::resource::Resource;
use quagmire_results::{
    explanation::{special_cost, worst},
    summary::{Finding, FindingKind, Summary},
};

/// Contents of the page besides the data of the campaign.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Paths of the pages of differences, relative to the folder, by index of their finding.
    pub diffs: HashMap<usize, String>,
    /// Number of findings without such a page, for lack of time.
    pub left_out: usize,
    /// Whether findings have pictures: growth plots.
    pub has_pictures: bool,
    /// Rendered graphs.
    pub graphs: Vec<Markup>,
}

/// Renders the page.
pub(crate) fn page(campaign: &Campaign, rules: &RuleWords, extras: &Extras) -> String {
    let summary = &campaign.summary;
    let causes = causes::causes(summary);
    let content = html! {
        h1 { "quagmire" }
        (verdict(summary))
        (search::figures(summary))
        @if causes.is_empty() {
            (search::none(summary))
        } @else {
            h2 id="causes" { (counted(causes.len() as u64, "cause")) }
            (causes::table(campaign, &causes))
            (cause::details(campaign, rules, extras, &causes))
            @if extras.left_out > 0 {
                p class="note" {
                    (counted(extras.left_out as u64, "finding")) " without a page of differences: there was no time for them. "
                    span class="code" { "quagmire report OUT" } " writes all."
                }
            }
        }
        (search::about(summary, rules, extras))
    };
    markup::page(&format!("{}: quagmire", file_name(&summary.target.program)), true, &content)
}

/// Renders the findings in one sentence, with the worst one.
fn verdict(summary: &Summary) -> Markup {
    let program = shown(&summary.target.program);
    let of = |kind| summary.findings.iter().filter(move |finding| finding.kind == kind);
    let number = |kind| of(kind).count() as u64;
    let (hangs, faults) = (number(FindingKind::Hang), number(FindingKind::Fault));
    let worst = worst(summary);
    html! {
        p class="verdict" {
            @match worst {
                Some(worst) => (slower(summary, worst, number(FindingKind::Degradation))),
                None if hangs + faults == 0 => (nothing(summary)),
                None => { "No degradation was confirmed in " span class="code" { (program) } "." }
            }
            @if hangs > 0 {
                " " (counted(hangs, "input")) (if hangs == 1 { " does" } else { " do" }) " not end within the hang timeout."
            }
            @if faults > 0 {
                " " (counted(faults, "input")) (if faults == 1 { " ends" } else { " end" }) " the program early."
            }
            @if let Some(warning) = &summary.unseen.warning {
                " This holds for counted code only: " (shown(warning)) "."
            }
        }
    }
}

fn slower(summary: &Summary, worst: &Finding, number: u64) -> Markup {
    let program = shown(&summary.target.program);
    let makes = if number == 1 { "makes" } else { "make" };
    let up_to = if number == 1 { "" } else { "up to " };
    html! {
        (counted(number, "input")) " " (makes) " " span class="code" { (program) } " "
        @if let Some(special) = special_cost(worst, summary.target.instrumentation) {
            "use " (up_to) (special)
            @if worst.decisive().is_some_and(|cost| cost.ratio_by_size.is_some()) { " of an ordinary input of " (if number == 1 { "its" } else { "their" }) " size" }
        } @else { @match (worst.time_ratio_by_size.or(worst.time_ratio).and_then(words::times), worst.instructions_ratio.and_then(words::times)) {
            (Some(times), _) => {
                (up_to) (times) " times slower"
                @if worst.time_ratio_by_size.is_some() { " than is ordinary for " (if number == 1 { "its" } else { "their" }) " size" }
            },
            (None, Some(times)) => { "execute " (up_to) (times) " times the " (summary.target.instrumentation.work()) },
            (None, None) => "slower",
        } }
        @if let Some((now, before)) = times(summary, worst) {
            (if number == 1 { "; it costs " } else { "; the worst costs " }) (now) ", and the median seed " (before)
        }
        @if let Some(function) = &worst.hot_function {
            ", in " (markup::brief(function))
            @if let Some(location) = &worst.hot_location { " at " (markup::location(location)) }
        }
        "."
    }
}

/// CPU time of an input and of the median seed, formatted; `None` if unknown.
fn times(summary: &Summary, finding: &Finding) -> Option<(String, String)> {
    if let Some(cost) = finding.costs.iter().find(|cost| cost.resource == Resource::Time && cost.baseline > 0) {
        return Some((words::amount(cost.amount, "ns"), words::amount(cost.baseline, "ns")));
    }
    let before = summary.baseline.seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0)?;
    let ratio = finding.time_ratio.filter(|ratio| ratio.is_finite())?;
    Some((format!("about {}", words::duration(before * ratio)), words::duration(before)))
}

fn nothing(summary: &Summary) -> Markup {
    html! {
        "Nothing that slows " span class="code" { (shown(&summary.target.program)) } " down was found in "
        (counted(summary.executions, "execution")) "."
    }
}

/// Indices of findings, the worst first: hangs, then degradations by ratio, then faults.
pub(crate) fn by_badness(findings: &[Finding]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..findings.len()).collect();
    let kind = |finding: &Finding| match finding.kind {
        FindingKind::Hang => 0,
        FindingKind::Degradation => 1,
        FindingKind::Fault => 2,
    };
    places.sort_by(|&a, &b| {
        let (a, b) = (&findings[a], &findings[b]);
        let worse = b.badness().unwrap_or(0.0).total_cmp(&a.badness().unwrap_or(0.0));
        kind(a).cmp(&kind(b)).then(worse)
    });
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;

    fn text(summary: &Summary) -> String {
        let html = verdict(summary).into_string();
        // elements away
        html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
    }

    #[test]
    fn the_campaign_is_one_sentence() {
        let seen = example();
        assert!(
            text(&seen).contains("This holds for counted code only: 31 % of the time is spent in code without counts.")
        );
        let full = Summary { unseen: Default::default(), ..seen };
        assert_eq!(
            text(&full),
            "1 input makes ./trim 27.1 times slower than is ordinary for its size; it costs about 9.55 ms, and the median seed \
             250 us, in trim at trim.cpp:12. \
             1 input does not end within the hang timeout."
        );
        let mut many = full.clone();
        many.findings = vec![full.findings[0].clone(); 3];
        many.groups.truncate(1);
        many.groups[0].findings = vec![1, 0, 2];
        many.findings[1].time_ratio_by_size = Some(19_276.4);
        many.findings[1].costs[0].resource = Resource::Time;
        (many.findings[1].costs[0].amount, many.findings[1].costs[0].baseline) = (1_090_000_000, 31_000);
        assert_eq!(
            text(&many),
            "3 inputs make ./trim up to 19,276 times slower than is ordinary for their size; the worst costs 1.09 s, and the median \
             seed 31.0 us, in trim at trim.cpp:12."
        );
        let none = Summary { findings: vec![], ..full.clone() };
        assert_eq!(text(&none), "Nothing that slows ./trim down was found in 812,331 executions.");
        let hang = Summary { findings: vec![full.findings[1].clone()], ..full };
        assert_eq!(
            text(&hang),
            "No degradation was confirmed in ./trim. 1 input does not end within the hang timeout."
        );
    }

    #[test]
    fn the_worst_is_first_whatever_is_not_a_number() {
        let mut findings = vec![example().findings[0].clone(); 4];
        findings.iter_mut().for_each(|finding| finding.ratio = None);
        findings[0].instructions_ratio = Some(f64::NAN);
        findings[0].time_ratio = None;
        findings[0].costs.clear();
        findings[1].time_ratio = Some(500.0);
        findings[2].kind = FindingKind::Fault;
        findings[3].kind = FindingKind::Hang;
        assert_eq!(by_badness(&findings), [3, 1, 0, 2]);
    }
}
