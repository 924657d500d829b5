//! Comparisons: runs an entry once with its comparisons recorded, and makes mutants in which operands that the input holds
//! are replaced by those that they were compared with. Magic numbers and keywords are found at once that way.

mod words;

use std::collections::HashSet;

use libafl::{
    Error,
    corpus::{Corpus, HasCurrentCorpusId},
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::{BytesInput, HasMutatorBytes},
    observers::cmp::CmpValues,
    stages::Stage,
    state::{HasCorpus, HasExecutions, HasMaxSize},
};
use libafl_bolts::hash_std;

use super::operators::Own;
use crate::{
    EntryId,
    corpus::finds::Finds,
    evaluate::{Parts, evaluate, probe::run_unjudged},
    hooks::CampaignHooks,
    origin::Origin,
    state::CampaignState,
};
use quagmire_execution::{comparisons::Comparisons, executor::Observers};
use quagmire_mutators::input_to_state::{Haystack, rank};

/// Size up to which entries are handled, in bytes: every operand is looked for in the whole input.
const LONGEST: usize = 64 << 10;

/// Mutants of an entry that costs no more than the baseline; fewer for expensive ones.
const MUTANTS: f64 = 256.0;
const FEWEST_MUTANTS: f64 = 16.0;

/// Share of all executions for these mutants, beside those of the first entry: if they find no less than others, and if they
/// do.
const SHARE: f64 = 1.0 / 16.0;
const POOR_SHARE: f64 = 1.0 / 64.0;

/// LibAFL stage that does so once for each entry that is scheduled, in programs that show comparisons; words are made up
/// whenever it is scheduled.
pub struct ComparisonsStage {
    comparisons: Option<Comparisons>,
    operator: u16,
    learns: bool,
    input: BytesInput,
}

impl ComparisonsStage {
    /// Creates a stage for a campaign with `rules` rules. Without `comparisons` it does nothing. If it `learns`, words that
    /// the program compares become tokens.
    pub fn new(rules: usize, comparisons: Option<Comparisons>, learns: bool) -> Self {
        Self { comparisons, operator: Own::Comparisons.number(rules), learns, input: BytesInput::new(Vec::new()) }
    }
}

/// Runs `input` with its comparisons recorded; nothing else comes of the run.
fn trace<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    comparisons: &Comparisons,
    input: &BytesInput,
) -> Result<Vec<CmpValues>, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    comparisons.begin();
    let run = run_unjudged(parts, input);
    comparisons.end();
    run?;
    parts.state.look(&parts.executor.observers().0)?;
    let mut values = comparisons.all();
    values.sort_by_key(rank);
    Ok(values)
}

/// Evaluates a mutant, unless it is too large or known to end the process, or the current work was given up. Returns whether it
/// was run.
fn evaluate_one<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    origin: &Origin<'_>,
    input: &BytesInput,
) -> Result<bool, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    let (state, bytes) = (&parts.state, input.mutator_bytes());
    if state.is_interrupted() || bytes.len() > state.max_size() || state.hooks.is_deadly(bytes) {
        return Ok(false);
    }
    let is_new = evaluate(parts, origin, input)?.has_new_edge();
    parts.state.search.replaced.count(is_new);
    parts.state.look(&parts.executor.observers().0)?;
    Ok(true)
}

/// Number of mutants that operands of an entry may be replaced in now; `None` if they were replaced before, or if all entries
/// together have had their share.
fn allowed<H: CampaignHooks>(state: &mut CampaignState<H>, entry: EntryId) -> Option<usize> {
    let replaced = state.search.replaced;
    let all = Finds { runs: *state.executions(), kept: state.search.with_new_edges };
    let share = if replaced.is_as_good_as(&all) { SHARE } else { POOR_SHARE };
    let allowed = MUTANTS + share * all.runs as f64 - replaced.runs as f64;
    let mutants = (MUTANTS / state.hooks.relative_cost(entry).max(1.0)).max(FEWEST_MUTANTS);
    // before the run: it may end this process
    (allowed >= FEWEST_MUTANTS && state.search.traced.insert(entry)).then_some(mutants.min(allowed) as usize)
}

impl ComparisonsStage {
    /// Records the comparisons of `whole`, and evaluates up to `left` mutants with other operands.
    fn replace<E, EM, H, Z>(
        &mut self,
        parts: &mut Parts<'_, E, EM, H, Z>,
        comparisons: &Comparisons,
        origin: &Origin<'_>,
        whole: &BytesInput,
        mut left: usize,
    ) -> Result<(), Error>
    where
        E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
        H: CampaignHooks,
        Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
    {
        let values = trace(parts, comparisons, whole)?;
        let mut known = HashSet::from([hash_std(whole.mutator_bytes())]);
        let haystack = Haystack::new(whole.mutator_bytes());
        if self.learns {
            words::learn(parts.state, &haystack, &values);
        }
        for replacement in values.iter().flat_map(|values| haystack.replacements(values)) {
            if left == 0 || parts.state.is_interrupted() {
                break;
            }
            replacement.apply(whole.mutator_bytes(), self.input.as_mut());
            if known.insert(hash_std(self.input.mutator_bytes())) && evaluate_one(parts, origin, &self.input)? {
                left -= 1;
            }
        }
        Ok(())
    }
}

impl<E, EM, H, Z> Stage<E, EM, CampaignState<H>, Z> for ComparisonsStage
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    fn perform(
        &mut self,
        fuzzer: &mut Z,
        executor: &mut E,
        state: &mut CampaignState<H>,
        manager: &mut EM,
    ) -> Result<(), Error> {
        let Some(comparisons) = self.comparisons.filter(Comparisons::are_called) else { return Ok(()) };
        let Some(id) = state.current_corpus_id()?.filter(|_| !state.is_interrupted()) else { return Ok(()) };
        let entry = EntryId::from(id);
        let allowed = allowed(state, entry);
        let makes_up = self.learns && words::may_make_up(state) && state.hooks.relative_cost(entry) <= words::DEAREST;
        if allowed.is_none() && !makes_up {
            return Ok(());
        }
        // an entry may have been evicted while it was prepared
        let Ok(whole) = state.corpus().cloned_input_for_id(id) else { return Ok(()) };
        if whole.mutator_bytes().len() > LONGEST || state.hooks.is_deadly(whole.mutator_bytes()) {
            return Ok(());
        }
        let mut parts = Parts { fuzzer, executor, state, manager };
        let made_by = [self.operator];
        let origin = Origin::Mutant { parent: entry, operators: &made_by };
        if let Some(allowed) = allowed {
            self.replace(&mut parts, &comparisons, &origin, &whole, allowed)?;
        }
        if makes_up {
            words::make_up(&mut parts, &comparisons, &origin, &whole)?;
        }
        Ok(())
    }
}

begins_anew!(ComparisonsStage);
