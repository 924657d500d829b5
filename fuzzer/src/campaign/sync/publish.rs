//! Publication of this campaign in a sync folder: its queue with names as afl-fuzz reads them, its `fuzzer_stats` and
//! its hits.

use std::{
    io::{Seek, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};

use quagmire_base::{
    atomic::{remove_unfinished, remove_unfinished_of, unwritable},
    error::{Error, Result},
    files::{self, Folder},
};
use quagmire_results::{
    EntryName,
    lock::{Lock, try_lock},
};

/// Name of the file that marks a folder as one of quagmire's, and is locked while a campaign uses it.
const LOCK: &str = ".quagmire";

/// Largest number of files in its own queue that are looked at for their numbers.
const MOST_FILES: usize = 1 << 24;

/// Part of this campaign's queue that is in the sync folder; part of the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// Number of entry 0 in the sync folder: an earlier campaign of this name may have left its queue there.
    base: u64,
    /// First entry that is not there yet.
    next: u64,
}

/// Place of a campaign in a sync folder, locked until the value is dropped.
#[derive(Debug)]
pub struct Publisher {
    folder: Folder,
    _lock: Lock,
}

impl Publisher {
    /// Takes the place `name` in the folder `sync`; creates both if they do not exist.
    ///
    /// # Errors
    /// If another campaign has the place, or it cannot be written.
    pub fn open(sync: &Path, name: &str) -> Result<Self> {
        let folder = Folder::named(sync).inside(name);
        let taken = |whose: &str| {
            Error::other(format!("--sync: {} belongs to {whose}: give another --name", folder.path().display()))
        };
        if !folder.has(LOCK) && folder.is_empty().is_ok_and(|is_empty| !is_empty) {
            return Err(taken("something else"));
        }
        // the mark is written first: a folder without it belongs to somebody else
        folder.create().map_err(|error| unwritable(&folder.path(), &error))?;
        let path = folder.path().join(LOCK);
        let mut lock = files::open_lock(&folder, LOCK).map_err(|error| match files::is_refused(&error) {
            true => Error::other(format!("--sync: {} is no lock: {error}; give another --name", path.display())),
            false => unwritable(&path, &error),
        })?;
        if !try_lock(&lock).unwrap_or(false) {
            return Err(taken("a campaign that is running"));
        }
        let queue = folder.inside("queue");
        queue.create().map_err(|error| unwritable(&queue.path(), &error))?;
        [&folder, &queue].into_iter().for_each(remove_unfinished);
        // for people who look into the file; no program reads it
        let _ = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| writeln!(lock, "{}", std::process::id()));
        Ok(Self { folder, _lock: Lock::of(lock) })
    }

    /// Removes the unfinished files of a process of this campaign that died while it wrote them.
    pub fn remove_unfinished_of(&self, process: libc::pid_t) {
        remove_unfinished_of(&self.folder, process);
        remove_unfinished_of(&self.folder.inside("queue"), process);
    }

    /// Folder of this campaign in the sync folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Links or copies entries that are not there yet. `entries` are the file names of all entries in the folder
    /// `queue`, in the order of their numbers.
    pub fn publish<'a>(
        &self,
        published: &mut Option<Published>,
        queue: &Path,
        entries: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        let known = published.get_or_insert_with(|| Published { base: self.numbers(), next: 0 });
        let shown = self.folder.inside("queue");
        for (number, file) in (0u64..).zip(entries).skip(known.next as usize) {
            let mut name: EntryName = file.parse().unwrap_or_default();
            name.id = known.base + number;
            name.src = name.src.map(|parent| known.base + parent);
            let (from, to) = (queue.join(file), name.with_colons());
            let unreadable = |error| Error::other(format!("cannot read {}: {error}", from.display()));
            // a file in the queue of an earlier session may be a link to somewhere else, or may have been removed
            match files::open(&from) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    known.next = number + 1;
                    continue;
                }
                opened => opened.map_err(unreadable)?,
            };
            // hard links do not reach another file system
            if shown.link(&from, &to).is_err() {
                let bytes = files::read(&from, files::LARGEST_INPUT).map_err(unreadable)?;
                shown.write_whole(&to, &bytes).map_err(|error| unwritable(&shown.path().join(&to), &error))?;
            }
            known.next = number + 1;
        }
        Ok(())
    }

    /// First number that no file in its queue has.
    fn numbers(&self) -> u64 {
        let files = self.folder.inside("queue").names(MOST_FILES).unwrap_or_default();
        files.iter().filter_map(|file| file.parse().ok()).map(|name: EntryName| name.id + 1).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

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
    fn a_file_that_was_removed_is_left_out_and_an_error_forgets_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("out");
        fs::create_dir(&own).unwrap();
        ["id_000000", "id_000002"].iter().for_each(|file| fs::write(own.join(file), file).unwrap());
        fs::create_dir(own.join("id_000003")).unwrap();
        let sync = folder.path().join("sync");
        let publisher = Publisher::open(&sync, "me").unwrap();
        let mut published = None;
        let files = ["id_000000", "id_000001", "id_000002", "id_000003"];
        assert!(publisher.publish(&mut published, &own, files.into_iter()).is_err(), "the last one is a folder");
        assert_eq!(names(&sync.join("me/queue")), ["id:000000", "id:000002"]);
        assert_eq!(published, Some(Published { base: 0, next: 3 }));
    }

    #[test]
    fn a_place_that_leads_elsewhere_is_refused_and_nothing_is_written_there() {
        let folder = tempfile::tempdir().unwrap();
        let (home, sync) = (folder.path().join("home"), folder.path().join("sync"));
        fs::create_dir_all(sync.join("me")).unwrap();
        fs::create_dir(&home).unwrap();
        let victim = home.join("thesis.tex");
        fs::write(&victim, "years of work").unwrap();
        symlink(&victim, sync.join("me").join(LOCK)).unwrap();
        let message = Publisher::open(&sync, "me").unwrap_err().message;
        assert!(message.contains(".quagmire is no lock: it is a symbolic link"), "{message}");
        symlink(&home, sync.join("link")).unwrap();
        assert!(Publisher::open(&sync, "link").unwrap_err().message.contains("a link to one"));
        // exchanged while the campaign runs
        let publisher = Publisher::open(&sync, "good").unwrap();
        fs::rename(sync.join("good/queue"), sync.join("moved")).unwrap();
        symlink(&home, sync.join("good/queue")).unwrap();
        let own = folder.path().join("out");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("id_000000"), "x").unwrap();
        assert!(publisher.publish(&mut None, &own, ["id_000000"].into_iter()).is_err());
        assert_eq!(
            (names(&home), fs::read_to_string(&victim).unwrap()),
            (vec!["thesis.tex".into()], "years of work".into())
        );
    }

    #[test]
    fn what_is_no_file_of_the_queue_is_not_published() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("out");
        fs::create_dir(&own).unwrap();
        symlink("/etc/passwd", own.join("id_000000")).unwrap();
        let publisher = Publisher::open(&folder.path().join("sync"), "me").unwrap();
        assert!(publisher.publish(&mut None, &own, ["id_000000"].into_iter()).is_err());
        assert!(names(&folder.path().join("sync/me/queue")).is_empty());
    }

    #[test]
    fn the_largest_number_that_others_have_left_does_not_overflow() {
        let folder = tempfile::tempdir().unwrap();
        let publisher = Publisher::open(folder.path(), "me").unwrap();
        for number in [7, u64::MAX] {
            fs::write(folder.path().join("me/queue").join(format!("id:{number}")), "x").unwrap();
        }
        assert_eq!(publisher.numbers(), 8);
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
