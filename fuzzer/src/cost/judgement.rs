//! What repeated measurements of two inputs say about them.
//!
//! A degradation has to pass three tests: the interval of the ratio of the medians lies above 1 by more than the noise
//! floor and by more than what matters in practice, and the rank test finds that the times rank higher. Each of them
//! alone is wrong now and then: an interval from few values is too narrow, a rank test sees differences of a hundredth
//! of a percent, and a noise floor is itself measured.
//!
//! Runs are repeated until the verdict is clear. Looking often would make chance hits likely, so there are four looks at
//! fixed numbers of rounds, and each has to pass at a quarter of the level (Bonferroni's correction: valid however the
//! looks depend on each other).

use serde::{Deserialize, Serialize};

use super::{
    rank_test::p_above,
    statistics::{Estimate, ratio_of_medians},
};

/// Whether an input costs more than its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs more: the interval lies above the noise floor and the rank test agrees.
    Degradation,
    /// It may cost more; the measurements do not settle it.
    Maybe,
    /// No difference beyond the noise.
    NoChange,
    /// It costs less.
    Optimisation,
}

impl Verdict {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Degradation => "degradation",
            Self::Maybe => "maybe a degradation",
            Self::NoChange => "no change",
            Self::Optimisation => "optimisation",
        }
    }
}

/// How much more it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Less than twice as much.
    Minor,
    /// 2 to 10 times.
    Moderate,
    /// 10 to 100 times.
    Severe,
    /// More than 100 times.
    Critical,
}

impl Severity {
    /// Of an input that costs `ratio` times as much as its seed.
    pub fn of(ratio: f64) -> Self {
        match ratio {
            r if r >= 100.0 => Self::Critical,
            r if r >= 10.0 => Self::Severe,
            r if r >= 2.0 => Self::Moderate,
            _ => Self::Minor,
        }
    }

    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Moderate => "moderate",
            Self::Severe => "severe",
            Self::Critical => "critical",
        }
    }
}

/// Rounds after which the measurements are looked at.
pub const LOOKS: [u32; 4] = [10, 20, 40, 80];

/// Chance of a false alarm by the rank test, over all looks together.
const LEVEL: f64 = 0.004;

/// A smaller difference does not matter in practice.
const LEAST_EFFECT: f64 = 0.05;

/// A p-value that is worth a second look.
const SUSPICIOUS: f64 = 0.05;

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// What it comes to.
    pub verdict: Verdict,
    /// By the ratio of the medians.
    pub severity: Severity,
    /// Ratio of the medians, with its 95 % bootstrap interval.
    pub ratio: Estimate,
    /// Of the rank test, in the direction of the ratio.
    pub p_value: f64,
    /// More rounds would hardly change the verdict.
    pub is_clear: bool,
}

/// How far the interval of the ratio of two series of the same input is from 1: what this machine shows now where there
/// is no difference. 0.02 is 2 %.
pub fn noise_floor(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let ratio = ratio_of_medians(a, b);
    (ratio.high - 1.0).max(1.0 - ratio.low).max(0.0)
}

