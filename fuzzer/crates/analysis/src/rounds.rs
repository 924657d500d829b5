//! The rounds of a measurement: all inputs in turn, until what they say is clear.
//!
//! What could make an input look slower than it is, and what is done about it:
//! - *Drift*, such as a change of frequency: a round goes through all inputs and then back. The first and the second half
//!   of a round see a steady drift from opposite sides, so that it cancels.
//! - *Interference* by what else runs: the inputs alternate every fraction of a millisecond, so that it hits all alike.
//! - *Caches*: on the way there and back, each of two inputs follows itself once and the other one once. Short runs are
//!   preceded by one that is not timed, so that what ran before has left the caches.
//! - *Batches*: two inputs that take about as long are timed in batches of the same size.
//! - *Memory*: all inputs are run from the same address in the same process, so that its layout cannot favour one.

use std::time::Duration;

use super::measure::Measurement;
use quagmire_cost::{
    decision::{Comparison, is_settled, judge_last},
    judgement::{LOOKS, judge, noise_floor},
    resource::Resource,
};
use quagmire_execution::{abi::Status, executor::HarnessExecutor, perf::Counters};

/// How often inputs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// This often each; not at all after the first run, which is not timed, if it is 0.
    Fixed(u32),
    /// Until the verdicts are clear, or about this much CPU time is spent.
    UntilClear(Duration),
}

/// The fewest rounds that can settle anything.
const FEWEST: u32 = LOOKS[0];

/// Samples of a cheap input in a round, at most, where an expensive one allows for few rounds: a rank test needs many of
/// either.
const SAMPLES: f64 = 17.0;

/// Short runs are timed in batches of about 0.2 ms: asking the clock costs a third of a microsecond. Seconds.
const BATCH: f64 = 0.0002;

/// Runs that are shorter are preceded by one that is not timed. Seconds.
const SHORT: f64 = 0.001;

/// A first run that is longer says well enough how long the others are. Seconds.
const LONG: f64 = 0.02;

/// From so many samples, the noise that an input shows against itself is known well enough.
const ENOUGH_FOR_NOISE: usize = 40;

/// One input among those that are measured.
pub struct Turn<'a> {
    bytes: &'a [u8],
    /// What is measured of it.
    pub measurement: Measurement,
    /// Of one run, about.
    seconds: f64,
    /// Runs that are timed together.
    batch: u32,
    /// Each sample begins with a run that is not timed. Always, where a batch has several.
    has_lead_in: bool,
    is_described: bool,
}

impl<'a> Turn<'a> {
    /// An input whose first run took `seconds`.
    pub fn new(bytes: &'a [u8], mut measurement: Measurement, seconds: f64) -> Self {
        measurement.instructions_range = (u64::MAX, 0);
        Self { bytes, measurement, seconds, batch: 1, has_lead_in: false, is_described: false }
    }

    fn sample_seconds(&self) -> f64 {
        self.seconds * f64::from(self.batch)
    }

    /// Finds out how long a run takes when it is not the first.
    fn estimate(&mut self, executor: &mut HarnessExecutor) -> Result<(), Status> {
        if self.seconds >= LONG {
            return Ok(());
        }
        let mut runs = 1;
        loop {
            let seconds = timed(executor, self.bytes, runs)?;
            self.seconds = (seconds / f64::from(runs)).max(1e-8);
            if seconds >= BATCH / 4.0 {
                return Ok(());
            }
            runs *= 2;
        }
    }
}

/// CPU seconds of `runs` runs, one directly after the other. Their counts add up.
fn timed(executor: &mut HarnessExecutor, bytes: &[u8], runs: u32) -> Result<f64, Status> {
    executor.counts_mut().clear();
    let before = executor.cpu_seconds();
    let status = executor.execute_repeatedly(bytes, runs);
    let seconds = executor.cpu_seconds() - before;
    executor.counts_mut().digest();
    came_back(status).map(|()| seconds)
}

fn came_back(status: Status) -> Result<(), Status> {
    if matches!(status, Status::Returned | Status::Rejected) { Ok(()) } else { Err(status) }
}

