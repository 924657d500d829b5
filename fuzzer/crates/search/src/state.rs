//! State of a campaign, which LibAFL hands to the scheduler and to every stage.

use std::{
    cell::{Ref, RefMut},
    path::Path,
    sync::atomic::Ordering::Relaxed,
    time::Duration,
};

use libafl::{
    Error, HasMetadata,
    corpus::{Corpus, CorpusId, HasCurrentCorpusId, HasTestcase, InMemoryCorpus, Testcase},
    inputs::BytesInput,
    stages::StageId,
    state::{
        HasCorpus, HasCurrentStageId, HasExecutions, HasImported, HasLastFoundTime, HasLastReportTime, HasRand,
        HasSolutions, StdState, Stoppable,
    },
};
use libafl_bolts::{rands::StdRand, serdeany::SerdeAnyMap};
use serde::{Deserialize, Serialize};

use crate::{
    EntryId,
    corpus::search_state::SearchState,
    hooks::{CampaignHooks, Interruption, Moment},
    input_corpus::InputCorpus,
};
use quagmire_base::error::{Error as OurError, Result as OurResult};
use quagmire_execution::{
    counts::CountsObserver,
    timer::{TICKED, WORN_OUT},
};

/// LibAFL's part of the state: corpus, random numbers, counters. Solutions are files of the campaign, and not in it.
pub type LibaflState = StdState<InputCorpus, BytesInput, StdRand, InMemoryCorpus<BytesInput>>;

/// State of a campaign in one worker: LibAFL's, the knowledge of the search, and the services of the campaign.
pub struct CampaignState<H> {
    /// Corpus, random numbers, counters.
    pub libafl: LibaflState,
    /// Knowledge of the search.
    pub search: SearchState,
    /// Services of the campaign.
    pub hooks: H,
    /// Reason why the current work is given up; stages return when they see one.
    pub interruption: Interruption,
    /// Whether each run is a process of its own, so that a crash ends nothing else.
    pub is_isolated: bool,
}

impl<H: CampaignHooks> CampaignState<H> {
    /// Creates a state without an interruption; `is_isolated` if each run is a process of its own.
    pub fn new(libafl: LibaflState, search: SearchState, hooks: H, is_isolated: bool) -> Self {
        Self { libafl, search, hooks, interruption: Interruption::None, is_isolated }
    }

    /// Gives up the current work after a run that ended early in this process: the target's memory is in an unknown
    /// state until the target is loaded afresh. Does nothing if runs have processes of their own.
    pub fn ended_early(&mut self) {
        if !self.is_isolated {
            self.interruption = Interruption::Restart;
        }
    }

    /// Whether the current work was given up.
    pub fn is_interrupted(&self) -> bool {
        self.interruption != Interruption::None
    }

    /// Converts an error of quagmire into the error that ends LibAFL's loop, and remembers it as the interruption.
    ///
    /// # Errors
    /// If `result` is one.
    pub fn check<T>(&mut self, result: OurResult<T>) -> Result<T, Error> {
        result.map_err(|error| {
            self.interruption = Interruption::Failed(error);
            Error::shutting_down()
        })
    }

    /// Converts LibAFL's error back into the error of quagmire that caused it.
    pub fn reason(&self, error: &Error) -> OurError {
        match &self.interruption {
            Interruption::Failed(reason) => reason.clone(),
            _ => OurError::other(format!("LibAFL: {error}")),
        }
    }

    /// Does the work that is due after a run, whose counts are given: reacts to a timer tick and to the end of the
    /// campaign. Returns whether to give up the current work.
    ///
    /// # Errors
    /// If a file that was due could not be written.
    pub fn look(&mut self, counts: &CountsObserver) -> Result<bool, Error> {
        let executions = *self.libafl.executions();
        if TICKED.load(Relaxed) {
            TICKED.store(false, Relaxed);
            let done = self.hooks.tick(Moment::of(executions, counts.program()), &self.search);
            self.check(done)?;
            if WORN_OUT.load(Relaxed) {
                self.interruption = Interruption::Restart;
            }
        }
        if self.hooks.is_over(executions) && !self.is_interrupted() {
            self.interruption = Interruption::Over;
        }
        Ok(self.is_interrupted())
    }
}

