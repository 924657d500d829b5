//! The coverage phase: mutates an input, runs the mutants, and hands what is worth it to the campaign.

use std::{cell::RefCell, rc::Rc};

use libafl::{
    Error, ExecuteInputResult, HasMetadata,
    corpus::{Corpus, HasCurrentCorpusId, Testcase},
    executors::{Executor, HasObservers},
    fuzzer::{Evaluator, ExecutesInput},
    inputs::{BytesInput, HasMutatorBytes},
    stages::{Restartable, Stage},
    state::{HasCorpus, HasExecutions, HasMaxSize, HasRand},
};
use libafl_bolts::rands::StdRand;

use super::{
    between::Between,
    keeper::{Interruption, Keeper, Measured},
    measure::measure,
    operators::Operators,
};
use crate::{
    keep::{effort::Aim, feedback::Kept},
    target::{abi::Status, executor::Observers},
};

/// Mutants of an input that costs no more than the baseline; expensive inputs get fewer, so that no round takes long.
const MUTANTS: f64 = 64.0;

/// Mutants of the most expensive inputs.
const FEWEST_MUTANTS: usize = 6;

/// The most mutants of an input with this cost ratio: the same for the same input, whatever the clock says.
fn energy(ratio: f64) -> usize {
    ((MUTANTS / ratio.max(1.0)) as usize).max(FEWEST_MUTANTS)
}

/// See the module's text.
pub struct MutateStage<K, S> {
    between: Between<K>,
    kept: Rc<RefCell<Kept>>,
    operators: Operators<S>,
    /// Measure every mutant precisely (`--skip-coverage-testing`).
    precise: bool,
    input: BytesInput,
    applied: Vec<u16>,
    /// Operators that lead the mutants of the round.
    leading: Vec<u16>,
}

impl<K: Keeper, S> MutateStage<K, S> {
    /// A stage that hands what it finds to the campaign.
    pub fn new(between: Between<K>, kept: Rc<RefCell<Kept>>, operators: Operators<S>, precise: bool) -> Self {
        let input = BytesInput::new(Vec::new());
        Self { between, kept, operators, precise, input, applied: Vec::new(), leading: Vec::new() }
    }
}

impl<K, S> MutateStage<K, S>
where
    K: Keeper,
    S: HasCorpus<BytesInput> + HasExecutions + HasMaxSize + HasMetadata + HasRand<Rand = StdRand> + 'static,
{
    /// Runs the mutant. What it found goes to the campaign.
    fn run<E, EM, Z>(
        &mut self,
        parent: u32,
        fuzzer: &mut Z,
        executor: &mut E,
        state: &mut S,
        manager: &mut EM,
    ) -> Result<(), Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        Z: Evaluator<E, EM, BytesInput, S> + ExecutesInput<E, EM, BytesInput, S>,
    {
        let (result, _) = fuzzer.evaluate_input(state, executor, manager, &self.input)?;
        let bytes = self.input.mutator_bytes();
        let counts = &executor.observers().0;
        self.between.keeper.borrow_mut().executed(&self.applied, counts);
        self.kept.borrow_mut().effort.spend(counts.cost().instructions);
        let kept = result == ExecuteInputResult::Corpus;
        if kept {
            let kept = self.between.keeper.borrow_mut().keep_mutant(parent, &self.applied, bytes, counts);
            for fallen in self.between.check(kept)? {
                state.corpus_mut().remove((fallen as usize).into())?;
            }
        }
        match counts.status() {
            Status::Returned => executor.observers_mut().0.judged(),
            Status::Rejected => return Ok(()),
            _ => {
                let saved = self.between.keeper.borrow_mut().mutant_ended(parent, &self.applied, bytes, counts);
                self.between.check(saved)?;
                self.between.interrupt(Interruption::Restart);
                return Ok(());
            }
        }
        if self.precise && !kept {
            let first = executor.observers().0.cost();
            let measured = measure(fuzzer, executor, state, manager, &self.between, &self.input, first)?;
            if let Some(measured) = measured {
                self.keep_slow(parent, measured, state, &executor.observers().0)?;
            }
        }
        Ok(())
    }

    /// Keeps a mutant that shows nothing new but is slower than all before.
    fn keep_slow(
        &mut self,
        parent: u32,
        measured: Measured,
        state: &mut S,
        counts: &crate::target::counts::CountsObserver,
    ) -> Result<(), Error> {
        if !self.between.keeper.borrow().is_slowest(&measured) {
            return Ok(());
        }
        state.corpus_mut().add(Testcase::new(self.input.clone()))?;
        let bytes = self.input.mutator_bytes();
        let kept = self.between.keeper.borrow_mut().keep_mutant(parent, &self.applied, bytes, counts);
        for fallen in self.between.check(kept)? {
            state.corpus_mut().remove((fallen as usize).into())?;
        }
        Ok(())
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
    Z: Evaluator<E, EM, BytesInput, S> + ExecutesInput<E, EM, BytesInput, S>,
{
    fn perform(&mut self, fuzzer: &mut Z, executor: &mut E, state: &mut S, manager: &mut EM) -> Result<(), Error> {
        let Some(parent_id) = state.current_corpus_id()? else {
            return Err(Error::illegal_state("no input was scheduled"));
        };
        let parent = parent_id.0 as u32;
        let parent_input = state.corpus().cloned_input_for_id(parent_id)?;
        let most = energy(self.between.keeper.borrow_mut().begin_round(parent));
        let aim = self.kept.borrow().effort.aim();
        match aim {
            Aim::Cost => {
                let keeper = self.between.keeper.borrow();
                self.operators.lead(keeper.yields(), most, state.rand_mut(), &mut self.leading);
            }
            Aim::Coverage => self.operators.lead_evenly(most, state.rand_mut(), &mut self.leading),
        }
        for place in 0..self.leading.len() {
            let bytes: &mut Vec<u8> = self.input.as_mut();
            bytes.clear();
            bytes.extend_from_slice(parent_input.mutator_bytes());
            let leading = self.leading[place];
            if !self.operators.mutate(leading, state, &mut self.input, &mut self.applied)?
                || self.between.keeper.borrow().is_deadly(self.input.mutator_bytes())
            {
                continue;
            }
            self.run(parent, fuzzer, executor, state, manager)?;
            if self.between.look(*state.executions(), &executor.observers().0)?
                || self.between.keeper.borrow().is_gathered()
            {
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
