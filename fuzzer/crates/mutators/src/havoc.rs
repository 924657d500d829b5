//! LibAFL's stock mutations around the rules, stacked less deeply than by LibAFL.
//!
//! Each of the four is one mutator whose LibAFL name appears in the history of findings: `havoc`, `single`, `splice`,
//! `tokens`.

use std::{borrow::Cow, num::NonZero};

use libafl::{
    Error,
    corpus::CorpusId,
    inputs::BytesInput,
    mutators::{
        BitFlipMutator, ByteAddMutator, ByteDecMutator, ByteFlipMutator, ByteIncMutator, ByteInterestingMutator,
        ByteRandMutator, DwordAddMutator, DwordInterestingMutator, MutationResult, Mutator, MutatorsTuple,
        SpliceMutator, TokenInsert, TokenReplace, WordAddMutator, WordInterestingMutator, havoc_crossover,
        havoc_mutations::{HavocCrossoverType, HavocMutationsNoCrossoverType},
        havoc_mutations_no_crossover, tokens_mutations,
    },
    state::{HasMaxSize, HasRand},
};
use libafl_bolts::{
    Named,
    rands::{Rand, StdRand},
    tuples::{Merge, merge_tuple_list_type, tuple_list, tuple_list_type},
};

/// State that mutations need.
pub trait MutationState: HasRand<Rand = StdRand> + HasMaxSize {}

impl<S: HasRand<Rand = StdRand> + HasMaxSize> MutationState for S {}

/// LibAFL mutator that stacks 1, 2, 4, ... mutations drawn from `mutations`, within the state's maximum size.
///
/// LibAFL's own `HavocScheduledMutator` stacks at least two and, by default, up to 128: too many for small inputs,
/// and too slow for large ones.
#[derive(Debug)]
pub struct Stacked<MT> {
    label: Cow<'static, str>,
    mutations: MT,
    max_power: usize,
}

impl<MT> Stacked<MT> {
    /// Stacks `2^0` to `2^max_power` of `mutations` under the name `label`.
    pub(crate) fn new(label: &'static str, mutations: MT, max_power: usize) -> Self {
        Self { label: Cow::Borrowed(label), mutations, max_power }
    }
}

impl<MT> Named for Stacked<MT> {
    fn name(&self) -> &Cow<'static, str> {
        &self.label
    }
}

impl<MT: MutatorsTuple<BytesInput, S>, S: MutationState> Mutator<BytesInput, S> for Stacked<MT> {
    fn mutate(&mut self, state: &mut S, input: &mut BytesInput) -> Result<MutationResult, Error> {
        let Some(choices) = NonZero::new(self.mutations.len()) else { return Ok(MutationResult::Skipped) };
        let limit = state.max_size();
        let mut result = MutationResult::Skipped;
        for _ in 0..1_usize << state.rand_mut().below_or_zero(self.max_power + 1) {
            let choice = state.rand_mut().below(choices);
            if self.mutations.get_and_mutate(choice.into(), state, input)? == MutationResult::Mutated {
                result = MutationResult::Mutated;
            }
        }
        if input.as_ref().len() > limit {
            // SpliceMutator takes the whole rest of the other input; the input may also have been longer before
            input.as_mut().truncate(limit);
            result = MutationResult::Mutated;
        }
        Ok(result)
    }

    fn post_exec(&mut self, state: &mut S, new_corpus_id: Option<CorpusId>) -> Result<(), Error> {
        self.mutations.post_exec_all(state, new_corpus_id)
    }
}

/// Creates `havoc`: stacks 1 to 16 of LibAFL's byte mutations that need no other input.
pub fn havoc() -> Stacked<HavocMutationsNoCrossoverType> {
    Stacked::new("havoc", havoc_mutations_no_crossover(), 4)
}

/// Creates `single`: one change of a bit, a byte or a number.
pub fn single<S: MutationState>() -> impl Mutator<BytesInput, S> {
    let mutations = tuple_list!(
        BitFlipMutator::new(),
        ByteFlipMutator::new(),
        ByteIncMutator::new(),
        ByteDecMutator::new(),
        ByteRandMutator::new(),
        ByteAddMutator::new(),
        WordAddMutator::new(),
        DwordAddMutator::new(),
        ByteInterestingMutator::new(),
        WordInterestingMutator::new(),
        DwordInterestingMutator::new()
    );
    Stacked::new("single", mutations, 0)
}

