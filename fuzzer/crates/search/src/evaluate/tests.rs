use std::{collections::VecDeque, path::Path};

use libafl::{executors::ExitKind, inputs::HasTargetBytes, schedulers::Scheduler};
use libafl_bolts::{ToSlice, rands::StdRand, tuples::RefIndexable};

use super::*;
use crate::{
    corpus::{
        effort::Aim,
        objective::Objective,
        search_state::SearchState,
        towards::{TargetPlace, Towards},
    },
    entry::id,
    hooks::{Interruption, Measured},
    schedule::by_cost::{ByCostScheduler, Parents},
    state::{LibaflState, empty},
    strategy::Yields,
};
use quagmire_base::error::Result as OurResult;
use quagmire_cost::{noise::NoiseFloor, resource::Resource};
use quagmire_execution::{
    abi::{Event, Resources},
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
    /// Times of the next runs in nanoseconds, `CRASHES` for one that crashes; 0 once they are used up.
    times: VecDeque<u64>,
}

/// Made-up time of a run that crashes.
const CRASHES: u64 = u64::MAX;

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
        let time = self.times.pop_front().unwrap_or(0);
        self.observers.0.set_measured(0, time, &Resources::default(), 0);
        let crashes = counts[0] == u32::from(CRASH) || time == CRASHES;
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
    /// Number of executions that ends the campaign; 0 for none.
    limit: u64,
}

impl CampaignHooks for Diary {
    fn begin_round(&mut self) {}

    fn relative_cost(&self, _: EntryId) -> f64 {
        1.0
    }

    fn parent(&self, _: EntryId) -> Option<EntryId> {
        None
    }

