//! The findings: a table of all, then details by group.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{Extras, hot, pictures, verdict::by_badness};
use crate::{
    campaign::Campaign,
    diff::{hex, page::file_name, rows},
    markup,
    rules::RuleWords,
    words,
};
use quagmire_base::{
    format::{counted, grouped, ratio},
    repeats::{Span, spans},
    visible::{Piece, folded, reads_as_text, shown},
};
use quagmire_execution::info::Instrumentation;
use quagmire_results::{
    explanation::special_cost,
    summary::{Finding, FindingKind, Group, Summary, Unexplained},
};

/// Maximum number of findings shown in detail; the others are only in the table.
const SHOWN: usize = 100;

/// Number of bytes of an input that are shown.
const EXCERPT: usize = 700;

/// Number of bytes shown before the longest repetition.
const BEFORE: usize = 200;

/// Renders the section of findings.
pub(crate) fn findings(campaign: &Campaign, rules: &RuleWords, extras: &Extras) -> Markup {
    let summary = &campaign.summary;
    let all = &summary.findings;
    let groups = groups(summary);
    let mut left = SHOWN;
    html! {
        h2 id="findings" { "Findings" }
        @if all.is_empty() {
            (none(summary))
        } @else {
            (table(summary, rules))
            @if extras.left_out > 0 {
                p class="note" {
                    (counted(extras.left_out as u64, "finding")) " without a page of differences: there was no time for them. "
                    span class="code" { "quagmire report OUT" } " writes all."
                }
            }
            @if all.len() > SHOWN { p class="dim" { "The worst " (SHOWN) " are shown in full below." } }
            @for (at, group) in groups.iter().enumerate() {
                @let shown_here = group.findings.len().min(left);
                @if shown_here > 0 {
                    h3 { (counted(group.findings.len() as u64, "finding")) " in " (markup::brief(&group.title)) }
                    @let (worst, others) = group.findings[..shown_here].split_at(1);
                    (finding(campaign, rules, extras, worst[0], at < 3))
                    @if !others.is_empty() {
                        details class="others" {
                            summary { (counted(others.len() as u64, "other")) " with the same cause" }
                            @for &index in others { (finding(campaign, rules, extras, index, false)) }
                        }
                    }
                }
                ({ left -= shown_here; "" })
            }
        }
        (unconfirmed(summary))
        (large(summary))
    }
}

/// Table of the inputs above the threshold that were not confirmed.
fn unconfirmed(summary: &Summary) -> Markup {
    html! {
        @if !summary.unconfirmed.is_empty() {
            h3 id="unconfirmed" { "Unconfirmed" }
            p class="dim" { "Inputs above the threshold that are no degradations, the worst of each function:" }
            div class="scroll" {
                table class="sortable" {
                    thead { tr {
                        th { "file" } th class="number" { "bytes" } th class="number" { "ratio" } th class="number" { (summary.target.instrumentation.work()) } th { "why" }
                    } }
                    tbody { @for one in &summary.unconfirmed {
                        tr {
                            td class="place" { (markup::input_link("", &one.path)) }
                            td class="number" data-v=(one.bytes) { (grouped(one.bytes)) }
                            (markup::ratio_cell(Some(one.ratio), None))
                            (markup::ratio_cell(one.instructions_ratio, None))
                            td { (one.why.in_words()) }
                        }
                    } }
                }
            }
        }
    }
}

/// Table of the inputs that are only large.
fn large(summary: &Summary) -> Markup {
    html! {
        @if summary.large > 0 {
            h3 id="large" { "Only large" }
            p class="dim" {
                (counted(summary.large, "input")) " that cost more than the median seed, but not more than is ordinary for their size: no degradations. The most expensive of each function:"
            }
            div class="scroll" {
                table class="sortable" {
                    thead { tr {
                        th { "file" } th class="number" { "bytes" } th class="number" { (summary.target.instrumentation.work()) } th class="number" { "for its size" }
                    } }
                    tbody { @for large in &summary.large_inputs {
                        tr {
                            td class="place" { (markup::input_link("", &large.path)) }
                            td class="number" data-v=(large.bytes) { (grouped(large.bytes)) }
                            (markup::ratio_cell(large.instructions_ratio, None))
                            (markup::ratio_cell(large.instructions_ratio_by_size, None))
                        }
                    } }
                }
            }
        }
    }
}

