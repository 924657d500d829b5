//! Checks: equality of two numbers that the program has read or computed, such as a checksum and the one in the input. Nearly every
//! mutation breaks them, and what lies behind is not reached. A mutant that fails a check which its parent passes gets the
//! number that is wanted.

use std::{collections::HashSet, iter};

use libafl::{
    Error,
    inputs::{BytesInput, HasMutatorBytes},
    state::{HasExecutions, HasMaxSize},
};
use libafl_bolts::hash_std;

use super::operators::Own;
use crate::{
    EntryId,
    corpus::search_state::SearchState,
    evaluate::{Campaign, Evaluation, Parts, evaluate, run_unjudged},
    hooks::CampaignHooks,
    origin::Origin,
    state::CampaignState,
};
use quagmire_execution::comparisons::Comparisons;
use quagmire_mutators::input_to_state::Haystack;

/// Mutants of an entry that are watched before it is settled whether others are.
const SAMPLE: u32 = 8;

/// Checks of one mutant that are put right, one after the other.
const MOST_IN_TURN: usize = 4;

/// How the mutants of a round are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Off,
    /// So many more, unless one fails a check.
    Sample(u32),
    On,
}

/// Watches mutants for the checks that they fail.
pub struct Checks {
    comparisons: Comparisons,
    operator: u16,
    /// Parent of the mutants of the round.
    parent: Option<EntryId>,
    /// Places where numbers differ in the parent too.
    differ: HashSet<u32>,
    watch: Watch,
}

/// Whether mutants of an entry fail checks that can be put right, or those of the next ancestor of which it is known.
pub fn are_failed<H: CampaignHooks>(entry: EntryId, state: &CampaignState<H>) -> bool {
    let mut line = iter::successors(Some(entry), |&entry| state.hooks.parent(entry));
    line.find_map(|entry| state.search.checks.fails(entry)).unwrap_or(false)
}

impl Checks {
    /// Creates it for a campaign with `rules` rules.
    pub fn new(rules: usize, comparisons: Comparisons) -> Self {
        Self {
            comparisons,
            operator: Own::Comparisons.number(rules),
            parent: None,
            differ: HashSet::new(),
            watch: Watch::Off,
        }
    }

    /// Begins a round of mutants of `bytes`, made from the entry `parent`. Runs them once if mutants are to be watched.
    pub fn begin<C: Campaign>(&mut self, parent: EntryId, bytes: &[u8], parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let executions = *parts.state.executions();
        let checks = &mut parts.state.search.checks;
        let may_run = checks.may_put_right(executions);
        self.parent = Some(parent);
        self.watch = match checks.fails(parent) {
            Some(false) => Watch::Off,
            Some(true) => Watch::On,
            None if checks.samples_next() => Watch::Sample(SAMPLE),
            None => Watch::Off,
        };
        // runs that are watched take longer
        let is_timed = parts.state.search.objective.noisy().is_some();
        let is_used = may_run && self.comparisons.are_called() && !is_timed && !parts.state.is_interrupted();
        if self.watch == Watch::Off || !is_used || parts.state.hooks.is_left_out(bytes) {
            self.watch = Watch::Off;
            return Ok(());
        }
        self.comparisons.begin();
        let run = run_unjudged(parts, &BytesInput::new(bytes.to_vec()));
        self.comparisons.end();
        run?;
        self.differ = self.comparisons.checks().map(|(place, _)| place).collect();
        parts.look()?;
        Ok(())
    }

    /// Evaluates a mutant, and puts checks right that it fails. `input` becomes what was run last, and `operators` what
    /// made it. Returns the last evaluation of those that were entered, or of all.
    pub fn evaluate<C: Campaign>(
        &mut self,
        parent: EntryId,
        operators: &mut Vec<u16>,
        input: &mut BytesInput,
        parts: &mut Parts<'_, C>,
    ) -> Result<Evaluation, Error> {
        if self.watch == Watch::Off {
            return evaluate(parts, &Origin::Mutant { parent, operators }, input);
        }
        let mut known = HashSet::from([hash_std(input.mutator_bytes())]);
        let mut last = self.recorded(parent, operators, input, parts)?;
        parts.state.search.checks.count_plain(last.entry.is_some());
        for _ in 0..MOST_IN_TURN {
            if parts.state.is_interrupted() {
                break;
            }
            let Some(bytes) = self.put_right(input.mutator_bytes(), parts.state.libafl.max_size(), &mut known) else {
                break;
            };
            if parts.state.hooks.is_left_out(&bytes) || parts.look()? {
                break;
            }
            self.settle(true, &mut parts.state.search);
            *input = BytesInput::new(bytes);
            if operators.last() != Some(&self.operator) {
                operators.push(self.operator);
            }
            let next = self.recorded(parent, operators, input, parts)?;
            parts.state.search.checks.count_right(next.entry.is_some());
            if next.entry.is_some() || last.entry.is_none() {
                last = next;
            }
        }
        if let Watch::Sample(left) = self.watch {
            self.watch = Watch::Sample(left - 1);
            if left == 1 {
                self.settle(false, &mut parts.state.search);
            }
        }
        Ok(last)
    }

    /// Notes whether mutants of the parent fail checks.
    fn settle(&mut self, fails: bool, search: &mut SearchState) {
        self.watch = if fails { Watch::On } else { Watch::Off };
        if let Some(parent) = self.parent {
            search.checks.settle(parent, fails);
        }
    }

    /// Evaluates an input with its comparisons recorded.
    fn recorded<C: Campaign>(
        &self,
        parent: EntryId,
        operators: &[u16],
        input: &BytesInput,
        parts: &mut Parts<'_, C>,
    ) -> Result<Evaluation, Error> {
        self.comparisons.begin();
        let evaluation = evaluate(parts, &Origin::Mutant { parent, operators }, input);
        self.comparisons.end();
        evaluation
    }

    /// Returns the input with the number that the last failed check wants, if it is one that the parent does
    /// not fail, the input has the other number, and the result is not known.
    fn put_right(&self, bytes: &[u8], max_size: usize, known: &mut HashSet<u64>) -> Option<Vec<u8>> {
        let failed = self.comparisons.checks().filter(|(place, _)| !self.differ.contains(place));
        let failed: Vec<_> = failed.map(|(_, values)| values).collect();
        if failed.is_empty() {
            return None;
        }
        let haystack = Haystack::new(bytes);
        let replacements = failed.iter().rev().flat_map(|values| haystack.replacements(values));
        let results = replacements.map(|replacement| {
            let mut result = Vec::new();
            replacement.apply(bytes, &mut result);
            result
        });
        results.filter(|result| result.len() <= max_size).find(|result| known.insert(hash_std(result)))
    }
}
