use std::path::Path;

use libafl::{corpus::InMemoryCorpus, executors::ExitKind, inputs::HasTargetBytes, state::StdState};
use libafl_bolts::{ToSlice, rands::StdRand, tuples::RefIndexable};

use super::*;
use crate::{
    corpus::search_state::SearchState,
    entry::id,
    hooks::{Interruption, Measured},
    state::LibaflState,
    strategy::Yields,
};
use quagmire_base::error::Result as OurResult;
use quagmire_execution::{
    abi::Event,
    draws::DrawsObserver,
    own_mutator::MutatorFailure,
    testing::{Counts, made_up},
};

type State = CampaignState<Diary>;

/// First byte of inputs that crash the target.
const CRASH: u8 = 255;

/// Simulated target of one function, whose edges are executed as often as the bytes of the input say.
struct Target {
    counts: Counts,
    observers: Observers,
}

impl HasObservers for Target {
    type Observers = Observers;

    fn observers(&self) -> RefIndexable<&Observers, Observers> {
        RefIndexable::from(&self.observers)
    }

    fn observers_mut(&mut self) -> RefIndexable<&mut Observers, Observers> {
        RefIndexable::from(&mut self.observers)
    }
}

impl Executor<(), BytesInput, State, Direct> for Target {
    fn run_target(
        &mut self,
        _: &mut Direct,
        state: &mut State,
        _: &mut (),
        input: &BytesInput,
    ) -> Result<ExitKind, Error> {
        *state.executions_mut() += 1;
        let bytes = input.target_bytes();
        let counts: Vec<u32> = bytes.to_slice().iter().map(|&count| count.into()).collect();
        self.counts.set(0, &counts);
        let crashes = counts[0] == u32::from(CRASH);
        self.observers.0.set_end(if crashes { Status::Crashed } else { Status::Returned }, Event::default());
        Ok(if crashes { ExitKind::Crash } else { ExitKind::Ok })
    }
}

/// Fuzzer that runs the target and nothing else.
struct Direct;

impl ExecutesInput<Target, (), BytesInput, State> for Direct {
    fn execute_input(
        &mut self,
        state: &mut State,
        target: &mut Target,
        manager: &mut (),
        input: &BytesInput,
    ) -> Result<ExitKind, Error> {
        target.observers.0.clear();
        let kind = target.run_target(self, state, manager, input);
        target.observers.0.digest();
        kind
    }
}

/// Campaign that records the calls of its hooks.
#[derive(Default)]
pub(crate) struct Diary {
    executions: Vec<u64>,
    entered: Vec<Vec<u8>>,
    ended: Vec<Vec<u8>>,
}

impl CampaignHooks for Diary {
    fn begin_round(&mut self) {}

    fn relative_cost(&self, _: EntryId) -> f64 {
        1.0
    }

    fn parent(&self, _: EntryId) -> Option<EntryId> {
        None
    }

    fn yields(&self) -> &Yields {
        unreachable!()
    }

    fn executed(&mut self, _: &Origin<'_>, moment: Moment, _: &CountsObserver) {
        self.executions.push(moment.executions);
    }

    fn enter(
        &mut self,
        _: &Origin<'_>,
        bytes: &[u8],
        _: Novelty,
        _: &CountsObserver,
        _: &SearchState,
    ) -> OurResult<f64> {
        self.entered.push(bytes.to_vec());
        Ok(1.0)
    }

    fn ended_early(&mut self, _: &Origin<'_>, bytes: &[u8], _: &CountsObserver) -> OurResult<()> {
        self.ended.push(bytes.to_vec());
        Ok(())
    }

    fn is_gathered(&self) -> bool {
        false
    }

    fn next_to_measure(&mut self) -> OurResult<Option<(EntryId, Cost)>> {
        Ok(None)
    }

    fn is_slowest(&self, _: &Measured) -> bool {
        false
    }

    fn measured(&mut self, _: EntryId, _: &Measured) -> f64 {
        1.0
    }

    fn tick(&mut self, _: Moment, _: &SearchState) -> OurResult<()> {
        Ok(())
    }

    fn mutator_failed(&mut self, _: EntryId, _: MutatorFailure) -> OurResult<()> {
        Ok(())
    }

    fn is_deadly(&self, _: &[u8]) -> bool {
        false
    }

    fn is_over(&self, _: u64) -> bool {
        false
    }
}

/// LibAFL's state without entries.
pub(crate) fn libafl_state() -> LibaflState {
    let corpus = InMemoryCorpus::<BytesInput>::new;
    StdState::new(StdRand::with_seed(1), corpus(), corpus(), &mut (), &mut ()).unwrap()
}

struct Scene {
    target: Target,
    state: State,
}

