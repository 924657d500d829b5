//! Preparation of an entry for the rare branch of a round: trims it, and computes its mask as far as the budget of the
//! round allows.

use libafl::{
    Error,
    corpus::Corpus,
    executors::HasObservers,
    inputs::BytesInput,
    state::{HasCorpus, HasMaxSize},
};

use super::{Work, checks::are_failed, operators::Own};
use crate::{
    EntryId,
    corpus::search_state::Masking,
    evaluate::{Campaign, Parts, probe, see_trimmed},
    hooks::CampaignHooks,
    mask::{Computation, HitsBranch, Probe, cache::Prepared, trim::trim},
    origin::Origin,
};
use quagmire_execution::abi::Status;

/// Probes for a mask in one round, of an entry that costs no more than the baseline. The rest is done in later rounds.
const PROBES: f64 = 4096.0;
/// Probes for a mask in one round, of the most expensive entries.
const FEWEST_PROBES: f64 = 32.0;

/// Probes for trimming an entry, once; fewer for expensive ones.
const TRIMS: f64 = 1024.0;

/// Sum of the prices of probes that ended early at which the computation of a mask is given up; see [`price`].
const PATIENCE: u32 = 32;

/// Price of a probe, by how it ended: a hang has taken the whole hang timeout, and a crash in this process (runs are
/// not `elsewhere`) costs a restart.
fn price(status: Status, elsewhere: bool) -> u32 {
    match status {
        Status::Returned | Status::Rejected => 0,
        Status::Crashed | Status::Exited => u32::from(!elsewhere),
        Status::Hung | Status::Memory => PATIENCE / 4,
    }
}

/// Number of runs in one of which an entry has to reach its goal again; otherwise the goal is set aside.
const RUNS: usize = 3;

/// LibAFL stage that prepares the entry of a round with a goal.
pub struct PrepareStage {
    /// Number of the rules; the numbers of [`Own`] follow theirs.
    rules: usize,
    input: BytesInput,
}

impl PrepareStage {
    /// Creates a stage for a campaign with `rules` rules.
    pub fn new(rules: usize) -> Self {
        Self { rules, input: BytesInput::new(Vec::new()) }
    }

    fn probe<C: Campaign>(
        &self,
        parts: &mut Parts<'_, C>,
        entry: EntryId,
        own: Own,
        input: &BytesInput,
        goal: HitsBranch,
    ) -> Result<Probe, Error> {
        let origin = Origin::Mutant { parent: entry, operators: &[own.number(self.rules)] };
        let answer = probe(parts, &origin, input, &goal)?;
        // mutants are made from the trimmed input: all of them would end early or be rejected with it
        let is_base = own == Own::Trim && answer.is_satisfied();
        let is_usable = !is_base || parts.executor.observers().0.status() == Status::Returned;
        Ok(if is_usable { answer } else { Probe::Missed })
    }

    /// Bytes of the entry as it is. `None`, if its runs do not reach the goal or the cache has no room.
    fn begin<C: Campaign>(
        &mut self,
        parts: &mut Parts<'_, C>,
        entry: EntryId,
        goal: HitsBranch,
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut whole = parts.state.corpus().cloned_input_for_id(entry.into())?;
        whole.as_mut().truncate(parts.state.libafl.max_size());
        if !parts.state.search.prepared.accepts(whole.as_ref().len()) {
            return Ok(None);
        }
        for _ in 0..RUNS {
            match self.probe(parts, entry, Own::Mask, &whole, goal)? {
                Probe::Satisfied => return Ok(Some(whole.into())),
                Probe::Missed => {}
                Probe::Stop => return Ok(None),
            }
        }
        parts.state.search.rare.set_aside(goal.0);
        Ok(None)
    }

