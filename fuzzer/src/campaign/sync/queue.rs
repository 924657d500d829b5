//! The queue of another campaign, as far as it was looked at.

use std::{
    collections::{BTreeMap, VecDeque},
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::index::{News, Reader};
use crate::output::EntryName;

/// Files of the last look whose length is looked at once more: afl-fuzz does not write its files whole.
const LOOKED_AT_AGAIN: usize = 64;

/// What a file's name says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub file: String,
    /// The number of its parent in the same queue.
    pub parent: Option<u64>,
    /// What made it from its parent.
    pub rules: Vec<String>,
}

/// A folder of inputs with numbers in their names.
#[derive(Debug)]
pub struct Queue {
    folder: PathBuf,
    changed: Option<SystemTime>,
    /// Nothing was new when it was looked at last.
    settled: bool,
    /// Spares listing it, if it has one.
    index: Option<Reader>,
    listed: BTreeMap<u64, Listed>,
    /// Files that were read lately, with the length that they had.
    read: VecDeque<(u64, usize)>,
    buffer: Vec<u8>,
}

impl Queue {
    /// A folder that was not looked at yet.
    pub fn new(folder: PathBuf) -> Self {
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

    /// The queue of the campaign in `output` on this machine, which keeps an index of it.
    pub fn with_index(output: &Path) -> Self {
        Self { index: Some(Reader::new(output)), ..Self::new(output.join("queue")) }
    }

    /// The numbers from `next` on that are there now, and those that were incomplete the last time, in their order. Without
    /// a look into the folder if nothing has changed in it.
    pub fn look(&mut self, next: u64) -> Vec<u64> {
        if let Some(News { anew, names }) = self.index.as_mut().and_then(Reader::look) {
            if anew {
                self.listed.clear();
            }
            self.listed.extend(names.into_iter().filter_map(listed));
            return self.listed.range(next..).map(|(&number, _)| number).collect();
        }
        let mut numbers = self.longer_than_they_were();
        let changed = std::fs::metadata(&self.folder).and_then(|folder| folder.modified()).ok();
        // a file that comes in the same instant as the look leaves no trace in the time: the folder is looked at twice
        if changed == self.changed && self.settled {
            return numbers;
        }
        self.settled = changed == self.changed;
        self.changed = changed;
        self.listed = list(&self.folder);
        numbers.extend(self.listed.range(next..).map(|(&number, _)| number));
        numbers
    }

    fn longer_than_they_were(&mut self) -> Vec<u64> {
        let read = std::mem::take(&mut self.read);
        let length = |number: &u64| std::fs::metadata(self.path(*number)?).ok().map(|file| file.len());
        let grown = |(number, was): &(u64, usize)| length(number).is_some_and(|length| length != *was as u64);
        read.into_iter().filter(grown).map(|(number, _)| number).collect()
    }

    /// The largest number in it.
    pub fn last(&self) -> Option<u64> {
        self.listed.last_key_value().map(|(&number, _)| number)
    }

    /// What is known of a number.
    pub fn get(&self, number: u64) -> Option<&Listed> {
        self.listed.get(&number)
    }

    fn path(&self, number: u64) -> Option<PathBuf> {
        Some(self.folder.join(&self.listed.get(&number)?.file))
    }

    /// The input with this number, unless it has gone or is larger than `limit` bytes.
    pub fn read(&mut self, number: u64, limit: usize) -> Option<Vec<u8>> {
        let path = self.path(number)?;
        self.buffer.resize(limit + 1, 0);
        let length = read_into(&path, &mut self.buffer).ok()?;
        if self.read.len() == LOOKED_AT_AGAIN {
            self.read.pop_front();
        }
        self.read.push_back((number, length));
        (length <= limit).then(|| self.buffer[..length].to_vec())
    }
}

/// Fills `buffer` from the start of a file, as far as there is something. In three system calls: those of
/// [`std::fs::read`] take longer than many a run of the target.
fn read_into(path: &Path, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut file = File::open(path)?;
    let mut length = 0;
    loop {
        let read = file.read(&mut buffer[length..])?;
        length += read;
        // only the end of a file gives less than there is room for
        if read == 0 || length < buffer.len() {
            return Ok(length);
        }
    }
}

fn list(folder: &Path) -> BTreeMap<u64, Listed> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| listed(file.file_name().into_string().ok()?)).collect()
}

fn listed(file: String) -> Option<(u64, Listed)> {
    let name: EntryName = file.parse().ok()?;
    Some((name.id, Listed { file, parent: name.src, rules: name.rules }))
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
        let mut queue = Queue::new(folder.path().to_owned());
        ["id_000001,src_000000,op_T.1", "id:000000,orig:a", ".unfinished-1-2", "README"].into_iter().for_each(write);
        assert_eq!(queue.look(0), [0, 1]);
        let listed = Listed { file: "id_000001,src_000000,op_T.1".into(), parent: Some(0), rules: vec!["T.1".into()] };
        assert_eq!(queue.get(1), Some(&listed));
        assert_eq!((queue.look(2), queue.look(2)), (vec![], vec![]));
        write("id_000002,src_000001");
        // the folder's time may not have moved, but then it is looked at once more
        assert_eq!([queue.look(2), queue.look(2)].concat().first(), Some(&2));
        assert_eq!(queue.last(), Some(2));
    }

    #[test]
    fn a_queue_with_an_index_is_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("queue")).unwrap();
        let mut queue = Queue::with_index(folder.path());
        fs::write(folder.path().join("queue/id_000000,orig_a"), "x").unwrap();
        assert_eq!(queue.look(0), [0], "there is none yet");
        let mut index =
            Index::replace(folder.path(), ["id_000000,orig_a", "id_000001,src_000000"].into_iter()).unwrap();
        assert_eq!((queue.look(1), queue.look(1), queue.look(2)), (vec![1], vec![1], vec![]));
        fs::write(folder.path().join("queue/id_000002,src_000000"), "y").unwrap();
        assert_eq!(queue.look(2), [0u64; 0]);
        index.add("id_000002,src_000000").unwrap();
        assert_eq!((queue.look(2), queue.read(2, 9)), (vec![2], Some(b"y".to_vec())));
        index.add("id_000003,src_000000").unwrap();
        assert_eq!((queue.look(2), queue.look(3), queue.last()), (vec![2, 3], vec![3], Some(3)));
    }

    #[test]
    fn what_was_read_half_is_seen_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id:000000,orig:a");
        fs::write(&path, "ha").unwrap();
        let mut queue = Queue::new(folder.path().to_owned());
        assert_eq!(queue.look(0), [0]);
        assert_eq!(queue.read(0, 20).unwrap(), b"ha");
        fs::write(&path, "half and the rest").unwrap();
        assert_eq!(queue.look(1), [0]);
        assert_eq!((queue.read(0, 16), queue.read(0, 17).unwrap().len()), (None, 17));
        assert_eq!(queue.look(1), [0u64; 0]);
    }

    #[test]
    fn what_is_not_there_has_nothing() {
        let mut queue = Queue::new("/proc/no/such".into());
        assert_eq!((queue.look(0), queue.last(), queue.read(0, 9)), (vec![], None, None));
    }
}
