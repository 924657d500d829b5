//! Records in binary inputs: each behind its own length, or all of one size.

use std::ops::Range;

/// Places in which the first record may begin, from the start of the input.
const MOST_HEADER: usize = 64;
/// Fewest records in a row whose lengths lead from one to the next up to the end: by chance they do so for two or three.
const LEAST: usize = 8;
/// Bytes behind the last record.
const MOST_BEHIND: usize = 16;
/// Bytes between the start of a record and its length, and bytes of a record that its length does not count.
const BEFORE: [usize; 4] = [0, 1, 2, 4];
const UNCOUNTED: [usize; 3] = [0, 4, 8];
/// Sizes of which records are multiples.
const MULTIPLES: [usize; 3] = [1, 2, 4];
/// Largest size of records without lengths, and bytes by which it is looked for.
const LARGEST: usize = 256;
const LOOKED_AT: usize = 1 << 16;
/// Largest input in which rows are looked for.
const LARGEST_INPUT: usize = 1 << 20;

/// Place and form of the length of a record.
#[derive(Clone, Copy)]
struct Form {
    before: usize,
    width: usize,
    is_big_endian: bool,
    /// Bytes that the length does not count; `None` if it counts the whole record.
    uncounted: Option<usize>,
    /// Size of which the record is a multiple.
    multiple: usize,
}

impl Form {
    fn all() -> impl Iterator<Item = Self> {
        let orders = [(1, true), (2, true), (2, false), (4, true), (4, false)];
        orders.into_iter().flat_map(|(width, is_big_endian)| {
            BEFORE.into_iter().flat_map(move |before| {
                let counted = UNCOUNTED.into_iter().map(Some).chain([None]);
                counted.flat_map(move |uncounted| {
                    MULTIPLES.into_iter().map(move |multiple| Self {
                        before,
                        width,
                        is_big_endian,
                        uncounted,
                        multiple,
                    })
                })
            })
        })
    }

    /// End of the record that begins at `start`, and whether its length is 0; `None` if it ends behind the input.
    fn end(self, input: &[u8], start: usize) -> Option<(usize, bool)> {
        let field = start + self.before;
        let bytes = input.get(field..field + self.width)?.iter();
        let add = |number: usize, &byte: &u8| number << 8 | usize::from(byte);
        let length = if self.is_big_endian { bytes.fold(0, add) } else { bytes.rev().fold(0, add) };
        let end = match self.uncounted {
            Some(uncounted) => (field + self.width + uncounted).checked_add(length)?,
            None => start.checked_add(length)?,
        };
        let padded = start + end.checked_sub(start)?.next_multiple_of(self.multiple);
        // nothing pads the last one
        let end = if padded <= input.len() { padded } else { end };
        // zeros are no records
        let least = field + self.width + usize::from(self.before == 0);
        (end >= least && end <= input.len()).then_some((end, length == 0))
    }
}

/// The best row of records behind lengths of their own that leads to the end of the input, or nearly so.
pub(super) fn behind_lengths(input: &[u8]) -> Option<Vec<Range<usize>>> {
    // letters are no lengths
    if input.len() > LARGEST_INPUT || super::lengths::is_text(input) {
        return None;
    }
    let mut best: Option<(usize, Vec<Range<usize>>)> = None;
    for form in Form::all() {
        // a row that begins later in one that was found is a part of it
        let mut known = std::collections::HashSet::new();
        for start in 0..MOST_HEADER.min(input.len()) {
            if known.contains(&start) {
                continue;
            }
            let mut records = Vec::new();
            let (mut at, mut empty) = (start, 0);
            while let Some((end, is_empty)) = form.end(input, at) {
                records.push(at..end);
                at = end;
                empty += usize::from(is_empty);
            }
            known.extend(records.iter().map(|record| record.start));
            // wide lengths lead on by chance less often
            let is_better =
                best.as_ref().is_none_or(|(width, best)| (form.width, records.len()) > (*width, best.len()));
            // what is mostly zeros leads on by itself
            if records.len() >= LEAST.max(2 * empty) && input.len() - at <= MOST_BEHIND && is_better {
                best = Some((form.width, records));
            }
        }
    }
    best.map(|(_, records)| records)
}

/// Size of records at whose distance bytes are equal clearly more often than at others.
pub(super) fn fixed_size(input: &[u8]) -> Option<usize> {
    let some = &input[..input.len().min(LOOKED_AT)];
    let longest = LARGEST.min(some.len() / LEAST);
    let equal = |size: usize| some.iter().zip(&some[size..]).filter(|(one, other)| one == other).count();
    let shares: Vec<f64> = (1..=longest).map(|size| equal(size) as f64 / (some.len() - size) as f64).collect();
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let most = shares.iter().copied().fold(0.0, f64::max);
    // multiples of a size are as good as the size itself: the smallest one is taken
    let size = 1 + shares.iter().position(|&share| share >= most * 0.95)?;
    (size > 1 && most > 2.0 * mean).then_some(size)
}