/// Judges the times of `input` against those of `seed`, which were taken in turn with them, where the same input shows
/// a `floor` of noise.
pub fn judge(input: &[f64], seed: &[f64], floor: f64) -> Judgement {
    let ratio = ratio_of_medians(input, seed);
    let slower = ratio.value >= 1.0;
    let p_value = if slower { p_above(input, seed) } else { p_above(seed, input) };
    let margin = 1.0 + floor.max(LEAST_EFFECT);
    let is_significant = p_value < LEVEL / LOOKS.len() as f64;
    let is_known = !input.is_empty() && !seed.is_empty();
    let verdict = if ratio.low > margin && is_significant {
        Verdict::Degradation
    } else if ratio.high < 1.0 / margin && is_significant && is_known {
        Verdict::Optimisation
    } else if is_known && ratio.value > margin && p_value < SUSPICIOUS {
        Verdict::Maybe
    } else {
        Verdict::NoChange
    };
    let is_within = ratio.low > 1.0 / margin && ratio.high < margin;
    let is_clear = match verdict {
        Verdict::Degradation | Verdict::Optimisation => true,
        Verdict::NoChange => is_within && floor <= LEAST_EFFECT,
        Verdict::Maybe => false,
    };
    Judgement { verdict, severity: Severity::of(ratio.value), ratio, p_value, is_clear }
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::{Rand, StdRand};

    use super::*;

    /// Times as they are: around 1, now and then much more, and with a slow drift that both series share.
    fn times(count: usize, factor: f64, rand: &mut StdRand, drift: f64) -> Vec<f64> {
        let one = |round: usize| {
            let spike = if rand.coinflip(0.05) { 1.0 + 4.0 * rand.next_float() } else { 1.0 };
            factor * spike * (1.0 + 0.04 * rand.next_float()) * (1.0 + drift * round as f64 / count as f64)
        };
        (0..count).map(one).collect()
    }

    /// Verdicts of judgements with all looks, as replay does them.
    fn verdicts(factor: f64, trials: u64) -> Vec<Verdict> {
        let judged = |trial: u64| {
            let mut rand = StdRand::with_seed(trial);
            let most = LOOKS[LOOKS.len() - 1] as usize;
            let drift = 0.2 * rand.next_float();
            let [seed, again] = [0; 2].map(|_| times(most, 1.0, &mut rand, drift));
            let input = times(most, factor, &mut rand, drift);
            let looks = LOOKS.iter().map(|&look| {
                let n = look as usize;
                judge(&input[..n], &seed[..n], noise_floor(&again[..n], &seed[..n]))
            });
            let looks: Vec<Judgement> = looks.collect();
            looks.iter().find(|look| look.is_clear).unwrap_or(&looks[looks.len() - 1]).verdict
        };
        (0..trials).map(judged).collect()
    }

    #[test]
    fn the_same_input_is_hardly_ever_a_degradation() {
        let alarms = verdicts(1.0, 400).into_iter().filter(|&verdict| verdict == Verdict::Degradation).count();
        assert!(alarms <= 1, "{alarms} of 400");
    }

    #[test]
    fn a_slowdown_by_a_fifth_is_nearly_always_seen_and_its_opposite_too() {
        let seen = |factor, expected| verdicts(factor, 100).into_iter().filter(|&verdict| verdict == expected).count();
        assert!(seen(1.2, Verdict::Degradation) >= 98);
        assert!(seen(1.0 / 1.2, Verdict::Optimisation) >= 98);
    }

    #[test]
    fn three_runs_settle_a_large_difference_if_the_seed_has_many() {
        let seed = times(51, 1.0, &mut StdRand::with_seed(1), 0.0);
        let found = judge(&[1000.0, 1010.0, 1020.0], &seed, 0.02);
        assert_eq!((found.verdict, found.severity, found.is_clear), (Verdict::Degradation, Severity::Critical, true));
    }

    #[test]
    fn a_difference_below_the_noise_is_none() {
        let seed: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i) * 1e-4).collect();
        let input: Vec<f64> = seed.iter().map(|time| time * 1.2).collect();
        assert_eq!(judge(&input, &seed, 0.02).verdict, Verdict::Degradation);
        assert_eq!(judge(&input, &seed, 0.30).verdict, Verdict::NoChange);
        assert!(!judge(&input, &seed, 0.30).is_clear);
    }

    #[test]
    fn nothing_measured_is_no_change_and_not_clear() {
        let found = judge(&[], &[1.0], 0.0);
        assert_eq!((found.verdict, found.is_clear), (Verdict::NoChange, false));
    }

    #[test]
    fn severity_goes_by_the_ratio() {
        assert_eq!(
            [1.2, 2.0, 9.9, 10.0, 100.0].map(Severity::of),
            [Severity::Minor, Severity::Moderate, Severity::Moderate, Severity::Severe, Severity::Critical]
        );
    }
}