/// Creates LibAFL's state without entries, whose inputs are in the folder `queue`.
///
/// # Errors
/// Errors of LibAFL, which would be bugs in quagmire.
pub fn empty(rand: StdRand, queue: &Path) -> Result<LibaflState, Error> {
    StdState::new(rand, InputCorpus::new(queue), InMemoryCorpus::new(), &mut (), &mut ())
}

/// LibAFL's state as checkpoints hold it: the parts that a campaign needs, since LibAFL's own reader panics at bytes that
/// are no state. The inputs are in the queue.
#[derive(Serialize, Deserialize)]
pub struct SavedState {
    /// Number of entries, with those that were evicted.
    entries: usize,
    /// Entries that were not evicted, in ascending order.
    kept: Vec<EntryId>,
    rand: StdRand,
    executions: u64,
}

impl SavedState {
    /// Takes the parts that are saved.
    pub fn new(state: &LibaflState) -> Self {
        let corpus = state.corpus();
        Self {
            entries: corpus.peek_free_id().0,
            kept: corpus.ids().map(EntryId::from).collect(),
            rand: *state.rand(),
            executions: *state.executions(),
        }
    }

    /// Whether it is of so many entries.
    pub fn is_sound(&self, entries: usize) -> bool {
        let is_ascending = self.kept.is_sorted_by(|one, next| one < next);
        self.entries == entries && is_ascending && self.kept.last().is_none_or(|last| last.index() < entries)
    }

    /// Makes LibAFL's state of it. `files` are the names of the files of all entries in the folder `queue`, in the order of
    /// their numbers.
    ///
    /// # Errors
    /// Errors of LibAFL, which would be bugs in quagmire.
    pub fn restore<'a>(self, queue: &Path, files: impl Iterator<Item = &'a str>) -> Result<LibaflState, Error> {
        let mut state = empty(self.rand, queue)?;
        let mut kept = self.kept.into_iter().peekable();
        for file in files {
            let id = state.corpus_mut().add_file(file.to_owned())?;
            if kept.next_if_eq(&EntryId::from(id)).is_none() {
                state.corpus_mut().remove(id)?;
            }
        }
        *state.executions_mut() = self.executions;
        Ok(state)
    }
}

// LibAFL's `fuzz_one` asks for all of these: they are passed on to LibAFL's own state.

impl<H> HasCorpus<BytesInput> for CampaignState<H> {
    type Corpus = InputCorpus;

    fn corpus(&self) -> &InputCorpus {
        self.libafl.corpus()
    }

    fn corpus_mut(&mut self) -> &mut InputCorpus {
        self.libafl.corpus_mut()
    }
}

impl<H> HasExecutions for CampaignState<H> {
    fn executions(&self) -> &u64 {
        self.libafl.executions()
    }

    fn executions_mut(&mut self) -> &mut u64 {
        self.libafl.executions_mut()
    }
}

impl<H> HasMetadata for CampaignState<H> {
    fn metadata_map(&self) -> &SerdeAnyMap {
        self.libafl.metadata_map()
    }

    fn metadata_map_mut(&mut self) -> &mut SerdeAnyMap {
        self.libafl.metadata_map_mut()
    }
}

impl<H> HasCurrentCorpusId for CampaignState<H> {
    fn set_corpus_id(&mut self, id: CorpusId) -> Result<(), Error> {
        self.libafl.set_corpus_id(id)
    }

    fn clear_corpus_id(&mut self) -> Result<(), Error> {
        self.libafl.clear_corpus_id()
    }

    fn current_corpus_id(&self) -> Result<Option<CorpusId>, Error> {
        self.libafl.current_corpus_id()
    }
}

