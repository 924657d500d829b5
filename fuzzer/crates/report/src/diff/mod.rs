//! Difference of two inputs: compared by segments first, then by bytes within changed segments.

pub mod hex;
pub mod page;
pub mod text;

use std::{
    collections::HashMap,
    hash::Hash,
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

/// Fewer equal bytes than this between two changes are counted as changed, to avoid fragmented differences.
const LEAST_SAME: usize = 4;

/// Between two long replacements, up to this many equal bytes are considered coincidental.
const MOST_BY_CHANCE: usize = 24;

/// Longest time for comparing one changed block by bytes.
const TIME_FOR_BYTES: Duration = Duration::from_millis(100);

/// A pair of corresponding ranges of both inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Range in the old input.
    pub old: Range<usize>,
    /// Range in the new input.
    pub new: Range<usize>,
    /// Whether both ranges have the same bytes; otherwise the first was replaced by the second.
    pub same: bool,
}

/// Compares two inputs. Returns blocks in order, in which equal and changed ones alternate. After the deadline,
/// whatever was not compared yet counts as changed.
pub fn difference(old: &[u8], new: &[u8], deadline: Instant) -> Vec<Block> {
    let (old_segments, new_segments) = (segments(old), segments(new));
    let mut numbers = HashMap::new();
    let mut numbered = Vec::new();
    for segments in [&old_segments, &new_segments] {
        let mut ids = Vec::with_capacity(segments.len());
        for &segment in segments {
            let next = numbers.len() as u32;
            ids.push(*numbers.entry(segment).or_insert(next));
        }
        numbered.push(ids);
    }
    let (old_ends, new_ends) = (ends(&old_segments), ends(&new_segments));
    let mut blocks = Vec::new();
    for block in compared(Algorithm::Patience, &numbered[0], &numbered[1], deadline) {
        let of_old = old_ends[block.old.start]..old_ends[block.old.end];
        let of_new = new_ends[block.new.start]..new_ends[block.new.end];
        if block.same || of_old.is_empty() || of_new.is_empty() {
            push(&mut blocks, Block { old: of_old, new: of_new, same: block.same });
            continue;
        }
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let deadline = deadline.min(Instant::now() + TIME_FOR_BYTES);
        for inner in compared(Algorithm::Myers, &old[of_old.clone()], &new[of_new.clone()], deadline) {
            let (old, new) = (moved(inner.old, of_old.start), moved(inner.new, of_new.start));
            push(&mut blocks, Block { old, new, same: inner.same });
        }
    }
    without_confetti(blocks)
}

/// Compares two sequences. Returns blocks in which equal and changed ones alternate.
fn compared<T: Eq + Hash + Ord>(algorithm: Algorithm, old: &[T], new: &[T], deadline: Instant) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut old_end, mut new_end) = (0, 0);
    for op in capture_diff_slices_deadline(algorithm, old, new, Some(deadline)) {
        // the crate does not update the old position of an insertion, nor the new one of a deletion: only lengths are
        // used
        let (old_start, new_start) = (old_end, new_end);
        (old_end, new_end) = (old_end + op.old_range().len(), new_end + op.new_range().len());
        let same = op.tag() == DiffTag::Equal;
        push(&mut blocks, Block { old: old_start..old_end, new: new_start..new_end, same });
    }
    blocks
}

