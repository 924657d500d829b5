//! New values for draws: of structure and of value.

use libafl_bolts::rands::{Rand, StdRand};

use super::draw::{Draw, Kind};
use super::edit::Edit;
use super::encoding::{read_text, text_in, width, write_number, write_text};
use super::log::Log;
use super::sites::{SiteKind, Sites};

/// Mean number of draws that a mutant changes, as in BeDivFuzz.
const MEAN_CHANGED: f64 = 8.0;

/// Number of random draws that are looked at before all are.
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
        let draw = &log.draws()[at];
        let value = different(draw, rand);
        edit.changed.insert(at, number(value, draw));
    }
    let first = edit.changed.first_key_value().map_or(0, |(&at, _)| at);
    edit.held = first + 1..log.draws().len();
    edit.fresh = if log.takes_rest() { 0 } else { log_uniform(rand, MOST_FRESH) };
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
        let draw = &log.draws()[at];
        match draw.kind()? {
            Kind::Integer | Kind::Flip | Kind::Pick => {
                let value = interesting(draw, rand);
                match counted_bytes(log, sites, at) {
                    Some(bytes) if log.is_movable() => resize(&mut edit, log, (at, bytes), value, rand),
                    _ => drop(edit.changed.insert(at, number(value, draw))),
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
        let draw = &log.draws()[at];
        let bytes = match draw.kind()? {
            Kind::Integer | Kind::Flip | Kind::Pick => number(log.draws()[source].value.min(draw.range), draw),
            Kind::Text | Kind::Bytes => {
                set_content(&mut edit, log, sites, at, content(log, source), rand);
                continue;
            }
            _ => {
                let mut bytes = Vec::new();
                log.write_draw(source, &mut bytes);
                bytes
            }
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
        let draw = &log.draws()[at];
        let value = first.wrapping_add(step.wrapping_mul(count as u64));
        match draw.kind()? {
            Kind::Integer | Kind::Flip | Kind::Pick => {
                edit.changed.insert(at, number(limited(value, draw.range), draw));
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
                let mut bytes = Vec::new();
                log.write_draw(source, &mut bytes);
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
    let fits = |at: usize| is_changeable(log, at) && fits(&log.draws()[at]);
    let first = find(log, rand, fits)?;
    let mut chosen = vec![first];
    let mode = rand.below_or_zero(4);
    if mode == 0 {
        return Some(chosen);
    }
    let site = log.draws()[first].site;
    for _ in 1..geometric(rand, MEAN_CHANGED) {
        let at = rand.below_or_zero(log.draws().len());
        let next = if mode == 1 {
            (at..log.draws().len()).chain(0..at).find(|&at| log.draws()[at].site == site && is_changeable(log, at))
        } else {
            find(log, rand, fits)
        };
        chosen.extend(next);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Some(chosen)
}

/// Two or more value draws of one site: all of them in half of the calls.
fn of_one_site(log: &Log, sites: &Sites, rand: &mut StdRand) -> Option<Vec<usize>> {
    let is_value = |at: usize| is_changeable(log, at) && sites.kind(&log.draws()[at]) != SiteKind::Structural;
    let site = log.draws()[find(log, rand, is_value)?].site;
    let mut chosen: Vec<usize> =
        (0..log.draws().len()).filter(|&at| log.draws()[at].site == site && is_changeable(log, at)).collect();
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
fn find(log: &Log, rand: &mut StdRand, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let count = log.draws().len();
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
    let draw = &log.draws()[at];
    match draw.kind() {
        Some(Kind::Integer | Kind::Flip | Kind::Pick) => {
            draw.range > 0 && if log.is_movable() { true } else { log.draw_range(at).is_some() }
        }
        Some(Kind::Text) => draw.range > 0 && (log.is_movable() || log.draw_range(at).is_some()),
        Some(Kind::Real | Kind::Bytes | Kind::Rest) => log.draw_range(at).is_some(),
        _ => false,
    }
}

/// Characters of a text, or bytes.
fn content(log: &Log, at: usize) -> Vec<u8> {
    let own = log.draw_range(at).map_or(&[][..], |range| &log.bytes()[range]);
    match log.draws()[at].kind() {
        Some(Kind::Text) => read_text(own, log.most_text(at)).content,
        _ => own.to_vec(),
    }
}

/// Gives a text or bytes this content: the number of bytes changes only where the draw that says it can change too.
fn set_content(edit: &mut Edit, log: &Log, sites: &Sites, at: usize, mut content: Vec<u8>, rand: &mut StdRand) {
    let draw = &log.draws()[at];
    let length = draw.length as usize;
    let mut bytes = Vec::new();
    match draw.kind() {
        Some(Kind::Text) if log.is_movable() => write_text(&content, log.most_text(at), &mut bytes),
        Some(Kind::Text) => match text_in(&content, log.most_text(at), length) {
            Some(text) => bytes = text,
            None => return,
        },
        Some(Kind::Rest) if log.is_movable() => bytes = content,
        Some(Kind::Bytes) if log.is_movable() && content.len() != length => {
            let count = sites.count(log, at, draw.site, length);
            if let Some(count) = count.filter(|count| log.draws()[count.at].length > 0) {
                content.truncate(usize::try_from(count.most).unwrap_or(usize::MAX));
                let value = (content.len() as u64).max(count.least) - count.least;
                edit.changed.insert(count.at, number(value, &log.draws()[count.at]));
                content.resize((value + count.least) as usize, 0);
            } else {
                content.resize_with(length, || rand.next() as u8);
            }
            bytes = content;
        }
        _ => {
            content.resize_with(length, || rand.next() as u8);
            bytes = content;
        }
    }
    edit.changed.insert(at, bytes);
}

/// The draw of bytes of which this draw says how many there are.
fn counted_bytes(log: &Log, sites: &Sites, at: usize) -> Option<usize> {
    if sites.kind(&log.draws()[at]) != SiteKind::Layout {
        return None;
    }
    let near = (at + 1..log.draws().len()).take(COUNTED_DISTANCE);
    let mut bytes = near.filter(|&bytes| log.draws()[bytes].kind() == Some(Kind::Bytes));
    bytes.find(|&bytes| {
        let length = log.draws()[bytes].length as usize;
        sites.count(log, bytes, log.draws()[bytes].site, length).is_some_and(|count| count.at == at)
    })
}

/// Gives a number of bytes a new value, and the bytes as many.
fn resize(edit: &mut Edit, log: &Log, (at, bytes): (usize, usize), value: u64, rand: &mut StdRand) {
    let mut new = content(log, bytes);
    let least = (new.len() as u64).saturating_sub(log.draws()[at].value);
    let length = usize::try_from(value.saturating_add(least)).unwrap_or(usize::MAX).min(MOST_RESIZED);
    new.resize_with(length, || rand.next() as u8);
    edit.changed.insert(at, number((length as u64).saturating_sub(least), &log.draws()[at]));
    edit.changed.insert(bytes, new);
}

/// Bytes of a number.
pub(super) fn number(value: u64, draw: &Draw) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8);
    write_number(value, width(draw.range), &mut bytes);
    bytes
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
    let mut bytes = Vec::new();
    log.write_draw(at, &mut bytes);
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

/// Draws from `1..=max` so that every order of magnitude is equally likely; 0 if `max` is 0.
pub(super) fn log_uniform(rand: &mut StdRand, max: usize) -> usize {
    ((rand.next_float() * (max as f64 + 1.0).ln()).exp() as usize).clamp(max.min(1), max)
}
