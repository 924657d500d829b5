//! Probes: runs that test whether an input satisfies a goal.

use libafl::{
    Error,
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::{BytesInput, HasMutatorBytes},
};

use super::{Parts, evaluate_as};
use crate::{
    hooks::CampaignHooks,
    mask::{Goal, Probe},
    origin::Origin,
    state::CampaignState,
};
use quagmire_execution::{abi::Status, executor::Observers};

/// Evaluates `input` and returns whether it satisfies `goal`. Does not run it if it is known to end the process, or
/// after the current work was given up.
pub fn probe<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    origin: &Origin<'_>,
    input: &BytesInput,
    goal: &impl Goal,
) -> Result<Probe, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    if parts.state.is_interrupted() {
        return Ok(Probe::Stop);
    }
    if parts.state.hooks.is_deadly(input.mutator_bytes()) {
        return Ok(Probe::Missed);
    }
    evaluate_as(parts, origin, input, false)?;
    let counts = &parts.executor.observers().0;
    let satisfied = goal.is_satisfied(counts);
    parts.state.look(counts)?;
    Ok(if satisfied { Probe::Satisfied } else { Probe::Missed })
}

/// Runs `input` without any effect on the campaign but its number of executions, and returns whether it satisfies
/// `goal`. A run that ended early is judged by its counts up to that point; `None` if `input` was not run.
pub fn run_shadow<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    input: &BytesInput,
    goal: &impl Goal,
) -> Result<Option<bool>, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    if parts.state.is_interrupted() || parts.state.hooks.is_deadly(input.mutator_bytes()) {
        return Ok(None);
    }
    run_unjudged(parts, input)?;
    let counts = &parts.executor.observers().0;
    let satisfied = goal.is_satisfied(counts);
    parts.state.look(counts)?;
    Ok(Some(satisfied))
}

/// Runs `input` without any effect on the campaign but its number of executions.
pub(crate) fn run_unjudged<E, EM, H, Z>(parts: &mut Parts<'_, E, EM, H, Z>, input: &BytesInput) -> Result<(), Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    let Parts { fuzzer, executor, state, manager } = parts;
    executor.observers_mut().0.count_hits(false);
    let run = fuzzer.execute_input(state, executor, manager, input);
    executor.observers_mut().0.count_hits(true);
    run?;
    if !matches!(executor.observers().0.status(), Status::Returned | Status::Rejected) {
        state.ended_early();
    }
    Ok(())
}
