//! Rules that produce different keys (V.1, V.2), and different keys with equal hashes (V.3, V.4). They are quagmire's
//! own: Perun's rules produce equal words, while tables, sorted lists and checks for duplicates get slow with many
//! different ones, and hash tables with many in one chain (Crosby and Wallach, Denial of Service via Algorithmic
//! Complexity Attacks, 2003).

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::{
    draw::{MOST_REPEATS, log_uniform},
    rule::rule,
    text::{Lines, separator, words},
};

rule! {
    /// Inserts varied copies of a word: letters and digits of one name or number in it are replaced by others of
    /// their kind, and up to three are appended.
    VARY_WORD: "V.1" vary_word, aims at "many different keys: tables, hash chains, checks for duplicates", b"a b\n" => b"a c b\n"
}

fn vary_word(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    draw_word(bytes, rand).is_some_and(|(word, separator)| put_behind(bytes, word, separator, limit, rand, Names::Any))
}

rule! {
    /// Inserts varied copies of a line, as V.1.
    VARY_LINE: "V.2" vary_line, aims at "many different keys, one in each line", b"a b\n" => b"a b\na c\n"
}

fn vary_line(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let line = draw_line(bytes, rand);
    put_behind(bytes, line, b'\n', limit, rand, Names::Any)
}

rule! {
    /// Inserts varied copies of a word as V.1, but each name is derived from the one before by a trade: a character
    /// is raised or lowered by 1 or 2, and the next one changed in the opposite direction by a factor times as much.
    /// A hash function that multiplies by this factor before it adds a character cannot distinguish them. The factor,
    /// 1 to 127, is drawn for each call.
    COLLIDE_WORD: "V.3" collide_word, aims at "hash chains: many different keys of equal hash, h = h * m + c", b"Aa b\n" => b"Aa BB b\n"
}

fn collide_word(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let names = Names::colliding(rand);
    draw_word(bytes, rand).is_some_and(|(word, separator)| put_behind(bytes, word, separator, limit, rand, names))
}

rule! {
    /// Inserts varied copies of a line, as V.3.
    COLLIDE_LINE: "V.4" collide_line, aims at "hash chains: many different keys of equal hash, one in each line", b"Aa b\n" => b"Aa b\nBB b\n"
}

fn collide_line(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let names = Names::colliding(rand);
    let line = draw_line(bytes, rand);
    put_behind(bytes, line, b'\n', limit, rand, names)
}

/// Draws a word, with preference for early ones, and its separator.
fn draw_word(bytes: &[u8], rand: &mut StdRand) -> Option<(Range<usize>, u8)> {
    let lines = Lines::of(bytes);
    let from = draw_early(lines.len(), rand);
    let mut in_turn = (from..lines.len()).chain(0..from).map(|line| lines.range(line));
    let line = in_turn.find(|line| words(bytes, line.clone()).next().is_some())?;
    let candidates: Vec<Range<usize>> = words(bytes, line.clone()).collect();
    let word = candidates[draw_early(candidates.len(), rand)].clone();
    let separator = separator(bytes, &line, &word);
    Some((word, separator))
}

/// Draws a line, with preference for early ones.
fn draw_line(bytes: &[u8], rand: &mut StdRand) -> Range<usize> {
    let lines = Lines::of(bytes);
    lines.range(draw_early(lines.len(), rand))
}

/// Draws a number below `number`: uniform in half of the draws, log-uniform otherwise. Early parts of an input affect
/// all that follows.
fn draw_early(number: usize, rand: &mut StdRand) -> usize {
    if rand.coinflip(0.5) { rand.below_or_zero(number) } else { log_uniform(rand, number) - 1 }
}

/// Inserts copies of a part of the input after it, each preceded by `separator`, with another one of `names` in the
/// same place.
fn put_behind(
    bytes: &mut Vec<u8>,
    part: Range<usize>,
    separator: u8,
    limit: usize,
    rand: &mut StdRand,
    names: Names,
) -> bool {
    let text = &bytes[part.clone()];
    let room = limit - bytes.len();
    if text.is_empty() || text.len() >= room {
        return false;
    }
    let place = draw_name(text, rand);
    let further = rand.below_or_zero(4).min(room - text.len() - 1);
    let mut name = text[place.clone()].to_vec();
    name.extend((0..further).map(|_| like(text[place.end - 1], rand)));
    let size = text.len() + 1 + further;
    let times = log_uniform(rand, (room / size).min(MOST_REPEATS));
    let mut copies = Vec::with_capacity(times * size);
    for _ in 0..times {
        if !names.renew(&mut name, rand) {
            break;
        }
        copies.push(separator);
        copies.extend_from_slice(&text[..place.start]);
        copies.extend_from_slice(&name);
        copies.extend_from_slice(&text[place.end..]);
    }
    let changed = !copies.is_empty();
    bytes.splice(part.end..part.end, copies);
    changed
}

