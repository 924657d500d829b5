//! Atomic writes: a file appears whole or not at all, since it is written under a temporary name in its folder and
//! then renamed.

use crate::error::{Error, Result};
use crate::files::{Folder, UNFINISHED};
use std::io;
use std::path::Path;

/// Writes a file atomically, replacing an older one of that name.
///
/// # Errors
/// The path and the cause if it cannot be written; nothing is left behind.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(folder), Some(name)) => {
            // the parent of a bare name is empty, which is no path to open
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            Folder::named(folder).write_whole(name, bytes)
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    written.map_err(|error| unwritable(path, &error))
}

/// Removes the unfinished files of killed campaigns from a folder that no running process writes to.
pub fn remove_unfinished(folder: &Folder) {
    folder.remove_beginning_with(UNFINISHED);
}

/// Removes the unfinished files of one process from a folder.
pub fn remove_unfinished_of(folder: &Folder, process: libc::pid_t) {
    folder.remove_beginning_with(&format!("{UNFINISHED}{process}-"));
}

/// Makes the error of a file or folder that cannot be written, with a remedy that depends on the cause.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
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
    fn a_bare_file_name_is_in_the_working_folder() {
        let name = format!("{UNFINISHED}bare-{}", std::process::id());
        write_whole(Path::new(&name), b"text").unwrap();
        assert_eq!(fs::read(&name).unwrap(), b"text");
        fs::remove_file(&name).unwrap();
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
        let own = format!("{UNFINISHED}{}-0", std::process::id());
        fs::write(folder.path().join(&own), "half").unwrap();
        fs::write(folder.path().join("whole"), "whole").unwrap();
        let of = Folder::named(folder.path());
        remove_unfinished_of(&of, 1);
        assert_eq!(names(folder.path()).len(), 2, "of another process");
        remove_unfinished_of(&of, std::process::id() as libc::pid_t);
        assert_eq!(names(folder.path()), ["whole"]);
        fs::write(folder.path().join(&own), "half").unwrap();
        remove_unfinished(&of);
        assert_eq!(names(folder.path()), ["whole"]);
    }
}
