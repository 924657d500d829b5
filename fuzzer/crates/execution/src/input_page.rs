//! Shared memory for the input of the current run: the supervisor can recover the input when the process is killed
//! from outside (SIGKILL, out of memory).

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use crate::process::map_shared;
use quagmire_base::error::{Error, Result};

const HEADER: usize = 64;

/// Shared mapping of a header and room for one input.
#[derive(Debug)]
pub struct InputPage {
    base: *mut u8,
    capacity: usize,
}

impl InputPage {
    /// Maps room for inputs of at most `capacity` bytes. Call it before forking.
    pub fn new(capacity: usize) -> Result<Self> {
        // more than there can be is refused, as too much is
        let base = map_shared(capacity.saturating_add(HEADER), None).map_err(|error| {
            Error::other(format!("cannot map {capacity} bytes for inputs: {error} (lower --max-size?)"))
        })?;
        let page = Self { base: base.as_ptr(), capacity };
        page.be_patient(1);
        Ok(page)
    }

    /// Another handle of the same mapping, which is never unmapped.
    pub fn share(&self) -> Self {
        Self { base: self.base, capacity: self.capacity }
    }

    /// Largest input that fits, in bytes.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        // SAFETY: the header has eight aligned words that are only accessed atomically.
        unsafe { &*self.base.cast::<AtomicU64>().add(index) }
    }

    /// Stores an input, cut to the capacity, and marks a run as begun. Returns the stored bytes.
    ///
    /// # Safety
    /// The bytes of the run before, of any handle, must not be used any more.
    #[inline]
    pub(crate) unsafe fn begin(&self, input: &[u8]) -> &[u8] {
        let length = input.len().min(self.capacity);
        // SAFETY: `length` bytes behind the header are ours, and the caller's promise.
        let data = unsafe {
            let data = self.base.add(HEADER);
            std::ptr::copy_nonoverlapping(input.as_ptr(), data, length);
            std::slice::from_raw_parts(data, length)
        };
        self.word(1).store(length as u64, Relaxed);
        self.word(2).fetch_add(1, Relaxed);
        self.word(0).store(1, Relaxed);
        data
    }

    /// Whether the input of the last run is still `input`: a target must not write to it.
    pub fn holds(&self, input: &[u8]) -> bool {
        let length = input.len().min(self.capacity);
        // SAFETY: inside the mapping, which nobody writes to between two runs of this process.
        unsafe { std::slice::from_raw_parts(self.base.add(HEADER), length) == &input[..length] }
    }

    /// Marks the run as ended.
    #[inline]
    pub fn end(&self) {
        self.word(0).store(0, Relaxed);
    }

    /// Number of runs begun so far, over all processes.
    pub fn runs(&self) -> u64 {
        self.word(2).load(Relaxed)
    }

    /// Longest time that a run may take before the process is considered stuck: twice the hang timeout, times what
    /// [`Self::be_patient`] says.
    pub fn patience(&self) -> Duration {
        let times = self.word(4).load(Relaxed).saturating_add(1);
        Duration::from_nanos(self.word(3).load(Relaxed).saturating_mul(times))
    }

    /// Tells how many times the hang timeout the next runs may take.
    pub(crate) fn be_patient(&self, times: u64) {
        self.word(4).store(times, Relaxed);
    }

    /// Publishes the hang timeout to the supervisor.
    pub fn set_hang_timeout(&self, timeout: Duration) {
        self.word(3).store(timeout.as_nanos() as u64, Relaxed);
    }

    /// Marks the begin or the end of a call of a custom mutator.
    pub(crate) fn mark_call(&self) {
        self.word(5).fetch_add(1, Relaxed);
    }

    /// Number of those marks, over all processes: odd during a call.
    pub(crate) fn calls(&self) -> u64 {
        self.word(5).load(Relaxed)
    }

    /// Whether a call of a custom mutator has begun and not returned.
    pub fn is_calling(&self) -> bool {
        !self.calls().is_multiple_of(2)
    }

    /// Length in bytes of the input that is running, if a run is on.
    pub fn interrupted_bytes(&self) -> Option<usize> {
        (self.word(0).load(Relaxed) != 0).then(|| (self.word(1).load(Relaxed) as usize).min(self.capacity))
    }

    /// The input that was running when the process ended, if any.
    pub fn interrupted(&self) -> Option<Vec<u8>> {
        let length = self.interrupted_bytes()?;
        // SAFETY: inside the mapping; the process that wrote it is gone.
        Some(unsafe { std::slice::from_raw_parts(self.base.add(HEADER), length) }.to_vec())
    }
}
