//! Coverage phase: makes mutants of an entry and evaluates them.

use libafl::{
    Error,
    corpus::Corpus,
    executors::HasObservers,
    inputs::{BytesInput, HasMutatorBytes},
    state::{HasCorpus, HasRand},
};

use super::{
    Work,
    checks::Checks,
    choices::{ChoiceOperators, ChoiceOptions},
    measure::measure,
    operators::Operators,
};
use crate::{
    EntryId,
    corpus::effort::Aim,
    evaluate::{Campaign, Evaluation, Parts, commit, evaluate, run_shadow},
    hooks::{CampaignHooks, Interruption},
    mask::{Goal, HitsBranch},
    origin::Origin,
    state::CampaignState,
};
use quagmire_execution::abi::Status;
use quagmire_mutators::{kinds::Source, mask::Mask};

/// Mutants of an entry that costs no more than the baseline; expensive ones get fewer, so that no round takes long.
const MUTANTS: f64 = 64.0;

/// Mutants of the most expensive entries.
const FEWEST_MUTANTS: usize = 6;

/// Number of mutants of an entry with this cost ratio, a multiple of the ordinary one. Deterministic: no clock is involved.
fn energy(ratio: f64, multiple: f64) -> usize {
    ((multiple * MUTANTS / ratio.max(1.0)) as usize).max(FEWEST_MUTANTS)
}

/// Factor on the number of mutants of an entry that was prepared for a goal, in a round for coverage: the preparation
/// has to pay.
const PREPARED: f64 = 16.0;

/// LibAFL stage that makes and evaluates the mutants of a round.
pub struct MutateStage {
    operators: Operators,
    choices: ChoiceOperators,
    checks: Option<Checks>,
    /// Whether every mutant is measured precisely (`--skip-coverage-testing`).
    precise: bool,
    input: BytesInput,
    /// Mask of the current mutant, which follows its changes.
    mask: Mask,
    applied: Vec<u16>,
    /// Leading operators of the mutants of the round.
    leading: Vec<u16>,
}

impl MutateStage {
    /// Creates a stage; `precise` makes it measure every mutant precisely. Without `checks` none is put right.
    pub fn new(operators: Operators, choices: ChoiceOptions, checks: Option<Checks>, precise: bool) -> Self {
        Self {
            checks,
            choices: ChoiceOperators::new(choices, operators.rules),
            operators,
            precise,
            input: BytesInput::new(Vec::new()),
            mask: Mask::default(),
            applied: Vec::new(),
            leading: Vec::new(),
        }
    }
}

impl MutateStage {
    /// Evaluates the mutant, and puts checks right that it fails, unless its choices have made it (`by_choices`). If all
    /// mutants are measured precisely, also enters one that shows nothing new but is slower than all before.
    fn run<C: Campaign>(
        &mut self,
        parent: EntryId,
        by_choices: bool,
        parts: &mut Parts<'_, C>,
    ) -> Result<Evaluation, Error> {
        let evaluation = match self.checks.as_mut().filter(|_| !by_choices) {
            Some(checks) => checks.evaluate(parent, &mut self.applied, &mut self.input, parts)?,
            None => evaluate(parts, &Origin::Mutant { parent, operators: &self.applied }, &self.input)?,
        };
        let origin = Origin::Mutant { parent, operators: &self.applied };
        if let Some(patched) = parts.executor.observers().1.0.patched() {
            self.input = BytesInput::new(patched.to_vec());
        }
        if self.precise
            && evaluation.entry.is_none()
            && evaluation.status == Status::Returned
            && !parts.look()?
            && let Some(measured) = measure(parts, &self.input, evaluation.cost)?
        {
            let is_slowest = parts.state.hooks.is_slowest(&measured);
            if is_slowest {
                let counts = &mut parts.executor.observers_mut().0;
                commit(parts.state, counts, &origin, &self.input, evaluation.novelty, true)?;
            }
        }
        if let Some(entry) = evaluation.entry {
            let hooks = &parts.state.hooks;
            self.operators.entered(&|| [entry, parent].map(|entry| hooks.file(entry)));
        }
        Ok(evaluation)
    }

    /// Makes a mutant by the choices of its parent, and runs it. Returns whether there was one.
    fn mutate_choices<C: Campaign>(
        &mut self,
        parent: EntryId,
        mask: Option<&Mask>,
        parts: &mut Parts<'_, C>,
    ) -> Result<bool, Error> {
        let Some(made) = self.choices.make(parent, mask, parts.state, &mut self.input, &mut self.applied) else {
            return Ok(false);
        };
        if parts.state.hooks.is_left_out(self.input.mutator_bytes()) {
            return Ok(false);
        }
        parts.state.search.choices.by_choices += 1;
        let structures = &mut parts.state.search.choices.structures;
        self.choices.prepare(&made, &mut parts.executor.observers_mut().1.0, structures);
        let evaluation = self.run(parent, true, parts)?;
        parts.state.search.choices.structures.current = None;
        self.choices.learn(parent, made, &evaluation, &self.input, &parts.executor.observers(), parts.state);
        parts.executor.observers_mut().1.0.record(false);
        Ok(true)
    }

