//! The page of a score: how many mutants are noticed, by operator and function, and the survivors beside their source.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::{markup, sources::Sources, words};
use quagmire_base::{
    format::{counted, grouped, ratio},
    visible::shown,
};
use quagmire_results::score_file::{MutantCounts, MutantState, ScoreFile, ScoredMutant};

/// Survivors beside their source; the others are in the file.
const SHOWN: usize = 300;

/// Renders the page of a score.
pub(crate) fn page(score: &ScoreFile) -> String {
    let mut survivors: Vec<&ScoredMutant> =
        score.mutants.iter().filter(|mutant| mutant.state == MutantState::Survived).collect();
    survivors.sort_by_key(|mutant| std::cmp::Reverse(mutant.infected_by));
    let mut sources = Sources::default();
    let killed_by: Vec<String> =
        score.killed_by.iter().map(|(way, killed)| format!("{} by {way}", grouped(*killed))).collect();
    let infected = score.infected_in_words();
    let content = html! {
        h1 { "quagmire" }
        p class="verdict" { (shown(&score.headline())) }
        @if score.all.equivalent > 0 { p { (counted(score.all.equivalent, "mutant")) " more: equivalent, since the compiler makes the same code of them." } }
        @if score.is_incomplete { p class="note" { "It was stopped before all mutants were done." } }
        @if !killed_by.is_empty() { p { "Killed: " (shown(&killed_by.join(", "))) "." } }
        p class="dim" { (meaning(score)) }
        h2 id="map" { "Map" }
        p class="dim" { "A box is a function, as wide as it has mutants; the fuller its colour, the more of them are killed. Grey: not reached." }
        @for (file, functions) in &score.functions { (map(file, functions)) }
        h2 id="operators" { "Operators" }
        (table("operator", infected, score.operators.iter().map(|(name, counts)| (html! { (shown(name)) }, *counts))))
        h2 id="functions" { "Functions" }
        @for (file, functions) in &score.functions {
            h3 { (markup::name(file)) }
            (table("function", infected, by_survivors(functions).into_iter().map(|(name, counts)| (markup::brief(name), *counts))))
        }
        h2 id="survivors" { "Survivors" }
        p class="dim" { (counted(survivors.len() as u64, "mutant")) ", those first that most inputs miss." }
        @for mutant in survivors.iter().take(SHOWN) { (survivor(mutant, &mut sources)) }
        @if survivors.len() > SHOWN { p class="dim" { "and " (grouped((survivors.len() - SHOWN) as u64)) " more in the file" } }
    };
    markup::page("quagmire mutants", true, &content)
}

/// Meaning of mutants and of their score, for readers.
fn meaning(score: &ScoreFile) -> String {
    match score.cost_factor {
        Some(factor) => format!(
            "A performance mutant is a place where the program could be slower. It is killed if some input costs {factor} times as \
             much with it. What survives is code that no input makes work enough for that."
        ),
        None => "A mutant is a small fault in the program. It is killed if some input ends, answers or writes differently with it. \
                 What no input reaches says what the corpus does not run; what survives says what it runs without looking."
            .to_owned(),
    }
}

/// The functions of a file as boxes.
fn map(file: &str, functions: &BTreeMap<String, MutantCounts>) -> Markup {
    let mut all: Vec<(&String, &MutantCounts)> = functions.iter().collect();
    all.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.mutants));
    let style = |counts: &MutantCounts| {
        let colour = match counts.killed_of_reached() {
            Some(share) => format!("color-mix(in srgb, var(--bar) {:.0}%, var(--removed))", share * 100.0),
            None => "var(--rule)".to_owned(),
        };
        let share = counts.killed_of_reached().unwrap_or(0.0);
        let ink = if share > 0.6 { "var(--paper)" } else { "var(--ink)" };
        format!("flex: {} 1 {}px; background: {colour}; color: {ink}", counts.mutants, counts.mutants / 2)
    };
    let title = |name: &str, counts: &MutantCounts| {
        let MutantCounts { mutants, reached, killed, .. } = counts;
        format!("{name}: {mutants} mutants, {reached} reached, {killed} killed")
    };
    html! {
        h4 { (shown(file)) }
        div class="treemap" {
            @for (name, counts) in all {
                span class="code" style=(style(counts)) title=(shown(&title(name, counts))) { (shown(&words::brief(name))) }
            }
        }
    }
}

