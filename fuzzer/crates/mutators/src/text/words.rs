//! Rules for words.

use std::cmp::Ordering;
use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::{Lines, count_runs, gaps, separator, words};
use crate::draw::{log_uniform, repeats};
use crate::edit::{Insert, What, delete_all, insert_all, is_blank};
use crate::rule::rule;

/// Number of words in the input.
fn count_words(bytes: &[u8]) -> usize {
    count_runs(bytes, |byte| !is_blank(byte) & (byte != b'\n'))
}

rule! {
    /// Inserts copies of a word after it, separated by the blank that the line uses there.
    REPEAT_WORD: "T.5" repeat_word, aims at "hash chains, sorting of equal keys, many words", b"a b\n" => b"a a a b\n"
}

fn repeat_word(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let mut room = limit - bytes.len();
    if room < 2 {
        return false;
    }
    let lines = Lines::of(bytes);
    let k = repeats(rand, || count_words(bytes).min(room / 2));
    let share = room / k;
    let drawn = lines.draw(k, rand, |line| words(bytes, line).any(|word| word.len() < room));
    let mut inserts = Vec::with_capacity(k);
    let mut candidates: Vec<Range<usize>> = Vec::new();
    for (line, hits) in drawn {
        candidates.clear();
        candidates.extend(words(bytes, line.clone()).filter(|word| word.len() < room));
        if candidates.is_empty() {
            continue;
        }
        for _ in 0..hits {
            let word = candidates[rand.below_or_zero(candidates.len())].clone();
            let unit = word.len() + 1;
            if unit > room {
                continue;
            }
            let times = log_uniform(rand, (share.min(room) / unit).max(1));
            room -= times * unit;
            let separator = Some(separator(bytes, &line, &word));
            let what = What::Copy { from: word.start, len: word.len(), times, separator };
            inserts.push(Insert { at: word.end, what });
        }
    }
    insert_all(bytes, &mut inserts)
}

rule! {
    /// Sorts the words of lines by bytes, or by value if all words of the line are numbers. The blanks keep their
    /// places.
    SORT_LINE: "T.6" sort_line, aims at "worst cases of sorts, unbalanced trees", b"10 9\t2\n" => b"2 9\t10\n"
}

fn sort_line(bytes: &mut [u8], _limit: usize, rand: &mut StdRand) -> bool {
    sort_lines(bytes, rand, false)
}

rule! {
    /// Sorts the words of lines as T.6, in descending order.
    SORT_LINE_IN_REVERSE: "T.7" sort_line_in_reverse, aims at "worst cases of sorts, unbalanced trees", b"2 9\t10\n" => b"10 9\t2\n"
}

fn sort_line_in_reverse(bytes: &mut [u8], _limit: usize, rand: &mut StdRand) -> bool {
    sort_lines(bytes, rand, true)
}

fn sort_lines(bytes: &mut [u8], rand: &mut StdRand, reverse: bool) -> bool {
    let lines = Lines::of(bytes);
    let k = repeats(rand, || lines.len());
    let drawn = lines.draw(k, rand, |line| !Words::of(bytes, line).is_sorted(bytes, reverse));
    let mut old = Vec::new();
    for (line, _) in &drawn {
        let words = Words::of(bytes, line.clone());
        let mut order: Vec<usize> = (0..words.places.len()).collect();
        order.sort_by(|&a, &b| words.compare(bytes, a, b, reverse));
        old.clear();
        old.extend_from_slice(&bytes[line.clone()]);
        let mut to = line.start;
        let mut gap = line.start;
        for (place, &from) in words.places.iter().zip(&order) {
            let blanks = gap - line.start..place.start - line.start;
            let word = words.places[from].start - line.start..words.places[from].end - line.start;
            for piece in [blanks, word] {
                bytes[to..to + piece.len()].copy_from_slice(&old[piece.clone()]);
                to += piece.len();
            }
            gap = place.end;
        }
    }
    !drawn.is_empty()
}

/// The words of a line, and their values if all of them are numbers.
struct Words {
    places: Vec<Range<usize>>,
    values: Option<Vec<f64>>,
}

impl Words {
    fn of(bytes: &[u8], line: Range<usize>) -> Self {
        let places: Vec<Range<usize>> = words(bytes, line).collect();
        let values = places.iter().map(|word| value(&bytes[word.clone()])).collect();
        Self { places, values }
    }

    fn compare(&self, bytes: &[u8], a: usize, b: usize, reverse: bool) -> Ordering {
        let order = match &self.values {
            Some(values) => values[a].total_cmp(&values[b]),
            None => bytes[self.places[a].clone()].cmp(&bytes[self.places[b].clone()]),
        };
        if reverse { order.reverse() } else { order }
    }

    fn is_sorted(&self, bytes: &[u8], reverse: bool) -> bool {
        (1..self.places.len()).all(|i| self.compare(bytes, i - 1, i, reverse).is_le())
    }
}

