//! The source around the hottest lines of a finding, with executions in its margin.

use maud::{Markup, html};

use crate::{markup, sources::Sources, words};
use quagmire_base::{format::grouped, visible::shown};
use quagmire_execution::{info::Instrumentation, symbols::is_of_library};
use quagmire_results::{
    growth::{CONTEXT, Grown, LineCount},
    summary::Finding,
};

/// Number of places whose source is shown.
const PLACES: usize = 3;

/// Number of places in the table of all.
const ROWS: usize = 8;

/// A line of the source, with what is said of it.
struct Shown<'a> {
    file: &'a str,
    line: u32,
    function: Option<&'a str>,
    /// Share of the growth, 0 to 1; 0 if it is not known.
    share: f64,
    remark: &'static str,
}

/// Renders the places where a finding spends its cost: that of the program first, the libraries below it.
pub(super) fn places(finding: &Finding, sources: &mut Sources) -> Markup {
    let below = finding.below();
    let mut all: Vec<Shown> = finding.growth.hot_lines(PLACES).into_iter().filter_map(shown_line).collect();
    if let Some(first) = all.first_mut().filter(|first| below.is_some() && !is_of_library(first.file)) {
        first.remark = ": the work is done in the library below it";
    }
    // where a run ended, which has no growth
    let ended = finding.hot_location.as_deref().and_then(|location| location.rsplit_once(':'));
    if let Some((file, line)) = ended.filter(|_| all.is_empty()) {
        let function = finding.hot_function.as_deref();
        let place = |line| Shown { file, line, function, share: 0.0, remark: "" };
        all.extend(line.parse().ok().map(place));
    }
    html! {
        @if all.is_empty() {
            @match &finding.hot_function { Some(function) => p { (markup::name(function)) }, None => p class="dim" { "Not recorded." } }
        }
        @for place in all { (excerpt(finding, &place, sources)) }
    }
}

fn shown_line(place: &Grown) -> Option<Shown<'_>> {
    let share = if place.share.is_finite() { place.share.clamp(0.0, 1.0) } else { 0.0 };
    Some(Shown { file: place.file.as_deref()?, line: place.line?, function: Some(&place.function), share, remark: "" })
}

/// The lines around one. Without its source there are their numbers only.
fn excerpt(finding: &Finding, place: &Shown<'_>, sources: &mut Sources) -> Markup {
    let Shown { file, line, function, share, remark } = *place;
    let near = |of: &&LineCount| of.file == file && of.line.abs_diff(line) <= CONTEXT;
    let counts: Vec<&LineCount> = finding.growth.around.iter().filter(near).collect();
    let mut lines = sources.around(file, line);
    let is_here = lines.iter().any(|known| known.0 == line);
    if !is_here {
        lines = counts.iter().map(|of| (of.line, String::new())).collect();
    }
    let class = if share >= 0.01 { "hot" } else { "here" };
    html! {
        p class="where" {
            (markup::location(&format!("{file}:{line}")))
            @if let Some(function) = function { " in " (markup::brief(function)) }
            span class="dim" { @if share >= 0.01 { ", " (words::percent(share)) " of what it costs more" } (remark) }
        }
        @if !lines.is_empty() {
            div class="scroll source" { table {
                thead { tr {
                    @if !counts.is_empty() { th class="number" { "ordinary" } th class="number" { "this input" } }
                    th class="number" { "line" } th { @if !is_here { "not on this machine" } }
                } }
                tbody { @for (number, text) in &lines {
                    @let count = counts.iter().find(|of| of.line == *number);
                    tr class=[(*number == line).then_some(class)] {
                        @if !counts.is_empty() {
                            td class="number" { (count.and_then(|of| of.ordinary_count).map_or(String::new(), grouped)) }
                            td class="number" { (count.map_or(String::new(), |of| grouped(of.count))) }
                        }
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
    use quagmire_results::growth::Growth;

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
        // what ended early has the line where it did
        let ended = Finding { growth: Growth::default(), hot_location: Some(format!("{name}:3")), ..finding };
        let html = places(&ended, &mut Sources::default()).into_string();
        assert!(html.contains("<tr class=\"here\"><td class=\"number dim\">3</td>"), "{html}");
        // elsewhere, there are their numbers
        let html = places(&example().findings[0], &mut Sources::default()).into_string();
        assert!(html.contains("not on this machine") && html.contains("1,300"), "{html}");
    }
}
