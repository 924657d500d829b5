//! Units of an input: the lines, words, items, levels, records or bytes that it is made of, and the inputs that some of
//! them make.
//!
//! Fewer units of a finding tell how its cost grows from below, without a template. Numbers in front of the units that
//! tell how many there are, or how many bytes, stay right.

use std::ops::Range;

use crate::{
    brackets,
    template::{Digits, between, chains},
    tree::Role,
};

/// Fewest units: halves of halves of fewer say nothing.
const LEAST: usize = 16;

/// Largest input that is divided, in bytes.
const LARGEST: usize = 1 << 24;

/// Lists of a tree, and chains of parts in each other: the longest ones.
const MOST_LISTS: usize = 4;

/// Bytes between units in texts and in binary formats, apart from those by which trees divide texts.
const SEPARATORS: &[u8] = b"\n \t;,&|/:=<>\0";

/// Longest piece of bytes without any structure.
const PIECES: [usize; 5] = [1, 2, 4, 8, 16];

/// Kind of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Items of a list in a text, by the plural that names them.
    Items(&'static str),
    /// Parts between two bytes of this value.
    Between(u8),
    /// Levels of parts in each other.
    Levels,
    /// Records: of a fixed size, or behind a length of their own.
    Records,
    /// Runs of so many bytes.
    Bytes(usize),
}

impl std::fmt::Display for Kind {
    /// Writes a plural: `words`, `parts between ";"`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Items(name) => f.write_str(name),
            Self::Between(b'\n') => f.write_str("lines"),
            Self::Between(b' ') => f.write_str("words"),
            Self::Between(byte) => write!(f, "parts between \"{}\"", byte.escape_ascii()),
            Self::Levels => f.write_str("levels"),
            Self::Records => f.write_str("records"),
            Self::Bytes(1) => f.write_str("bytes"),
            Self::Bytes(size) => write!(f, "runs of {size} bytes"),
        }
    }
}

/// Choice among the units of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Units at equal distances: what is spread over the input stays as dense as it is.
    Spread,
    /// The first ones.
    First,
    /// The last ones.
    Last,
}

/// A unit: its bytes, and those behind the middle that belong to it, which are empty but for levels.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    front: Range<usize>,
    back: Range<usize>,
}

/// An input divided into units. Between two units of a sequence there may be bytes that separate them.
#[derive(Clone, Debug)]
pub struct Units<'a> {
    input: &'a [u8],
    pub kind: Kind,
    units: Vec<Unit>,
    /// Numbers in front of the units that follow from them.
    lengths: Vec<Length>,
}

impl<'a> Units<'a> {
    /// A sequence of ranges that are in order and apart.
    fn sequence(input: &'a [u8], kind: Kind, ranges: impl IntoIterator<Item = Range<usize>>) -> Option<Self> {
        let end = input.len();
        let units: Vec<Unit> = ranges.into_iter().map(|front| Unit { front, back: end..end }).collect();
        (units.len() >= LEAST).then_some(Self { input, kind, units, lengths: Vec::new() })
    }

    /// The same without the first unit, which stays in front of the others.
    fn without_first(&self) -> Option<Self> {
        (self.kind != Kind::Levels && self.units.len() > LEAST)
            .then(|| Self { units: self.units[1..].to_vec(), ..self.clone() })
    }

    /// Number of units.
    pub fn count(&self) -> usize {
        self.units.len()
    }

    /// The input with `count` of its units. All of them make the input itself.
    pub fn take(&self, count: usize, taken: Taken) -> Vec<u8> {
        let all = self.units.len();
        let count = count.min(all);
        let place = |at: usize| match taken {
            Taken::Spread => at * all / count,
            Taken::First => at,
            Taken::Last => all - count + at,
        };
        let chosen: Vec<usize> = (0..count).map(place).collect();
        let mut behind = Vec::new();
        for (at, &unit) in chosen.iter().enumerate() {
            behind.extend(&self.input[self.units[unit].front.clone()]);
            if at + 1 < count {
                behind.extend(self.gap(unit));
            }
        }
        if let (Some(first), Some(last)) = (self.units.first(), self.units.last()) {
            behind.extend(&self.input[last.front.end..last.back.start.max(last.front.end)]);
            chosen.iter().rev().for_each(|&unit| behind.extend(&self.input[self.units[unit].back.clone()]));
            behind.extend(&self.input[first.back.end.max(last.front.end)..]);
        }
        let head = &self.input[..self.head()];
        with(head, behind, &self.lengths, count)
    }

    /// Bytes in front of the first unit.
    fn head(&self) -> usize {
        self.units.first().map_or(self.input.len(), |first| first.front.start)
    }

    /// Bytes from the first unit to the last one.
    fn body(&self) -> usize {
        self.units.last().map_or(0, |last| last.front.end) - self.head().min(self.input.len())
    }

