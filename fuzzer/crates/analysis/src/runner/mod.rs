//! Runs of inputs, one after the other, in a child process: what each costs, how often it executes each edge, and
//! where in the source. Growth, minimising, distilling, comparing, mining and masks stand on it.

pub mod offer;
mod protocol;
pub mod remote;
mod run;
mod serve;

use std::time::Duration;

use crate::command::TargetOptions;
use quagmire_base::error::{Error, Result};
use quagmire_execution::{
    harness::Harness,
    input_page::InputPage,
    lines::FunctionLines,
    session::{Gone, Limits, Session},
    timer::HangClock,
};
pub use run::{Detail, EdgeCount, FunctionCount, Run};
pub(crate) use serve::Generation;
use serve::{Answer, Request, Served};

/// Limits and output of the target's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerOptions {
    /// Hang timeout of a run, in CPU time; at least 10 ms.
    pub hang_timeout: Duration,
    /// Memory limit in bytes; 0 for none.
    pub memory_limit: u64,
    /// Whether to show the target's output.
    pub debug_target: bool,
    /// Function that valid runs enter; see `--valid-if-reached`.
    pub valid_if_reached: Option<String>,
}

impl TargetOptions {
    /// How inputs are run one after the other.
    pub fn runner(&self) -> RunnerOptions {
        RunnerOptions {
            hang_timeout: self.hang_timeout,
            memory_limit: self.memory_limit,
            debug_target: self.debug_target,
            valid_if_reached: None,
        }
    }
}

/// Runs inputs in a child process. After a run that ended early in it, whose memory may then be corrupted, the next
/// input gets a new child.
pub struct Runner {
    harness: &'static Harness,
    limits: Limits,
    valid_if_reached: Option<String>,
    page: InputPage,
    session: Option<Session<Request, Answer>>,
    /// Number of inputs that were run.
    executions: u64,
}

impl Runner {
    /// Creates a runner for inputs of at most `capacity` bytes. The command must have no other thread.
    pub fn new(harness: &'static Harness, capacity: usize, options: RunnerOptions) -> Result<Self> {
        let RunnerOptions { hang_timeout, memory_limit, debug_target, valid_if_reached } = options;
        let limits = Limits { hang_timeout, clock: HangClock::Cpu, memory_limit, debug_target };
        let mut runner = Self::within(harness, capacity, limits)?;
        runner.valid_if_reached = valid_if_reached;
        Ok(runner)
    }

    /// As [`Self::new`], with any clock; all inputs that the target accepts are valid.
    pub(crate) fn within(harness: &'static Harness, capacity: usize, limits: Limits) -> Result<Self> {
        let page = limits.page(capacity)?;
        Ok(Self { harness, limits, valid_if_reached: None, page, session: None, executions: 0 })
    }

    /// Number of inputs that were run so far.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Largest input that can be run, in bytes.
    pub fn capacity(&self) -> usize {
        self.page.capacity()
    }

    /// Runs an input, and returns as much of its run as `detail` asks for.
    ///
    /// # Errors
    /// If the input exceeds the capacity, no child can be started, or the target cannot be run at all.
    pub fn run(&mut self, input: &[u8], detail: Detail) -> Result<Run> {
        self.run_repeatedly(input, detail, 1)
    }

    /// Runs an input so many times in a row, at least once, for times that one run is too short for. Returns the last run,
    /// with the mean of the CPU times; a run that ends early is the last.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_repeatedly(&mut self, input: &[u8], detail: Detail, repeats: u32) -> Result<Run> {
        if input.len() > self.capacity() {
            let (bytes, most) = (input.len(), self.capacity());
            return Err(Error::other(format!("an input of {bytes} bytes is larger than the {most} there is room for")));
        }
        self.executions += u64::from(repeats.max(1));
        match self.ask(Request::Run { detail, repeats }, input)? {
            Ok(Answer::Run(run)) => {
                if !run.came_back() && !self.harness.is_isolated() {
                    self.restart()?;
                }
                Ok(*run)
            }
            Ok(_) => Err(Error::other("the child has answered another question")),
            Err(gone) => Ok(Run::killed(&gone)),
        }
    }

    /// Whether the target accepts an input: it returns, has not rejected it, and its exit status is 0 if it is a program.
    /// Inputs that crash it, hang or end its process are not accepted, nor are those that exceed the capacity.
    pub(crate) fn accepts(&mut self, input: &[u8]) -> Result<bool> {
        Ok(input.len() <= self.capacity() && self.run(input, Detail::Cost)?.is_valid)
    }

    /// Has a generator make an input from these bytes, which fit the capacity. `None` if that has ended the process.
    pub(crate) fn generate(&mut self, bytes: &[u8]) -> Result<Option<Generation>> {
        let Ok(Answer::Generation(generation)) = self.ask(Request::Generate, bytes)? else { return Ok(None) };
        if generation.ended_early && !self.harness.is_isolated() {
            self.restart()?;
        }
        Ok(Some(generation))
    }

    /// All lines with code of the program and of the libraries that it has opened so far, by file and function; empty
    /// without debug information.
    ///
    /// # Errors
    /// If no child can be started, or the target cannot be run at all.
    pub fn lines(&mut self) -> Result<Vec<FunctionLines>> {
        match self.ask(Request::Lines, &[])? {
            Ok(Answer::Lines(lines)) => Ok(lines),
            _ => Ok(Vec::new()),
        }
    }

    /// Has a child answer a request; returns how a run has ended the child, if one has.
    fn ask(&mut self, request: Request, input: &[u8]) -> Result<Result<Answer, Gone>> {
        let outside =
            |gone: Gone| Error::target(format!("the target ended its process outside of a run ({})", gone.end));
        let session = match self.session.take() {
            Some(session) => session,
            None => {
                let open = || Served::open(self.harness, &self.page, self.limits, self.valid_if_reached.as_deref());
                Session::start(&self.page, open, Served::answer)?.map_err(outside)?
            }
        };
        match session.ask(&request, input)? {
            Ok((session, answer)) => {
                self.session = Some(session);
                Ok(Ok(answer))
            }
            Err(gone) => {
                let was_running = self.page.interrupted_bytes().is_some();
                self.page.end();
                if was_running { Ok(Err(gone)) } else { Err(outside(gone)) }
            }
        }
    }

    /// Hang timeout of a run.
    pub fn hang_timeout(&self) -> Duration {
        self.limits.hang_timeout
    }

    /// Sets the hang timeout of the runs to come. Ends the child.
    pub fn set_hang_timeout(&mut self, timeout: Duration) -> Result<()> {
        self.restart()?;
        self.limits.hang_timeout = timeout;
        self.limits.publish(&self.page);
        Ok(())
    }

    /// Ends the child: the next input gets a new one, which knows nothing of the runs before.
    pub fn restart(&mut self) -> Result<()> {
        if let Some(session) = self.session.take() {
            session.end()?;
            self.page.end();
        }
        Ok(())
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // the child exits when its socket closes
        let _ = self.restart();
    }
}
