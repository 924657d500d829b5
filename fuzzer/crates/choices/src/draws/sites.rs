//! Effects of the places in the program that draw, as learned while fuzzing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::draw::{Draw, Kind};
use super::log::Log;

/// Maximum number of sites, and of pairs of them; those that come later are not learned.
const MOST_SITES: usize = 1 << 16;

/// Sum of counters at which they are halved, so that old observations fade.
const HALVED_AT: u32 = 64;

/// Largest range of an integer that is taken for structural until it is known better.
const SMALL_RANGE: u64 = 63;

/// Maximum number of draws before a list of parts among which its count is looked for.
const COUNT_DISTANCE: usize = 16;

/// Effect of a draw on those that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteKind {
    /// Which draws follow.
    Structural,
    /// How many bytes a later draw takes, and nothing else.
    Layout,
    /// Nothing about later draws.
    Value,
}

/// Number of observations for each kind of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Observations {
    structural: u16,
    layout: u16,
    value: u16,
}

impl Observations {
    /// Number of all.
    fn total(&self) -> u32 {
        u32::from(self.structural) + u32::from(self.layout) + u32::from(self.value)
    }
}

/// How often an integer was the number of parts, or of bytes, that followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counting {
    /// By the smallest value: 0 and 1.
    hits: [u16; 2],
    misses: u16,
}

/// Kinds of sites as mutants have shown them, with the kind of the draw as the first guess.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sites {
    kinds: BTreeMap<u64, Observations>,
    /// By [`pair`].
    counts: BTreeMap<u64, Counting>,
}

/// A draw that says how many parts or bytes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// Its place in the log.
    pub(super) at: usize,
    /// Smallest number.
    pub(super) least: u64,
    /// Largest number.
    pub(super) most: u64,
}

impl Sites {
    /// Kind of a draw's site.
    pub fn kind(&self, draw: &Draw) -> SiteKind {
        let mut seen = self.kinds.get(&draw.site).copied().unwrap_or_default();
        match first_guess(draw) {
            // a count of bytes is no decision because its range is small
            SiteKind::Structural if seen.layout == 0 => seen.structural = seen.structural.saturating_add(1),
            SiteKind::Structural => {}
            SiteKind::Layout => seen.layout = seen.layout.saturating_add(1),
            SiteKind::Value => seen.value = seen.value.saturating_add(1),
        }
        // a decision of which one alternative in eight draws differently is structural too
        let enough = seen.total().div_ceil(8);
        if u32::from(seen.structural) >= enough {
            SiteKind::Structural
        } else if u32::from(seen.layout) >= enough {
            SiteKind::Layout
        } else {
            SiteKind::Value
        }
    }

    /// Learns from a mutant of `parent`: of its draws, those numbered `changed` were changed, all of one site, and its run
    /// has drawn `child`. Ignores what cannot be attributed to that site.
    pub fn observe(&mut self, parent: &Log, child: &[Draw], changed: &[u32]) {
        let draws = &parent.draws;
        let Some(first) = changed.iter().min().map(|&at| at as usize) else { return };
        let Some(site) = draws.get(first).map(|draw| draw.site) else { return };
        let is_same = |at: &u32| draws.get(*at as usize).is_some_and(|draw| draw.site == site);
        if !changed.iter().all(is_same) || child.get(first).is_none_or(|draw| draw.site != site) {
            return;
        }
        let changes = |at: usize| changed.contains(&(at as u32));
        if !changed.iter().any(|&at| child.get(at as usize).is_some_and(|draw| draw.value != draws[at as usize].value))
        {
            return;
        }
        if !self.kinds.contains_key(&site) && self.kinds.len() >= MOST_SITES {
            return;
        }
        let seen = self.kinds.entry(site).or_default();
        let sites = |draws: &[Draw]| draws[first..].iter().map(|draw| draw.site).collect::<Vec<_>>();
        if sites(draws) != sites(child) {
            seen.structural = seen.structural.saturating_add(1);
        } else if (first..draws.len()).any(|at| draws[at].length != child[at].length && !changes(at)) {
            seen.layout = seen.layout.saturating_add(1);
        } else {
            seen.value = seen.value.saturating_add(1);
        }
        if seen.total() >= HALVED_AT {
            *seen = Observations { structural: seen.structural / 2, layout: seen.layout / 2, value: seen.value / 2 };
        }
    }

