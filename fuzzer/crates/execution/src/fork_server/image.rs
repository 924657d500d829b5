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
/// The addresses are the other process's: those that lead out of the object are an error.
///
/// # Errors
/// If the object's memory cannot be found, read or mapped, or its tables are not inside of it.
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
    while let Some(counts) = regions.iter().find(|region| region.address == to && region.length > 0) {
        to = to.saturating_add(counts.length);
    }
    // SAFETY: new memory of this process.
    let place = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        libc::mmap(std::ptr::null_mut(), (to - from) as usize, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let image = Image { from, length: to - from, place: place.cast() };
    for part in parts().filter(|part| part.readable) {
        let length = part.to - part.from;
        // SAFETY: in memory that was just mapped, to which nothing else points.
        let copy = unsafe { std::slice::from_raw_parts_mut(image.part(part.from, length)?, length as usize) };
        process.read_exact_at(copy, part.from)?;
    }
    let is_inside = |region: &&Region| image.part::<u8>(region.address, region.length).is_ok();
    for region in regions.iter().filter(is_inside) {
        let (flags, protection) = (libc::MAP_SHARED | libc::MAP_FIXED, libc::PROT_READ | libc::PROT_WRITE);
        let (place, length) = (image.part::<libc::c_void>(region.address, region.length)?, region.length as usize);
        // SAFETY: in memory that was just mapped, to which nothing else points.
        let mapped =
            unsafe { libc::mmap(place, length, protection, flags, file.as_raw_fd(), region.offset as libc::off_t) };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
    }
    image.relocate(module)
}

/// The copy of an object.
struct Image {
    /// Address of the object in the other process.
    from: u64,
    /// Bytes of both.
    length: u64,
    /// Address of the copy.
    place: *mut u8,
}

impl Image {
    /// Address in the copy of `length` bytes at an address of the object.
    ///
    /// # Errors
    /// If they are not inside of the object.
    fn part<T>(&self, address: u64, length: u64) -> io::Result<*mut T> {
        let at = address.checked_sub(self.from).filter(|at| *at <= self.length && length <= self.length - at);
        let at = at.ok_or_else(|| io::Error::other("its tables point out of it"))?;
        Ok(self.place.wrapping_add(at as usize).cast())
    }

    /// Address in the copy of `count` values at a pointer of the object; null stays null.
    fn pointer<T>(&self, pointer: *const T, count: usize) -> io::Result<*mut T> {
        if pointer.is_null() {
            Ok(std::ptr::null_mut())
        } else {
            self.part(pointer as u64, (count * size_of::<T>()) as u64)
        }
    }

    /// Relocates the pointers of the copied records. Returns the tables of the copy.
    ///
    /// # Errors
    /// If a pointer leads out of the object.
    fn relocate(&self, module: &RawModule) -> io::Result<RawModule> {
        let count = |from: u64, to: u64, size: usize| to.saturating_sub(from) as usize / size;
        let functions = count(module.functions_start as u64, module.functions_stop as u64, size_of::<RawFunction>());
        let entries = count(module.entries_start as u64, module.entries_stop as u64, size_of::<u32>());
        let functions_start: *mut RawFunction = self.pointer(module.functions_start, functions)?;
        let entries_start = self.pointer(module.entries_start, entries)?;
        if !functions_start.is_aligned() || !entries_start.is_aligned() {
            return Err(io::Error::other("its tables are not aligned"));
        }
        // SAFETY: inside of the copy and aligned; any bytes make a record, and nothing else points there.
        let records = unsafe { std::slice::from_raw_parts_mut(functions_start, functions) };
        // linkers pad sections with empty records
        for function in records.iter_mut().filter(|function| !function.entry.is_null()) {
            let others = (function.edges as usize).saturating_sub(1);
            let branches = function.edges.saturating_sub(function.progress).saturating_sub(function.charges) as usize;
            function.entry = self.pointer(function.entry, 1)?;
            function.counts = self.pointer(function.counts, others)?;
            function.weights = self.pointer(function.weights, 2 * branches)?;
        }
        Ok(RawModule {
            functions_start,
            functions_stop: functions_start.wrapping_add(functions),
            entries_start,
            entries_stop: entries_start.wrapping_add(entries),
            ..RawModule::UNLOADED
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(entry: u64, edges: u32) -> RawFunction {
        let (entry, address) = (entry as *mut u32, std::ptr::null());
        let counts = if edges > 1 { entry } else { std::ptr::null_mut() };
        let (lines, progress, sums, charges, memory) = (0, 0, 0, 0, 0);
        RawFunction { entry, counts, weights: entry, address, edges, lines, progress, sums, charges, memory }
    }

    /// Relocates an object of one record at address 4096, with an entry count at its end.
    fn relocated(record: RawFunction, functions: u64) -> io::Result<RawModule> {
        let size = size_of::<RawFunction>() as u64;
        let mut memory = Box::new((record, [0_u32; 4]));
        let image = Image { from: 4096, length: size_of_val(&*memory) as u64, place: (&raw mut *memory).cast() };
        let (functions_start, entries_start) = (4096 as *const RawFunction, (4096 + size) as *mut u32);
        image.relocate(&RawModule {
            functions_start,
            functions_stop: functions_start.wrapping_add(functions as usize),
            entries_start,
            entries_stop: entries_start.wrapping_add(1),
            ..RawModule::UNLOADED
        })
    }

    #[test]
    fn pointers_of_records_are_relocated_and_those_that_lead_out_of_the_object_are_refused() {
        let inside = 4096 + size_of::<RawFunction>() as u64;
        assert!(relocated(record(inside, 1), 1).is_ok());
        for (record, functions) in [
            (record(4095, 1), 1),
            (record(inside + 16, 1), 1),
            (record(inside, 6), 1),
            (record(inside, u32::MAX), 1),
            (record(u64::MAX, 1), 1),
            (record(inside, 1), 2),
        ] {
            assert!(relocated(record, functions).is_err());
        }
    }
}
