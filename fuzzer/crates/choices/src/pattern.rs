//! Patterns: small templates of one to three units that repeat, made from inputs and changed at random.

use std::ops::Range;

use libafl_bolts::rands::Rand;
use serde::{Deserialize, Serialize};

use crate::{
    brackets,
    records::{Record, records},
    template::{Counter, Digits, Field, Length, LengthForm, Order, Part, Template, Times},
    tree::{Role, Tree},
    units::{MOST_BETWEEN, NumberInInput, numbers},
};

/// Longest unit, and most bytes around the repeated ones, of which all are run at every size.
const LONGEST_UNIT: usize = 64;
const LONGEST_FRAME: usize = 1024;

/// Bytes from the start of an input in which numbers that tell of units are looked for.
const LONGEST_HEAD: usize = 64;

/// Longest record that is a unit.
const LONGEST_RECORD: usize = 512;

/// Digits of numbers: they differ in as many rounds as an input of ordinary size has.
const DIGITS: u8 = 5;
const LETTERS: u8 = 4;

/// Most pieces of a text in a unit.
const MOST_PIECES: usize = 16;

/// A unit: bytes with a number of the round in the place of some of them, if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Unit {
    bytes: Vec<u8>,
    number: Option<Number>,
}

/// Place of a number in a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Number {
    /// The bytes that it replaces.
    place: Range<usize>,
    are_letters: bool,
}

impl Unit {
    fn new(mut bytes: Vec<u8>) -> Self {
        bytes.truncate(LONGEST_UNIT);
        Self { bytes, number: None }
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.number.is_none()
    }

    fn parts(&self) -> Vec<Part> {
        let Some(Number { place, are_letters }) = &self.number else { return vec![Part::Literal(self.bytes.clone())] };
        let (width, digits) = if *are_letters { (LETTERS, Digits::Letters) } else { (DIGITS, Digits::Decimal) };
        vec![
            Part::Literal(self.bytes[..place.start].to_vec()),
            Part::Counter(Counter { level: 0, width, digits, order: Order::Up }),
            Part::Literal(self.bytes[place.end..].to_vec()),
        ]
    }

    /// Puts a number in the place of a word or number of the unit, or anywhere.
    fn count(&mut self, rand: &mut impl Rand) {
        let is_word = |piece: &Range<usize>| self.bytes[piece.start].is_ascii_alphanumeric();
        let words: Vec<Range<usize>> = pieces(&self.bytes).into_iter().filter(is_word).collect();
        let place = match words.get(rand.below_or_zero(words.len() + 1)) {
            Some(word) => word.clone(),
            None => {
                let at = rand.below_or_zero(self.bytes.len() + 1);
                at..at
            }
        };
        let are_letters = match self.bytes.get(place.start) {
            Some(byte) if !place.is_empty() => !byte.is_ascii_digit(),
            _ => rand.coinflip(0.5),
        };
        self.number = Some(Number { place, are_letters });
    }
}

/// A template of at most three units that repeat as often as each other, with what is around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    before: Vec<u8>,
    first: Unit,
    between: Vec<u8>,
    second: Unit,
    further: Vec<u8>,
    third: Unit,
    after: Vec<u8>,
    /// Lengths and counts in front of the units, from the outermost one on.
    lengths: Vec<Enclosing>,
}

/// A number in front of the units that follows from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Enclosing {
    /// Its place in what is before the units.
    place: Range<usize>,
    tells: Tells,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Tells {
    /// Bytes, up to so many behind the units.
    Bytes(Length, usize),
    /// Rounds.
    Rounds(Field),
}

/// Material of patterns.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// An input of the corpus, and another one.
    pub input: &'a [u8],
    pub other: &'a [u8],
    /// A word that the program knows; empty if none is known.
    pub word: &'a [u8],
}

