//! Runs of the target in a child process that answer whether it accepts an input.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::child::{Child, read_block, write_block};
use quagmire_base::error::{Error, Result};
use quagmire_choices::draws::Log;
use quagmire_execution::{
    abi::Status,
    harness::Harness,
    input_page::InputPage,
    prepare,
    timer::{HangClock, RunLimits},
};

/// Answers of a child: the first says whether the target is ready.
const REJECTED: u8 = 0;
const ACCEPTED: u8 = 1;
/// The run ended early: the child exits, because its memory may be corrupted.
const ENDED: u8 = 2;
/// The target cannot be run. A message follows.
const UNUSABLE: u8 = 3;

/// Work of a generator in one run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Generation {
    /// Whether it has drawn anything.
    pub has_drawn: bool,
    /// Whether the run ended early.
    pub ended_early: bool,
    /// The input without the bytes that nobody has read.
    pub read: Vec<u8>,
    /// Bytes that it has handed to `qgm_generated`, up to 1 MiB; `None` if it has not called it.
    pub generated: Option<Vec<u8>>,
}

/// Asks the target whether it accepts inputs: it returns, has not rejected them, and its exit status is 0 if it is a
/// program. Inputs that crash it, hang or end its process are not accepted.
pub(crate) struct Acceptor {
    harness: &'static Harness,
    limits: RunLimits,
    debug_target: bool,
    is_recording: bool,
    page: InputPage,
    child: Option<Child>,
    /// Number of runs.
    pub executions: u64,
}

impl Acceptor {
    /// Creates an acceptor for inputs of at most `capacity` bytes: longer ones are not accepted.
    pub(crate) fn new(
        harness: &'static Harness,
        capacity: usize,
        hang: Duration,
        memory: u64,
        debug_target: bool,
    ) -> Result<Self> {
        let page = InputPage::new(capacity)?;
        page.set_hang_timeout(hang);
        let limits = RunLimits { hang, clock: HangClock::Wall, memory, deadline: u64::MAX };
        Ok(Self { harness, limits, debug_target, is_recording: false, page, child: None, executions: 0 })
    }

    /// Records what generators draw, for [`Self::generate`].
    pub(crate) fn recording(mut self) -> Self {
        self.is_recording = true;
        self
    }

    /// Whether the target accepts an input.
    pub(crate) fn accepts(&mut self, input: &[u8]) -> Result<bool> {
        if input.len() > self.page.capacity() {
            return Ok(false);
        }
        Ok(self.ask(input)?.0 == ACCEPTED)
    }

    /// Has a generator make an input from these bytes, which fit the capacity. `None` if that has ended the process.
    pub(crate) fn generate(&mut self, bytes: &[u8]) -> Result<Option<Generation>> {
        Ok(self.ask(bytes)?.1)
    }

    /// Runs an input. Returns the answer, and what is recorded.
    fn ask(&mut self, input: &[u8]) -> Result<(u8, Option<Generation>)> {
        self.executions += 1;
        let child = match self.child.take() {
            Some(child) => child,
            None => start(self)?,
        };
        let child = self.child.insert(child);
        let mut answer = [ENDED];
        let mut generation = None;
        // sending to a child that has ended fails
        let is_answered = child.send(input) && child.receive(&mut answer, &self.page);
        if is_answered && self.is_recording {
            generation = child.receive_block(&self.page).and_then(|bytes| postcard::from_bytes(&bytes).ok());
        }
        if !is_answered || answer[0] == ENDED {
            self.bury()?;
        }
        Ok((answer[0], generation))
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

impl Drop for Acceptor {
    fn drop(&mut self) {
        // the child exits when its socket closes
        let _ = self.bury();
    }
}

/// Starts a child, and waits until the target is ready in it.
fn start(acceptor: &Acceptor) -> Result<Child> {
    let page = &acceptor.page;
    let mut child = Child::start(|stream| serve(acceptor, stream))?;
    let mut answer = [ENDED];
    if child.receive(&mut answer, page) && answer[0] == ACCEPTED {
        return Ok(child);
    }
    let mut message = String::new();
    if answer[0] == UNUSABLE {
        let _ = child.stream.read_to_string(&mut message);
    }
    let end = child.end()?;
    Err(Error::target(if message.is_empty() {
        format!("the target ended its process before the first run ({end})")
    } else {
        message
    }))
}

/// Main loop of the child. Returns `None` if the socket fails, which means that the parent is gone.
fn serve(acceptor: &Acceptor, mut stream: UnixStream) -> Option<()> {
    let mut executor = match prepare::prepare_target(acceptor.harness, acceptor.page.share(), acceptor.debug_target) {
        Ok(executor) => executor,
        Err(error) => {
            stream.write_all(&[UNUSABLE]).ok()?;
            return stream.write_all(error.message.as_bytes()).ok();
        }
    };
    executor.draws_mut().record(acceptor.is_recording);
    acceptor.harness.start_timer(acceptor.limits);
    stream.write_all(&[ACCEPTED]).ok()?;
    let mut input = Vec::new();
    loop {
        read_block(&mut stream, &mut input)?;
        let answer = match executor.execute(&input) {
            Status::Returned if executor.counts().event().exit_code == 0 => ACCEPTED,
            Status::Returned | Status::Rejected => REJECTED,
            _ => ENDED,
        };
        stream.write_all(&[answer]).ok()?;
        if acceptor.is_recording {
            let draws = executor.draws();
            let log = Log::new(draws.log(), &input, draws.is_cut());
            let generation = Generation {
                has_drawn: !draws.log().is_empty(),
                ended_early: answer == ENDED,
                read: log.trim_unread().unwrap_or_else(|| input.clone()),
                generated: draws.generated(),
            };
            write_block(&mut stream, &postcard::to_stdvec(&generation).ok()?)?;
        }
        if answer == ENDED {
            return Some(());
        }
    }
}
