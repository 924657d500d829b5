//! Lines, words and items that occur often, not only beside each other: their separators are kept.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{Origin, Pump, Segment, runs::order};
use crate::template::{Counter, Digits, Order, Part, Pick};

/// Separators by which an input is divided.
const SEPARATORS: &[u8] = b"\n ,;&|/\t:=.-\0";

/// Least number of tokens.
const LEAST_TOKENS: usize = 4;

/// Kinds of tokens for each separator: the most frequent ones.
const MOST_KINDS: usize = 3;

/// Width of counters in place of numbers.
const WIDTH: u8 = 6;

/// Longest token that is looked at, in bytes.
const LONGEST: usize = 4096;

/// Tokens that occur often.
pub(super) fn segments(input: &[u8]) -> Vec<Segment> {
    let mut all = Vec::new();
    for &separator in SEPARATORS {
        let tokens: Vec<_> = between(input, separator).filter(|token| token.len() <= LONGEST).collect();
        if tokens.len() >= LEAST_TOKENS {
            add_equal(input, separator, &tokens, &mut all);
            add_numbered(input, separator, &tokens, &mut all);
            add_named(input, separator, &tokens, &mut all);
            add_different(input, separator, &tokens, &mut all);
        }
    }
    all
}

/// Parts between two bytes of a value that are not empty.
pub(crate) fn between(input: &[u8], separator: u8) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let ends = (0..=input.len()).filter(move |&at| at == input.len() || input[at] == separator);
    let parts = ends.map(move |end| std::mem::replace(&mut start, end + 1)..end);
    parts.filter(|part| !part.is_empty())
}

/// The same token again and again.
fn add_equal(input: &[u8], separator: u8, tokens: &[Range<usize>], all: &mut Vec<Segment>) {
    let mut kinds: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (place, token) in tokens.iter().enumerate() {
        kinds.entry(&input[token.clone()]).or_default().push(place);
    }
    let mut kinds: Vec<(&[u8], Vec<usize>)> = kinds.into_iter().filter(|(_, places)| places.len() >= 3).collect();
    kinds.sort_by_key(|(text, places)| (Reverse(places.len() * (text.len() + 1)), places[0]));
    for (text, places) in kinds.into_iter().take(MOST_KINDS) {
        let body = vec![Part::Literal([text, &[separator]].concat())];
        let mut found = segment(input, tokens, (places[0], places[places.len() - 1]), 0, body);
        found.times = (found.range.len() / (text.len() + 1)).max(1) as u64;
        all.push(found);
    }
}

/// A loop in the place of the tokens from one to another one, the separator behind it included.
fn segment(
    input: &[u8],
    tokens: &[Range<usize>],
    (first, last): (usize, usize),
    times: usize,
    body: Vec<Part>,
) -> Segment {
    let range = tokens[first].start..(tokens[last].end + 1).min(input.len());
    Segment { range, pump: Pump::Repeat(body), times: times as u64, origin: Origin::Tokens }
}

/// Tokens that are the same but for numbers in them, which become counters.
fn add_numbered(input: &[u8], separator: u8, tokens: &[Range<usize>], all: &mut Vec<Segment>) {
    let mut kinds: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (place, token) in tokens.iter().enumerate() {
        let text = &input[token.clone()];
        if text.iter().any(u8::is_ascii_digit) {
            kinds.entry(without_numbers(text)).or_default().push(place);
        }
    }
    let mut kinds: Vec<(Vec<u8>, Vec<usize>)> =
        kinds.into_iter().filter(|(_, places)| places.len() >= LEAST_TOKENS).collect();
    kinds.sort_by_key(|(_, places)| (Reverse(places.len()), places[0]));
    for (kind, places) in kinds.into_iter().take(MOST_KINDS) {
        let texts: Vec<&[u8]> = places.iter().map(|&place| &input[tokens[place].clone()]).collect();
        let order = order(&texts.iter().map(|text| first_number(text)).collect::<Vec<_>>());
        let mut body = Vec::new();
        for (place, literal) in kind.split(|&byte| byte == NUMBER).enumerate() {
            if place > 0 {
                body.push(Part::Counter(Counter { level: 0, width: WIDTH, digits: Digits::Decimal, order }));
            }
            body.push(Part::Literal(literal.to_vec()));
        }
        body.push(Part::Literal(vec![separator]));
        all.push(segment(input, tokens, (places[0], places[places.len() - 1]), places.len(), body));
    }
}

