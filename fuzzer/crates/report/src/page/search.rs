//! About the search: what it did, with what effect, and on which machine.

use maud::{Markup, html};

use super::Extras;
use crate::{graph::histogram::histogram, markup, rules::RuleWords, words};
use quagmire_base::{
    format::{counted, grouped, rate, ratio},
    shell,
    visible::shown,
};
use quagmire_cost::{resource::Resource, sizes::RelativeTo};
use quagmire_execution::info::Engine;
use quagmire_mutators::kinds::{GoalKind, Source};
use quagmire_results::summary::{Distribution, Masks, Rare, Rule, Shadow, Summary};

/// Renders all sections, folded, as no finding needs them; a link to one opens it.
pub(super) fn about(summary: &Summary, rules: &RuleWords, extras: &Extras) -> Markup {
    let section = |id: &str, title: &str, is_open: bool, content: Markup| {
        html! { details class="about" id=(id) open[is_open] { summary { h3 { (title) } } (content) } }
    };
    let unconfirmed = summary.unconfirmed.len() as u64;
    html! {
        h2 id="about" { "About the search" }
        @if unconfirmed > 0 {
            (section("unconfirmed", &format!("{unconfirmed} unconfirmed"), summary.degradations == 0, table_of_unconfirmed(summary)))
        }
        @if summary.large > 0 { (section("large", &format!("{} only large", summary.large), false, table_of_large(summary))) }
        (section("campaign", "Campaign and machine", false, facts(summary)))
        (section("baseline", "Baseline and noise", false, baseline(summary)))
        @if !extras.graphs.is_empty() {
            (section("time", "Over time", false, html! { @for graph in &extras.graphs { div class="graph" { (graph) } } }))
        }
        (section("costs", "What all runs cost", false, table_of_costs(summary)))
        (section("rules", &counted(summary.rules.len() as u64, "rule"), false, table_of_rules(summary, rules)))
        @if let Some(content) = masks(summary) { (section("masks", "Rare branches and masks", false, content)) }
    }
}

/// The figures below the verdict, in a line.
pub(super) fn figures(summary: &Summary) -> Markup {
    let edges = match summary.target.edges {
        Some(edges) => format!("{} of {} edges", grouped(summary.edges_found), grouped(edges)),
        None => counted(summary.edges_found, "edge"),
    };
    let counts = summary.target.instrumentation.counts();
    let figures = [
        Some(counted(summary.findings.len() as u64, "finding")),
        Some(format!("{} in {}", counted(summary.executions, "execution"), words::duration(summary.seconds))),
        counts.then_some(edges),
    ];
    html! { p class="dim figures" { @for figure in figures.into_iter().flatten() { span { (figure) } " " } } }
}

/// The baseline, and the noise of time measurements.
fn baseline(summary: &Summary) -> Markup {
    let baseline = &summary.baseline;
    html! {
        @match (&summary.sizes, summary.relative_to) {
            (None, RelativeTo::Size) if !summary.target.instrumentation.counts() => p { "Degradations take more time than the median seed, than the seed that they descend from, and than several seeds joined to their size." },
            (Some(_), RelativeTo::Size) => p { "Degradations cost more than an ordinary input of their size. What that is was measured with the seeds, parts of them, and several of them joined; it is never less than the median seed." },
            _ => p { "Degradations cost more than the median seed." },
        }
        dl class="facts" {
            dt { (summary.target.instrumentation.work()) } dd { (baseline.instructions.map_or("not measured".into(), grouped)) }
            dt { (summary.target.instrumentation.time()) } dd { (baseline.seconds.map_or("not measured".into(), words::duration)) }
            dt { "size" } dd { (baseline.bytes.map_or("not known".into(), |bytes| counted(bytes, "byte"))) }
            @if let Some(sizes) = &summary.sizes {
                @if let Some(line) = sizes.costs.iter().find(|cost| cost.resource == Resource::Instructions) {
                    dt { "by size" } dd {
                        (format!("{:.0} {} and {:.2} a byte", line.fixed, summary.target.instrumentation.work(), line.per_byte))
                        @if line.per_byte_high > line.per_byte { (format!(", up to {:.2} for expensive content", line.per_byte_high)) }
                        ", from " (counted(sizes.runs, "run")) " of up to " (counted(sizes.largest, "byte"))
                    }
                }
            }
            dt { "noise floor" } dd {
                @match &summary.noise {
                    Some(noise) => { (words::percent(noise.floor)) ": the seed measured against itself " (counted(noise.rounds.into(), "time")) " looked at most this much slower or faster. Smaller differences in time mean nothing on this machine." },
                    None => "not measured",
                }
            }
        }
    }
}

/// Time in code without counts; nothing if that is not known.
fn unseen(summary: &Summary) -> Markup {
    let unseen = &summary.unseen;
    let share = |share: Option<f64>| share.filter(|share| share.is_finite()).map(words::percent);
    html! {
        @if let Some(uncounted) = share(unseen.uncounted_share) {
            dt { "time without counts" } dd {
                (uncounted) " in code of the program, " (share(unseen.system_share).unwrap_or_default()) " in libraries of the system, of "
                (counted(unseen.samples, "sample"))
                @for function in &unseen.functions { ", " (words::percent(function.share)) " in " span class="code" { (shown(&function.function)) } " of " (shown(&function.object)) }
            }
        }
    }
}

