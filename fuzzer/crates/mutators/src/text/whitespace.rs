//! Rules that add blanks.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::{Lines, count_runs, gaps};
use crate::draw::{log_uniform, repeats};
use crate::edit::{Insert, What, insert_all, is_blank};
use crate::rule::rule;

rule! {
    APPEND_WHITESPACE: "T.8" append_whitespace, aims at "trimming, regular expressions that look for the end of a line", b"ab\n" => b"ab  \n"
}

fn append_whitespace(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    add_runs(bytes, limit, rand, &lines, lines.len(), |line, _| line.end)
}

rule! {
    PREPEND_WHITESPACE: "T.9" prepend_whitespace, aims at "trimming, indentation", b"ab\n" => b"  ab\n"
}

fn prepend_whitespace(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    add_runs(bytes, limit, rand, &lines, lines.len(), |line, _| line.start)
}

rule! {
    INSERT_WHITESPACE: "T.10" insert_whitespace, aims at "backtracking over blanks, many words", b"ab\n" => b"a  b\n"
}

fn insert_whitespace(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    let places = bytes.len();
    add_runs(bytes, limit, rand, &lines, places, |line, rand| line.start + rand.below_or_zero(line.len() + 1))
}

/// Adds runs of blanks to up to `most` randomly drawn lines, each at the position that `place` chooses in its line.
///
/// A single run may take all the room; several share it equally, so that all of them happen.
fn add_runs(
    bytes: &mut Vec<u8>,
    limit: usize,
    rand: &mut StdRand,
    lines: &Lines,
    most: usize,
    place: impl Fn(&Range<usize>, &mut StdRand) -> usize,
) -> bool {
    let room = limit - bytes.len();
    if room == 0 {
        return false;
    }
    let k = repeats(rand, || most.min(room));
    let mut inserts = Vec::with_capacity(k);
    for (line, hits) in lines.draw(k, rand, |_| true) {
        for _ in 0..hits {
            let count = log_uniform(rand, room / k);
            inserts.push(Insert { at: place(&line, rand), what: run_of_blanks(count, rand) });
        }
    }
    insert_all(bytes, &mut inserts)
}

/// A run of blanks, mostly of one character, since code that skips blanks often handles one kind.
fn run_of_blanks(count: usize, rand: &mut StdRand) -> What {
    let byte = match rand.below_or_zero(16) {
        0..=8 => b' ',
        9..=11 => b'\t',
        12 => 0x0b,
        13 => 0x0c,
        14 => b'\r',
        _ => return What::Mixture { seed: rand.next(), count },
    };
    What::Fill { byte, count }
}

rule! {
    /// Repeats a whole run of blanks.
    REPEAT_WHITESPACE: "T.11" repeat_whitespace, aims at "trimming, backtracking over blanks", b"a \tb c\n" => b"a \t \t \tb c\n"
}

fn repeat_whitespace(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let mut room = limit - bytes.len();
    if room == 0 {
        return false;
    }
    let lines = Lines::of(bytes);
    let k = repeats(rand, || count_runs(bytes, is_blank).min(room));
    let share = room / k;
    let drawn = lines.draw(k, rand, |line| bytes[line].iter().any(|&byte| is_blank(byte)));
    let mut inserts = Vec::with_capacity(k);
    let mut candidates: Vec<Range<usize>> = Vec::new();
    for (line, hits) in drawn {
        candidates.clear();
        candidates.extend(gaps(bytes, line));
        for _ in 0..hits {
            let gap = candidates[rand.below_or_zero(candidates.len())].clone();
            // only the end of a run that is longer than the room
            let len = gap.len().min(share);
            let times = log_uniform(rand, share.min(room) / len);
            room -= times * len;
            let what = What::Copy { from: gap.end - len, len, times, separator: None };
            inserts.push(Insert { at: gap.end, what });
        }
    }
    insert_all(bytes, &mut inserts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{SEEDS, always_made, made};

    fn without_blanks(bytes: &[u8]) -> Vec<u8> {
        bytes.iter().copied().filter(|&byte| !is_blank(byte)).collect()
    }

    #[test]
    fn only_blanks_are_added_and_no_newline() {
        let text = b"a b\ncd\n\ne";
        for rule in [&APPEND_WHITESPACE, &PREPEND_WHITESPACE, &INSERT_WHITESPACE, &REPEAT_WHITESPACE] {
            for bytes in always_made(rule, text, 300) {
                assert!(bytes.len() > text.len());
                assert_eq!(without_blanks(&bytes), without_blanks(text));
            }
        }
    }

    #[test]
    fn blanks_are_appended_and_prepended_where_their_names_say() {
        for bytes in always_made(&APPEND_WHITESPACE, b"ab\ncd", 300) {
            assert!(bytes.split(|&byte| byte == b'\n').all(|line| line.starts_with(b"ab") || line.starts_with(b"cd")));
        }
        for bytes in always_made(&PREPEND_WHITESPACE, b"ab\ncd", 300) {
            assert!(bytes.split(|&byte| byte == b'\n').all(|line| line.ends_with(b"ab") || line.ends_with(b"cd")));
        }
    }

    #[test]
    fn one_blank_and_a_run_that_fills_the_room_both_happen() {
        let lengths: Vec<usize> =
            made(&PREPEND_WHITESPACE, b"ab", 100_002).iter().map(|bytes| bytes.len() - 2).collect();
        assert!(lengths.contains(&1) && lengths.iter().any(|&length| length > 90_000));
    }

    #[test]
    fn most_runs_are_of_one_character_and_all_blanks_are_used() {
        let (mut plain, mut seen) = (0, std::collections::BTreeSet::new());
        for bytes in always_made(&APPEND_WHITESPACE, b"", 1000) {
            plain += usize::from(bytes.iter().all(|&byte| byte == bytes[0]));
            seen.extend(bytes);
        }
        assert!(plain > SEEDS * 4 / 5, "{plain}");
        assert_eq!(seen.into_iter().collect::<Vec<u8>>(), b"\t\x0b\x0c\r ");
    }

    #[test]
    fn whitespace_is_repeated_only_where_there_is_some() {
        assert!(made(&REPEAT_WHITESPACE, b"ab\ncd\n", 300).is_empty());
        for bytes in always_made(&REPEAT_WHITESPACE, b"ab\tcd\n", 300) {
            assert!(bytes.starts_with(b"ab\t\t") && bytes.ends_with(b"\tcd\n"));
        }
    }
}
