//! Queue of another campaign, with the state of reading it.

use std::{
    collections::{BTreeMap, VecDeque},
    path::Path,
    time::SystemTime,
};

use super::index::{News, Reader};
use quagmire_base::files::{Folder, is_refused};
use quagmire_results::EntryName;

/// Largest number of files in a queue; a folder with more is no campaign's.
const MOST_FILES: usize = 1 << 20;

/// Number of files of the last look whose length is checked once more: afl-fuzz does not write files atomically.
const LOOKED_AT_AGAIN: usize = 64;

/// File in a queue, with what its name tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// File name.
    pub file: String,
    /// Number of its parent in the same queue; `None` if the name tells none.
    pub parent: Option<u64>,
}

impl Listed {
    /// Labels of the rules that made it from its parent, in order.
    pub(super) fn rules(&self) -> Vec<String> {
        self.file.parse().map_or_else(|()| Vec::new(), |name: EntryName| name.rules)
    }
}

/// Folder of inputs with numbers in their names.
#[derive(Debug)]
pub(super) struct Queue {
    folder: Folder,
    changed: Option<SystemTime>,
    /// Whether nothing was new at the last look.
    settled: bool,
    /// Index of the queue, which makes listing unnecessary; `None` if there is none.
    index: Option<Reader>,
    listed: BTreeMap<u64, Listed>,
    /// Files that were read lately, as (number, length at that time).
    read: VecDeque<(u64, usize)>,
    buffer: Vec<u8>,
}

impl Queue {
    /// Creates a queue of a folder that was not looked at yet.
    pub(super) fn new(folder: Folder) -> Self {
        Self {
            folder,
            changed: None,
            settled: false,
            index: None,
            listed: BTreeMap::new(),
            read: VecDeque::new(),
            buffer: Vec::new(),
        }
    }

    /// Creates the queue of the campaign in `output` on this machine, which keeps an index.
    pub(super) fn with_index(output: &Path) -> Self {
        Self { index: Some(Reader::new(output)), ..Self::new(Folder::named(output).inside("queue")) }
    }

    /// Numbers from `next` on that are there now, ascending, and before them those that were incomplete the last time.
    /// Does not list the folder if nothing has changed in it.
    ///
    /// # Errors
    /// In a few words, if it cannot be the queue of a campaign.
    pub(super) fn look(&mut self, next: u64) -> Result<Vec<u64>, String> {
        if let Some(News { anew, names }) = self.index.as_mut().and_then(Reader::look) {
            if anew {
                self.listed.clear();
            }
            self.listed.extend(names.into_iter().filter_map(listed));
            return Ok(self.listed.range(next..).map(|(&number, _)| number).collect());
        }
        let mut numbers = self.longer_than_they_were();
        let refused = |error| format!("its queue: {error}");
        let changed = match self.folder.metadata() {
            Err(error) if is_refused(&error) => return Err(refused(error)),
            found => found.and_then(|folder| folder.modified()).ok(),
        };
        // a file that comes in the same instant as the look may leave the folder's time unchanged: it is listed twice
        if changed == self.changed && self.settled {
            return Ok(numbers);
        }
        self.settled = changed == self.changed;
        self.changed = changed;
        self.listed = match self.folder.names(MOST_FILES) {
            Err(error) if is_refused(&error) => return Err(refused(error)),
            names => names.unwrap_or_default().into_iter().filter_map(listed).collect(),
        };
        numbers.extend(self.listed.range(next..).map(|(&number, _)| number));
        Ok(numbers)
    }

    fn longer_than_they_were(&mut self) -> Vec<u64> {
        let read = std::mem::take(&mut self.read);
        let length = |number: &u64| self.folder.length(&self.listed.get(number)?.file);
        let grown = |(number, was): &(u64, usize)| length(number).is_some_and(|length| length != *was as u64);
        read.into_iter().filter(grown).map(|(number, _)| number).collect()
    }

    /// Largest number in the queue.
    pub(super) fn last(&self) -> Option<u64> {
        self.listed.last_key_value().map(|(&number, _)| number)
    }

    /// File with this number, if it was listed.
    pub(super) fn get(&self, number: u64) -> Option<&Listed> {
        self.listed.get(&number)
    }

    /// Bytes of the input with this number; `None` if it has gone or is larger than `limit` bytes. Makes few system
    /// calls: those of [`std::fs::read`] take longer than many a run of the target.
    ///
    /// # Errors
    /// In a few words, if it is no regular file.
    pub(super) fn read(&mut self, number: u64, limit: usize) -> Result<Option<Vec<u8>>, String> {
        let Some(Listed { file, .. }) = self.listed.get(&number) else { return Ok(None) };
        self.buffer.resize(limit + 1, 0);
        let length = match self.folder.read_into(file, &mut self.buffer) {
            Ok(length) => length,
            Err(error) if is_refused(&error) => return Err(format!("its {file}: {error}")),
            Err(_) => return Ok(None),
        };
        if length > limit {
            return Ok(None);
        }
        if self.read.len() == LOOKED_AT_AGAIN {
            self.read.pop_front();
        }
        self.read.push_back((number, length));
        Ok(Some(self.buffer[..length].to_vec()))
    }
}