    fn file(&self, _: EntryId) -> Option<String> {
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

    fn note_template(&mut self, _: EntryId, _: &str) -> OurResult<()> {
        Ok(())
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

    fn is_left_out(&self, _: &[u8]) -> bool {
        false
    }

    fn instructions_apart(&self, _: &[&[u8]]) -> Option<Vec<u64>> {
        None
    }

    fn is_over(&self, executions: u64) -> bool {
        self.limit > 0 && executions >= self.limit
    }
}

/// LibAFL's state without entries.
pub(crate) fn libafl_state() -> LibaflState {
    empty(StdRand::with_seed(1), Path::new("")).unwrap()
}

struct Scene {
    target: Target,
    state: State,
}

impl Scene {
    /// Scene with a target of one edge for each byte of `seed`, after the run of this seed.
    fn new(seed: &[u8]) -> Self {
        Self::of(seed, SearchState::default(), &[])
    }

    /// Scene of a search that follows time with a noise of 5 %, after runs of the seed that took 100 us.
    fn timed(seed: &[u8]) -> Self {
        let mut search = SearchState::default();
        search.objective = Objective::steered(Resource::Time, NoiseFloor::of(&[vec![1000; 2]]));
        Self::of(seed, search, &[100_000; 5])
    }

    /// Scene of a search towards this edge.
    fn towards(seed: &[u8], edge: u32) -> Self {
        let mut search = SearchState::default();
        let place = TargetPlace { name: "here".into(), edges: vec![edge], branches: 1, ..TargetPlace::default() };
        search.towards = Towards::new(vec![place], false);
        Self::of(seed, search, &[])
    }

    fn of(seed: &[u8], search: SearchState, times: &[u64]) -> Self {
        let (program, counts) = made_up(&[seed.len() as u32]);
        let observers = (CountsObserver::new(program), (DrawsObserver::default(), ()));
        let target = Target { counts, observers, times: times.iter().copied().collect() };
        let state = CampaignState::new(libafl_state(), search, Diary::default(), false);
        let mut scene = Self { target, state };
        scene.state.search.towards.prepare(scene.target.observers.0.program());
        let evaluation = scene.run(Origin::Seed(Path::new("seed")), seed);
        assert_eq!((evaluation.entry, evaluation.evicted.len()), (Some(id(0)), 0));
        scene
    }

    fn run(&mut self, origin: Origin<'_>, bytes: &[u8]) -> Evaluation {
        let Self { target, state } = self;
        let mut parts =
            Parts::<(Target, (), Diary, Direct)> { fuzzer: &mut Direct, executor: target, state, manager: &mut () };
        evaluate(&mut parts, &origin, &BytesInput::new(bytes.to_vec())).unwrap()
    }

    fn mutant(&mut self, bytes: &[u8]) -> Evaluation {
        self.run(Origin::Mutant { parent: id(0), operators: &[] }, bytes)
    }

    /// Evaluates a mutant whose runs take these times; returns the evaluation and the number of runs.
    fn mutant_in(&mut self, bytes: &[u8], times: &[u64]) -> (Evaluation, usize) {
        self.target.times = times.iter().copied().collect();
        let before = *self.state.executions();
        let evaluation = self.mutant(bytes);
        (evaluation, (*self.state.executions() - before) as usize)
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
    assert_eq!(scene.state.interruption, Interruption::Restart);
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
    assert_eq!(scene.state.interruption, Interruption::Restart);
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

#[test]
fn a_run_that_is_slower_than_the_noise_is_repeated_and_the_minimum_counts() {
    let mut scene = Scene::timed(&[1, 7]);
    assert_eq!(*scene.state.executions(), 5, "the seed as well");
    // no slower than noise explains, and one disturbed run
    assert_eq!(scene.mutant_in(&[1, 6], &[105_000]).1, 1);
    let (disturbed, runs) = scene.mutant_in(&[1, 6], &[300_000, 100_500]);
    assert_eq!((disturbed.entry, disturbed.novelty.any(), runs), (None, false, 2));
    let (slow, runs) = scene.mutant_in(&[1, 6], &[200_000, 190_000, 180_000, 195_000, 250_000]);
    assert_eq!((slow.entry, slow.cost[Resource::Time], runs), (Some(id(1)), 180_000, 5));
    let search = &scene.state.search;
    assert_eq!(
        (search.top_rated.worst(), search.top_rated.cost(id(1)).unwrap()[Resource::Time]),
        (Some(id(1)), 180_000)
    );
    // the minimum is what has to be exceeded by the noise
    assert_eq!(scene.mutant_in(&[1, 5], &[189_000]).1, 1);
    assert_eq!(scene.mutant_in(&[1, 5], &[189_300; 5]).0.entry, Some(id(2)));
    assert_eq!(scene.mutant_in(&[1, 5], &[900_000]).1, 1, "the corpus holds it");
    assert_eq!(scene.state.hooks.executions.len() as u64, *scene.state.executions());
}

#[test]
fn times_have_no_effect_on_a_search_that_follows_counts() {
    let mut scene = Scene::new(&[1, 7]);
    let (slow, runs) = scene.mutant_in(&[1, 6], &[1_000_000_000]);
    assert_eq!((slow.entry, runs), (None, 1));
    assert_eq!(scene.corpus(), [id(0)]);
}

#[test]
fn an_entry_for_new_coverage_has_the_minimum_of_its_runs_and_raises_nothing_within_the_noise() {
    let mut scene = Scene::timed(&[1, 7, 0]);
    let (covers, runs) = scene.mutant_in(&[1, 6, 1], &[900_000, 104_000, 103_000, 800_000, 104_000]);
    assert_eq!((covers.entry, covers.cost[Resource::Time], runs), (Some(id(1)), 103_000, 5));
    assert!(covers.novelty.edge && !covers.novelty.total);
    assert_eq!(
        scene.mutant_in(&[1, 5, 1], &[105_300; 5]).0.entry,
        Some(id(2)),
        "above the seed by more than the noise"
    );
}

#[test]
fn long_runs_are_repeated_once_and_none_after_the_end_of_the_campaign() {
    let mut scene = Scene::timed(&[1, 7]);
    assert_eq!(scene.mutant_in(&[1, 6], &[200_000_000; 5]).1, 2);
    scene.state.hooks.limit = *scene.state.executions() + 1;
    let (last, runs) = scene.mutant_in(&[1, 5], &[900_000_000; 5]);
    assert_eq!((last.entry, runs), (None, 1), "a single run is no measurement");
}

#[test]
fn a_repeated_run_that_ends_early_is_recorded_and_not_entered() {
    let mut scene = Scene::timed(&[1, 7]);
    let (evaluation, runs) = scene.mutant_in(&[1, 6], &[200_000, CRASHES]);
    assert_eq!((evaluation.status, evaluation.entry, runs), (Status::Crashed, None, 2));
    assert_eq!(scene.state.hooks.ended, [[1, 6]]);
    assert_eq!(scene.state.interruption, Interruption::Restart);
}

#[test]
fn costs_count_only_at_the_place_that_the_search_works_towards() {
    let mut scene = Scene::towards(&[1, 5, 0], 2);
    assert!(!scene.mutant(&[1, 7, 0]).novelty.any(), "more work elsewhere");
    let hit = scene.mutant(&[1, 5, 1]);
    assert!(hit.entry == Some(id(1)) && hit.novelty.edge && hit.novelty.maximum && hit.novelty.total, "{hit:?}");
    assert!(!scene.mutant(&[1, 7, 1]).novelty.any(), "more work elsewhere");
    let more = scene.mutant(&[1, 5, 2]);
    assert!(more.novelty.maximum && more.novelty.total, "{more:?}");
    let places: Vec<_> = scene.state.search.towards.places(&[]).map(|(place, _)| place.first_hit).collect();
    assert_eq!(places, [Some(3)]);
}

#[test]
fn until_a_place_is_reached_all_rounds_are_for_coverage_and_then_all_parents_hit_it() {
    let mut scene = Scene::towards(&[1, 5, 0], 2);
    let mut scheduler = ByCostScheduler::new(Parents::Best, 1);
    let rounds = |scene: &mut Scene, scheduler: &mut ByCostScheduler| -> Vec<(Aim, EntryId)> {
        let mut round = |_| {
            let parent = scheduler.next(&mut scene.state).unwrap().into();
            scene.state.search.effort.spend(1000, 0);
            (scene.state.search.effort.aim(), parent)
        };
        (0..100).map(&mut round).collect()
    };
    let before = rounds(&mut scene, &mut scheduler);
    assert!(before.iter().all(|&(aim, _)| aim == Aim::Coverage), "{before:?}");
    scene.mutant(&[1, 9, 1]);
    let after = rounds(&mut scene, &mut scheduler);
    assert!(after.iter().all(|&(_, parent)| parent == id(1)), "{after:?}");
    let for_cost = after.iter().filter(|&&(aim, _)| aim == Aim::Cost).count();
    assert!((15..=85).contains(&for_cost), "{for_cost} rounds for cost");
    assert!(scene.state.search.goal.is_none_or(|goal| goal.0 == 2));
}
