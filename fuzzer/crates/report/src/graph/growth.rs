//! Growth plots: amounts over sizes, both logarithmic, so that a power of the size is a straight line.

use maud::{Markup, html};

use super::{
    chart::{Chart, WIDTH},
    px,
    scale::Scale,
};
use quagmire_base::{format::shortened_text, visible::shown};
use quagmire_results::growth_plot::GrowthPlot;

const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 52.0;
const HEIGHT: f64 = 260.0;
const BELOW: f64 = 66.0;

/// Distance of labels of marks in pixels, one below the other.
const LABEL: f64 = 15.0;

/// Longest title, in characters: of the widest usual font, so many fit.
const TITLE: usize = 84;

/// Height of a title in pixels.
const TITLE_HEIGHT: f64 = 26.0;

/// Draws a growth plot; `None` with fewer than two points to draw.
pub fn growth(plot: &GrowthPlot) -> Option<Chart> {
    let measured = positive(&plot.measured);
    if measured.len() < 2 {
        return None;
    }
    let (law, beyond) = (positive(&plot.law), positive(&plot.beyond));
    let rival = plot.rival.as_ref().map(|(name, curve)| (name, positive(curve)));
    let all = || measured.iter().chain(&law).chain(&beyond).chain(rival.iter().flat_map(|(_, curve)| curve));
    let axis = |part: fn(&(f64, f64)) -> f64| {
        let (low, high) = all().map(part).fold((f64::MAX, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        Scale::Logarithmic(low / 1.2, (high * 1.2).max(low * 2.0))
    };
    let (sizes, amounts) = (axis(|point| point.0), axis(|point| point.1));
    let title = shortened_text(&shown(&plot.title), TITLE);
    let top = if title.is_empty() { TOP - TITLE_HEIGHT } else { TOP };
    let (width, bottom) = (WIDTH - LEFT - RIGHT, top + HEIGHT);
    let (x, y) = (|size: f64| LEFT + sizes.at(size) * width, |amount: f64| bottom - amounts.at(amount) * HEIGHT);
    let path = |curve: &[(f64, f64)]| path(curve, x, y);
    let last = measured.iter().map(|point| point.0).fold(0.0, f64::max);
    let content = html! {
        @if !title.is_empty() { text class="qtitle" x="8" y="20" { (title) } }
        text class="qdim" x=(px(LEFT)) y=(px(top - 12.0)) { (shown(&plot.amounts)) ", logarithmic" }
        @if !beyond.is_empty() {
            rect class="qbeyond" x=(px(x(last))) y=(px(top)) width=(px(WIDTH - RIGHT - x(last))) height=(px(HEIGHT)) {}
        }
        @for tick in amounts.ticks_of_decades(6) {
            path class="qgrid" d={ "M" (px(LEFT)) " " (px(y(tick))) "h" (px(width)) } {}
            text class="qdim" x=(px(LEFT - 8.0)) y=(px(y(tick) + 4.0)) text-anchor="end" { (label(tick)) }
        }
        @for tick in sizes.ticks_of_decades(6) {
            path class="qgrid" d={ "M" (px(x(tick))) " " (px(top)) "V" (px(bottom)) } {}
            text class="qdim" x=(px(x(tick))) y=(px(bottom + 18.0)) text-anchor="middle" { (label(tick)) }
        }
        path class="qaxis" d={ "M" (px(LEFT)) " " (px(top)) "V" (px(bottom)) "h" (px(width)) } {}
        text class="qdim" x=(px(WIDTH - RIGHT)) y=(px(bottom + 36.0)) text-anchor="end" { (shown(&plot.sizes)) ", logarithmic" }
        @if let Some((_, curve)) = &rival { path class="qrival" d=(path(curve)) {} }
        path class="qline" d=(path(&law)) {}
        path class="qextra" d=(path(&beyond)) {}
        @for (at, (size, words)) in plot.marks.iter().filter(|mark| mark.0.is_finite() && mark.0 > 0.0).enumerate() {
            @let right = x(*size) > WIDTH / 2.0;
            path class="qquartile" d={ "M" (px(x(*size))) " " (px(top)) "V" (px(bottom)) } {}
            text class="qmark" x=(px(x(*size) + if right { -4.0 } else { 4.0 })) y=(px(top + 12.0 + at as f64 * LABEL))
                text-anchor=(if right { "end" } else { "start" }) { (shown(words)) }
        }
        @for &(size, amount) in &measured { circle class="qpoint" cx=(px(x(size))) cy=(px(y(amount))) r="3.5" {} }
        (legend(plot, &beyond, bottom + 56.0))
    };
    Some(Chart { content, height: top + HEIGHT + BELOW })
}

/// Explanation of the lines.
fn legend(plot: &GrowthPlot, beyond: &[(f64, f64)], y: f64) -> Markup {
    let rival = plot.rival.as_ref().map(|(name, _)| format!("dashed: {}", shown(name)));
    let name = (!plot.name.is_empty()).then(|| format!("line: {}", shown(&plot.name)));
    let grey = (!beyond.is_empty()).then(|| "grey: not measured".to_owned());
    let words: Vec<String> =
        std::iter::once("points: measured".to_owned()).chain(name).chain(rival).chain(grey).collect();
    html! { text class="qdim" x=(px(LEFT)) y=(px(y)) { (words.join("; ")) } }
}

/// Points that logarithmic axes can show, from the smallest size on.
fn positive(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const LARGEST: f64 = 1e18;
    let is_shown = |value: f64| value > 0.0 && value <= LARGEST;
    let mut points: Vec<(f64, f64)> =
        points.iter().copied().filter(|&(size, amount)| is_shown(size) && is_shown(amount)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn path(curve: &[(f64, f64)], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let place = |(at, &(size, amount)): (usize, &(f64, f64))| {
        format!("{}{} {}", if at == 0 { "M" } else { "L" }, px(x(size)), px(y(amount)))
    };
    curve.iter().enumerate().map(place).collect()
}

/// Formats a number of an axis briefly: `500`, `20 k`, `10 M`.
fn label(value: f64) -> String {
    const SCALES: [&str; 7] = ["", " k", " M", " G", " T", " P", " E"];
    let at = if value < 1e4 { 0 } else { ((value.log10() + 1e-9) / 3.0).floor().clamp(0.0, 6.0) as usize };
    let scaled = value / 1e3_f64.powi(at as i32);
    format!("{}{}", (scaled * 100.0).round() / 100.0, SCALES[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;
    use proptest::prelude::*;

    fn svg(plot: &GrowthPlot) -> String {
        let chart = growth(plot).unwrap();
        super::super::inline(WIDTH, chart.height, "t", &chart.content).into_string().replace("><", ">\n<")
    }

    #[test]
    fn a_plot_has_points_law_rival_onset_and_what_was_not_measured_in_grey() {
        let mut plot = GrowthPlot::of_finding(example().findings[0].law.as_ref().unwrap());
        plot.rival =
            Some(("n^1.9, which does as well".into(), plot.law.iter().map(|&(n, amount)| (n, amount * 0.9)).collect()));
        plot.marks.push((700.0, "1,000 instructions are exceeded <here>".into()));
        insta::assert_snapshot!(svg(&plot));
    }

    #[test]
    fn labels_are_short() {
        let labels = [1.0, 500.0, 10_000.0, 2e6, 1e9, 1e18].map(label);
        assert_eq!(labels, ["1", "500", "10 k", "2 M", "1 G", "1 E"]);
    }

    #[test]
    fn nothing_is_drawn_without_points() {
        assert!(growth(&GrowthPlot::default()).is_none());
        let zeros = GrowthPlot { measured: vec![(0.0, 1.0), (1.0, 0.0), (2.0, 5.0)], ..GrowthPlot::default() };
        assert!(growth(&zeros).is_none());
    }

    proptest! {
        #[test]
        fn every_plot_can_be_drawn(points: Vec<(f64, f64)>, curve: Vec<(f64, f64)>, mark: f64) {
            let measured = points.into_iter().chain([(1.0, 1.0), (3.0, 9.0)]).collect();
            let marks = vec![(mark, "m".into())];
            let plot = GrowthPlot { measured, law: curve.clone(), beyond: curve, marks, ..GrowthPlot::default() };
            let svg = svg(&plot);
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
        }
    }
}
