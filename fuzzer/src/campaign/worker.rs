//! Worker: the process that fuzzes. It continues from a checkpoint, or starts with the seeds, until the campaign is
//! over or the target has to be loaded afresh.

mod confirming;
mod import;
mod sharing;
mod sizes;
mod start;

use std::{
    cell::RefCell,
    fs::File,
    os::fd::FromRawFd,
    rc::Rc,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use libafl::{
    Error as LibAflError, Fuzzer, HasMetadata, StdFuzzer,
    events::NopEventManager,
    inputs::BytesInput,
    state::{HasExecutions, HasMaxSize},
};
use libafl_bolts::tuples::tuple_list;

pub(super) use self::{import::written_since, start::check_options};
use self::{sharing::Sharing, start::Start};
use super::{
    Setup, archive::Archive, checkpoint, checkpoint::CheckpointRef, checkpoint::State, supervisor::Outcome,
    supervisor::Restart, supervisor::stop_requested,
};
use quagmire_base::error::{Error, Result};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    executor::HarnessExecutor,
    harness::Harness,
    input_page::InputPage,
    prepare,
    timer::{self, TICKED, TIME_UP},
};
use quagmire_results::summary::{Rule, StoppedBy};
use quagmire_search::{
    evaluate::{Evaluation, Interruption, Moment, Origin, Parts, StageContext, evaluate},
    keep::kept::Kept,
    schedule::by_cost::ByCostScheduler,
    stages::{
        deterministic::DeterministicStage,
        measure::MeasureStage,
        mutate::MutateStage,
        operators::{DETERMINISTIC, Operators, is_used},
        prepare::PrepareStage,
    },
};

/// Interval between two checkpoints on disk.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);

/// Stages of a round: preparation, the deterministic stage and mutation (the coverage phase), then the performance
/// phase.
type Stages<'a> = (
    PrepareStage<Archive<'a>>,
    (DeterministicStage<Archive<'a>>, (MutateStage<Archive<'a>, State>, (MeasureStage<Archive<'a>>, ()))),
);

/// LibAFL's fuzzer without feedbacks: judging is part of [`evaluate`], which returns more than whether to keep an
/// input.
type CampaignFuzzer =
    StdFuzzer<ByCostScheduler, (), libafl::inputs::BytesInputConverter, libafl::fuzzer::NopInputFilter, ()>;

/// Runs one worker to its end.
///
/// # Errors
/// Errors that end the campaign, such as no usable seed, or a folder that cannot be written.
#[allow(clippy::too_many_lines, reason = "until the search has one way to evaluate an input")]
pub fn work(setup: &Setup, harness: &'static Harness, page: InputPage, restart: &Restart) -> Result<Outcome> {
    let options = &setup.options;
    // the display keeps the terminal, which the target loses
    // SAFETY: a fresh descriptor, owned by the file.
    let terminal = unsafe { File::from_raw_fd(libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3)) };
    page.set_hang_timeout(options.hang_timeout);
    let mut executor = prepare::prepare_target(harness, page, options.debug_target)?;
    let fingerprint = checkpoint::fingerprint(executor.counts().program());
    let without_lines = if options.cost.contains(&Resource::Lines) { start::count_lines(&mut executor)? } else { None };
    let own_edges = executor.counts().program().edges();

    let first = restart.workers == 0;
    let Start { state, mut kept, record, unusable, more_is_written, enters_again } =
        Start::new(setup, restart, fingerprint, &mut executor)?;
    // what is known of edges goes by their numbers, which depend on the libraries
    executor.open_again(&record.libraries);
    start::configure(&mut kept, setup);
    let kept = Rc::new(RefCell::new(kept));
    let mut archive = Archive::new(setup, record, terminal)?;
    let mut state = match state {
        Some(state) => state,
        None => start::new_state(options.seed)?,
    };
    let tokens = start::read_tokens(options)?;
    let has_tokens = !tokens.tokens().is_empty();
    state.set_max_size(setup.max_size);
    state.add_metadata(tokens);
    let rules = &setup.rules;
    let operators = Operators::new(rules, |name| is_used(options.rules.as_deref(), name), has_tokens, options.strategy);
    let names = Operators::<State>::names(rules);
    archive.record.use_rules(names.into_iter().map(|(label, name)| Rule::unused(label, name)).collect());
    if first {
        start::warn(setup, &mut archive, without_lines, unusable)?;
    }
    let archive = Rc::new(RefCell::new(archive));
    let execution_limit = {
        let before = archive.borrow().record.earlier_executions;
        // each client makes its share of the executions
        options.execs.map_or(u64::MAX, |limit| before.saturating_add(limit.div_ceil(setup.place.of as u64)))
    };
    archive.borrow_mut().set_limits(execution_limit, restart.lost);
    if !enters_again {
        archive.borrow_mut().open_index(first || restart.died.is_some())?;
    }
    let context = StageContext::new(archive.clone(), kept.clone(), setup.target.is_isolated());
    let stages = tuple_list!(
        PrepareStage::new(context.clone(), rules.len()),
        DeterministicStage::new(context.clone(), rules.len(), is_used(options.rules.as_deref(), DETERMINISTIC)),
        MutateStage::new(context.clone(), operators, options.skip_coverage_testing),
        MeasureStage::new(context.clone())
    );
    let mut worker = Worker {
        setup,
        restart,
        fingerprint,
        own_edges,
        executor,
        more_is_written,
        fuzzer: StdFuzzer::new(ByCostScheduler::new(kept.clone(), options.parents, setup.seeds.inputs.len()), (), ()),
        state,
        kept,
        archive,
        context,
        manager: NopEventManager::new(),
        checkpoint_cost: Duration::ZERO,
        sharing: Sharing::new(setup),
    };
    let deadline = setup.start_ns.saturating_add(u64::try_from(options.time.as_nanos()).unwrap_or(u64::MAX));
    timer::start(harness, timer::RunLimits { hang: options.hang_timeout, memory: options.memory_limit, deadline });
    worker.run(stages, execution_limit)
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
    state: State,
    kept: Rc<RefCell<Kept>>,
    archive: Rc<RefCell<Archive<'a>>>,
    context: StageContext<Archive<'a>>,
    manager: NopEventManager,
    checkpoint_cost: Duration,
    sharing: Option<Sharing>,
}

