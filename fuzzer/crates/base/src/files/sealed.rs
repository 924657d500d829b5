//! State files with a header: type, version and a checksum before the contents. The checksum detects damage; it is
//! not a signature. Whoever may write the file can produce a valid one, so readers check the contents as well.

use serde::{Serialize, de::DeserializeOwned};

/// Type and version of a state file. Files of another version are not read, which is no error: their contents are
/// computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// Magic number: the first bytes of the file.
    pub mark: [u8; 8],
    /// Format version, increased with every change of how the contents are serialized.
    pub version: u32,
    /// Largest accepted file of this type, in bytes.
    pub largest: u64,
}

/// Reasons why a state file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The magic number is that of another type.
    Kind,
    /// Another version of quagmire wrote it.
    Version,
    /// The checksum does not match: it was truncated or changed.
    Checksum,
    /// The contents cannot be deserialized.
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

/// Length of the header in bytes: magic number, version, checksum.
const HEAD: usize = 16;

impl FileKind {
    /// Serializes the contents and puts the header before them.
    ///
    /// # Errors
    /// If the contents cannot be serialized, which is a bug in quagmire.
    pub fn seal(self, contents: &impl Serialize) -> postcard::Result<Vec<u8>> {
        let mut bytes = postcard::to_extend(contents, [0; HEAD].to_vec())?;
        let checksum = crc32fast::hash(&bytes[HEAD..]);
        let head = [&self.mark[..], &self.version.to_le_bytes(), &checksum.to_le_bytes()].concat();
        bytes[..HEAD].copy_from_slice(&head);
        Ok(bytes)
    }

    /// Checks the header of a file and deserializes its contents.
    ///
    /// # Errors
    /// If it is of another type or version, or damaged.
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

    const KIND: FileKind = FileKind { mark: *b"QGMTEST\n", version: 3, largest: 1 << 10 };

    #[test]
    fn contents_come_back_only_from_a_whole_file_of_this_kind_and_version() {
        let file = KIND.seal(&("text", 7u64)).unwrap();
        let opened = |kind: FileKind, file: &[u8]| kind.open::<(String, u64)>(file);
        assert_eq!(opened(KIND, &file), Ok(("text".to_owned(), 7)));
        assert_eq!(opened(FileKind { version: 4, ..KIND }, &file), Err(Damage::Version));
        assert_eq!(opened(FileKind { mark: *b"QGMOTHER", ..KIND }, &file), Err(Damage::Kind));
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
