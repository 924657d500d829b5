//! Masks of inputs (FairFuzz): which edits at each position still reach the goal.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};
use serde::{Deserialize, Serialize};

/// A kind of edit; the value is its bit in a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Edit {
    /// Overwriting the byte at a position.
    Overwrite = 1,
    /// Inserting bytes before a position, which may be the end.
    Insert = 2,
    /// Deleting the byte at a position.
    Delete = 4,
}

impl Edit {
    /// All kinds of edits.
    pub const ALL: [Self; 3] = [Self::Overwrite, Self::Insert, Self::Delete];

    fn place(self) -> usize {
        (self as u8).trailing_zeros() as usize
    }

    /// Letter of the edit in output: `O`, `I`, `D`.
    pub fn letter(self) -> char {
        match self {
            Self::Overwrite => 'O',
            Self::Insert => 'I',
            Self::Delete => 'D',
        }
    }
}

/// Bits of a position at which all edits are allowed.
const ALL: u8 = Edit::Overwrite as u8 | Edit::Insert as u8 | Edit::Delete as u8;

/// Number of random positions tried before scanning for the next allowed one.
const TRIES: usize = 8;

/// For each position of an input, which edits are allowed. Has one more position than the input has bytes, for
/// insertions at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    bits: Vec<u8>,
    /// Number of positions at which each kind of edit is allowed.
    allowed: [usize; 3],
}

impl Mask {
    /// Mask of an input of `length` bytes that allows nothing.
    pub fn nothing(length: usize) -> Self {
        Self { bits: vec![0; length + 1], allowed: [0; 3] }
    }

    /// Mask of an input of `length` bytes that allows everything.
    pub fn everything(length: usize) -> Self {
        let mut bits = vec![ALL; length + 1];
        bits[length] = Edit::Insert as u8;
        Self { bits, allowed: [length, length + 1, length] }
    }

    /// Length of the input in bytes.
    pub fn length(&self) -> usize {
        self.bits.len().saturating_sub(1)
    }

    /// Whether `edit` is allowed at `position`.
    #[inline]
    pub fn allows(&self, edit: Edit, position: usize) -> bool {
        self.bits.get(position).is_some_and(|bits| bits & edit as u8 != 0)
    }

    /// Whether `edit` is allowed at all of these positions.
    pub(crate) fn allows_all(&self, edit: Edit, mut positions: Range<usize>) -> bool {
        positions.all(|position| self.allows(edit, position))
    }

    /// Allows `edit` at these positions.
    pub fn allow(&mut self, edit: Edit, positions: Range<usize>) {
        for bits in &mut self.bits[positions] {
            self.allowed[edit.place()] += usize::from(*bits & edit as u8 == 0);
            *bits |= edit as u8;
        }
    }

    /// Number of positions at which `edit` is allowed.
    pub fn allowed(&self, edit: Edit) -> usize {
        self.allowed[edit.place()]
    }

    /// Whether nothing is allowed anywhere.
    pub fn is_closed(&self) -> bool {
        self.allowed == [0; 3]
    }

    /// Whether everything is allowed everywhere.
    pub fn is_open(&self) -> bool {
        let length = self.length();
        self.allowed == [length, length + 1, length]
    }

    /// Updates the counts for positions that are about to be removed.
    fn forget(&mut self, range: Range<usize>) {
        for bits in &self.bits[range] {
            for edit in Edit::ALL {
                self.allowed[edit.place()] -= usize::from(bits & edit as u8 != 0);
            }
        }
    }

    /// Draws a position at which `edit` is allowed, with about equal probability; `None` if there is none.
    pub fn draw(&self, edit: Edit, rand: &mut StdRand) -> Option<usize> {
        if self.allowed(edit) == 0 {
            return None;
        }
        let mut position = 0;
        for _ in 0..TRIES {
            position = rand.below_or_zero(self.bits.len());
            if self.allows(edit, position) {
                return Some(position);
            }
        }
        let (before, after) = self.bits.split_at(position);
        first_with(after, edit as u8).map(|at| position + at).or_else(|| first_with(before, edit as u8))
    }

    /// The longest range around `position` in which `edit` is allowed everywhere, limited to `most` positions on each
    /// side.
    pub(crate) fn run_around(&self, edit: Edit, position: usize, most: usize) -> Range<usize> {
        let before = (position.saturating_sub(most)..position).rev().take_while(|&at| self.allows(edit, at)).count();
        let after = (position..self.bits.len().min(position + most)).take_while(|&at| self.allows(edit, at)).count();
        position - before..position + after
    }

