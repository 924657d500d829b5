//! Adaptor from rules to LibAFL mutators.

use std::borrow::Cow;
use std::sync::Arc;

use libafl::Error;
use libafl::corpus::CorpusId;
use libafl::inputs::BytesInput;
use libafl::mutators::{MutationResult, Mutator};
use libafl::state::{HasMaxSize, HasRand};
use libafl_bolts::Named;
use libafl_bolts::rands::StdRand;

use super::rule::Rule;

/// LibAFL mutator that applies one [`Rule`], within the state's maximum size. Its LibAFL name is the rule's label.
#[derive(Clone, Debug)]
pub struct RuleMutator {
    label: Cow<'static, str>,
    rule: Arc<dyn Rule>,
}

impl RuleMutator {
    /// Creates the mutator for `rule`.
    pub fn new(rule: Arc<dyn Rule>) -> Self {
        Self { label: Cow::Owned(rule.label().to_owned()), rule }
    }

    /// The rule that it applies.
    pub fn rule(&self) -> &Arc<dyn Rule> {
        &self.rule
    }
}

impl Named for RuleMutator {
    fn name(&self) -> &Cow<'static, str> {
        &self.label
    }
}

impl<S> Mutator<BytesInput, S> for RuleMutator
where
    S: HasRand<Rand = StdRand> + HasMaxSize,
{
    fn mutate(&mut self, state: &mut S, input: &mut BytesInput) -> Result<MutationResult, Error> {
        let limit = state.max_size();
        let changed = self.rule.apply(input.as_mut(), limit, state.rand_mut());
        Ok(if changed { MutationResult::Mutated } else { MutationResult::Skipped })
    }

    fn post_exec(&mut self, _state: &mut S, _new_corpus_id: Option<CorpusId>) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::havoc::tests::state_with;
    use crate::text::whitespace::APPEND_WHITESPACE;
    use crate::text::words::SORT_LINE;

    #[test]
    fn a_rule_mutates_within_the_maximum_size_of_the_state() {
        let mut state = state_with(&[], 40);
        let mut mutator = RuleMutator::new(Arc::new(APPEND_WHITESPACE));
        assert_eq!(mutator.name(), "T.8");
        for _ in 0..100 {
            let mut input = BytesInput::new(b"some text\n".to_vec());
            assert_eq!(mutator.mutate(&mut state, &mut input).unwrap(), MutationResult::Mutated);
            assert!((11..=40).contains(&input.as_ref().len()));
        }
    }

    #[test]
    fn a_rule_that_changes_nothing_is_skipped() {
        let mut state = state_with(&[], 40);
        let mut input = BytesInput::new(b"a b c\n".to_vec());
        let result = RuleMutator::new(Arc::new(SORT_LINE)).mutate(&mut state, &mut input).unwrap();
        assert_eq!(result, MutationResult::Skipped);
        assert_eq!(input.as_ref(), b"a b c\n");
    }
}
