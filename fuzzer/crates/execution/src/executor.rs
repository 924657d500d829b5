//! Runs the target by the harness that it is given: in this process, or under a fork server.

use libafl::{
    Error,
    executors::{Executor, ExitKind, HasObservers},
    inputs::{BytesInput, HasTargetBytes},
    state::HasExecutions,
};
use libafl_bolts::{ToSlice, tuples::RefIndexable};

use super::{
    abi::{Harness, Status},
    clock::Clock,
    counts::CountsObserver,
    fork_server,
    input_page::InputPage,
    process,
};

/// The observers of a campaign.
pub type Observers = (CountsObserver, ());

/// Executes inputs by a [`Harness`]. LibAFL's `InProcessExecutor` is not used because it sets a timer twice per execution
/// and treats a crash in the signal handler; here the runtime jumps back out of the target, so that whatever happened is
/// handled in ordinary code (see DESIGN.md, "Surviving the target"). LibAFL's `ForkserverExecutor` has no place for exact
/// counts ("Programs without a harness").
pub struct HarnessExecutor {
    harness: &'static Harness,
    page: InputPage,
    clock: Clock,
    /// CPU time of all runs that were made in processes of their own, in nanoseconds.
    elsewhere_ns: u64,
    observers: Observers,
}

impl HarnessExecutor {
    /// Executes with the target of `harness`, whose guard must have been started (`tick::start`).
    pub fn new(harness: &'static Harness, page: InputPage, observer: CountsObserver) -> Self {
        Self { harness, page, clock: Clock::new(), elsewhere_ns: 0, observers: (observer, ()) }
    }

    /// Opens the libraries that an earlier process has seen to be opened ([`fork_server::opened`]), so that their edges have
    /// the numbers that they had there. Before the first run.
    pub fn open_again(&mut self, libraries: &[u8]) {
        if fork_server::open_again(libraries) {
            self.observers.0.start_over();
        }
    }

    /// Whether the program opens these libraries ([`fork_server::opened`]) by itself, in runs of some of these inputs. Nothing
    /// else opens them meanwhile, and what was opened is forgotten. Before the first run.
    pub fn opens_by_itself(&mut self, libraries: &[u8], inputs: impl Iterator<Item = Vec<u8>>) -> bool {
        let mut opens = fork_server::has_met(libraries);
        for input in inputs {
            if opens {
                break;
            }
            self.run(&input);
            opens = fork_server::has_met(libraries);
        }
        fork_server::forget_met();
        self.observers.0.clear();
        opens
    }

    /// CPU time in seconds, of which only differences mean something: what passes in a run is the target's.
    pub fn cpu_seconds(&self) -> f64 {
        if fork_server::is_used() { self.elsewhere_ns as f64 * 1e-9 } else { process::cpu_seconds() }
    }

    /// What the last run did.
    pub fn counts(&self) -> &CountsObserver {
        &self.observers.0
    }

    /// See [`CountsObserver::commit`].
    pub fn counts_mut(&mut self) -> &mut CountsObserver {
        &mut self.observers.0
    }

    /// Runs the target on `input` and digests its counts, without LibAFL around it: it is no execution of the campaign, and
    /// does not count among the hits of branches either.
    pub fn execute(&mut self, input: &[u8]) -> Status {
        self.observers.0.clear();
        let status = self.run_whole(input);
        self.observers.0.count_hits(false);
        self.observers.0.digest();
        self.observers.0.count_hits(true);
        status
    }

    /// Runs the target on `input` up to `times` times, until a run ends early. The counts add up; the caller clears them
    /// before (`counts_mut().clear()`) and digests them after (`counts_mut().digest()`), outside what it times.
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

    /// One run that counts all it does: one that has opened libraries that the fork server did not know is made again. It is
    /// one execution.
    #[inline]
    fn run_whole(&mut self, input: &[u8]) -> Status {
        let mut status = self.run(input);
        while self.has_grown() {
            let (before, event) = (status, self.observers.0.event());
            status = self.run(input);
            // what ended early was seen to do so, even if it does not any more
            if !matches!(before, Status::Returned | Status::Rejected)
                && matches!(status, Status::Returned | Status::Rejected)
            {
                status = before;
                self.observers.0.set_end(before, event);
            }
        }
        status
    }

    /// Whether the last run has opened libraries that are counted from now on, under the fork server. Then all counts are
    /// cleared: what was run since they were cleared last has to be run again.
    #[inline]
    fn has_grown(&mut self) -> bool {
        let grown = fork_server::take_in_libraries();
        if grown {
            self.observers.0.start_over();
        }
        grown
    }

    #[inline]
    fn run(&mut self, input: &[u8]) -> Status {
        let (data, length) = self.page.begin(input);
        // SAFETY: the harness's own function with a valid buffer.
        let status = unsafe { (self.harness.run)(data, length) };
        self.page.end();
        // SAFETY: a static of the harness, written when the run ended.
        let resources = unsafe { *self.harness.resources };
        let time = if resources.time_ns == 0 { self.clock.time_of(resources.cycles) } else { resources.time_ns };
        self.elsewhere_ns += resources.time_ns;
        self.observers.0.set_measured(resources.cycles, time, &resources);
        let event = if matches!(status, Status::Returned | Status::Rejected) {
            super::abi::Event::default()
        } else {
            // SAFETY: a static of the harness, written before the run ended.
            unsafe { *self.harness.event }
        };
        self.observers.0.set_end(status, event);
        status
    }
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
