//! Operators `custom` and `custom-crossover`: the harness's own mutator and crossover.

use std::num::NonZeroUsize;

use libafl::{
    Error,
    corpus::Corpus,
    inputs::{BytesInput, HasMutatorBytes},
    mutators::MutationResult,
    state::{HasCorpus, HasMaxSize, HasRand},
};
use libafl_bolts::rands::Rand;

use crate::state::LibaflState;
use quagmire_execution::own_mutator::{Mutant, MutatorFailure, OwnMutator};
use quagmire_mutators::inner;

/// The harness's own functions as operators, with the memory of what they did to the current mutant.
pub(super) struct OwnOperators {
    pub(super) functions: OwnMutator,
    /// Whether code of the target has run for the current mutant.
    pub(super) has_run: bool,
    /// Why a function did not return: no other may be called in this process.
    pub(super) failure: Option<MutatorFailure>,
}

impl OwnOperators {
    pub(super) fn new(functions: OwnMutator) -> Self {
        Self { functions, has_run: false, failure: None }
    }

    /// Applies the mutator.
    pub(super) fn mutate(&mut self, state: &mut LibaflState, input: &mut BytesInput) -> MutationResult {
        let seed = self.begin(state);
        let mutant = self.functions.mutate(input.mutator_bytes(), seed);
        take(mutant, input, &mut self.failure)
    }

    /// Crosses the input over with another one of the corpus, if there is one.
    ///
    /// # Errors
    /// If the corpus cannot be read, which would be a bug.
    pub(super) fn cross_over(
        &mut self,
        state: &mut LibaflState,
        input: &mut BytesInput,
    ) -> Result<MutationResult, Error> {
        let Some(entries) = NonZeroUsize::new(state.corpus().count()).filter(|entries| entries.get() > 1) else {
            return Ok(MutationResult::Skipped);
        };
        let place = state.rand_mut().below(entries);
        let other = state.corpus().cloned_input_for_id(state.corpus().nth(place))?;
        let seed = self.begin(state);
        let mutant = self.functions.cross_over(input.mutator_bytes(), other.mutator_bytes(), seed);
        Ok(take(mutant, input, &mut self.failure))
    }

    /// Prepares a call; returns the seed for it.
    fn begin(&mut self, state: &mut LibaflState) -> u32 {
        self.has_run = true;
        self.functions.resize(state.max_size());
        let drawn = state.rand_mut().next();
        inner::seed(drawn);
        (drawn >> 32) as u32
    }
}

/// Takes the result of a call over, unless there is none or nothing has changed.
fn take(mutant: Mutant<'_>, input: &mut BytesInput, failure: &mut Option<MutatorFailure>) -> MutationResult {
    match mutant {
        Ok(bytes) if !bytes.is_empty() && bytes != input.mutator_bytes() => {
            input.as_mut().clear();
            input.as_mut().extend_from_slice(bytes);
            MutationResult::Mutated
        }
        Ok(_) => MutationResult::Skipped,
        Err(why) => {
            *failure = Some(why);
            MutationResult::Skipped
        }
    }
}