/// Start positions of all segments, followed by the end of the last one.
fn ends(segments: &[&[u8]]) -> Vec<usize> {
    let ends = segments.iter().scan(0, |end, segment| {
        *end += segment.len();
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Appends a block, merging it with the last one if both are equal or both changed.
fn push(blocks: &mut Vec<Block>, block: Block) {
    match blocks.last_mut() {
        Some(last) if last.same == block.same => (last.old.end, last.new.end) = (block.old.end, block.new.end),
        _ => blocks.push(block),
    }
}

fn without_confetti(blocks: Vec<Block>) -> Vec<Block> {
    // the second pass sees changes that the first has merged
    let few = join_over(blocks, |same, _, _| same.new.len() < LEAST_SAME);
    let replaced = |block: &Block| if block.old.is_empty() { 0 } else { block.new.len() };
    join_over(few, |same, before, after| same.new.len() <= replaced(before).min(replaced(after)).min(MOST_BY_CHANCE))
}

/// Marks equal blocks as changed if `is_confetti` holds for them and the changes before and after them.
fn join_over(blocks: Vec<Block>, is_confetti: impl Fn(&Block, &Block, &Block) -> bool) -> Vec<Block> {
    let mut kept: Vec<Block> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let around = kept.last().zip(blocks.get(at + 1)).filter(|_| block.same);
        let joins = around.is_some_and(|(before, after)| is_confetti(block, before, after));
        push(&mut kept, Block { same: block.same && !joins, ..block.clone() });
    }
    kept
}

/// Minimum length in bytes of a part of a longer line.
const LEAST: usize = 16;

/// Maximum length in bytes of a segment.
const MOST: usize = 256;

/// Pseudorandom number for each byte value, for the gear hash.
static GEAR: [u64; 256] = gear();

const fn gear() -> [u64; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        // SplitMix64
        let mut z = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[at] = z ^ (z >> 31);
        at += 1;
    }
    table
}

/// Splits an input into lines, and long lines into parts of about 80 bytes.
fn segments(bytes: &[u8]) -> Vec<&[u8]> {
    let mut segments = Vec::new();
    for mut line in bytes.split_inclusive(|&byte| byte == b'\n') {
        while line.len() > MOST {
            let (piece, rest) = line.split_at(cut(line));
            segments.push(piece);
            line = rest;
        }
        if !line.is_empty() {
            segments.push(line);
        }
    }
    segments
}

/// Length of the first part of a long line: it ends where the hash of the last bytes has six zero bits.
fn cut(line: &[u8]) -> usize {
    let mut hash: u64 = 0;
    for (at, &byte) in line.iter().enumerate().take(MOST) {
        hash = (hash << 1).wrapping_add(GEAR[byte as usize]);
        // the upper bits depend on up to 64 bytes
        if at + 1 >= LEAST && hash >> 58 == 0 {
            return at + 1;
        }
    }
    MOST.min(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn changes(old: &[u8], new: &[u8]) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let changed = difference(old, new, soon()).into_iter().filter(|block| !block.same);
        changed.map(|block| (text(&old[block.old]), text(&new[block.new]))).collect()
    }

    fn pair(old: &str, new: &str) -> (String, String) {
        (old.to_owned(), new.to_owned())
    }

    #[test]
    fn changes_are_as_small_as_they_are() {
        assert_eq!(changes(b"int x;\nint y;\n", b"int x;   \nint y;\n"), [pair("", "   ")]);
        assert_eq!(changes(b"a\nb\nc\n", b"a\nc\n"), [pair("b\n", "")]);
        assert_eq!(changes(b"same\n", b"same\n"), []);
        assert_eq!(changes(b"", b"all of it"), [pair("", "all of it")]);
    }

    #[test]
    fn equal_letters_in_other_words_are_not_a_likeness() {
        assert_eq!(changes(b"key = apple;", b"key = crepes;"), [pair("apple", "crepes")]);
        let old = b"/* reads name from standard input */";
        let new = b"/* 0123456789012345 name 0123456789012345 */";
        assert_eq!(changes(old, new).len(), 1);
        let (old, new) = (b"a name b".to_vec(), b"a                    name                    b".to_vec());
        assert_eq!(changes(&old, &new).len(), 2, "two insertions are two changes");
    }

    #[test]
    fn without_time_everything_may_have_changed_and_nothing_is_lost() {
        let blocks = difference(b"abc def", b"abd cef", Instant::now());
        assert_eq!(blocks.last().map(|block| (block.old.end, block.new.end)), Some((7, 7)));
    }

    proptest! {
        #[test]
        fn both_inputs_can_be_put_together_again(
            old in proptest::collection::vec(proptest::sample::select(&b"ab \n"[..]), 0..600),
            edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0_usize..9, "[ab\n]{0,9}"), 0..6),
        ) {
            let mut new = old.clone();
            for (at, removed, added) in edits {
                let at = at.index(new.len() + 1);
                new.splice(at..(at + removed).min(new.len()), added.into_bytes());
            }
            let blocks = difference(&old, &new, soon());
            let (mut old_end, mut new_end) = (0, 0);
            for (at, block) in blocks.iter().enumerate() {
                prop_assert_eq!((block.old.start, block.new.start), (old_end, new_end));
                (old_end, new_end) = (block.old.end, block.new.end);
                prop_assert!(!block.same || old[block.old.clone()] == new[block.new.clone()]);
                prop_assert!(at == 0 || blocks[at - 1].same != block.same);
            }
            prop_assert_eq!((old_end, new_end), (old.len(), new.len()));
        }
    }

    #[test]
    fn an_insertion_moves_the_cuts_behind_it_along() {
        let old: Vec<u8> = (0..20_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        let mut new = old.clone();
        new.splice(7_000..7_000, *b"inserted");
        let (old, new) = (segments(&old), segments(&new));
        let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        assert!(same + before + 6 >= old.len(), "{before} and {same} of {}", old.len());
    }

    proptest! {
        #[test]
        fn segments_are_short_and_together_the_input(bytes in proptest::collection::vec(0_u8..16, 0..3_000)) {
            let segments = segments(&bytes);
            prop_assert!(segments.iter().all(|segment| (1..=MOST).contains(&segment.len())));
            prop_assert_eq!(segments.concat(), bytes);
        }
    }
}
