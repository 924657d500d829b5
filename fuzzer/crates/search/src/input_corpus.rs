//! LibAFL's corpus of a campaign. Inputs are the files of the queue; in memory are those that were used lately.

use std::{
    cell::RefCell,
    collections::VecDeque,
    path::{Path, PathBuf},
};

use libafl::{
    Error,
    corpus::{Corpus, CorpusId, InMemoryCorpus, Testcase},
    inputs::BytesInput,
};
use serde::{Deserialize, Serialize};

use quagmire_base::files;

/// Largest size of the inputs in memory, in bytes.
const IN_MEMORY: usize = 64 << 20;

/// Inputs that can be read again, and are in memory.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Loaded {
    /// Entries and the sizes of their inputs, the one that was loaded first in front.
    order: VecDeque<(CorpusId, usize)>,
    bytes: usize,
}

/// Corpus that reads inputs from the queue when they are used, and keeps a limited number of bytes of them in memory. An
/// entry without a file name stays in memory. LibAFL wants it to be serialisable.
#[derive(Debug, Serialize, Deserialize)]
pub struct InputCorpus {
    entries: InMemoryCorpus<BytesInput>,
    queue: PathBuf,
    in_memory: usize,
    loaded: RefCell<Loaded>,
}

impl InputCorpus {
    /// Creates a corpus without entries, whose files are in the folder `queue`.
    pub fn new(queue: &Path) -> Self {
        let (entries, queue) = (InMemoryCorpus::new(), queue.to_owned());
        Self { entries, queue, in_memory: IN_MEMORY, loaded: RefCell::default() }
    }

    /// Adds an entry whose input is in the file of this name.
    ///
    /// # Errors
    /// Errors of LibAFL, which would be bugs in quagmire.
    pub fn add_file(&mut self, file: String) -> Result<CorpusId, Error> {
        let mut testcase = Testcase::with_filename(BytesInput::default(), file);
        *testcase.input_mut() = None;
        self.entries.add(testcase)
    }

    /// Reads the input of an entry if it is not in memory.
    fn load<'a>(&self, id: CorpusId, testcase: &'a RefCell<Testcase<BytesInput>>) -> &'a RefCell<Testcase<BytesInput>> {
        // what is borrowed is in use, and so in memory
        if let Ok(mut known) = testcase.try_borrow_mut()
            && known.input().is_none()
            && let Some(bytes) = self.read(&known)
        {
            let size = bytes.len();
            known.set_input(BytesInput::new(bytes));
            drop(known);
            self.note(id, size);
        }
        testcase
    }

    /// Reads the input of an entry from its file; `None` if somebody has removed that.
    fn read(&self, testcase: &Testcase<BytesInput>) -> Option<Vec<u8>> {
        files::read(&self.queue.join(testcase.filename().as_ref()?), files::LARGEST_INPUT).ok()
    }

    /// Notes that the input of an entry is in memory, and drops those that were loaded first if they are too large together.
    fn note(&self, id: CorpusId, bytes: usize) {
        let mut loaded = self.loaded.borrow_mut();
        loaded.order.push_back((id, bytes));
        loaded.bytes += bytes;
        for _ in 1..loaded.order.len() {
            if loaded.bytes <= self.in_memory {
                break;
            }
            let Some((oldest, size)) = loaded.order.pop_front() else { break };
            match self.entries.get(oldest).map(RefCell::try_borrow_mut) {
                Ok(Err(_)) => loaded.order.push_back((oldest, size)),
                Ok(Ok(mut oldest)) => {
                    *oldest.input_mut() = None;
                    loaded.bytes -= size;
                }
                // evicted meanwhile
                Err(_) => loaded.bytes -= size,
            }
        }
    }
}

impl Corpus<BytesInput> for InputCorpus {
    fn count(&self) -> usize {
        self.entries.count()
    }

    fn count_disabled(&self) -> usize {
        self.entries.count_disabled()
    }

    fn count_all(&self) -> usize {
        self.entries.count_all()
    }

    fn add(&mut self, testcase: Testcase<BytesInput>) -> Result<CorpusId, Error> {
        let size = testcase.input().as_ref().map_or(0, |input| input.as_ref().len());
        let is_file = testcase.filename().is_some();
        let id = self.entries.add(testcase)?;
        if is_file {
            self.note(id, size);
        }
        Ok(id)
    }

    fn add_disabled(&mut self, testcase: Testcase<BytesInput>) -> Result<CorpusId, Error> {
        self.entries.add_disabled(testcase)
    }

