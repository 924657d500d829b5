//! How the cost of a finding grows with its size, with a picture.

use maud::{Markup, html};

use crate::{
    graph::{self, chart::WIDTH, growth::growth},
    markup,
};
use quagmire_base::{format::grouped, visible::shown};
use quagmire_cost::resource::Resource;
use quagmire_results::{
    growth_plot::GrowthPlot,
    summary::{Finding, FindingLaw},
};

/// Section about the law of a finding, with a plot of it if there are pictures; the reason where there is no law; empty
/// where nobody has looked for one.
pub(super) fn law(finding: &Finding, has_pictures: bool) -> Markup {
    let Some(law) = &finding.law else {
        return html! {
            @if let Some(reason) = &finding.no_law {
                h3 { "How the cost grows" }
                p { "No law: " (shown(&reason.why)) "." }
                @if !reason.command.is_empty() { (markup::command(&reason.command)) }
            }
        };
    };
    // the law stands above the picture
    let plot = GrowthPlot { title: String::new(), ..GrowthPlot::of_finding(law) };
    html! {
        h3 { "How the cost grows" }
        p { @if law.resource != Resource::Instructions { (law.resource.name()) ": " } (shown(&law.words)) "; confidence: " (shown(&law.confidence)) (facts(law)) "." }
        @if let Some(chart) = growth(&plot).filter(|_| has_pictures) {
            div class="graph" { (graph::inline(WIDTH, chart.height, &shown(&law.words), &chart.content)) }
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
