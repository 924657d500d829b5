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

/// Makes up a word in the place of `word`, which is some: of the same length or of any, in the case of its first letter.
pub fn make_up(word: &[u8], rand: &mut StdRand) -> Vec<u8> {
    let first = if word[0].is_ascii_uppercase() { b'A' } else { b'a' };
    let length = match rand.below_or_zero(2) {
        0 => word.len(),
        _ => SHORTEST + rand.below_or_zero(LONGEST - SHORTEST + 1),
    };
    (0..length).map(|_| first + rand.below_or_zero(26) as u8).collect()
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
    fn made_up_words_are_letters_of_the_case_and_often_of_the_length() {
        let mut rand = StdRand::with_seed(1);
        let many =
            |word: &[u8], rand: &mut StdRand| -> Vec<Vec<u8>> { (0..200).map(|_| make_up(word, rand)).collect() };
        let (lower, upper) = (many(b"word", &mut rand), many(b"Word", &mut rand));
        assert!(
            lower.iter().flatten().all(u8::is_ascii_lowercase) && upper.iter().flatten().all(u8::is_ascii_uppercase)
        );
        assert!(lower.iter().all(|word| (SHORTEST..=LONGEST).contains(&word.len())));
        let as_long = lower.iter().filter(|word| word.len() == 4).count();
        assert!((80..150).contains(&as_long), "{as_long}");
    }
}
