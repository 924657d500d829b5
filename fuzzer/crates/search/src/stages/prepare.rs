//! Makes an entry ready for the round's target: trims it, and computes its mask as far as the round's budget goes.

use libafl::{
    Error,
    corpus::{Corpus, HasCurrentCorpusId},
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::BytesInput,
    stages::Stage,
    state::{HasCorpus, HasExecutions, HasMaxSize},
};

use super::operators::Own;
use crate::{
    EntryId,
    evaluate::{CampaignHooks, Origin, Parts, StageContext, probe::probe},
    keep::{offspring::KINDS, round::Round},
    mask::{Computation, Probe, Target, cache::Prepared, target::Goal, trim::trim},
};
use quagmire_execution::{abi::Status, executor::Observers, fork_server};

/// Probes for a mask in one round, of an input that costs no more than the baseline. What is left is done in later rounds.
const PROBES: f64 = 4096.0;
/// Probes for a mask in one round of the most expensive inputs.
const FEWEST_PROBES: f64 = 32.0;

/// Probes for trimming an input, once; fewer for expensive ones.
const TRIMS: f64 = 1024.0;

/// A mask is given up after so many probes that crashed or exited, or fewer that hung: see [`price`].
const PATIENCE: u32 = 32;

/// Share of the patience that a probe that ended so takes: a hang has taken the whole hang timeout, and a crash in this process,
/// if runs are not `elsewhere`, costs a restart.
fn price(status: Status, elsewhere: bool) -> u32 {
    match status {
        Status::Returned | Status::Rejected => 0,
        Status::Crashed | Status::Exited => u32::from(!elsewhere),
        Status::Hung | Status::Memory => PATIENCE / 4,
    }
}

/// The input of an entry hits its target again in one of so many runs, or the target is set aside.
const RUNS: usize = 3;

/// The stage that makes an entry ready.
pub struct PrepareStage<H> {
    context: StageContext<H>,
    /// Number of the rules: own operators come behind them.
    rules: usize,
    input: BytesInput,
}

impl<H: CampaignHooks> PrepareStage<H> {
    /// A stage of a campaign with so many rules.
    pub fn new(context: StageContext<H>, rules: usize) -> Self {
        Self { context, rules, input: BytesInput::new(Vec::new()) }
    }

    fn probe<E, EM, S, Z>(
        &self,
        parts: &mut Parts<'_, E, EM, S, Z>,
        entry: EntryId,
        own: Own,
        input: &BytesInput,
        goal: Goal,
    ) -> Result<Probe, Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        S: HasCorpus<BytesInput> + HasExecutions,
        Z: ExecutesInput<E, EM, BytesInput, S>,
    {
        let origin = Origin::Mutant { parent: entry, operators: &[own.number(self.rules)] };
        let answer = probe(&self.context, parts, &origin, input, goal)?;
        // what is trimmed is what mutants are made of: all of them would end early, or be rejected, with it
        let is_base = own == Own::Trim && answer.is_satisfied();
        let is_usable = !is_base || parts.executor.observers().0.status() == Status::Returned;
        Ok(if is_usable { answer } else { Probe::Missed })
    }

    /// The entry as it is, if its run satisfies the goal, and there is room for what is computed.
    fn begin<E, EM, S, Z>(
        &mut self,
        parts: &mut Parts<'_, E, EM, S, Z>,
        entry: EntryId,
        goal: Goal,
    ) -> Result<Option<Vec<u8>>, Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        S: HasCorpus<BytesInput> + HasExecutions + HasMaxSize,
        Z: ExecutesInput<E, EM, BytesInput, S>,
    {
        let mut whole = parts.state.corpus().cloned_input_for_id(entry.into())?;
        whole.as_mut().truncate(parts.state.max_size());
        if !self.context.search.borrow().prepared.accepts(entry, goal, whole.as_ref().len()) {
            return Ok(None);
        }
        for _ in 0..RUNS {
            match self.probe(parts, entry, Own::Mask, &whole, goal)? {
                Probe::Satisfied => return Ok(Some(whole.into())),
                Probe::Missed => {}
                Probe::Stop => return Ok(None),
            }
        }
        let kept = &mut *self.context.search.borrow_mut();
        match goal {
            Goal::HitsBranch(branch) => kept.rare.set_aside(branch),
            Goal::KeepsHot { .. } | Goal::KeepsCost { .. } => kept.prepared.set_aside(entry, goal),
        }
        Ok(None)
    }

