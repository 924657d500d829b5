//! What this campaign shows to others in a sync folder: its queue with names as afl-fuzz reads them, its fuzzer_stats, and
//! its hits.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    output::{
        EntryName,
        atomic::{remove_unfinished, remove_unfinished_of, unwritable},
        lock::{Lock, try_lock},
        write_whole,
    },
};

/// Marks a folder as a campaign's of quagmire, and is locked while one uses it.
const LOCK: &str = ".quagmire";

/// What of this campaign's queue is in the sync folder. Saved with every checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The number there of entry 0: an earlier campaign of this name may have left its queue.
    base: u64,
    /// Entries below this number are there.
    next: u64,
}

/// A campaign's place in a sync folder, its own until the value is dropped.
#[derive(Debug)]
pub struct Publisher {
    folder: PathBuf,
    _lock: Lock,
}

impl Publisher {
    /// Takes the place `name` in `sync`, both created if need be.
    ///
    /// # Errors
    /// If another campaign has it, or it cannot be written.
    pub fn open(sync: &Path, name: &str) -> Result<Self> {
        let folder = sync.join(name);
        let taken =
            |whose: &str| Error::other(format!("--sync: {} belongs to {whose}: give another --name", folder.display()));
        let is_ours = folder.join(LOCK).exists();
        if !is_ours && fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some()) {
            return Err(taken("something else"));
        }
        // the mark comes first: what has none is somebody else's
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        let path = folder.join(LOCK);
        let mut lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| unwritable(&path, &error))?;
        if !try_lock(&lock).unwrap_or(false) {
            return Err(taken("a campaign that is running"));
        }
        let queue = folder.join("queue");
        fs::create_dir_all(&queue).map_err(|error| unwritable(&queue, &error))?;
        [&folder, &queue].into_iter().for_each(|folder| remove_unfinished(folder));
        // for people who look; nobody reads it
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
        Ok(Self { folder, _lock: Lock::of(lock) })
    }

    /// Removes the files that a process of this campaign was writing when it died.
    pub fn remove_unfinished_of(&self, process: libc::pid_t) {
        remove_unfinished_of(&self.folder, process);
        remove_unfinished_of(&self.folder.join("queue"), process);
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Shows the entries that are not there yet. `entries` are the files of all entries, in their order, in the folder
    /// `queue`.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn publish<'a>(
        &self,
        published: &mut Option<Published>,
        queue: &Path,
        entries: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        let mut known = match *published {
            Some(published) => published,
            None => Published { base: self.numbers(), next: 0 },
        };
        for (number, file) in (0u64..).zip(entries).skip(known.next as usize) {
            let mut name: EntryName = file.parse().unwrap_or_default();
            name.id = known.base + number;
            name.src = name.src.map(|parent| known.base + parent);
            let (from, to) = (queue.join(file), self.folder.join("queue").join(name.with_colons()));
            // links do not reach another file system
            if fs::hard_link(&from, &to).is_err() && !to.exists() {
                let bytes = fs::read(&from)
                    .map_err(|error| Error::other(format!("cannot read {}: {error}", from.display())))?;
                write_whole(&to, &bytes)?;
            }
            known.next = number + 1;
        }
        *published = Some(known);
        Ok(())
    }

    /// The first number that no file in its queue has.
    fn numbers(&self) -> u64 {
        let files = fs::read_dir(self.folder.join("queue")).into_iter().flatten().flatten();
        let number = |file: fs::DirEntry| file.file_name().to_str()?.parse().ok().map(|name: EntryName| name.id + 1);
        files.filter_map(number).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn entries_appear_once_with_names_for_afl_behind_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("out");
        fs::create_dir(&own).unwrap();
        let files = ["id_000000,orig_a", "id_000001,src_000000,op_T.1"];
        files.iter().for_each(|file| fs::write(own.join(file), file).unwrap());
        let sync = folder.path().join("sync");
        let there = sync.join("me/queue");
        for round in 0..2u64 {
            let publisher = Publisher::open(&sync, "me").unwrap();
            let mut published = None;
            for known in [1, 2, 2] {
                publisher.publish(&mut published, &own, files[..known].iter().copied()).unwrap();
                assert_eq!(names(&there).len() as u64, 2 * round + known as u64);
            }
        }
        let expected =
            ["id:000000,orig:a", "id:000001,src:000000,op:T.1", "id:000002,orig:a", "id:000003,src:000002,op:T.1"];
        assert_eq!(names(&there), expected);
        assert_eq!(fs::read(there.join(expected[3])).unwrap(), files[1].as_bytes());
    }

    #[test]
    fn a_place_that_is_taken_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let first = Publisher::open(folder.path(), "me").unwrap();
        let message = Publisher::open(folder.path(), "me").unwrap_err().message;
        assert!(message.contains("running") && message.contains("--name"), "{message}");
        drop(first);
        let half = folder.path().join("me/queue/.unfinished-1-2");
        fs::write(&half, "half").unwrap();
        assert!(Publisher::open(folder.path(), "me").is_ok() && !half.exists());
        fs::create_dir_all(folder.path().join("afl/queue")).unwrap();
        assert!(Publisher::open(folder.path(), "afl").unwrap_err().message.contains("something else"));
    }
}
