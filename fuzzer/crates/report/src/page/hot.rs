//! Table of the places where the cost of a finding grew: lines or functions, with counts of seed and finding.

use maud::{Markup, html};

use crate::{markup, words};
use quagmire_base::format::grouped;
use quagmire_execution::info::Instrumentation;
use quagmire_results::{growth::Grown, summary::Finding};

/// Maximum number of places shown.
const SHOWN: usize = 8;

/// Renders the table of places, most growth first.
pub(crate) fn places(finding: &Finding, counted: Instrumentation) -> Markup {
    let growth = &finding.growth;
    let of_lines = !growth.lines.is_empty();
    let mut grown: Vec<&Grown> = if of_lines { &growth.lines } else { &growth.functions }.iter().collect();
    grown.sort_by(|a, b| b.share.total_cmp(&a.share));
    html! {
        @if grown.is_empty() {
            @match (&finding.hot_function, &finding.hot_location) {
                (Some(function), Some(location)) => p { (markup::name(function)) " at " (markup::location(location)) },
                (Some(function), None) => p { (markup::name(function)) },
                _ => p class="dim" { "Not recorded." },
            }
        } @else {
            div class="scroll" {
                table {
                    thead { tr {
                        th { "share of the growth" }
                        @if of_lines { th { "line" } }
                        th { "function" } th class="number" { "runs, seed" } th class="number" { "runs, this input" } th class="number" { (counted.work()) }
                    } }
                    tbody { @for place in grown.iter().take(SHOWN) { (row(place, of_lines)) } }
                }
            }
            @if grown.len() > SHOWN { p class="dim" { "and " (grown.len() - SHOWN) " more in " span class="code" { "summary.json" } } }
        }
    }
}

fn row(place: &Grown, of_lines: bool) -> Markup {
    let share = if place.share.is_finite() { place.share.clamp(0.0, 1.0) } else { 0.0 };
    html! {
        tr {
            td { span class="share" { span style={ "width:" (format!("{:.1}", share * 100.0)) "%" } {} } (words::percent(share)) }
            @if of_lines {
                td { @match (&place.file, place.line) {
                    (Some(file), Some(line)) => (markup::location(&format!("{file}:{line}"))),
                    (Some(file), None) => (markup::location(file)),
                    _ => span class="dim" { "-" },
                } }
            }
            td class="place" { (markup::brief(&place.function)) }
            td class="number" { (grouped(place.first_count)) }
            td class="number" { (grouped(place.count)) }
            td class="number" { (grouped(place.instructions)) }
        }
    }
}
