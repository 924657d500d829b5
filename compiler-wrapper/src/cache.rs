//! The user's cache folder, with files compiled on first use and remembered output of compilers.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::Error;

/// A cache folder that this user owns and no other user can write to.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Lock of the process that builds into the folder.
    lock: File,
}

impl Cache {
    /// Opens the folder `QUAGMIRE_CACHE`, or else the first usable one of `$XDG_CACHE_HOME/quagmire`,
    /// `$HOME/.cache/quagmire` and a per-user folder in the temporary folder, and creates it if needed.
    pub fn open(variable: impl Fn(&str) -> Option<OsString>) -> Result<Cache, Error> {
        let folder = |name: &str, below: &str| {
            variable(name).filter(|value| !value.is_empty()).map(|value| Path::new(&value).join(below))
        };
        let temporary =
            folder("TMPDIR", "").unwrap_or_else(|| "/tmp".into()).join(format!("quagmire-{}", geteuid().as_raw()));
        let named = folder("QUAGMIRE_CACHE", "");
        let usual = [folder("XDG_CACHE_HOME", "quagmire"), folder("HOME", ".cache/quagmire"), Some(temporary)];
        let mut tried = Vec::new();
        // what is remembered of the cache is true in any folder
        let candidates = if named.is_some() { vec![named] } else { usual.into() };
        for folder in candidates.into_iter().flatten().filter_map(|path| std::path::absolute(path).ok()) {
            match Cache::open_folder(&folder) {
                Ok(cache) => return Ok(cache),
                Err(_) => tried.push(folder),
            }
        }
        Err(Error::NoCache { tried })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn open_folder(folder: &Path) -> io::Result<Cache> {
        if !folder.is_dir() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        // in the temporary folder, a link may belong to another user
        let metadata = fs::symlink_metadata(folder)?;
        let metadata = if metadata.is_symlink() && metadata.uid() == geteuid().as_raw() {
            fs::metadata(folder)?
        } else {
            metadata
        };
        if !metadata.is_dir() || metadata.uid() != geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let lock = File::options().create(true).append(true).open(folder.join("lock"))?;
        Ok(Cache { folder: folder.to_owned(), lock })
    }

    /// Path of `file` in the subfolder `name`, which `build` fills if it does not exist yet. Concurrent processes
    /// wait for the one that builds; the subfolder appears whole or not at all.
    pub fn file(
        &self,
        name: &str,
        file: &str,
        build: impl FnOnce(&Path) -> Result<(), Error>,
    ) -> Result<PathBuf, Error> {
        let folder = self.folder.join(name);
        let wanted = folder.join(file);
        if wanted.is_file() {
            return Ok(wanted);
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| Error::Cache { path, problem: error.to_string() }
        };
        self.lock.lock().map_err(failed(&self.folder.join("lock")))?;
        if wanted.is_file() {
            return Ok(wanted);
        }
        // while holding the lock, leftovers can only be from a killed build
        let unfinished = self.folder.join("unfinished");
        for debris in [&unfinished, &folder] {
            if debris.exists() {
                fs::remove_dir_all(debris).map_err(failed(debris))?;
            }
        }
        fs::DirBuilder::new().mode(0o700).create(&unfinished).map_err(failed(&unfinished))?;
        let built = build(&unfinished).and_then(|()| fs::rename(&unfinished, &folder).map_err(failed(&folder)));
        if built.is_err() {
            let _ = fs::remove_dir_all(&unfinished);
        }
        // unlocking fails only for a closed file, which is unlocked anyway
        let _ = self.lock.unlock();
        built.map(|()| wanted)
    }

    /// Stores a text under a name. Failures are ignored, since it is only a cache.
    pub fn remember(&self, name: &str, text: &str) {
        let unfinished = self.folder.join(format!("{name}.{}", std::process::id()));
        if fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, self.folder.join(name))).is_err() {
            let _ = fs::remove_file(&unfinished);
        }
    }

    /// The text stored under a name, if any.
    pub(crate) fn recall(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }
}

/// Hexadecimal FNV-1a hash of several byte strings, for names of versions. Not cryptographic.
pub fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.iter().copied().chain(part.len().to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Identity of a file's content without reading it: modification time, size and inode; `None` if it does not exist.
pub fn stamp(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    Some(format!("{}.{:09} {} {}", metadata.mtime(), metadata.mtime_nsec(), metadata.size(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn open(variables: &[(&str, &Path)]) -> Result<Cache, Error> {
        Cache::open(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, path)| path.into()))
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_passed_over() {
        let scratch = tempfile::tempdir().unwrap();
        let open_to_all = scratch.path().join("open/quagmire");
        fs::create_dir_all(&open_to_all).unwrap();
        fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o777)).unwrap();
        let above = scratch.path().join("open");
        let cache = open(&[("XDG_CACHE_HOME", &above), ("HOME", scratch.path())]).unwrap();
        assert_eq!(cache.folder, scratch.path().join(".cache/quagmire"));
        assert_eq!(fs::metadata(&cache.folder).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_passed_over() {
        let scratch = tempfile::tempdir().unwrap();
        let cache = open(&[("HOME", Path::new("/proc/nowhere")), ("TMPDIR", scratch.path())]).unwrap();
        assert_eq!(cache.folder, scratch.path().join(format!("quagmire-{}", geteuid().as_raw())));
    }

    #[test]
    fn without_any_usable_folder_the_error_names_the_variable_to_set() {
        let error = open(&[("TMPDIR", Path::new("/proc/nowhere"))]).unwrap_err();
        assert!(error.to_string().contains("name one with QUAGMIRE_CACHE that you own"), "{error}");
    }

    #[test]
    fn a_named_folder_is_not_replaced() {
        let scratch = tempfile::tempdir().unwrap();
        let variables = [("QUAGMIRE_CACHE", Path::new("/proc/nowhere")), ("TMPDIR", scratch.path())];
        assert_eq!(open(&variables).unwrap_err(), Error::NoCache { tried: vec!["/proc/nowhere".into()] });
    }

    #[test]
    fn a_failed_build_leaves_nothing_and_the_next_one_starts_clean() {
        let scratch = tempfile::tempdir().unwrap();
        let cache = open(&[("QUAGMIRE_CACHE", &scratch.path().join("cache"))]).unwrap();
        let failure = cache.file("thing", "a", |folder| {
            fs::write(folder.join("debris"), "").unwrap();
            Err(Error::NoToolchain)
        });
        assert_eq!(failure, Err(Error::NoToolchain));
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 1, "only the lock");
        let built = cache.file("thing", "a", |folder| {
            fs::write(folder.join("a"), "whole").unwrap();
            Ok(())
        });
        assert_eq!(fs::read_to_string(built.unwrap()).unwrap(), "whole");
    }

    #[test]
    fn a_digest_depends_on_where_one_part_ends() {
        let one = digest([b"ab".as_slice(), b"c"]);
        assert_ne!(one, digest([b"a".as_slice(), b"bc"]));
        assert_eq!(one, digest([b"ab".as_slice(), b"c"]));
    }
}