    fn replace(&mut self, id: CorpusId, testcase: Testcase<BytesInput>) -> Result<Testcase<BytesInput>, Error> {
        self.entries.replace(id, testcase)
    }

    fn remove(&mut self, id: CorpusId) -> Result<Testcase<BytesInput>, Error> {
        self.entries.remove(id)
    }

    fn get(&self, id: CorpusId) -> Result<&RefCell<Testcase<BytesInput>>, Error> {
        self.entries.get(id).map(|testcase| self.load(id, testcase))
    }

    fn get_from_all(&self, id: CorpusId) -> Result<&RefCell<Testcase<BytesInput>>, Error> {
        self.entries.get_from_all(id).map(|testcase| self.load(id, testcase))
    }

    fn current(&self) -> &Option<CorpusId> {
        self.entries.current()
    }

    fn current_mut(&mut self) -> &mut Option<CorpusId> {
        self.entries.current_mut()
    }

    fn next(&self, id: CorpusId) -> Option<CorpusId> {
        self.entries.next(id)
    }

    fn peek_free_id(&self) -> CorpusId {
        self.entries.peek_free_id()
    }

    fn prev(&self, id: CorpusId) -> Option<CorpusId> {
        self.entries.prev(id)
    }

    fn first(&self) -> Option<CorpusId> {
        self.entries.first()
    }

    fn last(&self) -> Option<CorpusId> {
        self.entries.last()
    }

    fn nth(&self, nth: usize) -> CorpusId {
        self.entries.nth(nth)
    }

    fn nth_from_all(&self, nth: usize) -> CorpusId {
        self.entries.nth_from_all(nth)
    }

    fn load_input_into(&self, testcase: &mut Testcase<BytesInput>) -> Result<(), Error> {
        if testcase.input().is_none() {
            let bytes = self.read(testcase).unwrap_or_default();
            testcase.set_input(BytesInput::new(bytes));
        }
        Ok(())
    }

    /// Copy of an input; empty if its file was removed, as long as that is gone.
    fn cloned_input_for_id(&self, id: CorpusId) -> Result<BytesInput, Error> {
        Ok(self.get(id)?.borrow().input().clone().unwrap_or_default())
    }

    fn store_input_from(&self, testcase: &Testcase<BytesInput>) -> Result<(), Error> {
        self.entries.store_input_from(testcase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_when_they_are_used_and_a_limited_number_of_bytes_stays_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut corpus = InputCorpus { in_memory: 6, ..InputCorpus::new(folder.path()) };
        for (file, bytes) in [("a", b"aaa"), ("b", b"bbb")] {
            std::fs::write(folder.path().join(file), bytes).unwrap();
            corpus.add_file(file.into()).unwrap();
        }
        std::fs::write(folder.path().join("c"), b"ccc").unwrap();
        corpus.add(Testcase::with_filename(BytesInput::new(b"ccc".to_vec()), "c".into())).unwrap();
        corpus.add(Testcase::new(BytesInput::new(b"without a file".to_vec()))).unwrap();
        let in_memory = |corpus: &InputCorpus| -> Vec<bool> {
            corpus.ids().map(|id| corpus.entries.get(id).unwrap().borrow().input().is_some()).collect()
        };
        let bytes = |id| Vec::from(corpus.cloned_input_for_id(CorpusId(id)).unwrap());
        assert_eq!(in_memory(&corpus), [false, false, true, true]);
        assert_eq!(bytes(0), b"aaa");
        assert_eq!(in_memory(&corpus), [true, false, true, true]);
        assert_eq!(bytes(1), b"bbb");
        assert_eq!(in_memory(&corpus), [true, true, false, true]);
        // what is in use stays
        let first = corpus.get(CorpusId(0)).unwrap().borrow_mut();
        assert_eq!(bytes(2), b"ccc");
        drop(first);
        assert_eq!(in_memory(&corpus), [true, false, true, true]);
        assert_eq!(bytes(3), b"without a file");
        // of a removed file, nothing is left until it is restored
        std::fs::remove_file(folder.path().join("b")).unwrap();
        assert_eq!(bytes(1), b"");
        std::fs::write(folder.path().join("b"), b"bbb").unwrap();
        assert_eq!(bytes(1), b"bbb");
        corpus.remove(CorpusId(0)).unwrap();
        assert!(corpus.get(CorpusId(0)).is_err());
        assert_eq!(corpus.peek_free_id(), CorpusId(4));
    }
}
