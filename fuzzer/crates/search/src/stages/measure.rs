//! The performance phase: what was gathered is run again and measured precisely.

use libafl::{
    Error,
    corpus::Corpus,
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::{BytesInput, HasMutatorBytes},
    stages::Stage,
    state::{HasCorpus, HasExecutions},
};

use super::{
    between::Between,
    keeper::{Keeper, Measured},
};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{abi::Status, executor::Observers};

/// Runs of an input, the one that found it included.
const RUNS: usize = 3;

/// An input that takes longer is not run again: a median would not tell more than confirmation does. Nanoseconds.
const LONG_NS: u64 = 100_000_000;

/// Runs `input`, whose first run cost `first`, again, and takes the median of each resource. `None` if a run did not
/// come back, or the campaign ended meanwhile.
pub fn measure<E, EM, K, S, Z>(
    fuzzer: &mut Z,
    executor: &mut E,
    state: &mut S,
    manager: &mut EM,
    between: &Between<K>,
    input: &BytesInput,
    first: Cost,
) -> Result<Option<Measured>, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
    K: Keeper,
    S: HasExecutions,
    Z: ExecutesInput<E, EM, BytesInput, S>,
{
    let mut runs = vec![first];
    while runs.len() < RUNS && first[Resource::Time] < LONG_NS {
        fuzzer.execute_input(state, executor, manager, input)?;
        let counts = &executor.observers().0;
        between.keeper.borrow_mut().executed(&[], counts);
        if counts.status() != Status::Returned {
            between.ended_early();
            return Ok(None);
        }
        runs.push(counts.cost());
        if between.look(*state.executions(), counts)? {
            return Ok(None);
        }
    }
    Ok(Some(summed_up(&runs)))
}

fn summed_up(runs: &[Cost]) -> Measured {
    let median = |resource: Resource| {
        let mut amounts: Vec<u64> = runs.iter().map(|run| run[resource]).collect();
        amounts.sort_unstable();
        amounts[amounts.len() / 2]
    };
    let cost = Cost::from_fn(median);
    let varies = runs.iter().any(|run| run[Resource::Instructions] != cost[Resource::Instructions]);
    Measured { cost, varies }
}

/// See the module's text.
pub struct MeasureStage<K> {
    between: Between<K>,
}

impl<K: Keeper> MeasureStage<K> {
    /// A stage that tells the campaign what it measured.
    pub fn new(between: Between<K>) -> Self {
        Self { between }
    }
}

impl<E, EM, K, S, Z> Stage<E, EM, S, Z> for MeasureStage<K>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
    K: Keeper,
    S: HasCorpus<BytesInput> + HasExecutions,
    Z: ExecutesInput<E, EM, BytesInput, S>,
{
    fn perform(&mut self, fuzzer: &mut Z, executor: &mut E, state: &mut S, manager: &mut EM) -> Result<(), Error> {
        if self.between.is_interrupted() || !self.between.keeper.borrow().is_gathered() {
            return Ok(());
        }
        loop {
            let next = self.between.keeper.borrow_mut().next_to_measure();
            let Some((entry, first)) = self.between.check(next)? else { return Ok(()) };
            // one that was surpassed meanwhile is in the corpus no more, and of no interest
            let Ok(input) = state.corpus().cloned_input_for_id((entry as usize).into()) else { continue };
            if self.between.keeper.borrow().is_deadly(input.mutator_bytes()) {
                continue;
            }
            match measure(fuzzer, executor, state, manager, &self.between, &input, first)? {
                Some(measured) => self.between.keeper.borrow_mut().measured(entry, &measured),
                None => return Ok(()),
            }
        }
    }
}

begins_anew!(MeasureStage<K>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_taken_of_each_resource_by_itself_and_variation_is_noticed() {
        let cost =
            |instructions, time_ns| Cost::from([(Resource::Instructions, instructions), (Resource::Time, time_ns)]);
        let measured = summed_up(&[cost(10, 700), cost(10, 300), cost(10, 500)]);
        assert_eq!((measured.cost, measured.varies), (cost(10, 500), false));
        assert!(summed_up(&[cost(10, 1), cost(11, 1), cost(10, 1)]).varies);
        assert_eq!(summed_up(&[cost(10, 7)]).cost, cost(10, 7));
    }
}
