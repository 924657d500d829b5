//! How often a campaign has hit each branch, for the others: what is rare for all of them together.

use std::{path::Path, time::SystemTime};

use serde::{Deserialize, Serialize};

use crate::{error::Result, output::write_whole};

/// Hidden: it is no input, and nothing for people.
const FILE: &str = ".hits";

/// The branches that were hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hits {
    /// Of the program that the numbers of the branches belong to.
    pub fingerprint: u64,
    /// Number of a branch, and how many runs hit it.
    pub of: Vec<(u32, u64)>,
}

impl Hits {
    /// From the hits of all branches of a program.
    pub fn new(fingerprint: u64, all: impl Iterator<Item = u64>) -> Self {
        let of = (0u32..).zip(all).filter(|&(_, hits)| hits > 0).collect();
        Self { fingerprint, of }
    }

    /// Writes them into the folder of a campaign.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let bytes = postcard::to_stdvec(self).unwrap_or_default();
        write_whole(&folder.join(FILE), &bytes)
    }

    /// When those of a campaign were written; `None` if they were not.
    pub fn written(folder: &Path) -> Option<SystemTime> {
        std::fs::metadata(folder.join(FILE)).and_then(|file| file.modified()).ok()
    }

    /// Reads those of a campaign; `None` if it has none that can be read.
    pub fn read(folder: &Path) -> Option<Self> {
        postcard::from_bytes(&std::fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// Adds them to `sum`, those of one more campaign over the same program.
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

    #[test]
    fn hits_come_back_and_add_up() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Hits::read(folder.path()), None);
        let hits = Hits::new(7, [0, 3, 0, 1 << 40].into_iter());
        hits.write(folder.path()).unwrap();
        let read = Hits::read(folder.path()).unwrap();
        assert_eq!(read, hits);
        let mut sum = [1, 1, 1];
        read.add_to(&mut sum);
        assert_eq!(sum, [1, 4, 1]);
    }

    #[test]
    fn damaged_ones_are_none() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), [0xff; 3]).unwrap();
        assert_eq!(Hits::read(folder.path()), None);
    }
}