impl Pattern {
    /// The template; `None` if nothing repeats.
    pub fn template(&self) -> Option<Template> {
        let mut parts = vec![
            Part::Repeat { times: Times::N, body: self.first.parts() },
            Part::Literal(self.between.clone()),
            Part::Repeat { times: Times::N, body: self.second.parts() },
            Part::Literal(self.further.clone()),
            Part::Repeat { times: Times::N, body: self.third.parts() },
        ];
        let (mut start, mut end) = (self.before.len(), 0);
        for Enclosing { place, tells } in self.lengths.iter().rev() {
            parts.insert(0, Part::Literal(self.before[place.end..start].to_vec()));
            start = place.start;
            match *tells {
                Tells::Bytes(length, behind) => {
                    parts.push(Part::Literal(self.after[end..behind].to_vec()));
                    parts = vec![Part::Length(length, parts)];
                    end = behind;
                }
                Tells::Rounds(field) => parts.insert(0, Part::Number(field)),
            }
        }
        parts.insert(0, Part::Literal(self.before[..start].to_vec()));
        parts.push(Part::Literal(self.after[end..].to_vec()));
        Template::new(parts).ok().filter(Template::scales)
    }

    /// Makes a pattern of an input, of which a part or something else repeats in its place.
    pub fn within(material: Material<'_>, rand: &mut impl Rand) -> Self {
        let pattern = match rand.below_or_zero(16) {
            0..=6 => Self::in_place(material.input, rand),
            7..=9 => Self::nested(material.input, rand),
            10 => Self::of_records(material.input, rand),
            11 => Self::behind_fields(window(material.input, rand), rand),
            12 => Self::aligned(window(material.input, rand), rand),
            _ => {
                let (before, after) = frame(material.input, rand);
                Self { before, after, ..Self::of_units(material, rand) }
            }
        };
        pattern.counted(rand)
    }

    /// Makes a pattern of units with hardly anything around them.
    pub fn alone(material: Material<'_>, rand: &mut impl Rand) -> Self {
        let mut pattern = Self::of_units(material, rand);
        if rand.coinflip(0.25) {
            pattern.before = unit(material, rand).bytes;
        }
        if rand.coinflip(0.25) {
            pattern.after = unit(material, rand).bytes;
        }
        pattern.counted(rand)
    }

    /// The pattern, with numbers in its units now and then.
    fn counted(mut self, rand: &mut impl Rand) -> Self {
        if rand.coinflip(0.2) {
            self.first.count(rand);
            if !self.second.is_empty() && rand.coinflip(0.5) {
                self.second.count(rand);
            }
        }
        self
    }

    /// A part of an input repeated where it stands, or two of its parts.
    fn in_place(input: &[u8], rand: &mut impl Rand) -> Self {
        let input = window(input, rand);
        let Some(first) = run_of_pieces(input, 0, rand) else { return Self::default() };
        let second = if rand.coinflip(0.3) { run_of_pieces(input, first.end, rand) } else { None };
        let second = second.unwrap_or(first.end..first.end);
        Self::at(input, first, second)
    }

    /// Records of an input, or bytes in one of them, repeated where they stand, with the lengths around them.
    fn of_records(input: &[u8], rand: &mut impl Rand) -> Self {
        let all = if input.len() <= LONGEST_FRAME { records(input) } else { Vec::new() };
        if all.is_empty() {
            return Self::behind_fields(window(input, rand), rand);
        }
        let mut number = rand.below_or_zero(all.len());
        let mut outer = all[number].outer;
        let mut units = all[number].range.clone();
        let within = &input[..units.end];
        if rand.coinflip(0.3)
            && let Some(some) = run_of_pieces(within, all[number].field.end, rand)
        {
            (outer, units) = (Some(number), some);
        }
        // with the ones behind it
        while rand.coinflip(0.2) && number + 1 < all.len() {
            number += 1;
            if all[number].outer == outer && all[number].range.start == units.end {
                units.end = all[number].range.end;
            }
        }
        if units.len() > LONGEST_RECORD {
            return Self::in_place(input, rand);
        }
        let mut pattern = Self::at(input, units.clone(), units.end..units.end);
        pattern.first.bytes = input[units.clone()].to_vec();
        pattern.between.clear();
        pattern.after = input[units.end..].to_vec();
        while let Some(around) = outer {
            let Record { range, field, length, .. } = &all[around];
            let enclosing = Enclosing { place: field.clone(), tells: Tells::Bytes(*length, range.end - units.end) };
            pattern.lengths.insert(0, enclosing);
            outer = all[around].outer;
        }
        pattern
    }

