//! What a campaign needs to go on: kept in memory for the next worker, and on disk for `--resume`.

use std::{
    fs::File,
    io::{Read, Seek, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use libafl::{corpus::InMemoryCorpus, inputs::BytesInput, state::StdState};
use libafl_bolts::rands::StdRand;
use serde::{Deserialize, Serialize};

use super::record::Record;
use crate::{
    error::{Error, ExitCode, Result},
    keep::feedback::Kept,
    output::write_whole,
    target::{process::memory_file, program::Program},
};

/// LibAFL's state of a campaign.
pub type State = StdState<InMemoryCorpus<BytesInput>, BytesInput, StdRand, InMemoryCorpus<BytesInput>>;

/// Name of the checkpoint in the output folder.
const FILE: &str = ".checkpoint";

/// A campaign at one moment, borrowed for writing.
#[derive(Serialize)]
pub struct CheckpointRef<'a> {
    /// Of the program that it belongs to.
    pub fingerprint: u64,
    /// LibAFL's.
    pub state: &'a State,
    /// What is known of what was seen.
    pub kept: &'a Kept,
    /// Everything else.
    pub record: &'a Record,
}

/// A campaign at one moment.
#[derive(Deserialize)]
pub struct Checkpoint {
    /// Of the program that it belongs to.
    pub fingerprint: u64,
    /// LibAFL's.
    pub state: State,
    /// What is known of what was seen.
    pub kept: Kept,
    /// Everything else.
    pub record: Record,
}

/// Tells programs apart whose edges do not have the same numbers.
pub fn fingerprint(program: &Program) -> u64 {
    program.functions().iter().fold(program.edges() as u64, |hash, function| {
        let weights =
            function.weights().iter().fold(u64::from(function.edges), |a, &w| a.rotate_left(7) ^ u64::from(w));
        (hash.rotate_left(11) ^ weights).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

impl CheckpointRef<'_> {
    /// As bytes.
    ///
    /// # Errors
    /// If something in it cannot be written down, which would be a mistake in quagmire.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(|error| Error::other(format!("cannot save the campaign's state: {error}")))
    }
}

impl Checkpoint {
    /// From bytes that `to_bytes` gave.
    ///
    /// # Errors
    /// If they are damaged or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        postcard::from_bytes(bytes).map_err(|error| Error::other(format!("damaged checkpoint: {error}")))
    }

    /// From an output folder; `None` if there is no readable one.
    pub fn read(folder: &Path) -> Option<Self> {
        Self::from_bytes(&std::fs::read(path(folder)).ok()?).ok()
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Writes a checkpoint to an output folder.
pub fn write(folder: &Path, bytes: &[u8]) -> Result<()> {
    write_whole(&path(folder), bytes)
}

/// Memory that survives a worker: its last checkpoint, and its last words.
#[derive(Debug)]
pub struct Vault {
    /// One holds the last checkpoint, the other is for the next: a worker may be killed while it writes.
    checkpoints: [File; 2],
    /// Which one holds the last: a byte.
    last: File,
    error: File,
}

impl Vault {
    /// An empty one.
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
        // nothing is there before the first
        let _ = self.last.read_at(&mut last, 0);
        usize::from(last[0] & 1)
    }

    /// Keeps a checkpoint for the next worker.
    ///
    /// # Errors
    /// If memory is full.
    pub fn store(&self, bytes: &[u8]) -> Result<()> {
        let next = 1 - self.last();
        replace(&self.checkpoints[next], bytes)
            .and_then(|()| self.last.write_all_at(&[next as u8], 0))
            .map_err(|error| Error::other(format!("cannot keep a checkpoint: {error}")))
    }

    /// The last checkpoint, if there is one.
    pub fn load(&self) -> Option<Checkpoint> {
        let bytes = contents(&self.checkpoints[self.last()])?;
        if bytes.is_empty() { None } else { Checkpoint::from_bytes(&bytes).ok() }
    }

    /// For a worker that cannot go on.
    pub fn set_error(&self, error: &Error) {
        let mut bytes = vec![error.code as u8];
        bytes.extend(error.message.as_bytes());
        // nobody is left to tell if this fails: the exit code says the rest
        let _ = replace(&self.error, &bytes);
    }

    /// What the last worker said.
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
    use super::*;

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
}