    fn make_ready<E, EM, S, Z>(
        &mut self,
        parts: &mut Parts<'_, E, EM, S, Z>,
        round: Round,
        entry: EntryId,
        goal: Goal,
    ) -> Result<(), Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        S: HasCorpus<BytesInput> + HasExecutions + HasMaxSize,
        Z: ExecutesInput<E, EM, BytesInput, S>,
    {
        let cost = self.context.hooks.borrow().relative_cost(entry).max(1.0);
        let limit = parts.state.max_size();
        self.context.search.borrow_mut().prepared.begin_round();
        let known = self.context.search.borrow_mut().prepared.take(entry, goal);
        // an earlier session may have had a larger limit
        let known = known.filter(|known| known.input.len() <= limit);
        let mut scratch = Vec::new();
        let mut prepared = match known {
            Some(known) => known,
            None => {
                let Some(mut input) = self.begin(parts, entry, goal)? else {
                    self.context.search.borrow_mut().round = Round::ORDINARY;
                    return Ok(());
                };
                if round.trimmed {
                    let mut probes = 0;
                    let budget = (TRIMS / cost).max(FEWEST_PROBES) as u64;
                    self.with_budget(parts, (entry, Own::Trim, goal), budget, |probe| {
                        probes = trim(&mut input, &mut scratch, probe);
                    })?;
                    self.context.search.borrow_mut().masks.trims += probes;
                }
                let kept = &mut *self.context.search.borrow_mut();
                if round.masked {
                    kept.masks.computed += 1;
                    kept.masks.bytes += input.len() as u64;
                }
                let parent = self.context.hooks.borrow().parent(entry);
                let computation = if round.masked {
                    parent
                        .and_then(|parent| kept.prepared.of_entry(parent, |other| other.is_like(&goal)))
                        .and_then(|of_parent| Computation::inherit(&input, &of_parent.input, &of_parent.computation))
                        .unwrap_or_else(|| Computation::new(input.len()))
                } else {
                    Computation::everything(input.len())
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
            let kept = &mut *self.context.search.borrow_mut();
            if prepared.lost >= PATIENCE {
                // what is known of half of the input or more is of use
                if prepared.computation.known() * 2 > prepared.input.len() {
                    prepared.computation.give_up();
                } else if KINDS.contains(&goal.kind()) {
                    kept.prepared.set_aside(entry, goal);
                }
            }
            kept.masks.probes += prepared.computation.probes() - before;
        }
        self.context.search.borrow_mut().prepared.put(entry, goal, prepared);
        Ok(())
    }

    /// Runs `work` with a probe that counts down `budget` and says stop after that, or when patience is at an end. Returns
    /// how much of that was needed.
    fn with_budget<E, EM, S, Z>(
        &mut self,
        parts: &mut Parts<'_, E, EM, S, Z>,
        (entry, own, goal): (EntryId, Own, Goal),
        budget: u64,
        work: impl FnOnce(&mut dyn FnMut(&mut Vec<u8>) -> Probe),
    ) -> Result<u32, Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
        S: HasCorpus<BytesInput> + HasExecutions + HasMaxSize,
        Z: ExecutesInput<E, EM, BytesInput, S>,
    {
        let mut input = std::mem::replace(&mut self.input, BytesInput::new(Vec::new()));
        let (mut left, mut failed, mut lost) = (budget, None, 0);
        let limit = parts.state.max_size();
        work(&mut |bytes| {
            if left == 0 || failed.is_some() || lost >= PATIENCE {
                return Probe::Stop;
            }
            left -= 1;
            // what is inserted into a large input pushes its end out: the target would see no more than this, and what is
            // kept has to be what was run
            bytes.truncate(limit);
            std::mem::swap(input.as_mut(), bytes);
            let result = self.probe(parts, entry, own, &input, goal);
            std::mem::swap(input.as_mut(), bytes);
            // after an early end in this process, nothing is run any more
            if !matches!(result, Ok(Probe::Stop)) {
                lost += price(parts.executor.observers().0.status(), fork_server::is_used());
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

impl<E, EM, H, S, Z> Stage<E, EM, S, Z> for PrepareStage<H>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, S, Z>,
    H: CampaignHooks,
    S: HasCorpus<BytesInput> + HasCurrentCorpusId + HasExecutions + HasMaxSize,
    Z: ExecutesInput<E, EM, BytesInput, S>,
{
    fn perform(&mut self, fuzzer: &mut Z, executor: &mut E, state: &mut S, manager: &mut EM) -> Result<(), Error> {
        let round = self.context.search.borrow().round;
        let (Some(goal), Some(id)) = (round.goal, state.current_corpus_id()?) else { return Ok(()) };
        self.context.search.borrow_mut().effort.prepare(true);
        let done = self.make_ready(&mut Parts { fuzzer, executor, state, manager }, round, id.into(), goal);
        self.context.search.borrow_mut().effort.prepare(false);
        done
    }
}

begins_anew!(PrepareStage<H>);

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
