//! Tables of the rules' results, and of the costs of all runs.

use maud::{Markup, html};

use crate::{graph::histogram::histogram, markup, rules::RuleWords, words};
use quagmire_base::{format::grouped, visible::shown};
use quagmire_results::summary::{Distribution, Rule, Summary};

/// Table of the rules, the most successful first.
pub(crate) fn rules(summary: &Summary, words: &RuleWords) -> Markup {
    let mut rules: Vec<&Rule> = summary.rules.iter().collect();
    rules.sort_by_key(|rule| std::cmp::Reverse((rule.degradations, rule.coverage_increases)));
    html! {
        @if rules.is_empty() {
            p class="dim" { "None were recorded." }
        } @else {
            p class="dim" { "Yield: mutants that were kept, of a thousand that the rule had a part in." }
            div class="scroll" {
                table class="sortable" {
                    thead { tr {
                        th { "rule" } th { "name" } th { "aims at" } th class="number" { "applied" } th class="number" { "kept" }
                        th class="number" { "degradations" } th class="number" { "yield" }
                    } }
                    tbody { @for rule in rules {
                        @let per_mille = rule.coverage_increases as f64 * 1e3 / rule.applied.max(1) as f64;
                        tr {
                            td class="code" { (shown(&rule.label)) }
                            td { (markup::name(&rule.name)) }
                            td class="place dim" { (words.aim(&rule.label).map_or(String::new(), shown)) }
                            td class="number" data-v=(rule.applied) { (grouped(rule.applied)) }
                            td class="number" data-v=(rule.coverage_increases) { (grouped(rule.coverage_increases)) }
                            td class="number" data-v=(rule.degradations) { (grouped(rule.degradations)) }
                            td class="number" data-v=(per_mille) { (format!("{per_mille:.2}")) }
                        }
                    } }
                }
            }
        }
    }
}

/// Table and histograms of the distribution of each resource.
pub(crate) fn costs(summary: &Summary) -> Markup {
    let (used, unused): (Vec<&Distribution>, Vec<_>) = summary.costs.iter().partition(|d| d.count > 0 && d.max > 0);
    html! {
        @if used.is_empty() {
            p class="dim" { "Not recorded." }
        } @else {
            div class="scroll" {
                table {
                    thead { tr {
                        th { "resource" } th class="number" { "median seed" } th class="number" { "least" } th class="number" { "median" }
                        th class="number" { "90 %" } th class="number" { "99 %" } th class="number" { "99.9 %" } th class="number" { "most" }
                    } }
                    tbody { @for d in &used {
                        tr {
                            td { (d.resource.describe().title) }
                            @for amount in [d.baseline, d.min, d.p50, d.p90, d.p99, d.p999, d.max] {
                                td class="number" { (words::amount(amount, &d.unit)) }
                            }
                        }
                    } }
                }
            }
            div class="histograms" {
                @for d in &used {
                    figure { figcaption { (d.resource.describe().title) span class="dim" { ", number of runs" } } (histogram(d)) }
                }
            }
        }
        @if !unused.is_empty() {
            p class="dim" {
                "Nothing was recorded for: " (unused.iter().map(|d| d.resource.describe().title).collect::<Vec<_>>().join("; ")) "."
            }
        }
    }
}
