//! `report.html`: the page with everything about a campaign.

mod facts;
pub mod findings;
mod hot;
mod masks;
mod pictures;
mod tables;
mod verdict;

use std::collections::HashMap;

use maud::{Markup, html};

use super::{campaign::Campaign, diff::page::file_name, markup, rules::RuleWords};

pub use verdict::by_badness;

/// Contents of the page besides the data of the campaign.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Paths of the pages of differences, relative to the folder, by index of their finding.
    pub diffs: HashMap<usize, String>,
    /// Number of findings without such a page, for lack of time.
    pub left_out: usize,
    /// Whether findings have pictures: flame graphs and growth plots.
    pub has_pictures: bool,
    /// Rendered graphs.
    pub graphs: Vec<Markup>,
}

/// Renders the page.
pub(crate) fn page(campaign: &Campaign, rules: &RuleWords, extras: &Extras) -> String {
    let summary = &campaign.summary;
    let content = html! {
        h1 { "quagmire" }
        (verdict::verdict(summary))
        (facts::tiles(summary))
        nav {
            a href="#findings" { "Findings" } @if !extras.graphs.is_empty() { a href="#time" { "Over time" } }
            a href="#costs" { "Costs" } a href="#rules" { "Rules" }
            @if summary.masks.computed > 0 { a href="#masks" { "Masks" } } a href="#baseline" { "Baseline and noise" } a href="#campaign" { "Campaign" }
        }
        (findings::findings(campaign, rules, extras))
        @if !extras.graphs.is_empty() {
            h2 id="time" { "Over time" }
            @for graph in &extras.graphs { div class="graph" { (graph) } }
        }
        (tables::costs(summary))
        (tables::rules(summary, rules))
        @if let Some(section) = masks::masks(summary) { (section) }
        (facts::baseline(summary))
        (facts::facts(summary))
    };
    markup::page(&format!("{}: quagmire", file_name(&summary.target.program)), true, &content)
}
