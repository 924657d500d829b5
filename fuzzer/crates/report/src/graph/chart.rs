//! Step charts over time: stacked panels with a common time axis and a strip of phases below, and the logs that they show.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{px, scale::Scale};
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
    let below = if phases.is_empty() { 0.0 } else { STRIP + 6.0 };
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
            (strip(phases, seconds, LEFT, bottom + TIME_AXIS + 4.0, width))
        }
        text class="qdim" x=(px(LEFT)) y=(px(bottom + TIME_AXIS + below + 15.0)) { (note(panels)) }
    };
    Chart { content, height: bottom + TIME_AXIS + below + NOTE }
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
    for (at, &(seconds, value)) in series.points.iter().enumerate() {
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

/// Limit of plausible values, and of times in seconds.
const MOST: f64 = 1e15;

/// Values over time. Times never fall; values do not either, unless the series was read as one that varies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// (seconds since the start, value), only where the value changes.
    points: Vec<(f64, f64)>,
}

impl Series {
    /// Parses log lines of the form `seconds, value, value, ...` and takes the values of a column, counted from 1.
    /// Invalid lines are skipped, and values that fall. `first` is the value at the start.
    pub fn read(log: &str, column: usize, first: f64) -> Self {
        Self::of(log, column, first, |value, before| value > before && before < MOST)
    }

    /// Parses a log as [`Self::read`] does, with values that may fall as well.
    pub fn read_varying(log: &str, column: usize) -> Self {
        Self::of(log, column, 0.0, |value, before| value != before)
    }

    fn of(log: &str, column: usize, first: f64, is_new: impl Fn(f64, f64) -> bool) -> Self {
        let mut points = vec![(0.0, first)];
        let (mut last, mut before) = (0.0, first);
        for line in log.lines() {
            let mut fields = line.split(',').map(|field| field.trim().parse::<f64>());
            let (Some(Ok(seconds)), Some(Ok(value))) = (fields.next(), fields.nth(column.saturating_sub(1))) else {
                continue;
            };
            if seconds.is_finite() && value.is_finite() && is_new(value, before) {
                (last, before) = (seconds.clamp(last, MOST), value.clamp(0.0, MOST));
                points.push((last, before));
            }
        }
        Self { points }
    }

    /// Final value.
    pub fn last(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.1)
    }

    /// Largest value.
    pub(crate) fn largest(&self) -> f64 {
        self.points.iter().map(|point| point.1).fold(0.0, f64::max)
    }

    /// Time of the last change in seconds.
    pub(crate) fn last_change(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.0)
    }

    /// Time in seconds when this share of the final value was reached; `None` if the value never changed.
    pub fn reached(&self, share: f64) -> Option<f64> {
        if self.points.len() < 2 {
            return None;
        }
        let value = self.last() * share;
        self.points.iter().find(|point| point.1 >= value).map(|point| point.0)
    }
}

/// A span of time in one phase of the campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Start in seconds since the start of the campaign.
    pub start: f64,
    /// End in seconds; not before `start`.
    pub end: f64,
    /// Name of the phase, as in the log.
    pub name: String,
}

/// Phases with a colour of their own; all others share one.
const KNOWN: [&str; 5] = ["seeds", "coverage", "performance", "search", "confirming"];

/// Height of a strip with its legend in pixels.
const STRIP: f64 = 34.0;

/// Parses `logs/phases_data.txt`; invalid lines are skipped.
pub fn read_phases(log: &str) -> Vec<Phase> {
    let phase = |line: &str| {
        let mut fields = line.split('\t');
        let (start, end) = (fields.next()?.parse::<f64>().ok()?, fields.next()?.parse::<f64>().ok()?);
        let name = fields.next()?.trim().to_owned();
        let is_span = start.is_finite() && end.is_finite() && 0.0 <= start && start <= end;
        (is_span && !name.is_empty()).then_some(Phase { start, end, name })
    };
    log.lines().filter_map(phase).collect()
}

/// Draws the strip from `left`, `width` pixels wide. Each pixel shows the phase that takes most of its time.
fn strip(phases: &[Phase], seconds: Scale, left: f64, top: f64, width: f64) -> Markup {
    let columns = columns(phases, seconds, width as usize);
    let mut x = 0;
    let mut bars = Vec::new();
    for same in columns.chunk_by(|a, b| a == b) {
        if let Some(kind) = same[0] {
            bars.push((kind, x, same.len()));
        }
        x += same.len();
    }
    let mut shares = BTreeMap::new();
    for phase in phases {
        *shares.entry(kind(&phase.name)).or_insert(0.0) += phase.end - phase.start;
    }
    let all: f64 = shares.values().sum();
    let mut legend = Vec::new();
    let mut next = left;
    for (&kind, share) in &shares {
        let share = words::percent(if all > 0.0 { share / all } else { 0.0 });
        legend.push((kind, next, share.clone()));
        // estimate of the text width, which is never exceeded
        next += 40.0 + 7.0 * (class(kind).len() + share.len()) as f64;
    }
    html! {
        @for (kind, x, width) in bars {
            rect class={ "qp-" (class(kind)) } x=(px(left + x as f64)) y=(px(top)) width=(width) height="10" {}
        }
        @for (kind, x, share) in legend {
            rect class={ "qp-" (class(kind)) } x=(px(x)) y=(px(top + 17.0)) width="10" height="10" {}
            text x=(px(x + 15.0)) y=(px(top + 26.0)) { (class(kind)) tspan class="qdim" { " " (share) } }
        }
    }
}