/// Tokens that are the same but for their first words, of which most are different, such as `name="7"`: the words become names.
fn add_named(input: &[u8], separator: u8, tokens: &[Range<usize>], all: &mut Vec<Segment>) {
    /// Places of tokens, and their first words.
    type Words<'a> = Vec<(usize, &'a [u8])>;
    let mut kinds: HashMap<(&[u8], &[u8]), Words<'_>> = HashMap::new();
    for (place, token) in tokens.iter().enumerate() {
        let text = &input[token.clone()];
        let start = text.iter().position(u8::is_ascii_alphabetic).unwrap_or(text.len());
        let length = text[start..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, behind) = text[start..].split_at(length);
        // words alone are different tokens
        if length > 0 && text.len() > length {
            kinds.entry((&text[..start], behind)).or_default().push((place, word));
        }
    }
    let is_named = |words: &[(usize, &[u8])]| {
        let different: HashSet<&[u8]> = words.iter().map(|&(_, word)| word).collect();
        words.len() >= LEAST_TOKENS && different.len() * 2 >= words.len()
    };
    let mut kinds: Vec<_> = kinds.into_iter().filter(|(_, words)| is_named(words)).collect();
    kinds.sort_by_key(|(_, words)| (Reverse(words.len()), words[0].0));
    for ((before, behind), words) in kinds.into_iter().take(MOST_KINDS) {
        let order = order(&words.iter().map(|&(_, word)| word).collect::<Vec<_>>());
        let name = Part::Counter(Counter { level: 0, width: WIDTH, digits: Digits::Letters, order });
        let body = vec![Part::Literal(before.to_vec()), name, Part::Literal([behind, &[separator]].concat())];
        all.push(segment(input, tokens, (words[0].0, words[words.len() - 1].0), words.len(), body));
    }
}

/// Stands for a number in [`without_numbers`]. A digit: no other byte could not occur beside numbers.
const NUMBER: u8 = b'0';

/// A text with each number as one digit.
fn without_numbers(text: &[u8]) -> Vec<u8> {
    let mut kind = Vec::with_capacity(text.len());
    for &byte in text {
        match byte {
            byte if !byte.is_ascii_digit() => kind.push(byte),
            _ if kind.last() == Some(&NUMBER) => {}
            _ => kind.push(NUMBER),
        }
    }
    kind
}

/// The first number in a text: its digits without zeros in front, the longer one is larger.
fn first_number(text: &[u8]) -> (usize, Vec<u8>) {
    let digits = text.iter().skip_while(|byte| !byte.is_ascii_digit()).take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.skip_while(|&&byte| byte == b'0').copied().collect();
    (digits.len(), digits)
}

/// Tokens of which most are different: they themselves in turn, and names of their order.
fn add_different(input: &[u8], separator: u8, tokens: &[Range<usize>], all: &mut Vec<Segment>) {
    let texts: Vec<&[u8]> = tokens.iter().map(|token| &input[token.clone()]).collect();
    let mut different = texts.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() * 2 < texts.len() || different.len() < LEAST_TOKENS {
        return;
    }
    let mut push = |part: Part| {
        let body = vec![part, Part::Literal(vec![separator])];
        all.push(segment(input, tokens, (0, tokens.len() - 1), texts.len(), body));
    };
    let counter = |order| Part::Counter(Counter { level: 0, width: WIDTH, digits: Digits::Letters, order });
    let order = order(&texts);
    push(counter(order));
    if order != Order::Shuffle(1) {
        push(counter(Order::Shuffle(1)));
    }
    let choices = texts.iter().map(|text| text.to_vec()).collect();
    push(Part::Pick(Pick { file: None, choices }));
}
