//! Numbers in front of units that follow from them: how many there are, or how many bytes.

use std::ops::Range;

use super::{Kind, Units};
use crate::template::Digits;

/// Bytes in front of the units in which numbers are looked for.
const LOOKED_AT: usize = 256;
/// Bytes between a number and the units.
const MOST_BETWEEN: usize = 16;
/// Largest size of units whose number is told.
const LARGEST_UNIT: usize = 256;
/// Beginnings of units that numbers speak for.
const MOST_STARTS: usize = 8;
/// Smallest number that is taken for one that follows from units: smaller ones follow from too much by chance.
const LEAST: u64 = 8;
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
pub(super) struct Length {
    range: Range<usize>,
    form: Form,
    tells: Tells,
}

/// Numbers that may be right together.
pub(super) struct Found(Vec<Length>);

impl Found {
    /// The units with these numbers.
    pub(super) fn of<'a>(self, units: &Units<'a>) -> Units<'a> {
        Units { lengths: self.0, ..units.clone() }
    }
}

/// Numbers in front of units that follow from them: those of bytes, and then each that tells how many units there are
/// together with those of bytes.
pub(super) fn found(units: &Units<'_>) -> Vec<Found> {
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
    let mut all: Vec<Found> = Vec::new();
    if !apart.is_empty() {
        all.push(Found(apart.clone()));
    }
    for count in counts.into_iter().rev().take(4) {
        let others =
            apart.iter().filter(|one| one.range.end <= count.range.start || one.range.start >= count.range.end);
        all.push(Found(others.cloned().chain([count.clone()]).collect()));
    }
    all
}

/// Beginnings of units that a number in front of them speaks for, and their size in bytes; 1 if it tells the bytes.
pub(super) fn starts(input: &[u8]) -> Vec<(usize, usize)> {
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
pub(super) fn is_text(bytes: &[u8]) -> bool {
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
            let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
            let range = start..start + width;
            all.push((range.clone(), Form::Fixed(Digits::BigEndian), field.iter().fold(0, add)));
            if width > 1 {
                all.push((range, Form::Fixed(Digits::LittleEndian), field.iter().rev().fold(0, add)));
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
    all.retain(|(_, form, value)| *value >= LEAST && (!is_text || *form == Form::Decimal));
    all.sort_by_key(|(range, ..)| std::cmp::Reverse(range.len()));
    all
}

/// The bytes in front of `units` units, with their numbers made right for what is behind them, and what is behind them.
pub(super) fn with(head: &[u8], behind: Vec<u8>, lengths: &[Length], units: usize) -> Vec<u8> {
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
