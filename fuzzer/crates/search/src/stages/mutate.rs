//! The coverage phase: mutates an input, runs the mutants, and hands what is worth it to the campaign.

use libafl::{
    Error, HasMetadata,
    corpus::{Corpus, HasCurrentCorpusId, Testcase},
    executors::{Executor, HasObservers},
    fuzzer::{Evaluator, ExecutesInput},
    inputs::{BytesInput, HasMutatorBytes},
    stages::Stage,
    state::{HasCorpus, HasExecutions, HasMaxSize, HasRand},
};
use libafl_bolts::rands::StdRand;

use super::{
    keeper::{Keeper, Measured},
    measure::measure,
    operators::Operators,
    trial::{Parts, Trials},
};
use crate::{
    keep::{effort::Aim, offspring::Goals},
    mask::{Target, target::Goal},
};
use quagmire_execution::{abi::Status, counts::CountsObserver, executor::Observers};
use quagmire_mutators::{kinds::Source, mask::Mask};

/// Mutants of an input that costs no more than the baseline; expensive inputs get fewer, so that no round takes long.
const MUTANTS: f64 = 64.0;

/// Mutants of the most expensive inputs.
const FEWEST_MUTANTS: usize = 6;

/// The most mutants of an input with this cost ratio: the same for the same input, whatever the clock says.
fn energy(ratio: f64) -> usize {
    ((MUTANTS / ratio.max(1.0)) as usize).max(FEWEST_MUTANTS)
}

/// Mutants of an input that was made ready for a target, in a round for coverage, as a multiple of those of an ordinary
/// round: what that took has to pay.
const PREPARED: usize = 16;

/// See the module's text.
pub struct MutateStage<K, S> {
    trials: Trials<K>,
    operators: Operators<S>,
    /// Measure every mutant precisely (`--skip-coverage-testing`).
    precise: bool,
    input: BytesInput,
    /// Of the mutant.
    mask: Mask,
    applied: Vec<u16>,
    /// Operators that lead the mutants of the round.
    leading: Vec<u16>,
}

impl<K: Keeper, S> MutateStage<K, S> {
    /// A stage that hands what it finds to the campaign.
    pub fn new(trials: Trials<K>, operators: Operators<S>, precise: bool) -> Self {
        let input = BytesInput::new(Vec::new());
        Self { trials, operators, precise, input, mask: Mask::default(), applied: Vec::new(), leading: Vec::new() }
    }
}

