//! Division of an input into units: the lists and levels of a text, rows of records, pieces between or of some bytes.

use std::ops::Range;

use super::{
    Kind, LEAST, Unit, Units,
    checks::{Check, checks},
    fields::{LEAST_NUMBER, MOST_BETWEEN, NumberInInput, by_value, is_text, numbers},
};
use crate::{
    brackets,
    template::{Digits, between, chains},
    tree::Role,
};

/// Largest input that is divided, in bytes.
const LARGEST: usize = 1 << 24;

/// Lists of a tree, and chains of parts in each other: the longest ones.
const MOST_LISTS: usize = 4;

/// Bytes between units in texts and in binary formats, apart from those by which trees divide texts.
const SEPARATORS: &[u8] = b"\n \t;,&|/:=<>\0";

/// Sizes of pieces without any structure, and the one by which fields are looked for.
const PIECES: [usize; 5] = [1, 2, 4, 8, 16];
const PIECE: usize = 8;

/// Ways in which an input is made of at least 16 units, the coarse ones first. Those around whose units fields stand that may follow
/// from them come once more behind all others, with these.
pub fn units(input: &[u8]) -> Vec<Units<'_>> {
    if input.len() > LARGEST {
        return Vec::new();
    }
    let checks = checks(input);
    let mut all = of_tree(input);
    let size = fixed_size(input);
    let counted = |size: usize, span: &Range<usize>| Units::sequence(input, Kind::Records, pieces(span.clone(), size));
    let (of_bytes, of_units): (Vec<_>, Vec<_>) = spans(input, &checks).into_iter().partition(|(_, told)| *told == 1);
    all.extend(behind_lengths(input).and_then(|ranges| Units::sequence(input, Kind::Records, ranges)));
    all.extend(of_bytes.iter().filter_map(|(span, _)| counted(size?, span)));
    for &separator in SEPARATORS {
        all.extend(Units::sequence(input, Kind::Between(separator), between(input, separator)));
    }
    let whole = |size: usize| Units::sequence(input, Kind::Records, pieces(input.len() % size..input.len(), size));
    all.extend(size.and_then(whole));
    for span in of_bytes.into_iter().map(|(span, _)| span).chain(std::iter::once(0..input.len())) {
        for size in PIECES {
            all.extend(Units::sequence(input, Kind::Bytes(size), pieces(span.clone(), size)));
        }
    }
    // many numbers are a count of something by chance
    all.extend(of_units.iter().filter_map(|(span, size)| counted(*size, span)));
    let mut with_fields = Vec::new();
    for units in &mut all {
        let outside = |check: &&Check| check.field.end <= units.head() || check.field.start >= units.end();
        units.checks = checks.iter().filter(outside).cloned().collect();
        // a number may be what the first unit is
        for units in [Some(units.clone()), units.without_first()].into_iter().flatten() {
            with_fields.extend(by_value(&units).into_iter().map(|fields| Units { fields, ..units.clone() }));
        }
    }
    all.into_iter().chain(with_fields).collect()
}

/// Pieces of a size from the start of a span on.
fn pieces(span: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..span.len() / size).map(move |at| span.start + at * size..span.start + (at + 1) * size)
}

/// Lists and levels of the tree of a text.
fn of_tree(input: &[u8]) -> Vec<Units<'_>> {
    let Some(tree) = brackets::parse(input) else { return Vec::new() };
    let items = |list: usize| tree.children(list).filter(|&child| tree.nodes[child].role != Role::Separator);
    let mut lists: Vec<(usize, usize)> = (0..tree.nodes.len())
        .filter(|&node| tree.nodes[node].role == Role::List)
        .map(|node| (node, items(node).count()))
        .filter(|(_, count)| *count >= LEAST)
        .collect();
    lists.sort_by_key(|&(node, _)| std::cmp::Reverse(tree.nodes[node].length));
    lists.truncate(MOST_LISTS);
    let mut all: Vec<Units<'_>> = lists
        .into_iter()
        .filter_map(|(list, _)| {
            let kind = Kind::Items(brackets::name(tree.nodes[list].symbol));
            Units::sequence(input, kind, items(list).map(|item| tree.nodes[item].range()))
        })
        .collect();
    for chain in chains(&tree).into_iter().take(MOST_LISTS).filter(|chain| chain.len() > LEAST) {
        let pair = |pair: &[usize]| {
            let (outer, inner) = (tree.nodes[pair[0]].range(), tree.nodes[pair[1]].range());
            Unit { front: outer.start..inner.start, back: inner.end..outer.end }
        };
        let units = chain.windows(2).map(pair).collect();
        all.push(Units::new(input, Kind::Levels, units));
    }
    all
}