    /// Learns from a new entry which integers count the parts or bytes that follow them.
    pub fn learn_counts(&mut self, log: &Log) {
        for (first, what, number) in counted(log) {
            self.guess_layout(log, first);
            for (draw, _) in before(log, first) {
                let key = pair(draw.site, what);
                if !self.counts.contains_key(&key) && self.counts.len() >= MOST_SITES {
                    continue;
                }
                let seen = self.counts.entry(key).or_default();
                match number.checked_sub(draw.value) {
                    Some(least @ (0 | 1)) => seen.hits[least as usize] = seen.hits[least as usize].saturating_add(1),
                    _ => seen.misses = seen.misses.saturating_add(1),
                }
                if seen.hits.iter().chain([&seen.misses]).map(|&count| u32::from(count)).sum::<u32>() >= HALVED_AT {
                    *seen = Counting { hits: seen.hits.map(|hits| hits / 2), misses: seen.misses / 2 };
                }
            }
        }
    }

    /// Takes the integer before bytes for a count of them if it is their number and nothing is known of it.
    fn guess_layout(&mut self, log: &Log, bytes: usize) {
        let drawn = &log.draws[bytes];
        if drawn.kind() != Some(Kind::Bytes) || self.kinds.len() >= MOST_SITES {
            return;
        }
        if let Some((number, _)) = before(log, bytes).next().filter(|(number, _)| number.value == drawn.range) {
            self.kinds.entry(number.site).or_insert(Observations { layout: 1, ..Observations::default() });
        }
    }

    /// The draw that says how many parts or bytes of this site follow, where `first` is the first draw of them, and
    /// `number` how many there are.
    pub(super) fn count(&self, log: &Log, first: usize, site: u64, number: usize) -> Option<Count> {
        before(log, first).find_map(|(draw, at)| {
            let least = (number as u64).checked_sub(draw.value).filter(|&least| least <= 1)?;
            let seen = self.counts.get(&pair(draw.site, site)).copied().unwrap_or_default();
            let hits = u32::from(seen.hits[least as usize]) + 1;
            let misses = u32::from(seen.misses) + u32::from(seen.hits[1 - least as usize]);
            (hits >= misses * 4).then(|| Count { at, least, most: draw.range.saturating_add(least) })
        })
    }
}

/// Kind of a draw as its method suggests.
fn first_guess(draw: &Draw) -> SiteKind {
    match draw.kind() {
        Some(Kind::Flip | Kind::Pick) => SiteKind::Structural,
        Some(Kind::Integer) if draw.range <= SMALL_RANGE => SiteKind::Structural,
        _ => SiteKind::Value,
    }
}

/// Key of two sites.
fn pair(draw: u64, counted: u64) -> u64 {
    draw.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32) ^ counted
}

/// Lists of parts, and bytes of which the harness says how many: first draw, site, number.
fn counted(log: &Log) -> impl Iterator<Item = (usize, u64, u64)> {
    let lists =
        log.parts.iter().filter(|part| part.sibling == 0 && log.draws[part.draws.start].kind() != Some(Kind::Flip));
    let lists = lists.map(|part| (part.draws.start, part.site, part.siblings as u64));
    let bytes = log.draws.iter().enumerate().filter(|(_, draw)| draw.kind() == Some(Kind::Bytes));
    lists.chain(bytes.map(|(at, draw)| (at, draw.site, draw.range)))
}