impl<H> HasCurrentStageId for CampaignState<H> {
    fn set_current_stage_id(&mut self, id: StageId) -> Result<(), Error> {
        self.libafl.set_current_stage_id(id)
    }

    fn clear_stage_id(&mut self) -> Result<(), Error> {
        self.libafl.clear_stage_id()
    }

    fn current_stage_id(&self) -> Result<Option<StageId>, Error> {
        self.libafl.current_stage_id()
    }

    fn on_restart(&mut self) -> Result<(), Error> {
        self.libafl.on_restart()
    }
}

impl<H> Stoppable for CampaignState<H> {
    fn stop_requested(&self) -> bool {
        self.libafl.stop_requested()
    }

    fn request_stop(&mut self) {
        self.libafl.request_stop();
    }

    fn discard_stop_request(&mut self) {
        self.libafl.discard_stop_request();
    }
}

impl<H> HasSolutions<BytesInput> for CampaignState<H> {
    type Solutions = InMemoryCorpus<BytesInput>;

    fn solutions(&self) -> &Self::Solutions {
        self.libafl.solutions()
    }

    fn solutions_mut(&mut self) -> &mut Self::Solutions {
        self.libafl.solutions_mut()
    }
}

impl<H> HasLastFoundTime for CampaignState<H> {
    fn last_found_time(&self) -> &Duration {
        self.libafl.last_found_time()
    }

    fn last_found_time_mut(&mut self) -> &mut Duration {
        self.libafl.last_found_time_mut()
    }
}

impl<H> HasLastReportTime for CampaignState<H> {
    fn last_report_time(&self) -> &Option<Duration> {
        self.libafl.last_report_time()
    }

    fn last_report_time_mut(&mut self) -> &mut Option<Duration> {
        self.libafl.last_report_time_mut()
    }
}

impl<H> HasImported for CampaignState<H> {
    fn imported(&self) -> &usize {
        self.libafl.imported()
    }

    fn imported_mut(&mut self) -> &mut usize {
        self.libafl.imported_mut()
    }
}

impl<H> HasTestcase<BytesInput> for CampaignState<H> {
    fn testcase(&self, id: CorpusId) -> Result<Ref<'_, Testcase<BytesInput>>, Error> {
        self.libafl.testcase(id)
    }

    fn testcase_mut(&self, id: CorpusId) -> Result<RefMut<'_, Testcase<BytesInput>>, Error> {
        self.libafl.testcase_mut(id)
    }
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::Rand;

    use super::*;

    #[test]
    fn a_state_goes_on_where_it_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = empty(StdRand::with_seed(7), folder.path()).unwrap();
        let files = ["first", "second", "third", "fourth"];
        for file in files {
            std::fs::write(folder.path().join(file), file).unwrap();
            let input = BytesInput::new(file.as_bytes().to_vec());
            state.corpus_mut().add(Testcase::with_filename(input, file.to_owned())).unwrap();
        }
        [1, 3].into_iter().for_each(|evicted| drop(state.corpus_mut().remove(CorpusId(evicted)).unwrap()));
        state.rand_mut().next();
        *state.executions_mut() = 12;
        let bytes = postcard::to_allocvec(&SavedState::new(&state)).unwrap();
        let saved: SavedState = postcard::from_bytes(&bytes).unwrap();
        assert!(saved.is_sound(4) && !saved.is_sound(3) && !saved.is_sound(5));
        let mut restored = saved.restore(folder.path(), files.into_iter()).unwrap();
        let inputs = |of: &LibaflState| -> Vec<(CorpusId, BytesInput)> {
            of.corpus().ids().map(|id| (id, of.corpus().cloned_input_for_id(id).unwrap())).collect()
        };
        assert_eq!(inputs(&restored), inputs(&state));
        assert_eq!(restored.corpus().peek_free_id(), CorpusId(4));
        assert_eq!(restored.rand_mut().next(), state.rand_mut().next());
        assert_eq!(*restored.executions(), 12);
    }
}