/// Index of a phase in [`KNOWN`], or its length for all others.
fn kind(name: &str) -> usize {
    KNOWN.iter().position(|known| *known == name).unwrap_or(KNOWN.len())
}

fn class(kind: usize) -> &'static str {
    KNOWN.get(kind).copied().unwrap_or("other")
}

/// For each pixel, the phase that takes most of its time.
fn columns(phases: &[Phase], seconds: Scale, width: usize) -> Vec<Option<usize>> {
    let mut time = vec![[0.0_f64; KNOWN.len() + 1]; width];
    for phase in phases {
        let (start, end) = (seconds.at(phase.start) * width as f64, seconds.at(phase.end) * width as f64);
        for (column, time) in time.iter_mut().enumerate().take(end.ceil() as usize).skip(start as usize) {
            let (left, right) = (column as f64, column as f64 + 1.0);
            time[kind(&phase.name)] += (end.min(right) - start.max(left)).max(0.0);
        }
    }
    let most = |time: [f64; KNOWN.len() + 1]| {
        let (kind, share) = time.into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (share > 0.0).then_some(kind)
    };
    time.into_iter().map(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn svg(ratios: &str, phases: &str, end: f64) -> String {
        let series = Series::read(ratios, 1, 1.0);
        let panel = Panel { name: "largest cost / baseline", series: &series, values: Values::Ratios };
        let chart = chart("./trim", &[panel], &read_phases(phases), end);
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

    #[test]
    fn the_log_is_read_and_nonsense_is_skipped() {
        let log = "# seconds, ratio\n0.5, 1.5\n1.0, NaN\nhalf a li\n2.0, 41.38\n1.5, 50\n3.0, 40\n4.0,";
        let series = Series::read(log, 1, 1.0);
        assert_eq!(series.points, [(0.0, 1.0), (0.5, 1.5), (2.0, 41.38), (2.0, 50.0)]);
        assert_eq!(Series::read("1.0, 3, 7.5\n", 2, 1.0).last(), 7.5);
        assert_eq!(Series::read("", 1, 1.0).reached(0.5), None);
    }

    #[test]
    fn quartiles_are_when_a_share_of_the_final_value_was_reached() {
        let series = Series::read("1, 10\n2, 26\n3, 80\n4, 100\n", 1, 1.0);
        assert_eq!([0.25, 0.5, 0.75].map(|share| series.reached(share)), [Some(2.0), Some(3.0), Some(3.0)]);
    }

    #[test]
    fn a_varying_series_rises_and_falls() {
        let series = Series::read_varying("# seconds, x, b1\n1, 0, 10\n2, 0, 26.5\n3, 0, 20\n2, 0, inf\n2, 0, 21\n", 2);
        assert_eq!(series.points, [(0.0, 0.0), (1.0, 10.0), (2.0, 26.5), (3.0, 20.0), (3.0, 21.0)]);
        assert_eq!((series.largest(), series.last()), (26.5, 21.0));
    }

    proptest! {
        #[test]
        fn series_never_fall(values: Vec<(f64, f64)>) {
            let log: String = values.iter().map(|(seconds, value)| format!("{seconds}, {value}\n")).collect();
            let series = Series::read(&log, 1, 0.0);
            prop_assert!(series.points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
            prop_assert!(series.points.iter().all(|point| point.0.is_finite() && point.1.is_finite()));
        }
    }

    #[test]
    fn spans_are_read_and_nonsense_is_skipped() {
        let log = "# start_seconds\tend_seconds\tphase\n0.0\t0.5\tseeds\n0.5\t3\tsearch\n4\t3\tsearch\n1\tx\ty\n7\t8\n";
        let names: Vec<String> = read_phases(log).into_iter().map(|phase| phase.name).collect();
        assert_eq!(names, ["seeds", "search"]);
    }

    #[test]
    fn a_million_phases_become_a_few_bars() {
        let phase = |i: u32| Phase {
            start: f64::from(i) / 1e5,
            end: f64::from(i + 1) / 1e5,
            name: if i.is_multiple_of(3) { "performance".into() } else { "coverage".into() },
        };
        let phases: Vec<Phase> = (0..1_000_000).map(phase).collect();
        let strip = strip(&phases, Scale::for_seconds(10.0), 0.0, 0.0, 680.0).into_string();
        assert_eq!(strip.matches("<rect").count(), 3, "{strip}");
        assert!(strip.contains("coverage<tspan class=\"qdim\"> 67 %"), "{strip}");
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
