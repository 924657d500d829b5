//! One run of a changed input, and what is done with what it shows.

use std::{cell::RefCell, rc::Rc};

use libafl::{
    Error, ExecuteInputResult,
    corpus::Corpus,
    executors::{Executor, HasObservers},
    fuzzer::{Evaluator, ExecutesInput},
    inputs::{BytesInput, HasMutatorBytes},
    state::{HasCorpus, HasExecutions},
};

use super::{between::Between, keeper::Keeper};
use crate::{
    keep::feedback::Kept,
    mask::{Probe, Target, target::Goal},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{abi::Status, executor::Observers};

/// What LibAFL hands to a stage.
pub struct Parts<'a, E, EM, S, Z> {
    /// Judges runs.
    pub fuzzer: &'a mut Z,
    /// Runs inputs.
    pub executor: &'a mut E,
    /// The corpus, random numbers, counters.
    pub state: &'a mut S,
    /// Of no use to us.
    pub manager: &'a mut EM,
}

/// Runs inputs for the stages. What they find goes to the campaign.
pub struct Trials<K> {
    /// The campaign.
    pub between: Between<K>,
    /// What is known of what was seen.
    pub kept: Rc<RefCell<Kept>>,
}

impl<K> Clone for Trials<K> {
    fn clone(&self) -> Self {
        Self { between: self.between.clone(), kept: self.kept.clone() }
    }
}

impl<K: Keeper> Trials<K> {
    /// Runs `input`, which was made of the entry `parent` by `operators`. Returns whether it was kept.
    pub fn run<E, EM, S, Z>(
        &self,
        parts: &mut Parts<'_, E, EM, S, Z>,
        parent: u32,
        operators: &[u16],
        input: &BytesInput,
    ) -> Result<bool, Error>
    where
        S: HasCorpus<BytesInput> + HasExecutions,
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        Z: Evaluator<E, EM, BytesInput, S>,
    {
        let Parts { fuzzer, executor, state, manager } = parts;
        let (result, _) = fuzzer.evaluate_input(state, executor, manager, input)?;
        let bytes = input.mutator_bytes();
        let counts = &executor.observers().0;
        self.between.keeper.borrow_mut().executed(operators, counts);
        self.kept.borrow_mut().effort.spend(counts.cost()[Resource::Instructions], bytes.len());
        let kept = result == ExecuteInputResult::Corpus;
        if kept {
            let kept = self.between.keeper.borrow_mut().keep_mutant(parent, operators, bytes, counts);
            for fallen in self.between.check(kept)? {
                state.corpus_mut().remove((fallen as usize).into())?;
            }
        }
        match counts.status() {
            Status::Returned => executor.observers_mut().0.commit(),
            Status::Rejected => {}
            _ => {
                let saved = self.between.keeper.borrow_mut().mutant_ended(parent, operators, bytes, counts);
                self.between.check(saved)?;
                self.between.ended_early();
            }
        }
        Ok(kept)
    }

    /// Runs `input` to see whether it satisfies `goal`. Not run at all if it would end the process, or after the work was
    /// given up.
    pub fn probe<E, EM, S, Z>(
        &self,
        parts: &mut Parts<'_, E, EM, S, Z>,
        parent: u32,
        operators: &[u16],
        input: &BytesInput,
        goal: Goal,
    ) -> Result<Probe, Error>
    where
        S: HasCorpus<BytesInput> + HasExecutions,
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        Z: Evaluator<E, EM, BytesInput, S>,
    {
        if self.between.is_interrupted() {
            return Ok(Probe::Stop);
        }
        if self.between.keeper.borrow().is_deadly(input.mutator_bytes()) {
            return Ok(Probe::Missed);
        }
        self.run(parts, parent, operators, input)?;
        let counts = &parts.executor.observers().0;
        let satisfied = goal.is_satisfied(counts);
        self.between.look(*parts.state.executions(), counts)?;
        Ok(if satisfied { Probe::Satisfied } else { Probe::Missed })
    }

    /// Runs `input` without any effect on the campaign but the number of its executions, to see whether it satisfies `goal`.
    /// A run that ended early counts as far as it came, as a probe does; `None` if there was none.
    pub fn shadow<E, EM, S, Z>(
        &self,
        parts: &mut Parts<'_, E, EM, S, Z>,
        input: &BytesInput,
        goal: Goal,
    ) -> Result<Option<bool>, Error>
    where
        S: HasExecutions,
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        Z: ExecutesInput<E, EM, BytesInput, S>,
    {
        if self.between.is_interrupted() || self.between.keeper.borrow().is_deadly(input.mutator_bytes()) {
            return Ok(None);
        }
        let Parts { fuzzer, executor, state, manager } = parts;
        executor.observers_mut().0.count_hits(false);
        let run = fuzzer.execute_input(state, executor, manager, input);
        executor.observers_mut().0.count_hits(true);
        run?;
        let counts = &executor.observers().0;
        if !matches!(counts.status(), Status::Returned | Status::Rejected) {
            self.between.ended_early();
        }
        let satisfied = goal.is_satisfied(counts);
        self.between.look(*state.executions(), counts)?;
        Ok(Some(satisfied))
    }
}
