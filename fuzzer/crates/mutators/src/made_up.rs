//! Words that nobody knows, in the place of words of an input.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

/// Lengths of words of another length than the one they replace: those of most keywords and names.
const SHORTEST: usize = 2;
const LONGEST: usize = 12;

/// The words of an input: letters, digits and underscores behind a letter, at least two.
pub fn words(input: &[u8]) -> Vec<Range<usize>> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut found = Vec::new();
    let mut start = 0;
    for run in input.split(|byte| !is_part(byte)) {
        if run.len() >= SHORTEST && run[0].is_ascii_alphabetic() {
            found.push(start..start + run.len());
        }
        start += run.len() + 1;
    }
    found
}

/// Writes `input` into `result`, with a made-up word in the place of one of `words`, which are some: of the same length or of
/// any, in the case of its first letter.
pub fn replace_one(input: &[u8], words: &[Range<usize>], rand: &mut StdRand, result: &mut Vec<u8>) {
    let Range { start, end } = words[rand.below_or_zero(words.len())];
    let first = if input[start].is_ascii_uppercase() { b'A' } else { b'a' };
    let length = match rand.below_or_zero(2) {
        0 => end - start,
        _ => SHORTEST + rand.below_or_zero(LONGEST - SHORTEST + 1),
    };
    result.clear();
    result.extend_from_slice(&input[..start]);
    result.extend((0..length).map(|_| first + rand.below_or_zero(26) as u8));
    result.extend_from_slice(&input[end..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_with_a_letter_and_have_two_of_them() {
        let input = b"SELECT a1, b FROM x_y;42 z9";
        let found: Vec<&[u8]> = words(input).into_iter().map(|range| &input[range]).collect();
        assert_eq!(found, [&b"SELECT"[..], b"a1", b"FROM", b"x_y", b"z9"]);
        assert!(words(b"").is_empty());
    }

    #[test]
    fn one_word_is_replaced_by_letters_of_its_case() {
        let (input, mut rand, mut result) = (b"ab CD".to_vec(), StdRand::with_seed(1), Vec::new());
        for _ in 0..200 {
            replace_one(&input, &words(&input), &mut rand, &mut result);
            let text = String::from_utf8(result.clone()).unwrap();
            let (one, other) = text.split_once(' ').unwrap();
            assert!(one == "ab" || other == "CD", "{text}");
            let lengths = SHORTEST..=LONGEST;
            assert!(lengths.contains(&one.len()) && one.bytes().all(|byte| byte.is_ascii_lowercase()), "{text}");
            assert!(lengths.contains(&other.len()) && other.bytes().all(|byte| byte.is_ascii_uppercase()), "{text}");
        }
    }
}
