//! Mutation of an input by its draws.

use std::collections::BTreeMap;
use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::bank::Bank;
use super::draw::{Draw, Kind, Overlay, Side};
use super::encoding::{number, read_text, text_in, write_text};
use super::log::Log;
use super::parts::Part;
use super::sites::{SiteKind, Sites};
use crate::log_uniform;
use crate::operator::Operator;

/// Number of attempts to change something.
const ATTEMPTS: usize = 4;

/// An input made from another by its draws.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its bytes, before the overlay.
    pub bytes: Vec<u8>,
    /// Values of draws that the input does not have in their places.
    pub overlay: Overlay,
    /// Draws of the parent that got new bytes, by their numbers; empty if parts were moved. For
    /// [`Sites::observe`] if they are all of one site.
    pub changed: Vec<u32>,
}

/// Mutates inputs by their draws.
pub struct Mutator<'a> {
    /// Learned kinds of sites.
    pub sites: &'a Sites,
    /// Parts of other entries.
    pub bank: &'a Bank,
    /// Maximum size of a mutant, in bytes.
    pub limit: usize,
    /// Whether mutants may have an overlay.
    pub has_overlay: bool,
    /// Changes the contents of texts and bytes.
    pub text: &'a mut dyn FnMut(&mut Vec<u8>, &mut StdRand),
}

impl<'a> Mutator<'a> {
    /// Makes a mutant; `None` if the operator finds nothing to change in this input.
    pub fn mutate(&mut self, log: &Log, operator: Operator, rand: &mut StdRand) -> Option<Mutant> {
        (0..ATTEMPTS).find_map(|_| {
            let edit = self.edit(log, operator, rand)?;
            let bytes = edit.render(log, self.limit, rand)?;
            if bytes == log.bytes {
                return None;
            }
            let overlay = if self.has_overlay { edit.overlay(log) } else { Overlay::default() };
            let changed =
                if edit.pieces.len() == 1 { edit.changed.keys().map(|&at| at as u32).collect() } else { vec![] };
            Some(Mutant { bytes, overlay, changed })
        })
    }

    /// The change that an operator makes.
    pub(super) fn edit(&mut self, log: &Log, operator: Operator, rand: &mut StdRand) -> Option<Edit<'a>> {
        match operator {
            Operator::Regenerate => regenerate(log, self.sites, rand),
            Operator::SplicePart => splice(log, self.bank, rand),
            Operator::DeletePart => delete(log, self.sites, rand),
            Operator::RepeatPart => repeat(log, self.sites, self.limit, rand),
            Operator::NestPart => nest(log, self.limit, rand),
            Operator::ShuffleParts => shuffle(log, rand),
            Operator::ChangeValues => change(log, self.sites, self.text, rand),
            Operator::EqualValues => equalise(log, self.sites, rand),
            Operator::DifferentValues => differentiate(log, self.sites, rand),
        }
    }
}

