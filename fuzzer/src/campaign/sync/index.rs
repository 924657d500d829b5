//! Index of a queue: the names of its files in one file, in the order in which they came. Clients on the other cores
//! read only its new end; listing thousands of files each second would take more time than many a find is worth.

use std::{
    fs::File,
    io::{self, Read as _, Seek, SeekFrom, Write as _},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::Result,
    files::{self, Folder},
};
use quagmire_results::names;

/// Name of the index in an output folder; hidden, since it is not for people.
const FILE: &str = ".names";

/// Text of the first line, with the version. Each line ends with a checksum.
const HEAD: &str = "quagmire names 1";

/// Largest length of a line, in bytes.
const LONGEST_LINE: usize = names::LONGEST + 10;

/// Largest number of bytes read at once, of millions of names; the rest is read the next time. An index that is new to the
/// reader is read whole: by its last name, a sibling that has started anew is told from others.
const MOST_AT_ONCE: u64 = 1 << 28;

fn line(text: &str) -> String {
    format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// Text of a line without its checksum; `None` if it is damaged.
fn checked(line: &[u8]) -> Option<&str> {
    let (text, checksum) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
    (checksum.len() == 8 && u32::from_str_radix(checksum, 16) == Ok(crc32fast::hash(text.as_bytes()))).then_some(text)
}

/// Path of the index of the campaign in `output`.
fn path(output: &Path) -> PathBuf {
    output.join(FILE)
}

/// Index of this campaign, to which names are appended.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    file: File,
}

impl Index {
    /// Opens the index that an earlier worker wrote, or creates it.
    pub fn open(output: &Path) -> Result<Self> {
        let path = path(output);
        let open = || -> io::Result<File> {
            let mut file = files::open_to_append(&path)?;
            if file.metadata()?.len() == 0 {
                file.write_all(line(HEAD).as_bytes())?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| unwritable(&path, &error))?;
        Ok(Self { path, file })
    }

    /// Replaces the index by one with these names.
    pub fn replace<'a>(output: &Path, names: impl Iterator<Item = &'a str>) -> Result<Self> {
        let text: String = std::iter::once(HEAD).chain(names).map(line).collect();
        write_whole(&path(output), text.as_bytes())?;
        Self::open(output)
    }

    /// Appends the name of a file that is in the queue.
    pub fn add(&mut self, name: &str) -> Result<()> {
        // with a single write, so that readers see whole lines
        self.file.write_all(line(name).as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

/// Reader of another client's index, with its position.
#[derive(Debug)]
pub(super) struct Reader {
    folder: Folder,
    /// Inode of the file that was read: the index may be replaced.
    inode: u64,
    read: u64,
    /// Whether the file was damaged, in which case it is not read any further.
    damaged: bool,
}

/// New names in an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Whether the index was replaced: `names` are then all that it has.
    pub anew: bool,
    /// Names in the order of the index.
    pub names: Vec<String>,
}

impl Reader {
    /// Creates a reader of the index of the campaign in `output`.
    pub(super) fn new(output: &Path) -> Self {
        Self { folder: Folder::named(output), inode: 0, read: 0, damaged: false }
    }

    /// Reads the names that are new since the last call. `None` if there is no index, or it is damaged or of another
    /// version.
    pub(super) fn look(&mut self) -> Option<News> {
        let mut file = self.folder.open(FILE).ok()?;
        let found = file.metadata().ok()?;
        let anew = found.ino() != self.inode || found.len() < self.read;
        if self.damaged && !anew {
            return None;
        }
        if !anew && found.len() == self.read {
            return Some(News::default());
        }
        if anew {
            (self.inode, self.read, self.damaged) = (found.ino(), 0, false);
        }
        let mut text = Vec::new();
        file.seek(SeekFrom::Start(self.read)).and_then(|_| file.take(MOST_AT_ONCE).read_to_end(&mut text)).ok()?;
        let names = self.parse(&text);
        self.damaged = names.is_none();
        Some(News { anew, names: names? })
    }

    /// Names in `text`, the continuation of what was read; `None` if it is damaged.
    fn parse(&mut self, text: &[u8]) -> Option<Vec<String>> {
        let is_first = self.read == 0;
        let mut names = Vec::new();
        for (at, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let Some(whole) = line.strip_suffix(b"\n") else {
                // an incomplete line is still being written, and is read the next time
                return (line.len() <= LONGEST_LINE).then_some(names);
            };
            self.read += line.len() as u64;
            match (is_first && at == 0, checked(whole)?) {
                (true, HEAD) => {}
                (true, _) => return None,
                (false, name) => names.push(name.to_owned()),
            }
        }
        Some(names)
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
        let half = line("half");
        index.file.write_all(format!("{}{}", line("b"), &half[..2]).as_bytes()).unwrap();
        assert_eq!((reader.look(), reader.look()), (news(false, &["b"]), news(false, &[])));
        index.file.write_all(&half.as_bytes()[2..]).unwrap();
        assert_eq!(reader.look(), news(false, &["half"]));
        let mut index = Index::replace(folder.path(), ["a", "b", "half"].into_iter()).unwrap();
        index.add("c").unwrap();
        assert_eq!(reader.look(), news(true, &["a", "b", "half", "c"]));
        Index::open(folder.path()).unwrap().add("d").unwrap();
        assert_eq!(reader.look(), news(false, &["d"]));
    }

    #[test]
    fn an_index_that_is_new_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..60_000).map(|number| format!("id_{number:06},src_000000,op_havoc")).collect();
        Index::replace(folder.path(), names.iter().map(String::as_str)).unwrap();
        assert_eq!(Reader::new(folder.path()).look(), Some(News { anew: true, names }));
    }

    #[test]
    fn what_is_damaged_or_of_another_version_is_no_index_until_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = path(folder.path());
        let long = format!("{}{}", line(HEAD), "x".repeat(LONGEST_LINE + 1));
        let other = line("quagmire names 2");
        let changed = format!("{}{}", line(HEAD), line("id_000001").replace("id", "ie"));
        for text in ["id_000000\n", &long, &other, &changed] {
            std::fs::write(&file, text).unwrap();
            let mut reader = Reader::new(folder.path());
            assert_eq!((reader.look(), reader.look()), (None, None), "{text}");
            Index::replace(folder.path(), ["a"].into_iter()).unwrap();
            assert_eq!(reader.look().unwrap().names, ["a"]);
            std::fs::remove_file(&file).unwrap();
        }
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert_eq!(Reader::new(folder.path()).look(), None);
        assert!(Index::open(folder.path()).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic_or_repeat_itself(bytes: Vec<u8>, names in proptest::collection::vec("[a-z_0-9]{0,20}", 0..5)) {
            let valid: String = std::iter::once(HEAD).chain(names.iter().map(String::as_str)).map(line).collect();
            let mut reader = Reader::new(Path::new("nowhere"));
            proptest::prop_assert_eq!(reader.parse(valid.as_bytes()), Some(names));
            let read = reader.read;
            let _ = reader.parse(&bytes);
            proptest::prop_assert!(reader.read <= read + bytes.len() as u64);
            let _ = Reader::new(Path::new("nowhere")).parse(&bytes);
        }
    }
}