/// How each name is derived from the one before.
#[derive(Clone, Copy)]
enum Names {
    /// Its characters are replaced by others of their kinds.
    Any,
    /// Two adjacent characters are traded at this rate. `plain` names have letters and digits only.
    Colliding { factor: i32, plain: bool },
}

/// Largest factor of a hash function to produce collisions for: larger ones leave few possible trades.
const LARGEST_FACTOR: usize = 127;

/// Number of draws before a name is considered to have no trade.
const MOST_DRAWS: usize = 16;

impl Names {
    fn colliding(rand: &mut StdRand) -> Self {
        Self::Colliding { factor: 1 + rand.below_or_zero(LARGEST_FACTOR) as i32, plain: rand.coinflip(0.5) }
    }

    /// Turns `name` into the next one. Returns false if there is none.
    fn renew(self, name: &mut [u8], rand: &mut StdRand) -> bool {
        match self {
            Self::Any => {
                name.iter_mut().for_each(|byte| *byte = like(*byte, rand));
                true
            }
            Self::Colliding { factor, plain } => (0..MOST_DRAWS).any(|_| trade(name, factor, plain, rand)),
        }
    }
}

/// Changes a character by 1 or 2 and the next one in the opposite direction by `factor` times as much, if both remain
/// valid characters of names. Returns whether they do.
fn trade(name: &mut [u8], factor: i32, plain: bool, rand: &mut StdRand) -> bool {
    if name.len() < 2 {
        return false;
    }
    let at = rand.below_or_zero(name.len() - 1);
    let steps = [-2, -1, 1, 2][rand.below_or_zero(4)];
    let moved = |byte: u8, by: i32| {
        let byte = u8::try_from(i32::from(byte) + by).ok()?;
        (if plain { byte.is_ascii_alphanumeric() } else { byte > b' ' && byte != 0x7f }).then_some(byte)
    };
    let (Some(one), Some(next)) = (moved(name[at], steps), moved(name[at + 1], -steps * factor)) else { return false };
    (name[at], name[at + 1]) = (one, next);
    true
}

/// Position of a name or number in `text`, drawn with probability proportional to length; a random byte if there is
/// none. Bytes beyond ASCII belong to names.
fn draw_name(text: &[u8], rand: &mut StdRand) -> Range<usize> {
    let from = rand.below_or_zero(text.len());
    let is_part = |&at: &usize| text[at].is_ascii_alphanumeric() || !text[at].is_ascii();
    let Some(inside) = (from..text.len()).chain(0..from).find(is_part) else { return from..from + 1 };
    let before = (0..inside).rev().take_while(is_part).count();
    let after = (inside..text.len()).take_while(is_part).count();
    inside - before..inside + after
}

/// Draws a character of the same kind.
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
    use crate::tests::{always_made, made};

    #[test]
    fn attributes_get_many_names_and_stay_well_formed() {
        let (mut most, mut names) = (0, std::collections::BTreeSet::new());
        for bytes in always_made(&VARY_WORD, b"key=\"1\"", 500) {
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
        for bytes in always_made(&VARY_LINE, b"Key7: x", 60) {
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
    fn colliding_names_differ_and_have_the_same_hash_for_a_factor() {
        let add = |factor: u64| move |hash: u64, byte| hash.wrapping_mul(factor).wrapping_add(u64::from(byte));
        let hash = |factor: u64, name: &str| name.bytes().fold(0, add(factor));
        let (mut most, mut factors) = (0, std::collections::BTreeSet::new());
        let all = made(&COLLIDE_WORD, b"key='12'", 120);
        let found = all.len();
        for bytes in all {
            let Ok(text) = String::from_utf8(bytes) else { continue }; // a name that is not plain
            let copies: Vec<&str> = text.split(' ').skip(1).collect();
            let collide = |factor: &u64| copies.iter().all(|copy| hash(*factor, copy) == hash(*factor, copies[0]));
            factors.extend((1..=127).find(collide).filter(|_| copies[0] != copies[copies.len() - 1]));
            assert!((1..=127).any(|factor| collide(&factor)), "{text}");
            most = most.max(copies.iter().collect::<std::collections::BTreeSet<_>>().len());
        }
        assert!(found > 250 && most > 6 && factors.len() > 40, "{found} {most} {}", factors.len());
    }

    #[test]
    fn words_without_letters_differ_in_a_byte_and_what_fills_the_limit_stays() {
        assert!(always_made(&VARY_WORD, b"** +", 9).iter().all(|bytes| bytes.len() <= 9 && bytes.len() > 5));
        for text in [&b"full"[..], b"almos", b" \n", b""] {
            assert!(made(&VARY_WORD, text, 6).is_empty(), "{}", text.escape_ascii());
        }
    }
}
