//! Copies of the program tables of another process. Each linked object is copied as a whole, so that distances within
//! it hold; its counts are mapped instead of copied, and the pointers in its records are relocated.

use std::{
    fs::File,
    io,
    os::{fd::AsRawFd, unix::fs::FileExt},
};

use super::maps::Mapping;
use crate::abi::{RawFunction, RawModule, Region};

/// Plain data for which every bit pattern is valid, such as numbers and raw pointers.
///
/// # Safety
/// Every bit pattern must be a valid value.
pub(crate) unsafe trait Plain {}

// SAFETY: numbers and pointers.
unsafe impl Plain for crate::abi::RawModules {}
// SAFETY: numbers.
unsafe impl Plain for crate::abi::ServerTables {}

/// Reads a value at an address of another process, whose memory is the file `process` (`/proc/PID/mem`).
///
/// # Errors
/// If the memory cannot be read.
pub(crate) fn value_at<T: Plain>(process: &File, address: u64) -> io::Result<Box<T>> {
    let mut value: Box<std::mem::MaybeUninit<T>> = Box::new_zeroed();
    // SAFETY: as many bytes as the value has; zeroed above, and valid whatever they are.
    unsafe {
        let bytes = std::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>());
        process.read_exact_at(bytes, address)?;
        Ok(value.assume_init())
    }
}

/// Copies one object and returns its tables in this process. The copy is never freed: the program runs as long as the
/// engine does.
///
/// # Errors
/// If the object's memory cannot be found, read or mapped.
pub(crate) fn copy(
    process: &File,
    module: &RawModule,
    mappings: &[Mapping],
    regions: &[Region],
    file: &File,
) -> io::Result<RawModule> {
    let inside = |address: u64| move |mapping: &&Mapping| (mapping.from..mapping.to).contains(&address);
    let missing = || io::Error::other("its tables are not in a mapped file");
    let own = mappings.iter().find(inside(module.functions_start as u64)).ok_or_else(missing)?;
    if own.path.is_empty() {
        return Err(missing());
    }
    let parts = || mappings.iter().filter(|mapping| mapping.path == own.path);
    let from = parts().map(|mapping| mapping.from).min().unwrap_or(own.from);
    let mut to = parts().map(|mapping| mapping.to).max().unwrap_or(own.to);
    // counts are not mapped from the file any more, and may be all that follows the rest
    while let Some(counts) = regions.iter().find(|region| region.address == to) {
        to += counts.length;
    }
    // SAFETY: new memory of this process.
    let place = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        libc::mmap(std::ptr::null_mut(), (to - from) as usize, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let here = place as u64;
    let moved = |address: u64| address.wrapping_sub(from).wrapping_add(here);
    for part in parts().filter(|part| part.readable) {
        let length = (part.to - part.from) as usize;
        // SAFETY: within the memory that was just mapped.
        let copy = unsafe { std::slice::from_raw_parts_mut(moved(part.from) as *mut u8, length) };
        process.read_exact_at(copy, part.from)?;
    }
    for region in regions.iter().filter(|region| region.address >= from && region.address + region.length <= to) {
        let (flags, protection) = (libc::MAP_SHARED | libc::MAP_FIXED, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: within the memory that was just mapped; the server has told length and offset.
        let mapped = unsafe {
            libc::mmap(
                moved(region.address) as *mut _,
                region.length as usize,
                protection,
                flags,
                file.as_raw_fd(),
                region.offset as libc::off_t,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
    }
    let copied = RawModule {
        functions_start: moved(module.functions_start as u64) as *const RawFunction,
        functions_stop: moved(module.functions_stop as u64) as *const RawFunction,
        entries_start: moved(module.entries_start as u64) as *mut u32,
        entries_stop: moved(module.entries_stop as u64) as *mut u32,
    };
    // SAFETY: the copy of one section of records, which nothing else looks at yet.
    let functions = unsafe {
        let count = copied.functions_stop.offset_from(copied.functions_start) as usize;
        std::slice::from_raw_parts_mut(copied.functions_start.cast_mut(), count)
    };
    // linkers pad sections with empty records
    for function in functions.iter_mut().filter(|function| !function.entry.is_null()) {
        function.entry = moved(function.entry as u64) as *mut u32;
        if !function.counts.is_null() {
            function.counts = moved(function.counts as u64) as *mut u32;
        }
        function.weights = moved(function.weights as u64) as *const u32;
    }
    Ok(copied)
}