    fn make_ready<C: Campaign>(
        &mut self,
        parts: &mut Parts<'_, C>,
        entry: EntryId,
        goal: HitsBranch,
    ) -> Result<(), Error> {
        let cost = parts.state.hooks.relative_cost(entry).max(1.0);
        let Masking { no_mask, no_trim, .. } = parts.state.search.masking;
        let limit = parts.state.libafl.max_size();
        parts.state.search.prepared.begin_round();
        let known = parts.state.search.prepared.take(entry, goal);
        // an earlier session may have had a larger limit
        let known = known.filter(|known| known.input.len() <= limit);
        let mut scratch = Vec::new();
        let mut prepared = match known {
            Some(known) => known,
            None => {
                let Some(mut input) = self.begin(parts, entry, goal)? else {
                    parts.state.search.goal = None;
                    return Ok(());
                };
                // a generator would draw something else from what is behind a deleted part
                let draws = see_trimmed(parts, &mut input)?;
                let is_drawn = parts.is_drawn();
                if !no_trim && !is_drawn {
                    let mut probes = 0;
                    let budget = (TRIMS / cost).max(FEWEST_PROBES) as u64;
                    self.with_budget(parts, (entry, Own::Trim, goal), budget, |probe| {
                        probes = trim(&mut input, &mut scratch, probe);
                    })?;
                    parts.state.search.masks.trims += probes;
                }
                // probes would fail them nearly everywhere
                let no_mask = no_mask || are_failed(entry, parts.state);
                let search = &mut parts.state.search;
                if !no_mask {
                    search.masks.computed += 1;
                    search.masks.bytes += input.len() as u64;
                }
                let parent = parts.state.hooks.parent(entry);
                let computation = if no_mask {
                    Computation::everything(input.len())
                } else if let Some(draws) = draws {
                    Computation::of_draws(input.len(), draws.draw_ranges().map(|(_, range)| range).collect())
                } else {
                    parent
                        .and_then(|parent| search.prepared.get(parent, goal))
                        .and_then(|of_parent| Computation::inherit(&input, &of_parent.input, &of_parent.computation))
                        .unwrap_or_else(|| Computation::new(input.len()))
                };
                Prepared { input, computation, lost: 0, walked: 0 }
            }
        };
        if prepared.lost < PATIENCE && !prepared.computation.is_complete() {
            let Prepared { input, computation, .. } = &mut prepared;
            let before = computation.probes();
            let budget = (PROBES / cost).max(FEWEST_PROBES) as u64;
            let lost = self.with_budget(parts, (entry, Own::Mask, goal), budget, |probe| {
                computation.go_on(input, &mut scratch, |bytes, _| probe(bytes));
            })?;
            prepared.lost += lost;
            let search = &mut parts.state.search;
            // half of a mask is of use as it is: no more time goes into the rest
            if prepared.lost >= PATIENCE && prepared.computation.known() * 2 > prepared.input.len() {
                prepared.computation.give_up();
            }
            search.masks.probes += prepared.computation.probes() - before;
        }
        parts.state.search.prepared.put(entry, goal, prepared);
        Ok(())
    }

    /// Calls `work` with a probe that returns [`Probe::Stop`] after `budget` probes, or when the price of early ends
    /// is too high. Returns that price.
    fn with_budget<C: Campaign>(
        &mut self,
        parts: &mut Parts<'_, C>,
        (entry, own, goal): (EntryId, Own, HitsBranch),
        budget: u64,
        work: impl FnOnce(&mut dyn FnMut(&mut Vec<u8>) -> Probe),
    ) -> Result<u32, Error> {
        let mut input = std::mem::replace(&mut self.input, BytesInput::new(Vec::new()));
        let (mut left, mut failed, mut lost) = (budget, None, 0);
        let (limit, is_isolated) = (parts.state.libafl.max_size(), parts.state.is_isolated);
        work(&mut |bytes| {
            if left == 0 || failed.is_some() || lost >= PATIENCE {
                return Probe::Stop;
            }
            left -= 1;
            // an insertion into a large input pushes its end out: the target would not see it, and the bytes that are
            // kept have to be the bytes that were run
            bytes.truncate(limit);
            std::mem::swap(input.as_mut(), bytes);
            let result = self.probe(parts, entry, own, &input, goal);
            std::mem::swap(input.as_mut(), bytes);
            // after an early end in this process, nothing is run any more
            if !matches!(result, Ok(Probe::Stop)) {
                lost += price(parts.executor.observers().0.status(), is_isolated);
            }
            result.unwrap_or_else(|error| {
                failed = Some(error);
                Probe::Stop
            })
        });
        self.input = input;
        failed.map_or(Ok(lost), Err)
    }
}

impl Work for PrepareStage {
    fn perform<C: Campaign>(&mut self, entry: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        parts.state.search.goal.map_or(Ok(()), |goal| self.make_ready(parts, entry, goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_cost_patience_where_they_cost_a_restart() {
        let prices = |elsewhere| {
            [Status::Returned, Status::Rejected, Status::Crashed, Status::Exited, Status::Hung]
                .map(|status| price(status, elsewhere))
        };
        assert_eq!(prices(false), [0, 0, 1, 1, PATIENCE / 4]);
        assert_eq!(prices(true), [0, 0, 0, 0, PATIENCE / 4]);
    }
}
