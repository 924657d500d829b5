//! Candidates for templates: how a finding may go on growing.
//!
//! Each way of looking at an input gives *segments*, which are ranges of it that a loop can stand for. A candidate is a
//! segment, or several that do not overlap, between the rest of the input as literals, or without the rest. Whoever
//! asks runs candidates, and keeps one that costs as much as the finding.

mod nest;
mod runs;
mod tokens;

use std::{collections::HashSet, ops::Range};

pub(crate) use self::{nest::chains, tokens::between};

use super::{Part, Template, Times};
use crate::{
    brackets::{self, scan::is_word},
    tree::Tree,
};

/// Input whose growth is looked for, and what is known of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    pub input: &'a [u8],
    /// The input that it was mutated from, if it is known.
    pub parent: Option<&'a [u8]>,
    /// The seed that it comes from, if it is known.
    pub seed: Option<&'a [u8]>,
    /// Ranges of the input that its cost depends on, as a mask has them. Empty if nothing is known.
    pub matters: &'a [Range<usize>],
    /// Derivation tree of the input by a grammar, if there is one.
    pub tree: Option<&'a Tree>,
}

/// Way of looking at an input by which a candidate was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A unit that repeats without anything between.
    Tandem,
    /// A unit that repeats but for a few columns.
    Columns,
    /// Brackets, tags or the like around a middle.
    Nest,
    /// A part of a derivation tree, or of brackets and tags, in a part of the same kind.
    Tree,
    /// A line, word or item that occurs often.
    Tokens,
    /// Runs that become longer and longer.
    Stairs,
    /// Numbers of fixed size in a row.
    Binary,
    /// Bytes that the input has and its parent or seed has not.
    Difference,
    /// Bytes that are needed according to a mask.
    Mask,
    /// The whole input.
    Whole,
}

impl Origin {
    /// How likely it is that the slowness of an input is in what was found this way, if it covers all of the input.
    /// The order matters, not the numbers: what an input has many times comes before what was made up.
    fn prior(self) -> f64 {
        match self {
            Self::Tandem | Self::Nest | Self::Stairs => 1.0,
            Self::Columns => 0.9,
            Self::Tree => 0.8,
            Self::Difference | Self::Mask => 0.7,
            Self::Tokens => 0.6,
            Self::Binary => 0.4,
            Self::Whole => 0.2,
        }
    }
}

/// A template that may describe how an input grows.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub template: Template,
    /// `N` at which it is about as large as the input, at least 1.
    pub n: u64,
    /// How it was found.
    pub origin: Origin,
    /// Whether its bytes at [`Candidate::n`] are the input.
    pub is_exact: bool,
    /// Rank: more is better. Comparable within one input.
    pub score: f64,
}

/// Inputs from this size on are looked at by their first and last parts only, in bytes.
const LARGEST: usize = 1 << 24;

/// Most segments that candidates are made of.
const MOST_SEGMENTS: usize = 64;

/// Factor of the score of candidates without the rest of the input: it may be what makes the loop matter.
const BARE: f64 = 0.5;

/// Factor of the score of candidates of several segments for each segment more: one loop is easier to read.
const SEVERAL: f64 = 0.95;

/// Templates that the input may be an instance of, the most likely first, at most `most`. The same evidence gives the
/// same list. Inputs above 16 MiB have none.
pub fn candidates(evidence: &Evidence<'_>, most: usize) -> Vec<Candidate> {
    if evidence.input.is_empty() || evidence.input.len() > LARGEST {
        return Vec::new();
    }
    let segments = segments(evidence);
    let mut list = List { input: evidence.input, known: HashSet::new(), candidates: Vec::new() };
    for segment in &segments {
        list.add(std::slice::from_ref(segment), true);
        list.add(std::slice::from_ref(segment), false);
    }
    let chosen = disjoint(&segments);
    for several in [2, 3, 8, 32] {
        if several <= chosen.len() || several / 2 < chosen.len() {
            let mut some = chosen[..several.min(chosen.len())].to_vec();
            some.sort_by_key(|segment| segment.range.start);
            list.add(&some, true);
            list.add(&some, false);
        }
    }
    let mut candidates = list.candidates;
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    candidates.truncate(most);
    candidates
}

