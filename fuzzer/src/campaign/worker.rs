//! Worker: the process that fuzzes. It continues from a checkpoint, or starts with the seeds, until the campaign is
//! over or the target has to be loaded afresh.

mod confirming;
mod import;
mod measuring;
mod sharing;
mod start;

use std::{
    fs::File,
    os::fd::FromRawFd,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use libafl::{
    Error as LibAflError, Fuzzer, StdFuzzer, events::NopEventManager, inputs::BytesInput, state::HasExecutions,
};
use libafl_bolts::{
    rands::StdRand,
    tuples::{tuple_list, tuple_list_type},
};

pub(super) use self::start::check_options;
use self::{import::ended_early, sharing::Sharing, start::Start};
use super::{
    Setup, checkpoint,
    checkpoint::CheckpointRef,
    listener::{Listener, Progress},
    recorder::Recorder,
    supervisor::Outcome,
    supervisor::Restart,
    supervisor::stop_requested,
};
use quagmire_base::error::{Error, Result};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi::Status,
    diversity::table::TraceTable,
    executor::HarnessExecutor,
    harness::Harness,
    input_page::InputPage,
    prepare,
    timer::{self, TICKED, TIME_UP},
};
use quagmire_results::summary::{Rule, StoppedBy};
use quagmire_search::{
    choices::mode::Mode,
    evaluate::{Evaluation, Parts, evaluate},
    hooks::{Interruption, Moment},
    origin::Origin,
    schedule::by_cost::ByCostScheduler,
    stages::{
        WorkStage,
        checks::Checks,
        collisions::CollisionsStage,
        comparisons::ComparisonsStage,
        deterministic::DeterministicStage,
        growth::GrowthStage,
        measure::MeasureStage,
        mutate::MutateStage,
        operators::{COLLISIONS, COMPARISONS, DETERMINISTIC, GROWTH, Operators, is_used},
        prepare::PrepareStage,
    },
    state::{CampaignState, SavedState, empty},
};

/// Least interval between two checkpoints on disk.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);

/// One in so many seconds at most goes into checkpoints on disk; and the largest number of bytes of them for each second:
/// 86 GB a day.
const CHECKPOINT_SHARE: u32 = 50;
const CHECKPOINT_BYTES: u64 = 1_000_000;

/// Interval between a checkpoint on disk, of this size and which took so long, and the next.
fn checkpoint_interval(bytes: u64, took: Duration) -> Duration {
    let for_bytes = Duration::from_secs(bytes / CHECKPOINT_BYTES);
    CHECKPOINT_INTERVAL.max(took * CHECKPOINT_SHARE).max(for_bytes)
}

/// Stages of a round: preparation, the deterministic stage, comparisons, keys that collide and mutation (the coverage phase), then
/// patterns and the performance phase.
type Stages = tuple_list_type!(
    WorkStage<PrepareStage>,
    WorkStage<DeterministicStage>,
    WorkStage<ComparisonsStage>,
    WorkStage<CollisionsStage>,
    WorkStage<MutateStage>,
    WorkStage<GrowthStage>,
    WorkStage<MeasureStage>
);

/// LibAFL's fuzzer without feedbacks: judging is part of [`evaluate`], which returns more than whether to keep an
/// input.
type CampaignFuzzer =
    StdFuzzer<ByCostScheduler, (), libafl::inputs::BytesInputConverter, libafl::fuzzer::NopInputFilter, ()>;

/// LibAFL's types in a campaign.
type CampaignTypes<'a> = (HarnessExecutor, NopEventManager, Recorder<'a>, CampaignFuzzer);

/// Standard output and errors as they are now, for the display: the target loses them.
fn streams(setup: &Setup) -> Result<[File; 2]> {
    let kept = |descriptor: i32| match setup.listener {
        // SAFETY: a fresh descriptor, owned by the file.
        None => Ok(unsafe { File::from_raw_fd(libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3)) }),
        Some(_) => start::no_display(),
    };
    Ok([kept(1)?, kept(2)?])
}

