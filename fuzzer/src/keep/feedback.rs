//! LibAFL's view of keeping: a [`Feedback`] over the history and the champions.

use std::{borrow::Cow, cell::RefCell, collections::HashSet, rc::Rc};

use libafl::{
    Error,
    corpus::Testcase,
    executors::ExitKind,
    feedbacks::{Feedback, StateInitializer},
    inputs::HasMutatorBytes,
};
use libafl_bolts::{Named, hash_std};
use serde::{Deserialize, Serialize};

use super::{
    champions::Champions,
    effort::Effort,
    history::{History, Novelty},
};
use crate::target::{abi::Status, counts::CountsObserver, executor::Observers};

/// What keeping knows; part of the campaign's saved state. Shared by feedback, scheduler and stages of one client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    /// What was seen.
    pub history: History,
    /// Who is best at what.
    pub champions: Champions,
    /// What was spent on which aim.
    pub effort: Effort,
    /// Hashes of what was kept: an unstable target can make the same input look new again.
    contents: HashSet<u64>,
    /// Why the last execution was interesting.
    #[serde(skip)]
    pub novelty: Novelty,
}

impl Kept {
    /// Makes room for a program of this many edges.
    pub fn grow(&mut self, edges: usize) {
        self.history.grow(edges);
        self.champions.grow(edges);
    }

    /// Takes in the run that `counts` shows as entry number `entry` of the corpus, and returns the entries that do not
    /// matter any more.
    pub fn enter(&mut self, entry: u32, bytes: &[u8], counts: &CountsObserver) -> Vec<u32> {
        self.grow(counts.program().edges());
        self.contents.insert(hash_std(bytes));
        for &function in counts.ran() {
            let (first, counts) = counts.counts(function);
            self.history.learn(first, counts);
        }
        self.history.learn_total(counts.cost().instructions);
        let all = counts.ran().iter().map(|&function| counts.counts(function));
        self.champions.enter(entry, counts.cost().instructions, bytes.len() as u64, all)
    }

    /// Judges the run that `counts` shows.
    pub fn judge(&mut self, counts: &CountsObserver) -> Novelty {
        self.grow(counts.program().edges());
        let mut novelty = Novelty::default();
        for &function in counts.changed() {
            let (first, counts) = counts.counts(function);
            self.history.compare(first, counts, &mut novelty);
        }
        novelty.total = self.history.is_largest_total(counts.cost().instructions);
        self.novelty = novelty;
        novelty
    }
}

/// Keeps an input for a new bucket, a new maximum of an edge, or a new total. Rejected runs, crashes and hangs are never
/// kept in the corpus.
#[derive(Debug)]
pub struct KeepFeedback {
    kept: Rc<RefCell<Kept>>,
}

impl KeepFeedback {
    /// A feedback over shared knowledge.
    pub fn new(kept: Rc<RefCell<Kept>>) -> Self {
        Self { kept }
    }
}

impl Named for KeepFeedback {
    fn name(&self) -> &Cow<'static, str> {
        const NAME: &Cow<'static, str> = &Cow::Borrowed("keep");
        NAME
    }
}

impl<S> StateInitializer<S> for KeepFeedback {}

impl<EM, I, S> Feedback<EM, I, Observers, S> for KeepFeedback
where
    I: HasMutatorBytes,
{
    fn is_interesting(
        &mut self,
        _state: &mut S,
        _manager: &mut EM,
        input: &I,
        observers: &Observers,
        _exit_kind: &ExitKind,
    ) -> Result<bool, Error> {
        let novelty = self.kept.borrow_mut().judge(&observers.0);
        Ok(observers.0.status() == Status::Returned
            && novelty.any()
            && !self.kept.borrow().contents.contains(&hash_std(input.mutator_bytes())))
    }

    fn append_metadata(
        &mut self,
        _state: &mut S,
        _manager: &mut EM,
        _observers: &Observers,
        _testcase: &mut Testcase<I>,
    ) -> Result<(), Error> {
        Ok(()) // the entry's number is known after it was added: the stage enters it (`Kept::enter`)
    }
}