    /// The longest range around `position` in which all edits are allowed; empty if they are not at `position`.
    pub(crate) fn free_around(&self, position: usize) -> Range<usize> {
        let is_free = |at: &usize| self.bits[*at] == ALL;
        let before = (0..position).rev().take_while(is_free).count();
        let after = (position..self.length()).take_while(is_free).count();
        if after == 0 { position..position } else { position - before..position + after }
    }

    /// Adapts the mask to an insertion before `position`: the new bytes may be edited freely.
    pub fn insert(&mut self, position: usize, length: usize) {
        self.replace(position..position, length);
    }

    /// Adapts the mask to a deletion.
    pub fn delete(&mut self, range: Range<usize>) {
        self.forget(range.clone());
        self.bits.drain(range);
    }

    /// Adapts the mask to a replacement of `range` by `length` bytes, which may be edited freely.
    pub fn replace(&mut self, range: Range<usize>, length: usize) {
        self.forget(range.clone());
        self.allowed.iter_mut().for_each(|allowed| *allowed += length);
        if range.len() == length {
            self.bits[range].fill(ALL);
        } else {
            self.bits.splice(range, std::iter::repeat_n(ALL, length));
        }
    }

    /// Copies another mask into this one, reusing its memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.bits.clone_from(&other.bits);
        self.allowed = other.allowed;
    }
}

/// The first item of `bits` with this bit. Searches by blocks, since it may be rare.
fn first_with(bits: &[u8], bit: u8) -> Option<usize> {
    let (blocks, _) = bits.as_chunks::<64>();
    let empty = blocks.iter().take_while(|block| block.iter().fold(0, |all, bits| all | bits) & bit == 0).count() * 64;
    bits[empty..].iter().position(|bits| bits & bit != 0).map(|at| empty + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_follows_the_edits_of_its_input() {
        let mut mask = Mask::nothing(4);
        mask.allow(Edit::Delete, 1..3);
        mask.insert(2, 2);
        assert_eq!(mask.length(), 6);
        let deletable: Vec<bool> = (0..7).map(|at| mask.allows(Edit::Delete, at)).collect();
        assert_eq!(deletable, [false, true, true, true, true, false, false]);
        mask.delete(0..3);
        assert_eq!((mask.length(), mask.allowed(Edit::Delete), mask.allowed(Edit::Insert)), (3, 2, 1));
        mask.replace(1..3, 1);
        assert_eq!((mask.length(), mask.allows_all(Edit::Overwrite, 0..2)), (2, true));
        let counted = |edit| (0..=mask.length()).filter(|&at| mask.allows(edit, at)).count();
        assert_eq!(Edit::ALL.map(|edit| mask.allowed(edit)), Edit::ALL.map(counted));
    }

    #[test]
    fn positions_are_drawn_where_an_edit_is_allowed_and_all_of_them() {
        let mut mask = Mask::nothing(500);
        mask.allow(Edit::Insert, 500..501);
        mask.allow(Edit::Overwrite, 3..5);
        let mut rand = StdRand::with_seed(1);
        let drawn: std::collections::BTreeSet<_> =
            (0..200).filter_map(|_| mask.draw(Edit::Overwrite, &mut rand)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [3, 4]);
        assert_eq!(mask.draw(Edit::Insert, &mut rand), Some(500));
        assert_eq!(mask.draw(Edit::Delete, &mut rand), None);
    }

    #[test]
    fn a_run_ends_where_an_edit_is_not_allowed() {
        let mut mask = Mask::nothing(10);
        mask.allow(Edit::Overwrite, 2..7);
        assert_eq!(mask.run_around(Edit::Overwrite, 4, 100), 2..7);
        assert_eq!(mask.run_around(Edit::Overwrite, 4, 1), 3..5);
        assert_eq!(mask.run_around(Edit::Overwrite, 8, 5), 8..8);
    }

    #[test]
    fn a_free_range_ends_where_anything_is_not_allowed() {
        let mut mask = Mask::everything(9);
        assert_eq!((mask.free_around(4), mask.free_around(9)), (0..9, 9..9));
        mask.bits[6] ^= Edit::Insert as u8;
        assert_eq!([3, 6, 8].map(|position| mask.free_around(position)), [0..6, 6..6, 7..9]);
    }
}
