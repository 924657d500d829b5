//! Words that the program knows: what it compares a word of the input with becomes a token. Where it looks words up in a
//! table, by a hash or by their lengths, it compares few of them with any one word: so words are made up, too.

use libafl::{
    Error, HasMetadata,
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::{BytesInput, HasMutatorBytes},
    mutators::Tokens,
    observers::cmp::CmpValues,
    state::{HasMaxSize, HasRand},
};
use libafl_bolts::rands::Rand;

use super::evaluate_one;
use crate::{evaluate::Parts, hooks::CampaignHooks, origin::Origin, state::CampaignState};
use quagmire_execution::{comparisons::Comparisons, executor::Observers};
use quagmire_mutators::{input_to_state::Haystack, made_up};

/// Words that are learnt at most: tokens are drawn evenly.
const MOST: usize = 1024;

/// Mutants in which a word is made up, each time that an entry is scheduled.
const MADE_UP: usize = 8;

/// Cost of an entry up to which that is done, as a multiple of the baseline: cheap ones show the same words.
pub(super) const DEAREST: f64 = 4.0;

/// Such mutants of a campaign before any has shown a word, and further ones for each word shown.
const AT_FIRST: u64 = 512;
const FOR_EACH: u64 = 16;

/// Adds the words that `values` compare words of an input with to the tokens.
pub(super) fn learn<H>(state: &mut CampaignState<H>, haystack: &Haystack<'_>, values: &[CmpValues]) {
    for word in values.iter().flat_map(|values| haystack.words(values)) {
        let fits = state.search.words.len() < MOST && word.len() <= state.max_size();
        if fits && state.metadata_or_insert_with(Tokens::new).add_token(&word) {
            state.search.words.push(word);
        }
    }
}

/// Whether words that were made up have shown as many as it takes to go on. Not in a search that measures: runs that are recorded
/// take longer, and would be entered for that.
pub(super) fn may_make_up<H>(state: &CampaignState<H>) -> bool {
    let made_up = state.search.made_up;
    state.search.objective.noisy().is_none() && made_up.runs < AT_FIRST + FOR_EACH * made_up.kept
}

/// Evaluates mutants of an entry in which a word is made up, learns the words that the program compares it with, and puts these
/// in its place.
pub(super) fn make_up<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    comparisons: &Comparisons,
    origin: &Origin<'_>,
    whole: &BytesInput,
) -> Result<(), Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    let bytes = whole.mutator_bytes();
    let words = made_up::words(bytes);
    for _ in 0..MADE_UP {
        if words.is_empty() || parts.state.is_interrupted() || !may_make_up(parts.state) {
            break;
        }
        let range = words[parts.state.rand_mut().below_or_zero(words.len())].clone();
        let word = made_up::make_up(&bytes[range.clone()], parts.state.rand_mut());
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
