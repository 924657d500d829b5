//! Rounds of a measurement: all inputs alternately, until the verdicts are clear.
//!
//! Countermeasures against effects that could make an input look slower than it is:
//! - *Drift*, such as a change of frequency: a round runs all inputs forwards and then backwards. Its halves see a
//!   steady drift from opposite sides, so that it cancels out.
//! - *Interference* by other processes: inputs alternate every fraction of a millisecond, so that it affects all
//!   alike.
//! - *Caches*: forwards and backwards, each of two inputs follows itself once and the other one once. Short runs are
//!   preceded by an untimed one, so that earlier runs have left the caches.
//! - *Batches*: two inputs that take about as long are timed in batches of the same size.
//! - *Memory*: all inputs are run at the same address in the same process, so that its layout favours none.

use std::time::Duration;

use super::measurement::Measurement;
use quagmire_cost::{
    decision::{Comparison, is_settled, judge_last},
    judgement::{LOOKS, judge, noise_floor},
    resource::Resource,
};
use quagmire_execution::{abi::Status, executor::HarnessExecutor, perf::Counters};

/// Number of rounds of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// A fixed number of timed runs of each input; with 0, only the untimed first one.
    Fixed(u32),
    /// Until the verdicts are clear, or about this much CPU time is used.
    UntilClear(Duration),
}

/// Minimum number of rounds for a verdict.
const FEWEST: u32 = LOOKS[0];

/// Maximum number of samples of a cheap input in a round, if an expensive one allows for few rounds only: a rank test
/// needs many samples of at least one of them.
const SAMPLES: f64 = 17.0;

/// Duration of a batch of short runs in seconds: reading the clock costs a third of a microsecond.
const BATCH: f64 = 0.0002;

/// Runs shorter than this, in seconds, are preceded by an untimed one.
const SHORT: f64 = 0.001;

/// A first run longer than this, in seconds, is a sufficient estimate of the others.
const LONG: f64 = 0.02;

/// Number of samples from which on the noise of an input against itself is known well enough.
const ENOUGH_FOR_NOISE: usize = 40;

/// State of one input during a measurement.
pub struct Turn<'a> {
    bytes: &'a [u8],
    /// Results so far.
    pub measurement: Measurement,
    /// Estimated duration of one run in seconds.
    seconds: f64,
    /// Number of runs that are timed together.
    batch: u32,
    /// Whether an untimed run precedes each sample; always so for batches of several runs.
    has_lead_in: bool,
    is_described: bool,
}

impl<'a> Turn<'a> {
    /// Starts with an input whose first run took `seconds`.
    pub fn new(bytes: &'a [u8], mut measurement: Measurement, seconds: f64) -> Self {
        measurement.instructions_range = (u64::MAX, 0);
        Self { bytes, measurement, seconds, batch: 1, has_lead_in: false, is_described: false }
    }

    fn sample_seconds(&self) -> f64 {
        self.seconds * f64::from(self.batch)
    }

    /// Estimates the duration of a run that is not the first.
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

/// CPU seconds of `runs` consecutive runs, whose counts add up.
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

/// Takes samples. `describe` is called once for each input, with its index, after a run that was neither in a batch
/// nor its first.
struct Sampler<'a, F> {
    executor: &'a mut HarnessExecutor,
    counters: Option<Counters>,
    describe: F,
    /// CPU seconds of all runs, timed or not.
    spent: f64,
}

impl<F: FnMut(usize, &HarnessExecutor, &mut Measurement)> Sampler<'_, F> {
    /// Takes one sample: the mean of a batch.
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
        let runs = if self.executor.draws().has_generated() { 1 } else { turn.batch };
        self.counted(index, turn, runs);
        Ok(())
    }

    /// Makes one untimed run.
    fn single_run(&mut self, index: usize, turn: &mut Turn) -> Result<(), Status> {
        came_back(self.executor.execute(turn.bytes))?;
        self.spent += turn.seconds;
        self.counted(index, turn, 1);
        Ok(())
    }

    /// Records the counts of `runs` runs, which were added up.
    fn counted(&mut self, index: usize, turn: &mut Turn, runs: u32) {
        let cost = self.executor.counts().cost();
        let runs = u64::from(runs);
        let (low, high) = &mut turn.measurement.instructions_range;
        // a batch of runs that differ has a fractional mean
        *low = (*low).min(cost[Resource::Instructions] / runs);
        *high = (*high).max(cost[Resource::Instructions].div_ceil(runs));
        if runs == 1 {
            let known = turn.measurement.cost[Resource::Resident];
            turn.measurement.cost = cost;
            // what disturbs a run only adds to it
            turn.measurement.cost[Resource::Resident] = cost[Resource::Resident].min(known);
            if !turn.is_described {
                turn.is_described = true;
                (self.describe)(index, self.executor, &mut turn.measurement);
            }
        }
    }
}

/// Runs all inputs alternately, each of which was run before, until the verdict on each of them against the first is
/// clear; with `comparisons`, until it is settled whether the last one is slower than those. `describe` is called for
/// each input, with its index, after a run that is representative; for the first one before the others.
///
/// # Errors
/// The index of the input whose run ended early, and how.
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
    let plan = RoundPlan::new(turns, rounds);
    let mut sampler = Sampler { executor, counters, describe, spent: 0.0 };
    // describing takes long and empties the caches: do it before the first round, unless another run would take long
    // as well
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

/// Whether further rounds would change nothing.
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

/// Sets batch sizes. Inputs that take about as long as the first get the same size, so that the overhead of a batch
/// weighs the same in both.
fn size_batches(turns: &mut [Turn]) {
    let Some(first) = turns.first().map(|turn| turn.seconds) else { return };
    for turn in turns {
        let is_alike = (0.5..2.0).contains(&(turn.seconds / first));
        let seconds = if is_alike { first } else { turn.seconds };
        turn.batch = (BATCH / seconds).ceil().max(1.0) as u32;
        turn.has_lead_in = seconds < SHORT;
    }
}

struct RoundPlan {
    most: u32,
    /// Number of consecutive samples of each input in a round.
    samples: Vec<u32>,
    there_and_back: bool,
}

impl RoundPlan {
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
        // few rounds: run cheap inputs, especially the seed, more often in each of them
        let affordable = |turn: &Turn| (round / 4.0 / turn.sample_seconds()).clamp(1.0, SAMPLES) as u32;
        Self { most, samples: turns.iter().map(affordable).collect(), there_and_back: false }
    }

    /// Order of the inputs in a round, counted from 1.
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

    fn plan(seconds: &[f64], budget: f64) -> RoundPlan {
        RoundPlan::new(&turns(seconds), Rounds::UntilClear(Duration::from_secs_f64(budget)))
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
        let plan = RoundPlan::new(&turns(&[1e-3, 5.0]), Rounds::Fixed(7));
        assert_eq!((plan.most, plan.samples), (7, vec![1, 1]));
    }
}
