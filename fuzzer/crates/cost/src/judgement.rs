//! What repeated measurements of two inputs say about them.
//!
//! A degradation has to pass three tests: the interval of the ratio of the medians lies above 1 by more than the noise
//! floor and by more than what matters in practice, and the rank test finds that the times rank higher. Each of them
//! alone is wrong now and then: an interval from few values is too narrow, a rank test sees differences of a hundredth
//! of a percent, and a noise floor is itself measured.
//!
//! Runs are repeated until the verdict is clear. Looking often would make chance hits likely, so there are four looks at
//! fixed numbers of rounds, the last of which comes sooner if the budget is spent, and each has to pass at a quarter of
//! the level (Bonferroni's correction: valid however the looks depend on each other).
//!
//! Where runs are so long that there is time for few, the rank test cannot be passed: no order of three and three values
//! is less likely than 1 in 20. There, a gross difference is enough: the fastest run of the input takes at least twice
//! as long as the slowest of the seed's.

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

/// Rounds after which the measurements are looked at. After the first, only gross differences can be clear.
pub const LOOKS: [u32; 4] = [3, 10, 20, 40];

/// Chance of a false alarm by the rank test, over all looks together.
const LEVEL: f64 = 0.004;

/// A smaller difference does not matter in practice.
const LEAST_EFFECT: f64 = 0.05;

/// A p-value that is worth a second look: the smallest that three and three runs can have.
const SUSPICIOUS: f64 = 0.05;

/// From so many runs of either, no difference can be clear.
const ENOUGH: usize = 10;

/// A gross difference is by this factor between the fastest and the slowest ...
const GROSS: f64 = 2.0;

/// ... of at least so many runs each.
const ENOUGH_IF_GROSS: usize = 3;

/// See the module's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// What it comes to.
    pub verdict: Verdict,
    /// By the ratio of the medians.
    pub severity: Severity,
    /// Ratio of the medians, with its 95 % bootstrap interval.
    pub ratio: Estimate,
    /// Of the rank test, one-sided, in the direction of the ratio.
    pub p_value: f64,
    /// More rounds would hardly change the verdict.
    pub is_clear: bool,
    /// The noise that the difference was held against; see [`noise_floor`].
    pub floor: Option<f64>,
    /// Runs of the input.
    pub runs: usize,
    /// Every run of one took at least twice as long as every run of the other.
    pub is_gross: bool,
}

/// What this machine shows now where there is no difference: half of the samples of one input against the other half, of
/// which every other sample is a part, as a round has one before the other inputs and one after them. It is how far the
/// interval of their ratio reaches from 1: 0.02 is 2 %. `None` for too few samples.
pub fn noise_floor(samples: &[f64]) -> Option<f64> {
    if samples.len() < ENOUGH {
        return None;
    }
    let half = |from: usize| samples.iter().copied().skip(from).step_by(2).collect::<Vec<f64>>();
    let ratio = ratio_of_medians(&half(0), &half(1));
    Some((ratio.high - 1.0).max(1.0 - ratio.low).max(0.0))
}

/// Whether `slow` is grossly slower than `fast`.
fn is_gross(slow: &[f64], fast: &[f64]) -> bool {
    let least = slow.iter().copied().fold(f64::INFINITY, f64::min);
    let most = fast.iter().copied().fold(0.0, f64::max);
    slow.len().min(fast.len()) >= ENOUGH_IF_GROSS && least >= GROSS * most
}

/// Judges the times of `input` against those of `seed`, which were taken in turn with them, where the same input shows
/// a `floor` of noise.
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

/// All of the interval is too little to matter.
fn is_within(ratio: &Estimate) -> bool {
    ratio.low > 1.0 / (1.0 + LEAST_EFFECT) && ratio.high < 1.0 + LEAST_EFFECT
}

impl Judgement {
    /// Why the verdict is what it is, in one line for people.
    pub fn explanation(&self) -> String {
        let Self { ratio: Estimate { value, low, high }, .. } = self;
        let took = format!("{value:.2} x the time of the first [{low:.2}, {high:.2}]");
        let runs = self.runs;
        let noise = self.floor.map_or(String::new(), |floor| format!(" than the noise of {:.1} %", floor * 100.0));
        match self.verdict {
            Verdict::Degradation | Verdict::Optimisation if self.is_gross => {
                format!(
                    "{took}: no run of the one is within a factor of {GROSS:.0} of any of the other, over {runs} runs"
                )
            }
            Verdict::Degradation => format!("{took}: more{noise}, and not by chance"),
            Verdict::Optimisation => format!("{took}: less by more{noise}, and not by chance"),
            Verdict::Maybe => format!("{took}: {runs} runs do not settle it; a larger --budget may"),
            Verdict::NoChange if self.is_clear => {
                format!("{took}: a difference of less than {:.0} % does not matter", LEAST_EFFECT * 100.0)
            }
            Verdict::NoChange if runs == 0 => "not timed".to_owned(),
            Verdict::NoChange => format!("{took}: no difference can be told over {runs} runs"),
        }
    }
}

#[cfg(test)]
mod tests;
