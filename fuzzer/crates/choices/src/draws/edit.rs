//! Changes of a log, and the input that comes out of them.

use std::collections::BTreeMap;
use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::draw::Side;
use super::log::Log;
use super::overlay::Overlay;

/// Maximum number of draws that an overlay holds.
const MOST_HELD: usize = 1 << 10;

/// Draws side by side, in the order in which they are to be made.
#[derive(Clone, Debug)]
pub(super) enum Piece<'a> {
    /// Draws of the log.
    Draws(Range<usize>),
    /// Draws of another entry, by their bytes in the two streams.
    Other {
        /// Bytes of the front stream.
        front: &'a [u8],
        /// Bytes of the back stream, as they lie in the input.
        back: &'a [u8],
    },
}

/// A change of a log.
#[derive(Debug)]
pub(super) struct Edit<'a> {
    /// All draws of the input that comes out.
    pub(super) pieces: Vec<Piece<'a>>,
    /// Draws of the log with new bytes.
    pub(super) changed: BTreeMap<usize, Vec<u8>>,
    /// Number of random bytes to add to the unread middle.
    pub(super) fresh: usize,
    /// Draws of the log that keep their bytes by an overlay.
    pub(super) held: Range<usize>,
}

impl<'a> Edit<'a> {
    /// Changes nothing.
    pub(super) fn new(log: &Log) -> Self {
        Self::of(vec![Piece::Draws(0..log.draws().len())])
    }

    /// Makes these draws.
    pub(super) fn of(pieces: Vec<Piece<'a>>) -> Self {
        Self { pieces, changed: BTreeMap::new(), fresh: 0, held: 0..0 }
    }

    /// The overlay with the bytes of the held draws.
    pub(super) fn overlay(&self, log: &Log) -> Overlay {
        let mut overlay = Overlay::default();
        for at in self.held.clone().take(MOST_HELD) {
            match (self.changed.get(&at), log.draw_range(at)) {
                (Some(bytes), _) => overlay.set(log.draws()[at].key, bytes),
                (None, Some(range)) => overlay.set(log.draws()[at].key, &log.bytes()[range]),
                (None, None) => {}
            }
        }
        overlay
    }

    /// The input of at most `limit` bytes that comes out; `None` if they do not suffice, or if draws cannot be moved and
    /// would have to be.
    pub(super) fn render(&self, log: &Log, limit: usize, rand: &mut StdRand) -> Option<Vec<u8>> {
        if !log.is_movable() {
            return self.render_in_place(log);
        }
        let (before, after) = log.around();
        let mut front = before.to_vec();
        // the last byte first
        let mut back: Vec<u8> = after.iter().rev().copied().collect();
        let last = self.last_with_bytes(log);
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Other { front: text, back: numbers } => {
                    front.extend_from_slice(text);
                    back.extend(numbers.iter().rev());
                }
                Piece::Draws(draws) => {
                    let end = if last == Some(at) { draws.end.min(self.needed(log)) } else { draws.end };
                    self.write_draws(log, draws.start..end, (&mut front, &mut back));
                }
            }
            if front.len() + back.len() > limit {
                return None;
            }
        }
        let (middle, unread) = (log.middle(), log.unread());
        let wanted = if log.observes_size() && !unread.is_empty() {
            log.bytes().len().saturating_sub(front.len() + back.len())
        } else if log.observes_size() || unread.len() < middle.len() {
            // draws that are not recorded take bytes from both ends of the middle
            middle.len()
        } else {
            middle.len() + self.fresh
        };
        let wanted = wanted.min(limit - front.len() - back.len());
        front.extend_from_slice(&log.bytes()[middle.start..middle.start + middle.len().min(wanted)]);
        front.extend((middle.len()..wanted).map(|_| rand.next() as u8));
        front.extend(back.iter().rev());
        Some(front)
    }

    /// The piece at the end, if it ends as the log does: draws that went without bytes there go without again.
    fn last_with_bytes(&self, log: &Log) -> Option<usize> {
        let at = self.pieces.len().checked_sub(1)?;
        let is_end = matches!(&self.pieces[at], Piece::Draws(draws) if draws.end == log.draws().len());
        (is_end && self.fresh == 0).then_some(at)
    }

    /// Number of draws that need bytes if nothing comes after them.
    fn needed(&self, log: &Log) -> usize {
        let changed = self.changed.last_key_value().map_or(0, |(&at, _)| at + 1);
        log.fed().max(changed)
    }

    /// Appends the bytes of draws to the streams.
    fn write_draws(&self, log: &Log, draws: Range<usize>, (front, back): (&mut Vec<u8>, &mut Vec<u8>)) {
        let mut at = draws.start;
        while at < draws.end {
            let changed = self.changed.range(at..draws.end).next();
            let whole = changed.map_or(draws.end, |(&changed, _)| changed).min(log.fed().max(at));
            if at < whole {
                let (text, numbers) = log.slices(&(at..whole));
                front.extend_from_slice(text);
                back.extend(numbers.iter().rev());
                at = whole;
                continue;
            }
            let mut bytes = Vec::new();
            match self.changed.get(&at) {
                Some(changed) => bytes.extend_from_slice(changed),
                None => log.write_draw(at, &mut bytes),
            }
            match log.draws()[at].side() {
                Some(Side::Front) => front.extend_from_slice(&bytes),
                Some(Side::Back) => back.extend(bytes.iter().rev()),
                None => {}
            }
            at += 1;
        }
    }

    /// The input with new bytes of the same lengths in the places of old ones.
    fn render_in_place(&self, log: &Log) -> Option<Vec<u8>> {
        if !matches!(&self.pieces[..], [Piece::Draws(draws)] if *draws == (0..log.draws().len())) {
            return None;
        }
        let mut bytes = log.bytes().to_vec();
        for (&at, new) in &self.changed {
            let range = log.draw_range(at).filter(|range| range.len() == new.len())?;
            bytes[range].copy_from_slice(new);
        }
        Some(bytes)
    }
}
