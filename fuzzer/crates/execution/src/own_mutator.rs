//! Calls of the harness's own mutator and crossover (`LLVMFuzzerCustomMutator`, `LLVMFuzzerCustomCrossOver`), which are
//! code of the target: they may crash, exit, hang, and write or return more than they are allowed to.

use std::ptr::null_mut;

use super::{
    abi::{Event, Mutate, PAGE, RawHarness, RawMutation, Status},
    notices::Notice,
    process,
};
use quagmire_base::error::{Error, Result};

/// Alignment of the room for results, in bytes: that of memory of the heap.
const ALIGNMENT: usize = 16;

/// The harness's own mutator and crossover, with room for their results.
pub struct OwnMutator {
    raw: &'static RawHarness,
    room: Room,
}

/// Way in which the harness's own mutator ended without a result.
#[derive(Clone, Copy, Debug)]
pub struct MutatorFailure {
    status: Status,
    event: Event,
}

impl MutatorFailure {
    /// Description of the end, such as "crashed (SIGSEGV)".
    pub fn in_words(&self) -> String {
        match self.status {
            Status::Hung => "hung".to_owned(),
            Status::Memory => "ran out of memory".to_owned(),
            Status::Exited => format!("exited with code {}", self.event.exit_code),
            _ if self.event.signal == 0 => "crashed (sanitizer report)".to_owned(),
            _ => format!("crashed ({})", process::signal_name(self.event.signal as i32)),
        }
    }
}

/// Result of a call: the bytes, which are empty if the harness made none, or why there are none.
pub type Mutant<'a> = Result<&'a [u8], MutatorFailure>;

impl OwnMutator {
    pub(crate) fn new(raw: &'static RawHarness, max_size: usize) -> Result<Self> {
        Ok(Self { raw, room: Room::new(max_size)? })
    }

    /// Makes the room for results as large as inputs may be now, if there is memory.
    pub fn resize(&mut self, max_size: usize) {
        if self.room.size != max_size
            && let Ok(room) = Room::new(max_size)
        {
            self.room = room;
        }
    }

    /// Whether there is a mutator.
    pub fn mutates(&self) -> bool {
        self.raw.mutate.is_some()
    }

    /// Whether there is a crossover.
    pub fn crosses_over(&self) -> bool {
        self.raw.cross_over.is_some()
    }

    /// Changes `input`, cut to the size of the room.
    ///
    /// # Errors
    /// If the harness's function did not return. The target's memory is in an unknown state then.
    pub fn mutate(&mut self, input: &[u8], seed: u32) -> Mutant<'_> {
        let Some(mutate) = self.raw.mutate else { return Ok(&[]) };
        let size = self.room.fill(input);
        self.call(mutate, (&[], size), &[], seed)
    }

    /// Crosses two inputs over.
    ///
    /// # Errors
    /// If the harness's function did not return. The target's memory is in an unknown state then.
    pub fn cross_over(&mut self, first: &[u8], second: &[u8], seed: u32) -> Mutant<'_> {
        let Some(cross_over) = self.raw.cross_over else { return Ok(&[]) };
        self.call(cross_over, (first, first.len()), second, seed)
    }

    fn call(&mut self, function: Mutate, (first, size): (&[u8], usize), second: &[u8], seed: u32) -> Mutant<'_> {
        let mut mutation = RawMutation {
            data: first.as_ptr(),
            other: second.as_ptr(),
            out: self.room.start,
            size: size as u64,
            other_size: second.len() as u64,
            max_size: self.room.size as u64,
            seed: seed.into(),
        };
        // SAFETY: functions and statics of the runtime; behind the room nothing can be written.
        unsafe {
            match function(&raw mut mutation) {
                Status::Returned => {
                    if mutation.size > self.room.size as u64 {
                        Notice::MutantsTooLong.raise();
                    }
                    let length = mutation.size.min(self.room.size as u64) as usize;
                    Ok(std::slice::from_raw_parts(self.room.start, length))
                }
                status => Err(MutatorFailure { status, event: *self.raw.event }),
            }
        }
    }
}

/// Memory that ends where a page begins that cannot be accessed: who writes behind it crashes.
#[derive(Debug)]
struct Room {
    base: *mut u8,
    mapped: usize,
    /// Where the room begins, aligned for any data.
    start: *mut u8,
    size: usize,
}

impl Room {
    fn new(size: usize) -> Result<Self> {
        let usable = size.next_multiple_of(ALIGNMENT);
        let pages = usable.next_multiple_of(PAGE);
        let mapped = pages + PAGE;
        // SAFETY: an anonymous mapping of its own, whose last page is protected.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let base = libc::mmap(null_mut(), mapped, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if base == libc::MAP_FAILED || libc::mprotect(base.byte_add(pages), PAGE, libc::PROT_NONE) != 0 {
                return Err(Error::other(format!("cannot map {size} bytes for mutants (lower --max-size?)")));
            }
            let base: *mut u8 = base.cast();
            Ok(Self { base, mapped, start: base.add(pages - usable), size })
        }
    }

    /// Copies `input` to the start, as far as it fits. Returns the number of bytes.
    fn fill(&mut self, input: &[u8]) -> usize {
        let length = input.len().min(self.size);
        // SAFETY: the room has `size` bytes, and nobody else has references to them.
        unsafe { std::ptr::copy_nonoverlapping(input.as_ptr(), self.start, length) };
        length
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: a mapping of its own.
        unsafe { libc::munmap(self.base.cast(), self.mapped) };
    }
}
