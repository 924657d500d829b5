//! About the search: what it did, with what effect, and on which machine. Folded, as no finding needs it.

use maud::{Markup, html};

use super::{Extras, facts, masks, others, tables};
use crate::rules::RuleWords;
use quagmire_base::format::counted;
use quagmire_results::summary::Summary;

/// Renders all sections; a link to one opens it.
pub(super) fn about(summary: &Summary, rules: &RuleWords, extras: &Extras) -> Markup {
    let section = |id: &str, title: &str, is_open: bool, content: Markup| {
        html! { details class="about" id=(id) open[is_open] { summary { h3 { (title) } } (content) } }
    };
    let unconfirmed = summary.unconfirmed.len() as u64;
    html! {
        h2 id="about" { "About the search" }
        @if unconfirmed > 0 {
            (section("unconfirmed", &format!("{unconfirmed} unconfirmed"), summary.degradations == 0, others::unconfirmed(summary)))
        }
        @if summary.large > 0 { (section("large", &format!("{} only large", summary.large), false, others::large(summary))) }
        (section("campaign", "Campaign and machine", false, facts::facts(summary)))
        (section("baseline", "Baseline and noise", false, facts::baseline(summary)))
        @if !extras.graphs.is_empty() {
            (section("time", "Over time", false, html! { @for graph in &extras.graphs { div class="graph" { (graph) } } }))
        }
        (section("costs", "What all runs cost", false, tables::costs(summary)))
        (section("rules", &counted(summary.rules.len() as u64, "rule"), false, tables::rules(summary, rules)))
        @if let Some(content) = masks::masks(summary) { (section("masks", "Rare branches and masks", false, content)) }
    }
}
