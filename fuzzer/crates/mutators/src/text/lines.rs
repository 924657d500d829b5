//! Rules for whole lines.

use libafl_bolts::rands::{Rand, StdRand};

use super::Lines;
use crate::draw::{log_uniform, repeats};
use crate::edit::{Insert, What, delete_all, insert_all};
use crate::rule::rule;

rule! {
    /// Doubles the content of lines. A line that is drawn several times in a call is doubled as often.
    DOUBLE_LINE: "T.1" double_line, aims at "long lines, backtracking over long lines", b"ab\ncd\n" => b"abab\ncd\n"
}

fn double_line(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let mut room = limit - bytes.len();
    if room == 0 {
        return false;
    }
    let lines = Lines::of(bytes);
    // a single line can be doubled until the room is used up
    let k = repeats(rand, || lines.len().max(room.ilog2() as usize + 1));
    let drawn = lines.draw(k, rand, |line| !line.is_empty() && line.len() <= room);
    let mut inserts = Vec::with_capacity(drawn.len());
    for (line, hits) in drawn {
        let mut copies = 0;
        for _ in 0..hits {
            let more = copies + 1;
            if more * line.len() > room {
                break;
            }
            room -= more * line.len();
            copies += more;
        }
        let what = What::Copy { from: line.start, len: line.len(), times: copies, separator: None };
        inserts.push(Insert { at: line.end, what });
    }
    insert_all(bytes, &mut inserts)
}

rule! {
    /// Inserts copies of a line, or of a block of lines, after the original, often several of them.
    DUPLICATE_LINE: "T.2" duplicate_line, aims at "many lines, equal lines", b"a\nb" => b"a\nb\nb"
}

fn duplicate_line(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let mut room = limit - bytes.len();
    if room == 0 {
        return false;
    }
    let lines = Lines::of(bytes);
    let k = repeats(rand, || lines.len().min(room));
    let share = (room / k).max(1);
    let drawn = lines.draw(k, rand, |line| line.len() < room);
    let mut inserts = Vec::with_capacity(k);
    for (line, hits) in drawn {
        for _ in 0..hits {
            let share = share.min(room);
            let mut end = line.end;
            if rand.coinflip(0.25) {
                let first = lines.ends.partition_point(|&end| end < line.end);
                end = lines.ends[first + log_uniform(rand, lines.len() - first) - 1];
            }
            if end - line.start >= share {
                end = line.end;
            }
            let len = end - line.start;
            if len >= room {
                break;
            }
            let times = log_uniform(rand, (share / (len + 1)).max(1));
            room -= times * (len + 1);
            let what = What::Copy { from: line.start, len, times, separator: Some(b'\n') };
            inserts.push(Insert { at: end, what });
        }
    }
    insert_all(bytes, &mut inserts)
}

rule! {
    /// Splits a line inside; a line that is too short for that gets an empty line before it.
    DIVIDE_LINE: "T.3" divide_line, aims at "many lines, constructs that are not closed on their line", b"</author>" => b"</au\nthor>"
}

fn divide_line(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    let room = limit - bytes.len();
    if room == 0 {
        return false;
    }
    let lines = Lines::of(bytes);
    let k = repeats(rand, || bytes.len().min(room));
    let mut inserts = Vec::with_capacity(k);
    for (line, hits) in lines.draw(k, rand, |_| true) {
        for _ in 0..hits {
            let inside = if line.len() < 2 { 0 } else { 1 + rand.below_or_zero(line.len() - 1) };
            inserts.push(Insert { at: line.start + inside, what: What::Fill { byte: b'\n', count: 1 } });
        }
    }
    insert_all(bytes, &mut inserts)
}

rule! {
    /// Deletes lines, but never all.
    DELETE_LINE: "T.13" delete_line, aims at "what a line in between kept from being slow", b"a\nb\nc" => b"a\nc"
}