// Changes of a log, and the input that comes out of them.

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
        Self::of(vec![Piece::Draws(0..log.draws.len())])
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
                (Some(bytes), _) => overlay.set(log.draws[at].key, bytes),
                (None, Some(range)) => overlay.set(log.draws[at].key, &log.bytes[range]),
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
        let wanted = if log.observes_size && !unread.is_empty() {
            log.bytes.len().saturating_sub(front.len() + back.len())
        } else if log.observes_size || unread.len() < middle.len() {
            // draws that are not recorded take bytes from both ends of the middle
            middle.len()
        } else {
            middle.len() + self.fresh
        };
        let wanted = wanted.min(limit - front.len() - back.len());
        front.extend_from_slice(&log.bytes[middle.start..middle.start + middle.len().min(wanted)]);
        front.extend((middle.len()..wanted).map(|_| rand.next() as u8));
        front.extend(back.iter().rev());
        Some(front)
    }

    /// The piece at the end, if it ends as the log does: draws that went without bytes there go without again.
    fn last_with_bytes(&self, log: &Log) -> Option<usize> {
        let at = self.pieces.len().checked_sub(1)?;
        let is_end = matches!(&self.pieces[at], Piece::Draws(draws) if draws.end == log.draws.len());
        (is_end && self.fresh == 0).then_some(at)
    }

    /// Number of draws that need bytes if nothing comes after them.
    fn needed(&self, log: &Log) -> usize {
        let changed = self.changed.last_key_value().map_or(0, |(&at, _)| at + 1);
        log.fed.max(changed)
    }

    /// Appends the bytes of draws to the streams.
    fn write_draws(&self, log: &Log, draws: Range<usize>, (front, back): (&mut Vec<u8>, &mut Vec<u8>)) {
        let mut at = draws.start;
        while at < draws.end {
            let changed = self.changed.range(at..draws.end).next();
            let whole = changed.map_or(draws.end, |(&changed, _)| changed).min(log.fed.max(at));
            if at < whole {
                let (text, numbers) = log.slices(&(at..whole));
                front.extend_from_slice(text);
                back.extend(numbers.iter().rev());
                at = whole;
                continue;
            }
            let bytes = self.changed.get(&at).cloned().unwrap_or_else(|| log.needed(at));
            match log.draws[at].side() {
                Some(Side::Front) => front.extend_from_slice(&bytes),
                Some(Side::Back) => back.extend(bytes.iter().rev()),
                None => {}
            }
            at += 1;
        }
    }

    /// The input with new bytes of the same lengths in the places of old ones.
    fn render_in_place(&self, log: &Log) -> Option<Vec<u8>> {
        if !matches!(&self.pieces[..], [Piece::Draws(draws)] if *draws == (0..log.draws.len())) {
            return None;
        }
        let mut bytes = log.bytes.to_vec();
        for (&at, new) in &self.changed {
            let range = log.draw_range(at).filter(|range| range.len() == new.len())?;
            bytes[range].copy_from_slice(new);
        }
        Some(bytes)
    }
}

// Parts deleted, repeated, nested, reordered and exchanged: slices of both streams at once, without an overlay. The draws
// around what was moved take the same bytes as before, while their keys change where iterations are renumbered.

/// Number of lists that are looked at for one whose number of parts can change.
const LISTS: usize = 4;

/// Number of parts of one site that a generator may make one after the other without a list.
const MOST_OPERANDS: usize = 3;

/// Maximum number of parts around a part among which one of the same site is looked for.
const MOST_AROUND: usize = 256;

/// Maximum number of repetitions.
const MOST_TIMES: usize = 64;

/// Replaces a part by one of the bank.
pub(super) fn splice<'a>(log: &Log, bank: &'a Bank, rand: &mut StdRand) -> Option<Edit<'a>> {
    let large = if rand.coinflip(0.75) { find_part(log, rand, |part| part.draws.len() > 1) } else { None };
    let part = &log.parts[large.or_else(|| find_part(log, rand, |_| true))?];
    let parent = part.parent.map_or(0, |parent| log.parts[parent].site);
    let other = bank.draw(part.site, parent, rand)?;
    let piece = Piece::Other { front: &other.front, back: &other.back };
    Some(Edit::of(vec![Piece::Draws(0..part.draws.start), piece, after(log, &part.draws)]))
}

/// Deletes parts of a list, or what is around a part within one of the same site.
pub(super) fn delete<'a>(log: &Log, sites: &Sites, rand: &mut StdRand) -> Option<Edit<'a>> {
    if rand.coinflip(0.5)
        && let Some((outer, inner)) = nested(log, rand)
    {
        let pieces = vec![Piece::Draws(0..outer.start), Piece::Draws(inner), after(log, &outer)];
        return Some(Edit::of(pieces));
    }
    let (chosen, group) = of_list(log, sites, rand)?;
    let first = group.iter().position(|&part| part == chosen)?;
    let most = if rand.coinflip(0.5) { 1 } else { group.len() - first };
    let count = log_uniform(rand, most);
    let draws = log.parts[chosen].draws.start..log.parts[group[first + count - 1]].draws.end;
    let edit = Edit::of(vec![Piece::Draws(0..draws.start), after(log, &draws)]);
    with_number(edit, log, sites, &group, |number| number - count)
}

