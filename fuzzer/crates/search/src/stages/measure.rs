//! Performance phase: runs the gathered entries again and measures them precisely.

use libafl::{
    Error,
    corpus::Corpus,
    inputs::{BytesInput, HasMutatorBytes},
    state::HasCorpus,
};

use super::Work;
use crate::{
    EntryId,
    evaluate::{Campaign, Parts, evaluate},
    hooks::{CampaignHooks, Measured},
    origin::Origin,
};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::abi::Status;

/// Number of runs of an input, including the one that found it.
const RUNS: usize = 3;

/// Time from which an input is not run again, in nanoseconds: confirmation tells more than a median would.
const LONG_NS: u64 = 100_000_000;

/// Runs `input` again, whose first run cost `first`, and returns the median of each resource. `None` if a run did not
/// return, or the work was interrupted.
pub fn measure<C: Campaign>(
    parts: &mut Parts<'_, C>,
    input: &BytesInput,
    first: Cost,
) -> Result<Option<Measured>, Error> {
    let mut runs = vec![first];
    while runs.len() < RUNS && first[Resource::Time] < LONG_NS {
        let evaluation = evaluate(parts, &Origin::Measured, input)?;
        if evaluation.status != Status::Returned {
            parts.state.ended_early();
            return Ok(None);
        }
        runs.push(evaluation.cost);
        if parts.look()? {
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
pub struct MeasureStage;

impl Work for MeasureStage {
    fn perform<C: Campaign>(&mut self, _: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        if !parts.state.hooks.is_gathered() {
            return Ok(());
        }
        loop {
            let next = parts.state.hooks.next_to_measure();
            let Some((entry, first)) = parts.state.check(next)? else { return Ok(()) };
            // an entry that was evicted meanwhile is not measured
            let Ok(input) = parts.state.corpus().cloned_input_for_id(entry.into()) else { continue };
            if parts.state.hooks.is_left_out(input.mutator_bytes()) {
                continue;
            }
            let Some(measured) = measure(parts, &input, first)? else { return Ok(()) };
            let score = parts.state.hooks.measured(entry, &measured);
            parts.state.search.rescore(entry, score);
        }
    }
}

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
