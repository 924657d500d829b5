//! Mutations restricted by a mask: LibAFL's overwriting mutations in a window in which all bytes may be overwritten;
//! insertions and deletions at allowed positions; rules on the whole input or on a freely editable part of it, undone
//! if they change anything else. The mask is updated along with the input.

use std::{num::NonZero, ops::Range};

use libafl::{
    Error, HasMetadata,
    corpus::Corpus,
    inputs::BytesInput,
    mutators::{
        BitFlipMutator, ByteAddMutator, ByteDecMutator, ByteFlipMutator, ByteIncMutator, ByteInterestingMutator,
        ByteNegMutator, ByteRandMutator, BytesCopyMutator, BytesRandSetMutator, BytesSetMutator, BytesSwapMutator,
        DwordAddMutator, DwordInterestingMutator, MutationResult, Mutator, MutatorsTuple, QwordAddMutator, Tokens,
        WordAddMutator, WordInterestingMutator,
    },
    state::HasCorpus,
};
use libafl_bolts::{
    HasLen,
    rands::{Rand, StdRand},
    tuples::{tuple_list, tuple_list_type},
};

use crate::{
    draw::place_of,
    havoc::MutationState,
    mask::{Edit, Mask},
};

/// LibAFL's havoc mutations that keep the length.
pub(crate) type Overwriting = tuple_list_type!(
    BitFlipMutator,
    ByteFlipMutator,
    ByteIncMutator,
    ByteDecMutator,
    ByteNegMutator,
    ByteRandMutator,
    ByteAddMutator,
    WordAddMutator,
    DwordAddMutator,
    QwordAddMutator,
    ByteInterestingMutator,
    WordInterestingMutator,
    DwordInterestingMutator,
    BytesSetMutator,
    BytesRandSetMutator,
    BytesCopyMutator,
    BytesSwapMutator,
);

fn overwriting() -> Overwriting {
    tuple_list!(
        BitFlipMutator::new(),
        ByteFlipMutator::new(),
        ByteIncMutator::new(),
        ByteDecMutator::new(),
        ByteNegMutator::new(),
        ByteRandMutator::new(),
        ByteAddMutator::new(),
        WordAddMutator::new(),
        DwordAddMutator::new(),
        QwordAddMutator::new(),
        ByteInterestingMutator::new(),
        WordInterestingMutator::new(),
        DwordInterestingMutator::new(),
        BytesSetMutator::new(),
        BytesRandSetMutator::new(),
        BytesCopyMutator::new(),
        BytesSwapMutator::new(),
    )
}

/// Weights of overwriting, inserting and deleting: the numbers of LibAFL's havoc mutations of each kind.
const WEIGHTS: [(Edit, usize); 3] = [(Edit::Overwrite, 17), (Edit::Insert, 5), (Edit::Delete, 4)];

/// Number of draws before a mutation is given up.
const TRIES: usize = 4;

/// Maximum extent of windows on each side, in bytes.
const WINDOW: usize = 64;

/// Maximum exponent of the number of stacked mutations: at most 2^4, as for `havoc`.
const MAX_POWER: usize = 4;

/// Maximum number of copies of one byte in an insertion, as in LibAFL's `BytesInsertMutator`.
const MOST_FILLING: usize = 16;

/// Mutations restricted by a mask, with their buffers.
#[derive(Debug)]
pub struct MaskedMutations {
    overwriting: Overwriting,
    window: BytesInput,
    piece: Vec<u8>,
    before: Vec<u8>,
}

impl Default for MaskedMutations {
    fn default() -> Self {
        Self { overwriting: overwriting(), window: BytesInput::new(Vec::new()), piece: Vec::new(), before: Vec::new() }
    }
}