/// Repeats a part 2 to 64 times.
pub(super) fn repeat<'a>(log: &Log, sites: &Sites, limit: usize, rand: &mut StdRand) -> Option<Edit<'a>> {
    let (chosen, group) = of_list(log, sites, rand)?;
    let part = &log.parts[chosen];
    let mut most = most_times(log, std::slice::from_ref(&part.draws), limit);
    let first = log.parts[*group.first()?].draws.start;
    if !is_flagged(log, part)
        && let Some(count) = sites.count(log, first, part.site, group.len())
    {
        most = most.min(usize::try_from(count.most).unwrap_or(usize::MAX).saturating_sub(group.len()));
    }
    let more = log_uniform(rand, most);
    let mut pieces = vec![Piece::Draws(0..part.draws.end)];
    pieces.extend(std::iter::repeat_n(Piece::Draws(part.draws.clone()), more));
    pieces.push(after(log, &part.draws));
    with_number(Edit::of(pieces), log, sites, &group, |number| number + more)
}

/// Repeats what is around a part within one of the same site 2 to 64 times.
pub(super) fn nest<'a>(log: &Log, limit: usize, rand: &mut StdRand) -> Option<Edit<'a>> {
    let (outer, inner) = nested(log, rand)?;
    let (before, behind) = (outer.start..inner.start, inner.end..outer.end);
    let times = 1 + log_uniform(rand, most_times(log, &[before.clone(), behind.clone()], limit));
    let mut pieces = vec![Piece::Draws(0..outer.start)];
    pieces.extend(std::iter::repeat_n(Piece::Draws(before), times));
    pieces.push(Piece::Draws(inner));
    pieces.extend(std::iter::repeat_n(Piece::Draws(behind), times));
    pieces.push(after(log, &outer));
    Some(Edit::of(pieces))
}

/// Swaps two parts of a list, reverses it, or reorders all of it.
pub(super) fn shuffle<'a>(log: &Log, rand: &mut StdRand) -> Option<Edit<'a>> {
    let group = group(log, find_part(log, rand, |part| part.siblings > 1)?);
    let places: Vec<Range<usize>> = group.iter().map(|&part| log.parts[part].draws.clone()).collect();
    let mut order = places.clone();
    match rand.below_or_zero(3) {
        0 if order.len() > 1 => {
            let one = rand.below_or_zero(order.len());
            let other = (one + 1 + rand.below_or_zero(order.len() - 1)) % order.len();
            order.swap(one, other);
        }
        1 => order.reverse(),
        _ => (1..order.len()).for_each(|at| order.swap(at, rand.below_or_zero(at + 1))),
    }
    let values = |draws: &Range<usize>| log.draws[draws.clone()].iter().map(|draw| (draw.site, draw.value));
    if places.iter().zip(&order).all(|(place, part)| values(place).eq(values(part))) {
        return None;
    }
    let mut pieces = vec![];
    let mut end = 0;
    for (place, part) in places.into_iter().zip(order) {
        pieces.extend([Piece::Draws(end..place.start), Piece::Draws(part)]);
        end = place.end;
    }
    pieces.push(Piece::Draws(end..log.draws.len()));
    Some(Edit::of(pieces))
}

/// The draws after these.
fn after<'a>(log: &Log, draws: &Range<usize>) -> Piece<'a> {
    Piece::Draws(draws.end..log.draws.len())
}

/// A random part that can be moved and `fits`.
fn find_part(log: &Log, rand: &mut StdRand, fits: impl Fn(&Part) -> bool) -> Option<usize> {
    let (parts, movable) = (&log.parts, log.movable());
    let fits = |at: usize| {
        let part: &Part = &parts[at];
        let (front, back) = log.slices(&part.draws);
        let is_whole = part.draws.len() == log.draws.len();
        !is_whole && part.draws.end <= movable && front.len() + back.len() > 0 && !part.ends_list && fits(part)
    };
    let tries: Vec<usize> = (0..TRIES.min(parts.len())).map(|_| rand.below_or_zero(parts.len())).collect();
    tries.into_iter().chain(0..parts.len()).find(|&at| fits(at))
}

