//! Who is best at what among the kept inputs. An entry that is best at nothing is dominated: other entries cover what
//! it covers for less, and every edge and the total have a more expensive one. It is set aside.

use serde::{Deserialize, Serialize};

use super::history::bucket;

const NOBODY: u32 = u32::MAX;
const BUCKETS: usize = 8;

/// What one entry is compared by.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    instructions: u64,
    bytes: u64,
    /// At how many things it is best.
    titles: u32,
}

/// See the module's text. Entries are numbered as in the corpus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Champions {
    entries: Vec<Option<Entry>>,
    /// Per edge and bucket: the cheapest entry that hits the edge in this bucket.
    cheapest: Vec<[u32; BUCKETS]>,
    /// Per edge: the entry that executes it most often, and how often.
    hottest: Vec<(u32, u32)>,
    /// The entry with the largest total.
    worst: Option<u32>,
    /// Entries that are best at something, cheapest first: (instructions, entry).
    ranking: Vec<(u64, u32)>,
}

impl Champions {
    /// Makes room for a program of this many edges.
    pub fn grow(&mut self, edges: usize) {
        if self.cheapest.len() < edges {
            self.cheapest.resize(edges, [NOBODY; BUCKETS]);
            self.hottest.resize(edges, (NOBODY, 0));
        }
    }

    /// Entries that are best at something.
    pub fn active(&self) -> usize {
        self.ranking.len()
    }

    /// Entries that are best at something, cheapest first, with their instructions.
    pub fn ranking(&self) -> &[(u64, u32)] {
        &self.ranking
    }

    /// Whether an entry is best at something.
    pub fn is_active(&self, entry: u32) -> bool {
        self.entries.get(entry as usize).copied().flatten().is_some_and(|e| e.titles > 0)
    }

    /// The entry with the largest total.
    pub fn worst(&self) -> Option<u32> {
        self.worst
    }

    /// Enters a kept input with all its counts (first edge and counts, function by function). Returns the entries that
    /// lost their last title by it; `entry` itself may be among them.
    pub fn enter<'a>(
        &mut self,
        entry: u32,
        instructions: u64,
        bytes: u64,
        counts: impl Iterator<Item = (usize, &'a [u32])>,
    ) -> Vec<u32> {
        if self.entries.len() <= entry as usize {
            self.entries.resize(entry as usize + 1, None);
        }
        self.entries[entry as usize] = Some(Entry { instructions, bytes, titles: 0 });
        let place = self.ranking.partition_point(|&ranked| ranked < (instructions, entry));
        self.ranking.insert(place, (instructions, entry));
        let mut fallen = Vec::new();
        for (first, counts) in counts {
            for (edge, &count) in (first..).zip(counts) {
                if count == 0 {
                    continue;
                }
                let slot = bucket(count).trailing_zeros() as usize;
                let holder = self.cheapest[edge][slot];
                if holder == NOBODY || self.is_cheaper(entry, holder) {
                    self.cheapest[edge][slot] = entry;
                    self.pass_title(holder, entry, &mut fallen);
                }
                let (holder, most) = self.hottest[edge];
                if count > most || (count == most && self.is_cheaper(entry, holder)) {
                    self.hottest[edge] = (entry, count);
                    self.pass_title(holder, entry, &mut fallen);
                }
            }
        }
        let holder = self.worst.unwrap_or(NOBODY);
        let larger = |e: &Entry| instructions > e.instructions || (instructions == e.instructions && bytes < e.bytes);
        if self.entry(holder).is_none_or(larger) {
            self.worst = Some(entry);
            self.pass_title(holder, entry, &mut fallen);
        }
        if self.entry(entry).is_some_and(|e| e.titles == 0) {
            fallen.push(entry);
        }
        for &loser in &fallen {
            let key = (self.entry(loser).map_or(0, |e| e.instructions), loser);
            if let Ok(place) = self.ranking.binary_search(&key) {
                self.ranking.remove(place);
            }
        }
        fallen
    }

    fn entry(&self, entry: u32) -> Option<&Entry> {
        self.entries.get(entry as usize)?.as_ref()
    }

    fn is_cheaper(&self, entry: u32, than: u32) -> bool {
        match (self.entry(entry), self.entry(than)) {
            (Some(a), Some(b)) => (a.instructions, a.bytes) < (b.instructions, b.bytes),
            _ => false,
        }
    }

    fn pass_title(&mut self, from: u32, to: u32, fallen: &mut Vec<u32>) {
        if from == to {
            return;
        }
        if let Some(Some(loser)) = self.entries.get_mut(from as usize) {
            loser.titles -= 1;
            if loser.titles == 0 {
                fallen.push(from);
            }
        }
        if let Some(Some(winner)) = self.entries.get_mut(to as usize) {
            winner.titles += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(champions: &mut Champions, entry: u32, instructions: u64, counts: &[u32]) -> Vec<u32> {
        champions.grow(counts.len());
        champions.enter(entry, instructions, 10, std::iter::once((0, counts)))
    }

    #[test]
    fn a_dominated_entry_is_set_aside_and_its_coverage_stays_owned() {
        let mut champions = Champions::default();
        assert!(enter(&mut champions, 0, 100, &[1, 5]).is_empty());
        // the same coverage for less, but neither the total nor a maximum: both stay
        assert!(enter(&mut champions, 1, 50, &[1, 4]).is_empty());
        // more of everything: entry 0 has lost its titles
        assert_eq!(enter(&mut champions, 2, 200, &[2, 9]), vec![0]);
        assert!(champions.is_active(1) && champions.is_active(2) && !champions.is_active(0));
        assert_eq!(champions.ranking(), [(50, 1), (200, 2)]);
        assert_eq!(champions.worst(), Some(2));
    }

    #[test]
    fn an_entry_that_is_best_at_nothing_falls_at_once() {
        let mut champions = Champions::default();
        enter(&mut champions, 0, 100, &[4]);
        assert_eq!(enter(&mut champions, 1, 100, &[4]), vec![1]);
        assert_eq!(champions.active(), 1);
    }
}
