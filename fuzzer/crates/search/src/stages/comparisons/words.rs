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

use crate::{
    evaluate::{Parts, evaluate},
    hooks::CampaignHooks,
    origin::Origin,
    state::CampaignState,
};
use quagmire_execution::{comparisons::Comparisons, executor::Observers};
use quagmire_mutators::{input_to_state::Haystack, made_up};

/// Words that are learnt at most: tokens are drawn evenly.
const MOST: usize = 1024;

/// Mutants of an entry in which a word is made up.
const MADE_UP: usize = 8;

/// Such mutants of a campaign before any has shown a word, and further ones for each word shown.
const AT_FIRST: u64 = 256;
const FOR_EACH: u64 = 32;

/// Adds the words that `values` compare words of an input with to the tokens. Returns how many are new.
pub(super) fn learn<H>(state: &mut CampaignState<H>, haystack: &Haystack<'_>, values: &[CmpValues]) -> u64 {
    let before = state.search.words.len();
    for word in values.iter().flat_map(|values| haystack.words(values)) {
        let fits = state.search.words.len() < MOST && word.len() <= state.max_size();
        if fits && state.metadata_or_insert_with(Tokens::new).add_token(&word) {
            state.search.words.push(word);
        }
    }
    (state.search.words.len() - before) as u64
}

/// Evaluates mutants of an entry in which a word is made up, and learns the words that the program compares it with.
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
    let words = made_up::words(whole.mutator_bytes());
    let mut input = BytesInput::new(Vec::new());
    for _ in 0..MADE_UP {
        let made_up = parts.state.search.made_up;
        if words.is_empty() || parts.state.is_interrupted() || made_up.runs >= AT_FIRST + FOR_EACH * made_up.kept {
            break;
        }
        made_up::replace_one(whole.mutator_bytes(), &words, parts.state.rand_mut(), input.as_mut());
        let bytes = input.mutator_bytes();
        if bytes.len() > parts.state.max_size() || parts.state.hooks.is_deadly(bytes) {
            continue;
        }
        comparisons.begin();
        let run = evaluate(parts, origin, &input);
        comparisons.end();
        let is_kept = run?.entry.is_some();
        parts.state.search.replaced.count(is_kept);
        let learnt = learn(parts.state, &Haystack::new(input.mutator_bytes()), &comparisons.all());
        let made_up = &mut parts.state.search.made_up;
        made_up.runs += 1;
        made_up.kept += learnt;
        parts.state.look(&parts.executor.observers().0)?;
    }
    Ok(())
}