/// The groups of the summary, without invalid indices; findings in no group form a group of their own.
fn groups(summary: &Summary) -> Vec<Group> {
    let mut seen = BTreeSet::new();
    let mut groups = summary.groups.clone();
    for group in &mut groups {
        group.findings.retain(|&index| index < summary.findings.len() && seen.insert(index));
    }
    let rest: Vec<usize> = by_badness(&summary.findings).into_iter().filter(|index| !seen.contains(index)).collect();
    groups.push(Group { title: "places that were not grouped".into(), findings: rest });
    groups.retain(|group| !group.findings.is_empty());
    groups
}

fn none(summary: &Summary) -> Markup {
    let unconfirmed = summary.command.iter().any(|word| word == "--no-confirm");
    html! {
        p {
            "None. " (counted(summary.executions, "input")) (if summary.executions == 1 { " was" } else { " were" }) " run"
            @if let Some(worst) = &summary.worst {
                "; the worst that was kept is " (markup::input_link("", &worst.path)) ", " (counted(worst.bytes, "byte"))
                @if let Some(instructions) = worst.instructions_ratio { ", with " (ratio(instructions)) " the " (summary.target.instrumentation.work()) }
                @if let Some(time) = worst.time_ratio { " and " (ratio(time)) " the time" }
                " of the median seed"
                @if let Some(by_size) = worst.instructions_ratio_by_size { ", and " (ratio(by_size)) " the " (summary.target.instrumentation.work()) " of an ordinary input of its size" }
            }
            "."
        }
        @if unconfirmed {
            p class="note" { "Nothing was confirmed, as asked for by " span class="code" { "--no-confirm" } ": degradations were not judged, and slow inputs are in " span class="code" { "queue/" } " only." }
        } @else {
            p class="dim" { "More time, larger inputs or other seeds may find some." }
        }
    }
}

fn table(summary: &Summary, rules: &RuleWords) -> Markup {
    html! {
        div class="scroll" {
            table class="sortable" {
                thead { tr {
                    th { "finding" } th class="number" { "bytes" } th class="number" { (summary.target.instrumentation.work()) } th class="number" { (summary.target.instrumentation.time()) }
                    th class="number" { (summary.target.instrumentation.work()) "," br; "for its size" } th class="number" { (summary.target.instrumentation.time()) "," br; "for its size" }
                    th { "where" } th { "rules" } th class="number" { "found after" }
                } }
                tbody {
                    @for (rank, &index) in by_badness(&summary.findings).iter().enumerate() {
                        @let finding = &summary.findings[index];
                        tr {
                            td {
                                @if rank < SHOWN { a href={ "#f" (index) } { (badge(finding)) } } @else { (badge(finding)) }
                            }
                            td class="number" data-v=(finding.bytes) { (grouped(finding.bytes)) }
                            (markup::ratio_cell(finding.instructions_ratio, None))
                            (markup::ratio_cell(finding.time_ratio, markup::interval(finding)))
                            (markup::ratio_cell(finding.instructions_ratio_by_size, None))
                            (markup::ratio_cell(finding.time_ratio_by_size, markup::interval_by_size(finding)))
                            td class="place" { @match &finding.hot_function { Some(function) => (markup::brief(function)), None => span class="dim" { "-" } } }
                            td class="place" { (markup::short_history(&last(rules.steps(&finding.rules)))) }
                            td class="number" data-v=(if finding.seconds.is_finite() { finding.seconds } else { -1.0 }) { (words::duration(finding.seconds)) }
                        }
                    }
                }
            }
        }
    }
}

/// The last steps of a history, for a table.
fn last<T>(mut steps: Vec<T>) -> Vec<T> {
    steps.split_off(steps.len().saturating_sub(4))
}

fn badge(finding: &Finding) -> Markup {
    let word = match (finding.kind, words::severity_of(finding)) {
        (FindingKind::Degradation, Some(severity)) => words::severity(severity),
        (kind, _) => kind.label(),
    };
    html! { span class={ "badge " (word) } { (word) } }
}

