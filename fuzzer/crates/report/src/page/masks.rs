//! Section about rare branches and masks: their cost and effect.

use maud::{Markup, html};

use quagmire_base::format::{counted, grouped};
use quagmire_mutators::kinds::{GoalKind, Source};
use quagmire_results::summary::{Masks, Rare, Shadow, Summary};

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
pub(crate) fn masks(summary: &Summary) -> Option<Markup> {
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
