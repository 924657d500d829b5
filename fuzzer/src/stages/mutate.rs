//! The stage that mutates an input, runs the mutants, and hands what is worth it to the archive.

use std::{cell::RefCell, rc::Rc};

use libafl::{
    Error, ExecuteInputResult,
    corpus::{Corpus, HasCurrentCorpusId},
    executors::{Executor, HasObservers},
    fuzzer::Evaluator,
    inputs::{BytesInput, HasMutatorBytes},
    stages::{Restartable, Stage},
    state::{HasCorpus, HasExecutions},
};
use std::sync::atomic::Ordering::Relaxed;

use super::operators::Operators;
use crate::{
    campaign::{
        archive::{Archive, Moment, Origin},
        checkpoint::State,
        supervisor::{Lost, stop_requested},
    },
    keep::feedback::Kept,
    target::{
        abi::Status,
        executor::Observers,
        tick::{LEAKING, TICKED, TIME_UP},
    },
};

/// Why the stage gave up its input before all mutants were run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// It did not.
    #[default]
    None,
    /// The campaign is over: its time is up, its executions are spent, or it was asked to stop.
    Over,
    /// The target's process is not to be trusted any more.
    Restart,
}

/// Mutants of an input that costs no more than the baseline; expensive inputs get fewer, so that no round takes long.
const MUTANTS: u64 = 64;

/// Mutants of the most expensive inputs.
const FEWEST_MUTANTS: u64 = 6;

/// See the module's text.
pub struct MutateStage<'a> {
    archive: Rc<RefCell<Archive<'a>>>,
    kept: Rc<RefCell<Kept>>,
    operators: Operators<State>,
    /// Stop after this many executions.
    execution_limit: u64,
    lost: &'a [Lost],
    input: BytesInput,
    applied: Vec<u16>,
    /// What the last round ended by.
    pub interruption: Rc<RefCell<Interruption>>,
    /// Why nothing can be written any more.
    pub failure: Rc<RefCell<Option<crate::error::Error>>>,
}

impl<'a> MutateStage<'a> {
    /// A stage that hands what it finds to `archive`. Inputs in `lost` are never run.
    pub fn new(
        archive: Rc<RefCell<Archive<'a>>>,
        kept: Rc<RefCell<Kept>>,
        operators: Operators<State>,
        execution_limit: u64,
        lost: &'a [Lost],
    ) -> Self {
        Self {
            archive,
            kept,
            operators,
            execution_limit,
            lost,
            input: BytesInput::new(Vec::new()),
            applied: Vec::new(),
            interruption: Rc::default(),
            failure: Rc::default(),
        }
    }

    /// Energy of an input: the same for the same input, whatever the clock says.
    fn mutants(&self, parent: u32) -> u64 {
        let ratio = {
            let archive = self.archive.borrow();
            archive.record.ratio(archive.record.entries[parent as usize].instructions)
        };
        ((MUTANTS as f64 / ratio.max(1.0)) as u64).max(FEWEST_MUTANTS)
    }

    fn interrupt(&self, interruption: Interruption) {
        *self.interruption.borrow_mut() = interruption;
    }

    /// Turns our error into the end of LibAFL's loop.
    fn check<T>(&self, result: crate::error::Result<T>) -> Result<T, Error> {
        result.map_err(|error| {
            *self.failure.borrow_mut() = Some(error);
            self.interrupt(Interruption::Over);
            Error::shutting_down()
        })
    }
}

impl<E, EM, Z> Stage<E, EM, State, Z> for MutateStage<'_>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, State, Z>,
    Z: Evaluator<E, EM, BytesInput, State>,
{
    fn perform(&mut self, fuzzer: &mut Z, executor: &mut E, state: &mut State, manager: &mut EM) -> Result<(), Error> {
        let Some(parent_id) = state.current_corpus_id()? else {
            return Err(Error::illegal_state("no input was scheduled"));
        };
        let parent = parent_id.0 as u32;
        let parent_input = state.corpus().cloned_input_for_id(parent_id)?;
        self.archive.borrow_mut().record.rounds += 1;
        for _ in 0..self.mutants(parent) {
            let bytes: &mut Vec<u8> = self.input.as_mut();
            bytes.clear();
            bytes.extend_from_slice(parent_input.mutator_bytes());
            if !self.operators.mutate(state, &mut self.input, &mut self.applied)? {
                continue;
            }
            if !self.lost.is_empty() && self.lost.iter().any(|lost| lost.input == self.input.mutator_bytes()) {
                continue;
            }
            let (result, new) = fuzzer.evaluate_input(state, executor, manager, &self.input)?;
            let status = executor.observers().0.status();
            self.kept.borrow_mut().effort.spend(executor.observers().0.cost().instructions);
            {
                let mut archive = self.archive.borrow_mut();
                for &rule in &self.applied {
                    archive.record.rules[rule as usize].applied += 1;
                }
            }
            if let (ExecuteInputResult::Corpus, Some(_)) = (&result, new) {
                let counts = &executor.observers().0;
                let kept =
                    self.archive.borrow_mut().keep_mutant(parent, &self.applied, self.input.mutator_bytes(), counts);
                for fallen in self.check(kept)? {
                    state.corpus_mut().remove((fallen as usize).into())?;
                }
            }
            match status {
                Status::Returned => executor.observers_mut().0.judged(),
                Status::Rejected => {}
                _ => {
                    let origin = Origin::Mutant { parent, rules: self.applied.clone() };
                    let counts = &executor.observers().0;
                    let saved = self.archive.borrow_mut().early_end(self.input.mutator_bytes(), origin, counts);
                    self.check(saved)?;
                    self.interrupt(Interruption::Restart);
                }
            }
            if TICKED.load(Relaxed) {
                TICKED.store(false, Relaxed);
                let edges = executor.observers().0.program().edges() as u64;
                let moment = Moment { executions: *state.executions(), edges };
                let done = self.archive.borrow_mut().housekeeping(moment);
                self.check(done)?;
                if LEAKING.load(Relaxed) {
                    self.interrupt(Interruption::Restart);
                }
            }
            if TIME_UP.load(Relaxed) || stop_requested() || *state.executions() >= self.execution_limit {
                self.interrupt(Interruption::Over);
            }
            if *self.interruption.borrow() != Interruption::None {
                break;
            }
        }
        Ok(())
    }
}

impl<S> Restartable<S> for MutateStage<'_> {
    fn should_restart(&mut self, _state: &mut S) -> Result<bool, Error> {
        Ok(true)
    }

    fn clear_progress(&mut self, _state: &mut S) -> Result<(), Error> {
        Ok(())
    }
}
