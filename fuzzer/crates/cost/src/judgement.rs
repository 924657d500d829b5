//! Verdicts on repeated time measurements of two inputs.
//!
//! A degradation has to pass three tests: the interval of the ratio of the medians lies above 1 by more than the noise
//! floor and by more than the least effect that matters, and the rank test finds that the times rank higher. Each of
//! them alone is wrong now and then: an interval from few values is too narrow, a rank test sees differences of a
//! hundredth of a percent, and a noise floor is itself measured.
//!
//! Runs are repeated until the verdict is clear. Looking often would make false alarms likely, so there are four looks
//! at fixed numbers of rounds, the last of which comes sooner if the budget is spent, and each has to pass at a
//! quarter of the level (Bonferroni's correction: valid however the looks depend on each other).
//!
//! Where runs are so long that there is time for few, the rank test cannot be passed: no order of three and three
//! values is less likely than 1 in 20. There, a gross difference is enough: the fastest run of the slower input takes
//! at least twice as long as the slowest run of the other.

use serde::{Deserialize, Serialize};

use super::statistics::{Estimate, p_above, ratio_of_medians};

/// Outcome of comparing an input with its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The input costs more: the interval lies above the noise floor and the rank test agrees.
    Degradation,
    /// The input may cost more; the measurements do not settle it.
    Maybe,
    /// No difference beyond the noise.
    NoChange,
    /// The input costs less.
    Optimisation,
}

impl Verdict {
    /// Verdict in words, for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Degradation => "degradation",
            Self::Maybe => "maybe a degradation",
            Self::NoChange => "no change",
            Self::Optimisation => "optimisation",
        }
    }
}

/// Size of a cost ratio, in four classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Less than 2 times.
    Minor,
    /// 2 times to less than 10 times.
    Moderate,
    /// 10 times to less than 100 times.
    Severe,
    /// 100 times and more.
    Critical,
}

impl Severity {
    /// Severity of an input that costs `ratio` times as much as the input it is compared with.
    pub fn of(ratio: f64) -> Self {
        match ratio {
            r if r >= 100.0 => Self::Critical,
            r if r >= 10.0 => Self::Severe,
            r if r >= 2.0 => Self::Moderate,
            _ => Self::Minor,
        }
    }

    /// Severity in words, for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Moderate => "moderate",
            Self::Severe => "severe",
            Self::Critical => "critical",
        }
    }
}

/// Numbers of rounds after which the verdict is computed. After the first, only gross differences can be clear.
pub const LOOKS: [u32; 4] = [3, 10, 20, 40];

/// Probability of a false alarm by the rank test, over all looks together.
const LEVEL: f64 = 0.004;

/// Smallest relative difference that matters in practice: 5 %.
pub const LEAST_EFFECT: f64 = 0.05;

/// Largest p-value that gives [`Verdict::Maybe`]: the smallest that three and three runs can have.
const SUSPICIOUS: f64 = 0.05;

/// Runs of each input from which "no change" can be clear.
const ENOUGH: usize = 10;

/// Factor between the fastest run of one input and the slowest of the other that makes a gross difference.
pub const GROSS: f64 = 2.0;

/// Runs of each input that a gross difference needs at least.
const ENOUGH_IF_GROSS: usize = 3;

/// Verdict on the times of an input, with the figures that led to it. The module describes the tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Outcome of the comparison.
    pub verdict: Verdict,
    /// Severity of the ratio of the medians.
    pub severity: Severity,
    /// Ratio of the medians, with its 95 % bootstrap interval.
    pub ratio: Estimate,
    /// p-value of the rank test, one-sided, in the direction of the ratio.
    pub p_value: f64,
    /// Whether more rounds would hardly change the verdict.
    pub is_clear: bool,
    /// Noise floor that the difference had to exceed; see [`noise_floor`].
    pub floor: Option<f64>,
    /// Number of runs of the input.
    pub runs: usize,
    /// Whether every run of one took at least twice as long as every run of the other.
    pub is_gross: bool,
}

/// Noise of this machine: how far from 1 the interval of the ratio reaches when an input is compared with itself. 0.02
/// is 2 %. Compares every other sample with the rest, since a round takes one sample before the other inputs and one
/// after them. `None` for fewer than 10 samples.
pub fn noise_floor(samples: &[f64]) -> Option<f64> {
    if samples.len() < ENOUGH {
        return None;
    }
    let half = |from: usize| samples.iter().copied().skip(from).step_by(2).collect::<Vec<f64>>();
    let ratio = ratio_of_medians(&half(0), &half(1));
    Some((ratio.high - 1.0).max(1.0 - ratio.low).max(0.0))
}

/// Whether the fastest run of `slow` takes at least twice as long as the slowest of `fast`, over at least 3 runs each.
fn is_gross(slow: &[f64], fast: &[f64]) -> bool {
    let least = slow.iter().copied().fold(f64::INFINITY, f64::min);
    let most = fast.iter().copied().fold(0.0, f64::max);
    slow.len().min(fast.len()) >= ENOUGH_IF_GROSS && least >= GROSS * most
}

/// Judges the times of `input` against those of `seed`, both in the same unit and measured in turn. `floor` is the
/// noise of this machine ([`noise_floor`]).
pub fn judge(input: &[f64], seed: &[f64], floor: Option<f64>) -> Judgement {
    let ratio = ratio_of_medians(input, seed);
    let (slow, fast) = if ratio.value >= 1.0 { (input, seed) } else { (seed, input) };
    let p_value = p_above(slow, fast);
    let margin = 1.0 + floor.unwrap_or(0.0).max(LEAST_EFFECT);
    let is_gross = is_gross(slow, fast);
    let is_certain = is_gross || p_value < LEVEL / LOOKS.len() as f64;
    let verdict = if input.is_empty() || seed.is_empty() {
        Verdict::NoChange
    } else if ratio.low > margin && is_certain {
        Verdict::Degradation
    } else if ratio.high < 1.0 / margin && is_certain {
        Verdict::Optimisation
    } else if ratio.value > margin && p_value <= SUSPICIOUS {
        Verdict::Maybe
    } else {
        Verdict::NoChange
    };
    let is_clear = match verdict {
        Verdict::Degradation | Verdict::Optimisation => true,
        Verdict::NoChange => input.len().min(seed.len()) >= ENOUGH && is_within(&ratio),
        Verdict::Maybe => false,
    };
    let severity = Severity::of(ratio.value);
    Judgement { verdict, severity, ratio, p_value, is_clear, floor, runs: input.len(), is_gross }
}

/// Whether the whole interval lies within the least effect that matters.
fn is_within(ratio: &Estimate) -> bool {
    ratio.low > 1.0 / (1.0 + LEAST_EFFECT) && ratio.high < 1.0 + LEAST_EFFECT
}

#[cfg(test)]
mod tests;
