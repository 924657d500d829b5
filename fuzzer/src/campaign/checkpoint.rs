//! Checkpoint of a campaign: kept in memory for the next worker, and on disk for `--resume`.

use std::{
    fs::File,
    io::{Read, Seek, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::record::Record;
use quagmire_base::{
    atomic::write_durably,
    error::{Error, ExitCode, Result},
    files::{
        self,
        sealed::{Damage, FileKind},
    },
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{process::memory_file, program::Program};
use quagmire_search::{corpus::search_state::SearchState, state::SavedState};

/// Name of the checkpoint in the output folder.
const FILE: &str = ".checkpoint";

/// Kind of that file; its version changes with the table of resources.
const KIND: FileKind = FileKind { mark: *b"QGMSTATE", version: Resource::LAYOUT.wrapping_add(18), largest: 16 << 30 };

/// State of a campaign, borrowed for writing.
#[derive(Serialize)]
pub struct CheckpointRef<'a> {
    /// Fingerprint of the program ([`fingerprint`]).
    pub fingerprint: u64,
    /// LibAFL's state.
    pub state: SavedState,
    /// Knowledge of the search.
    pub search: &'a SearchState,
    /// Record of entries and findings.
    pub record: &'a Record,
}

/// State of a campaign, as read.
#[derive(Deserialize)]
pub struct Checkpoint {
    /// Fingerprint of the program ([`fingerprint`]).
    pub fingerprint: u64,
    /// LibAFL's state.
    pub state: SavedState,
    /// Knowledge of the search.
    pub search: SearchState,
    /// Record of entries and findings.
    pub record: Record,
}

/// Hash of the program's functions, edges and weights: in programs with the same hash, edges have the same numbers.
pub fn fingerprint(program: &Program) -> u64 {
    program.functions().iter().fold(program.edges() as u64, |hash, function| {
        let weights =
            function.weights().iter().fold(u64::from(function.edges), |a, &w| a.rotate_left(7) ^ u64::from(w));
        (hash.rotate_left(11) ^ weights).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

impl CheckpointRef<'_> {
    /// Serialises the checkpoint.
    ///
    /// # Errors
    /// If something cannot be serialised, which would be a bug in quagmire.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        KIND.seal(self).map_err(|error| Error::other(format!("cannot save the campaign's state: {error}")))
    }
}

impl Checkpoint {
    /// Reads a checkpoint from the bytes of a file, which may hold anything.
    ///
    /// # Errors
    /// If they are damaged, of another version, or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damage> {
        let checkpoint: Self = KIND.open(bytes)?;
        if checkpoint.is_sound() { Ok(checkpoint) } else { Err(Damage::Contents) }
    }

    /// Reads the checkpoint of an output folder; `None` if there is none.
    ///
    /// # Errors
    /// If it is invalid or of another version: the reason in a few words.
    pub fn read(folder: &Path) -> Result<Option<Self>, String> {
        match files::read(&path(folder), KIND.largest) {
            Ok(bytes) => Self::from_bytes(&bytes).map(Some).map_err(|damage| damage.to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether its parts are consistent, and file names lead to no other folder: somebody else may have made it up.
    fn is_sound(&self) -> bool {
        let entries = self.record.entries.len();
        self.record.is_sound() && self.search.is_sound(entries) && self.state.is_sound(entries)
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Size of the checkpoint in an output folder, in bytes; 0 if there is none.
pub fn size(folder: &Path) -> u64 {
    path(folder).metadata().map_or(0, |known| known.len())
}

/// Writes a checkpoint to an output folder, atomically.
pub fn write(folder: &Path, bytes: &[u8]) -> Result<()> {
    write_durably(&path(folder), bytes)
}

/// Memory that survives a worker: its last checkpoint, and its last error.
#[derive(Debug)]
pub struct Vault {
    /// One file holds the last checkpoint, the other is for the next: a worker may be killed while it writes.
    checkpoints: [File; 2],
    /// Index of the file with the last checkpoint, as one byte.
    last: File,
    error: File,
}

impl Vault {
    /// Creates empty memory.
    ///
    /// # Errors
    /// If the system has no memory files.
    pub fn new() -> Result<Self> {
        let file =
            |name| memory_file(name).map_err(|error| Error::other(format!("cannot make a memory file: {error}")));
        let checkpoint = || file(c"quagmire-checkpoint");
        let last = file(c"quagmire-last-checkpoint")?;
        Ok(Self { checkpoints: [checkpoint()?, checkpoint()?], last, error: file(c"quagmire-error")? })
    }

    fn last(&self) -> usize {
        let mut last = [0];
        // fails before the first checkpoint, and then the index is 0
        let _ = self.last.read_at(&mut last, 0);
        usize::from(last[0] & 1)
    }

    /// Stores a checkpoint for the next worker.
    ///
    /// # Errors
    /// If memory is full.
    pub fn store(&self, bytes: &[u8]) -> Result<()> {
        let next = 1 - self.last();
        replace(&self.checkpoints[next], bytes)
            .and_then(|()| self.last.write_all_at(&[next as u8], 0))
            .map_err(|error| Error::other(format!("cannot keep a checkpoint: {error}")))
    }

    /// Last checkpoint; `None` before the first one.
    pub fn load(&self) -> Option<Checkpoint> {
        let bytes = contents(&self.checkpoints[self.last()])?;
        // not checked: only workers of this campaign could write it
        if bytes.is_empty() { None } else { KIND.open(&bytes).ok() }
    }

    /// Stores the error of a worker that cannot go on.
    pub fn set_error(&self, error: &Error) {
        let mut bytes = vec![error.code as u8];
        bytes.extend(error.message.as_bytes());
        // a failure is ignored: the exit code of the worker tells the kind of error
        let _ = replace(&self.error, &bytes);
    }

    /// Error that the last worker stored; `None` if it stored none.
    pub fn take_error(&self) -> Option<Error> {
        let bytes = contents(&self.error)?;
        let (&code, message) = bytes.split_first()?;
        let code = match code {
            2 => ExitCode::Usage,
            3 => ExitCode::Target,
            _ => ExitCode::Error,
        };
        Some(Error { code, message: String::from_utf8_lossy(message).into_owned() })
    }
}

fn replace(mut file: &File, bytes: &[u8]) -> std::io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

fn contents(mut file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind().ok()?;
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use libafl::{
        corpus::{Corpus, Testcase},
        inputs::BytesInput,
        state::HasCorpus,
    };
    use libafl_bolts::rands::StdRand;

    use super::*;
    use quagmire_results::summary::Finding;
    use quagmire_search::{
        EntryId,
        state::{LibaflState, empty},
    };

    #[test]
    fn a_worker_s_last_words_reach_the_supervisor() {
        let vault = Vault::new().unwrap();
        assert_eq!(vault.take_error(), None);
        vault.set_error(&Error::target("no good"));
        assert_eq!(vault.take_error(), Some(Error::target("no good")));
    }

    #[test]
    fn what_is_half_written_does_not_count() {
        let vault = Vault::new().unwrap();
        let last = |vault: &Vault| contents(&vault.checkpoints[vault.last()]).unwrap();
        for text in [&b"first"[..], b"second", b"3"] {
            vault.store(text).unwrap();
            assert_eq!(last(&vault), text);
        }
        // a worker that is killed while it writes
        replace(&vault.checkpoints[1 - vault.last()], b"half").unwrap();
        assert_eq!(last(&vault), b"3");
    }

    #[test]
    fn an_empty_or_damaged_vault_holds_no_checkpoint() {
        let vault = Vault::new().unwrap();
        assert!(vault.load().is_none());
        vault.store(b"nonsense").unwrap();
        assert!(vault.load().is_none());
    }

    type Parts = (LibaflState, SearchState, Record);

    /// A campaign with two entries.
    fn example() -> Parts {
        let (mut state, mut record) = (empty(StdRand::with_seed(1), Path::new("")).unwrap(), Record::default());
        for (number, parent) in [(0, None), (1, Some(EntryId::new(0)))] {
            let file = format!("id_{number:06}");
            record.entries.push(super::super::record::Entry { file, parent, ..Default::default() });
            state.corpus_mut().add(Testcase::new(BytesInput::new(vec![number]))).unwrap();
        }
        (state, SearchState::default(), record)
    }

    fn bytes((state, search, record): &Parts) -> Vec<u8> {
        let state = SavedState::new(state);
        CheckpointRef { fingerprint: 7, state, search, record }.to_bytes().unwrap()
    }

    fn damage(of: &Parts) -> Option<Damage> {
        Checkpoint::from_bytes(&bytes(of)).err()
    }

    #[test]
    fn a_checkpoint_comes_back_and_a_damaged_one_says_why_it_does_not() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Checkpoint::read(folder.path()).unwrap().is_none());
        let bytes = bytes(&example());
        write(folder.path(), &bytes).unwrap();
        assert_eq!(Checkpoint::read(folder.path()).unwrap().unwrap().record.entries.len(), 2);
        write(folder.path(), &bytes[..bytes.len() / 2]).unwrap();
        assert_eq!(Checkpoint::read(folder.path()).err().unwrap(), "it is damaged");
        write(folder.path(), b"state of 2025").unwrap();
        assert_eq!(Checkpoint::read(folder.path()).err().unwrap(), "it is something else");
        std::fs::remove_file(path(folder.path())).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path(folder.path())).unwrap();
        assert!(Checkpoint::read(folder.path()).err().unwrap().contains("link"));
    }

    #[test]
    fn a_checkpoint_that_was_made_up_is_refused() {
        assert_eq!(damage(&example()), None);
        let with = |change: &dyn Fn(&mut Parts)| {
            let mut made_up = example();
            change(&mut made_up);
            damage(&made_up)
        };
        for file in [
            "../../.ssh/id_000001",
            "/etc/id_000001",
            "id_000001/x",
            "id_000001,orig_/../../x",
            "id_000002",
            "",
            "..",
            "x",
        ] {
            assert_eq!(with(&|all| all.2.entries[1].file = file.into()), Some(Damage::Contents), "{file}");
        }
        let changes: [fn(&mut Parts); 13] = [
            |all| all.2.hashes.extend([("ordinary/../../x".into(), 1)]),
            |all| all.2.findings.push(Finding { path: "degradations/../x".into(), ..Finding::default() }),
            // not in the folder of its kind
            |all| all.2.findings.push(Finding { path: "faults/id_000000".into(), ..Finding::default() }),
            |all| all.2.entries[1].parent = Some(EntryId::new(1)),
            |all| all.2.entries[1].root = EntryId::new(2),
            |all| all.2.entries[1].rules = vec![0],
            |all| all.2.reference = EntryId::new(2),
            |all| {
                all.2.wait(0, EntryId::new(2));
            },
            |all| {
                all.2.large.insert(0, EntryId::new(2));
            },
            |all| all.2.worst = Some(EntryId::new(2)),
            |all| all.2.worst_time = Some((EntryId::new(2), 1.0)),
            |all| drop(all.2.entries.pop()),
            |all| drop(all.0.corpus_mut().add(Testcase::new(BytesInput::new(vec![])))),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            assert_eq!(with(&change), Some(Damage::Contents), "change {at}");
        }
    }

    proptest::proptest! {
        #[test]
        fn changed_bytes_of_a_checkpoint_never_panic(changes: Vec<(usize, u8)>, cut: Option<usize>) {
            let mut contents = bytes(&example()).split_off(16);
            for (at, to) in changes {
                let at = at % contents.len();
                contents[at] = to;
            }
            contents.truncate(cut.map_or(usize::MAX, |cut| cut % 2000));
            // with a checksum that fits
            let head = [&KIND.mark[..], &KIND.version.to_le_bytes(), &crc32fast::hash(&contents).to_le_bytes()].concat();
            let _ = Checkpoint::from_bytes(&[head, contents].concat());
        }
    }
}