/// Takes samples; `describe` is called for each input, by number, after a run that was neither in a batch nor its first.
struct Sampler<'a, F> {
    executor: &'a mut HarnessExecutor,
    counters: Option<Counters>,
    describe: F,
    /// CPU seconds of all runs, timed or not.
    spent: f64,
}

impl<F: FnMut(usize, &HarnessExecutor, &mut Measurement)> Sampler<'_, F> {
    /// One sample: the mean of a batch.
    fn take(&mut self, index: usize, turn: &mut Turn) -> Result<(), Status> {
        if turn.has_lead_in {
            self.single_run(index, turn)?;
        }
        let before = self.counters.as_mut().and_then(Counters::read);
        let seconds = timed(self.executor, turn.bytes, turn.batch)?;
        let after = self.counters.as_mut().and_then(Counters::read);
        self.spent += seconds;
        turn.measurement.seconds.push(seconds / f64::from(turn.batch));
        if let (Some(before), Some(after)) = (before, after) {
            turn.measurement.counters.extend(after.since(before, turn.batch));
        }
        self.counted(index, turn, turn.batch);
        Ok(())
    }

    /// One run that is not timed.
    fn single_run(&mut self, index: usize, turn: &mut Turn) -> Result<(), Status> {
        came_back(self.executor.execute(turn.bytes))?;
        self.spent += turn.seconds;
        self.counted(index, turn, 1);
        Ok(())
    }

    /// Remembers the counts of `runs` runs together.
    fn counted(&mut self, index: usize, turn: &mut Turn, runs: u32) {
        let cost = self.executor.counts().cost();
        let runs = u64::from(runs);
        let (low, high) = &mut turn.measurement.instructions_range;
        // a batch whose runs differ has no whole mean, or another one
        *low = (*low).min(cost[Resource::Instructions] / runs);
        *high = (*high).max(cost[Resource::Instructions].div_ceil(runs));
        if runs == 1 {
            turn.measurement.cost = cost;
            if !turn.is_described {
                turn.is_described = true;
                (self.describe)(index, self.executor, &mut turn.measurement);
            }
        }
    }
}

/// Runs all inputs in turn, each of which was run before, until the verdict on each of them beside the first is clear; with
/// `comparisons`, until it is settled whether the last one is slower than those. `describe` is called for each of them, by number, after a run
/// that shows what it does; for the first one before the others.
///
/// # Errors
/// The number of the input whose run ended early, and how.
pub fn run(
    executor: &mut HarnessExecutor,
    turns: &mut [Turn],
    rounds: Rounds,
    comparisons: &[Comparison],
    counters: Option<Counters>,
    describe: impl FnMut(usize, &HarnessExecutor, &mut Measurement),
) -> Result<(), (usize, Status)> {
    if rounds == Rounds::Fixed(0) {
        return Ok(());
    }
    for (index, turn) in turns.iter_mut().enumerate() {
        turn.estimate(executor).map_err(|status| (index, status))?;
    }
    size_batches(turns);
    let plan = Plan::new(turns, rounds);
    let mut sampler = Sampler { executor, counters, describe, spent: 0.0 };
    // describing takes long and empties the caches: before the first round, unless one more run would take long as well
    for (index, turn) in turns.iter_mut().enumerate().take_while(|(_, turn)| turn.has_lead_in) {
        sampler.single_run(index, turn).map_err(|status| (index, status))?;
    }
    for round in 1..=plan.most {
        for index in plan.order(round) {
            for _ in 0..plan.samples[index] {
                sampler.take(index, &mut turns[index]).map_err(|status| (index, status))?;
            }
        }
        if let Rounds::UntilClear(budget) = rounds {
            let is_spent = round >= FEWEST && sampler.spent >= budget.as_secs_f64();
            if is_spent || LOOKS.contains(&round) && is_clear(turns, comparisons) {
                break;
            }
        }
    }
    Ok(())
}

/// Whether more rounds would change nothing.
fn is_clear(turns: &[Turn], comparisons: &[Comparison]) -> bool {
    let [first, others @ ..] = turns else { return true };
    let seed = &first.measurement.seconds;
    let floor = noise_floor(seed);
    if others.is_empty() {
        return floor.is_some() && seed.len() >= ENOUGH_FOR_NOISE;
    }
    if !comparisons.is_empty() {
        let times: Vec<&[f64]> = turns.iter().map(|turn| turn.measurement.seconds.as_slice()).collect();
        return is_settled(&judge_last(&times, comparisons, floor));
    }
    others.iter().all(|turn| judge(&turn.measurement.seconds, seed, floor).is_clear)
}

