//! Step charts over time: stacked panels with a common time axis and a strip of phases below.

use maud::{Markup, html};

use super::{
    phases::{self, Phase},
    px,
    scale::Scale,
    series::Series,
};
use crate::words;
use quagmire_base::format::grouped;

/// Width of all charts in pixels.
pub const WIDTH: f64 = 760.0;

const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TITLE: f64 = 22.0;
const PANEL: f64 = 170.0;
/// Height of the heading of a panel: its name, and the labels of the quartile lines.
const HEADING: f64 = 32.0;
const TIME_AXIS: f64 = 26.0;
const NOTE: f64 = 22.0;

/// Shares of the final value at which quartile lines are drawn, and their labels.
const QUARTILES: [(f64, &str); 3] = [(0.25, "¼"), (0.5, "½"), (0.75, "¾")];

/// Minimum distance of labels in pixels; closer ones are merged.
const LABEL: f64 = 16.0;

/// Kind of the values of a panel, which determines its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Multiples of the baseline.
    Ratios,
    Counts,
}

/// A panel with one series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel<'a> {
    /// Name of the series, with its unit.
    pub name: &'a str,
    /// The values.
    pub series: &'a Series,
    /// Kind of the values.
    pub values: Values,
}

/// A drawing and its height.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Contents of the `svg` element.
    pub content: Markup,
    /// Height in pixels; the width is [`WIDTH`].
    pub height: f64,
}

/// Draws panels with a common time axis that ends at `end` seconds.
pub(crate) fn chart(title: &str, panels: &[Panel], phases: &[Phase], end: f64) -> Chart {
    let last_change = panels.iter().map(|panel| panel.series.last_change()).fold(0.0, f64::max);
    let seconds = Scale::for_seconds(if end.is_finite() { end.max(last_change) } else { last_change });
    let width = WIDTH - LEFT - RIGHT;
    let bottom = TITLE + panels.len() as f64 * (HEADING + PANEL);
    let strip = if phases.is_empty() { 0.0 } else { phases::HEIGHT + 6.0 };
    let content = html! {
        text class="qtitle" x="8" y="20" { (title) }
        @for (at, panel) in panels.iter().enumerate() {
            (draw(panel, seconds, TITLE + at as f64 * (HEADING + PANEL)))
        }
        @for (tick, label) in seconds.time_ticks(8) {
            @let x = LEFT + seconds.at(tick) * width;
            path class="qaxis" d={ "M" (px(x)) " " (px(bottom)) "v5" } {}
            text class="qdim" x=(px(x)) y=(px(bottom + 18.0)) text-anchor="middle" { (label) }
        }
        @if !phases.is_empty() {
            text class="qdim" x=(px(LEFT - 8.0)) y=(px(bottom + TIME_AXIS + 13.0)) text-anchor="end" { "phases" }
            (phases::strip(phases, seconds, LEFT, bottom + TIME_AXIS + 4.0, width))
        }
        text class="qdim" x=(px(LEFT)) y=(px(bottom + TIME_AXIS + strip + 15.0)) { (note(panels)) }
    };
    Chart { content, height: bottom + TIME_AXIS + strip + NOTE }
}

fn draw(panel: &Panel, seconds: Scale, top: f64) -> Markup {
    let (top, height, width) = (top + HEADING, PANEL - 10.0, WIDTH - LEFT - RIGHT);
    let bottom = top + height + 10.0;
    let largest = panel.series.largest();
    let (scale, ticks) = match panel.values {
        Values::Ratios => (Scale::for_ratios(largest), Scale::for_ratios(largest).ticks(6)),
        Values::Counts => (Scale::for_counts(largest), Scale::for_counts(largest).whole_ticks(6)),
    };
    let label = |tick: f64| match panel.values {
        Values::Ratios if tick.fract() == 0.0 => format!("{}x", grouped(tick as u64)),
        Values::Ratios => format!("{tick:.1}x"),
        Values::Counts => grouped(tick as u64),
    };
    let (x, y) = (|s: f64| LEFT + seconds.at(s) * width, |value: f64| bottom - scale.at(value) * height);
    let logarithmic = if matches!(scale, Scale::Logarithmic(..)) { ", logarithmic" } else { "" };
    html! {
        text x=(px(LEFT)) y=(px(top - 6.0)) { (panel.name) tspan class="qdim" { (logarithmic) } }
        @for tick in ticks {
            path class="qgrid" d={ "M" (px(LEFT)) " " (px(y(tick))) "h" (px(width)) } {}
            text class="qdim" x=(px(LEFT - 8.0)) y=(px(y(tick) + 4.0)) text-anchor="end" { (label(tick)) }
        }
        path class="qaxis" d={ "M" (px(LEFT)) " " (px(top)) "V" (px(bottom)) "h" (px(width)) } {}
        @for (x, names) in quartiles(panel.series, x) {
            path class="qquartile" d={ "M" (px(x)) " " (px(top)) "V" (px(bottom)) } {}
            @if !names.is_empty() {
                @let at_end = x > WIDTH - RIGHT - 3.0 * LABEL;
                text class="qmark" x=(px(if at_end { x - 3.0 } else { x + 3.0 })) y=(px(top + 10.0))
                    text-anchor=(if at_end { "end" } else { "start" }) { (names) }
            }
        }
        path class="qline" d=(steps(panel.series, x, y)) {}
    }
}

