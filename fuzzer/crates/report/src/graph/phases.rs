//! Strip of a campaign's phases below a time axis, and the parser of their log.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{px, scale::Scale};
use crate::words::percent;

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
pub(crate) const HEIGHT: f64 = 34.0;

/// Parses `logs/phases_data.txt`; invalid lines are skipped.
pub fn read(log: &str) -> Vec<Phase> {
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
pub(crate) fn strip(phases: &[Phase], seconds: Scale, left: f64, top: f64, width: f64) -> Markup {
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
        let share = percent(if all > 0.0 { share / all } else { 0.0 });
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

    #[test]
    fn spans_are_read_and_nonsense_is_skipped() {
        let log = "# start_seconds\tend_seconds\tphase\n0.0\t0.5\tseeds\n0.5\t3\tsearch\n4\t3\tsearch\n1\tx\ty\n7\t8\n";
        let names: Vec<String> = read(log).into_iter().map(|phase| phase.name).collect();
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
}