/// Runs one worker to its end. `traces` outlives it; `None` if traces are not counted.
///
/// # Errors
/// Errors that end the campaign, such as no usable seed, or a folder that cannot be written.
pub fn work(
    setup: &Setup,
    harness: &'static Harness,
    page: InputPage,
    traces: Option<TraceTable>,
    restart: &Restart,
) -> Result<Outcome> {
    let options = &setup.options;
    let streams = streams(setup)?;
    page.set_hang_timeout(options.target.hang_timeout);
    let watched = page.share();
    let mut executor = prepare::prepare_target(harness, page, options.target.debug_target)?;
    measuring::count_cycles(&mut executor, options, &setup.target)?;
    let fingerprint = checkpoint::fingerprint(executor.counts().program());
    let without_lines = if options.confirm.cost.contains(&Resource::Lines) {
        start::count_lines(&mut executor, setup.target.instrumentation)?
    } else {
        None
    };
    let own_edges = executor.counts().program().edges();

    let first = restart.workers == 0;
    if let Some(listener) = setup.listener.as_ref().filter(|_| first && setup.place.number == 0) {
        listener.loaded(own_edges);
    }
    let Start { state, mut search, record, unusable, damaged_logs, more_is_written, enters_again } =
        Start::new(setup, restart, fingerprint, &mut executor)?;
    // what is known of edges goes by their numbers, which depend on the libraries
    executor.open_again(&record.libraries);
    start::configure(&mut search, &record, setup, traces);
    start::observe(&mut executor, &setup.options)?;
    let mut recorder = Recorder::new(setup, record, streams)?;
    let new = || empty(StdRand::with_seed(options.search.seed()), &setup.folder.queue());
    let mut state = state.map_or_else(new, Ok).map_err(|error| internal(&error))?;
    let (operators, choices, tokens) = start::operators(setup, harness, &watched, &mut state, &search)?;
    recorder.tokens = tokens;
    let rules = &setup.rules;
    let names = Operators::names(rules);
    recorder.record.use_rules(names.into_iter().map(|(label, name)| Rule::unused(label, name)).collect());
    if first {
        start::warn(setup, &mut recorder, without_lines, unusable)?;
        recorder.mend_logs(&damaged_logs)?;
    }
    let before = recorder.record.earlier_executions;
    // each client makes its share of the executions
    let share = |limit: u64| before.saturating_add(limit.div_ceil(setup.place.of as u64));
    let execution_limit = options.execs.map_or(u64::MAX, share);
    recorder.set_limits(execution_limit, restart.lost);
    if !enters_again {
        recorder.open_index(first || restart.died.is_some())?;
    }
    let uses = |name: &str| is_used(options.search.rules.as_deref(), name);
    let recorded = |name| harness.comparisons().filter(|_| uses(name));
    let compared = recorded(COMPARISONS);
    let is_deterministic = uses(DETERMINISTIC) && goes_bytewise(setup, harness);
    let stages = tuple_list!(
        WorkStage(PrepareStage::new(rules.len())),
        WorkStage(DeterministicStage::new(rules.len(), is_deterministic)),
        WorkStage(ComparisonsStage::new(rules.len(), compared, !options.search.no_auto_dict)),
        WorkStage(CollisionsStage::new(rules.len(), recorded(COLLISIONS))),
        WorkStage(MutateStage::new(
            operators,
            choices,
            compared.map(|compared| Checks::new(rules.len(), compared)),
            options.search.skip_coverage_testing
        )),
        WorkStage(growth(setup)),
        WorkStage(MeasureStage)
    );
    let mut worker = Worker {
        setup,
        restart,
        fingerprint,
        own_edges,
        executor,
        more_is_written,
        fuzzer: StdFuzzer::new(ByCostScheduler::new(options.search.parents, setup.seeds.inputs.len()), (), ()),
        state: CampaignState::new(state, search, recorder, setup.target.is_isolated()),
        manager: NopEventManager::new(),
        checkpoint_interval: checkpoint_interval(checkpoint::size(setup.folder.path()), Duration::ZERO),
        sharing: Sharing::new(setup),
    };
    let deadline = setup.start_ns.saturating_add(u64::try_from(options.time.as_nanos()).unwrap_or(u64::MAX));
    harness.start_timer(timer::RunLimits {
        hang: options.target.hang_timeout,
        clock: timer::HangClock::Wall,
        memory: options.target.memory_limit,
        deadline,
    });
    worker.run(stages, execution_limit)
}

/// Whether the deterministic stage goes byte by byte: what it does so, operators on choices do value by value.
fn goes_bytewise(setup: &Setup, harness: &Harness) -> bool {
    let search = &setup.options.search;
    let has_choices = setup.grammar.is_some() || harness.draws_are_compiled();
    search.choices == Mode::Off || !has_choices || search.rules.is_some()
}

