//! The stage that mutates an input, runs the mutants, and hands what is worth it to the campaign.

use std::{cell::RefCell, rc::Rc, sync::atomic::Ordering::Relaxed};

use libafl::{
    Error, ExecuteInputResult, HasMetadata,
    corpus::{Corpus, HasCurrentCorpusId},
    executors::{Executor, HasObservers},
    fuzzer::Evaluator,
    inputs::{BytesInput, HasMutatorBytes},
    stages::{Restartable, Stage},
    state::{HasCorpus, HasExecutions, HasMaxSize, HasRand},
};
use libafl_bolts::rands::StdRand;

use super::operators::Operators;
use crate::{
    error::Result as OurResult,
    keep::feedback::Kept,
    target::{
        abi::Status,
        counts::CountsObserver,
        executor::Observers,
        tick::{LEAKING, TICKED},
    },
};

/// Numbers of one moment that only the state and the executor know.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Of all sessions.
    pub executions: u64,
    /// Of the program.
    pub edges: u64,
}

/// What the stage needs of the campaign around it. Entries and rules go by their numbers.
pub trait Keeper {
    /// A round with `entry` begins. Returns its cost as a multiple of the baseline.
    fn begin_round(&mut self, entry: u32) -> f64;

    /// Rules were applied and their mutant was run.
    fn applied(&mut self, rules: &[u16]);

    /// A mutant is worth keeping. Returns the entries that do not matter any more.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep_mutant(&mut self, parent: u32, rules: &[u16], bytes: &[u8], counts: &CountsObserver)
    -> OurResult<Vec<u32>>;

    /// The run of a mutant did not come back.
    ///
    /// # Errors
    /// If it cannot be written.
    fn mutant_ended(&mut self, parent: u32, rules: &[u16], bytes: &[u8], counts: &CountsObserver) -> OurResult<()>;

    /// A tick passed.
    ///
    /// # Errors
    /// If what is due cannot be written.
    fn tick(&mut self, moment: Moment) -> OurResult<()>;

    /// This input is not to be run: it ends the process.
    fn is_deadly(&self, bytes: &[u8]) -> bool;

    /// The campaign is over after this many executions, or if it says so.
    fn is_over(&self, executions: u64) -> bool;
}

/// Why the stage gave up its input before all mutants were run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// It did not.
    #[default]
    None,
    /// The campaign is over.
    Over,
    /// The target's process is not to be trusted any more.
    Restart,
    /// Nothing can be written any more.
    Failed(crate::error::Error),
}

/// Mutants of an input that costs no more than the baseline; expensive inputs get fewer, so that no round takes long.
const MUTANTS: f64 = 64.0;

/// Mutants of the most expensive inputs.
const FEWEST_MUTANTS: u64 = 6;

/// Energy of an input with this cost ratio: the same for the same input, whatever the clock says.
fn energy(ratio: f64) -> u64 {
    ((MUTANTS / ratio.max(1.0)) as u64).max(FEWEST_MUTANTS)
}

/// See the module's text.
pub struct MutateStage<K, S> {
    keeper: Rc<RefCell<K>>,
    kept: Rc<RefCell<Kept>>,
    operators: Operators<S>,
    input: BytesInput,
    applied: Vec<u16>,
    interruption: Rc<RefCell<Interruption>>,
}

impl<K: Keeper, S> MutateStage<K, S> {
    /// A stage that hands what it finds to `keeper` and leaves in `interruption` what its last round ended by.
    pub fn new(
        keeper: Rc<RefCell<K>>,
        kept: Rc<RefCell<Kept>>,
        operators: Operators<S>,
        interruption: Rc<RefCell<Interruption>>,
    ) -> Self {
        Self { keeper, kept, operators, input: BytesInput::new(Vec::new()), applied: Vec::new(), interruption }
    }

    fn interrupt(&self, interruption: Interruption) {
        *self.interruption.borrow_mut() = interruption;
    }

    /// Turns our error into the end of LibAFL's loop.
    fn check<T>(&self, result: OurResult<T>) -> Result<T, Error> {
        result.map_err(|error| {
            self.interrupt(Interruption::Failed(error));
            Error::shutting_down()
        })
    }
}

impl<E, EM, K, S, Z> Stage<E, EM, S, Z> for MutateStage<K, S>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
    K: Keeper,
    S: HasCorpus<BytesInput>
        + HasCurrentCorpusId
        + HasExecutions
        + HasMaxSize
        + HasMetadata
        + HasRand<Rand = StdRand>
        + 'static,
    Z: Evaluator<E, EM, BytesInput, S>,
{
    fn perform(&mut self, fuzzer: &mut Z, executor: &mut E, state: &mut S, manager: &mut EM) -> Result<(), Error> {
        let Some(parent_id) = state.current_corpus_id()? else {
            return Err(Error::illegal_state("no input was scheduled"));
        };
        let parent = parent_id.0 as u32;
        let parent_input = state.corpus().cloned_input_for_id(parent_id)?;
        let ratio = self.keeper.borrow_mut().begin_round(parent);
        for _ in 0..energy(ratio) {
            let bytes: &mut Vec<u8> = self.input.as_mut();
            bytes.clear();
            bytes.extend_from_slice(parent_input.mutator_bytes());
            if !self.operators.mutate(state, &mut self.input, &mut self.applied)?
                || self.keeper.borrow().is_deadly(self.input.mutator_bytes())
            {
                continue;
            }
            let (result, _) = fuzzer.evaluate_input(state, executor, manager, &self.input)?;
            self.keeper.borrow_mut().applied(&self.applied);
            let bytes = self.input.mutator_bytes();
            let counts = &executor.observers().0;
            self.kept.borrow_mut().effort.spend(counts.cost().instructions);
            if result == ExecuteInputResult::Corpus {
                let kept = self.keeper.borrow_mut().keep_mutant(parent, &self.applied, bytes, counts);
                for fallen in self.check(kept)? {
                    state.corpus_mut().remove((fallen as usize).into())?;
                }
            }
            match counts.status() {
                Status::Returned => executor.observers_mut().0.judged(),
                Status::Rejected => {}
                _ => {
                    let saved = self.keeper.borrow_mut().mutant_ended(parent, &self.applied, bytes, counts);
                    self.check(saved)?;
                    self.interrupt(Interruption::Restart);
                }
            }
            if TICKED.load(Relaxed) {
                TICKED.store(false, Relaxed);
                let edges = executor.observers().0.program().edges() as u64;
                let done = self.keeper.borrow_mut().tick(Moment { executions: *state.executions(), edges });
                self.check(done)?;
                if LEAKING.load(Relaxed) {
                    self.interrupt(Interruption::Restart);
                }
            }
            if self.keeper.borrow().is_over(*state.executions()) && *self.interruption.borrow() == Interruption::None {
                self.interrupt(Interruption::Over);
            }
            if *self.interruption.borrow() != Interruption::None {
                break;
            }
        }
        Ok(())
    }
}

impl<K, S, T> Restartable<S> for MutateStage<K, T> {
    fn should_restart(&mut self, _state: &mut S) -> Result<bool, Error> {
        Ok(true)
    }

    fn clear_progress(&mut self, _state: &mut S) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expensive_inputs_get_fewer_mutants_and_none_gets_none() {
        assert_eq!([0.1, 1.0, 2.0, 1e9].map(energy), [64, 64, 32, 6]);
    }
}
