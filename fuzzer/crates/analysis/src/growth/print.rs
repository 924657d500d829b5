//! The text that `growth` prints.

use std::fmt::Write as _;

use super::{
    fits::PlaceLaw,
    parts::PartsReport,
    plot::plot,
    report::GrowthReport,
    sample::Axis,
    time::{SAFE_FACTOR, SizeOfTime, Times},
};
use crate::print::LONGEST_TEMPLATE;
use quagmire_base::{
    format::{grouped, shortened, shortened_path, shortened_text},
    plain::shown,
};
use quagmire_cost::{law::Point, resource::Unit};

/// Places shown in each table.
const SHOWN_PLACES: usize = 8;
/// Columns of a place's name, and of its location.
const NAME: usize = 34;
const LOCATION: usize = 28;
/// Grey on terminals, and the end of it.
const GREY: (&str, &str) = ("\x1b[90m", "\x1b[0m");

/// The report for people, for lines of `width` columns. `color` marks what is unsafe to say in grey.
pub(super) fn for_people(report: &GrowthReport, width: usize, color: bool) -> String {
    let mut text = String::new();
    let name = report.input.as_deref().map_or("template", |path| path);
    let _ = writeln!(text, "{}: {} ({} confidence)\n", shown(name), report.words, report.fit.confidence);
    let mut row = |title: &str, value: &str| {
        let _ = writeln!(text, "  {title:<12} {value}");
    };
    row("law", &format!("{} {}", report.formula, report.unit));
    if let Some(template) = &report.template {
        row("template", &shortened_text(template, LONGEST_TEMPLATE));
    }
    if let (Some(n), Some(kept)) = (report.n, report.kept) {
        row("", &format!("{:.0} % of the input's hot cost at N = {}", kept * 100.0, grouped(n)));
    }
    row("measured", &measured(report));
    row("", &accuracy(report));
    if let Some(rival) = &report.fit.rival {
        row("rival", &format!("{}: {} (error {:.1} times as large)", rival.law.class(), rival.law, rival.factor));
    }
    if let Some(onset) = report.fit.onset {
        row("onset", &format!("{} = {}: smaller sizes cost something else", along(report), grouped(onset)));
    }
    if let Some(cap) = &report.fit.cap {
        row(
            "cap",
            &format!("{} {} from {} = {} on", grouped(cap.amount), report.unit, along(report), grouped(cap.size)),
        );
    }
    if let Some(crossover) = report.crossover {
        let size = grouped(crossover.round() as u64);
        let is_beyond = crossover > report.fit.largest as f64;
        let beyond = if is_beyond { ", which is beyond the sizes that were run" } else { "" };
        row(
            "crossover",
            &format!("from {} = {size} on, the highest term is more than all others{beyond}", along(report)),
        );
    }
    if let (Some(parts), Some(_)) = (&report.parts, &report.template) {
        row("parts", &parts_in_words(parts));
    }
    if let Some(times) = &report.times {
        for (title, line, is_safe) in time_rows(report, times) {
            let line = if color && !is_safe { format!("{}{line}{}", GREY.0, GREY.1) } else { line };
            row(title, &line);
        }
    }
    for other in &report.resources {
        let unit = if other.resource.unit() == Unit::Bytes { " bytes" } else { "" };
        row(other.resource.name(), &format!("{}; {}{unit} at the largest size", other.words, grouped(other.amount)));
    }
    match report.generator.as_str() {
        _ if report.template.is_none() => {}
        "" => row("generator", "longer than a bug report can carry: minimize the input first"),
        generator => row("generator", generator),
    }
    for note in &report.notes {
        row("note", note);
    }
    text += &places("function", &report.functions);
    text += &places("line", &report.lines);
    let size = |n: u64, bytes: u64| if report.axis == Axis::Bytes { bytes } else { n };
    let points: Vec<Point> =
        report.points.iter().map(|point| Point { size: size(point.n, point.bytes), amount: point.amount }).collect();
    let drawn = plot(&points, &report.fit, width);
    if !drawn.is_empty() {
        let _ = write!(text, "\n  {} over {}; o measured, . the law\n{drawn}", report.unit, along(report));
    }
    text
}

