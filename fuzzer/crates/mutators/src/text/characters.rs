//! Rules for single characters. They keep newlines, so that lines stay lines.

use libafl_bolts::rands::{Rand, StdRand};

use crate::draw::{positions, repeats};
use crate::edit::delete_bytes;
use crate::rule::rule;

rule! {
    /// Changes characters: mostly to one that the input contains or a printable one, sometimes to any byte.
    CHANGE_CHARACTER: "T.4" change_character, aims at "characters that are treated differently", b"aab\n" => b"abb\n"
}

fn change_character(bytes: &mut [u8], _limit: usize, rand: &mut StdRand) -> bool {
    let k = repeats(rand, || bytes.len());
    let drawn = positions(bytes, k, rand, |byte| byte != b'\n');
    for &at in &drawn {
        bytes[at] = other_character(bytes, bytes[at], rand);
    }
    !drawn.is_empty()
}

/// Draws a character other than `old`.
fn other_character(bytes: &[u8], old: u8, rand: &mut StdRand) -> u8 {
    for _ in 0..4 {
        let (new, any) = match rand.below_or_zero(16) {
            0..=7 => (bytes[rand.below_or_zero(bytes.len())], false),
            8..=14 => (b' ' + rand.below_or_zero(usize::from(b'~' - b' ') + 1) as u8, false),
            _ => (rand.below_or_zero(256) as u8, true),
        };
        if new != old && (any || new != b'\n') {
            return new;
        }
    }
    if old == b'a' { b'b' } else { b'a' }
}

rule! {
    DELETE_CHARACTER: "T.15" delete_character, aims at "constructs that lack a part", b"abc\n" => b"ac\n"
}

fn delete_character(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    let k = repeats(rand, || bytes.len());
    let drawn = positions(bytes, k, rand, |byte| byte != b'\n');
    delete_bytes(bytes, &drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{SEEDS, always_made, made};

    #[test]
    fn changing_keeps_the_length_and_the_newlines_that_are_there() {
        let text = b"abc\nxyz\n";
        for bytes in always_made(&CHANGE_CHARACTER, text, 8) {
            assert_eq!(bytes.len(), text.len());
            assert_eq!((bytes[3], bytes[7]), (b'\n', b'\n'));
        }
    }

    #[test]
    fn most_new_characters_are_printable() {
        let is_printable = |bytes: &&Vec<u8>| bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
        let printable = always_made(&CHANGE_CHARACTER, b"abcdef", 8).iter().filter(is_printable).count();
        assert!((SEEDS * 17 / 20..SEEDS).contains(&printable), "{printable}");
    }

    #[test]
    fn deleting_characters_leaves_the_others_in_order() {
        for bytes in always_made(&DELETE_CHARACTER, b"abc\ndef\n", 8) {
            assert!(bytes.len() < 8);
            let letters: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'\n').collect();
            assert_eq!(bytes.len() - letters.len(), 2);
            assert!(letters.is_sorted());
        }
    }

    #[test]
    fn newlines_alone_are_no_characters() {
        assert!([&CHANGE_CHARACTER, &DELETE_CHARACTER].iter().all(|rule| made(*rule, b"\n\n\n", 8).is_empty()));
    }
}
