//! In-place edits of a buffer: many insertions or deletions in one pass.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

/// Blanks within a line, between its words. A newline is not among them, since it ends the line.
pub(super) const BLANKS: [u8; 5] = [b' ', b'\t', 0x0b, 0x0c, b'\r'];

/// Whether a byte is one of [`BLANKS`].
pub(super) fn is_blank(byte: u8) -> bool {
    BLANKS.contains(&byte)
}

/// An insertion before position `at` of the buffer as it is before all insertions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Insert {
    pub at: usize,
    pub what: What,
}

/// The bytes of an [`Insert`].
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A byte repeated `count` times.
    Fill { byte: u8, count: usize },
    /// `count` random [`BLANKS`], drawn with `seed`.
    Mixture { seed: u64, count: usize },
    /// `times` repetitions of: `separator`, if any, and a copy of the `len` bytes from `from`, which end at or before
    /// `at`.
    Copy { from: usize, len: usize, times: usize, separator: Option<u8> },
}

impl What {
    fn len(&self) -> usize {
        match *self {
            Self::Fill { count, .. } | Self::Mixture { count, .. } => count,
            Self::Copy { len, times, separator, .. } => times * (len + usize::from(separator.is_some())),
        }
    }

    /// Writes the bytes at `to`; everything before `to` that is copied from is still in its old place.
    fn write(&self, bytes: &mut [u8], to: usize) {
        match *self {
            Self::Fill { byte, count } => bytes[to..to + count].fill(byte),
            Self::Mixture { seed, count } => {
                let mut rand = StdRand::with_seed(seed);
                for byte in &mut bytes[to..to + count] {
                    *byte = BLANKS[rand.below_or_zero(BLANKS.len())];
                }
            }
            Self::Copy { from, len, separator, .. } => {
                let end = to + self.len();
                let mut filled = to;
                if let Some(separator) = separator {
                    bytes[filled] = separator;
                    filled += 1;
                }
                bytes.copy_within(from..from + len, filled);
                filled += len;
                // fill by doubling: a word of one letter can be repeated a million times
                while filled < end {
                    let step = (filled - to).min(end - filled);
                    bytes.copy_within(to..to + step, filled);
                    filled += step;
                }
            }
        }
    }
}

/// Makes all insertions in one pass from back to front, moving each byte once. Returns false if they are empty.
pub(super) fn insert_all(bytes: &mut Vec<u8>, inserts: &mut [Insert]) -> bool {
    let added: usize = inserts.iter().map(|insert| insert.what.len()).sum();
    if added == 0 {
        return false;
    }
    inserts.sort_unstable_by_key(|insert| insert.at);
    let mut unmoved = bytes.len();
    bytes.resize(unmoved + added, 0);
    let mut free = bytes.len();
    for insert in inserts.iter().rev() {
        free -= unmoved - insert.at;
        bytes.copy_within(insert.at..unmoved, free);
        unmoved = insert.at;
        free -= insert.what.len();
        if insert.what.len() > 0 {
            insert.what.write(bytes, free);
        }
    }
    debug_assert_eq!(unmoved, free);
    true
}

/// Deletes sorted, disjoint ranges. Returns false and deletes nothing if the ranges are empty or cover everything: an
/// empty input is a dead end for rules that change existing bytes.
pub(super) fn delete_all(bytes: &mut Vec<u8>, ranges: &[Range<usize>]) -> bool {
    let deleted: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    if deleted == 0 || deleted == bytes.len() {
        return false;
    }
    let mut kept = ranges[0].start;
    for (i, range) in ranges.iter().enumerate() {
        let next = ranges.get(i + 1).map_or(bytes.len(), |next| next.start);
        bytes.copy_within(range.end..next, kept);
        kept += next - range.end;
    }
    bytes.truncate(kept);
    true
}

/// Deletes single bytes as [`delete_all`] does.
pub(super) fn delete_bytes(bytes: &mut Vec<u8>, positions: &[usize]) -> bool {
    let ranges: Vec<Range<usize>> = positions.iter().map(|&at| at..at + 1).collect();
    delete_all(bytes, &ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertions_are_made_where_they_were_meant_in_the_old_bytes() {
        let mut bytes = b"ab\ncd".to_vec();
        let mut inserts = [
            Insert { at: 5, what: What::Copy { from: 3, len: 2, times: 3, separator: Some(b'-') } },
            Insert { at: 0, what: What::Fill { byte: b' ', count: 2 } },
            Insert { at: 2, what: What::Copy { from: 0, len: 2, times: 1, separator: None } },
        ];
        assert!(insert_all(&mut bytes, &mut inserts));
        assert_eq!(bytes, b"  abab\ncd-cd-cd-cd");
    }

    #[test]
    fn deletions_leave_the_rest_in_order_and_never_leave_nothing() {
        let mut bytes = b"0123456789".to_vec();
        assert!(delete_all(&mut bytes, &[0..1, 3..5, 5..6, 9..10]));
        assert_eq!(bytes, b"12678");
        assert!(!delete_all(&mut bytes, &[]));
        assert!(!delete_all(&mut bytes, &[0..2, 2..5]));
        assert_eq!(bytes, b"12678");
    }
}