/// The law by parts, beside that of a template.
fn parts_in_words(parts: &PartsReport) -> String {
    let PartsReport { unit, from, to, class, exponent, agrees } = parts;
    let (from, to) = (grouped(*from), grouped(*to));
    let agrees = if *agrees == Some(false) { "which is another law" } else { "which agrees" };
    format!("{from} to {to} {unit} of the input: {class} (local exponent {exponent:.2}), {agrees}")
}

/// Name of the axis in formulas.
fn along(report: &GrowthReport) -> &'static str {
    if report.axis == Axis::Bytes { "bytes" } else { "N" }
}

fn measured(report: &GrowthReport) -> String {
    let (Some(first), Some(last)) = (report.points.first(), report.points.last()) else { return "nothing".to_owned() };
    format!(
        "{} sizes, N = {} to {} ({} to {} bytes); {}",
        report.points.len(),
        grouped(first.n),
        grouped(last.n),
        grouped(first.bytes),
        grouped(last.bytes),
        report.end
    )
}

fn accuracy(report: &GrowthReport) -> String {
    let (low, high) = report.fit.slopes;
    format!(
        "error {:.2} % where it was predicted; local exponents {low:.2} to {high:.2} at the largest sizes",
        report.fit.error * 100.0
    )
}

/// Rows on CPU time: title, text, and whether it is safe to say.
fn time_rows(report: &GrowthReport, times: &Times) -> Vec<(&'static str, String, bool)> {
    let [usual, least, most] = times.seconds_per_unit.map(|seconds| seconds * 1e9);
    let mut rows = Vec::new();
    if report.unit != "ns" {
        let unit = report.unit_of_time.trim_end_matches('s');
        rows.push(("CPU time", format!("{usual:.3} ns for each {unit} ({least:.3} to {most:.3})"), true));
    }
    for size in &times.sizes {
        rows.push(("", of_size(size), size.is_safe));
    }
    if let Some(verified) = &times.verified {
        let n = grouped(verified.n);
        let line = match verified.measured {
            Some(seconds) => {
                let ratio = verified.predicted / seconds.max(1e-9);
                format!(
                    "N = {n}: {} predicted, {} measured (factor {ratio:.2})",
                    time(verified.predicted),
                    time(seconds)
                )
            }
            None => format!("N = {n}: {} predicted; the run {}", time(verified.predicted), verified.status),
        };
        rows.push(("verified", line, true));
    }
    rows
}

fn of_size(size: &SizeOfTime) -> String {
    let rounded = |x: f64| grouped(x.round() as u64);
    let [n, from, to] = size.n.map(rounded);
    let bytes = rounded(size.bytes[0]);
    let mut line = format!("{} at N = {n} ({from} to {to}), {bytes} bytes", time(size.seconds));
    if !size.is_safe {
        line += &format!("; unsafe: more than {SAFE_FACTOR} times the largest size that was run");
    } else if size.extrapolation > 1.0 {
        line += &format!("; {:.1} times the largest size that was run", size.extrapolation);
    }
    line
}

/// A time in a suitable unit.
fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 59.95 => format!("{:.1} min", s / 60.0).replace(".0 min", " min"),
        s if s >= 0.9995 => format!("{s:.1} s").replace(".0 s", " s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

/// Table of functions or lines.
fn places(title: &str, places: &[PlaceLaw]) -> String {
    let mut text = String::new();
    if places.is_empty() {
        return text;
    }
    let _ = writeln!(text, "\n  {title:<NAME$} {:<LOCATION$} {:>6}  law", "", "share");
    for place in places.iter().take(SHOWN_PLACES) {
        let name = shown(&shortened(&place.function, NAME));
        let location =
            place.location.as_deref().map_or_else(String::new, |path| shown(&shortened_path(path, LOCATION)));
        let share = place.share * 100.0;
        let _ = writeln!(text, "  {name:<NAME$} {location:<LOCATION$} {share:>4.1} %  {}", place.words);
    }
    text
}
