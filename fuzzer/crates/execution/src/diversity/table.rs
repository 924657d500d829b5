//! Set of the traces that were seen, of bounded size, in memory that survives the process that fills it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::process::map_shared;
use quagmire_base::error::{Error, Result};

/// Number of slots in which the set begins, as a power of two: a small set stays in the processor's caches.
const FIRST_BITS: u64 = 12;

/// Number of slots of the largest set, as a power of two: 64 MB.
const MOST_BITS: u64 = 23;

/// Bit of a slot that says whether a valid run had the trace; the other bits are the fingerprint.
const VALID: u64 = 1;

/// Novelty of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sighting {
    /// No run had it before.
    pub is_new: bool,
    /// No valid run had it before, and this run was valid.
    pub is_new_valid: bool,
}

/// Numbers of distinct traces in a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// Traces of all runs.
    pub all: u64,
    /// Traces of valid runs.
    pub valid: u64,
    /// Whether the set is full: traces that are not in it are not counted any more.
    pub is_full: bool,
}

#[repr(C)]
struct Header {
    all: AtomicU64,
    valid: AtomicU64,
    /// Number of slots in use, as a power of two; 0 before the first trace.
    bits: AtomicU64,
    is_full: AtomicU64,
}

const SLOTS_AT: usize = 4096;
const BYTES: usize = SLOTS_AT + (size_of::<u64>() << MOST_BITS);

/// Set of fingerprints of traces, in memory that is shared with processes that are forked later. It is never unmapped;
/// copies refer to the same memory. One process at a time uses it. The target may write to it: then its numbers are
/// wrong, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct TraceTable {
    base: *mut u8,
    most_bits: u64,
}

impl TraceTable {
    /// Reserves memory for the set; it is used as the set grows.
    pub fn new() -> Result<Self> {
        Self::with_most(MOST_BITS)
    }

    fn with_most(most_bits: u64) -> Result<Self> {
        // zeros are an empty set
        let base =
            map_shared(BYTES, None).map_err(|error| Error::other(format!("cannot map memory for traces: {error}")))?;
        Ok(Self { base: base.as_ptr(), most_bits })
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with it, and is never unmapped; only atomics are in it.
        unsafe { &*self.base.cast() }
    }

    /// Removes all traces.
    pub fn clear(&self) {
        self.slots().iter().for_each(|slot| slot.store(0, Relaxed));
        let Header { all, valid, bits, is_full } = self.header();
        [all, valid, bits, is_full].into_iter().for_each(|number| number.store(0, Relaxed));
    }

    /// Slots in use, a power of two of them.
    #[inline]
    fn slots(&self) -> &[AtomicU64] {
        let bits = self.header().bits.load(Relaxed).clamp(FIRST_BITS.min(self.most_bits), self.most_bits);
        // SAFETY: the mapping has 2^MOST_BITS of them, and is never unmapped; only atomics are in them.
        unsafe { std::slice::from_raw_parts(self.base.add(SLOTS_AT).cast(), 1 << bits) }
    }

    /// Adds the trace of a run, unless the set is full, and returns whether it was new.
    #[inline]
    pub fn insert(&self, trace: u64, is_valid: bool) -> Sighting {
        let fingerprint = fingerprint(trace);
        let slots = self.slots();
        let Some(slot) = find(slots, fingerprint) else { return Sighting::default() };
        let known = slot.load(Relaxed);
        if known == 0 {
            return self.add(slots, slot, fingerprint, is_valid);
        }
        let is_new_valid = is_valid && known & VALID == 0;
        if is_new_valid {
            slot.store(known | VALID, Relaxed);
            self.header().valid.fetch_add(1, Relaxed);
        }
        Sighting { is_new: false, is_new_valid }
    }

    /// Has the processor fetch what [`Self::insert`] will look at: it is far away in a large set.
    #[inline]
    pub fn fetch(&self, trace: u64) {
        let slots = self.slots();
        std::hint::black_box(slots[place(slots, fingerprint(trace))].load(Relaxed));
    }

    #[cold]
    fn add(&self, slots: &[AtomicU64], slot: &AtomicU64, fingerprint: u64, is_valid: bool) -> Sighting {
        let header = self.header();
        let all = header.all.load(Relaxed);
        // three quarters at most are in use
        if all.saturating_mul(4) >= slots.len() as u64 * 3 {
            if slots.len() >= 1 << self.most_bits {
                header.is_full.store(1, Relaxed);
                return Sighting::default();
            }
            self.double(slots);
            let slots = self.slots();
            return match find(slots, fingerprint) {
                Some(slot) => self.add(slots, slot, fingerprint, is_valid),
                None => Sighting::default(),
            };
        }
        slot.store(fingerprint | u64::from(is_valid), Relaxed);
        header.all.store(all + 1, Relaxed);
        header.valid.fetch_add(is_valid.into(), Relaxed);
        Sighting { is_new: true, is_new_valid: is_valid }
    }