/// Segments by all ways of looking at the input, the most likely first.
fn segments(evidence: &Evidence<'_>) -> Vec<Segment> {
    let input = evidence.input;
    let mut all = Vec::new();
    let periods = runs::periods(input);
    let tandems = runs::tandems(input, &periods);
    let nests = nest::mirrored(input, &tandems);
    // of equal ranges, what the input has comes before what closes it
    all.extend(tandems);
    all.extend(nests);
    all.extend(runs::stairs(input));
    all.extend(runs::columns(input, &periods));
    all.extend(tokens::segments(input));
    all.extend(runs::binary(input));
    if let Some(tree) = evidence.tree {
        all.extend(nest::of_tree(input, tree));
    }
    if let Some(tree) = brackets::parse(input) {
        all.extend(nest::of_tree(input, &tree));
    }
    for other in [evidence.parent, evidence.seed].into_iter().flatten() {
        all.extend(difference(input, other));
    }
    for range in evidence.matters {
        if range.start < range.end && range.end <= input.len() {
            all.push(Segment::repeated(range.clone(), range.len(), input, Origin::Mask));
        }
    }
    all.push(Segment::repeated(0..input.len(), input.len(), input, Origin::Whole));
    if input.last() != Some(&b'\n') {
        let mut line = input.to_vec();
        line.push(b'\n');
        let pump = Pump::Repeat(vec![Part::Literal(line)]);
        all.push(Segment { range: 0..input.len(), pump, times: 1, origin: Origin::Whole });
    }
    all.sort_by(|a, b| b.score(input.len()).total_cmp(&a.score(input.len())));
    let mut known = HashSet::new();
    all.retain(|segment| known.insert((segment.range.clone(), segment.pump.clone())));
    all.truncate(MOST_SEGMENTS);
    all
}

/// Segments that do not overlap and repeat, the most likely first.
fn disjoint(segments: &[Segment]) -> Vec<Segment> {
    let mut chosen: Vec<Segment> = Vec::new();
    for segment in segments.iter().filter(|segment| segment.times >= 2) {
        let overlaps = |other: &Segment| segment.range.start < other.range.end && other.range.start < segment.range.end;
        if !chosen.iter().any(overlaps) {
            chosen.push(segment.clone());
        }
    }
    chosen
}

struct List<'a> {
    input: &'a [u8],
    known: HashSet<Template>,
    candidates: Vec<Candidate>,
}

impl List<'_> {
    /// Adds the template of segments that are in order and do not overlap, with the rest of the input around them or
    /// without.
    fn add(&mut self, segments: &[Segment], has_rest: bool) {
        // the loop with the fewest rounds sets N, the others have as many rounds for each of them
        let Some(rounds) = segments.iter().map(|segment| segment.times).min() else { return };
        let mut parts = Vec::new();
        let mut end = 0;
        for segment in segments {
            if has_rest {
                parts.push(Part::Literal(self.input[end..segment.range.start].to_vec()));
            }
            let times = Times { factor: segment.times / rounds, plus: segment.times % rounds };
            parts.push(segment.pump.clone().part(times));
            end = segment.range.end;
        }
        if has_rest {
            parts.push(Part::Literal(self.input[end..].to_vec()));
        }
        let Ok(template) = Template::new(parts) else { return };
        if !template.scales() || !self.known.insert(template.clone()) {
            return;
        }
        let size = self.input.len() as u64;
        let n = if has_rest { rounds } else { template.n_for_size(size) };
        let is_exact = template.size(n) == size && template.render(n, size).is_ok_and(|bytes| bytes == self.input);
        let score: f64 = segments.iter().map(|segment| segment.score(self.input.len())).sum();
        let score = score * SEVERAL.powi(segments.len() as i32 - 1) * if has_rest { 1.0 } else { BARE };
        let origin = segments.iter().max_by_key(|segment| segment.range.len()).map_or(Origin::Whole, |one| one.origin);
        self.candidates.push(Candidate { template, n, origin, is_exact, score });
    }
}

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
    fn part(self, times: Times) -> Part {
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
    fn repeated(range: Range<usize>, unit: usize, input: &[u8], origin: Origin) -> Self {
        let body = vec![Part::Literal(input[range.start..range.start + unit].to_vec())];
        let times = (range.len() / unit.max(1)).max(1) as u64;
        Self { range, pump: Pump::Repeat(body), times, origin }
    }

    /// How likely it is that this is what makes the input slow. Half as many bytes are less than half as likely to be
    /// nothing: the square root of the share counts.
    fn score(&self, size: usize) -> f64 {
        let rounds = 1.0 - 1.0 / (self.times as f64 + 1.0);
        (self.range.len() as f64 / size.max(1) as f64).sqrt() * rounds * self.origin.prior()
    }
}

/// Rank of a place as the start of a unit: units that begin at a line, a word or a bracket are easier to read, and
/// keep their separators.
pub(super) fn rank_of_start(input: &[u8], at: usize) -> u8 {
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

/// The bytes between the longest common start and end of both, and the same with its next neighbours.
fn difference(input: &[u8], other: &[u8]) -> Vec<Segment> {
    let start = input.iter().zip(other).take_while(|(one, other)| one == other).count();
    let room = input.len().min(other.len()) - start;
    let end = input.iter().rev().zip(other.iter().rev()).take(room).take_while(|(one, other)| one == other).count();
    let range = start..input.len() - end;
    if range.is_empty() {
        return Vec::new();
    }
    vec![Segment::repeated(range.clone(), range.len(), input, Origin::Difference)]
}

#[cfg(test)]
mod tests;
