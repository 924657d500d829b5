//! Histogram of a resource over all runs, on logarithmic axes.

use maud::{Markup, html};

use super::{inline, px, scale::Scale};
use crate::words;
use quagmire_base::format::{counted, grouped};
use quagmire_results::summary::Distribution;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 60.0;
/// Leaves room for half of the longest label: `100 us`.
const RIGHT: f64 = 24.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 116.0;

/// Draws the histogram of a distribution, with a line at the baseline.
pub fn histogram(distribution: &Distribution) -> Markup {
    let bars = bars(&distribution.histogram);
    let most = bars.iter().map(|bar| bar.runs).max().unwrap_or(0) as f64;
    let baseline = distribution.baseline.max(1) as f64;
    let first = bars.first().map_or(1.0, |bar| bar.low).min(baseline);
    let last = bars.last().map_or(1.0, |bar| bar.high).max(baseline);
    let amounts = Scale::Logarithmic(first / 1.1, last.max(first * 4.0) * 1.1);
    let runs = Scale::Logarithmic(0.7, most.max(1.0) * 1.2);
    let x = |amount: f64| LEFT + amounts.at(amount) * (WIDTH - LEFT - RIGHT);
    let y = |count: f64| BOTTOM - runs.at(count) * (BOTTOM - TOP);
    let unit = distribution.unit.as_str();
    let title = format!("{} of all runs", distribution.resource.describe().title);
    let baseline_at_end = x(baseline) > WIDTH - 80.0;
    let content = html! {
        @for tick in runs.ticks(3) {
            path class="qgrid" d={ "M" (px(LEFT)) " " (px(y(tick))) "H" (px(WIDTH - RIGHT)) } {}
            text class="qdim" x=(px(LEFT - 6.0)) y=(px(y(tick) + 4.0)) text-anchor="end" { (short_amount(tick, "")) }
        }
        @for bar in &bars {
            rect class="qbar" x=(px(x(bar.low))) y=(px(y(bar.runs as f64)))
                width=(px((x(bar.high) - x(bar.low)).max(1.0))) height=(px(BOTTOM - y(bar.runs as f64))) {
                title { (counted(bar.runs, "run")) ", up to " (words::amount(bar.bound, unit)) }
            }
        }
        path class="qaxis" d={ "M" (px(LEFT)) " " (px(TOP)) "V" (px(BOTTOM)) "H" (px(WIDTH - RIGHT)) } {}
        @for tick in amounts.ticks_of_decades(5).into_iter().filter(|tick| *tick >= 1.0) {
            path class="qaxis" d={ "M" (px(x(tick))) " " (px(BOTTOM)) "v4" } {}
            text class="qdim" x=(px(x(tick))) y=(px(BOTTOM + 17.0)) text-anchor="middle" { (short_amount(tick, unit)) }
        }
        path class="qquartile" d={ "M" (px(x(baseline))) " " (px(TOP - 4.0)) "V" (px(BOTTOM)) } {}
        text class="qmark" x=(px(x(baseline) + if baseline_at_end { -4.0 } else { 4.0 })) y=(px(TOP - 5.0))
            text-anchor=(if baseline_at_end { "end" } else { "start" }) { "baseline" }
    };
    inline(WIDTH, HEIGHT, &title, &content)
}

struct Bar {
    low: f64,
    high: f64,
    bound: u64,
    runs: u64,
}

/// Converts bins to bars. Bins are quarters of powers of two, of which the summary has the upper bounds only.
fn bars(histogram: &[(u64, u64)]) -> Vec<Bar> {
    let mut previous: Option<u64> = None;
    let mut bars = Vec::new();
    for &(bound, runs) in histogram {
        let quarter = 1 << (u64::BITS - bound.leading_zeros()).saturating_sub(3);
        let low = (bound - bound.min(quarter - 1)).max(previous.map_or(0, |previous| previous.saturating_add(1)));
        // zero is drawn at one half
        bars.push(Bar { low: (low as f64).max(0.5), high: (bound as f64 + 1.0).max(1.0), bound, runs });
        previous = Some(bound);
    }
    bars.retain(|bar| bar.low < bar.high && bar.runs > 0);
    bars
}

/// Formats a power of ten briefly: `100 us`, `1 MB`, `10 M`.
fn short_amount(amount: f64, unit: &str) -> String {
    let (scales, factor): (&[&str], f64) = match unit {
        "ns" => (&["ns", "us", "ms", "s"], 1e3),
        "bytes" => (&["B", "kB", "MB", "GB", "TB"], 1e3),
        _ => (&["", "k", "M", "G", "T"], 1e3),
    };
    let (mut value, mut at) = (amount, 0);
    while value >= factor && at + 1 < scales.len() {
        value /= factor;
        at += 1;
    }
    format!("{} {}", grouped(value.round() as u64), scales[at]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;
    use proptest::prelude::*;
    use quagmire_cost::resource::Resource;

    #[test]
    fn a_histogram_has_bars_ticks_and_the_baseline() {
        let distribution = &example().costs[0];
        insta::assert_snapshot!(histogram(distribution).into_string().replace("><", ">\n<"));
    }

    #[test]
    fn ticks_have_units() {
        let ticks = [(1e5, "ns"), (1e9, "ns"), (1e11, "ns"), (1e6, "bytes"), (1e7, ""), (1.0, "")];
        assert_eq!(ticks.map(|(tick, unit)| short_amount(tick, unit)), ["100 us", "1 s", "100 s", "1 MB", "10 M", "1"]);
    }

    proptest! {
        #[test]
        fn every_histogram_can_be_drawn(
            mut histogram in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..20), baseline: u64,
        ) {
            histogram.sort_unstable();
            let distribution = Distribution { histogram, baseline, resource: Resource::Heap, ..example().costs[0].clone() };
            let svg = super::histogram(&distribution).into_string();
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
