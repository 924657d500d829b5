//! Files that somebody else may have written. They are opened without following links and without waiting for anybody, they
//! have to be regular files, and no more of them is read than a limit says. `docs/src/threat-model.md` says who may write what.

mod folder;
pub mod sealed;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use rustix::fs::{CWD, Mode, OFlags, openat};

pub use self::folder::{Folder, UNFINISHED};

/// No input is larger, in bytes: a sparse file of any size costs nobody anything.
pub const LARGEST_INPUT: u64 = 4 << 30;

/// No file of text or JSON that a campaign writes is larger, in bytes.
pub const LARGEST_TEXT: u64 = 1 << 30;

/// Without waiting for somebody who writes to a pipe, and without becoming the owner of a terminal.
const AT_ONCE: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// Mode of new files, before the user's mask.
const USUAL_MODE: u32 = 0o666;

/// A file that is there and is not taken. Its kind is `InvalidData`: see [`is_refused`].
pub(super) fn refused(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// Whether a file is there but is not what it has to be: no regular file, or too large. What is gone or may not be read is
/// another matter.
pub fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

/// Says of what the system refuses because of [`OFlags::NOFOLLOW`] what it is.
fn in_words(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::LOOP => refused("it is a symbolic link, which is not followed"),
        rustix::io::Errno::NXIO => refused("it is not a regular file"),
        other => other.into(),
    }
}

/// Lets regular files through. Looks at what is open, so that nobody can change it in between.
fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused("it is not a regular file")) }
}

/// Opens a file to read it; its last component may not be a link.
///
/// # Errors
/// If it is not there, may not be read, or is not a regular file: see [`is_refused`].
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | AT_ONCE;
    regular(openat(CWD, path, flags, Mode::empty()).map_err(in_words)?.into())
}

/// Opens a file that the user has named, wherever its name leads.
///
/// # Errors
/// As [`open`], links aside.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    regular(openat(CWD, path, OFlags::RDONLY | AT_ONCE, Mode::empty()).map_err(in_words)?.into())
}

/// Opens a file to add to its end, or creates it. One with several names is refused: another one may be somebody's.
///
/// # Errors
/// If it cannot be written, or is not a regular file with one name.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    only_name(openat(CWD, path, OFlags::RDWR | OFlags::APPEND | TO_WRITE, Mode::from_raw_mode(USUAL_MODE)))
}

const TO_WRITE: OFlags = OFlags::CREATE.union(OFlags::NOFOLLOW).union(AT_ONCE);

fn only_name(opened: rustix::io::Result<std::os::fd::OwnedFd>) -> io::Result<File> {
    let file = regular(opened.map_err(in_words)?.into())?;
    if file.metadata()?.nlink() > 1 { Err(refused("it has a second name (a hard link)")) } else { Ok(file) }
}

/// The largest lock, in bytes: a number and the end of its line.
const LARGEST_LOCK: u64 = 32;

/// Opens a file that processes lock and leave their numbers in, or creates it. Nothing is written to it.
///
/// # Errors
/// If it cannot be written, or holds anything else than a number: what is in it would be lost.
pub fn open_lock(folder: &Folder, name: &str) -> io::Result<File> {
    let file = only_name(folder.open_with(name, OFlags::RDWR | TO_WRITE, Mode::from_raw_mode(USUAL_MODE)))?;
    let text = read_up_to(&file, LARGEST_LOCK)?;
    if text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'\n') {
        Ok(file)
    } else {
        Err(refused("it holds something else than the number of a process"))
    }
}

/// Reads a file whole, through no link.
///
/// # Errors
/// As [`open`], and if it is larger than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_up_to(&open(path)?, limit)
}

/// As [`read`], of a text.
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|_| refused("it is not UTF-8"))
}

/// Reads a file whole that the user has named.
///
/// # Errors
/// As [`open_named`], and if it is larger than `limit` bytes.
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_up_to(&open_named(path)?, limit)
}

/// Reads what is left of a file, which may grow meanwhile.
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

/// Whether there is a folder, and no link to one.
pub fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Whether there is a regular file, and no link to one.
pub fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// Creates a folder in a campaign's own, unless it is there.
///
/// # Errors
/// If it cannot be created, or if its name leads somewhere else.
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
