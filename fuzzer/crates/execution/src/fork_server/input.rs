//! The input of a program under its fork server: a memory file that the program opens by name, reads as standard
//! input, or has mapped.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsRawFd, RawFd},
        unix::fs::FileExt,
    },
    ptr::NonNull,
};

use crate::{abi::INPUT_BYTES, process::memory_file};

/// A memory file with the input, and how the program reads it.
pub(crate) struct Input {
    file: File,
    /// Length of the file in bytes.
    length: usize,
    /// The program opens it by name, and so reads it from the start.
    by_name: bool,
    /// Address of the mapping in this process, if the program has mapped the file too.
    mapped: Option<NonNull<u8>>,
}

impl Input {
    /// Creates an empty input.
    ///
    /// # Errors
    /// If there is no memory, or no descriptor.
    pub(crate) fn new(by_name: bool) -> io::Result<Self> {
        Ok(Self { file: memory_file(c"quagmire-input")?, length: 0, by_name, mapped: None })
    }

    /// A second descriptor of the file, with the same offset.
    ///
    /// # Errors
    /// If there is no descriptor.
    pub(crate) fn share(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Maps the file, as the program has: from now on it is written through memory, and never truncated.
    ///
    /// # Errors
    /// If it cannot be mapped.
    pub(crate) fn map(&mut self) -> io::Result<()> {
        // SAFETY: new memory of this process.
        let place = unsafe {
            let (flags, protection) = (libc::MAP_SHARED | libc::MAP_NORESERVE, libc::PROT_READ | libc::PROT_WRITE);
            libc::mmap(std::ptr::null_mut(), INPUT_BYTES, protection, flags, self.as_raw_fd(), 0)
        };
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.mapped = NonNull::new(place.cast());
        Ok(())
    }

    /// Stores an input for the program to read. Returns the length stored, which is cut to the mapping.
    ///
    /// # Errors
    /// If there is no memory.
    pub(crate) fn give(&mut self, input: &[u8]) -> io::Result<usize> {
        let input = &input[..input.len().min(INPUT_BYTES)];
        if let Some(place) = self.mapped {
            if input.len() > self.length {
                let length = input.len().next_multiple_of(4096);
                self.file.set_len(length as u64)?;
                self.length = length;
            }
            // SAFETY: within the mapping, and within the file; no run is on.
            unsafe { std::ptr::copy_nonoverlapping(input.as_ptr(), place.as_ptr(), input.len()) };
            return Ok(input.len());
        }
        self.file.write_all_at(input, 0)?;
        if input.len() != self.length {
            self.file.set_len(input.len() as u64)?;
            self.length = input.len();
        }
        if !self.by_name {
            // the server has the same offset
            // SAFETY: an open file.
            unsafe { libc::lseek(self.as_raw_fd(), 0, libc::SEEK_SET) };
        }
        Ok(input.len())
    }
}

impl AsRawFd for Input {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}
