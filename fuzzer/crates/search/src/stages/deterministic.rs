//! Deterministic stage, as in FairFuzz: tries every value at every position that may be overwritten, and before every
//! position at which bytes may be inserted. Positions after bytes that matter come first: the byte after the beginning
//! of a keyword is its next letter.

use std::cmp::Reverse;

use libafl::{
    Error,
    inputs::BytesInput,
    state::{HasExecutions, HasMaxSize, HasRand},
};
use libafl_bolts::rands::Rand;

use super::{Work, checks::are_failed, operators::Own};
use crate::{
    EntryId,
    corpus::finds::Finds,
    evaluate::{Campaign, Parts, probe, run_shadow},
    hooks::CampaignHooks,
    mask::{HitsBranch, cache::Prepared},
    origin::Origin,
};
use quagmire_mutators::{
    kinds::Source,
    mask::{Edit, Mask},
};

/// Size up to which inputs are handled, in bytes; larger ones are left to havoc.
const LONGEST: usize = 256;

/// Mutants in one round, of an input that costs no more than the baseline; fewer for expensive ones.
const MUTANTS: f64 = 1024.0;
const FEWEST_MUTANTS: f64 = 16.0;

/// Mutants of the stage, as long as they find less than others do: so many at first, and this share of all executions.
const FIRST_RUNS: f64 = 8192.0;
const POOR_SHARE: f64 = 1.0 / 16.0;

/// Mutants of one position: 256 values that overwrite it, and 256 that are inserted before it.
const PER_POSITION: u64 = 512;

/// Order in which positions are tried: first those that directly follow a byte that may not be overwritten, the last
/// ones first; then the others by their distance behind such a byte; at last those before the first such byte, in
/// ascending order.
fn order(mask: &Mask) -> Vec<usize> {
    let mut order: Vec<(usize, Reverse<usize>)> = Vec::with_capacity(mask.length() + 1);
    let mut since = usize::MAX;
    for at in 0..=mask.length() {
        order.push((since, Reverse(if since == usize::MAX { mask.length() - at } else { at })));
        since = if mask.allows(Edit::Overwrite, at) { since.saturating_add(1) } else { 0 };
    }
    order.sort_unstable();
    let place = |(since, Reverse(at))| if since == usize::MAX { mask.length() - at } else { at };
    order.into_iter().map(place).collect()
}

/// Writes mutant `number` (0 to 511) of a position into `result`. Returns false if the mask does not allow it, or it
/// would change nothing.
fn step(input: &[u8], mask: &Mask, position: usize, number: u64, result: &mut Vec<u8>) -> bool {
    let value = (number % 256) as u8;
    let overwrites = number < 256;
    let edit = if overwrites { Edit::Overwrite } else { Edit::Insert };
    if !mask.allows(edit, position) || (overwrites && input.get(position) == Some(&value)) {
        return false;
    }
    result.clear();
    result.extend_from_slice(&input[..position]);
    result.push(value);
    result.extend_from_slice(&input[position + usize::from(overwrites)..]);
    true
}

/// LibAFL stage that makes these mutants in rounds with a rare branch as goal.
pub struct DeterministicStage {
    rules: usize,
    is_used: bool,
    input: BytesInput,
}

impl DeterministicStage {
    /// Creates a stage for a campaign with `rules` rules. If `is_used` is false, it does nothing.
    pub fn new(rules: usize, is_used: bool) -> Self {
        Self { rules, is_used, input: BytesInput::new(Vec::new()) }
    }

    /// Continues with the mutants of an entry where the last round stopped.
    fn go_on<C: Campaign>(
        &mut self,
        parts: &mut Parts<'_, C>,
        entry: EntryId,
        goal: HitsBranch,
        prepared: &mut Prepared,
    ) -> Result<(), Error> {
        let all = Finds { runs: *parts.state.executions(), kept: parts.state.search.with_new_edges };
        let walked = parts.state.search.walked;
        if !walked.is_as_good_as(&all) && walked.runs as f64 >= FIRST_RUNS + POOR_SHARE * all.runs as f64 {
            return Ok(());
        }
        let Prepared { input, computation, walked: at, .. } = prepared;
        let mask = computation.mask();
        let order = order(mask);
        let cost = parts.state.hooks.relative_cost(entry).max(1.0);
        let mut left = (MUTANTS / cost).max(FEWEST_MUTANTS) as u64;
        let everything = Mask::everything(input.len());
        let shadow = parts.state.search.masking.shadow;
        while left > 0 && !parts.state.is_interrupted() {
            let Some(&position) = order.get((*at / PER_POSITION) as usize) else { return Ok(()) };
            let number = *at % PER_POSITION;
            *at += 1;
            if !step(input, mask, position, number, self.input.as_mut())
                || self.input.as_ref().len() > parts.state.libafl.max_size()
            {
                continue;
            }
            left -= 1;
            let origin = Origin::Mutant { parent: entry, operators: &[Own::Deterministic.number(self.rules)] };
            let before = parts.state.search.with_new_edges;
            let hit = probe(parts, &origin, &self.input, &goal)?.is_satisfied();
            let search = &mut parts.state.search;
            search.walked.count(search.with_new_edges > before);
            if shadow {
                parts.state.search.shadow.count(Source::Deterministic, true, hit);
                let anywhere = parts.state.libafl.rand_mut().below_or_zero(input.len() + 1);
                if step(input, &everything, anywhere, number, self.input.as_mut())
                    && let Some(hit) = run_shadow(parts, &self.input, &goal)?
                {
                    parts.state.search.shadow.count(Source::Deterministic, false, hit);
                }
            }
        }
        Ok(())
    }
}

impl Work for DeterministicStage {
    fn perform<C: Campaign>(&mut self, entry: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let Some(goal) = parts.state.search.goal.filter(|_| self.is_used) else { return Ok(()) };
        // nearly all mutants would fail them, and none is put right here
        if are_failed(entry, parts.state) {
            return Ok(());
        }
        let Some(mut prepared) = parts.state.search.prepared.take(entry, goal) else { return Ok(()) };
        let result = if prepared.computation.is_complete() && prepared.input.len() <= LONGEST {
            self.go_on(parts, entry, goal, &mut prepared)
        } else {
            Ok(())
        };
        parts.state.search.prepared.put(entry, goal, prepared);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_byte_that_matters_comes_first() {
        let mut mask = Mask::everything(6);
        assert_eq!(order(&mask), [0, 1, 2, 3, 4, 5, 6]);
        mask = Mask::nothing(6);
        mask.allow(Edit::Overwrite, 0..1);
        mask.allow(Edit::Overwrite, 3..6);
        // bytes 1 and 2 matter
        assert_eq!(order(&mask), [3, 2, 4, 5, 6, 0, 1]);
    }

    #[test]
    fn each_step_is_one_edit_that_the_mask_allows() {
        let mut mask = Mask::nothing(2);
        mask.allow(Edit::Overwrite, 1..2);
        mask.allow(Edit::Insert, 2..3);
        let mut made = std::collections::BTreeSet::new();
        let mut result = Vec::new();
        for position in 0..3 {
            for number in 0..PER_POSITION {
                if step(b"ab", &mask, position, number, &mut result) {
                    made.insert(result.clone());
                }
            }
        }
        assert_eq!(made.len(), 255 + 256);
        assert!(made.contains(&b"ax"[..]) && made.contains(&b"abx"[..]) && !made.contains(&b"ab"[..]));
    }
}
