//! Parts of an input that are repeated more and less often, to see how cost grows.

use std::ops::Range;

use quagmire_base::{repeats::spans, visible};

/// An input with parts that are repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pump {
    /// The parts, escaped for people.
    pub words: String,
    /// Unit and whole extent of each part, in order.
    parts: Vec<(Range<usize>, Range<usize>)>,
}

/// Number of pumps that are tried for one input.
const MOST: usize = 4;
/// Part of the input, as one in so many, that what repeats has to be to come first.
const LEAST_SHARE: usize = 4;
/// Longest part that is repeated although it repeats nothing, in bytes.
const LONGEST: usize = 128;
/// Length of a unit in messages.
const SHOWN: usize = 24;

impl Pump {
    fn new(input: &[u8], parts: Vec<(Range<usize>, Range<usize>)>) -> Self {
        let shown = |(unit, _): &(Range<usize>, Range<usize>)| {
            let bytes = &input[unit.clone()];
            let end = if bytes.len() > SHOWN { "..." } else { "" };
            format!("\"{}{end}\"", visible::shown(&String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)])))
        };
        Self { words: parts.iter().map(shown).collect::<Vec<_>>().join(" and "), parts }
    }

    /// The input with each part repeated `times` times.
    pub(super) fn made(&self, input: &[u8], times: usize) -> Vec<u8> {
        let mut made = Vec::with_capacity(self.length(input, times));
        let mut end = 0;
        for (unit, whole) in &self.parts {
            made.extend_from_slice(&input[end..whole.start]);
            (0..times).for_each(|_| made.extend_from_slice(&input[unit.clone()]));
            end = whole.end;
        }
        made.extend_from_slice(&input[end..]);
        made
    }

    /// Length of the input with each part repeated `times` times.
    pub(super) fn length(&self, input: &[u8], times: usize) -> usize {
        self.parts.iter().fold(input.len(), |length, (unit, whole)| {
            (length - whole.len()).saturating_add(unit.len().saturating_mul(times))
        })
    }

    /// How often the longest part is repeated in the input itself.
    pub(super) fn times(&self) -> usize {
        self.parts.iter().map(|(unit, whole)| whole.len() / unit.len().max(1)).max().unwrap_or(1)
    }

    /// Bytes that one more repetition adds.
    pub(super) fn unit(&self) -> usize {
        self.parts.iter().map(|(unit, _)| unit.len()).sum()
    }
}

/// Pumps of an input, the likeliest first: what repeats in it already, all parts that do so equally often together
/// (brackets and their ends), a part of its middle, and its beginning. What repeats in a small part of it comes last: the
/// rest would cost more than what is repeated.
pub(super) fn pumps(input: &[u8]) -> Vec<Pump> {
    let mut repeated: Vec<(Range<usize>, Range<usize>)> = spans(input)
        .into_iter()
        .filter(|span| span.is_repeated())
        .map(|span| {
            (
                span.range.start..span.range.start + span.shown(),
                span.range.start..span.range.start + span.shown() * span.times(),
            )
        })
        .collect();
    repeated.sort_by_key(|(_, whole)| std::cmp::Reverse(whole.len()));
    let times = |(unit, whole): &(Range<usize>, Range<usize>)| whole.len() / unit.len();
    let mut found = Vec::new();
    if let Some(first) = repeated.first() {
        let mut equally: Vec<_> = repeated.iter().filter(|one| times(one) == times(first)).cloned().collect();
        equally.sort_by_key(|(_, whole)| whole.start);
        if equally.len() > 1 {
            found.push(equally);
        }
    }
    found.extend(repeated.into_iter().take(2).map(|one| vec![one]));
    let length = input.len();
    let is_small = |parts: &Vec<(Range<usize>, Range<usize>)>| {
        parts.iter().map(|(_, whole)| whole.len()).sum::<usize>() < length / LEAST_SHARE
    };
    let (small, mut found): (Vec<_>, Vec<_>) = found.into_iter().partition(is_small);
    if length >= 8 {
        // a short part between a short beginning and end, whatever the rest is: sizes have to rise a hundredfold
        let edge = (length / 4).min(LONGEST / 2);
        let start = edge.max(length / 2 - (length / 4).min(LONGEST / 2));
        let unit = start..(start + LONGEST).min(length - edge);
        found.push(vec![(unit, edge..length - edge)]);
    }
    if length > 0 {
        found.push(vec![(0..length.min(LONGEST), 0..length)]);
    }
    found.extend(small);
    found.into_iter().map(|parts| Pump::new(input, parts)).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_their_ends_are_repeated_together() {
        let input = [b"x".as_slice(), &b"[".repeat(20), b"1", &b"]".repeat(20)].concat();
        let found = pumps(&input);
        assert_eq!(found[0].words, "\"[\" and \"]\"");
        assert_eq!((found[0].times(), found[0].unit()), (20, 2));
        assert_eq!(found[0].made(&input, 3), b"x[[[1]]]");
        assert_eq!(found[0].length(&input, 3), 8);
        assert_eq!(found[0].made(&input, 20), input);
    }

    #[test]
    fn what_repeats_in_a_small_part_only_comes_last() {
        let rest: Vec<u8> = (0..200u8).collect();
        let input = [&rest[..], &b"z".repeat(20), b"end"].concat();
        let found = pumps(&input);
        assert_eq!(found.last().map(|pump| pump.words.as_str()), Some("\"z\""));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn what_repeats_nothing_is_repeated_in_its_middle_and_from_its_beginning() {
        let words: Vec<Vec<u8>> = pumps(b"abcdefgh").iter().map(|pump| pump.made(b"abcdefgh", 2)).collect();
        assert_eq!(words, [b"abcdefcdefgh".to_vec(), b"abcdefghabcdefgh".to_vec()]);
        let long: Vec<u8> = (0..20_000u32).map(|i| (i * i % 251 + i / 251) as u8).collect();
        let found = pumps(&long);
        assert!(found.iter().take(2).all(|pump| pump.unit() <= 128 && pump.length(&long, 1) <= 256), "{found:?}");
        assert_eq!(pumps(b""), []);
        assert_eq!(pumps(b"a")[0].made(b"a", 3), b"aaa");
    }
}