/// The mutations that [`splice`] draws from.
pub(crate) type SpliceMutations = merge_tuple_list_type!(HavocCrossoverType, tuple_list_type!(SpliceMutator));

/// Creates `splice`: one crossover with another input of the corpus. Not to be called while there is no other input:
/// LibAFL's mutations assume a corpus that is not empty.
pub fn splice() -> Stacked<SpliceMutations> {
    Stacked::new("splice", havoc_crossover().merge(tuple_list!(SpliceMutator::new())), 0)
}

/// Creates `tokens`: inserts or overwrites with 1 to 4 tokens of the dictionary, if the state has tokens.
pub fn tokens() -> Stacked<tuple_list_type!(TokenInsert, TokenReplace)> {
    Stacked::new("tokens", tokens_mutations(), 2)
}

#[cfg(test)]
pub(super) mod tests {
    use libafl::{
        HasMetadata,
        corpus::{Corpus, InMemoryCorpus, Testcase},
        feedbacks::ConstFeedback,
        mutators::Tokens,
        state::StdState,
    };

    use super::*;

    /// Helpers for tests of mutators.
    pub(crate) type TestState = StdState<InMemoryCorpus<BytesInput>, BytesInput, StdRand, InMemoryCorpus<BytesInput>>;

    /// Creates a state with these inputs in its corpus.
    pub(crate) fn state_with(inputs: &[&[u8]], max_size: usize) -> TestState {
        let mut corpus = InMemoryCorpus::new();
        for input in inputs {
            corpus.add(Testcase::new(BytesInput::new(input.to_vec()))).unwrap();
        }
        let (mut feedback, mut objective) = (ConstFeedback::new(false), ConstFeedback::new(false));
        let rand = StdRand::with_seed(1);
        let mut state = StdState::new(rand, corpus, InMemoryCorpus::new(), &mut feedback, &mut objective).unwrap();
        state.set_max_size(max_size);
        state
    }

    /// Mutates `text` a thousand times; returns the number of changes, and the results.
    fn mutants(mutator: &mut impl Mutator<BytesInput, TestState>, state: &mut TestState, text: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for _ in 0..1000 {
            let mut input = BytesInput::new(text.to_vec());
            if mutator.mutate(state, &mut input).unwrap() == MutationResult::Mutated {
                found.push(input.as_ref().clone());
            }
        }
        found
    }

    #[test]
    fn havoc_changes_inputs_and_stays_within_the_maximum_size() {
        let mut state = state_with(&[], 60);
        let mut havoc = havoc();
        assert_eq!(havoc.name(), "havoc");
        let found = mutants(&mut havoc, &mut state, &[b'x'; 50]);
        assert!(found.len() > 900);
        assert!(found.iter().all(|bytes| bytes.len() <= 60));
        let cut = mutants(&mut havoc, &mut state, &[b'x'; 90]);
        assert!(cut.len() == 1000 && cut.iter().all(|bytes| bytes.len() <= 60));
    }

    #[test]
    fn splicing_mixes_in_another_input_within_the_maximum_size() {
        let mut state = state_with(&[&[b'a'; 20], &[b'b'; 100]], 50);
        let mut splice = splice();
        assert_eq!(splice.name(), "splice");
        let found = mutants(&mut splice, &mut state, &[b'x'; 20]);
        assert!(found.iter().all(|bytes| bytes.len() <= 50));
        assert!(found.iter().any(|bytes| bytes.contains(&b'x') && bytes.contains(&b'b')));
        assert!(found.iter().any(|bytes| bytes.contains(&b'x') && bytes.contains(&b'a')));
    }

    #[test]
    fn tokens_are_used_if_there_are_any() {
        let mut state = state_with(&[], 50);
        let mut tokens = tokens();
        assert_eq!(tokens.name(), "tokens");
        assert!(mutants(&mut tokens, &mut state, b"text").is_empty());
        state.add_metadata(Tokens::from([b"<TAG>".to_vec()]));
        let found = mutants(&mut tokens, &mut state, b"text");
        assert!(found.len() == 1000 && found.iter().any(|bytes| bytes == b"te<TAG>xt"));
    }
}
