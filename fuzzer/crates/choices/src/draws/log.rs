//! Logs of draws: which draws and parts of a generator own which bytes of an input.

use std::collections::HashMap;
use std::ops::Range;

use super::draw::{Draw, Kind, Side};
use super::encoding::{number, read_text, width, write_text};
use super::parts::{Part, parts};

/// Maximum number of draws of a log; those after them are left out.
const MOST_DRAWS: usize = 1 << 16;

/// The draws of one run, and the input that they were made from.
///
/// A provider takes numbers from the back of the input and text from the front, so a run of draws owns one slice of each
/// of these two streams, and can be moved by moving both. That holds if one provider reads the input from both ends
/// ([`Log::is_movable`]).
#[derive(Clone, Debug)]
pub struct Log {
    /// The input.
    pub bytes: Vec<u8>,
    /// The draws, in order.
    pub draws: Vec<Draw>,
    /// Its parts in the order of their first draws, each before the parts in it.
    pub parts: Vec<Part>,
    /// Places of the parts that lie in one of the same site.
    pub(super) nested: Vec<usize>,
    /// Where the bytes of each draw begin at the front, and where they end at the back; the last is the end of the streams.
    /// Empty if the draws cannot be moved.
    places: Vec<(usize, usize)>,
    /// Number of draws before the input was used up; all if it was not.
    pub(super) fed: usize,
    /// Place of the first draw that took all that was left, if there is one.
    pub(super) rest: Option<usize>,
    /// Whether the harness has asked how many bytes are left: the size of the input is a choice then.
    pub observes_size: bool,
    is_cut: bool,
}

impl Log {
    /// Log of the run of an input. `is_cut` says that the harness drew more than what was recorded. The draws may be any:
    /// those that make no sense own no bytes.
    pub fn new(draws: &[Draw], bytes: &[u8], is_cut: bool) -> Self {
        let is_cut = is_cut || draws.len() > MOST_DRAWS;
        let draws = draws[..draws.len().min(MOST_DRAWS)].to_vec();
        let parts = parts(&draws);
        let nested = nested(&parts);
        let rest = draws.iter().position(|draw| draw.kind() == Some(Kind::Rest));
        let observes_size = draws.iter().any(|draw| draw.kind() == Some(Kind::Size));
        let (bytes, fed, places) = (bytes.to_vec(), draws.len(), Vec::new());
        let mut log = Self { bytes, draws, parts, nested, places, fed, rest, observes_size, is_cut };
        if let Some(places) = log.find_places() {
            log.places = places;
            log.fed = (0..log.draws.len()).find(|&at| log.is_starved(at)).unwrap_or(log.draws.len());
        }
        log
    }

    /// Whether draws own slices of two streams, so that parts can be moved: no draw took bytes from elsewhere, and each
    /// continued where the one before it ended. Otherwise values can be changed in place and nothing else.
    pub fn is_movable(&self) -> bool {
        !self.places.is_empty()
    }

    /// Bytes between the two streams, which no draw has read; empty if that is not known.
    pub fn unread(&self) -> Range<usize> {
        let middle = self.middle();
        if self.is_cut { middle.start..middle.start } else { middle }
    }

    /// The input without the bytes that nobody reads; `None` if there are none, or if the harness looks at the size.
    pub fn trim_unread(&self) -> Option<Vec<u8>> {
        let unread = self.unread();
        if unread.is_empty() || self.observes_size {
            return None;
        }
        Some([&self.bytes[..unread.start], &self.bytes[unread.end..]].concat())
    }

    /// Bytes of a draw in the input, if it took any.
    pub fn draw_range(&self, at: usize) -> Option<Range<usize>> {
        let draw = self.draws.get(at)?;
        draw.side()?;
        let (start, length) = (draw.offset as usize, draw.length as usize);
        let fits = draw.offset != Draw::ELSEWHERE && length > 0 && start.checked_add(length)? <= self.bytes.len();
        fits.then(|| start..start + length)
    }

    /// The draws that took bytes of the input, by their numbers, and these bytes.
    pub fn draw_ranges(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        (0..self.draws.len()).filter_map(|at| Some((at, self.draw_range(at)?)))
    }

    /// Bytes between the two streams.
    pub(super) fn middle(&self) -> Range<usize> {
        self.places.last().map_or(0..0, |&(front, back)| front..back)
    }

