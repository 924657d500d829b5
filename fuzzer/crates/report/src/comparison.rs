//! The page of a comparison of two builds, with verdicts and pictures of what became worse, or of a growth.

use std::path::{Path, PathBuf};

use maud::{Markup, html};

use crate::{
    graph::{self, chart::WIDTH, flame::flame, growth::growth},
    markup, score, words,
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    format::{grouped, ratio},
    plain::{self, Form},
    visible::shown,
};
use quagmire_results::{
    comparison::{Build, ComparedInput, Comparison, ComparisonVerdict},
    cost_tree::CostTree,
    growth_file::GrowthFile,
    growth_plot::GrowthPlot,
    outcomes::{Outcomes, SourceRoot},
    result_file::ResultFile,
};

/// Maximum number of inputs with pictures; the others are only in the table.
const SHOWN: usize = 50;

/// Maximum number of rows of the table.
const ROWS: usize = 1_000;

/// Runs `quagmire report` for the file of a comparison, a growth or a score: writes a page beside it, with `.html` at its end, and
/// prints where it is.
///
/// # Errors
/// If the file is none of these, or the page cannot be written.
pub fn run(file: &Path) -> Result<ExitCode> {
    let result = ResultFile::read(file)?;
    let path: PathBuf = file.with_extension("html");
    if path == file {
        return Err(Error::usage(format!("{}: its page would replace it: rename it to .json", file.display())));
    }
    let page = match &result {
        ResultFile::Comparison(comparison) => page(comparison),
        ResultFile::Growth(growth) => page_of_growth(growth),
        ResultFile::Score(score) => score::page(score),
    };
    write_whole(&path, page.as_bytes())?;
    plain::print(&format!("{}\n", path.display()), Form::Lines)?;
    Ok(ExitCode::Ended)
}

/// Renders the page of a growth.
pub fn page_of_growth(found: &GrowthFile) -> String {
    let plot = GrowthPlot::of_growth(found);
    let places = if found.lines.is_empty() { &found.functions } else { &found.lines };
    let content = html! {
        h1 { "quagmire" }
        p class="verdict" { (shown(&found.words)) }
        pre { (shown(&found.template)) }
        @if !found.generator.is_empty() { (markup::command(&found.generator)) }
        @if let Some(chart) = growth(&plot) {
            div class="graph" { (graph::inline(WIDTH, chart.height, &shown(&plot.title), &chart.content)) }
        }
        table {
            thead { tr { th class="number" { "share" } th { "place" } th { "function" } th { "law" } } }
            tbody { @for place in places {
                tr {
                    td class="number" { (words::percent(place.share)) }
                    td { @if let Some(location) = &place.location { (markup::location(location)) } }
                    td class="place" { (markup::brief(&place.function)) }
                    td { (shown(&place.words)) }
                }
            } }
        }
    };
    markup::page("quagmire growth", false, &content)
}

/// Renders the page of a comparison.
pub fn page(comparison: &Comparison) -> String {
    let outcomes = Outcomes::of_comparison(comparison, &mut SourceRoot::default());
    let worse = comparison.inputs.iter().filter(|input| is_shown(input)).take(SHOWN);
    let content = html! {
        h1 { "quagmire" }
        p class="verdict" { (shown(&outcomes.headline)) }
        dl class="facts" {
            @if let Some(old) = &comparison.old { dt { "old build" } dd { (build(old)) } }
            dt { "new build" } dd { (build(&comparison.new)) }
            dt { "slower from" } dd { (ratio(comparison.threshold)) " the instructions" }
        }
        @for input in worse { (one(input)) }
        h2 id="inputs" { "Inputs" }
        (table(comparison))
    };
    markup::page("quagmire compare", true, &content)
}

/// Whether an input has pictures: it is worse, or would be if it were not tolerated.
fn is_shown(input: &ComparedInput) -> bool {
    input.verdict.is_regression() || matches!(input.verdict, ComparisonVerdict::Tolerated | ComparisonVerdict::TimeOnly)
}

fn build(build: &Build) -> Markup {
    html! {
        span class="code" { (shown(&build.command.join(" "))) }
        @if !build.settings.is_empty() { span class="dim" { " " (shown(&build.settings.join("; "))) } }
    }
}

fn badge(input: &ComparedInput) -> Markup {
    let class = match input.verdict {
        ComparisonVerdict::LawWorse | ComparisonVerdict::NewCrash | ComparisonVerdict::NewHang => "critical",
        ComparisonVerdict::Slower => "severe",
        _ => "minor",
    };
    html! { span class={ "badge " (class) } { (input.verdict.words()) } }
}

