//! Time series, read from logs.

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
    /// Invalid lines are skipped. `first` is the value at the start.
    pub fn read(log: &str, column: usize, first: f64) -> Self {
        let mut points = vec![(0.0, first)];
        for line in log.lines() {
            let mut fields = line.split(',').map(|field| field.trim().parse::<f64>());
            let (Some(Ok(seconds)), Some(Ok(value))) = (fields.next(), fields.nth(column.saturating_sub(1))) else {
                continue;
            };
            let (last, largest) = points.last().copied().unwrap_or((0.0, first));
            if seconds.is_finite() && value.is_finite() && value > largest && largest < MOST {
                points.push((seconds.clamp(last, MOST), value.min(MOST)));
            }
        }
        Self { points }
    }

    /// Parses a log as [`Self::read`] does, with values that may fall as well.
    pub fn read_varying(log: &str, column: usize) -> Self {
        let mut points = vec![(0.0, 0.0)];
        for line in log.lines() {
            let mut fields = line.split(',').map(|field| field.trim().parse::<f64>());
            let (Some(Ok(seconds)), Some(Ok(value))) = (fields.next(), fields.nth(column.saturating_sub(1))) else {
                continue;
            };
            let (last, before) = points.last().copied().unwrap_or_default();
            if seconds.is_finite() && value.is_finite() && value != before {
                points.push((seconds.clamp(last, MOST), value.clamp(0.0, MOST)));
            }
        }
        Self { points }
    }

    /// Points where the value changes: (seconds, value).
    pub(crate) fn points(&self) -> &[(f64, f64)] {
        &self.points
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_log_is_read_and_nonsense_is_skipped() {
        let log = "# seconds, ratio\n0.5, 1.5\n1.0, NaN\nhalf a li\n2.0, 41.38\n1.5, 50\n3.0, 40\n4.0,";
        let series = Series::read(log, 1, 1.0);
        assert_eq!(series.points(), [(0.0, 1.0), (0.5, 1.5), (2.0, 41.38), (2.0, 50.0)]);
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
        assert_eq!(series.points(), [(0.0, 0.0), (1.0, 10.0), (2.0, 26.5), (3.0, 20.0), (3.0, 21.0)]);
        assert_eq!((series.largest(), series.last()), (26.5, 21.0));
    }

    proptest! {
        #[test]
        fn series_never_fall(values: Vec<(f64, f64)>) {
            let log: String = values.iter().map(|(seconds, value)| format!("{seconds}, {value}\n")).collect();
            let series = Series::read(&log, 1, 0.0);
            prop_assert!(series.points().windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
            prop_assert!(series.points().iter().all(|point| point.0.is_finite() && point.1.is_finite()));
        }
    }
}
