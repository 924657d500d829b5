//! Files of state: their kind, their version and a checksum stand before the contents. The checksum tells damaged files from
//! whole ones. It is no signature: whoever may write the file can make a right one, so that contents are checked as well.

use serde::{Serialize, de::DeserializeOwned};

/// A kind of file and its version. A version that has changed makes older files unreadable, which is no error: what they
/// held is found out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The first bytes of the file.
    pub mark: [u8; 8],
    /// Changed with whatever changes how the contents are written.
    pub version: u32,
    /// No such file is larger, in bytes.
    pub largest: u64,
}

/// Why contents cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It is a file of something else.
    Kind,
    /// Another version of quagmire wrote it.
    Version,
    /// It was not written whole, or was changed.
    Checksum,
    /// What it says cannot be.
    Contents,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Kind => "it is something else",
            Self::Version => "another version of quagmire wrote it",
            Self::Checksum => "it is damaged",
            Self::Contents => "it contradicts itself",
        })
    }
}

/// Bytes before the contents: mark, version, checksum.
const HEAD: usize = 16;

impl Kind {
    /// A file with these contents.
    ///
    /// # Errors
    /// If something in them cannot be written down, which would be a mistake in quagmire.
    pub fn seal(self, contents: &impl Serialize) -> postcard::Result<Vec<u8>> {
        let mut bytes = postcard::to_extend(contents, [0; HEAD].to_vec())?;
        let checksum = crc32fast::hash(&bytes[HEAD..]);
        let head = [&self.mark[..], &self.version.to_le_bytes(), &checksum.to_le_bytes()].concat();
        bytes[..HEAD].copy_from_slice(&head);
        Ok(bytes)
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// If it is of another kind or version, or damaged.
    pub fn open<T: DeserializeOwned>(self, file: &[u8]) -> Result<T, Damage> {
        let (head, contents) = file.split_at_checked(HEAD).ok_or(Damage::Kind)?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        match () {
            () if head[..8] != self.mark => Err(Damage::Kind),
            () if number(8) != self.version => Err(Damage::Version),
            () if number(12) != crc32fast::hash(contents) => Err(Damage::Checksum),
            () => match postcard::take_from_bytes(contents) {
                Ok((value, [])) => Ok(value),
                _ => Err(Damage::Contents),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIND: Kind = Kind { mark: *b"QGMTEST\n", version: 3, largest: 1 << 10 };

    #[test]
    fn contents_come_back_only_from_a_whole_file_of_this_kind_and_version() {
        let file = KIND.seal(&("text", 7u64)).unwrap();
        let opened = |kind: Kind, file: &[u8]| kind.open::<(String, u64)>(file);
        assert_eq!(opened(KIND, &file), Ok(("text".to_owned(), 7)));
        assert_eq!(opened(Kind { version: 4, ..KIND }, &file), Err(Damage::Version));
        assert_eq!(opened(Kind { mark: *b"QGMOTHER", ..KIND }, &file), Err(Damage::Kind));
        assert_eq!(opened(KIND, &file[..file.len() - 1]), Err(Damage::Checksum));
        assert_eq!(opened(KIND, &file[..9]), Err(Damage::Kind));
        let more = KIND.seal(&("text", 7u64, 1u8)).unwrap();
        assert_eq!(opened(KIND, &more), Err(Damage::Contents));
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 1;
            assert!(opened(KIND, &changed).is_err(), "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, valid in any::<bool>()) {
            let mut file = bytes;
            if valid {
                let checksum = crc32fast::hash(&file);
                let head = [&KIND.mark[..], &KIND.version.to_le_bytes(), &checksum.to_le_bytes()].concat();
                file.splice(0..0, head);
            }
            let _ = KIND.open::<Vec<(String, Vec<u64>)>>(&file);
        }
    }
}
