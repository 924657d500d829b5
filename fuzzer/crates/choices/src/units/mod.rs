//! Units of an input: the lines, words, items, levels, records or bytes that it is made of, and the inputs that some of
//! them make.
//!
//! Fewer units of a finding tell how its cost grows from below, without a template. Numbers in front of the units that
//! tell how many there are, or how many bytes, stay right.

mod lengths;
mod records;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::lengths::Length;
use crate::{brackets, template::chains, tree::Role};

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
    kind: Kind,
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

    pub fn kind(&self) -> Kind {
        self.kind
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
        lengths::with(head, behind, &self.lengths, count)
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
    let size = records::fixed_size(input);
    let starts = lengths::starts(input);
    for &(start, told) in &starts {
        let size = if told > 1 { Some(told) } else { size };
        all.extend(size.and_then(|size| Units::sequence(input, Kind::Records, pieces(input, start, size))));
    }
    all.extend(records::behind_lengths(input).and_then(|ranges| Units::sequence(input, Kind::Records, ranges)));
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
            with_lengths.extend(lengths::found(&units).into_iter().map(|found| found.of(&units)));
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

/// Parts between two bytes of a value that are not empty.
fn between(input: &[u8], separator: u8) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = (0..=input.len()).filter(|&at| at == input.len() || input[at] == separator);
    let parts = ends.map(|end| {
        let part = start..end;
        start = end + 1;
        part
    });
    parts.filter(|part| !part.is_empty()).collect()
}
