//! Pictures of a finding: how its cost grows with its size, and where it is spent, beside the seed.

use maud::{Markup, html};

use crate::{
    graph::{self, chart::WIDTH, flame::flame, growth::growth},
    markup,
};
use quagmire_base::{format::grouped, visible::shown};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;
use quagmire_results::{
    cost_tree::CostTree,
    growth_plot::GrowthPlot,
    summary::{Finding, FindingLaw},
};

/// Section about the law of a finding, with a plot of it if there are pictures; the reason where there is no law; empty
/// where nobody has looked for one.
pub(super) fn law(finding: &Finding, has_pictures: bool) -> Markup {
    let Some(law) = &finding.law else {
        return html! {
            @if let Some(reason) = &finding.no_law {
                h4 { "How the cost grows" }
                p { "No law: " (shown(&reason.why)) "." }
                @if !reason.command.is_empty() { (markup::command(&reason.command)) }
            }
        };
    };
    let plot = GrowthPlot::of_finding(law);
    html! {
        h4 { "How the cost grows" }
        p { @if law.resource != Resource::Instructions { (law.resource.name()) ": " } (shown(&law.words)) "; confidence: " (shown(&law.confidence)) (facts(law)) "." }
        @if let Some(template) = &finding.template { pre { (shown(template)) } }
        @if let Some(generator) = &law.generator { (markup::command(generator)) }
        @if let Some(chart) = growth(&plot).filter(|_| has_pictures) {
            div class="graph" { (graph::inline(WIDTH, chart.height, &shown(&plot.title), &chart.content)) }
        }
    }
}

/// Rival and sizes of a law, each after a semicolon.
fn facts(law: &FindingLaw) -> String {
    let rival = law.rival.as_ref().map(|rival| format!("; {} does as well", shown(rival)));
    let bytes = |size: Option<u64>, time: &str| size.map(|size| format!("; {time} at about {} bytes", grouped(size)));
    let parts = [rival, bytes(law.bytes_of_second, "1 s"), bytes(law.bytes_of_minute, "1 min")];
    parts.into_iter().flatten().collect()
}

/// Flame graph of a finding beside its seed; empty if no place is known.
pub(super) fn flame_graph(finding: &Finding, by: Instrumentation) -> Markup {
    let chart = CostTree::of_finding(finding)
        .and_then(|tree| flame("by function and line", &tree, ["the seed", "this input"], by.work()));
    html! {
        @if let Some(chart) = chart {
            div class="graph" { (graph::inline(WIDTH, chart.height, "costs by function and line", &chart.content)) }
        }
    }
}
