//! A model of a provider with its log and overlay, and three generators that draw from it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::encoding::{read_text, width};
use super::super::{Draw, Kind, Overlay};

/// A part that is not over: draws of a function, or of a round of a loop in it.
struct Scope {
    frame: usize,
    first: u64,
    number: u32,
    key: u64,
    /// The first draw of each site in it.
    seen: HashMap<u64, u32>,
    /// How many draws and parts began at each site.
    counts: HashMap<u64, u64>,
}

impl Scope {
    fn new(frame: usize, first: u64, number: u32, key: u64) -> Self {
        Self { frame, first, number, key, seen: HashMap::new(), counts: HashMap::new() }
    }

    fn count(&mut self, site: u64) -> u64 {
        let count = self.counts.entry(site).or_default();
        *count += 1;
        *count
    }
}

/// Provider of one run, with `FuzzedDataProvider`'s encoding, and the parts that frames tell.
pub(super) struct Provider {
    bytes: Vec<u8>,
    front: usize,
    back: usize,
    overlay: HashMap<u64, Vec<u8>>,
    scopes: Vec<Scope>,
    frame: usize,
    draws: Vec<Draw>,
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

impl Provider {
    pub(super) fn new(bytes: &[u8], overlay: &mut Overlay) -> Self {
        let values = overlay.bytes.to_vec();
        let items = overlay.sorted().iter();
        let overlay =
            items.map(|item| (item.key, values[item.start as usize..][..item.length as usize].to_vec())).collect();
        Self {
            bytes: bytes.to_vec(),
            front: 0,
            back: bytes.len(),
            overlay,
            scopes: vec![Scope::new(0, 0, 0, 1)],
            frame: 1,
            draws: Vec::new(),
        }
    }

    /// Runs a function of the generator in a frame of its own.
    pub(super) fn call<T>(&mut self, function: impl FnOnce(&mut Self) -> T) -> T {
        self.frame += 1;
        let result = function(self);
        self.frame -= 1;
        result
    }

    /// Finds the part of the next draw as the runtime does.
    fn enter(&mut self, site: u64) {
        self.scopes.retain(|scope| scope.frame <= self.frame);
        let around = self.scopes.iter().rposition(|scope| scope.frame == self.frame && scope.seen.contains_key(&site));
        if let Some(around) = around {
            let is_next = self.scopes[around].first == site;
            self.scopes.truncate(if is_next { around } else { around + 1 });
            if !is_next {
                let scope = &mut self.scopes[around];
                let first = scope.seen[&site];
                for draw in &mut self.draws[first as usize..] {
                    draw.part = if draw.part == scope.number { first } else { draw.part };
                    draw.depth += 1;
                }
                scope.seen.retain(|_, draw| *draw <= first);
            }
        } else if self.scopes.last().is_some_and(|scope| scope.frame == self.frame) {
            return;
        }
        let top = self.scopes.last_mut().unwrap();
        let key = hash((top.key, site, top.count(site)));
        self.scopes.push(Scope::new(self.frame, site, self.draws.len() as u32, key));
    }

    fn begin(&mut self, site: u64, kind: Kind, range: u64) -> Draw {
        self.enter(site);
        let depth = self.scopes.len() as u16 - 1;
        let scope = self.scopes.last_mut().unwrap();
        scope.seen.entry(site).or_insert(self.draws.len() as u32);
        let key = hash((scope.key, site, scope.count(site), true));
        Draw { site, key, range, kind: kind as u8, depth, part: scope.number, ..Draw::default() }
    }

    fn number(&mut self, site: u64, kind: Kind, range: u64, width: usize) -> u64 {
        let mut draw = self.begin(site, kind, range);
        let taken = width.min(self.back - self.front);
        self.back -= taken;
        if let Some(new) = self.overlay.remove(&draw.key).filter(|new| new.len() == taken) {
            self.bytes[self.back..self.back + taken].copy_from_slice(&new);
            draw.is_overlaid = 1;
        }
        let taken = &self.bytes[self.back..self.back + taken];
        let raw = taken.iter().rev().fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
        draw.value = range.checked_add(1).map_or(raw, |values| raw % values);
        (draw.offset, draw.length) = (self.back as u32, taken.len() as u32);
        self.draws.push(draw);
        draw.value
    }

    pub(super) fn int(&mut self, site: u64, range: u64) -> u64 {
        self.number(site, Kind::Integer, range, width(range))
    }

    pub(super) fn flip(&mut self, site: u64) -> bool {
        self.number(site, Kind::Flip, 1, 1) == 1
    }

    pub(super) fn pick(&mut self, site: u64, count: u64) -> u64 {
        self.number(site, Kind::Pick, count - 1, width(count - 1))
    }