    /// Bytes between a unit and the next one.
    fn gap(&self, unit: usize) -> &[u8] {
        match self.units.get(unit + 1) {
            Some(next) if self.kind != Kind::Levels => &self.input[self.units[unit].front.end..next.front.start],
            _ => &[],
        }
    }
}

/// Ways in which an input is made of at least 16 units, the coarse ones first. Those in front of whose units numbers stand that
/// follow from them come once more behind all others, with these.
pub fn units(input: &[u8]) -> Vec<Units<'_>> {
    if input.len() > LARGEST {
        return Vec::new();
    }
    let mut all = of_tree(input);
    let size = fixed_size(input);
    let starts = starts(input);
    for &(start, told) in &starts {
        let size = if told > 1 { Some(told) } else { size };
        all.extend(size.and_then(|size| Units::sequence(input, Kind::Records, pieces(input, start, size))));
    }
    all.extend(behind_lengths(input).and_then(|ranges| Units::sequence(input, Kind::Records, ranges)));
    for &separator in SEPARATORS {
        all.extend(Units::sequence(input, Kind::Between(separator), between(input, separator)));
    }
    all.extend(size.and_then(|size| Units::sequence(input, Kind::Records, pieces(input, input.len() % size, size))));
    for start in starts.iter().filter(|(_, told)| *told == 1).map(|(start, _)| *start).chain([0]) {
        for size in PIECES {
            all.extend(Units::sequence(input, Kind::Bytes(size), pieces(input, start, size)));
        }
    }
    let mut with_lengths = Vec::new();
    for units in &all {
        // a number may be what the first unit is
        for units in [Some(units.clone()), units.without_first()].into_iter().flatten() {
            with_lengths.extend(found(&units).into_iter().map(|lengths| Units { lengths, ..units.clone() }));
        }
    }
    all.into_iter().chain(with_lengths).collect()
}

/// Pieces of a size behind a place.
fn pieces(input: &[u8], start: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..(input.len() - start) / size).map(move |at| start + at * size..start + (at + 1) * size)
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
        all.push(Units { input, kind: Kind::Levels, units, lengths: Vec::new() });
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
            // what is mostly zeros leads on by itself
            if records.len() >= LEAST_RECORDS.max(2 * empty) && input.len() - at <= MOST_BEHIND && is_better {
                best = Some((form.width, records));
            }
        }
    }
    best.map(|(_, records)| records)
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

// Numbers in front of units that follow from them: how many there are, or how many bytes.

/// Bytes in front of the units in which numbers are looked for.
const LOOKED_AT: usize = 256;
/// Bytes between a number and the units.
const MOST_BETWEEN: usize = 16;
/// Largest size of units whose number is told.
const LARGEST_UNIT: usize = 256;
/// Beginnings of units that numbers speak for.
const MOST_STARTS: usize = 8;
/// Smallest number that is taken for one that follows from units: smaller ones follow from too much by chance.
const LEAST_NUMBER: u64 = 8;
/// Widths of numbers in bytes.
const WIDTHS: [usize; 4] = [1, 2, 3, 4];
/// Longest decimal number, and longest number in groups of seven bits, in bytes.
const LONGEST: usize = 9;
const MOST_GROUPS: usize = 5;

/// Way in which a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In as many bytes as the range has.
    Fixed(Digits),
    /// Decimal, in as many digits as it needs.
    Decimal,
    /// Groups of seven bits, the lowest first, each but the last with its highest bit set.
    Groups,
}

/// Relation of a number to the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tells {
    /// Bytes behind the number, and so many more.
    Bytes(i64),
    /// Units, and so many more.
    Units(i64),
}

/// A number in front of the units.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Length {
    range: Range<usize>,
    form: Form,
    tells: Tells,
}

/// Numbers in front of units that follow from them: those of bytes, and then each that tells how many units there are
/// together with those of bytes.
fn found(units: &Units<'_>) -> Vec<Vec<Length>> {
    if units.kind == Kind::Levels {
        return Vec::new();
    }
    let head = units.head();
    let (size, count, body) = (units.input.len() as i64, units.count() as i64, units.body() as i64);
    let mut bytes: Vec<(Length, i64)> = Vec::new();
    let mut counts = Vec::new();
    for (range, form, value) in numbers(units.input, head) {
        let behind = size - range.end as i64;
        let number = value as i64;
        let of = |tells| Length { range: range.clone(), form, tells };
        if number >= body && number <= size {
            bytes.push((of(Tells::Bytes(number - behind)), number - behind));
        } else if (number - count).abs() <= 1 {
            counts.push(of(Tells::Units(number - count)));
        }
    }
    // of numbers that overlap, the one that tells just what is behind it, or nearly so; then the widest one
    bytes.sort_by_key(|(one, more)| (more.abs(), std::cmp::Reverse(one.range.len())));
    let mut apart: Vec<Length> = Vec::new();
    for (one, _) in bytes {
        let overlaps = |other: &Length| one.range.start < other.range.end && other.range.start < one.range.end;
        if !apart.iter().any(overlaps) {
            apart.push(one);
        }
    }
    let mut all: Vec<Vec<Length>> = Vec::new();
    if !apart.is_empty() {
        all.push(apart.clone());
    }
    for count in counts.into_iter().rev().take(4) {
        let others =
            apart.iter().filter(|one| one.range.end <= count.range.start || one.range.start >= count.range.end);
        all.push(others.cloned().chain([count.clone()]).collect());
    }
    all
}

