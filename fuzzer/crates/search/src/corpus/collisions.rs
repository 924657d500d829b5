//! Knowledge of the hash functions of the program, and of keys that collide in them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::EntryId;

/// Share of the work for searches, beside the first one, and work of a search at most; with what is added once a few keys that
/// collide were seen to cost more.
const SHARE: f64 = 0.1;
pub const MOST_WORK: f64 = 6e9;
pub const WORK_OF_PROVEN: f64 = 2.4e10;

/// Searches of a function that brought nothing, after which no other input is tried.
const MOST_SEARCHES: u8 = 3;

/// One of so many runs is for an entry whose hashes are recorded, and so many entries are in any case; of a program that has shown
/// none, so few.
const ONE_OF: u64 = 256;
const AT_FIRST: u64 = 64;
const UNHASHED: u64 = 4;

/// Where keys stand in inputs.
#[derive(Debug, Default)]
pub struct Slots {
    pub before: Vec<u8>,
    pub between: Vec<u8>,
    pub after: Vec<u8>,
}

impl Slots {
    /// The input with these keys.
    pub fn fill(&self, keys: impl IntoIterator<Item = Vec<u8>>, input: &mut Vec<u8>) {
        input.clear();
        input.extend_from_slice(&self.before);
        for (number, key) in keys.into_iter().enumerate() {
            if number > 0 {
                input.extend_from_slice(&self.between);
            }
            input.extend(key);
        }
        input.extend_from_slice(&self.after);
    }

    /// Number of keys of a length in an input of a size.
    pub fn room(&self, length: usize, size: usize) -> usize {
        let rest = size.saturating_sub(self.before.len() + self.after.len()) + self.between.len();
        rest / (length + self.between.len())
    }
}

/// Hash functions by the place in the program that shows their hashes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CollisionState {
    /// Searches of each, as many as are made at most if it is settled.
    searches: BTreeMap<u32, u8>,
    /// Entries whose hashes were recorded.
    traced: BTreeSet<EntryId>,
    pub work: f64,
}

impl CollisionState {
    /// Whether the hashes of an entry are to be recorded now, after so many executions, in a program that has shown some or not;
    /// notes that they are.
    pub fn traces(&mut self, entry: EntryId, executions: u64, are_hashed: bool) -> bool {
        let most = if are_hashed { AT_FIRST + executions / ONE_OF } else { UNHASHED };
        (self.traced.len() as u64) < most && self.traced.insert(entry)
    }

    /// Whether a function is to be searched now, after so much work of all kinds; notes that it is, since a run may end this
    /// process.
    pub fn begins(&mut self, place: u32, all: f64) -> bool {
        let searches = self.searches.entry(place).or_default();
        let begins = *searches < MOST_SEARCHES && self.work <= SHARE * all;
        *searches += u8::from(begins);
        begins
    }

    /// Notes that keys that collide were found in a function, or that it has none, whatever the input.
    pub fn settle(&mut self, place: u32) {
        self.searches.insert(place, MOST_SEARCHES);
    }
}