    /// A part of an input repeated behind numbers that tell of it by their values: bytes up to the end of the input, or how often
    /// it is there.
    fn behind_fields(input: &[u8], rand: &mut impl Rand) -> Self {
        let all = numbers(input, 0..input.len().min(LONGEST_HEAD), 1);
        let behind = |number: &NumberInInput| (input.len() - number.range.end) as u64;
        let far = |number: &NumberInInput| number.value.abs_diff(behind(number));
        let is_length = |number: &NumberInInput| far(number) <= (number.value / 2).min(MOST_BETWEEN as u64);
        let is_count = |number: &NumberInInput| {
            number.value <= behind(number) && behind(number) / number.value <= LONGEST_UNIT as u64 && !is_length(number)
        };
        let counts: Vec<&NumberInInput> = all.iter().filter(|one| is_count(one)).collect();
        let mut lengths: Vec<&NumberInInput> = all.iter().filter(|one| is_length(one)).collect();
        lengths.sort_by_key(|one| far(one));
        let count = counts.get(rand.below_or_zero(counts.len())).filter(|_| lengths.is_empty() || rand.coinflip(0.5));
        let units = match count {
            Some(count) => {
                // what is left is in front of them, as other numbers are
                let last = lengths.iter().map(|length| length.range.end).max().unwrap_or(0);
                let between = match rand.coinflip(0.5) {
                    true => last.saturating_sub(count.range.end) as u64,
                    false => rand.below_or_zero(MOST_BETWEEN + 1) as u64,
                };
                let size = (behind(count).saturating_sub(between) / count.value) as usize;
                let start = input.len() - size * count.value as usize;
                start..start + size.min(LONGEST_UNIT)
            }
            None => {
                let from = lengths.first().map_or(0, |length| length.range.end);
                let Some(pieces) = run_of_pieces(input, from, rand) else { return Self::in_place(input, rand) };
                pieces
            }
        };
        let mut pattern = Self::at(input, units.clone(), units.end..units.end);
        if let Some(count) = count
            && let LengthForm::Field(field) = count.form
        {
            pattern.after.clear();
            pattern.lengths.push(Enclosing { place: count.range.clone(), tells: Tells::Rounds(field) });
        }
        for length in lengths.into_iter().filter(|length| length.range.end <= units.start) {
            let overlaps = |one: &Enclosing| one.place.start < length.range.end && length.range.start < one.place.end;
            if !pattern.lengths.iter().any(overlaps) {
                let plus = length.value as i64 - behind(length) as i64;
                let tells = Tells::Bytes(Length { form: length.form, plus }, pattern.after.len());
                pattern.lengths.push(Enclosing { place: length.range.clone(), tells });
            }
        }
        pattern.lengths.sort_by_key(|one| one.place.start);
        pattern
    }

    fn at(input: &[u8], first: Range<usize>, second: Range<usize>) -> Self {
        // what is too long for a unit stands behind it once
        let first = first.start..first.end.min(first.start + LONGEST_UNIT);
        let second = second.start..second.end.min(second.start + LONGEST_UNIT);
        Self {
            before: input[..first.start].to_vec(),
            first: Unit::new(input[first.clone()].to_vec()),
            between: input[first.end..second.start].to_vec(),
            second: Unit::new(input[second.clone()].to_vec()),
            after: input[second.end..].to_vec(),
            ..Self::default()
        }
    }

    /// A column of a table: what is between two separators of a line, and of the next one, and most often a whole line behind them.
    fn aligned(input: &[u8], rand: &mut impl Rand) -> Self {
        let mut end = 0;
        let mut line = |text: &[u8]| {
            end += text.len();
            end - text.len()..end
        };
        let lines: Vec<Range<usize>> = input.split_inclusive(|byte| *byte == b'\n').map(&mut line).collect();
        let places = |line: &Range<usize>, separator: u8| -> Vec<usize> {
            line.clone().filter(|&at| input[at] == separator).collect()
        };
        let mut columns = Vec::new();
        for (number, pair) in lines.windows(2).enumerate() {
            let mut separators: Vec<u8> = input[pair[0].clone()].to_vec();
            separators.sort_unstable();
            separators.dedup();
            for separator in separators.into_iter().filter(|byte| byte.is_ascii_punctuation() || *byte == b'\t') {
                let [first, second] = [&pair[0], &pair[1]].map(|line| places(line, separator));
                let cells = first.windows(2).zip(second.windows(2));
                columns.extend(cells.map(|(one, two)| (number, one[0]..one[1], two[0]..two[1])));
            }
        }
        let Some((number, first, second)) = columns.get(rand.below_or_zero(columns.len())).cloned() else {
            return Self::in_place(input, rand);
        };
        let mut pattern = Self::at(input, first, second.clone());
        let behind = number + 2 + rand.below_or_zero(2);
        if let Some(line) = lines.get(behind).or(lines.get(number + 2)).filter(|_| rand.coinflip(0.8))
            && second.len() <= LONGEST_UNIT
        {
            pattern.further = input[second.end..line.start].to_vec();
            pattern.third = Unit::new(input[line.clone()].to_vec());
            pattern.after = input[line.end..].to_vec();
        }
        pattern
    }

