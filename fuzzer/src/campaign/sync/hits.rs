//! Hits of each branch by one campaign, as a file for the others, by which they know what is rare for all together.

use std::{io, time::SystemTime};

use serde::{Deserialize, Serialize};

use quagmire_base::{
    atomic::unwritable,
    error::Result,
    files::{
        Folder, is_refused,
        sealed::{Damage, FileKind},
    },
};

/// Name of the file; hidden, since it is not for people.
const FILE: &str = ".hits";

/// Kind of the file; its size limit has room for three million branches.
const KIND: FileKind = FileKind { mark: *b"QGMHITS\n", version: 1, largest: 16 << 20 };

/// Hits of the branches of one campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hits {
    /// Fingerprint of the program that the branch numbers belong to.
    pub fingerprint: u64,
    /// Pairs of branch number and number of runs that hit it; branches without hits are left out.
    pub of: Vec<(u32, u64)>,
}

impl Hits {
    /// Creates the hits from those of all branches, in the order of their numbers.
    pub fn new(fingerprint: u64, all: impl Iterator<Item = u64>) -> Self {
        let of = (0u32..).zip(all).filter(|&(_, hits)| hits > 0).collect();
        Self { fingerprint, of }
    }

    /// Writes the file into the folder of a campaign.
    pub fn write(&self, folder: &Folder) -> Result<()> {
        let written = KIND.seal(self).map_err(io::Error::other).and_then(|bytes| folder.write_whole(FILE, &bytes));
        written.map_err(|error| unwritable(&folder.path().join(FILE), &error))
    }

    /// Reads the file of a campaign, unless it was last modified at `known`, which becomes the new time. `None` if
    /// there is nothing new, or if another version of quagmire wrote it.
    ///
    /// # Errors
    /// In a few words, if the file is invalid.
    pub fn read(folder: &Folder, known: &mut Option<SystemTime>) -> Result<Option<Self>, String> {
        let mut read = || -> io::Result<Option<Vec<u8>>> {
            let file = folder.open(FILE)?;
            let written = file.metadata()?.modified().ok();
            if known.is_some() && *known == written {
                return Ok(None);
            }
            *known = written;
            quagmire_base::files::read_up_to(&file, KIND.largest).map(Some)
        };
        match read() {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => match KIND.open(&bytes) {
                Ok(hits) => Ok(Some(hits)),
                Err(Damage::Version) => Ok(None),
                Err(damage) => Err(format!("its {FILE}: {damage}")),
            },
            Err(error) if is_refused(&error) => Err(format!("its {FILE}: {error}")),
            Err(_) => Ok(None),
        }
    }

    /// Adds the hits to `sum`, which is indexed by branch number.
    pub fn add_to(&self, sum: &mut [u64]) {
        for &(branch, hits) in &self.of {
            if let Some(sum) = sum.get_mut(branch as usize) {
                *sum = sum.saturating_add(hits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(folder: &tempfile::TempDir) -> Result<Option<Hits>, String> {
        Hits::read(&Folder::named(folder.path()), &mut None)
    }

    #[test]
    fn hits_come_back_and_add_up() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder), Ok(None));
        let hits = Hits::new(7, [0, 3, 0, 1 << 40].into_iter());
        hits.write(&Folder::named(folder.path())).unwrap();
        let read = read(&folder).unwrap().unwrap();
        assert_eq!(read, hits);
        let mut sum = [1, 1, 1];
        read.add_to(&mut sum);
        assert_eq!(sum, [1, 4, 1]);
    }

    #[test]
    fn damaged_ones_and_what_is_no_file_are_refused_and_those_of_another_version_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, [0xff; 30]).unwrap();
        assert!(read(&folder).unwrap_err().contains(".hits: it is something else"));
        std::fs::write(&path, FileKind { version: 99, ..KIND }.seal(&Hits::default()).unwrap()).unwrap();
        assert_eq!(read(&folder), Ok(None));
        std::fs::File::create(&path).unwrap().set_len(100 << 30).unwrap();
        assert!(read(&folder).unwrap_err().contains("larger than"));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(read(&folder).unwrap_err().contains("link"));
    }

    #[test]
    fn hits_are_read_when_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let of = Folder::named(folder.path());
        let hits = Hits::new(1, [1].into_iter());
        hits.write(&of).unwrap();
        let mut known = None;
        assert_eq!(Hits::read(&of, &mut known), Ok(Some(hits)));
        assert_eq!(Hits::read(&of, &mut known), Ok(None));
    }

    proptest! {
        #[test]
        fn hits_of_any_branches_are_added_without_a_panic(of: Vec<(u32, u64)>, at in 0usize..200, to: u8) {
            let hits = Hits { fingerprint: 1, of };
            let mut bytes = KIND.seal(&hits).unwrap();
            hits.add_to(&mut [u64::MAX - 1; 3]);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = to;
            }
            let _ = KIND.open::<Hits>(&bytes);
        }
    }
}
