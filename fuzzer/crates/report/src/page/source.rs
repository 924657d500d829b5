//! The source around the hottest lines of a finding, with executions in its margin.

use maud::{Markup, html};

use crate::{markup, sources::Sources, words};
use quagmire_base::{format::grouped, visible::shown};
use quagmire_execution::info::Instrumentation;
use quagmire_results::{
    growth::{CONTEXT, Grown, LineCount},
    summary::Finding,
};

/// Number of places whose source is shown.
const PLACES: usize = 3;

/// Number of places in the table of all.
const ROWS: usize = 8;

/// Renders the places where a finding spends its cost: that of the program first, the libraries below it.
pub(super) fn places(finding: &Finding, sources: &mut Sources) -> Markup {
    let hot = finding.growth.hot_lines(PLACES);
    html! {
        @if hot.is_empty() {
            @match (&finding.hot_function, &finding.hot_location) {
                (Some(function), Some(location)) => p { (markup::name(function)) " at " (markup::location(location)) },
                (Some(function), None) => p { (markup::name(function)) },
                _ => p class="dim" { "Not recorded." },
            }
        }
        @for place in hot { (excerpt(finding, place, sources)) }
    }
}

/// The lines around a hot one. Without its source there are their numbers only.
fn excerpt(finding: &Finding, place: &Grown, sources: &mut Sources) -> Markup {
    let (Some(file), Some(line)) = (&place.file, place.line) else { return html! {} };
    let near = |of: &&LineCount| of.file == *file && of.line.abs_diff(line) <= CONTEXT;
    let counts: Vec<&LineCount> = finding.growth.around.iter().filter(near).collect();
    let mut lines = sources.around(file, line);
    let is_here = lines.iter().any(|known| known.0 == line);
    if !is_here {
        lines = counts.iter().map(|of| (of.line, String::new())).collect();
    }
    let share = if place.share.is_finite() { place.share.clamp(0.0, 1.0) } else { 0.0 };
    html! {
        p class="where" {
            (markup::location(&format!("{file}:{line}"))) " in " (markup::brief(&place.function))
            @if share >= 0.001 { span class="dim" { ", " (words::percent(share)) " of what it costs more" } }
        }
        @if lines.is_empty() {
            p class="dim" { "Executed " (grouped(place.count)) " times, by the median seed " (grouped(place.first_count)) " times. The source is not on this machine." }
        } @else {
            div class="scroll source" { table {
                thead { tr { th class="number" { "ordinary" } th class="number" { "this input" } th class="number" { "line" } th { @if !is_here { "not on this machine" } } } }
                tbody { @for (number, text) in &lines {
                    @let count = counts.iter().find(|of| of.line == *number);
                    tr class=[(*number == line).then_some("hot")] {
                        td class="number" { (count.and_then(|of| of.ordinary_count).map_or(String::new(), grouped)) }
                        td class="number" { (count.map_or(String::new(), |of| grouped(of.count))) }
                        td class="number dim" { (number) }
                        td class="code" { (shown(&text.replace('\t', "    "))) }
                    }
                } }
            } }
        }
    }
}

/// Table of the places where the cost grew against the median seed, most growth first; nothing if there are none.
pub(super) fn table(finding: &Finding, counted: Instrumentation) -> Markup {
    let growth = &finding.growth;
    let of_lines = !growth.lines.is_empty();
    let mut grown: Vec<&Grown> = if of_lines { &growth.lines } else { &growth.functions }.iter().collect();
    grown.sort_by(|a, b| b.share.total_cmp(&a.share));
    html! {
        @if !grown.is_empty() {
            h4 { "Where the cost grew against the median seed" }
            div class="scroll" {
                table {
                    thead { tr {
                        th { "share of the growth" }
                        @if of_lines { th { "line" } }
                        th { "function" } th class="number" { "runs, seed" } th class="number" { "runs, this input" } th class="number" { (counted.work()) }
                    } }
                    tbody { @for place in grown.iter().take(ROWS) { (row(place, of_lines)) } }
                }
            }
            @if grown.len() > ROWS { p class="dim" { "and " (grown.len() - ROWS) " more in " span class="code" { "summary.json" } } }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;

    #[test]
    fn five_lines_of_source_have_the_executions_of_an_ordinary_input_and_the_finding() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trim.cpp");
        std::fs::write(&file, (1..20).map(|line| format!("\tline <{line}>\n")).collect::<String>()).unwrap();
        let mut finding = example().findings[0].clone();
        let name = file.to_str().unwrap().to_owned();
        finding.growth.lines[0].file = Some(name.clone());
        finding.growth.around.iter_mut().for_each(|of| of.file.clone_from(&name));
        let html = places(&finding, &mut Sources::default()).into_string();
        let number = "<td class=\"number\">";
        for part in [
            format!("<tr class=\"hot\">{number}1,300</td>{number}40,000</td><td class=\"number dim\">12</td>"),
            format!("{number}</td>{number}40,000</td><td class=\"number dim\">13</td>"),
            "    line &lt;10&gt;</td>".into(),
            "    line &lt;14&gt;</td>".into(),
        ] {
            assert!(html.contains(&part), "{part}: {html}");
        }
        assert_eq!(html.matches("<tr").count(), 6);
        // elsewhere, there are their numbers
        let html = places(&example().findings[0], &mut Sources::default()).into_string();
        assert!(html.contains("not on this machine") && html.contains("1,300"), "{html}");
    }
}
