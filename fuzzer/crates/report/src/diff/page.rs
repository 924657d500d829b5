//! The page of one finding: its differences from its seed and its parent, and all facts about it.

use std::{collections::BTreeSet, time::Instant};

use maud::{Markup, html};

use super::{
    difference,
    hex::{self, HexRow},
    text::{self, Mark, Row},
};
use crate::{campaign::Campaign, markup, rules::RuleWords, words};
use quagmire_base::{
    format::counted,
    visible::{folded, reads_as_text, shown},
};
use quagmire_results::summary::Finding;

/// Number of bytes shown of an input without a difference.
const ALONE: usize = 16_000;

/// Renders the page of a finding. Missing inputs are mentioned; comparisons end at the deadline.
pub(crate) fn page(campaign: &Campaign, rules: &RuleWords, finding: &Finding, deadline: Instant) -> String {
    let input = campaign.input(&finding.path);
    let root = campaign.root(finding);
    let parent = finding.parent.clone();
    let content = html! {
        h1 { a href="../report.html" { "Report" } " / " (finding.kind.label()) }
        p class="verdict" { span class="code" { (shown(file_name(&finding.path))) } }
        dl class="facts" {
            dt { "verdict" } dd { (words::verdict(finding)) @if let Some(severity) = words::severity_of(finding) { ", " (severity.words()) } }
            dt { "file" } dd { (markup::input_link("../", &finding.path)) " " (counted(finding.bytes, "byte")) }
            @if let Some(root) = &root { dt { "seed" } dd { (markup::input_link("../", root)) } }
            @if let Some(parent) = parent.as_ref().filter(|parent| root.as_ref() != Some(parent)) {
                dt { "parent" } dd { (markup::input_link("../", parent)) }
            }
        }
        h2 { "Costs" }
        (markup::costs(finding))
        h2 { "Reproduce" }
        (markup::command(&finding.reproduce))
        h2 { "From the seed to it" }
        (markup::history(&rules.steps(&finding.rules)))
        @match &input {
            None => { h2 { "Differences" } p { "The file is not in the folder any more." } },
            Some(input) => {
                @if let Some(root) = &root {
                    (section(campaign, if parent.as_ref() == Some(root) { "Against its seed, which is its parent" } else { "Against its seed" }, root, input, deadline))
                }
                @if let Some(parent) = parent.as_ref().filter(|parent| root.as_ref() != Some(parent)) {
                    (section(campaign, "Against its parent", parent, input, deadline))
                }
                @if root.is_none() && parent.is_none() {
                    h2 { "The input" }
                    p class="dim" { "It is a seed, or what it was made from was not recorded." }
                    (rendered(None, input, deadline))
                }
            },
        }
    };
    markup::page(&format!("{}: quagmire", file_name(&finding.path)), false, &content)
}

fn section(campaign: &Campaign, title: &str, path: &str, input: &[u8], deadline: Instant) -> Markup {
    html! {
        h2 { (title) }
        @match campaign.input(path) {
            None => p { span class="code" { (shown(path)) } " is not in the folder any more." },
            Some(old) if old == input => p { "The same bytes." },
            Some(old) => {
                p class="dim legend" {
                    span { del { "removed" } } span { ins { "added" } }
                    span { (counted(old.len() as u64, "byte")) " before, " (counted(input.len() as u64, "byte")) " now" }
                    span { "· blank, → tab, ↵ newline, " span class="code" { "\\x00" } " other bytes" }
                }
                (rendered(Some(&old), input, deadline))
            },
        }
    }
}

/// Renders the difference as text, or as a hex dump if the old input is binary; without an old input, the new one
/// alone.
fn rendered(old: Option<&[u8]>, new: &[u8], deadline: Instant) -> Markup {
    let Some(old) = old else {
        return html! {
            @if !reads_as_text(new) { (hex_rows(&hex::excerpt(new, ALONE / 16))) }
            @else { div class="bytes excerpt" { (markup::pieces(&folded(new, ALONE))) } }
        };
    };
    let blocks = difference(old, new, deadline);
    html! {
        @if Instant::now() >= deadline {
            p class="note" { "There was not enough time to compare all of it: what was not compared is shown as changed." }
        }
        @if !reads_as_text(old) || (old.is_empty() && !reads_as_text(new)) {
            (hex_rows(&hex::rows(old, new, &blocks)))
        } @else {
            (text_rows(&text::rows(old, new, &blocks)))
        }
    }
}

/// Last component of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Same => "same",
        Mark::Removed => "removed",
        Mark::Added => "added",
    }
}

/// Renders the rows of a text difference.
fn text_rows(rows: &[Row]) -> Markup {
    html! {
        div class="bytes lines" {
            @for row in rows {
                @match row {
                    Row::Skipped(text) => div class="skipped" { (text) },
                    Row::Line { number, parts } => div class=(if parts.iter().any(|part| part.0 != Mark::Same) { "row changed" } else { "row" }) {
                        span class="no" { @if let Some(number) = number { (number) } }
                        span class="line" {
                            @for (mark, shown) in parts {
                                @match mark {
                                    Mark::Same => (markup::pieces(shown)),
                                    Mark::Removed => del { (markup::pieces(shown)) },
                                    Mark::Added => ins { (markup::pieces(shown)) },
                                }
                            }
                        }
                    },
                }
            }
        }
    }
}

/// Renders the rows of a hex dump.
pub(crate) fn hex_rows(rows: &[HexRow]) -> Markup {
    html! {
        div class="bytes hex" {
            @for row in rows {
                @match row {
                    HexRow::Words(mark, words) => div class={ "skipped " (class(*mark)) } { (words) },
                    HexRow::Bytes { offset, cells } => div class="row" {
                        span class="no" { (format!("{offset:08x}")) }
                        span class="cells" {
                            @for same in cells.chunk_by(|a, b| a.0 == b.0) {
                                span class=(class(same[0].0)) { (hex_cells(same)) }
                            }
                        }
                        span class="ascii" {
                            @for same in cells.chunk_by(|a, b| a.0 == b.0) {
                                span class=(class(same[0].0)) { (ascii(same)) }
                            }
                        }
                    },
                }
            }
        }
    }
}

fn hex_cells(cells: &[(Mark, u8)]) -> String {
    cells.iter().map(|(_, byte)| format!("{byte:02x} ")).collect()
}

fn ascii(cells: &[(Mark, u8)]) -> String {
    cells.iter().map(|&(_, byte)| if byte.is_ascii_graphic() { char::from(byte) } else { '.' }).collect()
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
}