/// Functions, those first in which the most mutants are reached and not killed.
fn by_survivors(functions: &BTreeMap<String, MutantCounts>) -> Vec<(&String, &MutantCounts)> {
    let mut all: Vec<(&String, &MutantCounts)> = functions.iter().collect();
    all.sort_by_key(|(_, counts)| std::cmp::Reverse((counts.reached.saturating_sub(counts.killed), counts.reached)));
    all
}

/// Table of numbers of mutants.
fn table(heading: &str, infected: &str, rows: impl Iterator<Item = (Markup, MutantCounts)>) -> Markup {
    html! {
        div class="scroll" {
            table class="sortable" {
                thead { tr {
                    th { (heading) }
                    @for name in ["mutants", "reached", infected, "killed", "of reached"] { th class="number" { (name) } }
                } }
                tbody { @for (name, counts) in rows { tr {
                    td class="place" { (name) }
                    @for number in [counts.mutants, counts.reached, counts.infected, counts.killed] {
                        td class="number" data-v=(number) { (grouped(number)) }
                    }
                    td class="number" data-v=(counts.killed_of_reached().unwrap_or(-1.0)) {
                        @match counts.killed_of_reached() { Some(share) => (words::percent(share)), None => span class="dim" { "-" } }
                    }
                } } }
            }
        }
    }
}

/// A survivor beside its source.
fn survivor(scored: &ScoredMutant, sources: &mut Sources) -> Markup {
    let mutant = &scored.mutant;
    html! {
        div class="survivor" {
            p { b { (shown(&mutant.change())) } " in " (markup::brief(&mutant.function)) span class="dim" {
                " " (markup::location(&mutant.location())) ", "
                @match scored.worst_factor {
                    Some(worst) => { "at most " (ratio(worst)) " the cost of an input" }
                    None => { "infected by " (counted(scored.infected_by, "input")) }
                }
            } }
            @let lines = sources.around(&mutant.file, mutant.line);
            @if !lines.is_empty() {
                pre { @for (number, line) in &lines {
                    @let text = format!("{number:>5}  {}\n", shown(line));
                    @if *number == mutant.line { b { (text) } } @else { (text) }
                } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::score_file::Mutant;
    use std::path::Path;

    const HOSTILE: &str = "<script>\"&\u{1b}[2J";

    fn survivor(file: &Path) -> ScoredMutant {
        ScoredMutant {
            mutant: Mutant {
                file: file.display().to_string(),
                line: 2,
                column: 1,
                function: HOSTILE.into(),
                operator: "constant".into(),
                was: HOSTILE.into(),
                became: "0".into(),
                ..Mutant::default()
            },
            state: MutantState::Survived,
            infected_by: 3,
            ..ScoredMutant::default()
        }
    }

    fn score(mutants: Vec<ScoredMutant>) -> ScoreFile {
        let counts = MutantCounts { mutants: 4, reached: 2, infected: 2, killed: 1, equivalent: 1 };
        ScoreFile {
            version: "0.1.0".into(),
            inputs: 3,
            all: counts,
            operators: [("constant".to_owned(), counts)].into(),
            functions: [(HOSTILE.to_owned(), [(HOSTILE.to_owned(), counts)].into())].into(),
            killed_by: [("output".to_owned(), 1)].into(),
            is_incomplete: true,
            mutants,
            ..ScoreFile::default()
        }
    }

    #[test]
    fn survivors_stand_beside_their_source_and_no_text_of_a_program_is_markup() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.c");
        std::fs::write(&file, format!("first\nsecond {HOSTILE}\nthird\n")).unwrap();
        let page = page(&score(vec![survivor(&file)]));
        assert!(!page.contains("<script>\"&") && !page.contains('\u{1b}'), "{page}");
        assert!(page.contains("    1  first") && page.contains("<b>    2  second"), "{page}");
        assert!(page.contains("50.0 %") && page.contains("infected by 3 inputs"), "{page}");
    }
}