    /// Bytes of the front stream and of the back stream that these draws own; empty if draws cannot be moved.
    pub(super) fn slices(&self, draws: &Range<usize>) -> (&[u8], &[u8]) {
        match (self.places.get(draws.start), self.places.get(draws.end)) {
            (Some(start), Some(end)) => (&self.bytes[start.0..end.0], &self.bytes[end.1..start.1]),
            _ => (&[], &[]),
        }
    }

    /// Bytes before and after the streams, which other code than the provider may read.
    pub(super) fn around(&self) -> (&[u8], &[u8]) {
        self.places.first().map_or((&[], &[]), |&(front, back)| (&self.bytes[..front], &self.bytes[back..]))
    }

    /// Number of draws at the beginning whose parts can be moved: up to those that the input did not suffice for, or that took
    /// all that was left of it.
    pub(super) fn movable(&self) -> usize {
        if self.is_movable() { self.rest.unwrap_or(self.fed).min(self.fed) } else { 0 }
    }

    /// Largest number of characters of a text draw.
    pub(super) fn most_text(&self, at: usize) -> usize {
        let range = usize::try_from(self.draws[at].range).unwrap_or(usize::MAX);
        match self.places.get(at) {
            // as many as are left: no limit of its own
            Some(&(front, back)) if range == back - front => usize::MAX,
            _ => range,
        }
    }

    /// The bytes of the input that a draw took; empty if it took none.
    pub(super) fn own(&self, at: usize) -> &[u8] {
        self.draw_range(at).map_or(&[], |range| &self.bytes[range])
    }

    /// The bytes from which a draw takes what it took: its own, and those that it was denied because the input was used up.
    pub(super) fn needed(&self, at: usize) -> Vec<u8> {
        let draw = &self.draws[at];
        match draw.kind() {
            Some(Kind::Integer | Kind::Flip | Kind::Pick) if self.is_starved(at) => number(draw.value, draw.range),
            Some(Kind::Text) if self.is_starved(at) => {
                let max = self.most_text(at);
                write_text(&read_text(self.own(at), max).content, max)
            }
            _ => self.own(at).to_vec(),
        }
    }

    /// Whether a draw would have taken more bytes if there had been more.
    fn is_starved(&self, at: usize) -> bool {
        let draw = &self.draws[at];
        let own = self.own(at);
        match draw.kind() {
            Some(Kind::Integer | Kind::Flip | Kind::Pick) => own.len() < width(draw.range),
            Some(Kind::Real) => own.is_empty(),
            Some(Kind::Bytes) => (own.len() as u64) < draw.range,
            Some(Kind::Text) => !read_text(own, self.most_text(at)).is_ended,
            _ => false,
        }
    }

    /// Places of all draws in the two streams; `None` if they do not follow each other.
    fn find_places(&self) -> Option<Vec<(usize, usize)>> {
        let mut first = [None; 2];
        for (at, range) in self.draw_ranges() {
            match self.draws[at].side()? {
                Side::Front => first[0] = first[0].or(Some(range.start)),
                Side::Back => first[1] = first[1].or(Some(range.end)),
            }
        }
        if first == [None; 2] {
            return None;
        }
        let (mut front, mut back) = (first[0].unwrap_or(0), first[1].unwrap_or(self.bytes.len()));
        let mut places = Vec::with_capacity(self.draws.len() + 1);
        for (at, draw) in self.draws.iter().enumerate() {
            places.push((front, back));
            let Some(range) = self.draw_range(at) else {
                draw.kind()?;
                if draw.side().is_some() && draw.length > 0 {
                    return None;
                }
                continue;
            };
            match draw.side()? {
                Side::Front if range.start == front => front = range.end,
                Side::Back if range.end == back => back = range.start,
                _ => return None,
            }
            if front > back {
                return None;
            }
        }
        places.push((front, back));
        (places[0].0 <= places[0].1).then_some(places)
    }
}

/// Places of the parts that lie in one of the same site.
fn nested(parts: &[Part]) -> Vec<usize> {
    // number of parts around by their sites, and these parts
    let (mut sites, mut around) = (HashMap::<u64, usize>::new(), Vec::<usize>::new());
    let mut nested = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        while around.last().copied() != part.parent
            && let Some(over) = around.pop()
        {
            sites.entry(parts[over].site).and_modify(|number| *number -= 1);
        }
        let number = sites.entry(part.site).or_default();
        if *number > 0 {
            nested.push(at);
        }
        *number += 1;
        around.push(at);
    }
    nested
}
