//! Medians and bootstrap intervals.

use libafl_bolts::rands::{Rand, StdRand};
use std::num::NonZeroUsize;

/// Median of the values; the mean of the middle two for an even number, 0 for none.
pub fn median(values: &[f64]) -> f64 {
    median_of(&mut values.to_vec())
}

/// Computes [`median`] in place and reorders the values: a bootstrap takes thousands of medians.
fn median_of(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, &mut middle, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(next) if !is_odd => f64::midpoint(next, middle),
        _ => middle,
    }
}

/// Estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// Number of resamples of a bootstrap.
const RESAMPLES: usize = 1000;

/// Draws a bootstrap sample of `values` into `into`. The callers use a fixed seed: the same measurements always give
/// the same interval.
fn resample(values: &[f64], rand: &mut StdRand, into: &mut Vec<f64>) {
    into.clear();
    if let Some(length) = NonZeroUsize::new(values.len()) {
        into.extend((0..values.len()).map(|_| values[rand.below(length)]));
    }
}

fn interval(value: f64, mut draws: Vec<f64>) -> Estimate {
    draws.sort_by(f64::total_cmp);
    let at = |share: f64| draws[((draws.len() - 1) as f64 * share).round() as usize];
    Estimate { value, low: at(0.025), high: at(0.975) }
}

/// Median with its percentile-bootstrap interval. Zero for no values.
pub fn median_interval(values: &[f64]) -> Estimate {
    if values.is_empty() {
        return Estimate::default();
    }
    let mut rand = StdRand::with_seed(1);
    let mut draw = Vec::with_capacity(values.len());
    let draws = (0..RESAMPLES).map(|_| {
        resample(values, &mut rand, &mut draw);
        median_of(&mut draw)
    });
    interval(median(values), draws.collect())
}

/// The smallest amount above zero: less than the clock has told.
fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().filter(|&value| value > 0.0).min_by(f64::total_cmp)
}

/// Ratio of the medians of `a` and `b` (a over b) with its percentile-bootstrap interval. Zero if either is empty. Where the
/// median of `b` is zero, the ratio is at least that to the smallest amount that was measured above zero; 1 if there is none.
pub fn ratio_of_medians(a: &[f64], b: &[f64]) -> Estimate {
    if a.is_empty() || b.is_empty() {
        return Estimate::default();
    }
    let Some(least) = least(b).or_else(|| least(a)) else { return Estimate { value: 1.0, low: 1.0, high: 1.0 } };
    let ratio = |a: &mut [f64], b: &mut [f64]| median_of(a) / median_of(b).max(least);
    let mut rand = StdRand::with_seed(1);
    let (mut draw_a, mut draw_b) = (Vec::new(), Vec::new());
    let draws = (0..RESAMPLES).map(|_| {
        resample(a, &mut rand, &mut draw_a);
        resample(b, &mut rand, &mut draw_b);
        ratio(&mut draw_a, &mut draw_b)
    });
    interval(ratio(&mut a.to_vec(), &mut b.to_vec()), draws.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_no_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn the_interval_of_a_ratio_holds_the_ratio_and_shrinks_with_agreement() {
        let noisy: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i % 7) * 10.0).collect();
        let steady = vec![50.0; 30];
        let estimate = ratio_of_medians(&noisy, &steady);
        assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
        assert!(estimate.high > estimate.low);
        let exact = ratio_of_medians(&steady, &steady);
        assert_eq!((exact.low, exact.value, exact.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn times_that_the_clock_does_not_see_bound_a_ratio_by_what_it_sees() {
        let some = ratio_of_medians(&[3.0, 4.0, 5.0], &[0.0, 0.0, 2.0]);
        assert!(some.value == 2.0 && some.high <= 2.5 && some.low >= 1.5, "{some:?}");
        let none = ratio_of_medians(&[3.0, 4.0, 5.0], &[0.0; 3]);
        assert!(none.high <= 5.0 / 3.0, "{none:?}");
        assert_eq!(ratio_of_medians(&[0.0; 3], &[0.0; 3]).high, 1.0);
        assert_eq!(ratio_of_medians(&[0.0; 3], &[1.0; 3]).high, 0.0);
    }

    #[test]
    fn the_same_measurements_give_the_same_interval() {
        let a = [1.0, 2.0, 3.0, 9.0];
        let b = [1.0, 1.5];
        assert_eq!(ratio_of_medians(&a, &b), ratio_of_medians(&a, &b));
    }
}
