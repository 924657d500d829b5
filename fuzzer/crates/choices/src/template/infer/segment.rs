//! Ranges of an input that a loop can stand for.

use std::ops::Range;

use super::Origin;
use crate::template::{Part, Times};

/// Content of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pump {
    /// A body.
    Repeat(Vec<Part>),
    /// An opening part, the middle, and a closing part.
    Nest(Vec<Part>, Vec<Part>, Vec<Part>),
}

impl Pump {
    /// The part that repeats it so many times.
    pub(super) fn part(self, times: Times) -> Part {
        match self {
            Self::Repeat(body) => Part::Repeat { times, body },
            Self::Nest(open, middle, close) => Part::Nest { times, open, middle, close },
        }
    }
}

/// A range of an input and the loop that stands for it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    pub range: Range<usize>,
    /// Content of the loop.
    pub pump: Pump,
    /// Number of rounds at which it is about as long as the range, at least 1.
    pub times: u64,
    /// How it was found.
    pub origin: Origin,
}

impl Segment {
    /// The first `unit` bytes of a range, as often as they fit.
    pub(super) fn repeated(range: Range<usize>, unit: usize, input: &[u8], origin: Origin) -> Self {
        let body = vec![Part::Literal(input[range.start..range.start + unit].to_vec())];
        let times = (range.len() / unit.max(1)).max(1) as u64;
        Self { range, pump: Pump::Repeat(body), times, origin }
    }

    /// How likely it is that this is what makes the input slow. Half as many bytes are less than half as likely to be
    /// nothing: the square root of the share counts.
    pub(super) fn score(&self, size: usize) -> f64 {
        let rounds = 1.0 - 1.0 / (self.times as f64 + 1.0);
        (self.range.len() as f64 / size.max(1) as f64).sqrt() * rounds * self.origin.prior()
    }
}

/// Rank of a place as the start of a unit: units that begin at a line, a word or a bracket are easier to read, and
/// keep their separators.
pub(super) fn rank_of_start(input: &[u8], at: usize) -> u8 {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let before = at.checked_sub(1).map(|before| input[before]);
    let here = input.get(at).copied();
    match (before, here) {
        (Some(before), Some(here)) if is_word(before) && is_word(here) => 0,
        (Some(b'\n'), _) => 4,
        (_, Some(b'<' | b'(' | b'[' | b'{')) => 3,
        // what separates two units stands behind the first one
        (_, Some(b' ' | b'\t' | b',' | b';')) => 1,
        (None | Some(b' ' | b'\t' | b',' | b';' | b'[' | b'(' | b'{'), _) => 2,
        _ => 1,
    }
}

/// The place in the first unit of a range at which a unit begins best, such that at least `least` units fit behind it.
pub(super) fn best_start(input: &[u8], range: &Range<usize>, unit: usize, least: usize) -> usize {
    let last = range.end.saturating_sub(least.max(1) * unit).max(range.start);
    let places = range.start..=last.min(range.start + unit - 1);
    places.max_by_key(|&at| (rank_of_start(input, at), std::cmp::Reverse(at))).unwrap_or(range.start)
}
