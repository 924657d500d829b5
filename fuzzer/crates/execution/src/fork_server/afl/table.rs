//! AFL's map as program tables: each entry is an edge and a function of its own, since the functions are unknown. So
//! work after a run is proportional to what ran, and findings are grouped by the edges where they grew.

use std::{
    ops::Range,
    os::raw::c_void,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use crate::abi::{RawFunction, RawModule};

/// Index of the first edge; entry 0 is set by AFL to show that the map is attached.
const FIRST: usize = 1;

/// Weights of every edge: one instruction, one edge. Static, since all records point to it.
static WEIGHTS: [u32; 2] = [1, 1];

/// The counts of a map, which are never freed.
pub(crate) struct Table {
    counts: &'static [AtomicU32],
}

impl Table {
    /// Creates the counts and tables for a map of this size. Addresses of functions are numbers of entries.
    pub(crate) fn new(map_size: usize) -> (Self, RawModule) {
        let numbers = FIRST..map_size.max(FIRST + 1);
        let counts: &'static [AtomicU32] = Box::leak(numbers.clone().map(|_| AtomicU32::new(0)).collect());
        let counts_range = counts.as_ptr_range();
        let entries: Range<*mut u32> = counts_range.start.cast_mut().cast()..counts_range.end.cast_mut().cast();
        let function = |number: usize| RawFunction {
            // one of as many counts as there are numbers
            entry: entries.start.wrapping_add(number - FIRST),
            counts: std::ptr::null_mut(),
            weights: WEIGHTS.as_ptr(),
            address: number as *const c_void,
            edges: 1,
            lines: 0,
            progress: 0,
            sums: 0,
            charges: 0,
            memory: 0,
        };
        let functions = Box::leak(numbers.map(function).collect::<Box<[_]>>());
        let functions = functions.as_ptr_range();
        let module = RawModule {
            functions_start: functions.start,
            functions_stop: functions.end,
            entries_start: entries.start,
            entries_stop: entries.end,
            ..RawModule::UNLOADED
        };
        (Self { counts }, module)
    }

    /// Adds the map of a run to the counts, which the observer has cleared before.
    pub(crate) fn add(&self, map: &[u8]) {
        let (words, rest) = map.as_chunks::<8>();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| u64::from_ne_bytes(**word) != 0) {
            self.add_some(at * 8, word);
        }
        self.add_some(words.len() * 8, rest);
    }

    fn add_some(&self, first: usize, map: &[u8]) {
        for (at, &count) in map.iter().enumerate().filter(|(_, count)| **count != 0) {
            if let Some(sum) = (first + at).checked_sub(FIRST).and_then(|at| self.counts.get(at)) {
                sum.store(sum.load(Relaxed).wrapping_add(count.into()), Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_copied_but_for_the_first() {
        let (table, module) = Table::new(20);
        let mut map = [0; 20];
        (map[0], map[1], map[9], map[19]) = (1, 2, 255, 7);
        table.add(&map);
        table.add(&map);
        let expected = (1..20).map(|at: usize| 2 * u32::from(map[at]));
        assert!(table.counts.iter().map(|count| count.load(Relaxed)).eq(expected), "{:?}", table.counts);
        // SAFETY: both ends of one list.
        assert_eq!(unsafe { module.functions_stop.offset_from(module.functions_start) }, 19);
    }
}
