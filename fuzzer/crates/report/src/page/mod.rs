//! `report.html`: the page with everything about a campaign, in the order of the questions that people ask.

mod about;
mod cause;
mod causes;
mod facts;
mod input;
mod masks;
mod next;
mod others;
mod pictures;
mod source;
mod tables;
mod verdict;

use std::collections::HashMap;

use maud::{Markup, html};

use super::{campaign::Campaign, diff::page::file_name, markup, rules::RuleWords};
use quagmire_base::format::counted;

pub use verdict::by_badness;

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
        (verdict::verdict(summary))
        (facts::figures(summary))
        @if causes.is_empty() {
            (others::none(summary))
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
        (about::about(summary, rules, extras))
    };
    markup::page(&format!("{}: quagmire", file_name(&summary.target.program)), true, &content)
}
