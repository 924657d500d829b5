//! Relation fields around units: lengths, counts and offsets that follow from them.

use std::{cmp::Reverse, ops::Range};

use super::{Kind, Units};
use crate::template::{Digits, Field, Length, LengthForm};

/// Bytes around the units in which numbers are looked for: at the start of the input, and beside the units.
const LOOKED_AT: usize = 256;
const BESIDE: usize = 64;
/// Bytes between a number and the units, or what it tells.
pub(crate) const MOST_BETWEEN: usize = 16;
/// Bytes of the units that a length in front of them may leave out.
const MOST_LEFT_OUT: usize = 32;
/// Smallest number that is taken for one that follows from units: smaller ones follow from too much by chance.
pub(super) const LEAST_NUMBER: u64 = 8;
/// Widths of numbers in bytes.
const WIDTHS: [usize; 5] = [1, 2, 3, 4, 8];
/// Bytes in which lengths are counted.
const STEPS: [u64; 4] = [1, 4, 2, 8];
/// Longest number in digits, and longest number in groups of seven bits, in bytes.
const LONGEST: usize = 9;
const MOST_GROUPS: usize = 5;
/// Counts that are tried with all lengths.
const MOST_COUNTS: usize = 4;
/// Width of fields whose value says nothing, and bytes in which they are looked for, from the start of the input and from its end.
const BLIND_WIDTH: usize = 4;
const BLIND: usize = 64;
const BLIND_BEHIND: usize = 16;

/// Relation of a number to the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tells {
    /// Bytes, in steps of so many, and a constant: a length, an offset, an address.
    Bytes(u64),
    /// Units, and a constant.
    Units,
}

/// A number outside of the units that follows from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationField {
    pub(super) range: Range<usize>,
    form: LengthForm,
    value: u64,
    tells: Tells,
}

impl RelationField {
    /// Its bytes in an input that has fewer bytes and units.
    pub(super) fn with_fewer(&self, bytes: i64, units: usize) -> Vec<u8> {
        let fewer = match self.tells {
            Tells::Bytes(step) => bytes.div_euclid(step as i64),
            Tells::Units => units as i64,
        };
        let mut written = Vec::new();
        Length { form: self.form, plus: -fewer }.write(self.value, &mut written);
        written
    }

    pub(super) fn overlaps(&self, other: &Range<usize>) -> bool {
        self.range.start < other.end && other.start < self.range.end
    }
}

/// A number in an input.
pub(crate) struct NumberInInput {
    pub range: Range<usize>,
    pub form: LengthForm,
    pub value: u64,
}