// Records in binary inputs: each behind its own length, or all of one size.

/// Places in which the first record may begin, from the start of the input.
const MOST_HEADER: usize = 64;
/// Fewest records in a row whose lengths lead from one to the next up to the end: by chance they do so for two or three.
const LEAST_RECORDS: usize = 8;
/// Bytes behind the last record.
const MOST_BEHIND: usize = 16;
/// Bytes between the start of a record and its length, and bytes of a record that its length does not count.
const BEFORE: [usize; 4] = [0, 1, 2, 4];
const UNCOUNTED: [usize; 3] = [0, 4, 8];
/// Mean and standard deviation of random bytes, and the distance from the mean that no start and form reaches by chance.
const MEAN_LENGTH: f64 = 127.5;
const DEVIATION: f64 = 73.9;
const SIGMAS: f64 = 5.0;
/// Sizes of which records are multiples.
const MULTIPLES: [usize; 3] = [1, 2, 4];
/// Largest size of records without lengths, and bytes by which it is looked for.
const LARGEST_RECORD: usize = 256;
const RECORDS_LOOKED_AT: usize = 1 << 16;
/// Largest input in which rows are looked for.
const LARGEST_INPUT: usize = 1 << 20;

/// Place and form of the length of a record.
#[derive(Clone, Copy)]
struct Frame {
    before: usize,
    width: usize,
    order: Digits,
    /// Bytes that the length does not count; `None` if it counts the whole record.
    uncounted: Option<usize>,
    /// Size of which the record is a multiple.
    multiple: usize,
}

impl Frame {
    fn all() -> impl Iterator<Item = Self> {
        let (big, little) = (Digits::BigEndian, Digits::LittleEndian);
        let orders = [(1, big), (2, big), (2, little), (4, big), (4, little)];
        orders.into_iter().flat_map(|(width, order)| {
            BEFORE.into_iter().flat_map(move |before| {
                let counted = UNCOUNTED.into_iter().map(Some).chain([None]);
                counted.flat_map(move |uncounted| {
                    MULTIPLES.into_iter().map(move |multiple| Self { before, width, order, uncounted, multiple })
                })
            })
        })
    }

    /// End of the record that begins at `start`, and whether its length is 0; `None` if it ends behind the input.
    fn end(self, input: &[u8], start: usize) -> Option<(usize, bool)> {
        let field = start + self.before;
        let length = self.order.read(input.get(field..field + self.width)?) as usize;
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
fn behind_lengths(input: &[u8]) -> Option<Vec<Range<usize>>> {
    // letters are no lengths
    if input.len() > LARGEST_INPUT || is_text(input) {
        return None;
    }
    let mut best: Option<(usize, Vec<Range<usize>>)> = None;
    for form in Frame::all() {
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
            // what is mostly zeros leads on by itself, and long records of random lengths come near to the end
            let is_row = records.len() >= LEAST_RECORDS.max(2 * empty)
                && (form.width > 1 || are_short(records.len(), at - start));
            if is_row && input.len() - at <= MOST_BEHIND && is_better {
                best = Some((form.width, records));
            }
        }
    }
    best.map(|(_, records)| records)
}

/// Whether records behind lengths of one byte are clearly shorter together than those of random lengths.
fn are_short(records: usize, bytes: usize) -> bool {
    let records = records as f64;
    (bytes as f64) < records * MEAN_LENGTH - SIGMAS * DEVIATION * records.sqrt()
}

/// Size of records at whose distance bytes are equal clearly more often than at others.
fn fixed_size(input: &[u8]) -> Option<usize> {
    let some = &input[..input.len().min(RECORDS_LOOKED_AT)];
    let longest = LARGEST_RECORD.min(some.len() / LEAST_RECORDS);
    let equal = |size: usize| some.iter().zip(&some[size..]).filter(|(one, other)| one == other).count();
    let shares: Vec<f64> = (1..=longest).map(|size| equal(size) as f64 / (some.len() - size) as f64).collect();
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let most = shares.iter().copied().fold(0.0, f64::max);
    // multiples of a size are as good as the size itself: the smallest one is taken
    let size = 1 + shares.iter().position(|&share| share >= most * 0.95)?;
    (size > 1 && most > 2.0 * mean).then_some(size)
}

impl<'a> Units<'a> {
    /// Pieces of an input behind its first bytes, for fields of which no number speaks.
    pub fn behind_head(input: &'a [u8]) -> Option<Self> {
        let start = MOST_HEADER.min(input.len() / 4);
        let units = Self::sequence(input, Kind::Bytes(PIECE), pieces(start..input.len(), PIECE))?;
        Some(Self { checks: checks(input), ..units })
    }

