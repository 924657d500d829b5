//! Inputs that are no findings.

use maud::{Markup, html};

use crate::markup;
use quagmire_base::{
    format::{counted, grouped, ratio},
    visible::shown,
};
use quagmire_results::summary::Summary;

/// Figures of a campaign without findings, and advice.
pub(super) fn none(summary: &Summary) -> Markup {
    let unconfirmed = summary.command.iter().any(|word| word == "--no-confirm");
    html! {
        p {
            (counted(summary.executions, "input")) (if summary.executions == 1 { " was" } else { " were" }) " run"
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
            p class="note" { @match &summary.advice { Some(advice) => (shown(advice)), None => "More time, larger inputs or other seeds may find some." } }
        }
    }
}

/// Table of the inputs above the threshold that were not confirmed.
pub(super) fn unconfirmed(summary: &Summary) -> Markup {
    html! {
        @if !summary.unconfirmed.is_empty() {
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
pub(super) fn large(summary: &Summary) -> Markup {
    html! {
        @if summary.large > 0 {
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