/// Inputs that take about as long as the first are timed in batches of the same size: the first run of a batch, and what
/// surrounds it, would otherwise weigh more in one than in the other.
fn size_batches(turns: &mut [Turn]) {
    let Some(first) = turns.first().map(|turn| turn.seconds) else { return };
    for turn in turns {
        let is_alike = (0.5..2.0).contains(&(turn.seconds / first));
        let seconds = if is_alike { first } else { turn.seconds };
        turn.batch = (BATCH / seconds).ceil().max(1.0) as u32;
        turn.has_lead_in = seconds < SHORT;
    }
}

struct Plan {
    most: u32,
    /// Of each input, one after the other.
    samples: Vec<u32>,
    there_and_back: bool,
}

impl Plan {
    fn new(turns: &[Turn], rounds: Rounds) -> Self {
        let samples = vec![1; turns.len()];
        let budget = match rounds {
            Rounds::Fixed(most) => return Self { most, samples, there_and_back: false },
            Rounds::UntilClear(budget) => budget.as_secs_f64(),
        };
        let most = LOOKS[LOOKS.len() - 1];
        let round: f64 = turns.iter().map(Turn::sample_seconds).sum();
        if 2.0 * round * f64::from(LOOKS[1]) <= budget {
            return Self { most, samples, there_and_back: true };
        }
        // few rounds: cheap inputs, the seed above all, are run more often in each of them
        let affordable = |turn: &Turn| (round / 4.0 / turn.sample_seconds()).clamp(1.0, SAMPLES) as u32;
        Self { most, samples: turns.iter().map(affordable).collect(), there_and_back: false }
    }

    /// In which order a round, from 1, takes the inputs.
    fn order(&self, round: u32) -> Vec<usize> {
        let there = 0..self.samples.len();
        match (self.there_and_back, round % 2) {
            (true, _) => there.clone().chain(there.rev()).collect(),
            (false, 1) => there.collect(),
            (false, _) => there.rev().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(seconds: &[f64]) -> Vec<Turn<'static>> {
        let mut turns: Vec<Turn> =
            seconds.iter().map(|&seconds| Turn::new(&[], Measurement::default(), seconds)).collect();
        size_batches(&mut turns);
        turns
    }

    fn plan(seconds: &[f64], budget: f64) -> Plan {
        Plan::new(&turns(seconds), Rounds::UntilClear(Duration::from_secs_f64(budget)))
    }

    #[test]
    fn inputs_that_are_alike_are_timed_alike() {
        let batches = |seconds: &[f64]| turns(seconds).iter().map(|turn| turn.batch).collect::<Vec<_>>();
        assert_eq!(batches(&[1e-5, 1.4e-5, 0.8e-5, 4e-5]), [20, 20, 20, 5]);
        assert_eq!(batches(&[1.0, 1e-5]), [1, 20]);
    }

    #[test]
    fn quick_inputs_are_taken_there_and_back() {
        let plan = plan(&[1e-5, 1e-5, 1e-4], 2.0);
        assert_eq!((plan.order(1), plan.order(2)), (vec![0, 1, 2, 2, 1, 0], vec![0, 1, 2, 2, 1, 0]));
        assert_eq!(plan.samples, [1, 1, 1]);
    }

    #[test]
    fn an_expensive_input_is_run_once_in_a_round_and_a_cheap_seed_often() {
        let plan = plan(&[1e-3, 5.0], 2.0);
        assert_eq!((plan.order(1), plan.order(2)), (vec![0, 1], vec![1, 0]));
        assert_eq!(plan.samples, [17, 1]);
        // two that cost the same have the same number
        assert_eq!(self::plan(&[1.0, 1.0], 2.0).samples, [1, 1]);
    }

    #[test]
    fn a_fixed_number_is_what_each_gets() {
        let plan = Plan::new(&turns(&[1e-3, 5.0]), Rounds::Fixed(7));
        assert_eq!((plan.most, plan.samples), (7, vec![1, 1]));
    }
}
