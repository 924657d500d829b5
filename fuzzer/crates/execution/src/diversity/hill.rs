//! Hill numbers: how many branches are exercised, and how evenly.

use serde::{Deserialize, Serialize};

/// Number of standard deviations around its mean within which a random count is summed up.
const DEVIATIONS: f64 = 9.0;

/// Hill numbers of the orders 0, 1 and 2 over branches, where each branch has the share of the traces that cover it
/// (BeDivFuzz, ICSE 2022). All are 0 without a trace; otherwise b0 >= b1 >= b2 >= 1, and all are equal if all branches
/// are covered equally often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hill {
    /// B(0): the number of branches that are covered.
    pub b0: f64,
    /// B(1): the exponential of Shannon's entropy, an effective number of branches.
    pub b1: f64,
    /// B(2): the inverse of Simpson's index, an effective number of branches in which common ones weigh more.
    pub b2: f64,
}

impl Hill {
    /// Computes the numbers of these counts: for each branch, the number of traces that cover it.
    pub fn of(counts: impl Iterator<Item = u64>) -> Self {
        Self::of_terms(counts.filter(|&count| count > 0).map(|count| {
            let x = count as f64;
            Terms { covered: 1.0, sum: x, squares: x * x, logarithms: x * x.ln() }
        }))
    }

    /// Estimates the numbers that a random sample of `sample` of all `traces` traces would have (rarefaction). B(0) is
    /// its expectation; B(1) and B(2) are computed from the expectations of their sums. `counts` are those of all traces;
    /// a sample that is not smaller leaves them as they are.
    pub fn of_sample(counts: &[u64], traces: u64, sample: u64) -> Self {
        if sample >= traces {
            return Self::of(counts.iter().copied());
        }
        // many branches share their counts
        let mut sorted: Vec<u64> = counts.iter().copied().filter(|&count| count > 0).collect();
        sorted.sort_unstable();
        Self::of_terms(sorted.chunk_by(|a, b| a == b).map(|alike| {
            let one = Terms::expected(alike[0].min(traces), traces, sample);
            one.times(alike.len() as f64)
        }))
    }

    fn of_terms(terms: impl Iterator<Item = Terms>) -> Self {
        let Terms { covered, sum, squares, logarithms } = terms.fold(Terms::default(), |all, one| Terms {
            covered: all.covered + one.covered,
            sum: all.sum + one.sum,
            squares: all.squares + one.squares,
            logarithms: all.logarithms + one.logarithms,
        });
        if sum == 0.0 {
            return Self::default();
        }
        Self { b0: covered, b1: (sum.ln() - logarithms / sum).exp(), b2: sum * sum / squares }
    }
}

/// Contribution of a branch that `x` traces cover, or the expectation of it.
#[derive(Clone, Copy, Debug, Default)]
struct Terms {
    /// 1 if `x` is not 0.
    covered: f64,
    /// `x`.
    sum: f64,
    /// `x` squared.
    squares: f64,
    /// `x` times its natural logarithm.
    logarithms: f64,
}

impl Terms {
    fn times(self, factor: f64) -> Self {
        let Self { covered, sum, squares, logarithms } = self;
        Self {
            covered: covered * factor,
            sum: sum * factor,
            squares: squares * factor,
            logarithms: logarithms * factor,
        }
    }

