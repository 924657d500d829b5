//! Atomic writes: a file appears whole or not at all, since it is written under a temporary name in its folder and
//! then renamed.

use crate::error::{Error, Result};
use crate::files::{self, Folder, UNFINISHED};
use crate::plain;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file atomically, replacing an older one of that name.
///
/// # Errors
/// The path and the cause if it cannot be written; nothing is left behind.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes, Folder::write_whole)
}

/// Writes a value as JSON, whole or not at all.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    write_whole(path, plain::json(value)?.as_bytes())
}

/// As [`write_whole`]; the new contents are on the disk before the name leads to them.
///
/// # Errors
/// The path and the cause if it cannot be written; nothing is left behind.
pub fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes, Folder::write_durably)
}

fn write(path: &Path, bytes: &[u8], by: fn(&Folder, &str, &[u8]) -> io::Result<()>) -> Result<()> {
    let written = match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(folder), Some(name)) => {
            // the parent of a bare name is empty, which is no path to open
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            by(&Folder::named(folder), name, bytes)
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    written.map_err(|error| unwritable(path, &error))
}

/// Number of files and folders up to which each is written to the disk by itself, at some milliseconds each. Beyond it,
/// all that their file system holds is written at once.
const FEW: usize = 8;

/// Writes files that exist, and their names, to the disk, where they outlive a power cut.
///
/// # Errors
/// The path and the cause if the disk does not take them.
pub fn make_durable(files: &BTreeSet<PathBuf>) -> Result<()> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let Some(first) = folders.first() else { return Ok(()) };
    if files.len() + folders.len() > FEW {
        let all = File::open(first).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
        return all.map_err(|error| unwritable(first, &error));
    }
    let opened = files.iter().map(|file| (file.as_path(), files::open(file)));
    for (path, opened) in opened.chain(folders.into_iter().map(|folder| (folder, File::open(folder)))) {
        match opened.and_then(|file| file.sync_data()) {
            // removed or replaced meanwhile
            Err(error) if error.kind() == io::ErrorKind::NotFound || files::is_refused(&error) => {}
            synced => synced.map_err(|error| unwritable(path, &error))?,
        }
    }
    Ok(())
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
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("cannot write {path}: the file system is read-only; choose a folder on another one (-o, --sync)")
        }
        io::ErrorKind::PermissionDenied => {
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

    #[test]
    fn a_file_system_that_is_read_only_is_not_a_matter_of_rights() {
        let error = unwritable(Path::new("out"), &io::ErrorKind::ReadOnlyFilesystem.into());
        assert!(error.message.contains("read-only") && !error.message.contains("permission"), "{error}");
    }

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
    fn few_files_and_many_are_made_durable_and_one_that_is_gone_is_no_error() {
        let folder = tempdir().unwrap();
        for count in [0, 2, 2 * FEW] {
            let name = |number: usize| folder.path().join(number.to_string());
            (0..count).for_each(|number| write_durably(&name(number), b"bytes").unwrap());
            make_durable(&(0..=count).map(name).collect()).unwrap();
        }
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
