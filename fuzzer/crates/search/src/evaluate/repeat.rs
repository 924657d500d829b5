//! Repetition of runs whose amount of a noisy resource matters (`--steer`): the minimum of several runs counts.

use libafl::{
    Error,
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::BytesInput,
    state::HasExecutions,
};

use super::Parts;
use crate::{
    corpus::history::Novelty,
    hooks::{CampaignHooks, Moment},
    origin::{Admission, Origin},
    state::CampaignState,
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{abi::Status, executor::Observers};

/// Number of runs of an input whose minimum counts, including the one that found it. What disturbs a run (an interrupt, a
/// cold cache, another process) only ever adds to it, so that one undisturbed run of five is enough.
pub const RUNS: u32 = 5;

/// Amount of all runs together from which on an input is not run again, in nanoseconds or cycles: what disturbs a run is
/// small beside it. There are two runs at least.
const LONG: u64 = 100_000_000;

/// Runs `input`, which has just run and is to be entered, again, and makes the minimum of its runs its amount of
/// `resource`, and of resident memory, which differs from run to run as well. Judges its cost anew, and gives up as soon as
/// nothing is left for which it would be entered. Returns whether it still is to be entered; a run that ends early leaves its
/// status in the counts.
pub(super) fn repeat<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    origin: &Origin<'_>,
    input: &BytesInput,
    resource: Resource,
    novelty: &mut Novelty,
) -> Result<bool, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    let Parts { fuzzer, executor, state, manager } = parts;
    let first = executor.observers().0.cost();
    let (mut least, mut all) = (first[resource], first[resource]);
    let mut resident = first[Resource::Resident];
    for run in 1..RUNS {
        if run > 1 && all >= LONG {
            break;
        }
        if state.hooks.is_over(*state.executions()) {
            // a single run is no measurement
            return Ok(run > 1 || origin.admission() == Admission::Always);
        }
        executor.observers_mut().0.count_hits(false);
        let done = fuzzer.execute_input(state, executor, manager, input);
        let mut observers = executor.observers_mut();
        let counts = &mut observers.0;
        counts.count_hits(true);
        done?;
        let moment = Moment::of(*state.executions(), counts.program());
        let counted = if origin.is_counted() { Origin::Measured } else { *origin };
        state.hooks.executed(&counted, moment, counts);
        if counts.status() != Status::Returned {
            return Ok(false);
        }
        let amount = counts.cost()[resource];
        (least, all) = (least.min(amount), all.saturating_add(amount));
        resident = resident.min(counts.cost()[Resource::Resident]);
        counts.set_amount(Resource::Resident, resident);
        counts.set_amount(resource, least);
        if origin.is_search() {
            let work = state.search.objective.work(&counts.cost());
            state.search.effort.spend(work, input.as_ref().len());
        }
        if origin.admission() != Admission::Always {
            state.search.judge_cost(counts, novelty);
            if !novelty.any() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
