//! The names of a queue's files in one file, in the order in which they came. Clients on the other cores read what is new at
//! its end; listing thousands of files each second would take them more time than many a find is worth.

use std::{
    fs::{self, File},
    io::{Read as _, Seek, SeekFrom, Write as _},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use crate::{
    error::Result,
    output::{atomic::unwritable, write_whole},
};

/// In an output folder. Hidden: it is nothing for people.
const FILE: &str = ".names";

/// Where the index of the campaign in `output` is.
fn path(output: &Path) -> PathBuf {
    output.join(FILE)
}

/// The index of this campaign, to which names are added.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    file: File,
}

impl Index {
    /// Goes on with what a worker before this one has written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn open(output: &Path) -> Result<Self> {
        let path = path(output);
        let file = File::options().append(true).create(true).open(&path);
        file.map_err(|error| unwritable(&path, &error)).map(|file| Self { path, file })
    }

    /// Replaces it by one with these names.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replace<'a>(output: &Path, names: impl Iterator<Item = &'a str>) -> Result<Self> {
        let text: String = names.flat_map(|name| [name, "\n"]).collect();
        write_whole(&path(output), text.as_bytes())?;
        Self::open(output)
    }

    /// Adds the name of a file that is there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, name: &str) -> Result<()> {
        // in one piece
        self.file.write_all(format!("{name}\n").as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

/// An index of another client, as far as it was read.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    /// Which file it was: it may be replaced.
    inode: u64,
    read: u64,
}

/// What has come to an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct News {
    /// It was replaced: `names` are all that it has.
    pub anew: bool,
    /// In their order.
    pub names: Vec<String>,
}

impl Reader {
    /// Of the campaign in `output`.
    pub fn new(output: &Path) -> Self {
        Self { path: path(output), inode: 0, read: 0 }
    }

    /// What is new since the last look; nothing if there is no index.
    pub fn look(&mut self) -> Option<News> {
        let found = fs::metadata(&self.path).ok()?;
        let anew = found.ino() != self.inode || found.len() < self.read;
        if !anew && found.len() == self.read {
            return Some(News::default());
        }
        let mut file = File::open(&self.path).ok()?;
        if anew {
            (self.inode, self.read) = (found.ino(), 0);
        }
        let mut text = Vec::new();
        file.seek(SeekFrom::Start(self.read)).and_then(|_| file.read_to_end(&mut text)).ok()?;
        // a line that is being written is read next time
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.read += whole as u64;
        let names = String::from_utf8_lossy(&text[..whole]).lines().map(str::to_owned).collect();
        Some(News { anew, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_read_once_and_all_of_them_when_the_index_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let news =
            |anew, names: &[&str]| Some(News { anew, names: names.iter().map(|&name| name.to_owned()).collect() });
        let mut reader = Reader::new(folder.path());
        assert_eq!(reader.look(), None);
        let mut index = Index::open(folder.path()).unwrap();
        index.add("a").unwrap();
        assert_eq!((reader.look(), reader.look()), (news(true, &["a"]), news(false, &[])));
        index.file.write_all(b"b\nha").unwrap();
        assert_eq!((reader.look(), reader.look()), (news(false, &["b"]), news(false, &[])));
        index.file.write_all(b"lf\n").unwrap();
        assert_eq!(reader.look(), news(false, &["half"]));
        let mut index = Index::replace(folder.path(), ["a", "b", "half"].into_iter()).unwrap();
        index.add("c").unwrap();
        assert_eq!(reader.look(), news(true, &["a", "b", "half", "c"]));
        Index::open(folder.path()).unwrap().add("d").unwrap();
        assert_eq!(reader.look(), news(false, &["d"]));
    }
}
