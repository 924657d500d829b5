//! Runs that show what a generator draws from its input.

use libafl::{
    Error,
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::BytesInput,
};

use super::{Parts, probe::run_unjudged};
use crate::{hooks::CampaignHooks, state::CampaignState};
use quagmire_choices::draws::Log;
use quagmire_execution::{abi::Status, executor::Observers};

/// Draws from these bytes, and from fewer if nobody reads some of them: then `bytes` become fewer.
pub fn see_trimmed<E, EM, H, Z>(parts: &mut Parts<'_, E, EM, H, Z>, bytes: &mut Vec<u8>) -> Result<Option<Log>, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    let Some(log) = see_draws(parts, bytes)? else { return Ok(None) };
    let Some(fewer) = log.trim_unread() else { return Ok(Some(log)) };
    let sites = |log: &Log| log.draws.iter().map(|draw| (draw.site, draw.value)).collect::<Vec<_>>();
    match see_draws(parts, &fewer)? {
        Some(trimmed) if sites(&trimmed) == sites(&log) => {
            *bytes = fewer;
            Ok(Some(trimmed))
        }
        _ => Ok(Some(log)),
    }
}

/// Runs the target once on these bytes, and returns its draws; nothing else comes of the run. `None` if it draws nothing,
/// or the run ended early, or would end this process.
pub fn see_draws<E, EM, H, Z>(parts: &mut Parts<'_, E, EM, H, Z>, bytes: &[u8]) -> Result<Option<Log>, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    if !parts.executor.observers().1.0.are_used() || parts.state.is_interrupted() || parts.state.hooks.is_deadly(bytes)
    {
        return Ok(None);
    }
    parts.executor.observers_mut().1.0.record(true);
    let run = run_unjudged(parts, &BytesInput::new(bytes.to_vec()));
    parts.executor.observers_mut().1.0.record(false);
    run?;
    parts.state.look(&parts.executor.observers().0)?;
    let observers = parts.executor.observers();
    let has_returned = matches!(observers.0.status(), Status::Returned | Status::Rejected);
    let draws = observers.1.0.log();
    let are_of_use = has_returned && !draws.is_empty();
    Ok(are_of_use.then(|| Log::new(draws, bytes, observers.1.0.is_cut())))
}
