//! Probes of a mask, run in a child process. The child runs one input after the other and answers whether the run
//! reached the goal. After a run that ended early it exits, because its memory may be corrupted, and the next probe
//! gets a new child.

use std::{io::Write, os::unix::net::UnixStream, time::Duration};

use serde::{Deserialize, Serialize};

use super::place::{CodePlace, Condition};
use crate::{
    child::{Child, read_block, write_block},
    measurement::{self, Measurement},
};
use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi::Status, executor::HarnessExecutor, harness::Harness, input_page::InputPage, prepare, process::End,
    symbols::Symbols, timer,
};
use quagmire_search::mask::Goal;

/// Limits and output of the target's runs.
#[derive(Clone, Copy, Debug)]
pub struct ProbeLimits {
    /// Hang timeout of a run.
    pub hang_timeout: Duration,
    /// Memory limit in bytes; 0 for none.
    pub memory: u64,
    /// Whether to show the target's output.
    pub debug_target: bool,
}

/// Result of the run of the input itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct First {
    /// How it ended, and its cost.
    pub run: Measurement,
    /// The goal that probes have to reach.
    pub condition: Condition,
    /// Whether the input itself reaches it.
    pub is_satisfied: bool,
}

/// First message of a child; an error has a message, and whether the command line caused it.
type Opening = Result<Option<First>, (String, bool)>;

/// Result of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether the goal was reached, as far as the run came.
    pub is_satisfied: bool,
    /// Whether the run did not return.
    pub ended_early: bool,
    /// Whether it was cut off at the hang timeout.
    pub hung: bool,
}

impl Answer {
    fn byte(self) -> u8 {
        u8::from(self.is_satisfied) | u8::from(self.ended_early) << 1 | u8::from(self.hung) << 2
    }

    fn of(byte: u8) -> Self {
        Self { is_satisfied: byte & 1 != 0, ended_early: byte & 2 != 0, hung: byte & 4 != 0 }
    }
}

/// Runs probes in child processes. The goal is known once [`Prober::first`] was called.
pub(crate) struct Prober<'a> {
    harness: &'static Harness,
    limits: ProbeLimits,
    input: &'a [u8],
    condition: Option<Condition>,
    /// Whether new children run the input itself before their first probe, so that one-time initialisation does not
    /// count as cost.
    warm_up: bool,
    /// Input page of all children, since mappings are never freed.
    page: InputPage,
    child: Option<Child>,
}

/// A child that has ended or was killed.
struct Gone {
    end: End,
    was_stuck: bool,
}

impl<'a> Prober<'a> {
    /// Creates a prober for the mask of `input`.
    pub(crate) fn new(harness: &'static Harness, input: &'a [u8], limits: ProbeLimits) -> Result<Self> {
        // a probe inserts at most as many bytes as there are positions
        let page = InputPage::new(2 * input.len() + 1)?;
        page.set_hang_timeout(limits.hang_timeout);
        Ok(Self { harness, limits, input, condition: None, warm_up: true, page, child: None })
    }

    /// Runs the input itself, and finds the place if `branch` names one.
    ///
    /// # Errors
    /// If the target cannot be run or its process is killed, or the place is not found.
    pub(crate) fn first(&mut self, branch: Option<&str>) -> Result<First> {
        let first = self.start(branch)?.ok_or_else(|| Error::target("the target did not run"))?;
        self.warm_up = first.run.came_back();
        self.condition = Some(first.condition.clone());
        if !self.warm_up {
            self.bury()?;
        }
        Ok(first)
    }

    /// Runs one probe.
    pub(crate) fn probe(&mut self, text: &[u8]) -> Result<Answer> {
        if self.child.is_none() {
            self.start(None)?;
        }
        let Some(child) = &mut self.child else { return Err(Error::other("there is no child process")) };
        let mut answer = [0];
        // writing to a child that has ended fails; how it ended is read below
        if !child.send(text) || !child.receive(&mut answer, &self.page) {
            let gone = self.bury()?;
            return Ok(Answer { is_satisfied: false, ended_early: true, hung: gone.was_stuck });
        }
        let answer = Answer::of(answer[0]);
        if answer.ended_early {
            self.bury()?;
        }
        Ok(answer)
    }

