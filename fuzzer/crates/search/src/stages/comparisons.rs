//! Comparisons: runs an entry once with its comparisons recorded, and makes mutants in which operands that the input holds
//! are replaced by those that they were compared with. Magic numbers and keywords are found at once that way. In a campaign that
//! looks for memory, numbers from which the size of an allocation follows are raised as well.

use std::collections::HashSet;

use libafl::{
    Error, HasMetadata,
    corpus::Corpus,
    executors::HasObservers,
    inputs::{BytesInput, HasMutatorBytes},
    mutators::Tokens,
    observers::cmp::CmpValues,
    state::{HasCorpus, HasExecutions, HasMaxSize, HasRand},
};
use libafl_bolts::{hash_std, rands::Rand};

use super::{Work, operators::Own};
use crate::{
    EntryId,
    corpus::finds::Finds,
    evaluate::{Campaign, Parts, evaluate, run_unjudged},
    hooks::CampaignHooks,
    origin::Origin,
    state::CampaignState,
};
use quagmire_execution::comparisons::Comparisons;
use quagmire_mutators::{
    input_to_state::{Haystack, rank},
    made_up,
};

/// Size up to which entries are handled, in bytes: every operand is looked for in the whole input.
const LONGEST: usize = 64 << 10;

/// Mutants of an entry that costs no more than the baseline; fewer for expensive ones.
const MUTANTS: f64 = 256.0;
const FEWEST_MUTANTS: f64 = 16.0;

/// Sizes of allocations that are looked for in an entry: each may be made of many numbers.
const MOST_SIZES: usize = 64;

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
fn trace<C: Campaign>(
    parts: &mut Parts<'_, C>,
    comparisons: &Comparisons,
    input: &BytesInput,
) -> Result<Vec<CmpValues>, Error> {
    if parts.executor.observers().0.follows_heap() {
        comparisons.begin_with_sizes();
    } else {
        comparisons.begin();
    }
    let run = run_unjudged(parts, input);
    comparisons.end();
    run?;
    parts.look()?;
    let mut values = comparisons.all();
    values.sort_by_key(rank);
    Ok(values)
}

/// Evaluates a mutant, unless it is too large or left out, or the current work was given up. Returns whether it was run.
fn evaluate_one<C: Campaign>(parts: &mut Parts<'_, C>, origin: &Origin<'_>, input: &BytesInput) -> Result<bool, Error> {
    let (state, bytes) = (&parts.state, input.mutator_bytes());
    if state.is_interrupted() || bytes.len() > state.libafl.max_size() || state.hooks.is_left_out(bytes) {
        return Ok(false);
    }
    let is_new = evaluate(parts, origin, input)?.has_new_edge();
    parts.state.search.replaced.count(is_new);
    parts.look()?;
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
    fn replace<C: Campaign>(
        &mut self,
        parts: &mut Parts<'_, C>,
        comparisons: &Comparisons,
        origin: &Origin<'_>,
        whole: &BytesInput,
        mut left: usize,
    ) -> Result<(), Error> {
        let values = trace(parts, comparisons, whole)?;
        let mut known = HashSet::from([hash_std(whole.mutator_bytes())]);
        let haystack = Haystack::new(whole.mutator_bytes());
        if self.learns {
            learn(parts.state, &haystack, &values);
        }
        let compared = values.iter().flat_map(|values| haystack.replacements(values));
        let mut sizes = comparisons.sizes();
        sizes.truncate(MOST_SIZES);
        let allocated = sizes.iter().flat_map(|&size| haystack.enlarged(size));
        for replacement in compared.chain(allocated) {
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

impl Work for ComparisonsStage {
    fn perform<C: Campaign>(&mut self, entry: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let follows_heap = parts.executor.observers().0.follows_heap();
        let is_used = |comparisons: &Comparisons| comparisons.are_called() || follows_heap;
        let Some(comparisons) = self.comparisons.filter(is_used) else { return Ok(()) };
        let state = &mut *parts.state;
        let allowed = allowed(state, entry);
        let makes_up = self.learns && may_make_up(state) && state.hooks.relative_cost(entry) <= DEAREST;
        if allowed.is_none() && !makes_up {
            return Ok(());
        }
        // an entry may have been evicted while it was prepared
        let Ok(whole) = state.corpus().cloned_input_for_id(entry.into()) else { return Ok(()) };
        if whole.mutator_bytes().len() > LONGEST || state.hooks.is_left_out(whole.mutator_bytes()) {
            return Ok(());
        }
        let made_by = [self.operator];
        let origin = Origin::Mutant { parent: entry, operators: &made_by };
        if let Some(allowed) = allowed {
            self.replace(parts, &comparisons, &origin, &whole, allowed)?;
        }
        if makes_up {
            make_up(parts, &comparisons, &origin, &whole)?;
        }
        Ok(())
    }
}

/// Words that are learnt at most: tokens are drawn evenly.
const MOST: usize = 1024;

/// Mutants in which a word is made up, each time that an entry is scheduled.
const MADE_UP: usize = 8;

/// Cost of an entry up to which that is done, as a multiple of the baseline: cheap ones show the same words.
const DEAREST: f64 = 4.0;

/// Such mutants of a campaign before any has shown a word, and further ones for each word shown.
const AT_FIRST: u64 = 512;
const FOR_EACH: u64 = 16;

/// Adds the words that `values` compare words of an input with to the tokens.
fn learn<H>(state: &mut CampaignState<H>, haystack: &Haystack<'_>, values: &[CmpValues]) {
    for word in values.iter().flat_map(|values| haystack.words(values)) {
        let fits = state.search.words.len() < MOST && word.len() <= state.libafl.max_size();
        if fits && state.metadata_or_insert_with(Tokens::new).add_token(&word) {
            state.search.words.push(word);
        }
    }
}

/// Whether words that were made up have shown as many as it takes to go on. Not in a search that measures: runs that are recorded
/// take longer, and would be entered for that.
fn may_make_up<H>(state: &CampaignState<H>) -> bool {
    let made_up = state.search.made_up;
    state.search.objective.noisy().is_none() && made_up.runs < AT_FIRST + FOR_EACH * made_up.kept
}

/// Evaluates mutants of an entry in which a word is made up, learns the words that the program compares it with, and puts these
/// in its place.
fn make_up<C: Campaign>(
    parts: &mut Parts<'_, C>,
    comparisons: &Comparisons,
    origin: &Origin<'_>,
    whole: &BytesInput,
) -> Result<(), Error> {
    let bytes = whole.mutator_bytes();
    let words = made_up::words(bytes);
    for _ in 0..MADE_UP {
        if words.is_empty() || parts.state.is_interrupted() || !may_make_up(parts.state) {
            break;
        }
        let range = words[parts.state.libafl.rand_mut().below_or_zero(words.len())].clone();
        let word = made_up::make_up(&bytes[range.clone()], parts.state.libafl.rand_mut());
        let with = |word: &[u8]| BytesInput::new([&bytes[..range.start], word, &bytes[range.end..]].concat());
        let input = with(&word);
        comparisons.begin();
        let run = evaluate_one(parts, origin, &input);
        comparisons.end();
        if !run? {
            continue;
        }
        let before = parts.state.search.words.len();
        learn(parts.state, &Haystack::new(input.mutator_bytes()), &comparisons.all());
        let learnt = parts.state.search.words[before..].to_vec();
        parts.state.search.made_up.runs += 1;
        parts.state.search.made_up.kept += learnt.len() as u64;
        for word in &learnt {
            evaluate_one(parts, origin, &with(word))?;
        }
    }
    Ok(())
}
