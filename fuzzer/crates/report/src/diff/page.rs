//! The page of one finding: its differences from its seed and its parent, and all facts about it.

use std::time::Instant;

use maud::{Markup, html};

use super::{difference, hex, rows, text};
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
            dt { "verdict" } dd { (words::verdict(finding)) @if let Some(severity) = words::severity_of(finding) { ", " (words::severity(severity)) } }
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
            @if !reads_as_text(new) { (rows::hex_rows(&hex::excerpt(new, ALONE / 16))) }
            @else { div class="bytes excerpt" { (markup::pieces(&folded(new, ALONE))) } }
        };
    };
    let blocks = difference(old, new, deadline);
    html! {
        @if Instant::now() >= deadline {
            p class="note" { "There was not enough time to compare all of it: what was not compared is shown as changed." }
        }
        @if !reads_as_text(old) || (old.is_empty() && !reads_as_text(new)) {
            (rows::hex_rows(&hex::rows(old, new, &blocks)))
        } @else {
            (rows::text_rows(&text::rows(old, new, &blocks)))
        }
    }
}

/// Last component of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
