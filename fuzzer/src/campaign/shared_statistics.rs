//! Memory that the clients of a campaign share: their figures, the request to end, the choices for the display.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use quagmire_base::error::{Error, Result};
use quagmire_results::screen::View;

/// Figures of one client in shared memory.
#[derive(Debug, Default)]
#[repr(C)]
struct Slot {
    executions: AtomicU64,
    /// Executions in earlier sessions.
    before: AtomicU64,
    edges_found: AtomicU64,
    entries: AtomicU64,
    ended: AtomicBool,
}

/// Figures of one client at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Executions, earlier sessions included.
    pub executions: u64,
    /// Executions in earlier sessions.
    pub before: u64,
    /// Edges executed by any of its entries.
    pub edges_found: u64,
    /// Entries of its queue.
    pub entries: u64,
}

#[repr(C)]
struct Header {
    stop: AtomicBool,
    /// Whether a finding has ended the campaign.
    found: AtomicBool,
    /// Choices for the display: a [`View`], as bits.
    view: AtomicU8,
}

/// Shared memory of the clients. It is never unmapped; copies refer to the same memory.
#[derive(Clone, Copy, Debug)]
pub struct SharedStatistics {
    base: *mut u8,
    clients: usize,
}

impl SharedStatistics {
    /// Maps memory for this many clients, at least 1. To be called before the clients are forked.
    pub fn new(clients: usize) -> Result<Self> {
        let bytes = size_of::<Header>().next_multiple_of(align_of::<Slot>()) + clients * size_of::<Slot>();
        // SAFETY: a new anonymous mapping, which is zero: zeros are valid slots.
        let base = unsafe {
            let (flags, protection) = (libc::MAP_SHARED | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
            libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(Error::other(format!("cannot map memory to share: {}", std::io::Error::last_os_error())));
        }
        Ok(Self { base: base.cast(), clients })
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping begins with it, and is never unmapped.
        unsafe { &*self.base.cast() }
    }

    fn slots(&self) -> &[Slot] {
        let offset = size_of::<Header>().next_multiple_of(align_of::<Slot>());
        // SAFETY: so many of them are in the mapping, which is never unmapped; only atomics are in them.
        unsafe { std::slice::from_raw_parts(self.base.add(offset).cast(), self.clients) }
    }

    /// Asks all clients to end.
    pub fn stop(&self) {
        self.header().stop.store(true, Relaxed);
    }

    /// Whether the clients are asked to end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.header().stop.load(Relaxed)
    }

    /// Ends the campaign because of a finding of any client.
    pub fn end_with_finding(&self) {
        self.header().found.store(true, Relaxed);
    }

    /// Whether a finding has ended the campaign.
    #[inline]
    pub fn is_ended_by_finding(&self) -> bool {
        self.header().found.load(Relaxed)
    }

    /// Sets the choices for the display.
    pub fn set_view(&self, view: View) {
        self.header().view.store(view.to_bits(), Relaxed);
    }

    /// Choices for the display.
    pub fn view(&self) -> View {
        View::from_bits(self.header().view.load(Relaxed))
    }

    /// Publishes the figures of a client.
    pub fn tell(&self, client: usize, figures: Figures) {
        let slot = &self.slots()[client];
        slot.executions.store(figures.executions, Relaxed);
        slot.before.store(figures.before, Relaxed);
        slot.edges_found.store(figures.edges_found, Relaxed);
        slot.entries.store(figures.entries, Relaxed);
    }

    /// Figures of all clients, in the order of their numbers.
    pub fn figures(&self) -> impl Iterator<Item = Figures> + '_ {
        self.slots().iter().map(|slot| Figures {
            executions: slot.executions.load(Relaxed),
            before: slot.before.load(Relaxed),
            edges_found: slot.edges_found.load(Relaxed),
            entries: slot.entries.load(Relaxed),
        })
    }

    /// Marks a client as ended for good.
    pub fn ended(&self, client: usize) {
        self.slots()[client].ended.store(true, Relaxed);
    }

    /// Whether all clients but the first have ended for good.
    pub fn others_have_ended(&self) -> bool {
        self.slots()[1..].iter().all(|slot| slot.ended.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_hear_of_each_other() {
        let statistics = SharedStatistics::new(3).unwrap();
        let copy = statistics;
        let figures = Figures { executions: 5, before: 1, edges_found: 2, entries: 3 };
        copy.tell(1, figures);
        assert_eq!(statistics.figures().collect::<Vec<_>>(), [Figures::default(), figures, Figures::default()]);
        assert!(!statistics.is_stopped() && !statistics.others_have_ended());
        copy.stop();
        [1, 2].into_iter().for_each(|client| copy.ended(client));
        assert!(statistics.is_stopped() && statistics.others_have_ended());
    }
}