impl MaskedMutations {
    /// Makes 1, 2, 4, 8 or 16 random edits that the mask allows.
    pub fn havoc<S: MutationState>(
        &mut self,
        state: &mut S,
        input: &mut BytesInput,
        mask: &mut Mask,
    ) -> Result<MutationResult, Error> {
        let mut result = MutationResult::Skipped;
        for _ in 0..1_usize << state.rand_mut().below_or_zero(MAX_POWER + 1) {
            for _ in 0..TRIES {
                let edit = draw_edit(state.rand_mut());
                let Some(position) = mask.draw(edit, state.rand_mut()) else { continue };
                let changed = match edit {
                    Edit::Overwrite => self.overwrite(state, input, mask, position)?,
                    Edit::Insert => self.insert_something(state, input, mask, position),
                    Edit::Delete => delete(state.rand_mut(), input.as_mut(), mask, position),
                };
                if changed {
                    result = MutationResult::Mutated;
                    break;
                }
            }
        }
        Ok(result)
    }

    fn overwrite<S: MutationState>(
        &mut self,
        state: &mut S,
        input: &mut BytesInput,
        mask: &Mask,
        position: usize,
    ) -> Result<bool, Error> {
        let run = mask.run_around(Edit::Overwrite, position, WINDOW);
        let bytes: &mut Vec<u8> = input.as_mut();
        let window: &mut Vec<u8> = self.window.as_mut();
        window.clear();
        window.extend_from_slice(&bytes[run.clone()]);
        let Some(number) = NonZero::new(self.overwriting.len()) else { return Ok(false) };
        let choice = state.rand_mut().below(number);
        let result = self.overwriting.get_and_mutate(choice.into(), state, &mut self.window)?;
        let window: &Vec<u8> = self.window.as_ref();
        if result == MutationResult::Skipped || window.len() != run.len() {
            return Ok(false);
        }
        bytes[run].copy_from_slice(window);
        Ok(true)
    }

    /// Inserts a repeated byte, random bytes, or a piece of the input.
    fn insert_something<S: MutationState>(
        &mut self,
        state: &mut S,
        input: &mut BytesInput,
        mask: &mut Mask,
        position: usize,
    ) -> bool {
        let limit = state.max_size();
        let rand = state.rand_mut();
        let bytes: &mut Vec<u8> = input.as_mut();
        self.piece.clear();
        let kind = rand.below_or_zero(5);
        let length = 1 + rand.below_or_zero(if bytes.is_empty() || kind < 3 { MOST_FILLING } else { bytes.len() });
        match kind {
            0 => self.piece.extend((0..length).map(|_| rand.below_or_zero(256) as u8)),
            _ if kind < 3 || bytes.is_empty() => {
                let near = bytes.get(rand.below_or_zero(bytes.len().max(1))).copied();
                let byte = near.filter(|_| kind == 1).unwrap_or_else(|| rand.below_or_zero(256) as u8);
                self.piece.extend(std::iter::repeat_n(byte, length));
            }
            _ => {
                let from = rand.below_or_zero(bytes.len());
                let end = bytes.len().min(from + length);
                self.piece.extend_from_slice(&bytes[from..end]);
            }
        }
        insert(bytes, mask, position, &self.piece, limit)
    }

    /// Inserts a piece of another input of the corpus, or overwrites with it.
    pub fn splice<S: MutationState + HasCorpus<BytesInput>>(
        &mut self,
        state: &mut S,
        input: &mut BytesInput,
        mask: &mut Mask,
    ) -> Result<MutationResult, Error> {
        if state.corpus().count() < 2 {
            return Ok(MutationResult::Skipped);
        }
        let other = libafl::random_corpus_id!(state.corpus(), state.rand_mut());
        let length = state.corpus().get(other)?.borrow_mut().load_len(state.corpus())?;
        if length == 0 {
            return Ok(MutationResult::Skipped);
        }
        let from = state.rand_mut().below_or_zero(length);
        let end = from + 1 + state.rand_mut().below_or_zero(length - from);
        self.piece.clear();
        let corpus = state.corpus();
        let bytes = |input: &BytesInput| self.piece.extend_from_slice(&input.as_ref()[from..end]);
        corpus.get(other)?.borrow_mut().load_input(corpus).map(bytes)?;
        let limit = state.max_size();
        Ok(put(state.rand_mut(), input.as_mut(), mask, &self.piece, limit))
    }