/// Parts of the same site and parent that can be moved, in order.
fn group(log: &Log, part: usize) -> Vec<usize> {
    let (parts, movable) = (&log.parts, log.movable());
    let (parent, site) = (parts[part].parent, parts[part].site);
    let end = parent.map_or(log.draws.len(), |parent| parts[parent].draws.end);
    (parent.map_or(0, |parent| parent + 1)..parts.len())
        .take_while(|&at| parts[at].draws.start < end)
        .filter(|&at| parts[at].parent == parent && parts[at].site == site)
        .filter(|&at| parts[at].draws.end <= movable && !parts[at].ends_list)
        .collect()
}

/// A random part of a list, and the parts of this list; of those that look like lists one that is known to be one is
/// preferred: a flag or a count says how many follow, or there are more of them than operands. Without one, mostly none:
/// other parts are read in fixed numbers.
fn of_list(log: &Log, sites: &Sites, rand: &mut StdRand) -> Option<(usize, Vec<usize>)> {
    for _ in 0..LISTS {
        let Some(chosen) = find_part(log, rand, |part| part.siblings > 1) else { break };
        let group = group(log, chosen);
        let first = &log.parts[*group.first()?];
        let is_counted = || sites.count(log, first.draws.start, first.site, group.len()).is_some();
        if group.len() > MOST_OPERANDS || is_flagged(log, first) || is_counted() {
            return Some((chosen, group));
        }
    }
    if rand.coinflip(0.75) {
        return None;
    }
    let chosen = find_part(log, rand, |_| true)?;
    Some((chosen, group(log, chosen)))
}

/// Whether a part begins with a flag, which says whether there is another one, rather than being counted.
fn is_flagged(log: &Log, part: &Part) -> bool {
    log.draws[part.draws.start].kind() == Some(Kind::Flip)
}

/// A random part and one around it of the same site, as ranges of draws: the outer and the inner one.
fn nested(log: &Log, rand: &mut StdRand) -> Option<(Range<usize>, Range<usize>)> {
    let (parts, movable) = (&log.parts, log.movable());
    let inner = &parts[*log.nested.get(rand.below_or_zero(log.nested.len()))?];
    let around = std::iter::successors(inner.parent, |&parent| parts[parent].parent).take(MOST_AROUND);
    let outer: Vec<&Part> =
        around.map(|at| &parts[at]).filter(|part| part.site == inner.site && part.draws.end <= movable).collect();
    let outer = outer.get(rand.below_or_zero(outer.len()))?;
    Some((outer.draws.clone(), inner.draws.clone()))
}

/// How many times more these draws fit into an input of at most `limit` bytes: 63 at most.
fn most_times(log: &Log, draws: &[Range<usize>], limit: usize) -> usize {
    let size: usize = draws.iter().map(|draws| log.slices(draws)).map(|(front, back)| front.len() + back.len()).sum();
    let room = limit.saturating_sub(log.bytes.len() - log.unread().len());
    (room / size.max(1)).min(MOST_TIMES - 1)
}

/// Changes the draw that says how many parts the list has, if there is one; `None` if it cannot say so many.
fn with_number<'a>(
    mut edit: Edit<'a>,
    log: &Log,
    sites: &Sites,
    group: &[usize],
    change: impl Fn(usize) -> usize,
) -> Option<Edit<'a>> {
    let first = &log.parts[*group.first()?];
    if is_flagged(log, first) {
        return Some(edit);
    }
    if let Some(count) = sites.count(log, first.draws.start, first.site, group.len()) {
        let new = change(group.len()) as u64;
        let value = new.checked_sub(count.least).filter(|_| new <= count.most)?;
        edit.changed.insert(count.at, number(value, log.draws[count.at].range));
    }
    Some(edit)
}

// New values for draws: of structure and of value.

/// Mean number of draws that a mutant changes, as in BeDivFuzz.
const MEAN_CHANGED: f64 = 8.0;

/// Number of random draws or parts that are looked at before all are.
const TRIES: usize = 32;

/// Maximum number of random bytes for draws that come anew.
const MOST_FRESH: usize = 1 << 10;

/// Maximum number of draws after a number of bytes among which these bytes are looked for.
const COUNTED_DISTANCE: usize = 8;

