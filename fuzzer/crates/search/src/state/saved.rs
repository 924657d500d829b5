//! LibAFL's state as checkpoints hold it: what a campaign needs of it, in a form of ours. LibAFL's own reader panics at
//! bytes that are no state, and it removes lock files by names that it reads.

use libafl::{
    Error,
    corpus::{Corpus, CorpusId, HasCurrentCorpusId, InMemoryCorpus, Testcase},
    inputs::BytesInput,
    stages::StageId,
    state::{HasCorpus, HasCurrentStageId, HasExecutions, HasRand, StdState},
};
use libafl_bolts::rands::StdRand;
use serde::{Deserialize, Serialize, Serializer, ser};

use super::{InputCorpus, LibaflState};

/// Number of stages of a campaign.
pub const STAGES: usize = 5;

/// Creates LibAFL's state without inputs.
///
/// # Errors
/// Errors of LibAFL, which would be bugs in quagmire.
pub fn empty(rand: StdRand) -> Result<LibaflState, Error> {
    StdState::new(rand, InMemoryCorpus::new(), InMemoryCorpus::new(), &mut (), &mut ())
}

/// LibAFL's state, borrowed for writing.
#[derive(Serialize)]
pub struct SavedStateRef<'a> {
    inputs: Inputs<'a>,
    rand: &'a StdRand,
    executions: u64,
    in_work: Option<(usize, Option<StageId>)>,
}

impl<'a> SavedStateRef<'a> {
    /// Borrows what is to be saved.
    ///
    /// # Errors
    /// Errors of LibAFL, which would be bugs in quagmire.
    pub fn new(state: &'a LibaflState) -> Result<Self, Error> {
        Ok(Self {
            inputs: Inputs(state.corpus()),
            rand: state.rand(),
            executions: *state.executions(),
            in_work: state.current_corpus_id()?.map(|entry| entry.0).zip(Some(state.current_stage_id()?)),
        })
    }
}

/// Inputs of the entries, in the order of their numbers; `None` for those that were evicted.
struct Inputs<'a>(&'a InputCorpus);

impl Serialize for Inputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use ser::{Error as _, SerializeSeq as _};
        let entries = self.0.peek_free_id().0;
        let mut all = serializer.serialize_seq(Some(entries))?;
        let mut kept = self.0.ids().peekable();
        for number in 0..entries {
            match kept.next_if(|id| id.0 == number) {
                Some(id) => all.serialize_element(self.0.get(id).map_err(S::Error::custom)?.borrow().input())?,
                None => all.serialize_element(&None::<BytesInput>)?,
            }
        }
        all.end()
    }
}

/// LibAFL's state, as read.
#[derive(Deserialize)]
pub struct SavedState {
    /// Inputs of the entries, in the order of their numbers; `None` for those that were evicted.
    inputs: Vec<Option<BytesInput>>,
    rand: StdRand,
    executions: u64,
    /// Entry and stage at which the worker ended.
    in_work: Option<(usize, Option<StageId>)>,
}

impl SavedState {
    /// Whether it is of so many entries, and at work on one of them (which may be
    /// evicted meanwhile), in a stage that there is.
    pub fn is_sound(&self, entries: usize) -> bool {
        // LibAFL shows the number of a stage and hides it; it counts them down to 1
        let is_known = |stage: StageId| stage.to_string().parse().is_ok_and(|number| (1..=STAGES).contains(&number));
        self.inputs.len() == entries
            && self.in_work.is_none_or(|(entry, stage)| entry < entries && stage.is_none_or(is_known))
    }

    /// Makes LibAFL's state of it.
    ///
    /// # Errors
    /// Errors of LibAFL, which would be bugs in quagmire.
    pub fn restore(self) -> Result<LibaflState, Error> {
        let mut state = empty(self.rand)?;
        for input in self.inputs {
            let is_evicted = input.is_none();
            let entry = state.corpus_mut().add(Testcase::new(input.unwrap_or_default()))?;
            if is_evicted {
                state.corpus_mut().remove(entry)?;
            }
        }
        *state.executions_mut() = self.executions;
        if let Some((entry, stage)) = self.in_work {
            state.set_corpus_id(CorpusId(entry))?;
            if let Some(stage) = stage {
                state.set_current_stage_id(stage)?;
            }
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::Rand;

    use super::*;

    /// A state with four entries, of which the second and the last are evicted. It is at work on this one, in the stage of
    /// this number.
    fn saved(entry: usize, stage: u64) -> (LibaflState, SavedState) {
        let mut state = empty(StdRand::with_seed(7)).unwrap();
        for input in [&b""[..], b"second", b"third", b"fourth"] {
            state.corpus_mut().add(Testcase::new(BytesInput::new(input.to_vec()))).unwrap();
        }
        [1, 3].into_iter().for_each(|evicted| drop(state.corpus_mut().remove(CorpusId(evicted)).unwrap()));
        state.rand_mut().next();
        *state.executions_mut() = 12;
        state.set_corpus_id(CorpusId(entry)).unwrap();
        state.set_current_stage_id(postcard::from_bytes(&postcard::to_allocvec(&stage).unwrap()).unwrap()).unwrap();
        let bytes = postcard::to_allocvec(&SavedStateRef::new(&state).unwrap()).unwrap();
        (state, postcard::from_bytes(&bytes).unwrap())
    }

    #[test]
    fn a_state_goes_on_where_it_was_saved() {
        let (mut state, saved) = saved(2, 3);
        assert!(saved.is_sound(4));
        let mut restored = saved.restore().unwrap();
        let inputs = |of: &LibaflState| -> Vec<(CorpusId, BytesInput)> {
            of.corpus().ids().map(|id| (id, of.corpus().cloned_input_for_id(id).unwrap())).collect()
        };
        assert_eq!(inputs(&restored), inputs(&state));
        assert_eq!(restored.corpus().peek_free_id(), CorpusId(4));
        assert_eq!(restored.rand_mut().next(), state.rand_mut().next());
        assert_eq!(*restored.executions(), 12);
        assert_eq!(restored.current_corpus_id().unwrap(), Some(CorpusId(2)));
        assert_eq!(restored.current_stage_id().unwrap(), state.current_stage_id().unwrap());
    }

    #[test]
    fn entries_and_stages_that_there_are_not_are_not_sound() {
        let is_sound = |entry, stage, entries| saved(entry, stage).1.is_sound(entries);
        assert!(!is_sound(2, 3, 3) && !is_sound(2, 3, 5));
        assert!(is_sound(1, 3, 4) && !is_sound(4, 3, 4));
        assert!(is_sound(0, 1, 4) && is_sound(0, 5, 4));
        assert!(!is_sound(0, 0, 4) && !is_sound(0, 6, 4));
    }
}
