//! The text rules T. They work on bytes: the input need not be UTF-8.
//!
//! Lines end at `\n`; words are separated by blanks (space, tab, vertical tab, form feed, carriage return).

pub mod characters;
pub mod lines;
pub mod whitespace;
pub mod words;

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::edit::is_blank;

/// Positions of the lines of an input.
///
/// A newline ends a line, so no empty line follows the last newline. There is always a line: an empty input has one
/// empty line.
pub(super) struct Lines {
    /// Ends of the contents of all lines: at their newlines, or at the end of the input.
    ends: Vec<usize>,
}

impl Lines {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).collect();
        if bytes.last() != Some(&b'\n') {
            ends.push(bytes.len());
        }
        Self { ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Position of a line's content, without its newline.
    pub(super) fn range(&self, line: usize) -> Range<usize> {
        let start = if line == 0 { 0 } else { self.ends[line - 1] + 1 };
        start..self.ends[line]
    }

    /// Draws `k` lines with replacement and keeps those that `fit`: each with the number of its draws, in order.
    ///
    /// If none fits, returns the next line that does. `fits` is called at most twice per line, and lines are drawn
    /// uniformly, so that a `fits` that reads its line takes time linear in the size of the input.
    fn draw(
        &self,
        k: usize,
        rand: &mut StdRand,
        mut fits: impl FnMut(Range<usize>) -> bool,
    ) -> Vec<(Range<usize>, usize)> {
        let mut drawn: Vec<usize> = (0..k).map(|_| rand.below_or_zero(self.len())).collect();
        drawn.sort_unstable();
        let mut lines: Vec<(Range<usize>, usize)> = drawn
            .chunk_by(|a, b| a == b)
            .map(|same| (self.range(same[0]), same.len()))
            .filter(|(range, _)| fits(range.clone()))
            .collect();
        if lines.is_empty() {
            let start = rand.below_or_zero(self.len());
            let next =
                (start..self.len()).chain(0..start).map(|line| self.range(line)).find(|range| fits(range.clone()));
            lines.extend(next.map(|range| (range, k)));
        }
        lines
    }
}

/// The runs of bytes for which `inside` holds, in order.
fn runs(bytes: &[u8], within: Range<usize>, inside: impl Fn(u8) -> bool + Copy) -> impl Iterator<Item = Range<usize>> {
    let mut at = within.start;
    std::iter::from_fn(move || {
        let start = at + bytes[at..within.end].iter().position(|&byte| inside(byte))?;
        at = bytes[start..within.end].iter().position(|&byte| !inside(byte)).map_or(within.end, |len| start + len);
        Some(start..at)
    })
}

/// The words of a line, in order.
pub(super) fn words(bytes: &[u8], line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    runs(bytes, line, |byte| !is_blank(byte))
}

/// The separator of a word: the space or tab after it, or else before it; a space if neither is one.
pub(super) fn separator(bytes: &[u8], line: &Range<usize>, word: &Range<usize>) -> u8 {
    let before = word.start.checked_sub(1).filter(|at| line.contains(at));
    let after = Some(word.end).filter(|at| line.contains(at));
    [after, before].into_iter().flatten().map(|at| bytes[at]).find(|byte| b" \t".contains(byte)).unwrap_or(b' ')
}

/// The runs of blanks of a line, in order.
fn gaps(bytes: &[u8], line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    runs(bytes, line, is_blank)
}

/// Number of runs of bytes for which `inside` holds in the whole input.
fn count_runs(bytes: &[u8], inside: impl Fn(u8) -> bool) -> usize {
    let first = usize::from(bytes.first().is_some_and(|&byte| inside(byte)));
    first + bytes.iter().zip(bytes.iter().skip(1)).filter(|&(&a, &b)| !inside(a) & inside(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(bytes: &[u8]) -> Vec<&[u8]> {
        let lines = Lines::of(bytes);
        (0..lines.len()).map(|line| &bytes[lines.range(line)]).collect()
    }

    #[test]
    fn a_newline_ends_a_line_and_starts_none() {
        assert_eq!(contents(b""), [b""]);
        assert_eq!(contents(b"\n"), [b""]);
        assert_eq!(contents(b"a"), [b"a"]);
        assert_eq!(contents(b"a\n"), [b"a"]);
        assert_eq!(contents(b"\na\n\nb"), [&b""[..], b"a", b"", b"b"]);
    }

    #[test]
    fn words_stand_between_blanks_of_all_kinds() {
        let bytes = b" ab\tc\x0b\x0c\rd ";
        let found: Vec<&[u8]> = words(bytes, 0..bytes.len()).map(|word| &bytes[word]).collect();
        assert_eq!(found, [&b"ab"[..], b"c", b"d"]);
        assert_eq!(gaps(bytes, 0..bytes.len()).collect::<Vec<_>>(), [0..1, 3..4, 5..8, 9..10]);
        assert_eq!(words(bytes, 1..2).next(), Some(1..2));
        assert_eq!(count_runs(bytes, |byte| !is_blank(byte)), 3);
    }

    #[test]
    fn a_line_that_fits_is_found_if_there_is_one() {
        let mut bytes = b"\n".repeat(1000);
        bytes[567] = b'x';
        let lines = Lines::of(&bytes);
        let drawn = lines.draw(1, &mut StdRand::with_seed(0), |line| !line.is_empty());
        assert_eq!(drawn.len(), 1);
        assert_eq!(&bytes[drawn[0].0.clone()], b"x");
        assert!(lines.draw(9, &mut StdRand::with_seed(0), |line| line.len() > 1).is_empty());
    }
}