/// Integers shortly before a draw, the nearest first, with their places.
fn before(log: &Log, at: usize) -> impl Iterator<Item = (&Draw, usize)> {
    let draws = &log.draws[..at];
    let near = draws.iter().enumerate().rev().take(COUNT_DISTANCE);
    near.filter(|(_, draw)| matches!(draw.kind(), Some(Kind::Integer)) && draw.range > 0).map(|(at, draw)| (draw, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that draws numbers of these sites, values and numbers of bytes.
    fn run(draws: &[(u64, u64, u32)]) -> Vec<Draw> {
        let mut end = 100;
        let mut draw = |&(site, value, length): &(u64, u64, u32)| {
            end -= length;
            Draw { site, value, range: 255, length, offset: end, ..Draw::default() }
        };
        draws.iter().map(&mut draw).collect()
    }

    fn observe(sites: &mut Sites, parent: &[(u64, u64, u32)], child: &[(u64, u64, u32)], changed: &[u32]) {
        sites.observe(&Log::new(&run(parent), &[0; 100], false), &run(child), changed);
    }

    fn kind(sites: &Sites, site: u64) -> SiteKind {
        sites.kind(&Draw { site, range: 255, ..Draw::default() })
    }

    #[test]
    fn the_first_guess_is_by_method_and_range() {
        let guess = |kind: Kind, range| Sites::default().kind(&Draw { kind: kind as u8, range, ..Draw::default() });
        assert_eq!(guess(Kind::Flip, 1), SiteKind::Structural);
        assert_eq!(guess(Kind::Pick, 500), SiteKind::Structural);
        assert_eq!(guess(Kind::Integer, 10), SiteKind::Structural);
        for (kind, range) in [(Kind::Integer, u64::MAX), (Kind::Real, 0), (Kind::Text, 10), (Kind::Rest, 0)] {
            assert_eq!(guess(kind, range), SiteKind::Value);
        }
    }

    #[test]
    fn what_a_change_does_to_later_draws_is_learned() {
        let mut sites = Sites::default();
        let parent = [(1, 5, 1), (2, 5, 1), (3, 5, 1), (4, 5, 1)];
        observe(&mut sites, &parent, &[(1, 6, 1), (2, 5, 1), (4, 5, 1)], &[0]);
        observe(&mut sites, &parent, &[(1, 5, 1), (2, 6, 1), (3, 5, 9), (4, 5, 1)], &[1]);
        observe(&mut sites, &parent, &[(1, 5, 1), (2, 5, 1), (3, 6, 7), (4, 5, 1)], &[2]);
        assert_eq!([1, 2, 3].map(|site| kind(&sites, site)), [SiteKind::Structural, SiteKind::Layout, SiteKind::Value]);
    }

    #[test]
    fn a_site_can_change_its_kind_and_its_counters_stay_small() {
        let mut sites = Sites::default();
        for _ in 0..200 {
            observe(&mut sites, &[(1, 5, 1), (2, 5, 1)], &[(1, 6, 1)], &[0]);
        }
        assert_eq!(kind(&sites, 1), SiteKind::Structural);
        for _ in 0..200 {
            observe(&mut sites, &[(1, 5, 1), (2, 5, 1)], &[(1, 6, 1), (2, 5, 1)], &[0]);
        }
        assert_eq!(kind(&sites, 1), SiteKind::Value);
        assert!(sites.kinds[&1].total() < HALVED_AT);
    }

    #[test]
    fn mutants_that_say_nothing_about_one_site_are_ignored() {
        let mut sites = Sites::default();
        let parent = [(1, 5, 1), (2, 5, 1)];
        observe(&mut sites, &parent, &[(1, 6, 1)], &[0, 1]);
        observe(&mut sites, &parent, &[(7, 6, 1)], &[0]);
        observe(&mut sites, &parent, &[(1, 5, 1)], &[0]);
        observe(&mut sites, &parent, &[(1, 6, 1)], &[9]);
        observe(&mut sites, &parent, &[], &[0]);
        observe(&mut sites, &parent, &[(1, 6, 1)], &[]);
        assert_eq!(sites, Sites::default());
    }

    #[test]
    fn what_is_learned_survives_a_checkpoint() {
        let mut sites = Sites::default();
        observe(&mut sites, &[(u64::MAX, 5, 1), (2, 5, 1)], &[(u64::MAX, 6, 1)], &[0]);
        let saved = serde_json::to_string(&sites).unwrap();
        assert_eq!(serde_json::from_str::<Sites>(&saved).unwrap(), sites);
    }
}
