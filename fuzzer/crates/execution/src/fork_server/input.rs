//! The input of a program under its fork server: a memory file that the program opens by name, reads as standard
//! input, or has mapped; or a file with an extension in the folder of the runs.

use std::{
    ffi::OsString,
    fs::{File, FileTimes},
    io::{self, Seek},
    os::{
        fd::{AsRawFd, RawFd},
        unix::{ffi::OsStrExt, fs::FileExt},
    },
    path::Path,
    ptr::NonNull,
    time::UNIX_EPOCH,
};

use super::{
    reads_file,
    run_folder::{RunFiles, RunFolder},
};
use crate::{
    abi::INPUT_BYTES,
    process::{map_shared, memory_file},
};
use quagmire_base::error::{Error, Result};

/// A file with the input, and how the program reads it.
pub(crate) struct Input {
    file: File,
    /// Folder of the runs, if they have one.
    folder: Option<RunFolder>,
    /// The program opens it by name, and so reads it from the start.
    by_name: bool,
    /// Address of the mapping in this process, if the program has mapped the file too.
    mapped: Option<NonNull<u8>>,
    /// Length of the mapped file in bytes.
    length: usize,
}

impl Input {
    /// Creates an empty input.
    pub(crate) fn new(by_name: bool) -> io::Result<Self> {
        Ok(Self { file: memory_file(c"quagmire-input")?, folder: None, by_name, mapped: None, length: 0 })
    }

    /// Creates the empty input of a program, given with its arguments, and the folder of its runs if they have one.
    ///
    /// # Errors
    /// If there is no memory, no descriptor, or no room for files.
    pub(crate) fn of_program(command: &[OsString], files: &RunFiles) -> Result<Self> {
        let by_name = reads_file(command);
        let cannot = |what: &'static str| move |error| Error::other(format!("cannot make {what}: {error}"));
        let input = Self::new(by_name).map_err(cannot("memory for inputs"))?;
        let extension = files.extension.as_deref().filter(|_| by_name);
        let Some(place) = files.place.as_deref().filter(|_| extension.is_some() || files.scratch) else {
            return Ok(input);
        };
        let (folder, file) =
            RunFolder::create(place, extension, files.scratch).map_err(cannot("a folder for the files of runs"))?;
        Ok(Self { file: file.unwrap_or(input.file), folder: Some(folder), ..input })
    }

    /// Path of its file; `None` if that has no extension, and is known by a descriptor only.
    pub(crate) fn path(&self) -> Option<&[u8]> {
        self.folder.as_ref()?.input().map(|path| path.as_os_str().as_bytes())
    }

    /// Working folder of the runs; `None` for that of this process.
    pub(crate) fn working_folder(&self) -> Option<&Path> {
        self.folder.as_ref().filter(|folder| folder.is_entered()).map(RunFolder::path)
    }

    /// Keeps its file the same whatever runs do to the name: others write to it.
    ///
    /// # Errors
    /// If there is no room for a second name.
    pub(crate) fn anchor(&mut self) -> io::Result<()> {
        self.folder.as_mut().map_or(Ok(()), RunFolder::anchor)
    }

    /// Makes the folder of the runs as it was before the last one. For inputs that are not given by [`Self::give`].
    ///
    /// # Errors
    /// If it cannot be done.
    #[inline]
    pub(crate) fn tidy(&mut self) -> io::Result<()> {
        let Some(folder) = &mut self.folder else { return Ok(()) };
        if let Some(file) = folder.tidy()? {
            self.file = file;
        }
        Ok(())
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
        self.anchor()?;
        self.mapped = Some(map_shared(INPUT_BYTES, Some(&self.file))?);
        Ok(())
    }

    /// Notices from now on whether somebody reads the file, or maps it; returns false if that cannot be noticed.
    pub(crate) fn watch(&self) -> bool {
        let forget = || self.file.set_times(FileTimes::new().set_accessed(UNIX_EPOCH)).is_ok();
        // not every system keeps the time of the last access
        let is_noticed = || self.file.set_len(1).is_ok() && self.file.read_at(&mut [0], 0).is_ok() && self.was_read();
        !self.by_name && forget() && is_noticed() && forget()
    }

    /// Whether somebody has read the file or mapped it since [`Self::watch`].
    pub(crate) fn was_read(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        self.file.metadata().map_or(true, |file| (file.atime(), file.atime_nsec()) != (0, 0))
    }

    /// Stores an input for the program to read. Returns the length stored, which is cut to the mapping.
    ///
    /// # Errors
    /// If there is no memory, or the folder of the runs cannot be made as it was.
    pub(crate) fn give(&mut self, input: &[u8]) -> io::Result<usize> {
        self.tidy()?;
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
        // the last run may have made it longer
        if self.file.metadata()?.len() != input.len() as u64 {
            self.file.set_len(input.len() as u64)?;
        }
        if !self.by_name {
            // the server has the same offset
            self.file.rewind()?;
        }
        Ok(input.len())
    }
}

impl AsRawFd for Input {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}