/// Maximum number of bytes that are made anew for one draw.
const MOST_RESIZED: usize = 1 << 16;

/// Changes a text in any way.
pub(super) type ChangeText<'a> = &'a mut dyn FnMut(&mut Vec<u8>, &mut StdRand);

/// Gives structural draws new values; the draws after the first of them keep theirs where they are made again.
pub(super) fn regenerate<'a>(log: &Log, sites: &Sites, rand: &mut StdRand) -> Option<Edit<'a>> {
    let mut edit = Edit::new(log);
    for at in choose(log, rand, |draw| sites.kind(draw) == SiteKind::Structural)? {
        let draw = &log.draws[at];
        let value = different(draw, rand);
        edit.changed.insert(at, number(value, draw.range));
    }
    let first = edit.changed.first_key_value().map_or(0, |(&at, _)| at);
    edit.held = first + 1..log.draws.len();
    edit.fresh = if log.rest.is_some() { 0 } else { log_uniform(rand, MOST_FRESH) };
    Some(edit)
}

/// Gives draws that decide nothing new values.
pub(super) fn change<'a>(log: &Log, sites: &Sites, text: ChangeText, rand: &mut StdRand) -> Option<Edit<'a>> {
    let mut edit = Edit::new(log);
    for at in choose(log, rand, |draw| sites.kind(draw) != SiteKind::Structural)? {
        if edit.changed.contains_key(&at) {
            // resized with the draw that says its number of bytes
            continue;
        }
        let draw = &log.draws[at];
        match draw.kind()? {
            Kind::Integer | Kind::Flip | Kind::Pick => {
                let value = interesting(draw, rand);
                match counted_bytes(log, sites, at) {
                    Some(bytes) if log.is_movable() => resize(&mut edit, log, (at, bytes), value, rand),
                    _ => drop(edit.changed.insert(at, number(value, draw.range))),
                }
            }
            Kind::Real => {
                edit.changed.insert(at, real(log, at, rand));
            }
            _ => {
                let mut content = content(log, at);
                let length = content.len();
                if length > 1 && rand.coinflip(0.125) {
                    content.truncate(rand.below_or_zero(length));
                } else {
                    text(&mut content, rand);
                }
                set_content(&mut edit, log, sites, at, content, rand);
            }
        }
    }
    Some(edit)
}

/// Makes values of one site equal.
pub(super) fn equalise<'a>(log: &Log, sites: &Sites, rand: &mut StdRand) -> Option<Edit<'a>> {
    let chosen = of_one_site(log, sites, rand)?;
    let source = chosen[rand.below_or_zero(chosen.len())];
    let mut edit = Edit::new(log);
    for at in chosen {
        let draw = &log.draws[at];
        let bytes = match draw.kind()? {
            Kind::Integer | Kind::Flip | Kind::Pick => number(log.draws[source].value.min(draw.range), draw.range),
            Kind::Text | Kind::Bytes => {
                set_content(&mut edit, log, sites, at, content(log, source), rand);
                continue;
            }
            _ => log.needed(source),
        };
        edit.changed.insert(at, bytes);
    }
    Some(edit)
}

/// Makes values of one site different: they rise, fall, or jump about.
pub(super) fn differentiate<'a>(log: &Log, sites: &Sites, rand: &mut StdRand) -> Option<Edit<'a>> {
    let chosen = of_one_site(log, sites, rand)?;
    let source = chosen[rand.below_or_zero(chosen.len())];
    let first = if rand.coinflip(0.5) { 0 } else { rand.next() >> rand.below_or_zero(64) };
    let step = [1, u64::MAX, rand.next() | 1][rand.below_or_zero(3)];
    let mut edit = Edit::new(log);
    for (count, at) in chosen.into_iter().enumerate() {
        let draw = &log.draws[at];
        let value = first.wrapping_add(step.wrapping_mul(count as u64));
        match draw.kind()? {
            Kind::Integer | Kind::Flip | Kind::Pick => {
                edit.changed.insert(at, number(limited(value, draw.range), draw.range));
            }
            Kind::Text | Kind::Bytes => {
                let mut text = content(log, source);
                let end = format!("{}", value % 100_000);
                let most = log.most_text(at).saturating_sub(end.len());
                text.truncate(most);
                text.extend_from_slice(end.as_bytes());
                set_content(&mut edit, log, sites, at, text, rand);
            }
            _ => {
                let mut bytes = log.needed(source);
                for (byte, new) in bytes.iter_mut().zip(value.to_le_bytes().into_iter().take(2)) {
                    *byte = new;
                }
                edit.changed.insert(at, bytes);
            }
        }
    }
    Some(edit)
}