impl<'a> Worker<'a> {
    fn run(&mut self, mut stages: Stages<'a>, execution_limit: u64) -> Result<Outcome> {
        self.warm_up();
        if let Some(outcome) = self.take_up()? {
            return Ok(outcome);
        }
        if self.archive.borrow().record.baseline.is_none() {
            if let Some(outcome) = self.seeds()? {
                return Ok(outcome);
            }
            let nothing_ran = self.archive.borrow().record.entries.is_empty();
            if let Some(stopped_by) = self.reason_to_stop(execution_limit).filter(|_| nothing_ran) {
                return self.end(stopped_by);
            }
            self.set_baseline()?;
        }
        if self.archive.borrow().record.sizes.model.is_none() {
            if let Some(outcome) = self.measure_sizes()? {
                return Ok(outcome);
            }
            if self.setup.place.number == 0 {
                self.look_at_use_of_input()?;
            }
            let moment = self.moment();
            self.archive.borrow_mut().set_moment(moment, &self.kept.borrow());
            self.archive.borrow_mut().write_progress(None, &self.kept.borrow())?;
            self.measure_noise()?;
        }
        if let Some(outcome) = self.import()? {
            return Ok(outcome);
        }
        self.archive.borrow_mut().begin_gathering();
        self.archive.borrow_mut().begin_phase("coverage")?;
        let stopped_by = loop {
            if let Some(stopped_by) = self.reason_to_stop(execution_limit) {
                break stopped_by;
            }
            let round = self.fuzzer.fuzz_one(&mut stages, &mut self.executor, &mut self.state, &mut self.manager);
            match self.context.interruption() {
                Interruption::Failed(error) => {
                    // even if a file cannot be written, a checkpoint often can
                    let _ = self.checkpoint(true);
                    return Err(error);
                }
                Interruption::Restart => {
                    let moment = self.moment();
                    self.archive.borrow_mut().housekeeping(moment, &self.kept.borrow())?;
                    let due = self.is_checkpoint_due();
                    self.checkpoint(due)?;
                    return Ok(Outcome::Again);
                }
                Interruption::None | Interruption::Over => round.map_err(|error| internal(&error))?,
            };
            self.keep_house()?;
            self.confirm_if_due()?;
            if let Some(outcome) = self.share_if_due()? {
                return Ok(outcome);
            }
            if self.is_checkpoint_due() {
                self.checkpoint(true)?;
            }
        };
        self.end(stopped_by)
    }

    /// Evaluates an input by the way that all inputs take.
    fn evaluate(&mut self, origin: &Origin<'_>, input: &BytesInput) -> Result<Evaluation> {
        let Self { fuzzer, executor, state, manager, context, .. } = self;
        let mut parts = Parts { fuzzer, executor, state, manager };
        evaluate(context, &mut parts, origin, input).map_err(|error| context.reason(&error))
    }

    /// Updates the display and the files that are due, if there was a timer tick.
    fn keep_house(&mut self) -> Result<()> {
        if TICKED.swap(false, Relaxed) {
            let moment = self.moment();
            self.archive.borrow_mut().housekeeping(moment, &self.kept.borrow())?;
        }
        Ok(())
    }

    fn moment(&self) -> Moment {
        Moment::of(*self.state.executions(), self.executor.counts().program())
    }

    fn reason_to_stop(&self, execution_limit: u64) -> Option<StoppedBy> {
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
        let archive = self.archive.borrow();
        let since = archive.elapsed().saturating_sub(archive.record.last_save);
        since > CHECKPOINT_INTERVAL.max(self.checkpoint_cost * 50)
    }

    fn checkpoint(&mut self, to_disk: bool) -> Result<()> {
        let started = Instant::now();
        {
            let mut archive = self.archive.borrow_mut();
            archive.record.libraries = self.executor.opened();
            if to_disk {
                archive.record.last_save = archive.elapsed();
            }
        }
        self.executor.counts_mut().settle_hits(&mut self.kept.borrow_mut().rare.hits);
        let archive = self.archive.borrow();
        let bytes = CheckpointRef {
            fingerprint: self.fingerprint,
            state: &self.state,
            kept: &self.kept.borrow(),
            record: &archive.record,
        }
        .to_bytes()?;
        self.restart.vault.store(&bytes)?;
        if to_disk {
            checkpoint::write(self.setup.folder.path(), &bytes)?;
        }
        self.checkpoint_cost = started.elapsed();
        Ok(())
    }

    fn end(&mut self, stopped_by: StoppedBy) -> Result<Outcome> {
        if let Some(outcome) = self.share_last(stopped_by)? {
            return Ok(outcome);
        }
        if stopped_by != StoppedBy::Signal {
            self.confirm_last()?;
        }
        self.checkpoint(true)?;
        let moment = self.moment();
        self.archive.borrow_mut().finish(moment, stopped_by, &self.kept.borrow())?;
        self.show_last()?;
        Ok(Outcome::Over)
    }
}