    /// Doubles the number of slots in use.
    fn double(&self, slots: &[AtomicU64]) {
        let held: Vec<u64> = slots.iter().map(|slot| slot.swap(0, Relaxed)).filter(|&held| held != 0).collect();
        self.header().bits.store(u64::from(slots.len().trailing_zeros()) + 1, Relaxed);
        let slots = self.slots();
        for held in held {
            if let Some(slot) = find(slots, held & !VALID) {
                slot.store(held, Relaxed);
            }
        }
    }

    /// Numbers of distinct traces so far.
    pub fn counts(&self) -> TraceCounts {
        let Header { all, valid, is_full, .. } = self.header();
        TraceCounts { all: all.load(Relaxed), valid: valid.load(Relaxed), is_full: is_full.load(Relaxed) != 0 }
    }
}

/// Fingerprint of a trace: 63 of its bits, never 0.
#[inline]
fn fingerprint(trace: u64) -> u64 {
    match trace & !VALID {
        0 => 2,
        fingerprint => fingerprint,
    }
}

/// Index of the slot where the search for a fingerprint begins.
#[inline]
fn place(slots: &[AtomicU64], fingerprint: u64) -> usize {
    (fingerprint >> 1) as usize & (slots.len() - 1)
}

/// Slot that holds a fingerprint, or the free slot for it; `None` if there is neither.
#[inline]
fn find(slots: &[AtomicU64], fingerprint: u64) -> Option<&AtomicU64> {
    let (start, mask) = (place(slots, fingerprint), slots.len() - 1);
    (0..slots.len()).map(|step| &slots[(start + step) & mask]).find(|slot| {
        let held = slot.load(Relaxed);
        held == 0 || held & !VALID == fingerprint
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Well mixed number, the same for the same `n`.
    fn mixed(n: u64) -> u64 {
        (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn a_trace_is_new_once_and_once_more_when_a_valid_run_has_it() {
        let table = TraceTable::new().unwrap();
        let sighting = |is_new, is_new_valid| Sighting { is_new, is_new_valid };
        assert_eq!(table.insert(7, false), sighting(true, false));
        assert_eq!(table.insert(7, false), sighting(false, false));
        assert_eq!(table.insert(7, true), sighting(false, true));
        assert_eq!(table.insert(7, true), sighting(false, false));
        assert_eq!(table.insert(0, true), sighting(true, true));
        assert_eq!(table.counts(), TraceCounts { all: 2, valid: 2, is_full: false });
    }

    #[test]
    fn a_growing_set_forgets_nothing() {
        let table = TraceTable::new().unwrap();
        let mut known: HashMap<u64, bool> = HashMap::new();
        for n in 0..40_000 {
            let (trace, is_valid) = (mixed(n % 25_000), n % 3 == 0);
            let before = known.get(&(trace & !1)).copied();
            let sighting = table.insert(trace, is_valid);
            assert_eq!(sighting.is_new, before.is_none(), "{n}");
            assert_eq!(sighting.is_new_valid, is_valid && before != Some(true), "{n}");
            *known.entry(trace & !1).or_default() |= is_valid;
        }
        let valid = known.values().filter(|valid| **valid).count() as u64;
        assert_eq!(table.counts(), TraceCounts { all: 25_000, valid, is_full: false });
        table.clear();
        assert!((0..25_000).all(|n| table.insert(mixed(n), true).is_new));
    }

    #[test]
    fn a_full_set_says_so_and_still_knows_what_it_holds() {
        let table = TraceTable::with_most(6).unwrap();
        let news = (0..1000).filter(|&n| table.insert(mixed(n), true).is_new).count();
        assert_eq!((news, table.counts().is_full), (48, true));
        assert!((0..1000).all(|n| table.insert(mixed(n), true) == Sighting::default()));
    }

    #[test]
    fn a_set_that_the_target_has_scribbled_over_is_wrong_and_no_more() {
        let table = TraceTable::with_most(6).unwrap();
        for word in 0..(4 + 64) {
            let at = if word < 4 { word * 8 } else { SLOTS_AT + (word - 4) * 8 };
            // SAFETY: inside of the mapping.
            unsafe { table.base.add(at).cast::<u64>().write(u64::MAX) };
        }
        assert_eq!(table.insert(5, true), Sighting::default());
        table.counts();
    }

    #[test]
    fn a_process_that_is_forked_later_shares_the_set() {
        let table = TraceTable::new().unwrap();
        // SAFETY: the child makes one system call and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                table.insert(3, true);
                libc::_exit(0);
            }
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        assert!(!table.insert(3, true).is_new);
    }
}
