//! Where the target finds its input: memory shared with the supervising process, so that the input that ended a process
//! from outside (SIGKILL, out of memory) is not lost with it.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use quagmire_base::error::{Error, Result};

const HEADER: usize = 64;

/// Shared mapping: a header, then room for one input.
#[derive(Debug)]
pub struct InputPage {
    base: *mut u8,
    capacity: usize,
}

impl InputPage {
    /// Maps room for inputs of at most `capacity` bytes. To be called before the fork.
    pub fn new(capacity: usize) -> Result<Self> {
        // SAFETY: an anonymous mapping of its own.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                capacity + HEADER,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(Error::other(format!(
                "cannot map {capacity} bytes for inputs: {} (lower --max-size?)",
                std::io::Error::last_os_error()
            )));
        }
        Ok(Self { base: base.cast(), capacity })
    }

    /// The same page for somebody else: the mapping stays for as long as the process.
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

    /// Puts an input in front of the target and marks it as running. Longer ones are cut to the capacity.
    #[inline]
    pub fn begin(&self, input: &[u8]) -> (*const u8, usize) {
        let length = input.len().min(self.capacity);
        // SAFETY: `length` bytes behind the header are ours.
        let data = unsafe {
            let data = self.base.add(HEADER);
            std::ptr::copy_nonoverlapping(input.as_ptr(), data, length);
            data
        };
        self.word(1).store(length as u64, Relaxed);
        self.word(2).fetch_add(1, Relaxed);
        self.word(0).store(1, Relaxed);
        (data, length)
    }

    /// The run is over.
    #[inline]
    pub fn end(&self) {
        self.word(0).store(0, Relaxed);
    }

    /// Runs begun so far, over all processes.
    pub fn runs(&self) -> u64 {
        self.word(2).load(Relaxed)
    }

    /// How long a run may take at the very most: twice the hang timeout.
    pub fn patience(&self) -> Duration {
        Duration::from_nanos(self.word(3).load(Relaxed).saturating_mul(2))
    }

    /// Tells the other side the hang timeout.
    pub fn set_hang_timeout(&self, timeout: Duration) {
        self.word(3).store(timeout.as_nanos() as u64, Relaxed);
    }

    /// Size of the input that is running, if one is.
    pub fn interrupted_bytes(&self) -> Option<usize> {
        (self.word(0).load(Relaxed) != 0).then(|| (self.word(1).load(Relaxed) as usize).min(self.capacity))
    }

    /// The input that was running when the process ended, if one was.
    pub fn interrupted(&self) -> Option<Vec<u8>> {
        let length = self.interrupted_bytes()?;
        // SAFETY: inside the mapping; the process that wrote it is gone.
        Some(unsafe { std::slice::from_raw_parts(self.base.add(HEADER), length) }.to_vec())
    }
}