fn listed(file: String) -> Option<(u64, Listed)> {
    let name: EntryName = file.parse().ok()?;
    Some((name.id, Listed { file, parent: name.src }))
}

#[cfg(test)]
mod tests {
    use super::super::index::Index;
    use super::*;
    use std::fs;

    #[test]
    fn each_number_is_seen_once_in_order_and_other_files_never() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), name).unwrap();
        let mut queue = Queue::new(Folder::named(folder.path()));
        ["id_000001,src_000000,op_T.1", "id:000000,orig:a", ".unfinished-1-2", "README"].into_iter().for_each(write);
        assert_eq!(queue.look(0).unwrap(), [0, 1]);
        let listed = Listed { file: "id_000001,src_000000,op_T.1".into(), parent: Some(0) };
        assert_eq!((queue.get(1), listed.rules()), (Some(&listed), vec!["T.1".to_owned()]));
        assert_eq!((queue.look(2).unwrap(), queue.look(2).unwrap()), (vec![], vec![]));
        write("id_000002,src_000001");
        // the folder's time may not have moved, but then it is looked at once more
        assert_eq!([queue.look(2).unwrap(), queue.look(2).unwrap()].concat().first(), Some(&2));
        assert_eq!(queue.last(), Some(2));
    }

    #[test]
    fn a_queue_with_an_index_is_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("queue")).unwrap();
        let mut queue = Queue::with_index(folder.path());
        fs::write(folder.path().join("queue/id_000000,orig_a"), "x").unwrap();
        assert_eq!(queue.look(0).unwrap(), [0], "there is none yet");
        let mut index =
            Index::replace(folder.path(), ["id_000000,orig_a", "id_000001,src_000000"].into_iter()).unwrap();
        assert_eq!(
            (queue.look(1).unwrap(), queue.look(1).unwrap(), queue.look(2).unwrap()),
            (vec![1], vec![1], vec![])
        );
        fs::write(folder.path().join("queue/id_000002,src_000000"), "y").unwrap();
        assert_eq!(queue.look(2).unwrap(), [0u64; 0]);
        index.add("id_000002,src_000000").unwrap();
        assert_eq!((queue.look(2).unwrap(), queue.read(2, 9).unwrap()), (vec![2], Some(b"y".to_vec())));
        index.add("id_000003,src_000000").unwrap();
        assert_eq!((queue.look(2).unwrap(), queue.look(3).unwrap(), queue.last()), (vec![2, 3], vec![3], Some(3)));
    }

    #[test]
    fn what_was_read_half_is_seen_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id:000000,orig:a");
        fs::write(&path, "ha").unwrap();
        let mut queue = Queue::new(Folder::named(folder.path()));
        assert_eq!(queue.look(0).unwrap(), [0]);
        assert_eq!(queue.read(0, 20).unwrap().unwrap(), b"ha");
        fs::write(&path, "half and the rest").unwrap();
        assert_eq!(queue.look(1).unwrap(), [0]);
        assert_eq!((queue.read(0, 16).unwrap(), queue.read(0, 17).unwrap().unwrap().len()), (None, 17));
        assert_eq!(queue.look(1).unwrap(), [0u64; 0]);
        assert_eq!(queue.read(0, 10).unwrap(), None);
        assert_eq!(queue.look(1).unwrap(), [0u64; 0], "what is too large is not read for ever");
    }

    #[test]
    fn what_is_not_there_has_nothing() {
        let mut queue = Queue::new(Folder::named("/proc/no/such"));
        assert_eq!((queue.look(0).unwrap(), queue.last(), queue.read(0, 9).unwrap()), (vec![], None, None));
    }

    #[test]
    fn what_cannot_be_a_queue_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue");
        fs::create_dir(&path).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), path.join("id_000000")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path.join("id_000001"), rustix::fs::Mode::RWXU).unwrap();
        fs::File::create(path.join("id_000002")).unwrap().set_len(100 << 30).unwrap();
        fs::write(path.join(format!("id_{}", u64::MAX)), "x").unwrap();
        let mut queue = Queue::new(Folder::named(folder.path()).inside("queue"));
        assert_eq!(queue.look(0), Ok(vec![0, 1, 2]), "and the number that is none is left out");
        assert!(queue.read(0, 9).unwrap_err().contains("id_000000: it is a symbolic link"));
        assert!(queue.read(1, 9).unwrap_err().contains("id_000001: it is not a regular file"));
        assert_eq!(queue.read(2, 9), Ok(None));
        std::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
        let mut queue = Queue::new(Folder::named(folder.path()).inside("link"));
        assert!(queue.look(0).unwrap_err().contains("its queue: it is not a folder, or a link to one"));
    }
}
