//! LibAFL stages: the work on the entry that the scheduler has chosen.

pub mod checks;
pub mod choices;
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
    stages::{Restartable, Stage},
};

use crate::{
    EntryId,
    evaluate::{Campaign, Parts},
    hooks::CampaignHooks,
    state::CampaignState,
};

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
