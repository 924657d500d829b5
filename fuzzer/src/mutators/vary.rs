//! Rules for keys that differ: V.1 and V.2. Not of Perun's: its rules make equal words, while tables, sorted lists and checks
//! for duplicates get slow with many different ones.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::{
    draw::{MOST_REPEATS, log_uniform},
    rule::rule,
    text::{Lines, separator, words},
};

rule! {
    /// Letters stay letters and digits digits, in one name or number of the word, which may get up to three more of them.
    VARY_WORD: "V.1" vary_word, aims at "many different keys: tables, hash chains, checks for duplicates", b"a b\n" => b"a c b\n"
}

fn vary_word(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    let from = draw_early(lines.len(), rand);
    let mut in_turn = (from..lines.len()).chain(0..from).map(|line| lines.range(line));
    let Some(line) = in_turn.find(|line| words(bytes, line.clone()).next().is_some()) else { return false };
    let candidates: Vec<Range<usize>> = words(bytes, line.clone()).collect();
    let word = candidates[draw_early(candidates.len(), rand)].clone();
    let separator = separator(bytes, &line, &word);
    vary(bytes, word, separator, limit, rand)
}

rule! {
    /// As V.1, for a line.
    VARY_LINE: "V.2" vary_line, aims at "many different keys, one in each line", b"a b\n" => b"a b\na c\n"
}

fn vary_line(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    let line = lines.range(draw_early(lines.len(), rand));
    vary(bytes, line, b'\n', limit, rand)
}

/// One of so many: in half of the draws any, in the others rather an early one. What comes first is there for all that
/// follows.
fn draw_early(number: usize, rand: &mut StdRand) -> usize {
    if rand.coinflip(0.5) { rand.below_or_zero(number) } else { log_uniform(rand, number) - 1 }
}

/// Puts copies of a part of the input behind it, each after a `separator` and with other characters in the same name.
fn vary(bytes: &mut Vec<u8>, part: Range<usize>, separator: u8, limit: usize, rand: &mut StdRand) -> bool {
    let text = &bytes[part.clone()];
    let room = limit - bytes.len();
    if text.is_empty() || text.len() >= room {
        return false;
    }
    let name = draw_name(text, rand);
    let further = rand.below_or_zero(4).min(room - text.len() - 1);
    let size = text.len() + 1 + further;
    let times = log_uniform(rand, (room / size).min(MOST_REPEATS));
    let mut copies = Vec::with_capacity(times * size);
    for _ in 0..times {
        copies.push(separator);
        copies.extend_from_slice(&text[..name.start]);
        copies.extend(text[name.clone()].iter().map(|&byte| like(byte, rand)));
        copies.extend((0..further).map(|_| like(text[name.end - 1], rand)));
        copies.extend_from_slice(&text[name.end..]);
    }
    bytes.splice(part.end..part.end, copies);
    true
}

/// Where a name or number is in `text`, each as likely as it is long; any byte if there is none.
fn draw_name(text: &[u8], rand: &mut StdRand) -> Range<usize> {
    let from = rand.below_or_zero(text.len());
    let is_part = |&at: &usize| text[at].is_ascii_alphanumeric();
    let Some(inside) = (from..text.len()).chain(0..from).find(is_part) else { return from..from + 1 };
    let before = (0..inside).rev().take_while(is_part).count();
    let after = (inside..text.len()).take_while(is_part).count();
    inside - before..inside + after
}

/// Any character of the same kind.
fn like(byte: u8, rand: &mut StdRand) -> u8 {
    let (first, last) = match byte {
        b'a'..=b'z' => (b'a', b'z'),
        b'A'..=b'Z' => (b'A', b'Z'),
        b'0'..=b'9' => (b'0', b'9'),
        _ => (b'!', u8::MAX),
    };
    first + rand.below_or_zero(usize::from(last - first) + 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutators::Rule;

    /// What the rule makes of `text` with the first so many seeds.
    fn made(rule: &impl Rule, text: &[u8], limit: usize) -> Vec<Vec<u8>> {
        let made = (0..500).map(|seed| {
            let mut bytes = text.to_vec();
            assert!(rule.apply(&mut bytes, limit, &mut StdRand::with_seed(seed)));
            bytes
        });
        made.collect()
    }

    #[test]
    fn attributes_get_many_names_and_stay_well_formed() {
        let (mut most, mut names) = (0, std::collections::BTreeSet::new());
        for bytes in made(&VARY_WORD, b"key=\"1\"", 500) {
            let text = String::from_utf8(bytes).expect("letters stay letters");
            most = most.max(text.split(' ').count());
            for attribute in text.split(' ') {
                let (name, value) = attribute.split_once('=').expect("every copy has a value");
                assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()), "{text}");
                assert!(value.len() > 2 && value.bytes().all(|byte| byte == b'"' || byte.is_ascii_digit()), "{text}");
                names.insert(name.to_owned());
            }
        }
        assert!(most > 40 && names.len() > 1000, "{most} attributes, {} names", names.len());
    }

    #[test]
    fn lines_get_copies_behind_them_that_differ_in_one_name() {
        for bytes in made(&VARY_LINE, b"Key7: x", 60) {
            let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            assert!(lines.len() > 1 && lines[0] == b"Key7: x");
            for line in &lines[1..] {
                let (key, value) =
                    line.split_at(line.len() - lines[1].iter().rev().position(|&b| b == b':').expect("it stays"));
                assert!(key[0].is_ascii_uppercase() && key[1..3].iter().all(u8::is_ascii_lowercase));
                assert!(&key[..4] == b"Key7" || value == b" x", "{}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn words_without_letters_differ_in_a_byte_and_what_fills_the_limit_stays() {
        assert!(made(&VARY_WORD, b"** +", 9).iter().all(|bytes| bytes.len() <= 9 && bytes.len() > 5));
        for text in [&b"full"[..], b"almos", b" \n", b""] {
            let mut bytes = text.to_vec();
            assert!(!VARY_WORD.apply(&mut bytes, 6, &mut StdRand::with_seed(1)), "{}", bytes.escape_ascii());
        }
    }
}
