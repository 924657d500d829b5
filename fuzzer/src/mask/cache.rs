//! What was prepared for entries and their targets, kept until it takes too much memory.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{Computation, target::Goal};

/// Masks and trimmed inputs take no more, in bytes.
const LARGEST: usize = 4 << 20;

/// An entry, made ready for one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// The entry, trimmed to the target.
    pub input: Vec<u8>,
    /// Its mask, as far as it is known.
    pub computation: Computation,
    /// How much its probes have cost by not coming back: see `stages/prepare.rs`.
    pub lost: u32,
    /// How far the deterministic stage is, in mutants.
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

/// See the module's text. Entries go by their numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cache {
    prepared: HashMap<(u32, Goal), Prepared>,
    /// The oldest first.
    order: VecDeque<(u32, Goal)>,
    size: usize,
}

impl Cache {
    /// Whether anything can be remembered of an input of `length` bytes. If not, preparing it would begin anew each time.
    pub fn has_room_for(length: usize) -> bool {
        Prepared::size_of(length) <= LARGEST
    }

    /// Takes out what was prepared for this entry and target.
    pub fn take(&mut self, entry: u32, goal: Goal) -> Option<Prepared> {
        let prepared = self.prepared.remove(&(entry, goal))?;
        self.size -= prepared.size();
        self.order.retain(|key| *key != (entry, goal));
        Some(prepared)
    }

    /// What was prepared for any target of this kind of an entry, for its children.
    pub fn of_entry(&self, entry: u32, alike: impl Fn(&Goal) -> bool) -> Option<&Prepared> {
        let key = self.order.iter().rev().find(|(of, goal)| *of == entry && alike(goal))?;
        self.prepared.get(key)
    }

    /// Puts it back, and drops the oldest if it is too much.
    pub fn put(&mut self, entry: u32, goal: Goal, prepared: Prepared) {
        self.size += prepared.size();
        self.order.push_back((entry, goal));
        self.prepared.insert((entry, goal), prepared);
        while self.size > LARGEST {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(dropped) = self.prepared.remove(&oldest) {
                self.size -= dropped.size();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_it_is_too_much() {
        let mut cache = Cache::default();
        let prepared = |length: usize| Prepared {
            input: vec![0; length],
            computation: Computation::new(length),
            lost: 0,
            walked: 0,
        };
        let goal = Goal::HitsBranch(7);
        cache.put(1, goal, prepared(10));
        cache.put(2, goal, prepared(LARGEST / 3));
        assert!(
            cache.of_entry(1, |_| true).is_some() && cache.of_entry(1, |goal| *goal == Goal::HitsBranch(8)).is_none()
        );
        assert!(Cache::has_room_for(LARGEST / 3) && !Cache::has_room_for(LARGEST / 2));
        cache.put(3, goal, prepared(LARGEST / 3));
        assert!(cache.take(1, goal).is_none() && cache.take(3, goal).is_some() && cache.take(3, goal).is_none());
    }
}