    /// Expectations for a branch that `count` of all `traces` traces cover, in a random sample of `sample` traces: the
    /// number of covering traces is distributed hypergeometrically.
    fn expected(count: u64, traces: u64, sample: u64) -> Self {
        let (all, marked, drawn) = (traces as f64, count as f64, sample as f64);
        let (least, most) = ((drawn + marked - all).max(0.0), drawn.min(marked));
        let mean = drawn * marked / all;
        let variance = mean * (all - marked) / all * (all - drawn) / (all - 1.0).max(1.0);
        let reach = DEVIATIONS * variance.sqrt() + DEVIATIONS;
        let mode = ((drawn + 1.0) * (marked + 1.0) / (all + 2.0)).floor().clamp(least, most);
        // probabilities as multiples of that of the mode, towards both ends
        let up = |x: f64| (marked - x) * (drawn - x) / ((x + 1.0) * (all - marked - drawn + x + 1.0));
        let mut weights = Self::default();
        let mut total = 0.0;
        let mut add = |x: f64, weight: f64| {
            total += weight;
            if x > 0.0 {
                weights.covered += weight;
                weights.sum += weight * x;
                weights.squares += weight * x * x;
                weights.logarithms += weight * x * x.ln();
            }
        };
        add(mode, 1.0);
        let (mut x, mut weight) = (mode, 1.0);
        while x < most && x < mean + reach {
            weight *= up(x);
            x += 1.0;
            add(x, weight);
        }
        (x, weight) = (mode, 1.0);
        while x > least && x > mean - reach {
            x -= 1.0;
            weight /= up(x);
            add(x, weight);
        }
        weights.times(1.0 / total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hill numbers by their definition, from shares.
    fn by_definition(counts: &[u64]) -> [f64; 3] {
        let all: u64 = counts.iter().sum();
        let shares: Vec<f64> = counts.iter().filter(|&&c| c > 0).map(|&c| c as f64 / all as f64).collect();
        let entropy: f64 = shares.iter().map(|p| -p * p.ln()).sum();
        let simpson: f64 = shares.iter().map(|p| p * p).sum();
        [shares.len() as f64, entropy.exp(), 1.0 / simpson]
    }

    fn is_near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(1.0)
    }

    #[test]
    fn the_numbers_are_those_of_a_plain_computation() {
        assert_eq!(Hill::of([0, 0].into_iter()), Hill::default());
        let even = Hill::of([7; 5].into_iter());
        assert!([even.b0, even.b1, even.b2].into_iter().all(|b| is_near(b, 5.0)), "{even:?}");
        // two branches, three to one: exp(0.5623...), 1 / (9/16 + 1/16)
        let uneven = Hill::of([3, 0, 1].into_iter());
        assert!(is_near(uneven.b2, 1.6) && (uneven.b1 - 1.754_765).abs() < 1e-6, "{uneven:?}");
    }

    /// Sums of the same terms over all samples, from the traces themselves.
    fn over_all_samples(traces: &[Vec<bool>], branches: usize, sample: u32) -> [f64; 3] {
        let (mut samples, mut covered, mut sum, mut squares, mut logarithms) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for chosen in (0_u32..1 << traces.len()).filter(|chosen| chosen.count_ones() == sample) {
            samples += 1.0;
            for branch in 0..branches {
                let hits = (0..traces.len()).filter(|&t| chosen >> t & 1 == 1 && traces[t][branch]).count() as f64;
                if hits > 0.0 {
                    covered += 1.0;
                    sum += hits;
                    squares += hits * hits;
                    logarithms += hits * hits.ln();
                }
            }
        }
        let (sum, squares, logarithms) = (sum / samples, squares / samples, logarithms / samples);
        [covered / samples, (sum.ln() - logarithms / sum).exp(), sum * sum / squares]
    }

    proptest! {
        #[test]
        fn sums_give_what_the_definition_gives(counts in proptest::collection::vec(0_u64..1_000_000, 1..50)) {
            prop_assume!(counts.iter().any(|&count| count > 0));
            let hill = Hill::of(counts.iter().copied());
            for (ours, theirs) in [hill.b0, hill.b1, hill.b2].into_iter().zip(by_definition(&counts)) {
                prop_assert!((ours - theirs).abs() <= 1e-6 * theirs, "{ours} {theirs}");
            }
            prop_assert!(hill.b0 + 1e-6 >= hill.b1 && hill.b1 + 1e-6 >= hill.b2 && hill.b2 >= 1.0 - 1e-6);
        }

        #[test]
        fn a_sample_has_the_mean_of_all_samples(
            traces in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 4), 2..9),
            sample in 1_u32..8,
        ) {
            let sample = sample.min(traces.len() as u32);
            let counts: Vec<u64> =
                (0..4).map(|branch| traces.iter().filter(|trace| trace[branch]).count() as u64).collect();
            prop_assume!(counts.iter().any(|&count| count > 0));
            let hill = Hill::of_sample(&counts, traces.len() as u64, sample.into());
            let all = over_all_samples(&traces, 4, sample);
            for (ours, theirs) in [hill.b0, hill.b1, hill.b2].into_iter().zip(all) {
                prop_assert!(is_near(ours, theirs), "{ours} {theirs}");
            }
        }
    }

    #[test]
    fn large_samples_are_near_what_they_are_drawn_from() {
        let counts: Vec<u64> = (1..=2000).map(|branch| 5_000_000 / branch).collect();
        let (all, half) = (Hill::of(counts.iter().copied()), Hill::of_sample(&counts, 5_000_000, 2_500_000));
        assert!((half.b1 / all.b1 - 1.0).abs() < 1e-3 && (half.b2 / all.b2 - 1.0).abs() < 1e-3, "{half:?} {all:?}");
        assert_eq!(Hill::of_sample(&counts, 100, 100), all, "no sample");
    }
}
