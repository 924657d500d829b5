//! Writer of Prometheus' text format, version 0.0.4.

use std::{collections::BTreeMap, fmt::Write as _};

/// Media type of the text.
pub(super) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricKind {
    /// A value that only rises.
    Counter,
    /// A value that rises and falls.
    Gauge,
    /// Cumulative buckets, their sum and their count.
    Histogram,
}

impl MetricKind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Largest value so far of each series that only rises. After a worker was killed, the search goes on from its last
/// checkpoint, seconds back: a counter that fell would look to Prometheus like a restart from zero.
pub(super) type Peaks = BTreeMap<String, f64>;

/// Text under construction: families of samples, one after the other.
#[derive(Debug)]
pub(super) struct Exposition<'a> {
    text: String,
    peaks: &'a mut Peaks,
    kind: MetricKind,
    name: String,
}

impl<'a> Exposition<'a> {
    /// Creates an empty text. Counters and histograms never fall below their values in `peaks`.
    pub(super) fn new(peaks: &'a mut Peaks) -> Self {
        Self { text: String::new(), peaks, kind: MetricKind::Gauge, name: String::new() }
    }

    /// Begins a metric, named `quagmire_` and `name`; calls that add its samples follow.
    pub(super) fn family(&mut self, kind: MetricKind, name: &str, help: &str) {
        (self.kind, self.name) = (kind, format!("quagmire_{name}"));
        let (name, kind) = (&self.name, kind.name());
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Adds a sample to the current metric.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        self.push("", labels, value);
    }

    /// Adds all samples of a histogram. `buckets` are pairs of an upper bound and the number of amounts up to it, in
    /// rising order.
    pub(super) fn histogram(&mut self, buckets: &[(f64, u64)], sum: f64, count: u64) {
        for (bound, amounts) in buckets {
            self.push("_bucket", &[("le", &bound.to_string())], *amounts as f64);
        }
        self.push("_bucket", &[("le", "+Inf")], count as f64);
        self.push("_sum", &[], sum);
        self.push("_count", &[], count as f64);
    }

    /// Adds a metric with one sample.
    pub(super) fn one(&mut self, kind: MetricKind, name: &str, help: &str, value: f64) {
        self.family(kind, name, help);
        self.sample(&[], value);
    }

    /// Adds a metric with one sample for each value of `label`; nothing if there are no samples.
    pub(super) fn each<'l>(
        &mut self,
        kind: MetricKind,
        name: &str,
        help: &str,
        label: &str,
        samples: impl IntoIterator<Item = (&'l str, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_some() {
            self.family(kind, name, help);
            samples.for_each(|(of, value)| self.sample(&[(label, of)], value));
        }
    }

    fn push(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        let mut series = format!("{}{suffix}", self.name);
        for (at, (label, of)) in labels.iter().enumerate() {
            let _ = write!(series, "{}{label}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(of));
        }
        if !labels.is_empty() {
            series.push('}');
        }
        let value = if self.kind == MetricKind::Gauge {
            value
        } else {
            let peak = self.peaks.entry(series.clone()).or_insert(value);
            *peak = peak.max(value);
            *peak
        };
        let _ = writeln!(self.text, "{series} {value}");
    }

    /// Returns the text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_do_not_fall_and_gauges_do() {
        let mut peaks = Peaks::new();
        let mut text = |value| {
            let mut text = Exposition::new(&mut peaks);
            text.one(MetricKind::Counter, "runs_total", "Runs.", value);
            text.one(MetricKind::Gauge, "edges", "Edges.", value);
            text.finish()
        };
        assert!(text(7.0).ends_with("# HELP quagmire_edges Edges.\n# TYPE quagmire_edges gauge\nquagmire_edges 7\n"));
        let later = text(5.0);
        assert!(later.contains("\nquagmire_runs_total 7\n") && later.contains("\nquagmire_edges 5\n"), "{later}");
    }

    #[test]
    fn what_would_end_a_label_is_escaped() {
        let mut peaks = Peaks::new();
        let mut text = Exposition::new(&mut peaks);
        text.each(MetricKind::Gauge, "x", "a\\\nb", "of", [("a\"b\\c\nd", 0.5)]);
        text.each(MetricKind::Gauge, "nothing", "Left out.", "of", []);
        let text = text.finish();
        assert_eq!(
            text,
            "# HELP quagmire_x a\\\\\\nb\n# TYPE quagmire_x gauge\nquagmire_x{of=\"a\\\"b\\\\c\\nd\"} 0.5\n"
        );
    }

    #[test]
    fn a_histogram_has_buckets_a_sum_and_a_count() {
        let mut peaks = Peaks::new();
        let mut text = Exposition::new(&mut peaks);
        text.family(MetricKind::Histogram, "h", "H.");
        text.histogram(&[(3.0, 1), (15.0, 4)], 20.0, 5);
        assert!(text.finish().ends_with(
            "quagmire_h_bucket{le=\"3\"} 1\nquagmire_h_bucket{le=\"15\"} 4\nquagmire_h_bucket{le=\"+Inf\"} 5\n\
             quagmire_h_sum 20\nquagmire_h_count 5\n"
        ));
    }
}
