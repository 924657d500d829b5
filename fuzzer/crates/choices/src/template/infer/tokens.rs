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
        let tokens = tokens(input, separator);
        if tokens.len() >= LEAST_TOKENS {
            add_equal(input, separator, &tokens, &mut all);
            add_numbered(input, separator, &tokens, &mut all);
            add_named(input, separator, &tokens, &mut all);
            add_different(input, separator, &tokens, &mut all);
        }
    }
    all
}

/// Texts between separators that are not empty.
fn tokens(input: &[u8], separator: u8) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = (0..=input.len()).filter(|&at| at == input.len() || input[at] == separator);
    ends.filter_map(|end| {
        let token = start..end;
        start = end + 1;
        (1..=LONGEST).contains(&token.len()).then_some(token)
    })
    .collect()
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
        let range = range_of(tokens, places[0], places[places.len() - 1], input.len());
        all.push(Segment { times: times(&range, text.len()), range, pump: Pump::Repeat(body), origin: Origin::Tokens });
    }
}

/// The range from one token to another one, the separator behind it included.
fn range_of(tokens: &[Range<usize>], first: usize, last: usize, size: usize) -> Range<usize> {
    tokens[first].start..(tokens[last].end + 1).min(size)
}

/// Number of tokens of a length and their separators in a range.
fn times(range: &Range<usize>, length: usize) -> u64 {
    (range.len() / (length + 1)).max(1) as u64
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
        let range = range_of(tokens, places[0], places[places.len() - 1], input.len());
        let times = places.len() as u64;
        all.push(Segment { range, pump: Pump::Repeat(body), times, origin: Origin::Tokens });
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
        let range = range_of(tokens, words[0].0, words[words.len() - 1].0, input.len());
        let times = words.len() as u64;
        all.push(Segment { range, pump: Pump::Repeat(body), times, origin: Origin::Tokens });
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
    let range = range_of(tokens, 0, tokens.len() - 1, input.len());
    let mut push = |part: Part| {
        let body = vec![part, Part::Literal(vec![separator])];
        let times = texts.len() as u64;
        all.push(Segment { range: range.clone(), pump: Pump::Repeat(body), times, origin: Origin::Tokens });
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
