//! Cache of entries that were trimmed and masked for a goal, limited by its memory.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{Computation, HitsBranch};
use crate::EntryId;

/// Largest size of all masks and trimmed inputs, in bytes.
const LARGEST: usize = 4 << 20;

/// Entry that was trimmed and masked for one goal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// Bytes of the entry, trimmed to the goal.
    pub input: Vec<u8>,
    /// Mask, as far as it is computed.
    pub computation: Computation,
    /// Price of the probes that ended early; see `stages/prepare.rs`.
    pub lost: u32,
    /// Position of the deterministic stage: number of mutants that it has tried or skipped.
    pub walked: u64,
}

impl Prepared {
    fn size(&self) -> usize {
        Self::size_of(self.input.len())
    }

    fn size_of(length: usize) -> usize {
        2 * length + std::mem::size_of::<Self>()
    }
}

/// Number of rounds after its last use in which an item is not dropped to make room: two items that do not fit together
/// would otherwise be computed again and again.
const IN_USE: u64 = 1000;

/// Prepared entries by entry and goal, the least recently used of which are dropped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cache {
    prepared: HashMap<(EntryId, HitsBranch), Prepared>,
    /// Round of the last use of each item, the oldest first.
    order: VecDeque<(u64, (EntryId, HitsBranch))>,
    size: usize,
    /// Number of rounds so far.
    now: u64,
}

impl Cache {
    /// Counts a round that has a goal.
    pub fn begin_round(&mut self) {
        self.now += 1;
    }

    /// Whether there is room for an input of `length` bytes without dropping an item in use.
    pub fn accepts(&self, length: usize) -> bool {
        let mut size = self.size + Prepared::size_of(length);
        for (used, key) in &self.order {
            if size <= LARGEST || used + IN_USE > self.now {
                break;
            }
            size -= self.prepared.get(key).map_or(0, Prepared::size);
        }
        size <= LARGEST
    }

    pub fn get(&self, entry: EntryId, goal: HitsBranch) -> Option<&Prepared> {
        self.prepared.get(&(entry, goal))
    }

    /// Takes a prepared entry out of the cache.
    pub fn take(&mut self, entry: EntryId, goal: HitsBranch) -> Option<Prepared> {
        let prepared = self.prepared.remove(&(entry, goal))?;
        self.size -= prepared.size();
        self.order.retain(|(_, key)| *key != (entry, goal));
        Some(prepared)
    }

    /// Puts a prepared entry into the cache, and drops the least recently used ones that exceed its size.
    pub fn put(&mut self, entry: EntryId, goal: HitsBranch, prepared: Prepared) {
        self.size += prepared.size();
        self.order.push_back((self.now, (entry, goal)));
        self.prepared.insert((entry, goal), prepared);
        while self.size > LARGEST {
            let Some((_, oldest)) = self.order.pop_front() else { break };
            if let Some(dropped) = self.prepared.remove(&oldest) {
                self.size -= dropped.size();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::id;

    const GOAL: HitsBranch = HitsBranch(7);

    fn prepared(length: usize) -> Prepared {
        Prepared { input: vec![0; length], computation: Computation::new(length), lost: 0, walked: 0 }
    }

    #[test]
    fn the_oldest_goes_when_it_is_too_much() {
        let mut cache = Cache::default();
        cache.put(id(1), GOAL, prepared(10));
        cache.put(id(2), GOAL, prepared(LARGEST / 3));
        assert!(cache.get(id(1), GOAL).is_some() && cache.get(id(1), HitsBranch(8)).is_none());
        cache.put(id(3), GOAL, prepared(LARGEST / 3));
        assert!(
            cache.take(id(1), GOAL).is_none() && cache.take(id(3), GOAL).is_some() && cache.take(id(3), GOAL).is_none()
        );
    }

    #[test]
    fn what_is_in_use_is_not_dropped_for_something_new() {
        let mut cache = Cache::default();
        assert!(cache.accepts(LARGEST / 3) && !cache.accepts(LARGEST / 2));
        // three that do not fit together, in turn
        for _ in 0..2 * IN_USE {
            for entry in (1..=3).map(id) {
                cache.begin_round();
                let known = cache.take(entry, GOAL);
                if known.is_some() || cache.accepts(LARGEST / 5) {
                    cache.put(entry, GOAL, known.unwrap_or_else(|| prepared(LARGEST / 5)));
                }
            }
        }
        assert_eq!([1, 2, 3].map(id).map(|entry| cache.get(entry, GOAL).is_some()), [true, true, false]);
        (0..IN_USE).for_each(|_| cache.begin_round());
        assert!(cache.accepts(LARGEST / 5) && cache.accepts(LARGEST / 3));
        cache.put(id(3), GOAL, prepared(LARGEST / 3));
        assert_eq!([1, 2, 3].map(id).map(|entry| cache.get(entry, GOAL).is_some()), [false, false, true]);
    }
}