    /// Starts a child; returns the result of the input itself, if it was not known yet.
    fn start(&mut self, branch: Option<&str>) -> Result<Option<First>> {
        let mut child = Child::start(|stream| self.serve(stream, branch))?;
        let text = child.receive_block(&self.page);
        self.child = Some(child);
        match text.and_then(|text| postcard::from_bytes::<Opening>(&text).ok()) {
            Some(Ok(first)) => Ok(first),
            Some(Err((message, true))) => Err(Error::usage(message)),
            Some(Err((message, false))) => Err(Error::target(message)),
            None => {
                let was_running = self.page.interrupted_bytes().is_some();
                let gone = self.bury()?;
                let how = if gone.was_stuck { "it blocks signals".to_owned() } else { gone.end.to_string() };
                Err(Error::target(if was_running {
                    format!("the input takes the target's process along ({how}): nothing is known of what it executes")
                } else {
                    format!("the target ended its process before the first run ({how})")
                }))
            }
        }
    }

    /// Waits for a child that has ended or is about to.
    fn bury(&mut self) -> Result<Gone> {
        let Some(child) = self.child.take() else { return Err(Error::other("there is no child process")) };
        let was_stuck = child.was_stuck;
        let end = child.end()?;
        self.page.end();
        Ok(Gone { end, was_stuck })
    }

    /// Main loop of the child. Returns `None` if the socket fails, which means that the parent is gone.
    fn serve(&self, mut stream: UnixStream, branch: Option<&str>) -> Option<()> {
        let opened = self.open(branch);
        let (opening, executor) = match opened {
            Ok((first, executor)) => (Ok(first), Some(executor)),
            Err(error) => (Err((error.message, error.code == ExitCode::Usage)), None),
        };
        let bytes = postcard::to_stdvec(&opening).ok()?;
        write_block(&mut stream, &bytes)?;
        let mut executor = executor?;
        let first = opening.ok()?;
        if first.as_ref().is_some_and(|first| !first.run.came_back()) {
            return Some(());
        }
        let condition = first.map(|first| first.condition).or_else(|| self.condition.clone())?;
        let mut text = Vec::new();
        loop {
            read_block(&mut stream, &mut text)?;
            let status = executor.execute(&text);
            let answer = Answer {
                is_satisfied: condition.is_satisfied(executor.counts()),
                ended_early: !matches!(status, Status::Returned | Status::Rejected),
                hung: status == Status::Hung,
            };
            stream.write_all(&[answer.byte()]).ok()?;
            if answer.ended_early {
                return Some(());
            }
        }
    }

    /// In the child: prepares the target, and runs the input if that is needed.
    fn open(&self, branch: Option<&str>) -> Result<(Option<First>, HarnessExecutor)> {
        let mut executor = prepare::prepare_target(self.harness, self.page.share(), self.limits.debug_target)?;
        let ProbeLimits { hang_timeout: hang, memory, .. } = self.limits;
        self.harness.start_timer(timer::RunLimits { hang, clock: timer::HangClock::Wall, memory, deadline: u64::MAX });
        if !self.warm_up {
            return Ok((None, executor));
        }
        let mut status = executor.execute(self.input);
        if self.condition.is_some() {
            return Ok((None, executor));
        }
        if matches!(status, Status::Returned | Status::Rejected) {
            // the first run also includes one-time initialisation
            status = executor.execute(self.input);
        }
        let counts = executor.counts();
        let run = measurement::describe(status, counts);
        let condition = match branch {
            None => Condition::keeps_cost(run.cost[Resource::Instructions]),
            Some(wanted) => Condition::Place(CodePlace::find(counts.program(), &mut Symbols::new(), wanted)?),
        };
        let is_satisfied = condition.is_satisfied(counts);
        Ok((Some(First { run, condition, is_satisfied }), executor))
    }
}

impl Drop for Prober<'_> {
    fn drop(&mut self) {
        // the child exits when its socket closes
        if self.child.is_some() {
            let _ = self.bury();
        }
    }
}