    /// Inserts a token of the dictionary, or overwrites with it.
    pub fn tokens<S: MutationState + HasMetadata>(
        &mut self,
        state: &mut S,
        input: &mut BytesInput,
        mask: &mut Mask,
    ) -> MutationResult {
        let number = state.metadata_map().get::<Tokens>().map_or(0, |tokens| tokens.tokens().len());
        let Some(number) = NonZero::new(number) else { return MutationResult::Skipped };
        let choice = state.rand_mut().below(number);
        self.piece.clear();
        if let Some(tokens) = state.metadata_map().get::<Tokens>() {
            self.piece.extend_from_slice(&tokens.tokens()[choice]);
        }
        let limit = state.max_size();
        put(state.rand_mut(), input.as_mut(), mask, &self.piece, limit)
    }

    /// Applies a `mutator` that knows nothing of masks, and undoes it if it changed anything that the mask protects.
    /// Retries on freely editable parts of the input.
    pub fn held<S: MutationState>(
        &mut self,
        mutator: &mut dyn Mutator<BytesInput, S>,
        state: &mut S,
        input: &mut BytesInput,
        mask: &mut Mask,
    ) -> Result<MutationResult, Error> {
        self.before.clone_from(input.as_ref());
        for attempt in 0..TRIES {
            let part = if attempt == 0 { None } else { free_part(mask, state.rand_mut()) };
            let result = match part {
                None => mutator.mutate(state, input)?,
                Some(part) => self.mutate_part(mutator, state, input, part)?,
            };
            if result == MutationResult::Mutated {
                // a mutation of the part may have inserted at its end, where the mask may forbid it
                if follow(&self.before, input.as_ref(), mask) {
                    return Ok(MutationResult::Mutated);
                }
                input.as_mut().clone_from(&self.before);
            } else if attempt == 0 {
                return Ok(MutationResult::Skipped);
            }
        }
        Ok(MutationResult::Skipped)
    }

    /// Applies `mutate`, which knows nothing of masks and needs the whole input, and undoes it if it changed anything that
    /// the mask protects.
    pub fn undone(
        &mut self,
        mutate: impl FnOnce(&mut BytesInput) -> Result<MutationResult, Error>,
        input: &mut BytesInput,
        mask: &mut Mask,
    ) -> Result<MutationResult, Error> {
        self.before.clone_from(input.as_ref());
        let result = mutate(input)?;
        if result == MutationResult::Mutated && !follow(&self.before, input.as_ref(), mask) {
            input.as_mut().clone_from(&self.before);
            return Ok(MutationResult::Skipped);
        }
        Ok(result)
    }

    /// Applies `mutator` to a part of the input only.
    ///
    /// # Errors
    /// Those of the mutator.
    pub fn mutate_part<S: MutationState>(
        &mut self,
        mutator: &mut dyn Mutator<BytesInput, S>,
        state: &mut S,
        input: &mut BytesInput,
        part: Range<usize>,
    ) -> Result<MutationResult, Error> {
        let (bytes, limit) = (input.as_mut(), state.max_size());
        let rest = bytes.len() - part.len();
        let window: &mut Vec<u8> = self.window.as_mut();
        window.clear();
        window.extend_from_slice(&bytes[part.clone()]);
        state.set_max_size(limit.saturating_sub(rest));
        let result = mutator.mutate(state, &mut self.window);
        state.set_max_size(limit);
        let window: &Vec<u8> = self.window.as_ref();
        if matches!(result, Ok(MutationResult::Mutated)) {
            bytes.splice(part, window.iter().copied());
        }
        result
    }
}

/// A freely editable part of the input, if a random draw finds one.
fn free_part(mask: &Mask, rand: &mut StdRand) -> Option<Range<usize>> {
    let part = mask.free_around(mask.draw(Edit::Delete, rand)?);
    (!part.is_empty()).then_some(part)
}