    pub(super) fn real(&mut self, site: u64) -> u64 {
        self.number(site, Kind::Real, u64::MAX, 8)
    }

    fn take(&mut self, site: u64, kind: Kind, range: usize, length: impl Fn(&[u8]) -> usize) -> Vec<u8> {
        let mut draw = self.begin(site, kind, range as u64);
        if let Some(new) = self.overlay.remove(&draw.key).filter(|new| new.len() <= self.back - self.front) {
            self.bytes[self.front..self.front + new.len()].copy_from_slice(&new);
            draw.is_overlaid = 1;
        }
        let taken = self.bytes[self.front..self.back].to_vec();
        let taken = taken[..length(&taken)].to_vec();
        (draw.offset, draw.length, draw.value) = (self.front as u32, taken.len() as u32, hash(&taken));
        self.front += taken.len();
        self.draws.push(draw);
        taken
    }

    pub(super) fn text(&mut self, site: u64, max: usize) -> Vec<u8> {
        let length = |left: &[u8]| (0..=left.len()).find(|&length| read_text(&left[..length], max).is_ended);
        let raw = self.take(site, Kind::Text, max, |left| length(left).unwrap_or(left.len()));
        read_text(&raw, max).content
    }

    pub(super) fn bytes(&mut self, site: u64, count: usize) -> Vec<u8> {
        self.take(site, Kind::Bytes, count, |left| left.len().min(count))
    }

    pub(super) fn rest(&mut self, site: u64) -> Vec<u8> {
        self.take(site, Kind::Rest, 0, <[u8]>::len)
    }

    pub(super) fn size(&mut self, site: u64) -> usize {
        let draw = self.begin(site, Kind::Size, 0);
        self.draws.push(draw);
        self.back - self.front
    }
}

/// Function that draws.
pub(super) type Generator = fn(&mut Provider);

/// Runs a generator: the draws, and the input with the values of the overlay.
pub(super) fn run(generator: Generator, bytes: &[u8], overlay: &mut Overlay) -> (Vec<Draw>, Vec<u8>) {
    let mut provider = Provider::new(bytes, overlay);
    generator(&mut provider);
    (provider.draws, provider.bytes)
}

/// An expression: recursion, and calls with flag-terminated arguments.
pub(super) fn expression(provider: &mut Provider) {
    let mut fuel = 2000;
    provider.call(|provider| term(provider, 0, &mut fuel));
}

fn term(provider: &mut Provider, depth: usize, fuel: &mut usize) {
    *fuel = fuel.saturating_sub(1);
    let kind = provider.pick(10, 6);
    match if depth > 40 || *fuel == 0 { kind % 2 } else { kind } {
        0 => drop(provider.int(11, 100_000)),
        1 => drop(provider.text(12, 8)),
        2 => provider.call(|provider| term(provider, depth + 1, fuel)),
        3 | 4 => {
            provider.int(13, 3);
            provider.call(|provider| term(provider, depth + 1, fuel));
            provider.call(|provider| term(provider, depth + 1, fuel));
        }
        _ => {
            provider.text(14, 12);
            provider.call(|provider| {
                while provider.flip(15) && *fuel > 0 {
                    provider.call(|provider| term(provider, depth + 1, fuel));
                }
            });
        }
    }
}

/// A sequence of calls: a list ended by a flag, and one of which the number is drawn.
pub(super) fn calls(provider: &mut Provider) {
    provider.int(20, 255);
    provider.flip(21);
    provider.call(|provider| {
        let count = provider.int(22, 40);
        for _ in 0..count {
            provider.call(|provider| {
                provider.text(23, 16);
                provider.int(24, u64::MAX);
            });
        }
    });
    // a loop in the harness itself
    while provider.flip(30) {
        match provider.pick(31, 4) {
            0 => drop((provider.text(32, 16), provider.int(33, 1000))),
            1 => drop(provider.text(34, 16)),
            2 => drop(provider.real(35)),
            _ => provider.call(|provider| {
                let length = provider.int(36, 30);
                provider.bytes(37, length as usize);
            }),
        }
    }
    provider.int(38, 7);
    provider.text(39, 20);
}

/// Options, and text to which they are applied.
pub(super) fn options(provider: &mut Provider) {
    for site in 40..46 {
        provider.flip(site);
    }
    provider.int(46, 9);
    if provider.flip(47) {
        provider.text(48, 30);
    }
    let length = provider.int(49, 200) as usize;
    provider.bytes(50, length);
    provider.text(51, 400);
}

pub(super) const GENERATORS: [(&str, Generator); 3] =
    [("expression", expression), ("calls", calls), ("options", options)];
