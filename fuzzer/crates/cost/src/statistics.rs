//! Medians, bootstrap intervals, the rank test of Mann and Whitney (Wilcoxon's rank-sum test), and the control of false
//! discoveries.

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

/// One-sided p-value: the probability that `a` ranks as high above `b` as it does, or higher, if both come from the
/// same distribution. 0 to 1; 1 if either is empty. Exact without ties; with ties, or for many values, by the normal
/// approximation with the correction for ties and for continuity.
pub fn p_above(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let (twice_u, ties) = statistic(a, b);
    if ties.is_empty() && a.len() * b.len() <= EXACT {
        exact(a.len(), b.len(), twice_u / 2)
    } else {
        approximate(a.len(), b.len(), twice_u as f64 / 2.0, &ties)
    }
}

/// Largest number of pairs for which the p-value is computed exactly.
const EXACT: usize = 2500;

/// Twice the number of pairs in which `a` is larger (ties count half), and the sizes of all groups of equal values;
/// these are empty if no value of `a` equals one of `b`, since ties within one sample do not matter.
fn statistic(a: &[f64], b: &[f64]) -> (usize, Vec<usize>) {
    let (mut twice_u, mut tied) = (0, false);
    for x in a {
        for y in b {
            twice_u += match x.total_cmp(y) {
                std::cmp::Ordering::Greater => 2,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Less => 0,
            };
            tied |= x == y;
        }
    }
    if !tied {
        return (twice_u, Vec::new());
    }
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    (twice_u, all.chunk_by(|x, y| x == y).map(<[f64]>::len).filter(|&size| size > 1).collect())
}

/// P(U >= u) without ties: of all ways to rank n and m values, the share in which at least u pairs are in favour of
/// the n.
fn exact(n: usize, m: usize, u: usize) -> f64 {
    // ways[k][v]: of choosing k of the values seen so far such that v pairs are in favour
    let most = n * m;
    let mut ways = vec![vec![0.0f64; most + 1]; n + 1];
    ways[0][0] = 1.0;
    // the value with j others below it in all adds (j - k) pairs if it is the (k + 1)th of the n
    for j in 0..n + m {
        for k in (0..n.min(j + 1)).rev() {
            let Some(below) = j.checked_sub(k).filter(|&below| below <= m) else { continue };
            for v in (0..=most - below.min(most)).rev() {
                if ways[k][v] > 0.0 && v + below <= most {
                    let add = ways[k][v];
                    ways[k + 1][v + below] += add;
                }
            }
        }
    }
    let total: f64 = ways[n].iter().sum();
    (ways[n][u.min(most)..].iter().sum::<f64>() / total).min(1.0)
}

fn approximate(n: usize, m: usize, u: f64, ties: &[usize]) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let tied: f64 = ties.iter().map(|&size| (size as f64).powi(3) - size as f64).sum();
    let variance = n * m / 12.0 * ((all + 1.0) - tied / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    upper_tail((u - n * m / 2.0 - 0.5) / variance.sqrt())
}

/// P(Z >= z) of the standard normal distribution; the relative error is below 1.2e-7 (Numerical Recipes' erfcc).
fn upper_tail(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    const COEFFICIENTS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let series = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient);
    let erfc = t * (-x * x + series).exp();
    if z >= 0.0 { erfc / 2.0 } else { 1.0 - erfc / 2.0 }
}

/// Which tests are discoveries, if at most the share `rate` (0 to 1) of all discoveries may be false on average: those
/// whose p-value is at most that of the last one, in ascending order, that lies below `rate` times its rank by the number
/// of tests. For tests that are independent, or of which one rises with the others.
pub fn discoveries(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let number = sorted.len() as f64;
    let passes = |(index, p): &(usize, &f64)| **p <= rate * (*index + 1) as f64 / number;
    let largest = sorted.iter().enumerate().filter(passes).map(|(_, p)| *p).next_back();
    p_values.iter().map(|p| largest.is_some_and(|largest| *p <= largest)).collect()
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

    fn close(value: f64, expected: f64, error: f64) {
        assert!((value - expected).abs() <= expected * error, "{value} is not {expected}");
    }

    #[test]
    fn small_samples_are_exact() {
        // one of C(6, 3) = 20 orders, one of C(8, 4) = 70, one of C(53, 3)
        close(p_above(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]), 1.0 / 20.0, 1e-12);
        close(p_above(&[5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 4.0]), 1.0 / 70.0, 1e-12);
        let many: Vec<f64> = (0..50).map(f64::from).collect();
        close(p_above(&[99.0, 98.0, 97.0], &many), 1.0 / 23_426.0, 1e-9);
        close(p_above(&[99.0, 98.0, 97.0], &[1.0; 50]), 1.0 / 23_426.0, 1e-9);
        assert_eq!(p_above(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 1.0);
        assert_eq!(p_above(&[], &[1.0]), 1.0);
    }

    #[test]
    fn the_exact_distribution_is_that_of_scipy() {
        // scipy.stats.mannwhitneyu(a, b, alternative="greater", method="exact")
        let a = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let b = [1.15, 0.88, 0.90, 0.74, 1.21];
        close(p_above(&a, &b), 0.127_206_127, 1e-6);
    }

    #[test]
    fn the_approximation_agrees_with_the_exact_value() {
        let a: Vec<f64> = (0..30).map(|i| f64::from(i) * 1.1 + 5.0).collect();
        let b: Vec<f64> = (0..30).map(|i| f64::from(i) * 1.07 + 0.3).collect();
        let (twice_u, ties) = statistic(&a, &b);
        assert!(ties.is_empty());
        close(approximate(30, 30, twice_u as f64 / 2.0, &[]), exact(30, 30, twice_u / 2), 0.02);
    }

    #[test]
    fn the_normal_tail_is_that_of_the_tables() {
        for (z, tail) in [(0.0, 0.5), (1.0, 0.158_655_25), (1.96, 0.024_997_9), (3.0, 0.001_349_898), (5.0, 2.866_5e-7)]
        {
            close(upper_tail(z), tail, 1e-4);
            close(upper_tail(-z), 1.0 - tail, 1e-4);
        }
    }

    #[test]
    fn values_that_are_all_equal_say_nothing() {
        assert!(p_above(&[1.0; 20], &[1.0; 20]) >= 0.5);
    }

    #[test]
    fn the_example_of_the_paper_has_four_discoveries() {
        // Benjamini and Hochberg 1995, section 4: 15 tests at a rate of 0.05
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let found = discoveries(&p, 0.05);
        assert_eq!(found.iter().filter(|found| **found).count(), 4);
        assert!(found[..4].iter().all(|found| *found));
    }

    #[test]
    fn a_larger_p_value_is_a_discovery_if_one_further_on_passes() {
        // 0.03 fails at its own rank and passes with that of 0.04
        assert_eq!(discoveries(&[0.04, 0.03], 0.04), [true, true]);
        assert_eq!(discoveries(&[0.5, 0.03], 0.04), [false, false]);
        assert_eq!(discoveries(&[], 0.05), Vec::<bool>::new());
    }
}