    /// A part of an input with its opening and its closing repeated around its inside.
    fn nested(input: &[u8], rand: &mut impl Rand) -> Self {
        let input = window(input, rand);
        let nested = brackets::parse(input).and_then(|tree| levels(&tree, rand));
        match nested {
            Some((first, second)) if first.len() + second.len() <= LONGEST_UNIT => Self::at(input, first, second),
            _ => Self::in_place(input, rand),
        }
    }

    /// Units that nothing is around.
    fn of_units(material: Material<'_>, rand: &mut impl Rand) -> Self {
        let mut pattern = Self { first: unit(material, rand), ..Self::default() };
        if rand.coinflip(0.4) {
            pattern.second = match closing(&pattern.first.bytes).filter(|_| rand.coinflip(0.7)) {
                Some(closing) => Unit::new(closing),
                None => unit(material, rand),
            };
            if rand.coinflip(0.3) {
                pattern.between = unit(material, rand).bytes;
            }
        }
        pattern
    }

    /// Changes the pattern a little; `other` is another one that is known.
    pub fn change(&mut self, other: Option<&Self>, material: Material<'_>, rand: &mut impl Rand) {
        match rand.below_or_zero(16) {
            4 | 5 | 9 if !self.lengths.is_empty() => {}
            0 => self.first = unit(material, rand),
            1 => self.second = unit(material, rand),
            2 | 3 => {
                let which = rand.coinflip(0.5);
                let old = if which { &mut self.first } else { &mut self.second };
                let more = unit(material, rand).bytes;
                *old = Unit::new(if rand.coinflip(0.5) {
                    [&*old.bytes, &more].concat()
                } else {
                    [&*more, &old.bytes].concat()
                });
            }
            4 => self.before = unit(material, rand).bytes,
            5 => self.after = unit(material, rand).bytes,
            6 => self.between = unit(material, rand).bytes,
            7 => std::mem::swap(&mut self.first, &mut self.second),
            8 => self.second = Unit::default(),
            9 => (self.before, self.after) = frame(material.input, rand),
            10 => self.first.count(rand),
            11 => self.second.count(rand),
            12 => {
                if let Some(other) = other {
                    self.second = if rand.coinflip(0.5) { other.first.clone() } else { other.second.clone() };
                }
            }
            13 if !self.second.is_empty() => {
                self.third = unit(material, rand);
                self.further = if rand.coinflip(0.5) { self.between.clone() } else { unit(material, rand).bytes };
            }
            _ => self.simplify(rand),
        }
        if self.first.is_empty() {
            std::mem::swap(&mut self.first, &mut self.second);
        }
    }

    /// Leaves out what may not be needed.
    fn simplify(&mut self, rand: &mut impl Rand) {
        match rand.below_or_zero(5) {
            0 if self.lengths.is_empty() => self.before.clear(),
            1 if self.lengths.is_empty() => self.after.clear(),
            2 => self.between.clear(),
            3 => self.first.number = None,
            _ => {
                let at = rand.below_or_zero(self.first.bytes.len());
                if self.first.number.is_none() && self.first.bytes.len() > 1 {
                    self.first.bytes.remove(at);
                }
            }
        }
    }

