//! Performance phase: runs the gathered entries again and measures them precisely.

use libafl::{
    Error,
    corpus::Corpus,
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::{BytesInput, HasMutatorBytes},
    stages::Stage,
    state::{HasCorpus, HasExecutions},
};

use crate::evaluate::{CampaignHooks, Measured, Origin, Parts, StageContext, evaluate};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{abi::Status, executor::Observers};

/// Number of runs of an input, including the one that found it.
const RUNS: usize = 3;

/// Time from which an input is not run again, in nanoseconds: confirmation tells more than a median would.
const LONG_NS: u64 = 100_000_000;

/// Runs `input` again, whose first run cost `first`, and returns the median of each resource. `None` if a run did not
/// return, or the work was interrupted.
pub fn measure<E, EM, H, S, Z>(
    context: &StageContext<H>,
    parts: &mut Parts<'_, E, EM, S, Z>,
    input: &BytesInput,
    first: Cost,
) -> Result<Option<Measured>, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
    H: CampaignHooks,
    S: HasCorpus<BytesInput> + HasExecutions,
    Z: ExecutesInput<E, EM, BytesInput, S>,
{
    let mut runs = vec![first];
    while runs.len() < RUNS && first[Resource::Time] < LONG_NS {
        let evaluation = evaluate(context, parts, &Origin::Measured, input)?;
        if evaluation.status != Status::Returned {
            context.ended_early();
            return Ok(None);
        }
        runs.push(evaluation.cost);
        if context.look(*parts.state.executions(), &parts.executor.observers().0)? {
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

/// LibAFL stage that measures the gathered entries once a gathering phase is over.
pub struct MeasureStage<H> {
    context: StageContext<H>,
}

impl<H: CampaignHooks> MeasureStage<H> {
    /// Creates a stage that reports its measurements to the campaign.
    pub fn new(context: StageContext<H>) -> Self {
        Self { context }
    }
}

impl<E, EM, H, S, Z> Stage<E, EM, S, Z> for MeasureStage<H>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
    H: CampaignHooks,
    S: HasCorpus<BytesInput> + HasExecutions,
    Z: ExecutesInput<E, EM, BytesInput, S>,
{
    fn perform(&mut self, fuzzer: &mut Z, executor: &mut E, state: &mut S, manager: &mut EM) -> Result<(), Error> {
        if self.context.is_interrupted() || !self.context.hooks.borrow().is_gathered() {
            return Ok(());
        }
        let mut parts = Parts { fuzzer, executor, state, manager };
        loop {
            let next = self.context.hooks.borrow_mut().next_to_measure();
            let Some((entry, first)) = self.context.check(next)? else { return Ok(()) };
            // an entry that was evicted meanwhile is not measured
            let Ok(input) = parts.state.corpus().cloned_input_for_id(entry.into()) else { continue };
            if self.context.hooks.borrow().is_deadly(input.mutator_bytes()) {
                continue;
            }
            let Some(measured) = measure(&self.context, &mut parts, &input, first)? else { return Ok(()) };
            let score = self.context.hooks.borrow_mut().measured(entry, &measured);
            self.context.search.borrow_mut().top_rated.rescore(entry, score);
        }
    }
}

begins_anew!(MeasureStage<H>);

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