fn draw_edit(rand: &mut StdRand) -> Edit {
    let weights = WEIGHTS.map(|(_, weight)| weight);
    let place = place_of(weights, rand.below_or_zero(weights.iter().sum()));
    WEIGHTS[place.unwrap_or_default()].0
}

/// Inserts a piece, unless it exceeds the limit. Returns whether it did.
fn insert(bytes: &mut Vec<u8>, mask: &mut Mask, position: usize, piece: &[u8], limit: usize) -> bool {
    if piece.is_empty() || bytes.len() + piece.len() > limit {
        return false;
    }
    bytes.splice(position..position, piece.iter().copied());
    mask.insert(position, piece.len());
    true
}

fn put(rand: &mut StdRand, bytes: &mut Vec<u8>, mask: &mut Mask, piece: &[u8], limit: usize) -> MutationResult {
    let overwrites = rand.coinflip(0.5);
    let edit = if overwrites { Edit::Overwrite } else { Edit::Insert };
    let Some(position) = mask.draw(edit, rand) else { return MutationResult::Skipped };
    let changed = if overwrites {
        let room = mask.run_around(Edit::Overwrite, position, piece.len());
        let fits = room.end.saturating_sub(position) >= piece.len();
        let start = if fits { position } else { room.end.saturating_sub(piece.len()).max(room.start) };
        let range = start..start + piece.len();
        let allowed = range.end <= room.end;
        if allowed {
            bytes[range.clone()].copy_from_slice(piece);
            mask.replace(range, piece.len());
        }
        allowed
    } else {
        insert(bytes, mask, position, piece, limit)
    };
    if changed { MutationResult::Mutated } else { MutationResult::Skipped }
}

/// Deletes some bytes from `position` on that may be deleted, but never all.
fn delete(rand: &mut StdRand, bytes: &mut Vec<u8>, mask: &mut Mask, position: usize) -> bool {
    let run = mask.run_around(Edit::Delete, position, WINDOW);
    let length = 1 + rand.below_or_zero(run.end - position);
    if length >= bytes.len() {
        return false;
    }
    bytes.drain(position..position + length);
    mask.delete(position..position + length);
    true
}

/// Whether the mask allows to turn `before` into `after`: bytes that differ may be overwritten, or, if the lengths
/// differ, those between the first and the last difference may be removed and others inserted there. Updates the mask
/// to that of `after` if so.
fn follow(before: &[u8], after: &[u8], mask: &mut Mask) -> bool {
    if before.len() == after.len() {
        return before.iter().zip(after).enumerate().all(|(at, (a, b))| a == b || mask.allows(Edit::Overwrite, at));
    }
    let same_before = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - same_before;
    let same_after = (0..most).take_while(|i| before[before.len() - 1 - i] == after[after.len() - 1 - i]).count();
    let gone = same_before..before.len() - same_after;
    let come = after.len() - same_after - same_before;
    if come == 0 {
        // a deletion among equal bytes is ambiguous: take the one that begins last
        let allowed = mask.allows_all(Edit::Delete, gone.clone());
        if allowed {
            mask.delete(gone);
        }
        return allowed;
    }
    let allowed = if gone.is_empty() {
        // so is an insertion
        let earliest = same_before - repeats(before, &after[same_before..same_before + come], same_before);
        (earliest..=same_before).any(|at| mask.allows(Edit::Insert, at))
    } else {
        mask.allows(Edit::Insert, same_before)
            && gone.clone().all(|at| mask.allows(Edit::Delete, at) || mask.allows(Edit::Overwrite, at))
    };
    if allowed {
        mask.replace(gone, come);
    }
    allowed
}

/// Number of positions by which an insertion of `piece` at `position` may have begun earlier with the same result.
fn repeats(before: &[u8], piece: &[u8], position: usize) -> usize {
    (0..position.min(WINDOW))
        .take_while(|back| before[position - 1 - back] == piece[piece.len() - 1 - back % piece.len()])
        .count()
}

#[cfg(test)]
mod tests;