/// Path of a step line: a value holds until the next point.
fn steps(series: &Series, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let mut path = String::new();
    for (at, &(seconds, value)) in series.points().iter().enumerate() {
        path += &match at {
            0 => format!("M{} {}", px(x(seconds)), px(y(value))),
            _ => format!("H{}V{}", px(x(seconds)), px(y(value))),
        };
    }
    path + &format!("H{}", px(x(f64::MAX)))
}

/// Positions of the quartile lines and their labels; labels that would overlap are merged.
fn quartiles(series: &Series, x: impl Fn(f64) -> f64) -> Vec<(f64, String)> {
    let mut lines: Vec<(f64, String)> = Vec::new();
    for (share, name) in QUARTILES {
        let Some(at) = series.reached(share).map(&x) else { continue };
        match lines.iter_mut().rfind(|line| !line.1.is_empty()) {
            // a label of several names is as many times as wide
            Some(labelled) if at - labelled.0 < LABEL * labelled.1.split(' ').count() as f64 => {
                labelled.1 += " ";
                labelled.1 += name;
                if at - labelled.0 > 1.0 {
                    lines.push((at, String::new()));
                }
            }
            _ => lines.push((at, name.to_owned())),
        }
    }
    lines
}

/// Note that lists the times of the quartile lines.
fn note(panels: &[Panel]) -> String {
    let one = |panel: &Panel| {
        let reached: Vec<f64> = QUARTILES.iter().filter_map(|quartile| panel.series.reached(quartile.0)).collect();
        let [quarter, half, rest] = reached.as_slice() else { return None };
        let [quarter, half, rest] = [quarter, half, rest].map(|seconds| words::duration(*seconds));
        Some(format!("{quarter}, {half}, {rest}"))
    };
    let times: Vec<String> = panels.iter().filter_map(one).collect();
    if times.is_empty() {
        return "nothing rose yet".into();
    }
    format!("dashed: ¼, ½ and ¾ of the final value reached, after {}", times.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn svg(ratios: &str, phases: &str, end: f64) -> String {
        let series = Series::read(ratios, 1, 1.0);
        let panel = Panel { name: "largest cost / baseline", series: &series, values: Values::Ratios };
        let chart = chart("./trim", &[panel], &phases::read(phases), end);
        super::super::inline(WIDTH, chart.height, "t", &chart.content).into_string().replace("><", ">\n<")
    }

    #[test]
    fn a_chart_has_axes_steps_quartiles_and_phases() {
        let phases = "0\t1\tseeds\n1\t15\tsearch\n15\t20\tconfirming\n";
        insta::assert_snapshot!(svg("0.5, 1.5\n3, 900\n11, 7198\n11.5, 19276\n", phases, 20.0));
    }

    #[test]
    fn labels_of_quartiles_are_merged_where_they_would_overlap() {
        let series = Series::read("0, 25\n10, 50\n26, 75\n60, 100\n", 1, 1.0);
        let labels = |width: f64| quartiles(&series, |seconds| seconds * width);
        // two names are wider than one
        assert_eq!(labels(1.0), [(0.0, "¼ ½ ¾".to_owned()), (10.0, String::new()), (26.0, String::new())]);
        assert_eq!(labels(2.0), [(0.0, "¼".to_owned()), (20.0, "½".to_owned()), (52.0, "¾".to_owned())]);
    }

    #[test]
    fn a_campaign_without_logs_has_a_chart_too() {
        let svg = svg("", "", f64::NAN);
        assert!(svg.contains("nothing rose yet") && !svg.contains("NaN"), "{svg}");
    }

    proptest! {
        #[test]
        fn lines_go_right_and_up_and_stay_inside(points: Vec<(f64, f64)>, end: f64) {
            let log: String = points.iter().map(|(seconds, value)| format!("{seconds}, {value}\n")).collect();
            let series = Series::read(&log, 1, 1.0);
            let scale = Scale::for_ratios(series.last());
            let path = steps(&series, |s| Scale::for_seconds(series.last_change()).at(s), |v| 1.0 - scale.at(v));
            let numbers = |letter: char| {
                let parts: Vec<f64> = path.split(['M', 'H', 'V', ' ']).filter_map(|part| part.parse().ok()).collect();
                prop_assert!(parts.iter().all(|part| (0.0..=1.0).contains(part)), "{path}");
                let of: Vec<f64> = path.split(letter).skip(1).filter_map(|part| part.split(['H', 'V']).next()?.parse().ok()).collect();
                Ok(of)
            };
            prop_assert!(numbers('H')?.is_sorted());
            prop_assert!(numbers('V')?.iter().rev().is_sorted());
            let svg = svg(&log, "", end);
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