    /// The pattern without one of its parts, or a byte of a unit; `None` behind the last one of these steps.
    pub fn shorter(&self, step: usize) -> Option<Self> {
        let mut shorter = self.clone();
        match step {
            0 => shorter.lengths.clear(),
            // lengths have their places there
            1 | 2 | 11..=22 if !shorter.lengths.is_empty() => {}
            1 => shorter.before.clear(),
            2 => shorter.after.clear(),
            3 => shorter.between.clear(),
            4 => shorter.further.clear(),
            5 => shorter.third = Unit::default(),
            6 => shorter.second = Unit::default(),
            7 => shorter.first = Unit::default(),
            8 => shorter.third.number = None,
            9 => shorter.second.number = None,
            10 => shorter.first.number = None,
            11..=16 => drop(shorter.before.drain(..self.before.len() / 2)),
            17..=22 => shorter.after.truncate(self.after.len() / 2),
            _ => {
                // from the end, so that what a step leaves is where the next one looks
                let (number, at) = ((step - 23) / LONGEST_RECORD, LONGEST_RECORD - 1 - (step - 23) % LONGEST_RECORD);
                let units = [&mut shorter.first, &mut shorter.second, &mut shorter.third];
                let unit = units.into_iter().nth(number)?;
                if at < unit.bytes.len() && unit.number.is_none() {
                    unit.bytes.remove(at);
                }
            }
        }
        Some(shorter)
    }

    /// Bytes that do not repeat, and those of one round.
    pub fn length(&self) -> usize {
        let fixed = self.before.len() + self.between.len() + self.further.len() + self.after.len();
        fixed + [&self.first, &self.second, &self.third].map(|unit| unit.bytes.len()).iter().sum::<usize>()
    }
}

/// Ranges of the words, numbers, blanks and other single bytes of a text.
fn pieces(bytes: &[u8]) -> Vec<Range<usize>> {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => 2,
        b' ' | b'\t' => 3,
        0x80..=0xff => 4,
        _ => 0,
    };
    let mut all: Vec<Range<usize>> = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        match all.last_mut() {
            Some(last) if class(byte) > 0 && class(bytes[last.start]) == class(byte) => last.end = at + 1,
            _ => all.push(at..at + 1),
        }
    }
    all
}

/// Some pieces in a row behind a place, fewer oftener than many.
fn run_of_pieces(bytes: &[u8], from: usize, rand: &mut impl Rand) -> Option<Range<usize>> {
    let all = pieces(&bytes[from..]);
    if all.is_empty() {
        return None;
    }
    let first = rand.below_or_zero(all.len());
    let count = crate::log_uniform(rand, MOST_PIECES.min(all.len() - first));
    Some(from + all[first].start..from + all[first + count - 1].end)
}

/// The input, or a part of a large one.
pub fn window<'a>(input: &'a [u8], rand: &mut impl Rand) -> &'a [u8] {
    if input.len() <= LONGEST_FRAME {
        return input;
    }
    let start = rand.below_or_zero(input.len() - LONGEST_FRAME + 1);
    &input[start..start + LONGEST_FRAME]
}

/// An input, cut in two.
fn frame(input: &[u8], rand: &mut impl Rand) -> (Vec<u8>, Vec<u8>) {
    let input = window(input, rand);
    let cuts = pieces(input);
    let cut = cuts.get(rand.below_or_zero(cuts.len() + 1)).map_or(input.len(), |piece| piece.start);
    (input[..cut].to_vec(), input[cut..].to_vec())
}

/// Places before and behind a part within another one of its kind, or within any other one.
fn levels(tree: &Tree, rand: &mut impl Rand) -> Option<(Range<usize>, Range<usize>)> {
    let is_part = |node: usize| matches!(tree.nodes[node].role, Role::Part | Role::List);
    let outer = (0..8)
        .map(|_| rand.below_or_zero(tree.nodes.len()))
        .find(|&node| is_part(node) && tree.subtree(node).len() > 1)?;
    let within: Vec<usize> = tree.subtree(outer).skip(1).filter(|&node| is_part(node)).collect();
    let same: Vec<usize> =
        within.iter().copied().filter(|&node| tree.nodes[node].symbol == tree.nodes[outer].symbol).collect();
    let from = if same.is_empty() { &within } else { &same };
    let inner = *from.get(rand.below_or_zero(from.len()))?;
    let (outer, inner) = (tree.nodes[outer].range(), tree.nodes[inner].range());
    (inner.start > outer.start).then_some((outer.start..inner.start, inner.end..outer.end))
}

/// The closing brackets of a text that opens some.
fn closing(opens: &[u8]) -> Option<Vec<u8>> {
    let closes = |byte: u8| match byte {
        b'(' => Some(b')'),
        b'[' => Some(b']'),
        b'{' => Some(b'}'),
        b'<' => Some(b'>'),
        _ => None,
    };
    let all: Vec<u8> = opens.iter().rev().filter_map(|&byte| closes(byte)).collect();
    (!all.is_empty()).then_some(all)
}

