//! Operators `custom` and `custom-crossover`: the harness's own mutator and crossover, and mutators of AFL++'s libraries.

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
use quagmire_execution::{
    mutator_library::StartedLibrary,
    own_mutator::{Mutant, MutatorFailure, OwnMutator},
};
use quagmire_mutators::inner;

/// The harness's own functions and those of libraries as operators, with the memory of what they did to the current mutant.
pub(super) struct OwnOperators {
    functions: Option<OwnMutator>,
    libraries: Vec<StartedLibrary>,
    /// Whether code of the target has run for the current mutant.
    pub(super) has_run: bool,
    /// Why a function did not return: no other may be called in this process.
    pub(super) failure: Option<MutatorFailure>,
}

impl OwnOperators {
    pub(super) fn new(functions: Option<OwnMutator>, libraries: Vec<StartedLibrary>) -> Self {
        Self { functions, libraries, has_run: false, failure: None }
    }

    /// Whether there is a mutator.
    pub(super) fn mutates(&self) -> bool {
        self.functions.as_ref().is_some_and(OwnMutator::mutates) || self.libraries.iter().any(StartedLibrary::has_turn)
    }

    /// Whether the harness has a crossover.
    pub(super) fn crosses_over(&self) -> bool {
        self.functions.as_ref().is_some_and(OwnMutator::crosses_over)
    }

    /// Asks libraries whether they want mutants of this parent.
    pub(super) fn begin_round(&mut self, file: &dyn Fn() -> Option<String>, parent: &[u8]) {
        if !self.libraries.is_empty() {
            let file = file();
            self.libraries.iter_mut().for_each(|library| library.begin(file.as_deref(), parent));
        }
    }

    /// Tells libraries of an entry.
    pub(super) fn entered(&self, file: &dyn Fn() -> [Option<String>; 2]) {
        if !self.libraries.is_empty() {
            let [file, parent] = file();
            self.libraries.iter().for_each(|library| library.entered(file.as_deref(), parent.as_deref()));
        }
    }

    /// Applies a mutator: the harness's, or that of a library.
    ///
    /// # Errors
    /// If the corpus cannot be read, which would be a bug.
    pub(super) fn mutate(&mut self, state: &mut LibaflState, input: &mut BytesInput) -> Result<MutationResult, Error> {
        let ours = self.functions.as_ref().is_some_and(OwnMutator::mutates).into();
        let all = ours + self.libraries.iter().filter(|library| library.has_turn()).count();
        let draw = state.rand_mut().below_or_zero(all);
        let Some(place) = draw.checked_sub(ours) else {
            let seed = self.begin(state);
            let Some(functions) = &mut self.functions else { return Ok(MutationResult::Skipped) };
            return Ok(take(functions.mutate(input.mutator_bytes(), seed), input, &mut self.failure));
        };
        let prefers_havoc = state.rand_mut().coinflip(0.5);
        let most = state.max_size();
        let Some(library) = self.libraries.iter_mut().filter(|library| library.has_turn()).nth(place) else {
            return Ok(MutationResult::Skipped);
        };
        let other = if library.wants_other() { another(state)? } else { None };
        let other = other.as_ref().map_or(&[][..], HasMutatorBytes::mutator_bytes);
        let mutant = library.mutate(input.mutator_bytes(), other, most, prefers_havoc);
        Ok(take(Ok(mutant), input, &mut self.failure))
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
        let Some(other) = another(state)? else { return Ok(MutationResult::Skipped) };
        let seed = self.begin(state);
        let Some(functions) = &mut self.functions else { return Ok(MutationResult::Skipped) };
        let mutant = functions.cross_over(input.mutator_bytes(), other.mutator_bytes(), seed);
        Ok(take(mutant, input, &mut self.failure))
    }

    /// Has libraries change a mutant before it is run. Returns whether it is to be run.
    pub(super) fn post_process(&mut self, most: usize, input: &mut BytesInput) -> bool {
        self.libraries.iter_mut().all(|library| {
            let Some(bytes) = library.post_process(input.mutator_bytes(), most) else { return true };
            input.as_mut().clear();
            input.as_mut().extend_from_slice(bytes);
            !bytes.is_empty()
        })
    }

    /// Prepares a call; returns the seed for it.
    fn begin(&mut self, state: &mut LibaflState) -> u32 {
        self.has_run = true;
        if let Some(functions) = &mut self.functions {
            functions.resize(state.max_size());
        }
        let drawn = state.rand_mut().next();
        inner::seed(drawn);
        (drawn >> 32) as u32
    }
}

/// Draws an input of the corpus; `None` if there are not two.
fn another(state: &mut LibaflState) -> Result<Option<BytesInput>, Error> {
    let Some(entries) = NonZeroUsize::new(state.corpus().count()).filter(|entries| entries.get() > 1) else {
        return Ok(None);
    };
    let place = state.rand_mut().below(entries);
    state.corpus().cloned_input_for_id(state.corpus().nth(place)).map(Some)
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
