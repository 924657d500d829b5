//! Comparisons and hashes that the target makes in a run, as what the pass has compiled and callbacks of SanitizerCoverage show them.

use std::{
    cell::Cell,
    collections::HashSet,
    sync::atomic::Ordering::{Relaxed, SeqCst},
};

use libafl::observers::cmp::{CmpValues, CmplogBytes};

use super::abi::{
    BYTES, FINAL_HASH, HASHED_BYTES, OPERAND_BYTES, REDUCED, RawComparison, RawComparisons, RawHash, SIZE, WITH_SIZES,
};

/// A number that the program has made of bytes, or has divided for the remainder.
pub struct Hash(RawHash);

impl Hash {
    pub fn value(&self) -> u64 {
        self.0.value
    }

    /// Hash of its place in the program; `None` if it was divided.
    pub fn place(&self) -> Option<u32> {
        (self.0.kind != REDUCED).then_some(self.0.place)
    }

    /// Whether it is used as it is, and not mixed further.
    pub fn is_final(&self) -> bool {
        self.0.kind == FINAL_HASH
    }

    /// The bytes where the first one was read that it is made of, and what follows them.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes[..HASHED_BYTES.min(self.0.size.into())]
    }

    /// Number that it was divided by.
    pub fn divisor(&self) -> Option<u64> {
        let bytes = self.0.bytes.first_chunk().expect("more than 8 bytes");
        (self.0.kind == REDUCED).then(|| u64::from_ne_bytes(*bytes))
    }
}

/// Recording of the comparisons and hashes of the target.
#[derive(Clone, Copy)]
pub struct Comparisons {
    raw: &'static RawComparisons,
}

impl Comparisons {
    /// Makes it of the runtime's record.
    pub(crate) fn new(raw: &'static RawComparisons) -> Self {
        Self { raw }
    }

    /// Whether a run of the target has shown a comparison.
    pub fn are_called(&self) -> bool {
        self.raw.are_called.load(Relaxed) != 0
    }

    /// Whether a run of the target that was recorded has made a hash.
    pub fn are_hashed(&self) -> bool {
        self.raw.are_hashed.load(Relaxed) != 0
    }

    /// Forgets what was recorded, and records the runs that begin from now on.
    pub fn begin(&self) {
        self.raw.count.store(0, SeqCst);
        self.raw.hash_count.store(0, SeqCst);
        self.raw.hash_place.store(0, SeqCst);
        self.raw.is_recording.store(1, SeqCst);
    }

    /// As [`Self::begin`]; of the hashes only those of a place are recorded.
    pub fn begin_with_hashes_of(&self, place: u32) {
        self.begin();
        self.raw.hash_place.store(place.into(), SeqCst);
    }

    /// Hashes that were made, in their order.
    pub fn hashes(&self) -> impl Iterator<Item = Hash> + use<> {
        let used = usize::try_from(self.raw.hash_count.load(SeqCst)).unwrap_or(usize::MAX).min(self.raw.hash.len());
        self.raw.hash[..used].iter().map(|cell| Hash(cell.get()))
    }

    /// As [`Self::begin`]; sizes of allocations are recorded too.
    pub fn begin_with_sizes(&self) {
        self.begin();
        self.raw.is_recording.store(WITH_SIZES, SeqCst);
    }

    /// Ends recording. What was recorded stays.
    pub fn end(&self) {
        self.raw.is_recording.store(0, SeqCst);
    }

    /// Returns the recorded comparisons of operands that were not equal, each once, in the order of their first
    /// execution.
    pub fn all(&self) -> Vec<CmpValues> {
        let mut known = HashSet::new();
        let compared = self.recorded().filter(|comparison| comparison.kind != SIZE);
        let new = compared.filter(|comparison| known.insert(RawComparison { place: 0, ..*comparison }));
        new.filter_map(|comparison| values(&comparison)).collect()
    }

    /// Returns the recorded comparisons of numbers that were not equal and of which neither is a constant, with the
    /// hashes of their places in the program, in the order of their first execution.
    pub fn checks(&self) -> impl Iterator<Item = (u32, CmpValues)> + use<> {
        let numbers = self.recorded().filter(|comparison| !matches!(comparison.kind, BYTES | SIZE));
        let checks = numbers.filter(|comparison| comparison.is_constant == 0);
        checks.filter_map(|comparison| Some((comparison.place, values(&comparison)?)))
    }

    /// Returns the sizes in bytes of what was allocated, each once, in the order of the allocations.
    pub fn sizes(&self) -> Vec<u64> {
        let mut known = HashSet::new();
        let sizes = self.recorded().filter(|recorded| recorded.kind == SIZE);
        let sizes = sizes.map(|recorded| u64::from_ne_bytes(*recorded.operand[0].first_chunk().expect("32 bytes")));
        sizes.filter(|&size| known.insert(size)).collect()
    }

    fn recorded(&self) -> impl Iterator<Item = RawComparison> + use<> {
        let used = usize::try_from(self.raw.count.load(SeqCst)).unwrap_or(usize::MAX).min(self.raw.comparison.len());
        self.raw.comparison[..used].iter().map(Cell::get)
    }
}

/// The comparison as LibAFL has it. `None` for sizes that no callback records.
fn values(comparison: &RawComparison) -> Option<CmpValues> {
    let [first, second] = comparison.operand;
    let [first_size, second_size] = comparison.size;
    if comparison.kind == BYTES {
        let most = OPERAND_BYTES as u8;
        let bytes = |buffer, size: u8| CmplogBytes::from_buf_and_len(buffer, size.min(most));
        return Some(CmpValues::Bytes((bytes(first, first_size), bytes(second, second_size))));
    }
    let is_constant = comparison.is_constant != 0;
    let number = |operand: &[u8; OPERAND_BYTES]| u64::from_ne_bytes(*operand.first_chunk().expect("32 bytes"));
    // numbers lie at the beginning, whatever the byte order
    let shift = if cfg!(target_endian = "big") { 64 - 8 * u32::from(first_size.min(8)) } else { 0 };
    let (first, second) = (number(&first) >> shift, number(&second) >> shift);
    match first_size {
        1 => Some(CmpValues::U8((first as u8, second as u8, is_constant))),
        2 => Some(CmpValues::U16((first as u16, second as u16, is_constant))),
        4 => Some(CmpValues::U32((first as u32, second as u32, is_constant))),
        8 => Some(CmpValues::U64((first, second, is_constant))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libafl_bolts::ToSlice;

    fn comparison(kind: u8, first: &[u8], second: &[u8]) -> RawComparison {
        let operand = |bytes: &[u8]| std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0));
        let size = [first.len() as u8, second.len() as u8];
        RawComparison { kind, is_constant: 1, size, place: 0, operand: [operand(first), operand(second)] }
    }

    #[test]
    fn operands_have_the_width_of_their_comparison_and_strings_their_own_lengths() {
        let number = comparison(0, &0x1234u16.to_ne_bytes(), &7u16.to_ne_bytes());
        assert_eq!(values(&number), Some(CmpValues::U16((0x1234, 7, true))));
        assert_eq!(values(&comparison(0, b"abc", b"abd")), None);
        let Some(CmpValues::Bytes((first, second))) = values(&comparison(BYTES, b"ab", b"keyword")) else {
            panic!("no bytes")
        };
        assert_eq!((first.to_slice(), second.to_slice()), (&b"ab"[..], &b"keyword"[..]));
    }
}