/// A unit: a byte, a few pieces or a line of an input, a word, or two small ones.
fn unit(material: Material<'_>, rand: &mut impl Rand) -> Unit {
    Unit::new(match rand.below_or_zero(12) {
        0..=2 => small(material.input, rand),
        3 => vec![b' ' + rand.below_or_zero(95) as u8],
        4..=6 => {
            let pieces = run_of_pieces(material.input, 0, rand);
            pieces.map(|place| material.input[place].to_vec()).unwrap_or_default()
        }
        7 => {
            let mut lines = material.input.split_inclusive(|byte| *byte == b'\n');
            let count = lines.clone().count();
            lines.nth(rand.below_or_zero(count)).unwrap_or_default().to_vec()
        }
        8 | 9 if !material.word.is_empty() => material.word.to_vec(),
        _ => [small(material.input, rand), small(material.other, rand)].concat(),
    })
}

/// A byte of an input, as often one of its rare ones as a frequent one, and now and then what stands beside it; a blank if it is
/// empty. Letters, digits and blanks count as one byte each: what a grammar tells apart is in the others.
fn small(bytes: &[u8], rand: &mut impl Rand) -> Vec<u8> {
    let symbol = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' => b'a',
        b'0'..=b'9' => b'0',
        b' ' | b'\t' => b' ',
        other => other,
    };
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(symbol(byte))] += 1);
    let distinct = counts.iter().filter(|count| **count > 0).count();
    let chosen = (0..=255).filter(|&one| counts[usize::from(one)] > 0).nth(rand.below_or_zero(distinct));
    let Some(chosen) = chosen else { return b" ".to_vec() };
    let number = rand.below_or_zero(counts[usize::from(chosen)] as usize);
    let places = bytes.iter().enumerate().filter(|(_, byte)| symbol(**byte) == chosen);
    let at = places.map(|(at, _)| at).nth(number).unwrap_or(0);
    let (left, right) = (usize::from(rand.coinflip(0.25)), usize::from(rand.coinflip(0.25)));
    bytes[at.saturating_sub(left)..bytes.len().min(at + 1 + right)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use libafl_bolts::rands::StdRand;

    const INPUT: &[u8] = b"{\"list\": [1, 22, [3]], \"name\": \"x y\"}\n";

    fn made(seed: u64) -> Pattern {
        let rand = &mut StdRand::with_seed(seed);
        let material = Material { input: INPUT, other: b"<a b=\"c\">", word: b"null" };
        let fresh = |rand: &mut _| match Rand::coinflip(rand, 0.6) {
            true => Pattern::within(material, rand),
            false => Pattern::alone(material, rand),
        };
        let mut pattern = fresh(rand);
        for _ in 0..rand.below_or_zero(6) {
            let other = fresh(rand);
            pattern.change(Some(&other), material, rand);
        }
        pattern
    }

    #[test]
    fn patterns_grow_by_the_same_number_of_bytes_in_each_round() {
        let templates: Vec<Template> = (0..5_000).filter_map(|seed| made(seed).template()).collect();
        assert!(templates.len() > 4_500, "{}", templates.len());
        for template in templates {
            let size = |n: u64| template.render(n, 1 << 20).expect("small").len();
            // numbers of a text become longer
            assert!((size(55) - size(27)).abs_diff(2 * (size(27) - size(13))) <= 4, "{template}");
            assert!(size(27) > size(13), "{template}");
            assert_eq!(Template::parse(&template.to_string()).as_ref(), Ok(&template));
        }
    }

    #[test]
    fn lengths_around_records_stay_right() {
        let der = b"\x30\x0b\x30\x09\x02\x01\x05\x02\x01\x06\x02\x01\x07";
        let texts = |n: u64| -> Vec<String> {
            let pattern = |seed| Pattern::of_records(der, &mut StdRand::with_seed(seed)).template();
            let bytes = (0..500).filter_map(|seed| pattern(seed)?.render(n, 1 << 20).ok());
            bytes.map(|bytes| bytes.escape_ascii().to_string()).collect()
        };
        assert!(texts(1).iter().all(|text| *text == der.escape_ascii().to_string()));
        let wanted = r"0\x110\x0f\x02\x01\x05\x02\x01\x06\x02\x01\x06\x02\x01\x06\x02\x01\x07";
        assert!(texts(3).iter().any(|text| text == wanted), "{:#?}", texts(3));
    }

    #[test]
    fn numbers_that_tell_of_what_repeats_stay_right() {
        let texts = |input: &[u8], n: u64| -> Vec<String> {
            let pattern = |seed| Pattern::behind_fields(input, &mut StdRand::with_seed(seed)).template();
            let bytes = (0..500).filter_map(|seed| pattern(seed)?.render(n, 1 << 20).ok());
            bytes.map(|bytes| bytes.escape_ascii().to_string()).collect()
        };
        let has = |input: &[u8], n: u64, wanted: &str| {
            let all = texts(input, n);
            assert!(all.iter().any(|text| text == wanted), "{wanted}: {all:#?}");
        };
        has(b"12:one two, six,", 3, "22:one two, two, two, six,");
        has(b"L\x00\x00\x06ab+def", 3, r"L\x00\x00\x08ab+++def");
        // a count, and a length of all
        has(b"C\x0c\x02\x00++abcdabxy", 3, r"C\x10\x03\x00++abcdabcdabcd");
    }

    #[test]
    fn columns_and_rows_of_a_table_repeat_together() {
        let table = b"Text\n\n|a|b|\n|-|-|\n|1|2|\nmore\n";
        let pattern = |seed| Pattern::aligned(table, &mut StdRand::with_seed(seed)).template();
        let texts: Vec<Vec<u8>> = (0..200).filter_map(|seed| pattern(seed)?.render(2, 1 << 20).ok()).collect();
        for wanted in [
            &b"Text\n\n|a|a|b|\n|-|-|-|\n|1|2|\n|1|2|\nmore\n"[..],
            b"Text\n\n|a|a|b|\n|-|-|-|\n|1|2|\nmore\n",
            b"Text\n\n|a|b|\n|-|-|-|\n|1|1|2|\nmore\nmore\n",
        ] {
            assert!(texts.iter().any(|text| text == wanted), "{}", wanted.escape_ascii());
        }
    }

    #[test]
    fn any_bytes_give_patterns() {
        let rand = &mut StdRand::with_seed(3);
        for _ in 0..2_000 {
            let mut bytes = |most: usize| -> Vec<u8> {
                let size = rand.below_or_zero(most);
                let small = rand.coinflip(0.5);
                (0..size).map(|_| if small { rand.below_or_zero(9) as u8 } else { rand.next() as u8 }).collect()
            };
            let (input, other, word) = (bytes(90), bytes(9), bytes(3));
            let material = Material { input: &input, other: &other, word: &word };
            let mut pattern = Pattern::within(material, rand);
            for _ in 0..4 {
                let second = Pattern::of_records(&input, rand);
                pattern.change(Some(&second), material, rand);
                pattern.template();
                let step = rand.below_or_zero(150);
                pattern = pattern.shorter(step).unwrap_or(pattern);
                pattern.template();
            }
        }
    }

    #[test]
    fn steps_make_a_pattern_shorter_down_to_one_byte() {
        for seed in 0..500 {
            let mut pattern = made(seed);
            for step in 0.. {
                let Some(shorter) = pattern.shorter(step) else { break };
                assert!(shorter.length() <= pattern.length());
                if shorter.template().is_some() {
                    pattern = shorter;
                }
            }
            assert!(pattern.template().is_none_or(|template| template.size(1) <= 5), "{pattern:?}");
        }
    }

    #[test]
    fn what_stands_in_an_input_is_repeated_there_with_and_without_numbers() {
        let texts: Vec<Vec<u8>> =
            (0..60_000).filter_map(|seed| made(seed).template()?.render(3, 1 << 20).ok()).collect();
        for wanted in [
            &b"{\"list\": [1, 22, 22, 22, [3]], \"name\": \"x y\"}\n"[..],
            b"{\"list\": [1, 22, [[[3]]]], \"name\": \"x y\"}\n",
            b"{\"list\": [1, 00000, 00001, 00002, [3]], \"name\": \"x y\"}\n",
            b"nullnullnull",
            b"[[[",
            b"[[[]]]",
        ] {
            assert!(texts.iter().any(|text| text == wanted), "{}", wanted.escape_ascii());
        }
    }
}
