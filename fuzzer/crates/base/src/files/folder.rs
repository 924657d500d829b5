//! A folder that other processes may write to at the same time.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, linkat, mkdirat, openat, renameat, statat, unlinkat,
};

use super::{AT_ONCE, USUAL_MODE, in_words, read_up_to, refused, regular};

/// A folder: a path named by the user, and names below it. The user's path may lead through symbolic links; below it,
/// no link is followed at any access, because entries can be exchanged at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    named: PathBuf,
    below: Vec<OsString>,
}

impl Folder {
    /// A folder named by the user; links in its path are followed.
    pub fn named(path: impl Into<PathBuf>) -> Self {
        Self { named: path.into(), below: Vec::new() }
    }

    /// The subfolder of this name; it need not exist.
    #[must_use]
    pub fn inside(&self, name: impl Into<OsString>) -> Self {
        let mut below = self.below.clone();
        below.push(name.into());
        Self { named: self.named.clone(), below }
    }

    /// Path of the folder, for messages.
    pub fn path(&self) -> PathBuf {
        self.below.iter().fold(self.named.clone(), |path, name| path.join(name))
    }

    /// Opens the folder itself, component by component.
    fn descriptor(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | AT_ONCE;
        let mut folder = openat(CWD, &self.named, flags, Mode::empty())?;
        for name in &self.below {
            folder = openat(&folder, one_name(name)?, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
                match error {
                    // what the system reports for a link where a folder is required
                    rustix::io::Errno::NOTDIR => refused("it is not a folder, or a link to one"),
                    error => in_words(error),
                }
            })?;
        }
        Ok(folder)
    }

    /// Opens a file in the folder with these flags.
    pub(super) fn open_with(&self, name: &str, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        let errno = |error: io::Error| rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::LOOP);
        let name = one_name(OsStr::new(name)).map_err(errno)?;
        openat(self.descriptor().map_err(errno)?, name, flags, mode)
    }

    /// Opens a file in the folder for reading.
    ///
    /// # Errors
    /// If it does not exist, may not be read, or is not a regular file (see [`super::is_refused`]).
    pub fn open(&self, name: &str) -> io::Result<File> {
        let name = one_name(OsStr::new(name))?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | AT_ONCE;
        regular(openat(self.descriptor()?, name, flags, Mode::empty()).map_err(in_words)?.into())
    }

    /// Reads a whole file in the folder.
    ///
    /// # Errors
    /// As [`Self::open`], and if it is larger than `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        read_up_to(&self.open(name)?, limit)
    }

    /// Reads the start of a file in the folder into `buffer`. Returns the number of bytes read, which is less than
    /// the buffer's length only at the end of the file.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read_into(&self, name: &str, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.open(name)?;
        let mut length = 0;
        loop {
            let read = file.read(&mut buffer[length..])?;
            length += read;
            // only the end of a file returns less than the buffer has room for
            if read == 0 || length < buffer.len() {
                return Ok(length);
            }
        }
    }

    /// Names of all entries that are valid UTF-8, in no particular order.
    ///
    /// # Errors
    /// If the folder cannot be read, or has more than `most` entries.
    pub fn names(&self, most: usize) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::new(self.descriptor()?)? {
            match entry?.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(_) if names.len() == most => return Err(refused(format!("it holds more than {most} files"))),
                Ok(name) => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    /// Whether the folder is empty.
    pub fn is_empty(&self) -> io::Result<bool> {
        let mut entries = Dir::new(self.descriptor()?)?;
        Ok(entries.all(|entry| entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."))))
    }

    /// Metadata of the folder itself.
    pub fn metadata(&self) -> io::Result<std::fs::Metadata> {
        File::from(self.descriptor()?).metadata()
    }

    /// Whether the folder has an entry of this name, of any type.
    pub fn has(&self, name: &str) -> bool {
        self.stat(name).is_some()
    }

    /// Size of a file in the folder, in bytes; `None` if it does not exist.
    pub fn length(&self, name: &str) -> Option<u64> {
        u64::try_from(self.stat(name)?.st_size).ok()
    }

    /// Whether the folder has a symbolic link of this name.
    pub fn has_link(&self, name: &str) -> bool {
        self.stat(name).is_some_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }

    /// Metadata of an entry itself, whatever a link leads to; `None` if there is none.
    fn stat(&self, name: &str) -> Option<Stat> {
        let name = one_name(OsStr::new(name)).ok()?;
        statat(self.descriptor().ok()?, name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Creates the folder and its missing parents, unless it exists.
    ///
    /// # Errors
    /// If it cannot be created, or if something else has its name.
    pub fn create(&self) -> io::Result<()> {
        std::fs::create_dir_all(&self.named)?;
        let mut above = Self::named(&self.named);
        for name in &self.below {
            match mkdirat(above.descriptor()?, one_name(name)?, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            above = above.inside(name);
        }
        self.descriptor().map(drop)
    }

    /// Writes a file in the folder atomically: under a unique temporary name, which is then renamed.
    pub fn write_whole(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write(name, bytes, false)
    }

    /// As [`Self::write_whole`]; the new contents are on the disk before the name leads to them.
    pub fn write_durably(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write(name, bytes, true)
    }

    fn write(&self, name: &str, bytes: &[u8], is_durable: bool) -> io::Result<()> {
        // static: temporary names are unique in a process, whoever writes
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = one_name(OsStr::new(name))?;
        let folder = self.descriptor()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | AT_ONCE;
        let (temporary, file) = loop {
            let temporary = unfinished(COUNTER.fetch_add(1, Relaxed));
            match openat(&folder, &temporary, flags, Mode::from_raw_mode(USUAL_MODE)) {
                // guessed by another process, or left by a dead one with the same number
                Err(rustix::io::Errno::EXIST) => {}
                opened => break (temporary, opened?),
            }
        };
        let mut file = File::from(file);
        let written = file
            .write_all(bytes)
            .and_then(|()| if is_durable { file.sync_data() } else { Ok(()) })
            .and_then(|()| renameat(&folder, &temporary, &folder, name).map_err(io::Error::from));
        if written.is_err() {
            let _ = unlinkat(&folder, &temporary, AtFlags::empty());
        }
        written
    }

    /// Creates a hard link in the folder to the file `from`. Returns false if the name is taken.
    ///
    /// # Errors
    /// If the link cannot be created, for example across file systems.
    pub fn link(&self, from: &Path, name: &str) -> io::Result<bool> {
        match linkat(CWD, from, self.descriptor()?, one_name(OsStr::new(name))?, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes all files in the folder whose names begin with `prefix`.
    pub(crate) fn remove_beginning_with(&self, prefix: &str) {
        let Ok(folder) = self.descriptor() else { return };
        let Ok(entries) = Dir::read_from(&folder) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_name().to_bytes().starts_with(prefix.as_bytes())) {
            let _ = unlinkat(&folder, entry.file_name(), AtFlags::empty());
        }
    }
}

/// Prefix of the names of unfinished files; hidden, so that no tool takes them for inputs.
pub const UNFINISHED: &str = ".unfinished-";

/// The name of an unfinished file; unique among the threads and processes that write to one folder.
pub(crate) fn unfinished(number: u64) -> String {
    format!("{UNFINISHED}{}-{number}", std::process::id())
}

/// Accepts names that stay inside the folder: not empty, no `.`, `..`, slash or zero byte.
fn one_name(name: &OsStr) -> io::Result<&OsStr> {
    match name.as_bytes() {
        b"" | b"." | b".." => Err(refused("its name leads somewhere else")),
        bytes if bytes.contains(&b'/') || bytes.contains(&0) => Err(refused("its name leads somewhere else")),
        _ => Ok(name),
    }
}