/// Sets of fields that may follow from the units together, by their values: lengths and offsets, those first that are right to the
/// byte, then each count with these, then lengths in larger steps.
pub(super) fn by_value(units: &Units<'_>) -> Vec<Vec<RelationField>> {
    let all = ranked(units);
    let of = |tells: Tells| all.iter().filter(move |(_, one)| one.tells == tells).map(|(_, one)| one.clone());
    let exact = all.iter().filter(|(distance, one)| *distance == 0 && one.tells == Tells::Bytes(1));
    let exact: Vec<RelationField> = exact.map(|(_, one)| one.clone()).collect();
    let first = exact.iter().take(1).cloned().collect();
    let exact = apart(exact.into_iter());
    let lengths = apart(of(Tells::Bytes(1)));
    let counts = of(Tells::Units).take(MOST_COUNTS).map(|count| apart([count].into_iter().chain(lengths.clone())));
    let steps = STEPS.into_iter().skip(1).map(|step| of(Tells::Bytes(step)).take(1).collect::<Vec<_>>());
    let steps =
        steps.filter(|fields| !fields.is_empty()).map(|fields| apart(fields.into_iter().chain(lengths.clone())));
    let mut sets: Vec<Vec<RelationField>> = Vec::new();
    for set in [exact, lengths.clone(), first].into_iter().chain(counts).chain(steps) {
        if !set.is_empty() && !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}

/// The fields that overlap none before them.
fn apart(fields: impl Iterator<Item = RelationField>) -> Vec<RelationField> {
    let mut apart: Vec<RelationField> = Vec::new();
    for field in fields {
        if !apart.iter().any(|one| one.overlaps(&field.range)) {
            apart.push(field);
        }
    }
    apart
}

/// Fields each of which may follow from the units by its value, the likely ones of each kind first.
pub(super) fn singles(units: &Units<'_>) -> Vec<RelationField> {
    ranked(units).into_iter().map(|(_, field)| field).collect()
}

/// The same, with the distance of each from what it may tell.
fn ranked(units: &Units<'_>) -> Vec<(u64, RelationField)> {
    if units.kind == Kind::Levels {
        return Vec::new();
    }
    let told = |number: NumberInInput| {
        let (tells, distance) = relation(units, &number)?;
        let NumberInInput { range, form, value } = number;
        let field = RelationField { range, form, value, tells };
        // there is one way to write a number
        (field.with_fewer(0, 0) == units.input[field.range.clone()]).then_some((distance, field))
    };
    let mut all: Vec<(u64, RelationField)> = around(units).into_iter().filter_map(told).collect();
    // of numbers that overlap, the one that tells just what is behind it, or nearly so; then the widest one, near to the units
    all.sort_by_key(|(distance, one)| {
        let is_count = one.tells == Tells::Units;
        let width = if is_count { 0 } else { one.range.len() };
        (*distance, Reverse(width), Reverse(one.range.start))
    });
    all
}

/// Relation of a number to the units by its value, and how far it is from the amount that it may tell.
fn relation(units: &Units<'_>, number: &NumberInInput) -> Option<(Tells, u64)> {
    let [head, end, size, body] =
        [units.head(), units.end(), units.input.len(), units.body()].map(|place| place as u64);
    let (range, value) = (number.range.start as u64..number.range.end as u64, number.value);
    let near =
        |value: u64, amounts: &[u64]| amounts.iter().map(|amount| amount.abs_diff(value)).min().unwrap_or(u64::MAX);
    let is_count = value.abs_diff(units.count() as u64) <= 1;
    if range.start >= end {
        let distance = near(value, &[range.start, end, body, size]);
        let is_near = distance <= MOST_BETWEEN as u64;
        return if is_near { Some((Tells::Bytes(1), distance)) } else { is_count.then_some((Tells::Units, 0)) };
    }
    let behind = size - range.end;
    if (body.saturating_sub(MOST_LEFT_OUT as u64)..=size + MOST_BETWEEN as u64).contains(&value) {
        let amounts = [behind, size, size - range.start, end, end.saturating_sub(range.end), body, end - head];
        return Some((Tells::Bytes(1), near(value, &amounts)));
    }
    if is_count {
        return Some((Tells::Units, 0));
    }
    let in_steps = |step: u64| {
        let distance = near(value.checked_mul(step)?, &[behind, size, body]);
        (distance < step + 8 && range.end - range.start > 1).then_some((Tells::Bytes(step), distance))
    };
    STEPS.into_iter().skip(1).find_map(in_steps)
}

/// Numbers around the units.
fn around(units: &Units<'_>) -> Vec<NumberInInput> {
    let (head, end, size) = (units.head(), units.end(), units.input.len());
    let first = 0..head.min(LOOKED_AT);
    let places = [
        first.clone(),
        head.saturating_sub(BESIDE).max(first.end)..head,
        end..size.min(end + BESIDE),
        size.saturating_sub(BESIDE).max(end + BESIDE).min(size)..size,
    ];
    places.into_iter().flat_map(|place| numbers(units.input, place, LEAST_NUMBER)).collect()
}

/// Fields whose values say nothing, each of which may follow from the units.
pub(super) fn blind(units: &Units<'_>) -> Vec<RelationField> {
    let (head, end, size) = (units.head(), units.end(), units.input.len());
    let head = head.min(BLIND);
    let behind = end..size.min(end + BLIND_BEHIND);
    let mut all = Vec::new();
    for tells in STEPS.map(Tells::Bytes).into_iter().chain([Tells::Units]) {
        for at in (0..head).chain(behind.clone()) {
            let low = if at < head { 0 } else { end };
            let high = if at < head { head } else { size };
            let ranges = [
                (low.max((at + 1).saturating_sub(BLIND_WIDTH))..at + 1, Digits::BigEndian),
                (at..high.min(at + BLIND_WIDTH), Digits::LittleEndian),
            ];
            for (range, digits) in ranges {
                let value = digits.read(&units.input[range.clone()]);
                let form = LengthForm::Field(Field { width: range.len() as u8, digits });
                if value > 0 {
                    all.push(RelationField { range, form, value, tells });
                }
            }
        }
    }
    all
}

/// Whether bytes are the beginning of a text.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(bytes).err().is_none_or(|error| error.error_len().is_none());
    is_utf8 && bytes.iter().all(|byte| !byte.is_ascii_control() || b"\t\n\r".contains(byte))
}

/// Numbers in a part of an input that are not smaller than `least`, the wide ones first. Those of a text are decimal or hexadecimal.
pub(crate) fn numbers(input: &[u8], within: Range<usize>, least: u64) -> Vec<NumberInInput> {
    let bytes = &input[..within.end];
    let is_text = is_text(&bytes[within.start..]);
    let mut all = Vec::new();
    for start in within {
        let mut add = |width: usize, form: LengthForm, value: u64| {
            all.push(NumberInInput { range: start..start + width, form, value });
        };
        for width in WIDTHS.into_iter().filter(|_| !is_text) {
            let Some(field) = bytes.get(start..start + width) else { break };
            for digits in [Digits::BigEndian, Digits::LittleEndian].into_iter().take(width.min(2)) {
                add(width, LengthForm::Field(Field { width: width as u8, digits }), digits.read(field));
            }
        }
        for form in [LengthForm::Der, LengthForm::Groups].into_iter().filter(|_| !is_text) {
            if let Some((value, width)) =
                form.read(&bytes[start..]).filter(|(_, width)| (2..=MOST_GROUPS).contains(width))
            {
                add(width, form, value);
            }
        }
        for digits in [Digits::Decimal, Digits::Hexadecimal] {
            if let Some((value, length)) = text_number(&bytes[start..], digits) {
                let is_inside = start > 0 && digits == Digits::Decimal && bytes[start - 1].is_ascii_digit();
                let width = if bytes[start] == b'0' { length as u8 } else { 0 };
                // a letter is no number
                if !is_inside && (digits == Digits::Decimal || bytes[start] != b'0' && length > 1) {
                    add(length, LengthForm::Field(Field { width, digits }), value);
                }
            }
        }
    }
    all.retain(|number| number.value >= least);
    all.sort_by_key(|number| Reverse(number.range.len()));
    all
}

/// The number that a text begins with, and its length.
fn text_number(text: &[u8], digits: Digits) -> Option<(u64, usize)> {
    let base = if digits == Digits::Decimal { 10 } else { 16 };
    let values = text.iter().map_while(|byte| char::from(*byte).to_digit(base));
    let (value, length) = values
        .take(LONGEST + 1)
        .fold((0, 0), |(value, length), digit| (value * u64::from(base) + u64::from(digit), length + 1));
    (1..=LONGEST).contains(&length).then_some((value, length))
}