    /// Makes a mutant and runs it; with `--experiment shadow-mask`, also runs one that is made without the mask.
    fn mutate<C: Campaign>(
        &mut self,
        parent: EntryId,
        leading: u16,
        base: &Base<'_>,
        parts: &mut Parts<'_, C>,
    ) -> Result<(), Error> {
        self.input.as_mut().clear();
        self.input.as_mut().extend_from_slice(base.bytes);
        let of_base = base.mask.filter(|_| !self.operators.is_single(leading));
        let mask = of_base.or(self.choices.readable()).map(|mask| {
            self.mask.copy_from(mask);
            &mut self.mask
        });
        let changed =
            self.operators.mutate(leading, &mut parts.state.libafl, &mut self.input, mask, &mut self.applied)?;
        self.after_own(parent, parts)?;
        if changed && !parts.state.hooks.is_left_out(self.input.mutator_bytes()) {
            let kept = self.run(parent, false, parts)?.entry.is_some();
            if let (Some(goal), Some(_)) = (base.goal, of_base) {
                let hit = goal.is_satisfied(&parts.executor.observers().0);
                let known = &mut parts.state.search;
                known.masks.mutants += 1;
                known.masks.hits += u64::from(hit);
                known.masks.kept += u64::from(kept);
                if known.masking.shadow {
                    known.shadow.count(self.source(leading), true, hit);
                }
            }
        }
        let shadow = of_base.is_some() && parts.state.search.masking.shadow && !parts.state.is_interrupted();
        if let Some(goal) = base.goal.filter(|_| shadow) {
            self.input.as_mut().clear();
            self.input.as_mut().extend_from_slice(base.bytes);
            let changed =
                self.operators.mutate(leading, &mut parts.state.libafl, &mut self.input, None, &mut self.applied)?;
            self.after_own(parent, parts)?;
            if changed && let Some(hit) = run_shadow(parts, &self.input, &goal)? {
                parts.state.search.shadow.count(self.source(leading), false, hit);
            }
        }
        Ok(())
    }

    /// Does what is due after the harness's own mutator was called: clears its counts; if it did not return, has that
    /// recorded and the worker restarted.
    fn after_own<C: Campaign>(&mut self, parent: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        if self.operators.has_run_target() {
            parts.executor.observers_mut().0.clear_between_runs();
        }
        if let Some(failure) = self.operators.failure() {
            let recorded = parts.state.hooks.mutator_failed(parent, failure);
            parts.state.check(recorded)?;
            parts.state.interruption = Interruption::Restart;
        }
        Ok(())
    }

    fn source(&self, leading: u16) -> Source {
        if self.operators.is_rule(leading) { Source::Rules } else { Source::Havoc }
    }
}

/// Bytes, mask and goal that the mutants of a round are made from.
struct Base<'a> {
    bytes: &'a [u8],
    mask: Option<&'a Mask>,
    goal: Option<HitsBranch>,
}

impl Work for MutateStage {
    fn perform<C: Campaign>(&mut self, parent: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let state = &mut *parts.state;
        state.hooks.begin_round();
        let ratio = state.hooks.relative_cost(parent);
        let search = &mut state.search;
        let aim = search.effort.aim();
        let mut prepared = search.goal.and_then(|goal| Some((goal, search.prepared.take(parent, goal)?)));
        // `None` for an entry that was evicted while it was prepared
        let whole = if prepared.is_none() { state.corpus().cloned_input_for_id(parent.into()).ok() } else { None };
        let mut whole = whole.map(Vec::from);
        match (&mut prepared, &mut whole) {
            // its mask is for these bytes
            (Some((_, prepared)), _) => self.choices.begin(parent, parts, &mut prepared.input.clone())?,
            (None, Some(whole)) => self.choices.begin(parent, parts, whole)?,
            (None, None) => return Ok(()),
        }
        let base = match &prepared {
            Some((goal, prepared)) => {
                // an incomplete mask would confine mutants to half of the input
                let usable = prepared.computation.is_complete();
                let mask = Some(prepared.computation.mask());
                let mask = mask.filter(|mask| usable && !mask.is_closed() && !mask.is_open());
                Base { bytes: &prepared.input, mask, goal: Some(*goal) }
            }
            None => Base { bytes: whole.as_deref().unwrap_or_default(), mask: None, goal: None },
        };
        if let Some(checks) = &mut self.checks {
            checks.begin(parent, base.bytes, parts)?;
        }
        let CampaignState { libafl, hooks, .. } = &mut *parts.state;
        self.operators.begin(base.bytes, &|| hooks.file(parent), hooks.yields());
        match aim {
            Aim::Cost => self.operators.lead(hooks.yields(), energy(ratio, 1.0), libafl.rand_mut(), &mut self.leading),
            Aim::Coverage => {
                let is_prepared = base.goal.is_some() && !self.choices.has_grammar();
                let multiple = if is_prepared { PREPARED } else { 1.0 };
                self.operators.lead_evenly(energy(ratio, multiple), libafl.rand_mut(), &mut self.leading);
            }
        }
        for place in 0..self.leading.len() {
            // the run of the parent may have ended early
            if parts.state.is_interrupted() {
                break;
            }
            let are_next = self.choices.are_next(base.mask.is_some(), parts.state.libafl.rand_mut());
            let is_made = are_next && self.mutate_choices(parent, base.mask, parts)?;
            if !is_made && !parts.state.is_interrupted() {
                parts.state.search.choices.by_bytes += 1;
                self.mutate(parent, self.leading[place], &base, parts)?;
            }
            if parts.look()? || (parts.state.hooks.is_gathered() && base.goal.is_none()) {
                break;
            }
        }
        let known = &mut parts.state.search;
        if let Some((goal, prepared)) = prepared {
            known.prepared.put(parent, goal, prepared);
        }
        let counts = &mut parts.executor.observers_mut().0;
        counts.settle_hits(&mut known.rare.hits);
        known.diversity.settle(counts);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expensive_inputs_get_fewer_mutants_and_none_gets_none() {
        assert_eq!([0.1, 1.0, 2.0, 1e9].map(|ratio| energy(ratio, 1.0)), [64, 64, 32, 6]);
        assert_eq!([1.0, 64.0, 1e9].map(|ratio| energy(ratio, PREPARED)), [1024, 16, 6]);
    }
}