/// Draws to change whose site `fits`: in a quarter of the calls one, in a quarter some of one site, otherwise any.
fn choose(log: &Log, rand: &mut StdRand, fits: impl Fn(&Draw) -> bool) -> Option<Vec<usize>> {
    let fits = |at: usize| is_changeable(log, at) && fits(&log.draws[at]);
    let first = find_draw(log, rand, fits)?;
    let mut chosen = vec![first];
    let mode = rand.below_or_zero(4);
    if mode == 0 {
        return Some(chosen);
    }
    let site = log.draws[first].site;
    for _ in 1..geometric(rand, MEAN_CHANGED) {
        let at = rand.below_or_zero(log.draws.len());
        let next = if mode == 1 {
            (at..log.draws.len()).chain(0..at).find(|&at| log.draws[at].site == site && is_changeable(log, at))
        } else {
            find_draw(log, rand, fits)
        };
        chosen.extend(next);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Some(chosen)
}

/// Two or more value draws of one site: all of them in half of the calls.
fn of_one_site(log: &Log, sites: &Sites, rand: &mut StdRand) -> Option<Vec<usize>> {
    let is_value = |at: usize| is_changeable(log, at) && sites.kind(&log.draws[at]) != SiteKind::Structural;
    let site = log.draws[find_draw(log, rand, is_value)?].site;
    let mut chosen: Vec<usize> =
        (0..log.draws.len()).filter(|&at| log.draws[at].site == site && is_changeable(log, at)).collect();
    if chosen.len() < 2 {
        return None;
    }
    if rand.coinflip(0.5) {
        let most = log_uniform(rand, chosen.len()).max(2);
        let first = rand.below_or_zero(chosen.len() - most + 1);
        chosen = chosen[first..first + most].to_vec();
    }
    Some(chosen)
}

/// A random draw that `fits`.
fn find_draw(log: &Log, rand: &mut StdRand, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let count = log.draws.len();
    if count == 0 {
        return None;
    }
    for _ in 0..TRIES {
        let at = rand.below_or_zero(count);
        if fits(at) {
            return Some(at);
        }
    }
    let start = rand.below_or_zero(count);
    (start..count).chain(0..start).find(|&at| fits(at))
}

/// Whether a draw can take another value.
fn is_changeable(log: &Log, at: usize) -> bool {
    let draw = &log.draws[at];
    match draw.kind() {
        Some(Kind::Integer | Kind::Flip | Kind::Pick | Kind::Text) => {
            draw.range > 0 && (log.is_movable() || log.draw_range(at).is_some())
        }
        Some(Kind::Real | Kind::Bytes | Kind::Rest) => log.draw_range(at).is_some(),
        _ => false,
    }
}

/// Characters of a text, or bytes.
fn content(log: &Log, at: usize) -> Vec<u8> {
    let own = log.own(at);
    match log.draws[at].kind() {
        Some(Kind::Text) => read_text(own, log.most_text(at)).content,
        _ => own.to_vec(),
    }
}

/// Gives a text or bytes this content: the number of bytes changes only where the draw that says it can change too.
fn set_content(edit: &mut Edit, log: &Log, sites: &Sites, at: usize, mut content: Vec<u8>, rand: &mut StdRand) {
    let draw = &log.draws[at];
    let length = draw.length as usize;
    let bytes = match draw.kind() {
        Some(Kind::Text) if log.is_movable() => write_text(&content, log.most_text(at)),
        Some(Kind::Text) => match text_in(&content, log.most_text(at), length) {
            Some(text) => text,
            None => return,
        },
        Some(Kind::Rest) if log.is_movable() => content,
        Some(Kind::Bytes) if log.is_movable() && content.len() != length => {
            let count = sites.count(log, at, draw.site, length);
            if let Some(count) = count.filter(|count| log.draws[count.at].length > 0) {
                content.truncate(usize::try_from(count.most).unwrap_or(usize::MAX));
                let value = (content.len() as u64).max(count.least) - count.least;
                edit.changed.insert(count.at, number(value, log.draws[count.at].range));
                content.resize((value + count.least) as usize, 0);
            } else {
                content.resize_with(length, || rand.next() as u8);
            }
            content
        }
        _ => {
            content.resize_with(length, || rand.next() as u8);
            content
        }
    };
    edit.changed.insert(at, bytes);
}

/// The draw of bytes of which this draw says how many there are.
fn counted_bytes(log: &Log, sites: &Sites, at: usize) -> Option<usize> {
    if sites.kind(&log.draws[at]) != SiteKind::Layout {
        return None;
    }
    let near = (at + 1..log.draws.len()).take(COUNTED_DISTANCE);
    let mut bytes = near.filter(|&bytes| log.draws[bytes].kind() == Some(Kind::Bytes));
    bytes.find(|&bytes| {
        let length = log.draws[bytes].length as usize;
        sites.count(log, bytes, log.draws[bytes].site, length).is_some_and(|count| count.at == at)
    })
}

/// Gives a number of bytes a new value, and the bytes as many.
fn resize(edit: &mut Edit, log: &Log, (at, bytes): (usize, usize), value: u64, rand: &mut StdRand) {
    let mut new = content(log, bytes);
    let least = (new.len() as u64).saturating_sub(log.draws[at].value);
    let length = usize::try_from(value.saturating_add(least)).unwrap_or(usize::MAX).min(MOST_RESIZED);
    new.resize_with(length, || rand.next() as u8);
    edit.changed.insert(at, number((length as u64).saturating_sub(least), log.draws[at].range));
    edit.changed.insert(bytes, new);
}

/// Another value of a number, each with the same probability.
fn different(draw: &Draw, rand: &mut StdRand) -> u64 {
    // one less than there are, since the old one is none of them
    let value = if draw.range == u64::MAX { rand.next() } else { rand.next() % draw.range.max(1) };
    if value >= draw.value && draw.value <= draw.range { value.wrapping_add(1).min(draw.range) } else { value }
}

/// Another value of a number: an edge of the range, a small one, a neighbour, beside a power of two, or any.
fn interesting(draw: &Draw, rand: &mut StdRand) -> u64 {
    for _ in 0..4 {
        let value = match rand.below_or_zero(6) {
            0 => [0, 1, draw.range, draw.range - 1, draw.range / 2][rand.below_or_zero(5)],
            1 => rand.next() % 17,
            2 => draw.value.wrapping_add(1 + rand.next() % 16),
            3 => draw.value.wrapping_sub(1 + rand.next() % 16),
            4 => (1u64 << rand.below_or_zero(64)).wrapping_add(rand.next() % 3).wrapping_sub(1),
            _ => rand.next(),
        };
        let value = limited(value, draw.range);
        if value != draw.value {
            return value;
        }
    }
    different(draw, rand)
}

/// The remainder that is within the range.
fn limited(value: u64, range: u64) -> u64 {
    range.checked_add(1).map_or(value, |values| value % values)
}

/// Other bytes of a floating-point number.
fn real(log: &Log, at: usize, rand: &mut StdRand) -> Vec<u8> {
    let mut bytes = log.needed(at);
    match rand.below_or_zero(4) {
        0 => bytes.fill([0, 0xff][rand.below_or_zero(2)]),
        1 => bytes.fill_with(|| rand.next() as u8),
        _ => {
            let place = rand.below_or_zero(bytes.len());
            bytes[place] ^= 1 << rand.below_or_zero(8);
        }
    }
    bytes
}

/// Draws from the geometric distribution on 1, 2, ... with this mean.
fn geometric(rand: &mut StdRand, mean: f64) -> usize {
    let uniform = 1.0 - rand.next_float();
    ((uniform.ln() / (1.0 - 1.0 / mean).ln()).ceil() as usize).max(1)
}
