//! Files that appear whole or not at all: written under a temporary name in the same folder, then renamed.

use crate::error::{Error, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the names of unfinished files start with; hidden, so that nobody takes them for inputs.
const PREFIX: &str = ".unfinished-";

/// Writes a file whole, replacing an older one of that name.
///
/// # Errors
/// If it cannot be written, with its path and the cause; nothing is left behind.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_beside(path);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        unwritable(path, &error)
    })
}

/// Removes the unfinished files that a killed campaign left in a folder, to which nobody writes now.
pub fn remove_unfinished(folder: &Path) {
    remove_beginning_with(folder, PREFIX);
}

/// Removes those that this process left.
pub fn remove_unfinished_of(folder: &Path, process: libc::pid_t) {
    remove_beginning_with(folder, &format!("{PREFIX}{process}-"));
}

fn remove_beginning_with(folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The error of a file or folder that cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> Error {
    let path = path.display();
    Error::other(match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("cannot write {path}: the disk is full; free some space, then go on with --resume")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("cannot write {path}: permission denied; choose a folder that you may write to (-o, --sync)")
        }
        _ => format!("cannot write {path}: {error}; check the folder given with -o or --sync"),
    })
}

/// Short whatever the file's own name, and unique among the threads and processes that write to one folder.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!("{PREFIX}{}-{number}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("summary.json");
        write_whole(&path, b"old and long").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["summary.json"]);
    }

    #[test]
    fn a_failed_write_leaves_no_debris_and_keeps_the_old_contents() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir_all(path.join("full")).unwrap();
        // a rename cannot replace a folder
        let error = write_whole(&path, b"bytes").unwrap_err();
        assert!(error.message.contains("taken") && !error.message.contains('\n'), "{error}");
        assert_eq!(names(folder.path()), ["taken"]);
    }

    #[test]
    fn a_full_disk_and_a_missing_folder_are_named() {
        let full = unwritable(Path::new("out/queue/id"), &io::ErrorKind::StorageFull.into());
        assert!(full.message.contains("out/queue/id: the disk is full"), "{full}");
        assert!(write_whole(Path::new("/no/such/folder/x"), b"").unwrap_err().message.contains("/no/such/folder/x"));
    }

    #[test]
    fn unfinished_files_of_a_killed_campaign_are_removed() {
        let folder = tempdir().unwrap();
        fs::write(temporary_beside(&folder.path().join("a")), "half").unwrap();
        fs::write(folder.path().join("whole"), "whole").unwrap();
        remove_unfinished_of(folder.path(), 1);
        assert_eq!(names(folder.path()).len(), 2, "of another process");
        remove_unfinished_of(folder.path(), std::process::id() as libc::pid_t);
        assert_eq!(names(folder.path()), ["whole"]);
        fs::write(temporary_beside(&folder.path().join("a")), "half").unwrap();
        remove_unfinished(folder.path());
        assert_eq!(names(folder.path()), ["whole"]);
    }
}
