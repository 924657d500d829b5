//! CPU time that sizes take: the law of the instructions times the measured time of one.

use std::time::Instant;

use serde::Serialize;

use super::{
    family::Family,
    sample::{Axis, Sample},
};
use crate::{
    interruption,
    runner::{Detail, Runner},
};
use quagmire_base::error::Result;
use quagmire_cost::law::Fit;

/// Times that users ask about, in seconds.
const ASKED: [f64; 2] = [1.0, 60.0];
/// The sizes whose time for an instruction is measured: the largest ones, since caches become too small.
const MEASURED: usize = 3;
/// Runs of each of them.
const ROUNDS: usize = 3;
/// Shortest run, in seconds, whose time can be measured.
const SHORTEST: f64 = 20e-6;
/// Extrapolation beyond which a time is not safe to say.
pub(super) const SAFE_FACTOR: f64 = 100.0;

/// CPU times of sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Measured seconds for each instruction (for each nanosecond without exact counts): median, smallest and largest.
    pub seconds_per_unit: [f64; 3],
    /// Sizes that take a second and a minute; those that no size below 10^15 takes are missing.
    pub sizes: Vec<SizeOfTime>,
    /// The prediction that was tested.
    pub verified: Option<Verified>,
}

/// Size of the input that takes a given time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeOfTime {
    pub seconds: f64,
    /// Number of repetitions, and the least and the most by the measured times.
    pub n: [f64; 3],
    /// Size in bytes, and the least and the most.
    pub bytes: [f64; 3],
    /// The size over the largest one that was run.
    pub extrapolation: f64,
    /// Whether it is at most a hundred times the largest size that was run.
    pub is_safe: bool,
}

/// A prediction, and the run that tested it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// Number of repetitions.
    pub n: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Predicted CPU time in seconds.
    pub predicted: f64,
    /// Measured CPU time in seconds; `None` if the run did not return.
    pub measured: Option<f64>,
    pub predicted_amount: f64,
    /// Measured amount.
    pub amount: u64,
    /// How the run ended.
    pub status: String,
}

/// Measures the time of an instruction at the largest sizes: median, smallest and largest of the sizes, each by its
/// fastest run until there is no time left. `None` if the runs are too short.
pub(super) fn per_unit(
    runner: &mut Runner,
    family: &Family<'_>,
    samples: &[Sample],
    amount: impl Fn(&Sample) -> u64,
    until: Instant,
) -> Result<Option<[f64; 3]>> {
    let mut all = Vec::new();
    for sample in samples.iter().rev().take(MEASURED) {
        let Ok(input) = family.render(sample.n, runner.capacity() as u64) else { continue };
        let least = fastest(runner, &input, sample.run.seconds, until)?;
        if least >= SHORTEST && amount(sample) > 0 {
            all.push(least / amount(sample) as f64);
        }
    }
    all.sort_by(f64::total_cmp);
    Ok((!all.is_empty()).then(|| [all[all.len() / 2], all[0], all[all.len() - 1]]))
}

/// The least CPU time of some runs of an input, in seconds, among them one that took `least`: what the first run has to get from
/// the system, later ones have. Runs are left out after `until`.
pub(super) fn fastest(runner: &mut Runner, input: &[u8], mut least: f64, until: Instant) -> Result<f64> {
    for _ in 1..ROUNDS {
        if interruption::has_come() || Instant::now() >= until {
            break;
        }
        let run = runner.run(input, Detail::Cost)?;
        if run.came_back() {
            least = least.min(run.seconds);
        }
    }
    Ok(least)
}

/// Sizes that take a second and a minute.
pub(super) fn sizes(fit: &Fit, family: &Family<'_>, axis: Axis, per_unit: [f64; 3]) -> Vec<SizeOfTime> {
    let law = fit.final_law();
    let size = |seconds: f64, unit: f64| law.size_for(seconds / unit, 1.0);
    let of_time = |seconds: f64| {
        // the slowest instruction gives the smallest size
        let along = [size(seconds, per_unit[0])?, size(seconds, per_unit[2])?, size(seconds, per_unit[1])?];
        let n = along.map(|along| match axis {
            Axis::Repetitions => along,
            Axis::Bytes => family.n_for_size(along as u64) as f64,
        });
        // there is no larger number in the template
        if family.largest_n().is_some_and(|largest| n[0] > largest as f64) {
            return None;
        }
        let bytes = n.map(|n| family.size(n as u64) as f64);
        let extrapolation = along[0] / fit.largest.max(1) as f64;
        Some(SizeOfTime { seconds, n, bytes, extrapolation, is_safe: extrapolation <= SAFE_FACTOR })
    };
    ASKED.into_iter().filter_map(of_time).collect()
}
