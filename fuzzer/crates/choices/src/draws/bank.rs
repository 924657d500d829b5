//! Parts of entries, to be spliced into others.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use libafl_bolts::rands::{Rand, StdRand};

use super::log::Log;

/// Maximum size of all parts, in bytes.
const MOST_BYTES: usize = 8 << 20;

/// Memory of a part beside its bytes, about.
const OVERHEAD: usize = 128;

/// Maximum size of a part.
const MOST_PART: usize = 1 << 14;

/// Maximum number of parts that are taken from one entry.
const MOST_OF_ENTRY: usize = 256;

/// A part of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fragment {
    /// Site of its first draw.
    pub(super) site: u64,
    /// Site of the part around it; 0 if there is none.
    pub(super) parent: u64,
    /// Its bytes of the front stream.
    pub(super) front: Vec<u8>,
    /// Its bytes of the back stream, as they lie in the input.
    pub(super) back: Vec<u8>,
}

impl Fragment {
    /// Memory that it takes, about, in bytes.
    fn size(&self) -> usize {
        self.front.len() + self.back.len() + OVERHEAD
    }

    /// Hash of everything.
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }
}

/// Parts of entries by the site of their first draw, each once, in at most 8 MiB: what is new replaces any of the old.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    fragments: Vec<Fragment>,
    /// Places in `fragments`.
    by_site: HashMap<u64, Vec<u32>>,
    hashes: HashSet<u64>,
    bytes: usize,
}

impl Bank {
    /// Adds the parts of an entry, any 256 of them if there are more.
    pub fn add(&mut self, log: &Log, rand: &mut StdRand) {
        let parts = &log.parts;
        let all = parts.len() <= MOST_OF_ENTRY;
        for at in 0..parts.len().min(MOST_OF_ENTRY) {
            let part = &parts[if all { at } else { rand.below_or_zero(parts.len()) }];
            if part.draws.end > log.movable() || part.ends_list {
                continue;
            }
            let (front, back) = log.slices(&part.draws);
            if (1..=MOST_PART).contains(&(front.len() + back.len())) {
                let parent = part.parent.map_or(0, |parent| parts[parent].site);
                self.insert(Fragment { site: part.site, parent, front: front.to_vec(), back: back.to_vec() }, rand);
            }
        }
    }

    /// Number of parts.
    pub fn len(&self) -> usize {
        self.fragments.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.fragments.is_empty()
    }

    /// A random part of this site: of several, one that had the same part around it.
    pub(super) fn draw(&self, site: u64, parent: u64, rand: &mut StdRand) -> Option<&Fragment> {
        let places = self.by_site.get(&site)?;
        let mut drawn = None;
        for _ in 0..4 {
            let fragment = &self.fragments[places[rand.below_or_zero(places.len())] as usize];
            drawn = Some(fragment);
            if fragment.parent == parent {
                break;
            }
        }
        drawn
    }

    /// Adds a part if it is new.
    fn insert(&mut self, fragment: Fragment, rand: &mut StdRand) {
        if !self.hashes.insert(fragment.hash()) {
            return;
        }
        self.bytes += fragment.size();
        while self.bytes > MOST_BYTES && !self.fragments.is_empty() {
            self.remove(rand.below_or_zero(self.fragments.len()));
        }
        self.by_site.entry(fragment.site).or_default().push(self.fragments.len() as u32);
        self.fragments.push(fragment);
    }

    /// Removes a part; the last takes its place.
    fn remove(&mut self, at: usize) {
        let last = self.fragments.len() - 1;
        let removed = self.fragments.swap_remove(at);
        self.bytes -= removed.size();
        self.hashes.remove(&removed.hash());
        if let Some(places) = self.by_site.get_mut(&removed.site) {
            places.retain(|&place| place as usize != at);
            if places.is_empty() {
                self.by_site.remove(&removed.site);
            }
        }
        let moved = self.fragments.get(at).map(|fragment| fragment.site);
        if let Some(places) = moved.and_then(|site| self.by_site.get_mut(&site))
            && let Some(place) = places.iter_mut().find(|place| **place as usize == last)
        {
            *place = at as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bank_replaces_parts_and_finds_those_that_are_left() {
        let (mut bank, mut rand) = (Bank::default(), StdRand::with_seed(1));
        for number in 0..3000u32 {
            let front = [&number.to_le_bytes()[..], &[0; 8000]].concat();
            bank.insert(Fragment { site: u64::from(number % 7), parent: 0, front, back: Vec::new() }, &mut rand);
        }
        assert!(bank.bytes <= MOST_BYTES && bank.bytes > MOST_BYTES - 9000, "{}", bank.bytes);
        assert_eq!(bank.by_site.values().map(Vec::len).sum::<usize>(), bank.len());
        for (&site, places) in &bank.by_site {
            assert!(places.iter().all(|&place| bank.fragments[place as usize].site == site));
        }
        assert_eq!(bank.hashes.len(), bank.len());
    }

    #[test]
    fn a_part_is_kept_once_and_drawn_by_what_is_around_it() {
        let (mut bank, mut rand) = (Bank::default(), StdRand::with_seed(1));
        for parent in [1, 2, 2, 1] {
            bank.insert(Fragment { site: 5, parent, front: vec![9], back: vec![] }, &mut rand);
        }
        assert_eq!(bank.len(), 2);
        let fits = (0..1000).filter(|_| bank.draw(5, 2, &mut rand).is_some_and(|part| part.parent == 2)).count();
        assert!(fits > 900, "{fits}");
        assert!(bank.draw(6, 2, &mut rand).is_none());
    }
}