/// Value of a word that is a number.
fn value(word: &[u8]) -> Option<f64> {
    if !word.last()?.is_ascii_digit() && !word.ends_with(b".") {
        return None;
    }
    let value: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    // -0 and 0 are equal keys
    value.is_finite().then_some(value + 0.0)
}

rule! {
    /// Removes all blanks of lines, which joins their words.
    BLOAT_WORDS: "T.12" bloat_words, aims at "long words", b"a b\tc\nd e\n" => b"abc\nd e\n"
}

fn bloat_words(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    let k = repeats(rand, || lines.len());
    let drawn = lines.draw(k, rand, |line| bytes[line].iter().any(|&byte| is_blank(byte)));
    let ranges: Vec<Range<usize>> = drawn.into_iter().flat_map(|(line, _)| gaps(bytes, line)).collect();
    delete_all(bytes, &ranges)
}

rule! {
    /// Deletes words, each in one place only, and keeps the blanks around them.
    DELETE_WORD: "T.14" delete_word, aims at "constructs that lack a part", b"a b a\n" => b"a b \n"
}

fn delete_word(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    let k = repeats(rand, || count_words(bytes));
    let drawn = lines.draw(k, rand, |line| bytes[line].iter().any(|&byte| !is_blank(byte)));
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(k);
    let mut candidates: Vec<Range<usize>> = Vec::new();
    for (line, hits) in drawn {
        candidates.clear();
        candidates.extend(words(bytes, line));
        let mut chosen: Vec<usize> = (0..hits).map(|_| rand.below_or_zero(candidates.len())).collect();
        chosen.sort_unstable();
        chosen.dedup();
        ranges.extend(chosen.into_iter().map(|word| candidates[word].clone()));
    }
    delete_all(bytes, &ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rule::Rule,
        tests::{always_made, made},
    };

    fn words_of(bytes: &[u8]) -> Vec<&[u8]> {
        bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn repeated_words_stay_apart_and_in_their_line() {
        for bytes in always_made(&REPEAT_WORD, b"one two\n\tthree\n", 500) {
            let mut found = words_of(&bytes);
            assert!(found.len() > 3);
            found.dedup();
            assert_eq!(found, words_of(b"one two three"));
            assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 2);
        }
    }

    #[test]
    fn a_word_is_repeated_by_the_blank_that_its_line_uses() {
        assert!(always_made(&REPEAT_WORD, b"a\tb\tc\n", 100).iter().all(|bytes| !bytes.contains(&b' ')));
    }

    fn sorted(rule: &dyn Rule, text: &[u8]) -> Option<Vec<u8>> {
        made(rule, text, 1000).into_iter().next()
    }

    #[test]
    fn words_are_sorted_by_bytes_and_numbers_by_value() {
        assert_eq!(sorted(&SORT_LINE, b"pear  fig\tapple").as_deref(), Some(&b"apple  fig\tpear"[..]));
        assert_eq!(sorted(&SORT_LINE, b" 10 -9 2.5 1e3 ").as_deref(), Some(&b" -9 2.5 10 1e3 "[..]));
        assert_eq!(sorted(&SORT_LINE, b"10 9 x").as_deref(), None);
        assert_eq!(sorted(&SORT_LINE_IN_REVERSE, b"9 10 x").as_deref(), Some(&b"x 9 10"[..]));
    }

    #[test]
    fn equal_numbers_keep_their_order() {
        assert_eq!(sorted(&SORT_LINE, b"1 1.0 01 0").as_deref(), Some(&b"0 1 1.0 01"[..]));
        assert_eq!(sorted(&SORT_LINE_IN_REVERSE, b"0 -0 1 1.0").as_deref(), Some(&b"1 1.0 0 -0"[..]));
    }

    #[test]
    fn what_is_sorted_is_not_sorted_again() {
        for text in [&b"a b c\n1 9 10\n"[..], b"a a a", b"one\nword\nper\nline\n", b"\n \n", b""] {
            assert_eq!(sorted(&SORT_LINE, text), None);
        }
        assert_eq!(sorted(&SORT_LINE_IN_REVERSE, b"c b a\n10 9 1\n"), None);
    }

    #[test]
    fn bloating_leaves_newlines_and_words() {
        for mut bytes in always_made(&BLOAT_WORDS, b"a b\n c\x0b\rd \ne f", 100) {
            let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            assert_eq!(lines.len(), 3);
            assert!(lines.iter().any(|line| [&b"ab"[..], b"cd", b"ef"].contains(line)));
            bytes.retain(|&byte| !is_blank(byte));
            assert_eq!(bytes, b"ab\ncd\nef");
        }
    }

    #[test]
    fn only_the_occurrence_that_was_drawn_is_deleted() {
        let mut single = made(&DELETE_WORD, b"the cat the dog", 100);
        single.retain(|bytes| words_of(bytes).len() == 3);
        let single: std::collections::BTreeSet<Vec<u8>> = single.into_iter().collect();
        let expected = [&b" cat the dog"[..], b"the  the dog", b"the cat  dog", b"the cat the "];
        assert_eq!(single, expected.iter().map(|text| text.to_vec()).collect());
    }
}
