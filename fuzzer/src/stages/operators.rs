//! What makes mutants: Perun's rules beside LibAFL's havoc, splicing and tokens, and how they are mixed.

use std::num::NonZeroUsize;

use libafl::{
    Error,
    inputs::BytesInput,
    mutators::{MutationResult, Mutator},
    state::{HasCorpus, HasMaxSize, HasRand},
};
use libafl_bolts::rands::{Rand, StdRand};

use crate::{
    mutators::{
        adaptor::RuleMutator,
        havoc::{havoc, splice, tokens},
        rule::Rule,
    },
    output::summary,
};

/// Weights of the four kinds in the choice of a mutation. Rules and havoc share most of it evenly: rules make the large,
/// structured steps that cost needs, havoc the small blind ones that coverage needs.
const RULES: usize = 10;
const HAVOC: usize = 7;
const SPLICE: usize = 2;
const TOKENS: usize = 3;

/// A chain of mutations ends after each link with this chance (of 4), and after this many links at the latest.
const END_CHANCE_OF_4: usize = 2;
const LONGEST_CHAIN: usize = 6;

/// All mutation operators of a campaign. Their numbers are the numbers of the rules in the record.
pub struct Operators<S> {
    all: Vec<Box<dyn Mutator<BytesInput, S>>>,
    /// Rules come first.
    rules: usize,
    has_tokens: bool,
}

impl<S> Operators<S>
where
    S: HasRand<Rand = StdRand> + HasMaxSize + HasCorpus<BytesInput> + libafl::HasMetadata + 'static,
{
    /// The given rules, and LibAFL's mutations; tokens only if the state has some.
    pub fn new(rules: &[std::sync::Arc<dyn Rule>], has_tokens: bool) -> Self {
        let mut all: Vec<Box<dyn Mutator<BytesInput, S>>> = Vec::new();
        for rule in rules {
            all.push(Box::new(RuleMutator::new(rule.clone())));
        }
        all.push(Box::new(havoc()));
        all.push(Box::new(splice()));
        all.push(Box::new(tokens()));
        Self { all, rules: rules.len(), has_tokens }
    }

    /// How the operators appear in results, in the order of their numbers.
    pub fn statistics(&self, rules: &[std::sync::Arc<dyn Rule>]) -> Vec<summary::Rule> {
        let one = |label: &str, name: &str| summary::Rule {
            label: label.to_owned(),
            name: name.to_owned(),
            applied: 0,
            coverage_increases: 0,
            degradations: 0,
        };
        let libafl = [("havoc", "havoc"), ("splice", "splice"), ("tokens", "tokens")];
        rules
            .iter()
            .map(|rule| one(rule.label(), rule.name()))
            .chain(libafl.map(|(label, name)| one(label, name)))
            .collect()
    }

    fn choose(&self, rand: &mut StdRand) -> usize {
        let rules = if self.rules == 0 { 0 } else { RULES };
        let tokens = if self.has_tokens { TOKENS } else { 0 };
        let Some(total) = NonZeroUsize::new(rules + HAVOC + SPLICE + tokens) else { return self.rules };
        let draw = rand.below(total);
        if draw < rules {
            return rand.below_or_zero(self.rules);
        }
        let draw = draw - rules;
        self.rules + usize::from(draw >= HAVOC) + usize::from(draw >= HAVOC + SPLICE)
    }

    /// Changes `input` by a random chain of mutations and puts their numbers into `applied`. Whether anything changed.
    pub fn mutate(&mut self, state: &mut S, input: &mut BytesInput, applied: &mut Vec<u16>) -> Result<bool, Error> {
        applied.clear();
        for _ in 0..LONGEST_CHAIN {
            let operator = self.choose(state.rand_mut());
            if self.all[operator].mutate(state, input)? == MutationResult::Mutated {
                applied.push(operator as u16);
            }
            if state.rand_mut().below_or_zero(4) < END_CHANCE_OF_4 && !applied.is_empty() {
                break;
            }
        }
        Ok(!applied.is_empty())
    }
}
