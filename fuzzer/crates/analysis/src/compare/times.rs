//! CPU times of both builds, measured in turn.

use std::time::{Duration, Instant};

use super::builds::Pair;
use crate::{interruption, runner::Detail};
use quagmire_base::error::Result;
use quagmire_cost::{
    judgement::{Verdict, judge},
    statistics::{median, p_above, ratio_of_medians},
};
use quagmire_results::comparison::TimeRatio;

/// Limits of a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Ratio of instructions from which on an input is slower.
    pub threshold: f64,
    /// Moment after which no times are measured any more.
    pub until: Instant,
    /// Hang timeout of a run.
    pub hang_timeout: Duration,
}

impl Limits {
    /// Whether nothing more is measured: time is up, or the user has had enough.
    pub(super) fn are_over(&self) -> bool {
        interruption::has_come() || Instant::now() >= self.until
    }
}

/// Times of each build. Of 12 and 12 values the rank test can tell orders of which one in 2.7 million is by chance.
const ROUNDS: usize = 12;
/// Times of each build where runs are long: one order of 252 is by chance.
const LEAST_ROUNDS: usize = 5;
/// Seconds for one input after which [`LEAST_ROUNDS`] are enough.
const ENOUGH_SECONDS: f64 = 2.0;
/// Seconds that runs in a row take at least: shorter times are the clock's own.
const SHORTEST_SAMPLE: f64 = 5e-4;
/// Most runs in a row.
const MOST_REPEATS: f64 = 2_000.0;

/// Share of false discoveries among all inputs that are found to take longer at first.
pub(super) const FALSE_DISCOVERIES: f64 = 0.05;
/// Largest p-value with which a second series confirms that.
const CONFIRMED: f64 = 0.01;

/// CPU times of one input, in seconds of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Times {
    pub old: Vec<f64>,
    pub new: Vec<f64>,
}

impl Times {
    /// Measures both builds in turn. `usual` is the time of a run in seconds, as far as known. `None` if time is up, or an
    /// interruption came, or a run did not return.
    pub(super) fn measure(pair: &mut Pair, input: &[u8], usual: f64, limits: &Limits) -> Result<Option<Self>> {
        let is_isolated = pair.old.is_isolated || pair.new.is_isolated;
        let repeats =
            if is_isolated { 1 } else { (SHORTEST_SAMPLE / usual.max(1e-9)).ceil().clamp(1.0, MOST_REPEATS) as u32 };
        let mut times = Self::default();
        let mut spent = 0.0;
        for round in 0..ROUNDS {
            if limits.are_over() {
                return Ok(None);
            }
            let mut sides = [(&mut *pair.old, &mut times.old), (&mut *pair.new, &mut times.new)];
            // neither is always the first
            sides.rotate_left(round % 2);
            for (side, series) in sides {
                let run = side.run(input, Detail::Cost, repeats)?;
                if !run.came_back() {
                    return Ok(None);
                }
                series.push(run.seconds);
                spent += run.seconds * f64::from(repeats);
            }
            if (spent > ENOUGH_SECONDS && times.old.len() >= LEAST_ROUNDS) || times.is_gross() {
                break;
            }
        }
        Ok(Some(times))
    }

    /// Whether every time of the new build is at least twice every time of the old one, over at least three of each.
    fn is_gross(&self) -> bool {
        let judgement = judge(&self.new, &self.old, None);
        judgement.is_gross && judgement.ratio.value > 1.0
    }

    /// p-value of the rank test that the new build takes longer; 0 for a gross difference, which few values cannot show.
    pub(super) fn p_value(&self) -> f64 {
        if self.is_gross() { 0.0 } else { p_above(&self.new, &self.old) }
    }

    /// Whether this second series confirms that the new build takes longer.
    pub(super) fn confirms(&self) -> bool {
        self.p_value() <= CONFIRMED && median(&self.new) > median(&self.old)
    }

    /// Whether the new build takes longer by more than the least effect that matters, whatever the counts say.
    pub(super) fn is_degradation(&self) -> bool {
        judge(&self.new, &self.old, None).verdict == Verdict::Degradation
    }

    /// Figures for the result; `None` if the clock has seen nothing.
    pub(super) fn ratio(&self) -> Option<TimeRatio> {
        let ratio = ratio_of_medians(&self.new, &self.old);
        let is_known = [ratio.value, ratio.low, ratio.high].into_iter().all(f64::is_finite);
        is_known.then(|| TimeRatio {
            value: ratio.value,
            low: ratio.low,
            high: ratio.high,
            p_value: p_above(&self.new, &self.old),
            samples: self.new.len() as u64,
            old_seconds: median(&self.old),
            new_seconds: median(&self.new),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// 12 times around each of these seconds.
    pub(in crate::compare) fn times(old: f64, new: f64) -> Times {
        let around = |middle: f64| (0..12).map(|i| middle * (1.0 + 0.002 * f64::from(i % 6))).collect();
        Times { old: around(old), new: around(new) }
    }

    #[test]
    fn a_gross_difference_is_certain_after_three_runs_of_each() {
        let gross = Times { old: vec![1.0, 1.1, 1.2], new: vec![2.5, 2.6, 2.7] };
        assert!(gross.is_gross() && gross.confirms() && gross.p_value() == 0.0);
        let faster = Times { old: gross.new, new: gross.old };
        assert!(!faster.is_gross() && !faster.confirms());
        let close = Times { old: vec![1.0, 1.1, 1.2], new: vec![1.3, 1.4, 1.5] };
        assert!(!close.confirms());
    }

    #[test]
    fn a_tenth_is_confirmed_and_no_difference_is_not() {
        assert!(times(1.0, 1.1).confirms());
        assert!(!times(1.0, 1.0).confirms());
        assert!(!times(1.1, 1.0).confirms());
        assert!(times(1.0, 1.1).is_degradation() && !times(1.0, 1.03).is_degradation());
    }
}
