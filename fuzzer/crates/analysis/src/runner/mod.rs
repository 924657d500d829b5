//! Runs of inputs, one after the other, in a child process: what each costs, how often it executes each edge, and
//! where in the source. Growth, minimising, distilling and comparing stand on it.

pub mod offer;
mod protocol;
pub mod remote;
mod run;
mod serve;

use std::time::Duration;

use crate::{child::Child, command::TargetOptions};
use quagmire_base::error::{Error, Result};
use quagmire_execution::{harness::Harness, input_page::InputPage, lines::FunctionLines, timer};
pub use run::{Detail, EdgeCount, FunctionCount, Run};
use serve::{LINES, Opening, serve, wanted};

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
    options: RunnerOptions,
    page: InputPage,
    child: Option<Child>,
    /// Number of inputs that were run.
    executions: u64,
}

impl Runner {
    /// Creates a runner for inputs of at most `capacity` bytes. The command must have no other thread.
    pub fn new(harness: &'static Harness, capacity: usize, options: RunnerOptions) -> Result<Self> {
        let page = InputPage::new(capacity.max(1))?;
        publish(&page, options.hang_timeout);
        Ok(Self { harness, options, page, child: None, executions: 0 })
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
        if self.child.is_none() {
            self.child = Some(self.start()?);
        }
        let Some(child) = &mut self.child else { return Err(Error::other("there is no child process")) };
        // sending to a child that has ended fails
        let is_sent = child.send(&wanted(detail, repeats)) && child.send(input);
        let answer = if is_sent { child.receive_block(&self.page) } else { None };
        let run = match answer.and_then(|bytes| postcard::from_bytes::<Run>(&bytes).ok()) {
            Some(run) => run,
            None => return self.killed(),
        };
        if run.came_back() || self.harness.is_isolated() {
            return Ok(run);
        }
        self.bury()?;
        Ok(run)
    }

    /// All lines with code of the program and of the libraries that it has opened so far, by file and function; empty
    /// without debug information.
    ///
    /// # Errors
    /// If no child can be started, or the target cannot be run at all.
    pub fn lines(&mut self) -> Result<Vec<FunctionLines>> {
        if self.child.is_none() {
            self.child = Some(self.start()?);
        }
        let Some(child) = &mut self.child else { return Err(Error::other("there is no child process")) };
        let is_sent = child.send(&[LINES]) && child.send(&[]);
        let answer = if is_sent { child.receive_block(&self.page) } else { None };
        match answer.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
            Some(lines) => Ok(lines),
            None => self.killed().map(|_| Vec::new()),
        }
    }

    /// The run of an input that has ended its child.
    fn killed(&mut self) -> Result<Run> {
        let Some(child) = self.child.take() else { return Err(Error::other("there is no child process")) };
        let was_stuck = child.was_stuck;
        let was_running = self.page.interrupted_bytes().is_some();
        let end = child.end()?;
        self.page.end();
        if was_running { Ok(Run::killed(was_stuck, &end)) } else { Err(ended_outside(&end)) }
    }

    /// Starts a child, and waits until the target is ready in it.
    fn start(&self) -> Result<Child> {
        let mut child = Child::start(|stream| serve(self.harness, self.page.share(), &self.options, stream))?;
        let opening = child.receive_block(&self.page);
        match opening.and_then(|bytes| postcard::from_bytes::<Opening>(&bytes).ok()) {
            Some(Opening::Ready) => Ok(child),
            Some(Opening::Unusable { message, is_usage }) => {
                child.end()?;
                Err(if is_usage { Error::usage(message) } else { Error::target(message) })
            }
            None => Err(ended_outside(&child.end()?)),
        }
    }

    /// Hang timeout of a run.
    pub fn hang_timeout(&self) -> Duration {
        self.options.hang_timeout
    }

    /// Sets the hang timeout of the runs to come. Ends the child.
    pub fn set_hang_timeout(&mut self, timeout: Duration) -> Result<()> {
        self.bury()?;
        self.options.hang_timeout = timeout;
        publish(&self.page, timeout);
        Ok(())
    }

    /// Ends the child: the next input gets a new one, which knows nothing of the runs before.
    pub fn restart(&mut self) -> Result<()> {
        self.bury()
    }

    /// Waits for a child that has ended or is about to.
    fn bury(&mut self) -> Result<()> {
        if let Some(child) = self.child.take() {
            child.end()?;
            self.page.end();
        }
        Ok(())
    }
}

/// Tells the watchdog of a hang timeout: it waits for twice of what it is told, and the timer for as long as this.
fn publish(page: &InputPage, timeout: Duration) {
    page.set_hang_timeout(timeout.saturating_mul(timer::PATIENCE / 2));
}

fn ended_outside(end: &quagmire_execution::process::End) -> Error {
    Error::target(format!("the target ended its process outside of a run ({end})"))
}

impl Drop for Runner {
    fn drop(&mut self) {
        // the child exits when its socket closes
        let _ = self.bury();
    }
}