/// Details of one input, with pictures.
fn one(input: &ComparedInput) -> Markup {
    let tree = CostTree::of_compared(input);
    let flame =
        tree.and_then(|tree| flame("functions that moved", &tree, ["the old build", "the new build"], "instructions"));
    let plot = GrowthPlot::of_compared(input);
    let plot = plot.and_then(|plot| Some((growth(&plot)?, plot)));
    html! {
        details class="finding" open {
            summary { (badge(input)) " " span class="headline" { (shown(&input.path)) } span class="dim" { " " (grouped(input.bytes)) " bytes" } }
            p { (shown(&input.reason)) "." }
            @if let Some(tolerance) = &input.tolerance {
                p class="note" { "Tolerated until " (shown(&tolerance.expires)) ": " (shown(&tolerance.reason)) @if tolerance.has_expired { " (expired)" } }
            }
            @if let Some((chart, plot)) = plot {
                div class="graph" { (graph::inline(WIDTH, chart.height, &shown(&plot.title), &chart.content)) }
            }
            @if let Some(chart) = flame {
                div class="graph" { (graph::inline(WIDTH, chart.height, "functions that moved", &chart.content)) }
            }
            @if !input.reproduce.is_empty() { (markup::command(&input.reproduce)) }
        }
    }
}

fn table(comparison: &Comparison) -> Markup {
    html! {
        div class="scroll" {
            table class="sortable" {
                thead { tr { th { "verdict" } th { "input" } th class="number" { "bytes" } th class="number" { "instructions" } th class="number" { "CPU time" } th { "where" } } }
                tbody {
                    @for input in comparison.inputs.iter().take(ROWS) {
                        tr {
                            td { (badge(input)) }
                            td class="place" { span class="code" { (shown(&input.path)) } }
                            td class="number" data-v=(input.bytes) { (grouped(input.bytes)) }
                            (markup::ratio_cell(input.ratio, None))
                            (markup::ratio_cell(input.time.map(|time| time.value), input.time.map(|time| (time.low, time.high))))
                            td class="place" { @match input.moved.first() { Some(moved) => (markup::brief(&moved.function)), None => span class="dim" { "-" } } }
                        }
                    }
                }
            }
        }
        @if comparison.inputs.len() > ROWS { p class="dim" { "and " (comparison.inputs.len() - ROWS) " more in the file" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_cost::resource::Resource;
    use quagmire_results::comparison::{LawChange, LawPoint, MovedFunction, Reference, RunFigures};

    const HOSTILE: &str = "<script>\"&\u{1b}[2J";

    fn comparison() -> Comparison {
        let run = |amount| {
            let costs = [(Resource::Instructions, amount)].into();
            Some(RunFigures { status: "returned".into(), detail: None, costs })
        };
        let point = |n: u64| LawPoint { repetitions: n, bytes: n, old: 5 * n, new: n * n };
        let moved = MovedFunction {
            function: HOSTILE.into(),
            location: None,
            old_instructions: 10,
            new_instructions: 900,
            old_count: None,
            new_count: 7,
        };
        let input = ComparedInput {
            path: HOSTILE.into(),
            hash: String::new(),
            bytes: 50,
            verdict: ComparisonVerdict::LawWorse,
            reason: HOSTILE.into(),
            old: run(100),
            new: run(1_000),
            ratio: Some(10.0),
            time: None,
            law: Some(LawChange {
                pump: HOSTILE.into(),
                template: String::new(),
                function: Some(HOSTILE.into()),
                old_exponent: 1.0,
                new_exponent: 2.0,
                sizes: [10, 17, 29, 50].map(point).to_vec(),
            }),
            moved: vec![moved],
            tolerance: None,
            reproduce: HOSTILE.into(),
        };
        Comparison {
            version: "0.1.0".into(),
            reference: Reference::Build,
            old: Some(Build { command: vec![HOSTILE.into()], ..Build::default() }),
            new: Build::default(),
            threshold: 1.05,
            is_incomplete: false,
            verdicts: Vec::new(),
            inputs: vec![input],
        }
    }

    #[test]
    fn a_page_shows_what_became_worse_with_pictures_and_no_text_of_a_target_is_markup() {
        let page = page(&comparison());
        assert!(!page.contains("<script>\"&") && !page.contains('\u{1b}'), "{page}");
        assert_eq!(page.matches("<svg").count(), 2, "{page}");
        assert!(page.contains("dashed: the old build") && page.contains("law worse"), "{page}");
    }

    #[test]
    fn the_page_lies_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("comparison.json");
        std::fs::write(&path, comparison().to_json()).unwrap();
        run(&path).unwrap();
        assert!(folder.path().join("comparison.html").is_file());
        let page = folder.path().join("a.html");
        std::fs::copy(&path, &page).unwrap();
        assert!(run(&page).unwrap_err().message.contains("replace"));
    }
}