fn finding(campaign: &Campaign, rules: &RuleWords, extras: &Extras, index: usize, open: bool) -> Markup {
    let finding = &campaign.summary.findings[index];
    html! {
        details class="finding" id={ "f" (index) } open[open] {
            summary {
                (badge(finding)) " "
                span class="headline" { (headline(finding, campaign.summary.target.instrumentation)) }
                span class="dim" { " " (counted(finding.bytes, "byte")) ", after " (words::duration(finding.seconds)) }
            }
            dl class="facts" {
                dt { "verdict" } dd { (words::verdict(finding)) }
                dt { "file" } dd {
                    (markup::input_link("", &finding.path))
                    @if let Some(page) = extras.diffs.get(&index) { " · " a href=(markup::address("", page)) { "differences from its seed" } }
                }
                @if let Some(ordinary) = &finding.ordinary_input {
                    dt { "ordinary input" } dd {
                        (markup::input_link("", &ordinary.path))
                        @if ordinary.scale.is_finite() && (ordinary.scale - 1.0).abs() >= 0.005 { ", whose time counts " (format!("{:.2}", ordinary.scale)) " times" }
                    }
                }
                @if let Some(minimized) = &finding.minimized {
                    dt { "smallest" } dd {
                        (markup::input_link("", &minimized.path)) ", " (counted(minimized.bytes, "byte")) ", with the same cause"
                    }
                }
                @if let Some(reason) = &finding.no_smallest { (unexplained("no smallest", reason)) }
                @if let Some(root) = campaign.root(finding) { dt { "seed" } dd { (markup::input_link("", &root)) } }
                dt { "found" } dd { "after " (words::duration(finding.seconds)) ", " (counted(finding.executions, "execution")) }
            }
            h4 { "Reproduce" }
            (markup::command(&finding.reproduce))
            (pictures::law(finding, extras.has_pictures))
            h4 { "Where the cost grew" }
            (hot::places(finding, campaign.summary.target.instrumentation))
            @if extras.has_pictures { (pictures::flame_graph(finding, campaign.summary.target.instrumentation)) }
            h4 { "Costs" }
            (markup::costs(finding))
            h4 { "The input" }
            (excerpt(campaign, finding))
            @if !finding.parts.is_empty() {
                h4 { "Its parts" }
                pre class="parts" { (finding.parts.join("\n")) }
            }
            h4 { "From the seed to it" }
            (markup::history(&rules.steps(&finding.rules)))
        }
    }
}

/// A fact that is not known, with the reason and the command that would give it.
fn unexplained(title: &str, reason: &Unexplained) -> Markup {
    html! { dt { (title) } dd { (shown(&reason.why)) @if !reason.command.is_empty() { ": " code { (shown(&reason.command)) } } } }
}

/// Formats the ratios of a finding: `19,276x instructions, 35,202x CPU time (34,413x to 35,871x); for its size 6,804x
/// instructions, 9,870x CPU time`
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
    match (by_size.is_empty(), by_seed.is_empty()) {
        (true, true) => words::verdict(finding),
        (true, false) => by_seed,
        (false, true) => format!("{by_size} for its size"),
        (false, false) => format!("{by_seed}; for its size {by_size}"),
    }
}

/// Excerpt of the input: around its longest repetition, if it has one.
fn excerpt(campaign: &Campaign, finding: &Finding) -> Markup {
    let Some(bytes) = campaign.input(&finding.path) else {
        return html! { p class="dim" { "The file is not in the folder any more." } };
    };
    let seed = campaign.root(finding).and_then(|root| campaign.input(&root));
    if !reads_as_text(seed.as_deref().unwrap_or(&bytes)) {
        return rows::hex_rows(&hex::excerpt(&bytes, 12));
    }
    html! { div class="bytes excerpt" { (markup::pieces(&text_excerpt(&bytes))) } }
}