impl Scene {
    /// Scene with a target of one edge for each byte of `seed`, after the run of this seed.
    fn new(seed: &[u8]) -> Self {
        let (program, counts) = made_up(&[seed.len() as u32]);
        let target = Target { counts, observers: (CountsObserver::new(program), (DrawsObserver::default(), ())) };
        let state = CampaignState::new(libafl_state(), SearchState::default(), Diary::default(), false);
        let mut scene = Self { target, state };
        let evaluation = scene.run(Origin::Seed(Path::new("seed")), seed);
        assert_eq!((evaluation.entry, evaluation.evicted.len()), (Some(id(0)), 0));
        scene
    }

    fn run(&mut self, origin: Origin<'_>, bytes: &[u8]) -> Evaluation {
        let Self { target, state } = self;
        let mut parts = Parts { fuzzer: &mut Direct, executor: target, state, manager: &mut () };
        evaluate(&mut parts, &origin, &BytesInput::new(bytes.to_vec())).unwrap()
    }

    fn mutant(&mut self, bytes: &[u8]) -> Evaluation {
        self.run(Origin::Mutant { parent: id(0), operators: &[] }, bytes)
    }

    /// Work and finds of all aims, as text.
    fn effort(&self) -> String {
        format!("{:?}", self.state.search.effort)
    }

    fn corpus(&self) -> Vec<EntryId> {
        self.state.corpus().ids().map(EntryId::from).collect()
    }
}

#[test]
fn a_mutant_that_shows_something_new_is_entered_once_and_evicts_what_it_dominates() {
    let mut scene = Scene::new(&[1, 5]);
    let first = scene.mutant(&[1, 9]);
    assert_eq!((first.status, first.entry, first.evicted), (Status::Returned, Some(id(1)), vec![]));
    assert!(first.novelty.bucket && first.novelty.maximum && !first.novelty.edge);
    assert_eq!(scene.mutant(&[1, 9]).entry, None);
    // the same buckets and more of everything than entry 1, which is still the cheapest one in its bucket
    assert!(scene.mutant(&[1, 15]).evicted.is_empty());
    assert_eq!(scene.mutant(&[2, 200]).evicted, [id(2)]);
    assert_eq!(scene.corpus(), [id(0), id(1), id(3)]);
    assert_eq!(scene.state.hooks.entered, [[1, 5], [1, 9], [1, 15], [2, 200]]);
}

#[test]
fn a_run_that_ends_early_is_recorded_and_not_entered_whatever_it_shows() {
    let mut scene = Scene::new(&[1, 5]);
    let evaluation = scene.mutant(&[CRASH, 77]);
    assert_eq!((evaluation.status, evaluation.entry), (Status::Crashed, None));
    assert!(evaluation.novelty.any());
    assert_eq!(scene.state.hooks.ended, [[CRASH, 77]]);
    assert_eq!(*scene.state.interruption(), Interruption::Restart);
    // what the crash showed first is new when a run shows it that returns
    assert_eq!(scene.mutant(&[254, 77]).entry, Some(id(1)));
}

#[test]
fn a_run_that_ends_early_is_entered_too_if_such_runs_are_wanted() {
    let mut scene = Scene::new(&[1, 5]);
    scene.state.search.keeps_early_ends = true;
    let evaluation = scene.mutant(&[CRASH, 77]);
    assert_eq!((evaluation.status, evaluation.entry), (Status::Crashed, Some(id(1))));
    assert_eq!((scene.state.hooks.ended.len(), scene.state.hooks.entered.len()), (1, 2), "it is a finding as well");
    assert_eq!(*scene.state.interruption(), Interruption::Restart);
    assert_eq!(scene.mutant(&[CRASH, 76]).entry, None, "nothing new");
}

#[test]
fn resumed_entries_are_entered_and_measured_runs_are_not_whatever_they_show() {
    let mut scene = Scene::new(&[1, 5]);
    assert_eq!(scene.run(Origin::Measured, &[1, 100]).entry, None);
    let evaluation = scene.run(Origin::Resumed("id_000001"), &[1, 5]);
    assert_eq!((evaluation.entry, evaluation.novelty), (Some(id(1)), Novelty::default()));
    // a measured run is not judged, so that what it showed is still new
    assert_eq!(scene.mutant(&[1, 100]).entry, Some(id(2)));
}

#[test]
fn imports_count_as_executions_but_neither_as_work_nor_as_finds_of_a_round() {
    let mut scene = Scene::new(&[1, 5, 0]);
    let before = scene.effort();
    assert_eq!(scene.run(Origin::Unknown, &[1, 50, 0]).entry, Some(id(1)));
    let import = Origin::Import { sibling: "other", ancestor: None, operators: &[] };
    assert_eq!(scene.run(import, &[1, 50, 1]).entry, Some(id(2)));
    assert_eq!(scene.effort(), before);
    scene.mutant(&[1, 50, 0]);
    assert_ne!(scene.effort(), before);
    assert_eq!(scene.state.hooks.executions, [1, 2, 3, 4]);
    assert_eq!([Origin::Unknown, import, Origin::Measured].map(|origin| origin.is_counted()), [true; 3]);
}