fn delete_line(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    let lines = Lines::of(bytes);
    if lines.len() < 2 {
        return false;
    }
    let closed = bytes.last() == Some(&b'\n');
    let k = repeats(rand, || lines.len() - 1);
    let ranges: Vec<_> = lines
        .draw(k, rand, |_| true)
        .into_iter()
        .map(|(line, _)| line.start..(line.end + 1).min(bytes.len()))
        .collect();
    let last_goes = ranges.last().is_some_and(|range| range.end == bytes.len());
    if last_goes && !closed {
        // the newline before it is removed too, so that the new last line has no newline either
        delete_all(bytes, &ranges);
        bytes.pop();
        return true;
    }
    delete_all(bytes, &ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{always_made, made};

    fn lines_of(bytes: &[u8]) -> Vec<Vec<u8>> {
        let lines = Lines::of(bytes);
        (0..lines.len()).map(|line| bytes[lines.range(line)].to_vec()).collect()
    }

    /// Whether `part` is `whole` with some items left out.
    fn is_subsequence(part: &[Vec<u8>], whole: &[Vec<u8>]) -> bool {
        let mut rest = whole.iter();
        part.iter().all(|item| rest.any(|other| other == item))
    }

    #[test]
    fn doubling_only_repeats_the_content_of_lines() {
        for bytes in always_made(&DOUBLE_LINE, b"ab\n\ncd e\nf", 200) {
            let after = lines_of(&bytes);
            assert_eq!(after.len(), 4);
            for (old, new) in [&b"ab"[..], b"", b"cd e", b"f"].iter().zip(after) {
                assert_eq!(new, old.repeat(new.len().checked_div(old.len()).unwrap_or(1)));
                assert!(old.is_empty() || (new.len() / old.len()).is_power_of_two());
            }
        }
    }

    #[test]
    fn a_single_line_can_double_until_the_limit() {
        assert_eq!(made(&DOUBLE_LINE, b"ab\n", 1000).iter().map(Vec::len).max(), Some(513));
    }

    #[test]
    fn duplicating_adds_lines_that_were_there_and_keeps_the_end_as_it_was() {
        for (text, closed) in [(&b"one\ntwo\nthree"[..], false), (b"one\ntwo\nthree\n", true)] {
            for bytes in always_made(&DUPLICATE_LINE, text, 300) {
                assert_eq!(bytes.ends_with(b"\n"), closed);
                assert!(is_subsequence(&lines_of(text), &lines_of(&bytes)));
                assert!(lines_of(&bytes).iter().all(|line| lines_of(text).contains(line)));
            }
        }
    }

    #[test]
    fn duplicating_copies_blocks_of_lines_too() {
        assert!(made(&DUPLICATE_LINE, b"a\nb\nc\n", 50).contains(&b"a\nb\na\nb\nc\n".to_vec()));
    }

    #[test]
    fn dividing_adds_newlines_and_nothing_else() {
        let newlines = 3;
        for mut bytes in always_made(&DIVIDE_LINE, b"abc def\nx\n\nyz", 100) {
            assert!(!bytes.ends_with(b"\n"));
            assert!(bytes.iter().filter(|&&byte| byte == b'\n').count() > newlines);
            bytes.retain(|&byte| byte != b'\n');
            assert_eq!(bytes, b"abc defxyz");
        }
    }

    #[test]
    fn deleting_lines_leaves_the_others_whole_and_at_least_one() {
        for (text, closed) in [(&b"one\n\ntwo\nthree"[..], false), (b"one\n\ntwo\nthree\n", true)] {
            for bytes in always_made(&DELETE_LINE, text, 300) {
                assert!(is_subsequence(&lines_of(&bytes), &lines_of(text)));
                assert!(bytes.is_empty() || closed == bytes.ends_with(b"\n") || bytes.ends_with(b"one\n"));
            }
        }
        assert!(made(&DELETE_LINE, b"only\n", 300).is_empty());
    }
}
