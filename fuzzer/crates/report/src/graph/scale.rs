//! Axes: mapping of values to positions, and ticks.

use quagmire_base::format::grouped;

/// An axis. Values outside are mapped to its ends, undefined ones to its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Linear from the first to the second value, which is larger.
    Linear(f64, f64),
    /// Logarithmic from the first to the second value; both are positive.
    Logarithmic(f64, f64),
}

/// Largest ratio shown on a linear axis; for larger ones, small values could not be distinguished.
const LINEAR_UP_TO: f64 = 100.0;

impl Scale {
    /// Axis for ratios up to `largest`: from 0, or logarithmic from 1 above [`LINEAR_UP_TO`].
    pub(crate) fn for_ratios(largest: f64) -> Self {
        let largest = sane(largest);
        if largest > LINEAR_UP_TO {
            Self::Logarithmic(1.0, largest * 1.5)
        } else {
            Self::Linear(0.0, largest.max(1.0) * 1.1)
        }
    }

    /// Axis for counts up to `largest`.
    pub(crate) fn for_counts(largest: f64) -> Self {
        Self::Linear(0.0, sane(largest).max(1.0) * 1.1)
    }

    /// Axis for seconds up to `end`.
    pub(crate) fn for_seconds(end: f64) -> Self {
        Self::Linear(0.0, sane(end).max(1e-3))
    }

    /// Position of a value on the axis: 0 to 1.
    pub(crate) fn at(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear(low, high) => (value - low) / (high - low),
            Self::Logarithmic(low, high) => (value.max(low).ln() - low.ln()) / (high.ln() - low.ln()),
        };
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }

    /// Round values on the axis, about `most` of them and at most one and a half times as many.
    pub(crate) fn ticks(self, most: usize) -> Vec<f64> {
        match self {
            Self::Linear(low, high) => multiples(round_step((high - low) / most.max(1) as f64), low, high),
            Self::Logarithmic(low, high) => {
                let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
                let step = (last - first).max(0) as usize / most.max(1) + 1;
                (first..=last).step_by(step).map(|decade| 10_f64.powi(decade)).collect()
            }
        }
    }

    /// Powers of ten on a logarithmic axis; with fewer than two of them, twos and fives as well.
    pub(crate) fn ticks_of_decades(self, most: usize) -> Vec<f64> {
        let ticks = self.ticks(most);
        if ticks.len() > 1 {
            return ticks;
        }
        let (Self::Linear(low, high) | Self::Logarithmic(low, high)) = self;
        let decade = 10_f64.powi(low.log10().floor() as i32);
        let all = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].map(|digit| digit * decade);
        all.into_iter().filter(|tick| (low..=high).contains(tick)).collect()
    }

    /// The ticks that are whole numbers.
    pub(crate) fn whole_ticks(self, most: usize) -> Vec<f64> {
        self.ticks(most).into_iter().filter(|tick| tick.fract() == 0.0).collect()
    }

    /// Ticks of a time axis, in seconds, with their labels.
    pub(crate) fn time_ticks(self, most: usize) -> Vec<(f64, String)> {
        const STEPS: [f64; 19] = [
            1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 10_800.0,
            21_600.0, 43_200.0, 86_400.0, 172_800.0,
        ];
        let (Self::Linear(low, high) | Self::Logarithmic(low, high)) = self;
        let least = (high - low) / most.max(1) as f64;
        let step = match STEPS.into_iter().find(|step| *step >= least) {
            Some(step) if least > 0.5 => step,
            _ if least > 0.5 => (least / 86_400.0).ceil() * 86_400.0,
            _ => round_step(least),
        };
        let label = |seconds: f64| match step {
            s if s >= 3_600.0 => format!("{} h", grouped((seconds / 3_600.0).round() as u64)),
            s if s >= 60.0 => format!("{} min", (seconds / 60.0).round()),
            s if s >= 1.0 => format!("{} s", seconds.round()),
            // as many digits as the step has
            s => format!("{seconds:.*} s", (-s.log10().floor()).max(0.0) as usize),
        };
        multiples(step, low, high).into_iter().map(|tick| (tick, label(tick))).collect()
    }
}

/// Largest end of an axis: the ticks of larger values could not be distinguished.
const LARGEST: f64 = 1e15;

/// Limits a value to a valid end of an axis; infinite and undefined values become 0.
fn sane(value: f64) -> f64 {
    if value.is_finite() { value.clamp(0.0, LARGEST) } else { 0.0 }
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low / step).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|multiple| multiple as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time_labels(end: f64) -> String {
        let ticks = Scale::for_seconds(end).time_ticks(8);
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::Linear(0.0, 45.0).ticks(5), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(Scale::Logarithmic(1.0, 28_914.0).ticks(6), [1.0, 10.0, 100.0, 1_000.0, 10_000.0]);
        assert_eq!(Scale::for_counts(3.0).whole_ticks(5), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(time_labels(20.0), "0 s, 5 s, 10 s, 15 s, 20 s");
        assert_eq!(time_labels(0.3), "0.00 s, 0.05 s, 0.10 s, 0.15 s, 0.20 s, 0.25 s, 0.30 s");
        assert_eq!(time_labels(1_800.0), "0 min, 5 min, 10 min, 15 min, 20 min, 25 min, 30 min");
        assert_eq!(time_labels(86_400.0), "0 h, 3 h, 6 h, 9 h, 12 h, 15 h, 18 h, 21 h, 24 h");
    }

    #[test]
    fn two_decades_are_linear_and_more_are_not() {
        assert!(matches!(Scale::for_ratios(99.0), Scale::Linear(..)));
        assert!(matches!(Scale::for_ratios(19_276.0), Scale::Logarithmic(..)));
        assert!(matches!(Scale::for_ratios(f64::INFINITY), Scale::Linear(..)));
    }

    proptest! {
        #[test]
        fn places_are_on_the_axis_and_ticks_few(largest: f64, value: f64, most in 2_usize..12) {
            for scale in [Scale::for_ratios(largest.abs()), Scale::for_seconds(largest), Scale::for_counts(largest)] {
                prop_assert!((0.0..=1.0).contains(&scale.at(value)));
                let (Scale::Linear(low, high) | Scale::Logarithmic(low, high)) = scale;
                prop_assert!(low < high);
                for ticks in [scale.ticks(most), scale.time_ticks(most).into_iter().map(|tick| tick.0).collect()] {
                    prop_assert!(ticks.len() <= most + most / 2 + 1, "{ticks:?}");
                    prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
                }
            }
        }
    }
}
