//! The interface of mutation rules, and the built-in ones.

use std::{borrow::Cow, fmt::Debug, sync::Arc};

use libafl::{
    Error,
    corpus::CorpusId,
    inputs::BytesInput,
    mutators::{MutationResult, Mutator},
};
use libafl_bolts::{Named, rands::StdRand};

use super::havoc::MutationState;

/// A mutation rule: one way to change an input that may make a program slower.
///
/// Rules are pure: their result depends only on the bytes, the limit and the random numbers.
pub trait Rule: Debug + Send + Sync {
    /// Label in results, logs and `--rules`, such as `T.10`.
    fn label(&self) -> &str;

    /// Name, such as `insert_whitespace`.
    fn name(&self) -> &str;

    /// The class of slowness that the rule aims at, in one short line.
    fn aim(&self) -> &str;

    /// An example for help texts: an input, and what the rule may turn it into.
    fn example(&self) -> Option<(&[u8], &[u8])> {
        None
    }

    /// Changes `bytes` in place to at most `limit` bytes; longer inputs are cut.
    ///
    /// Returns false, with `bytes` unchanged, if nothing could be changed; always so for a `limit` of 0.
    fn apply(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool;
}

/// Function of a [`BuiltIn`] rule: as [`Rule::apply`], but `bytes` are never longer than `limit`, and `limit` is
/// never 0.
pub(crate) type Change = fn(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool;

/// A built-in rule: a function and its description.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    pub(super) label: &'static str,
    pub(super) name: &'static str,
    pub(super) aim: &'static str,
    pub(super) before: &'static [u8],
    pub(super) after: &'static [u8],
    pub(super) change: Change,
}

impl Rule for BuiltIn {
    fn label(&self) -> &str {
        self.label
    }

    fn name(&self) -> &str {
        self.name
    }

    fn aim(&self) -> &str {
        self.aim
    }

    fn example(&self) -> Option<(&[u8], &[u8])> {
        Some((self.before, self.after))
    }

    fn apply(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
        within(bytes, limit, |bytes| (self.change)(bytes, limit, rand))
    }
}

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
}

impl Named for RuleMutator {
    fn name(&self) -> &Cow<'static, str> {
        &self.label
    }
}

impl<S: MutationState> Mutator<BytesInput, S> for RuleMutator {
    fn mutate(&mut self, state: &mut S, input: &mut BytesInput) -> Result<MutationResult, Error> {
        let limit = state.max_size();
        let changed = self.rule.apply(input.as_mut(), limit, state.rand_mut());
        Ok(if changed { MutationResult::Mutated } else { MutationResult::Skipped })
    }

    fn post_exec(&mut self, _state: &mut S, _new_corpus_id: Option<CorpusId>) -> Result<(), Error> {
        Ok(())
    }
}

/// Implements the contract of [`Rule::apply`] for a `change` that keeps to `limit`.
pub(super) fn within(bytes: &mut Vec<u8>, limit: usize, change: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
    if limit == 0 {
        return false;
    }
    let cut = bytes.len() > limit;
    bytes.truncate(limit);
    let changed = change(bytes);
    debug_assert!(bytes.len() <= limit, "{} bytes, the limit is {limit}", bytes.len());
    changed || cut
}

/// Declares a built-in rule as a static [`BuiltIn`] named `$item` that runs the function `$name`.
///
/// The example comes from the same literals as the documentation, and a test searches for a seed that turns the left
/// side into the right one.
macro_rules! rule {
    ($(#[$meta:meta])* $item:ident: $label:literal $name:ident, aims at $aim:literal, $before:literal => $after:literal) => {
        #[doc = concat!($label, " `", stringify!($name), "`: `", stringify!($before), "` -> `", stringify!($after), "`")]
        #[doc = ""]
        #[doc = concat!("Aims at: ", $aim, ".")]
        #[doc = ""]
        $(#[$meta])*
        pub static $item: $crate::rule::BuiltIn = $crate::rule::BuiltIn {
            label: $label,
            name: stringify!($name),
            aim: $aim,
            before: $before,
            after: $after,
            // a closure, so that the function may take a slice if it needs no vector
            change: |bytes, limit, rand| $name(bytes, limit, rand),
        };
    };
}

pub(super) use rule;

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
