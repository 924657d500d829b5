//! The rounds of a measurement: all inputs in turn, until what they say is clear.

use std::time::Duration;

use super::measure::Measurement;
use crate::{
    cost::judgement::{LOOKS, judge, noise_floor},
    target::{abi::Status, executor::InProcessExecutor, process},
};

/// How often inputs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// This often each.
    Fixed(u32),
    /// Until the verdict on every input is clear, or about this much CPU time is spent.
    UntilClear(Duration),
}

/// The fewest rounds that give an interval at all.
const FEWEST: u32 = 3;

/// Runs of a cheap input in a round, where an expensive one allows for few rounds: a rank test needs many of either.
const SAMPLES: u32 = 17;

/// Short runs are timed in batches of at least 0.2 ms: the clock costs a third of a microsecond. Seconds.
const BATCH: f64 = 0.0002;

/// One input among those that are measured.
pub struct Turn<'a> {
    /// Its content.
    pub bytes: &'a [u8],
    /// What is measured of it.
    pub measurement: Measurement,
    /// Seconds of its first run.
    pub first: f64,
}

impl Turn<'_> {
    fn batch(&self) -> u32 {
        (BATCH / self.first.max(1e-8)).ceil().clamp(1.0, 10_000.0) as u32
    }

    /// One sample: the mean of a batch, in seconds.
    fn sample(&mut self, executor: &mut InProcessExecutor) -> Result<f64, Status> {
        let batch = self.batch();
        let mut seconds = 0.0;
        for _ in 0..batch {
            let before = process::cpu_seconds();
            let status = executor.execute_without_digest(self.bytes);
            seconds += process::cpu_seconds() - before;
            executor.counts_mut().digest();
            if !matches!(status, Status::Returned | Status::Rejected) {
                return Err(status);
            }
            let instructions = executor.counts().cost().instructions;
            let (low, high) = &mut self.measurement.instructions_range;
            (*low, *high) = ((*low).min(instructions), (*high).max(instructions));
            self.measurement.cost = executor.counts().cost();
        }
        Ok(seconds / f64::from(batch))
    }
}

/// Runs all inputs in turn. Every other round goes backwards, so that none always follows the same one. `after_first` is
/// called for each input after its first timed run. Returns the samples of the control: the first input once more, at
/// the other end of each round.
///
/// # Errors
/// The number of the input whose run ended early, and how.
pub fn run(
    executor: &mut InProcessExecutor,
    turns: &mut [Turn],
    rounds: Rounds,
    mut after_first: impl FnMut(usize, &InProcessExecutor, &mut Measurement),
) -> Result<Vec<f64>, (usize, Status)> {
    let plan = Plan::new(turns, rounds);
    let mut control = Vec::new();
    let mut spent = 0.0;
    for round in 0..plan.most {
        let mut order: Vec<usize> = (0..turns.len()).collect();
        // the number behind the last one stands for the control
        if plan.control {
            order.push(turns.len());
        }
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let index = if place == turns.len() { 0 } else { place };
            for _ in 0..plan.samples[index] {
                let seconds = turns[index].sample(executor).map_err(|status| (index, status))?;
                spent += seconds * f64::from(turns[index].batch());
                if place == turns.len() {
                    control.push(seconds);
                    continue;
                }
                turns[index].measurement.seconds.push(seconds);
                if turns[index].measurement.seconds.len() == 1 {
                    after_first(index, executor, &mut turns[index].measurement);
                }
            }
        }
        if let Rounds::UntilClear(budget) = rounds {
            let done = round + 1;
            if (LOOKS.contains(&done) && is_clear(turns, &control)) || (done >= FEWEST && spent >= budget.as_secs_f64())
            {
                break;
            }
        }
    }
    Ok(control)
}

/// Whether more rounds would change nothing.
fn is_clear(turns: &[Turn], control: &[f64]) -> bool {
    let [first, others @ ..] = turns else { return true };
    let floor = noise_floor(control, &first.measurement.seconds);
    others.iter().all(|turn| judge(&turn.measurement.seconds, &first.measurement.seconds, floor).is_clear)
}

struct Plan {
    most: u32,
    /// In a round, of each input.
    samples: Vec<u32>,
    control: bool,
}

impl Plan {
    fn new(turns: &[Turn], rounds: Rounds) -> Self {
        let alone = vec![1; turns.len()];
        let budget = match rounds {
            Rounds::Fixed(most) => return Self { most, samples: alone, control: false },
            Rounds::UntilClear(budget) => budget.as_secs_f64(),
        };
        let cost = |turn: &Turn| turn.first * f64::from(turn.batch());
        let round: f64 = turns.iter().map(cost).sum::<f64>() + turns.first().map_or(0.0, cost);
        let most = LOOKS[LOOKS.len() - 1];
        if round * f64::from(LOOKS[0]) <= budget {
            return Self { most, samples: alone, control: true };
        }
        // few rounds: cheap inputs, the seed above all, are run more often in each of them
        let cheap = |turn: &Turn| cost(turn) * f64::from(SAMPLES) <= round / 4.0;
        let samples = turns.iter().map(|turn| if cheap(turn) { SAMPLES } else { 1 }).collect();
        Self { most, samples, control: true }
    }
}