/// The stage that searches by growth, where counts are exact: modulo 256 they grow like nothing.
fn growth(setup: &Setup) -> GrowthStage {
    let is_used = setup.target.instrumentation.is_exact() && is_used(setup.options.search.rules.as_deref(), GROWTH);
    GrowthStage::new(setup.rules.len(), is_used, setup.seeds.inputs.iter().map(|seed| &*seed.bytes))
}

fn internal(error: &LibAflError) -> Error {
    Error::other(format!("LibAFL: {error}"))
}

struct Worker<'a> {
    setup: &'a Setup,
    restart: &'a Restart<'a>,
    fingerprint: u64,
    /// Number of edges of the objects that are loaded at the start, which have the same numbers in all clients.
    own_edges: usize,
    executor: HarnessExecutor,
    /// Whether the folder may hold files that the checkpoint does not know.
    more_is_written: bool,
    fuzzer: CampaignFuzzer,
    state: CampaignState<Recorder<'a>>,
    manager: NopEventManager,
    /// Interval between the last checkpoint on disk and the next.
    checkpoint_interval: Duration,
    sharing: Option<Sharing>,
}

impl<'a> Worker<'a> {
    fn run(&mut self, mut stages: Stages, execution_limit: u64) -> Result<Outcome> {
        self.warm_up();
        if let Some(outcome) = self.take_up()? {
            return Ok(outcome);
        }
        if self.setup.place.statistics.is_ended_by_finding() {
            return self.end(StoppedBy::Finding);
        }
        if self.has_seeds_left() {
            let record = &mut self.state.hooks.record;
            (record.baseline, record.sizes.model) = (None, None);
        }
        if self.state.hooks.record.baseline.is_none() {
            let names = self.names_before_seeds();
            if let Some(outcome) = self.seeds()? {
                return Ok(outcome);
            }
            self.note_new_files(names)?;
            self.tell(|listener, progress| listener.seeds_done(progress));
            let ends_now = self.state.hooks.record.entries.is_empty() || self.setup.listener.is_some();
            if let Some(stopped_by) = self.reason_to_stop(execution_limit).filter(|_| ends_now) {
                return self.end(stopped_by);
            }
            self.set_baseline()?;
        }
        if self.state.hooks.record.sizes.model.is_none() {
            if let Some(outcome) = self.measure_sizes()? {
                return Ok(outcome);
            }
            if self.setup.place.number == 0 {
                self.look_at_use_of_input()?;
            }
            let moment = self.moment();
            self.state.hooks.set_moment(moment, &self.state.search);
            self.state.hooks.write_progress(None, &self.state.search)?;
            self.measure_noise()?;
        }
        if let Some(outcome) = self.import()? {
            return Ok(outcome);
        }
        self.state.hooks.begin_gathering();
        self.state.hooks.begin_phase("coverage")?;
        if let Some(outcome) = self.run_added()? {
            return Ok(outcome);
        }
        let stopped_by = loop {
            if let Some(stopped_by) = self.reason_to_stop(execution_limit) {
                break stopped_by;
            }
            let round = self.fuzzer.fuzz_one(&mut stages, &mut self.executor, &mut self.state, &mut self.manager);
            match self.state.interruption.clone() {
                Interruption::Failed(error) => {
                    // even if a file cannot be written, a checkpoint often can
                    let _ = self.checkpoint(true);
                    return Err(error);
                }
                Interruption::Restart => {
                    let moment = self.moment();
                    self.state.hooks.housekeeping(moment, &self.state.search)?;
                    let due = self.is_checkpoint_due();
                    self.checkpoint(due)?;
                    return Ok(Outcome::Again);
                }
                Interruption::None | Interruption::Over => round.map_err(|error| internal(&error))?,
            };
            self.keep_house()?;
            self.look_around();
            self.confirm_if_due()?;
            if let Some(outcome) = self.share_if_due()? {
                return Ok(outcome);
            }
            if let Some(outcome) = self.run_added()? {
                return Ok(outcome);
            }
            if self.is_checkpoint_due() {
                self.checkpoint(true)?;
            }
        };
        self.end(stopped_by)
    }

    fn parts(&mut self) -> Parts<'_, CampaignTypes<'a>> {
        let Self { fuzzer, executor, state, manager, .. } = self;
        Parts { fuzzer, executor, state, manager }
    }

    /// Evaluates an input by the way that all inputs take.
    fn evaluate(&mut self, origin: &Origin<'_>, input: &BytesInput) -> Result<Evaluation> {
        let evaluation = evaluate(&mut self.parts(), origin, input);
        evaluation.map_err(|error| self.state.reason(&error))
    }