/// Facts about the campaign and the machine.
fn facts(summary: &Summary) -> Markup {
    let machine = &summary.environment;
    let engine = match summary.target.engine {
        Engine::InProcess => "in process",
        Engine::ForkServer => "fork server",
        Engine::Processes => "a process for each run",
    };
    html! {
        (markup::command(&shell::command(&summary.command)))
        dl class="facts" {
            dt { "target" } dd { span class="code" { (shown(&summary.target.program)) } ", " (engine)
                @if !summary.target.instrumentation.is_usual() { ", " (summary.target.instrumentation.origin()) ": " (summary.target.instrumentation.remark()) }
            }
            (unseen(summary))
            @if let Some(advice) = &summary.advice { dt { "advice" } dd { (shown(advice)) } }
            dt { "started" } dd { (shown(&summary.started)) }
            dt { "speed" } dd { (rate(summary.executions_per_second)) " executions a second" }
            dt { "ended" } dd { (words::stopped_by(summary)) }
            dt { "random seed" } dd { (summary.seed) }
            @if !machine.system.is_empty() { dt { "system" } dd { (shown(&machine.system)) } }
            @if !machine.processor.is_empty() {
                dt { "processor" } dd { (shown(&machine.processor)) ", " (counted(machine.processors, "processor")) " to use" }
            }
            @if machine.memory > 0 { dt { "memory" } dd { (words::bytes(machine.memory)) } }
            @if !machine.system.is_empty() && machine.load.is_finite() { dt { "load at the start" } dd { (format!("{:.2}", machine.load)) } }
            dt { "quagmire" } dd { (shown(&summary.version)) }
        }
    }
}

/// Table of the rules, the most successful first.
fn table_of_rules(summary: &Summary, words: &RuleWords) -> Markup {
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
fn table_of_costs(summary: &Summary) -> Markup {
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

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

fn goal(kind: GoalKind) -> &'static str {
    match kind {
        GoalKind::Branch => "a rare branch is hit",
        GoalKind::Edge => "a hot edge stays hot",
        GoalKind::Cost => "nine tenths of the cost are kept",
    }
}

fn stage(source: Source) -> &'static str {
    match source {
        Source::Deterministic => "deterministic",
        Source::Havoc => "havoc",
        Source::Rules => "rules",
    }
}

/// Renders the section; `None` if no mask was computed.
fn masks(summary: &Summary) -> Option<Markup> {
    let Masks { computed, bytes, executions, trimming, mutants, hits, kept } = summary.masks;
    if computed == 0 {
        return None;
    }
    let Rare { branches, cutoff, paused, bootstraps } = summary.rare;
    Some(html! {
        p class="dim" {
            "A mask says which bytes of an input may be changed so that it still does what makes it interesting: hits a \
             branch that few inputs hit, or keeps its cost."
        }
        div class="scroll" { table { tbody {
            tr { th { "rare branches" } td {
                (grouped(branches)) ", hit by no more than " (counted(cutoff, "run"))
                @if paused > 0 { "; " (grouped(paused)) " set aside, since they could not be hit again" }
            } }
            tr { th { "ordinary mutation took over" } td { (counted(bootstraps, "time")) ", when they brought nothing new" } }
            tr { th { "inputs made ready" } td { (grouped(computed)) ", of " (counted(bytes / computed, "byte")) " on average" } }
            tr { th { "executions" } td {
                (grouped(executions)) " for masks and " (grouped(trimming)) " for trimming, "
                (percent(executions + trimming, summary.executions)) " of all"
            } }
            tr { th { "masked mutants" } td {
                (grouped(mutants)) "; " (percent(hits, mutants)) " reached their goal, " (grouped(kept)) " were kept"
            } }
        } } }
        @if !summary.shadow.is_empty() {
            p { "With and without a mask (" code { "--experiment shadow-mask" } "): mutants of the same inputs that reach the goal." }
            div class="scroll" { table {
                thead { tr {
                    th { "goal" } th { "mutants by" } th class="number" { "masked" } th class="number" { "plain" } th class="number" { "factor" }
                } }
                tbody { @for row in &summary.shadow { (shadow(row)) } }
            } }
        }
    })
}

fn shadow(row: &Shadow) -> Markup {
    let share = |hits: u64, mutants: u64| hits as f64 / mutants.max(1) as f64;
    let (masked, plain) = (share(row.masked_hits, row.masked_mutants), share(row.plain_hits, row.plain_mutants));
    html! { tr {
        td { (goal(row.target)) }
        td { (stage(row.stage)) }
        td class="number" { (percent(row.masked_hits, row.masked_mutants)) }
        td class="number" { (percent(row.plain_hits, row.plain_mutants)) }
        td class="number" { @if plain > 0.0 { (format!("{:.2}", masked / plain)) } @else { "-" } }
    } }
}

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
fn table_of_unconfirmed(summary: &Summary) -> Markup {
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
fn table_of_large(summary: &Summary) -> Markup {
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

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::testing::example;

    #[test]
    fn there_is_a_section_if_there_are_masks() {
        let text = masks(&example()).expect("a section").into_string();
        for part in ["7, hit by no more than 64 runs", "41, of 40 bytes", "45.9 % reached", "45.0 %", "9.0 %", "5.00"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(masks(&Summary { masks: Masks::default(), ..example() }).is_none());
    }
}
