//! LibAFL stages: the work on the entry that the scheduler has chosen.

pub mod checks;
pub mod choices;
pub mod collisions;
pub mod comparisons;
pub mod deterministic;
mod families;
pub mod gathering;
pub mod growth;
pub mod measure;
pub mod mutate;
pub mod operators;
mod own_mutator;
pub mod prepare;

use libafl::{
    Error,
    corpus::HasCurrentCorpusId,
    executors::HasObservers,
    inputs::{BytesInput, HasMutatorBytes},
    stages::{Restartable, Stage},
    state::HasExecutions,
};

use crate::{
    EntryId,
    evaluate::{Campaign, Parts, evaluate, run_unjudged},
    hooks::{CampaignHooks, Moment},
    origin::Origin,
    state::CampaignState,
};
use quagmire_execution::abi::Status;

/// Work of one stage on the entry of a round.
pub trait Work {
    fn perform<C: Campaign>(&mut self, entry: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error>;
}

/// LibAFL stage that does some work. It begins anew when it was interrupted: its finds are in the corpus.
pub struct WorkStage<W>(pub W);

impl<W: Work, E, EM, H: CampaignHooks, Z> Stage<E, EM, CampaignState<H>, Z> for WorkStage<W>
where
    (E, EM, H, Z): Campaign<Executor = E, Manager = EM, Hooks = H, Fuzzer = Z>,
{
    fn perform(
        &mut self,
        fuzzer: &mut Z,
        executor: &mut E,
        state: &mut CampaignState<H>,
        manager: &mut EM,
    ) -> Result<(), Error> {
        match state.current_corpus_id()? {
            Some(id) if !state.is_interrupted() => {
                self.0.perform(id.into(), &mut Parts::<(E, EM, H, Z)> { fuzzer, executor, state, manager })
            }
            _ => Ok(()),
        }
    }
}

impl<W, S> Restartable<S> for WorkStage<W> {
    fn should_restart(&mut self, _state: &mut S) -> Result<bool, Error> {
        Ok(true)
    }

    fn clear_progress(&mut self, _state: &mut S) -> Result<(), Error> {
        Ok(())
    }
}

/// Runs an input that shows something at a small size: it counts in all figures, and is entered if nothing that was run is worse.
/// Returns how the run ended, and its work; `None` if the current work was given up, or if the input is left out.
fn run_small<C: Campaign>(
    parts: &mut Parts<'_, C>,
    operator: u16,
    parent: EntryId,
    input: &BytesInput,
) -> Result<Option<(Status, u64)>, Error> {
    if parts.state.is_interrupted() || parts.state.hooks.is_left_out(input.mutator_bytes()) {
        return Ok(None);
    }
    let origin = Origin::Mutant { parent, operators: &[operator] };
    run_unjudged(parts, input)?;
    let counts = &parts.executor.observers().0;
    let moment = Moment::of(*parts.state.executions(), counts.program());
    parts.state.hooks.executed(&origin, moment, counts);
    let is_worst = counts.status() == Status::Returned && parts.state.search.judge(counts).total;
    if is_worst && !parts.state.hooks.is_over(*parts.state.executions()) {
        evaluate(parts, &origin, input)?;
    }
    let counts = &parts.executor.observers().0;
    let (status, of_target) = (counts.status(), parts.state.search.objective.work(&counts.cost()));
    if !matches!(status, Status::Returned | Status::Rejected) {
        let recorded = parts.state.hooks.ended_early(&origin, input.mutator_bytes(), counts);
        parts.state.check(recorded)?;
    }
    let is_over = parts.look()?;
    Ok((!is_over).then_some((status, of_target)))
}