    /// Ends this worker: another one goes on from its checkpoint.
    fn again(&mut self) -> Result<Option<Outcome>> {
        self.checkpoint(false)?;
        Ok(Some(Outcome::Again))
    }

    /// Whether the target has to be loaded afresh after a run with this end.
    fn has_to_end(&self, status: Status) -> bool {
        ended_early(status) && !self.setup.target.is_isolated()
    }

    /// Updates the display and the files that are due, if there was a timer tick.
    fn keep_house(&mut self) -> Result<()> {
        if TICKED.swap(false, Relaxed) {
            let moment = self.moment();
            self.state.hooks.housekeeping(moment, &self.state.search)?;
            self.tell(|listener, progress| listener.ticked(progress));
        }
        Ok(())
    }

    /// Takes in what the timer has sampled, and looks for what holds the campaign up.
    fn look_around(&mut self) {
        let (recorder, program) = (&mut self.state.hooks, self.executor.counts().program());
        recorder.take_samples(program);
        recorder.look_for_grammar();
        recorder.look_for_wall(program, &self.state.search);
    }

    /// Tells the listener, if there is one and this is the first client.
    fn tell(&mut self, what: impl FnOnce(&dyn Listener, Progress)) {
        if let Some(listener) = self.setup.listener.as_ref().filter(|_| self.setup.place.number == 0) {
            let moment = self.moment();
            self.state.hooks.set_moment(moment, &self.state.search);
            what(&**listener, self.state.hooks.progress(&self.state.search));
        }
    }

    fn moment(&self) -> Moment {
        Moment::of(*self.state.executions(), self.executor.counts().program())
    }

    fn reason_to_stop(&self, execution_limit: u64) -> Option<StoppedBy> {
        if self.setup.place.statistics.is_ended_by_finding() {
            return Some(StoppedBy::Finding);
        }
        // the first client stops the others, and knows the reason
        if stop_requested() || self.setup.place.is_stopped() {
            return Some(StoppedBy::Signal);
        }
        if TIME_UP.load(Relaxed) {
            return Some(StoppedBy::Time);
        }
        (*self.state.executions() >= execution_limit).then_some(StoppedBy::Execs)
    }

    fn is_checkpoint_due(&self) -> bool {
        let recorder = &self.state.hooks;
        let since = recorder.elapsed().saturating_sub(recorder.record.last_save);
        since > self.checkpoint_interval
    }

    fn checkpoint(&mut self, to_disk: bool) -> Result<()> {
        let started = Instant::now();
        {
            let recorder = &mut self.state.hooks;
            recorder.record.libraries = self.executor.opened();
            if to_disk {
                recorder.record.last_save = recorder.elapsed();
            }
        }
        let counts = self.executor.counts_mut();
        counts.settle_hits(&mut self.state.search.rare.hits);
        self.state.search.diversity.settle(counts);
        let bytes = CheckpointRef {
            fingerprint: self.fingerprint,
            state: SavedState::new(&self.state.libafl),
            search: &self.state.search,
            record: &self.state.hooks.record,
        }
        .to_bytes()?;
        self.restart.vault.store(&bytes)?;
        if to_disk {
            checkpoint::write(self.setup.folder.path(), &bytes)?;
        }
        self.checkpoint_interval = checkpoint_interval(bytes.len() as u64, started.elapsed());
        Ok(())
    }

    fn end(&mut self, stopped_by: StoppedBy) -> Result<Outcome> {
        if stopped_by == StoppedBy::Finding && self.setup.listener.is_none() {
            // only a listener asks for that
            return Err(Error::target(
                "memory that the processes of the campaign share was overwritten, by the target as it seems: look for that with \
                 -fsanitize=address; --resume goes on",
            ));
        }
        if let Some(outcome) = self.share_last(stopped_by)? {
            return Ok(outcome);
        }
        if !matches!(stopped_by, StoppedBy::Signal | StoppedBy::Finding) && self.state.hooks.record.baseline.is_some() {
            self.confirm_last()?;
        }
        self.look_around();
        self.reconcile()?;
        self.checkpoint(true)?;
        let moment = self.moment();
        self.state.hooks.finish(moment, stopped_by, &self.state.search)?;
        self.tell(|listener, progress| listener.ended(stopped_by, progress));
        self.show_last()?;
        Ok(Outcome::Over)
    }
}
