//! Safe access to files that others may have written: opened without following links and without blocking, accepted
//! only if they are regular files, and read up to a limit. `docs/src/threat-model.md` says who may write which files.

mod folder;
mod free_names;
pub mod sealed;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use rustix::fs::{CWD, Mode, OFlags, openat};

pub use self::folder::{Folder, UNFINISHED};
pub use self::free_names::FreeNames;

/// Largest accepted input, in bytes: a sparse file of any size costs its author nothing.
pub const LARGEST_INPUT: u64 = 4 << 30;

/// Largest accepted text or JSON file of a campaign, in bytes.
pub const LARGEST_TEXT: u64 = 1 << 30;

/// Flags that keep an open from blocking on a pipe and from acquiring a controlling terminal.
const AT_ONCE: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// Mode of new files, before the umask.
const USUAL_MODE: u32 = 0o666;

/// Makes the error of a file that exists but is refused. Its kind is `InvalidData`: see [`is_refused`].
pub(super) fn refused(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// Whether an error says that a file exists but is not acceptable: not a regular file, or too large. A file that is
/// missing or not readable is a different error.
pub fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

/// Translates the errors that [`OFlags::NOFOLLOW`] and pipes without a reader cause into words.
fn in_words(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::LOOP => refused("it is a symbolic link, which is not followed"),
        rustix::io::Errno::NXIO => refused("it is not a regular file"),
        other => other.into(),
    }
}

/// Accepts regular files only. Checks the open descriptor, so that the file cannot be exchanged in between.
fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused("it is not a regular file")) }
}

/// Opens a file for reading; its last component may not be a link.
///
/// # Errors
/// If it does not exist, may not be read, or is not a regular file (see [`is_refused`]).
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | AT_ONCE;
    regular(openat(CWD, path, flags, Mode::empty()).map_err(in_words)?.into())
}

/// Opens a file that the user named, following links.
///
/// # Errors
/// As [`open`], links aside.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    regular(openat(CWD, path, OFlags::RDONLY | AT_ONCE, Mode::empty()).map_err(in_words)?.into())
}

/// Opens a file for appending, or creates it. A file with several hard links is refused: another name may belong to
/// somebody else.
///
/// # Errors
/// If it cannot be written, or is not a regular file with exactly one name.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    only_name(openat(CWD, path, OFlags::RDWR | OFlags::APPEND | TO_WRITE, Mode::from_raw_mode(USUAL_MODE)))
}

/// Flags for files that are written: created if missing, links not followed, never blocking.
const TO_WRITE: OFlags = OFlags::CREATE.union(OFlags::NOFOLLOW).union(AT_ONCE);

/// Accepts regular files with exactly one hard link.
fn only_name(opened: rustix::io::Result<std::os::fd::OwnedFd>) -> io::Result<File> {
    let file = regular(opened.map_err(in_words)?.into())?;
    if file.metadata()?.nlink() > 1 { Err(refused("it has a second name (a hard link)")) } else { Ok(file) }
}

/// Largest lock file, in bytes: a process id and a newline.
const LARGEST_LOCK: u64 = 32;

/// Opens a lock file, which holds a process id, or creates it. Writes nothing to it.
///
/// # Errors
/// If it cannot be written, or holds anything but a number: other contents would be lost.
pub fn open_lock(folder: &Folder, name: &str) -> io::Result<File> {
    let file = only_name(folder.open_with(name, OFlags::RDWR | TO_WRITE, Mode::from_raw_mode(USUAL_MODE)))?;
    let text = read_up_to(&file, LARGEST_LOCK)?;
    // a power cut leaves zeros, and a disk that fails one other byte
    let is_other = |byte: &&u8| !byte.is_ascii_digit() && !b"\n\0".contains(byte);
    if text.iter().filter(is_other).count() <= 1 {
        Ok(file)
    } else {
        Err(refused("it holds something else than the number of a process"))
    }
}

/// Reads a whole file; its last component may not be a link.
///
/// # Errors
/// As [`open`], and if it is larger than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_up_to(&open(path)?, limit)
}

/// Reads a whole UTF-8 file; its last component may not be a link.
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|_| refused("it is not UTF-8"))
}

/// Reads a whole file that the user named, following links.
///
/// # Errors
/// As [`open_named`], and if it is larger than `limit` bytes.
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_up_to(&open_named(path)?, limit)
}

/// Reads the rest of a file, which may grow meanwhile.
///
/// # Errors
/// If it cannot be read, or if it is larger than `limit` bytes.
pub fn read_up_to(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let too_large = || refused(format!("it is larger than {limit} bytes"));
    let size = file.metadata()?.len();
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize)?;
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Whether the path is a folder and not a link to one.
pub fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Whether the path is a regular file and not a link to one.
pub fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// Creates a subfolder of a campaign's folder, unless it exists.
///
/// # Errors
/// If it cannot be created, or if its name belongs to a link or a file.
pub fn create_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_folder(path) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(refused("it is not a folder, or a link to one"))
        }
        created => created,
    }
}

#[cfg(test)]
mod tests;