impl<K, S> MutateStage<K, S>
where
    K: Keeper,
    S: HasCorpus<BytesInput> + HasExecutions + HasMaxSize + HasMetadata + HasRand<Rand = StdRand> + 'static,
{
    /// Runs the mutant. What it found goes to the campaign. Whether it was kept.
    fn run<E, EM, Z>(&mut self, parent: u32, parts: &mut Parts<'_, E, EM, S, Z>) -> Result<bool, Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        Z: Evaluator<E, EM, BytesInput, S> + ExecutesInput<E, EM, BytesInput, S>,
    {
        let kept = self.trials.run(parts, parent, &self.applied, &self.input)?;
        let counts = &parts.executor.observers().0;
        if self.precise
            && !kept
            && counts.status() == Status::Returned
            && !self.trials.between.look(*parts.state.executions(), counts)?
        {
            let first = parts.executor.observers().0.cost();
            let Parts { fuzzer, executor, state, manager } = parts;
            let between = &self.trials.between;
            let measured = measure(*fuzzer, *executor, *state, *manager, between, &self.input, first)?;
            if let Some(measured) = measured {
                self.keep_slow(parent, measured, parts.state, &parts.executor.observers().0)?;
            }
        }
        Ok(kept)
    }

    /// Makes the mutant and runs it; with `--shadow-mask`, beside one that is not held to the mask.
    fn mutate<E, EM, Z>(
        &mut self,
        parent: u32,
        leading: u16,
        base: &Base<'_>,
        parts: &mut Parts<'_, E, EM, S, Z>,
    ) -> Result<(), Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        Z: Evaluator<E, EM, BytesInput, S> + ExecutesInput<E, EM, BytesInput, S>,
    {
        self.input.as_mut().clear();
        self.input.as_mut().extend_from_slice(base.bytes);
        let mask = base.mask.map(|mask| {
            self.mask.copy_from(mask);
            &mut self.mask
        });
        let changed = self.operators.mutate(leading, parts.state, &mut self.input, mask, &mut self.applied)?;
        if changed && !self.trials.between.keeper.borrow().is_deadly(self.input.mutator_bytes()) {
            let kept = self.run(parent, parts)?;
            if let Some(goals) = base.watched {
                let (bytes, counts) = (self.input.mutator_bytes().len(), &parts.executor.observers().0);
                self.trials.kept.borrow_mut().offspring.count(parent, goals, bytes, counts);
            }
            if let (Some(goal), Some(_)) = (base.goal, base.mask) {
                let hit = goal.is_satisfied(&parts.executor.observers().0);
                let known = &mut *self.trials.kept.borrow_mut();
                known.masks.mutants += 1;
                known.masks.hits += u64::from(hit);
                known.masks.kept += u64::from(kept);
                if known.masking.shadow {
                    known.shadow.count(goal.kind(), self.source(leading), true, hit);
                }
            }
        }
        let shadow = base.mask.is_some() && self.trials.kept.borrow().masking.shadow;
        if let Some(goal) = base.goal.filter(|_| shadow) {
            self.input.as_mut().clear();
            self.input.as_mut().extend_from_slice(base.bytes);
            if self.operators.mutate(leading, parts.state, &mut self.input, None, &mut self.applied)?
                && let Some(hit) = self.trials.shadow(parts, &self.input, goal)?
            {
                self.trials.kept.borrow_mut().shadow.count(goal.kind(), self.source(leading), false, hit);
            }
        }
        Ok(())
    }

    fn source(&self, leading: u16) -> Source {
        if self.operators.is_rule(leading) { Source::Rules } else { Source::Havoc }
    }

    /// Keeps a mutant that shows nothing new but is slower than all before.
    fn keep_slow(
        &mut self,
        parent: u32,
        measured: Measured,
        state: &mut S,
        counts: &CountsObserver,
    ) -> Result<(), Error> {
        let between = &self.trials.between;
        if !between.keeper.borrow().is_slowest(&measured) {
            return Ok(());
        }
        state.corpus_mut().add(Testcase::new(self.input.clone()))?;
        let bytes = self.input.mutator_bytes();
        let kept = between.keeper.borrow_mut().keep_mutant(parent, &self.applied, bytes, counts);
        for fallen in between.check(kept)? {
            state.corpus_mut().remove((fallen as usize).into())?;
        }
        Ok(())
    }
}

/// What mutants are made of.
struct Base<'a> {
    bytes: &'a [u8],
    mask: Option<&'a Mask>,
    goal: Option<Goal>,
    /// Goals of the worst entry, in a round for cost whose mutants are not held to one: how many satisfy them anyway?
    watched: Option<Goals>,
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
        let between = self.trials.between.clone();
        if between.is_interrupted() {
            return Ok(());
        }
        let Some(parent_id) = state.current_corpus_id()? else {
            return Err(Error::illegal_state("no input was scheduled"));
        };
        let parent = parent_id.0 as u32;
        between.keeper.borrow_mut().begin_round();
        let most = energy(between.keeper.borrow().relative_cost(parent));
        let (aim, round) = (self.trials.kept.borrow().effort.aim(), self.trials.kept.borrow().round);
        let prepared =
            round.goal.and_then(|goal| Some((goal, self.trials.kept.borrow_mut().prepared.take(parent, goal)?)));
        // `None` for one that was surpassed while it was made ready
        let whole = if prepared.is_none() { state.corpus().cloned_input_for_id(parent_id).ok() } else { None };
        let mut base = match (&prepared, &whole) {
            (Some((goal, prepared)), _) => {
                // half a mask would hold mutants to half of the input
                let usable = round.masked && prepared.computation.is_complete();
                let mask = Some(prepared.computation.mask()).filter(|mask| usable && !mask.is_closed());
                Base { bytes: &prepared.input, mask, goal: Some(*goal), watched: None }
            }
            (None, Some(whole)) => Base { bytes: whole.mutator_bytes(), mask: None, goal: None, watched: None },
            (None, None) => return Ok(()),
        };
        if base.mask.is_none() {
            // there is no goal, it was missed, or its mask is not complete, or closed
            let kept = &mut *self.trials.kept.borrow_mut();
            kept.effort.let_go();
            if aim == Aim::Cost && !kept.masking.no_mask && kept.champions.worst() == Some(parent) {
                base.watched = Some(kept.goals_of_cost(parent));
            }
        }
        match aim {
            Aim::Cost => {
                let keeper = between.keeper.borrow();
                self.operators.lead(keeper.yields(), most, state.rand_mut(), &mut self.leading);
            }
            Aim::Coverage => {
                let most = if base.goal.is_some() { most * PREPARED } else { most };
                self.operators.lead_evenly(most, state.rand_mut(), &mut self.leading);
            }
        }
        let mut parts = Parts { fuzzer, executor, state, manager };
        for place in 0..self.leading.len() {
            self.mutate(parent, self.leading[place], &base, &mut parts)?;
            if between.look(*parts.state.executions(), &parts.executor.observers().0)?
                || (between.keeper.borrow().is_gathered() && base.goal.is_none())
            {
                break;
            }
        }
        let known = &mut *self.trials.kept.borrow_mut();
        if let Some((goal, prepared)) = prepared {
            known.prepared.put(parent, goal, prepared);
        }
        parts.executor.observers_mut().0.settle_hits(&mut known.rare.hits);
        Ok(())
    }
}

begins_anew!(MutateStage<K, S>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expensive_inputs_get_fewer_mutants_and_none_gets_none() {
        assert_eq!([0.1, 1.0, 2.0, 1e9].map(energy), [64, 64, 32, 6]);
    }
}
