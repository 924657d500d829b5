//! Executor that runs the target through a [`Harness`]: in this process, or under a fork server.

use libafl::{
    Error,
    executors::{Executor, ExitKind, HasObservers},
    inputs::{BytesInput, HasTargetBytes},
    state::HasExecutions,
};
use libafl_bolts::{ToSlice, tuples::RefIndexable};

use super::{
    abi::{Ended, Status},
    clock::Clock,
    counts::CountsObserver,
    draws::DrawsObserver,
    fork_server::ForkServer,
    harness::Harness,
    input_page::InputPage,
    perf::{Counters, Reading},
    process, timer,
};

/// The tuple of observers of a campaign.
pub type Observers = (CountsObserver, (DrawsObserver, ()));

/// LibAFL executor that runs inputs through a [`Harness`]. LibAFL's `InProcessExecutor` is not used because it sets a
/// timer twice per execution and handles a crash in the signal handler; here the runtime jumps back out of the
/// target, so that any ending is handled in ordinary code. LibAFL's `ForkserverExecutor` has no place for exact
/// counts (see `docs/src/internals/libafl.md`).
pub struct HarnessExecutor {
    harness: &'static Harness,
    page: InputPage,
    clock: Clock,
    /// CPU time of all runs made in processes of their own, in nanoseconds.
    elsewhere_ns: u64,
    /// CPU time in this process before targets began, in nanoseconds.
    generators_ns: u64,
    observers: Observers,
    /// Hardware counters of this thread, if cycles are theirs.
    counters: Option<Counters>,
    /// Whether a run has been made, or none does what later ones do not.
    is_warm: bool,
}

/// How many times the hang timeout the first run in a process may take: it may initialise what later runs only use.
const FIRST_RUN: u64 = 4;

impl HarnessExecutor {
    /// Creates an executor of `harness`, which must be initialised, and whose guard must have been started
    /// ([`Harness::start_timer`]).
    pub fn new(harness: &'static Harness, page: InputPage, observer: CountsObserver) -> Self {
        let draws = DrawsObserver::new(harness.draws());
        Self {
            harness,
            page,
            clock: Clock::new(),
            elsewhere_ns: 0,
            generators_ns: 0,
            observers: (observer, (draws, ())),
            counters: None,
            is_warm: harness.is_isolated(),
        }
    }

    /// Notices from now on whether the program reads its input, if that is its standard input; returns whether that can be
    /// noticed.
    pub fn watch_input(&self) -> bool {
        self.harness.fork_server().is_some_and(ForkServer::watch_input)
    }

    /// Whether a run has read, mapped or opened its standard input since [`Self::watch_input`].
    pub fn has_read_input(&self) -> bool {
        self.harness.fork_server().is_none_or(ForkServer::has_read_input)
    }

    /// Takes cycles from hardware counters of this thread, and not from the time-stamp counter, from now on. Where they
    /// cannot be read, a run has 0 cycles. For targets that run in this thread.
    pub fn count_cycles(&mut self, counters: Counters) {
        self.counters = Some(counters);
    }

    /// Opens libraries that an earlier process has seen being opened ([`HarnessExecutor::opened`]), so that their edges
    /// keep their numbers. Call it before the first run.
    pub fn open_again(&mut self, libraries: &[u8]) {
        if self.harness.fork_server().is_some_and(|server| server.open_again(libraries)) {
            self.observers.0.start_over();
        }
    }

    /// Whether runs of these inputs open all of these libraries ([`HarnessExecutor::opened`]) by themselves. Opened
    /// libraries are forgotten again. Call it before the first run.
    pub fn opens_by_itself(&mut self, libraries: &[u8], inputs: impl Iterator<Item = Vec<u8>>) -> bool {
        let harness = self.harness;
        let has_met = || libraries.is_empty() || harness.fork_server().is_some_and(|server| server.has_met(libraries));
        let mut opens = has_met();
        for input in inputs {
            if opens {
                break;
            }
            self.run(&input);
            opens = has_met();
        }
        if let Some(server) = harness.fork_server() {
            server.forget_met();
        }
        self.observers.0.clear();
        opens
    }

    /// Paths of the libraries that runs have opened under a fork server, zero-terminated, in the order in which their
    /// counts were added.
    pub fn opened(&self) -> Vec<u8> {
        self.harness.fork_server().map(ForkServer::opened).unwrap_or_default()
    }

    /// Forgets what this thread has waited for since the last run, which would be taken off the time of the next. For
    /// callers that wait between runs.
    pub fn restart_clock(&mut self) {
        self.clock = Clock::new();
    }

    /// CPU time of the target in seconds, without its generators, from an arbitrary start: only differences are
    /// meaningful.
    pub fn cpu_seconds(&self) -> f64 {
        if self.harness.is_isolated() {
            self.elsewhere_ns as f64 * 1e-9
        } else {
            process::cpu_seconds() - self.generators_ns as f64 * 1e-9
        }
    }

    /// Counts and cost of the last run.
    pub fn counts(&self) -> &CountsObserver {
        &self.observers.0
    }

    /// Counts and cost of the last run, mutable: for [`CountsObserver::commit`] and the like.
    pub fn counts_mut(&mut self) -> &mut CountsObserver {
        &mut self.observers.0
    }