    /// The same from the fields in front of them on.
    pub fn behind_fields(&self) -> Option<Self> {
        let start = self.fields.iter().map(|field| field.range.end).filter(|end| *end <= self.head()).max()?;
        let units = Self::sequence(self.input, Kind::Bytes(PIECE), pieces(start..self.end(), PIECE))?;
        Some(Self { fields: self.fields.clone(), checks: self.checks.clone(), ..units })
    }
}

// Spans that numbers speak for.

/// Bytes at the start of an input, and at its end, in which such numbers are looked for.
const LOOKED_AT: usize = 256;
const LOOKED_AT_BEHIND: usize = 32;
/// Largest size of units whose number is told.
const LARGEST_UNIT: usize = 256;
/// Part of an input that may be behind a span, as a divisor: what stays as it is hides how the rest grows.
const MOST_REST: usize = 8;
/// Spans that are told in bytes up to the end of the input, in bytes up to what is behind them, and by their number of units.
const MOST_SPANS: usize = 8;
const MOST_ENDS: usize = 4;
const MOST_COUNTED: usize = 4;

/// Spans of an input that numbers speak for, and the size of a unit in bytes; 1 if a number tells the bytes.
fn spans(input: &[u8], checks: &[Check]) -> Vec<(Range<usize>, usize)> {
    let size = input.len();
    let (mut all, mut ends, mut counted) = (Vec::new(), ends(input, checks), Vec::new());
    for end in ends.iter().map(|(end, _)| end.end) {
        for NumberInInput { value, .. } in numbers(input, size.saturating_sub(LOOKED_AT_BEHIND)..size, LEAST_NUMBER) {
            let unit = end as u64 / value;
            let start = end as u64 - unit * value;
            if (2..=LARGEST_UNIT as u64).contains(&unit) && start <= LOOKED_AT as u64 {
                counted.push((start as usize..end, unit as usize));
            }
        }
    }
    for NumberInInput { range, value, .. } in numbers(input, 0..size.min(LOOKED_AT), LEAST_NUMBER) {
        let behind = size - range.end;
        let Some(value) = usize::try_from(value).ok().filter(|value| *value <= size) else { continue };
        // it counts what is in front of it as well, or what is between it and the end, but for some bytes
        match behind.checked_sub(value) {
            None => all.push((range.end..size, 1)),
            Some(between) if between <= MOST_BETWEEN => all.push((range.end + between..size, 1)),
            Some(_) => {
                let (unit, start) = (behind / value, size - behind / value * value);
                if unit <= LARGEST_UNIT && start - range.end <= MOST_BETWEEN {
                    counted.push((start..size, unit));
                }
            }
        }
        // it counts a part, or is the place behind it
        let parts = [range.end + value, value].into_iter().filter(|end| *end < size).map(|end| range.end..end);
        ends.extend(
            parts.filter(|part| size - part.end <= size / MOST_REST && part.start < part.end).map(|part| (part, 1)),
        );
    }
    let mut spans: Vec<(Range<usize>, usize)> = Vec::new();
    for (some, most) in [(all, MOST_SPANS), (ends, MOST_ENDS), (counted, MOST_COUNTED)] {
        let mut left = most;
        for one in some {
            if left > 0 && !spans.contains(&one) {
                spans.push(one);
                left -= 1;
            }
        }
    }
    spans
}

/// Spans in front of a checksum, or of what a number at the end gives the place of.
fn ends(input: &[u8], checks: &[Check]) -> Vec<(Range<usize>, usize)> {
    let size = input.len();
    let summed = checks.iter().map(|check| check.field.start).filter(|start| size - start <= size / MOST_REST);
    let place = |number: NumberInInput| {
        let place = usize::try_from(number.value).ok()?;
        number.range.start.checked_sub(place).is_some_and(|between| between <= MOST_BETWEEN).then_some(place)
    };
    let placed =
        numbers(input, size.saturating_sub(LOOKED_AT_BEHIND)..size, LEAST_NUMBER).into_iter().filter_map(place);
    summed.chain(placed).map(|end| (0..end, 1)).collect()
}