/// Beginnings of units that a number in front of them speaks for, and their size in bytes; 1 if it tells the bytes.
fn starts(input: &[u8]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (range, _, value) in numbers(input, input.len()) {
        let (value, behind) = (value as usize, input.len() - range.end);
        if value > input.len() {
            continue;
        }
        // it counts what is in front of it as well, or what is between it and the end, but for some bytes
        let (start, size) = match behind.checked_sub(value) {
            None => (range.end, 1),
            Some(between) if between <= MOST_BETWEEN => (range.end + between, 1),
            Some(_) => (input.len() - behind / value * value, behind / value),
        };
        if start - range.end <= MOST_BETWEEN && size <= LARGEST_UNIT && !all.contains(&(start, size)) {
            all.push((start, size));
        }
    }
    // a number of many bytes or units is less likely to be right by chance
    all.sort_by_key(|&(_, size)| size);
    all.truncate(MOST_STARTS);
    all
}

/// Whether bytes are the beginning of a text.
fn is_text(bytes: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(bytes).err().is_none_or(|error| error.error_len().is_none());
    is_utf8 && bytes.iter().all(|byte| !byte.is_ascii_control() || b"\t\n\r".contains(byte))
}

/// Numbers in the first bytes of an input that are not small, the wide ones first. Those of a text are decimal.
fn numbers(input: &[u8], head: usize) -> Vec<(Range<usize>, Form, u64)> {
    let bytes = &input[..head.min(input.len()).min(LOOKED_AT)];
    let is_text = is_text(bytes);
    let mut all = Vec::new();
    for start in 0..bytes.len() {
        for width in WIDTHS {
            let Some(field) = bytes.get(start..start + width) else { break };
            for digits in [Digits::BigEndian, Digits::LittleEndian].into_iter().take(width.min(2)) {
                all.push((start..start + width, Form::Fixed(digits), digits.read(field)));
            }
        }
        let groups = bytes[start..].iter().take(MOST_GROUPS).take_while(|byte| **byte >= 0x80).count();
        if let (true, Some(last)) = (groups > 0, bytes.get(start + groups).filter(|byte| (1..0x80).contains(*byte))) {
            let high = bytes[start..start + groups].iter().rev();
            let value = high.fold(u64::from(*last), |number, byte| number << 7 | u64::from(byte & 0x7f));
            all.push((start..start + groups + 1, Form::Groups, value));
        }
        let is_first = start == 0 || !bytes[start - 1].is_ascii_digit();
        let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if is_first && (1..=LONGEST).contains(&digits) && bytes[start] != b'0' {
            let field = &bytes[start..start + digits];
            let value = field.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
            all.push((start..start + digits, Form::Decimal, value));
        }
    }
    all.retain(|(_, form, value)| *value >= LEAST_NUMBER && (!is_text || *form == Form::Decimal));
    all.sort_by_key(|(range, ..)| std::cmp::Reverse(range.len()));
    all
}

/// The bytes in front of `units` units, with their numbers made right for what is behind them, and what is behind them.
fn with(head: &[u8], behind: Vec<u8>, lengths: &[Length], units: usize) -> Vec<u8> {
    let mut lengths: Vec<&Length> = lengths.iter().collect();
    lengths.sort_by_key(|length| std::cmp::Reverse(length.range.start));
    // from the last one on, so that each knows the bytes behind it
    let mut rest = behind;
    let mut end = head.len();
    for length in lengths {
        rest.splice(0..0, head[length.range.end..end].iter().copied());
        let number = match length.tells {
            Tells::Bytes(more) => rest.len() as i64 + more,
            Tells::Units(more) => units as i64 + more,
        };
        let written = written(number.max(0) as u64, length.form, length.range.len());
        rest.splice(0..0, written);
        end = length.range.start;
    }
    rest.splice(0..0, head[..end].iter().copied());
    rest
}

/// A number as bytes.
fn written(mut number: u64, form: Form, width: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    match form {
        Form::Fixed(digits) => digits.write(number, width as u8, &mut bytes),
        Form::Decimal => bytes = number.to_string().into_bytes(),
        Form::Groups => {
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests;