    /// Draws of the last run.
    pub fn draws(&self) -> &DrawsObserver {
        &self.observers.1.0
    }

    /// Draws of the last run, mutable: to record them, and to set an overlay.
    pub fn draws_mut(&mut self) -> &mut DrawsObserver {
        &mut self.observers.1.0
    }

    /// Runs the target on `input` and digests its counts, outside LibAFL: not counted as an execution of the
    /// campaign, nor as a hit of branches.
    pub fn execute(&mut self, input: &[u8]) -> Status {
        self.observers.0.clear();
        let status = self.run_whole(input);
        self.observers.0.count_hits(false);
        self.observers.0.digest();
        self.observers.0.count_hits(true);
        self.observers.1.0.digest(input);
        status
    }

    /// Runs the target on `input` up to `times` times, until a run ends early. Counts add up, unless the target begins
    /// in the middle of its runs ([`DrawsObserver::has_generated`]): then they are those of the last run. The caller
    /// clears them before (`counts_mut().clear()`) and digests them after (`counts_mut().digest()`), outside of what it
    /// times.
    pub fn execute_repeatedly(&mut self, input: &[u8], times: u32) -> Status {
        let mut status = Status::Returned;
        let mut left = times;
        while left > 0 {
            left -= 1;
            status = self.run(input);
            if self.has_grown() {
                left = times;
            } else if !matches!(status, Status::Returned | Status::Rejected) {
                break;
            }
        }
        status
    }

    /// Makes one completely counted run: repeats a run that has opened libraries unknown to the fork server. Counts
    /// as one execution.
    #[inline]
    fn run_whole(&mut self, input: &[u8]) -> Status {
        let mut status = self.run(input);
        while self.has_grown() {
            let (before, event) = (status, self.observers.0.event());
            status = self.run(input);
            // an early end stays the result, even if the repetition returns
            if !matches!(before, Status::Returned | Status::Rejected)
                && matches!(status, Status::Returned | Status::Rejected)
            {
                status = before;
                self.observers.0.set_end(before, event);
            }
        }
        status
    }

    /// Whether the last run under the fork server has opened libraries that are counted from now on. If so, all
    /// counts are cleared, and whatever ran since the last clearing has to run again.
    #[inline]
    fn has_grown(&mut self) -> bool {
        let grown = self.harness.fork_server().is_some_and(ForkServer::take_in_libraries);
        if grown {
            self.observers.0.start_over();
        }
        grown
    }

    /// Gives the first run in this process more time: what is slow once is no hang.
    #[cold]
    fn run_first(&mut self, input: &[u8]) -> Status {
        self.is_warm = true;
        let be_patient = |page: &InputPage, times| {
            timer::be_patient(times);
            page.be_patient(times);
        };
        be_patient(&self.page, FIRST_RUN);
        let status = self.run(input);
        be_patient(&self.page, 1);
        status
    }

    #[inline]
    fn run(&mut self, input: &[u8]) -> Status {
        if !self.is_warm {
            return self.run_first(input);
        }
        // SAFETY: one run after the other, whose bytes nothing looks at after it.
        let bytes = unsafe { self.page.begin(input) };
        let before = self.counters.as_mut().map(Counters::read);
        let Ended { status, event, resources, resident } = self.harness.run(bytes);
        let counted = before.map(|before| cycles_since(before, self.counters.as_mut().and_then(Counters::read)));
        self.page.end();
        let time = if resources.time_ns == 0 { self.clock.time_of(resources.cycles) } else { resources.time_ns };
        self.elsewhere_ns += resources.time_ns;
        let generator = self.observers.1.0.generator_cycles();
        if generator > 0 {
            self.generators_ns += self.clock.time_of(generator);
        }
        self.observers.0.set_measured(counted.unwrap_or(resources.cycles), time, &resources, resident);
        self.observers.0.set_end(status, event);
        status
    }
}

/// Cycles between two readings of hardware counters; 0 if there were none.
fn cycles_since(before: Option<Reading>, after: Option<Reading>) -> u64 {
    let amounts = before.zip(after).and_then(|(before, after)| after.since(before, 1));
    amounts.map_or(0, |[_, cycles]| cycles as u64)
}

impl HasObservers for HarnessExecutor {
    type Observers = Observers;

    fn observers(&self) -> RefIndexable<&Self::Observers, Self::Observers> {
        RefIndexable::from(&self.observers)
    }

    fn observers_mut(&mut self) -> RefIndexable<&mut Self::Observers, Self::Observers> {
        RefIndexable::from(&mut self.observers)
    }
}

impl<EM, S, Z> Executor<EM, BytesInput, S, Z> for HarnessExecutor
where
    S: HasExecutions,
{
    #[inline]
    fn run_target(
        &mut self,
        _fuzzer: &mut Z,
        state: &mut S,
        _mgr: &mut EM,
        input: &BytesInput,
    ) -> Result<ExitKind, Error> {
        *state.executions_mut() += 1;
        Ok(match self.run_whole(input.target_bytes().to_slice()) {
            Status::Returned | Status::Rejected => ExitKind::Ok,
            Status::Crashed | Status::Exited => ExitKind::Crash,
            Status::Hung => ExitKind::Timeout,
            Status::Memory => ExitKind::Oom,
        })
    }
}
