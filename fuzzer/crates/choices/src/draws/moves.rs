//! Parts deleted, repeated, nested, reordered and exchanged: slices of both streams at once.
//!
//! Without an overlay: the draws around what was moved take the same bytes as before, while their keys change where
//! iterations are renumbered.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::bank::Bank;
use super::draw::Kind;
use super::edit::{Edit, Piece};
use super::log::Log;
use super::parts::Part;
use super::sites::Sites;
use super::values::{log_uniform, number};

/// Number of random parts that are looked at before all are.
const TRIES: usize = 32;

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
    let large = if rand.coinflip(0.75) { find(log, rand, |part| part.draws.len() > 1) } else { None };
    let part = &log.parts()[large.or_else(|| find(log, rand, |_| true))?];
    let parent = part.parent.map_or(0, |parent| log.parts()[parent].site);
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
    let draws = log.parts()[chosen].draws.start..log.parts()[group[first + count - 1]].draws.end;
    let edit = Edit::of(vec![Piece::Draws(0..draws.start), after(log, &draws)]);
    with_number(edit, log, sites, &group, |number| number - count)
}

/// Repeats a part 2 to 64 times.
pub(super) fn repeat<'a>(log: &Log, sites: &Sites, limit: usize, rand: &mut StdRand) -> Option<Edit<'a>> {
    let (chosen, group) = of_list(log, sites, rand)?;
    let part = &log.parts()[chosen];
    let mut most = most_times(log, std::slice::from_ref(&part.draws), limit);
    let first = log.parts()[*group.first()?].draws.start;
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
    let group = group(log, find(log, rand, |part| part.siblings > 1)?);
    let places: Vec<Range<usize>> = group.iter().map(|&part| log.parts()[part].draws.clone()).collect();
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
    let values = |draws: &Range<usize>| log.draws()[draws.clone()].iter().map(|draw| (draw.site, draw.value));
    if places.iter().zip(&order).all(|(place, part)| values(place).eq(values(part))) {
        return None;
    }
    let mut pieces = vec![];
    let mut end = 0;
    for (place, part) in places.into_iter().zip(order) {
        pieces.extend([Piece::Draws(end..place.start), Piece::Draws(part)]);
        end = place.end;
    }
    pieces.push(Piece::Draws(end..log.draws().len()));
    Some(Edit::of(pieces))
}

/// The draws after these.
fn after<'a>(log: &Log, draws: &Range<usize>) -> Piece<'a> {
    Piece::Draws(draws.end..log.draws().len())
}

/// A random part that can be moved and `fits`.
fn find(log: &Log, rand: &mut StdRand, fits: impl Fn(&Part) -> bool) -> Option<usize> {
    let (parts, movable) = (log.parts(), log.movable());
    let fits = |at: usize| {
        let part: &Part = &parts[at];
        let (front, back) = log.slices(&part.draws);
        let is_whole = part.draws.len() == log.draws().len();
        !is_whole && part.draws.end <= movable && front.len() + back.len() > 0 && !part.ends_list && fits(part)
    };
    let tries: Vec<usize> = (0..TRIES.min(parts.len())).map(|_| rand.below_or_zero(parts.len())).collect();
    tries.into_iter().chain(0..parts.len()).find(|&at| fits(at))
}

/// Parts of the same site and parent that can be moved, in order.
fn group(log: &Log, part: usize) -> Vec<usize> {
    let (parts, movable) = (log.parts(), log.movable());
    let (parent, site) = (parts[part].parent, parts[part].site);
    let end = parent.map_or(log.draws().len(), |parent| parts[parent].draws.end);
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
        let Some(chosen) = find(log, rand, |part| part.siblings > 1) else { break };
        let group = group(log, chosen);
        let first = &log.parts()[*group.first()?];
        let is_counted = || sites.count(log, first.draws.start, first.site, group.len()).is_some();
        if group.len() > MOST_OPERANDS || is_flagged(log, first) || is_counted() {
            return Some((chosen, group));
        }
    }
    if rand.coinflip(0.75) {
        return None;
    }
    let chosen = find(log, rand, |_| true)?;
    Some((chosen, group(log, chosen)))
}

/// Whether a part begins with a flag, which says whether there is another one, rather than being counted.
fn is_flagged(log: &Log, part: &Part) -> bool {
    log.draws()[part.draws.start].kind() == Some(Kind::Flip)
}

/// A random part and one around it of the same site, as ranges of draws: the outer and the inner one.
fn nested(log: &Log, rand: &mut StdRand) -> Option<(Range<usize>, Range<usize>)> {
    let (parts, movable) = (log.parts(), log.movable());
    let inner = &parts[*log.nested().get(rand.below_or_zero(log.nested().len()))?];
    let around = std::iter::successors(inner.parent, |&parent| parts[parent].parent).take(MOST_AROUND);
    let outer: Vec<&Part> =
        around.map(|at| &parts[at]).filter(|part| part.site == inner.site && part.draws.end <= movable).collect();
    let outer = outer.get(rand.below_or_zero(outer.len()))?;
    Some((outer.draws.clone(), inner.draws.clone()))
}

/// How many times more these draws fit into an input of at most `limit` bytes: 63 at most.
fn most_times(log: &Log, draws: &[Range<usize>], limit: usize) -> usize {
    let size: usize = draws.iter().map(|draws| log.slices(draws)).map(|(front, back)| front.len() + back.len()).sum();
    let room = limit.saturating_sub(log.bytes().len() - log.unread().len());
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
    let first = &log.parts()[*group.first()?];
    if is_flagged(log, first) {
        return Some(edit);
    }
    if let Some(count) = sites.count(log, first.draws.start, first.site, group.len()) {
        let new = change(group.len()) as u64;
        let value = new.checked_sub(count.least).filter(|_| new <= count.most)?;
        edit.changed.insert(count.at, number(value, &log.draws()[count.at]));
    }
    Some(edit)
}
