//! Units of an input: the lines, words, items, levels, records or bytes that it is made of, and the inputs that some of
//! them make.
//!
//! Fewer units of a finding tell how its cost grows from below, without a template. Relation fields around the units stay right:
//! lengths, counts, offsets and checksums.

mod checks;
mod fields;
mod rows;

use std::{ops::Range, sync::Arc};

pub(crate) use self::fields::{MOST_BETWEEN, NumberInInput, numbers};
pub use self::rows::units;
use self::{checks::Check, fields::RelationField};

/// Fewest units: halves of halves of fewer say nothing.
const LEAST: usize = 16;

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
    /// The units and those in front of them that stay, which are as many as `first`.
    all: Arc<[Unit]>,
    first: usize,
    /// Numbers around the units that follow from them.
    fields: Vec<RelationField>,
    /// Checksums over the units.
    checks: Vec<Check>,
}

impl<'a> Units<'a> {
    fn new(input: &'a [u8], kind: Kind, units: Vec<Unit>) -> Self {
        Self { input, kind, all: units.into(), first: 0, fields: Vec::new(), checks: Vec::new() }
    }

    fn units(&self) -> &[Unit] {
        &self.all[self.first..]
    }

    /// A sequence of ranges that are in order and apart.
    fn sequence(input: &'a [u8], kind: Kind, ranges: impl IntoIterator<Item = Range<usize>>) -> Option<Self> {
        let end = input.len();
        let units: Vec<Unit> = ranges.into_iter().map(|front| Unit { front, back: end..end }).collect();
        (units.len() >= LEAST).then(|| Self::new(input, kind, units))
    }

    /// The same without the first unit, which stays in front of the others.
    fn without_first(&self) -> Option<Self> {
        (self.kind != Kind::Levels && self.units().len() > LEAST)
            .then(|| Self { first: self.first + 1, ..self.clone() })
    }

    /// Number of units.
    pub fn count(&self) -> usize {
        self.units().len()
    }

    /// The input with `count` of its units. All of them make the input itself.
    pub fn take(&self, count: usize, taken: Taken) -> Vec<u8> {
        let count = count.min(self.units().len());
        self.around(&self.middle(count, taken), count)
    }

    /// The bytes that `count` of the units make, without what is around all units.
    pub fn middle(&self, count: usize, taken: Taken) -> Vec<u8> {
        let all = self.units().len();
        let place = |at: usize| match taken {
            Taken::Spread => at * all / count,
            Taken::First => at,
            Taken::Last => all - count + at,
        };
        let chosen: Vec<usize> = (0..count.min(all)).map(place).collect();
        let mut middle = Vec::new();
        for (at, &unit) in chosen.iter().enumerate() {
            middle.extend(&self.input[self.units()[unit].front.clone()]);
            if at + 1 < count {
                middle.extend(self.gap(unit));
            }
        }
        if let Some(last) = self.units().last().filter(|_| self.kind == Kind::Levels) {
            middle.extend(&self.input[last.front.end..last.back.start]);
            chosen.iter().rev().for_each(|&unit| middle.extend(&self.input[self.units()[unit].back.clone()]));
        }
        middle
    }

    /// The input with other bytes in the place of its units, of which `count` are left. Fields around them stay right.
    pub fn around(&self, middle: &[u8], count: usize) -> Vec<u8> {
        let place = self.place();
        let (mut gone, units) = (place.len() as i64 - middle.len() as i64, self.units().len() - count);
        // each field knows the bytes that are gone between the units and it, and between them and what it tells
        let (front, behind): (Vec<_>, Vec<_>) = self.fields.iter().partition(|field| field.range.start < place.start);
        let mut edits: Vec<(Range<usize>, Vec<u8>)> = vec![(place, middle.to_vec())];
        for field in front.into_iter().rev().chain(behind) {
            let written = field.with_fewer(gone, units);
            gone += field.range.len() as i64 - written.len() as i64;
            edits.push((field.range.clone(), written));
        }
        edits.sort_by_key(|(range, _)| range.start);
        let (mut bytes, mut end) = (Vec::with_capacity(self.input.len()), 0);
        for (range, written) in &edits {
            bytes.extend(&self.input[end..range.start]);
            bytes.extend(written);
            end = range.end;
        }
        bytes.extend(&self.input[end..]);
        let moved = |place: usize| {
            let before = edits.iter().filter(|(range, _)| range.end <= place);
            before.fold(place, |place, (range, written)| place + written.len() - range.len())
        };
        self.checks.iter().for_each(|check| check.renew(&mut bytes, &moved));
        bytes
    }

    /// The place of all units.
    pub fn place(&self) -> Range<usize> {
        self.head()..self.end()
    }

    /// Fields each of which may follow from the units by its value, the likely ones first.
    pub fn by_value(&self) -> Vec<RelationField> {
        fields::singles(self)
    }

    /// Fields of any value near the start and the end of the input.
    pub fn blind(&self) -> Vec<RelationField> {
        fields::blind(self)
    }

    /// The same with another field that follows from the units; `None` if a known one is there.
    pub fn with(&self, field: RelationField) -> Option<Self> {
        let is_apart = !self.fields.iter().any(|one| one.overlaps(&field.range));
        is_apart.then(|| {
            let mut units = self.clone();
            units.fields.push(field);
            units.fields.sort_by_key(|field| field.range.start);
            units
        })
    }

    /// The same with the fields of others that are outside of these units.
    pub fn with_fields_of(&self, other: &Self) -> Option<Self> {
        let is_outside = |field: &&RelationField| field.range.end <= self.head() || field.range.start >= self.end();
        let fields: Vec<RelationField> = other.fields.iter().filter(is_outside).cloned().collect();
        (fields.len() == other.fields.len()).then(|| Self { fields, ..self.clone() })
    }

    /// Bytes in front of the first unit.
    fn head(&self) -> usize {
        self.units().first().map_or(self.input.len(), |first| first.front.start)
    }

    /// Bytes up to the end of the last unit.
    fn end(&self) -> usize {
        let end = match self.kind {
            Kind::Levels => self.units().first().map(|first| first.back.end),
            _ => self.units().last().map(|last| last.front.end),
        };
        end.unwrap_or(self.input.len())
    }

    /// Bytes from the first unit to the last one.
    fn body(&self) -> usize {
        self.end() - self.head()
    }

    /// Bytes between a unit and the next one.
    fn gap(&self, unit: usize) -> &[u8] {
        match self.units().get(unit + 1) {
            Some(next) if self.kind != Kind::Levels => &self.input[self.units()[unit].front.end..next.front.start],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests;