fn text_excerpt(bytes: &[u8]) -> Vec<Piece> {
    let spans = spans(bytes);
    let longest = spans.iter().filter(|span| span.is_repeated()).max_by_key(|span| span.range.len());
    let start = longest.map_or(0, |span: &Span| span.range.start.saturating_sub(BEFORE));
    // from the start of a line, if one is near
    let line = bytes[start..].iter().take(BEFORE / 2).position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let start = if start == 0 { 0 } else { start + line };
    let gap = |bytes: usize| Piece::Gap { bytes, lines: 0 };
    let end = end_of_excerpt(&spans, start, bytes.len());
    let mut pieces = Vec::new();
    if start > 0 {
        pieces.extend([gap(start), Piece::Break]);
    }
    pieces.extend(folded(&bytes[start..end], 2 * EXCERPT));
    if end < bytes.len() {
        pieces.push(gap(bytes.len() - end));
    }
    pieces
}

/// End of the excerpt, with repetitions counted once.
fn end_of_excerpt(spans: &[Span], start: usize, length: usize) -> usize {
    let mut room = EXCERPT;
    for span in spans.iter().filter(|span| span.range.end > start) {
        let from = span.range.start.max(start);
        let shown = span.shown().min(span.range.end - from);
        if shown >= room {
            return if span.is_repeated() { span.range.end } else { from + room };
        }
        room -= shown;
    }
    length
}

/// File names of the pages of findings: that of the finding with `.html`, prefixed with its kind if that is taken.
pub(crate) fn names_of_pages(findings: &[Finding]) -> Vec<String> {
    const LONGEST: usize = 200;
    let mut taken = BTreeSet::new();
    let name = |(index, finding): (usize, &Finding)| {
        let base = file_name(&finding.path);
        let is_short = base.len() <= LONGEST && !base.is_empty() && !base.starts_with('.') && !base.contains('\0');
        let base = if is_short { base.to_owned() } else { format!("finding_{index:06}") };
        let name = [format!("{base}.html"), format!("{}_{base}.html", finding.kind.label())]
            .into_iter()
            .find(|name| !taken.contains(name))
            .unwrap_or_else(|| format!("finding_{index:06}.html"));
        taken.insert(name.clone());
        name
    };
    findings.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;

    #[test]
    fn places_that_do_not_exist_or_exist_twice_are_left_out_of_groups() {
        let mut summary = example();
        summary.groups =
            vec![Group { title: "a".into(), findings: vec![0, 7, 0] }, Group { title: "b".into(), findings: vec![0] }];
        let titles: Vec<_> = groups(&summary).into_iter().map(|group| (group.title, group.findings)).collect();
        assert_eq!(titles, [("a".to_owned(), vec![0]), ("places that were not grouped".to_owned(), vec![1])]);
    }

    #[test]
    fn intervals_stand_below_their_ratios_so_that_the_table_fits_a_window() {
        let summary = example();
        let html = table(&summary, &RuleWords::new(&summary)).into_string();
        assert!(html.contains("38.2x <span class=\"interval\">36.9x to 39.4x</span></td>"), "{html}");
        assert!(html.contains(",<br>for its size</th>"), "{html}");
        assert!(markup::STYLE.contains("td .interval { display: block;"));
    }

    #[test]
    fn no_two_findings_share_a_page() {
        let one = example().findings[0].clone();
        let paths = [
            "degradations/a",
            "faults/a",
            "hangs/a",
            "x/a",
            "faults/..",
            "faults/",
            &format!("faults/{}", "n".repeat(250)),
        ];
        let findings = paths.map(|path| Finding { path: path.to_owned(), ..one.clone() });
        assert_eq!(
            names_of_pages(&findings),
            [
                "a.html",
                "degradation_a.html",
                "finding_000002.html",
                "finding_000003.html",
                "finding_000004.html",
                "finding_000005.html",
                "finding_000006.html"
            ]
        );
    }

    #[test]
    fn an_excerpt_shows_the_longest_repetition() {
        let mut input: Vec<u8> = (0..900).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
        input.extend([b' '; 5_000]);
        input.extend((0..900).flat_map(|i| format!("more {i}\n").into_bytes()));
        let pieces = text_excerpt(&input);
        assert!(matches!(pieces[0], Piece::Gap { .. }), "{pieces:?}");
        assert!(pieces.iter().any(|piece| matches!(piece, Piece::Repeated { times: 5_000, .. })), "{pieces:?}");
        assert!(pieces.len() < 600, "{}", pieces.len());
        assert_eq!(text_excerpt(b"short"), [Piece::Text("short".into())]);
        assert_eq!(text_excerpt(b""), []);
    }
}
