//! The search for a smaller input: runs within limits, and the best input so far, which is always on disk.

use std::{
    collections::HashMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{delta, goal::Goal};
use crate::{
    interruption,
    relations::{Relations, hash},
    runner::{Detail, Run, Runner},
};
use quagmire_base::{atomic::write_whole, error::Result};
use quagmire_choices::units::{Taken, Units, units};

/// Part of the time that is left in which half of the units have to be enough: removing bytes takes the rest.
const PARTS_OF_TIME: u32 = 4;

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Runs of the target.
    pub executions: u64,
    /// Time at which no run is begun any more.
    pub deadline: Instant,
}

/// Reason for an early end of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The number of runs is used up.
    Executions,
    /// The time is used up.
    Time,
    /// The user asked for the end.
    Interrupted,
}

/// A search for a smaller input.
pub(super) struct Search<'a> {
    /// Runs the target.
    pub runner: &'a mut Runner,
    /// Goal that smaller inputs keep.
    pub goal: Goal,
    limits: Limits,
    output: PathBuf,
    /// The smallest input so far that keeps the goal.
    pub best: Vec<u8>,
    /// Whether inputs keep the goal, by their hash.
    known: HashMap<u64, bool>,
    /// Reason why it is over before there was nothing left to try.
    pub stopped: Option<Stop>,
}

impl<'a> Search<'a> {
    /// Begins at an input, and writes it.
    pub(super) fn new(
        runner: &'a mut Runner,
        goal: Goal,
        limits: Limits,
        output: PathBuf,
        input: &[u8],
    ) -> Result<Self> {
        write_whole(&output, input)?;
        let known = HashMap::from([(hash(input), true)]);
        Ok(Self { runner, goal, limits, output, best: input.to_vec(), known, stopped: None })
    }

    /// Whether the limits are used up or the user asked for the end.
    pub(super) fn is_over(&mut self) -> bool {
        if self.stopped.is_none() {
            self.stopped = if interruption::has_come() {
                Some(Stop::Interrupted)
            } else if self.runner.executions() >= self.limits.executions {
                Some(Stop::Executions)
            } else {
                (Instant::now() >= self.limits.deadline).then_some(Stop::Time)
            };
        }
        self.stopped.is_some()
    }

    /// Time until no run is begun any more.
    pub(super) fn time_left(&self) -> Duration {
        self.limits.deadline.saturating_duration_since(Instant::now())
    }

    /// Runs an input. `None` if the search is over, or there is no room for it.
    pub(super) fn run(&mut self, input: &[u8]) -> Result<Option<Run>> {
        if self.is_over() || input.len() > self.runner.capacity() {
            return Ok(None);
        }
        let run = self.runner.run(input, Detail::Edges);
        if interruption::has_come() {
            // the signal goes to the child as well, which may have ended by it
            self.stopped = Some(Stop::Interrupted);
            return Ok(None);
        }
        let run = run?;
        self.note(input, &run)?;
        Ok(Some(run))
    }

    /// Whether an input keeps the goal; no if there is no room for it. `None` if the search is over.
    pub(super) fn holds(&mut self, input: &[u8]) -> Result<Option<bool>> {
        if self.is_over() {
            return Ok(None);
        }
        if let Some(&known) = self.known.get(&hash(input)) {
            return Ok(Some(known));
        }
        match self.run(input)? {
            Some(run) => Ok(Some(self.goal.is_kept_by(&run, input.len() as u64))),
            None => Ok(if self.is_over() { None } else { Some(false) }),
        }
    }

    /// The input with the fewest of its units, of the first kind of which half are enough, that keeps the goal, and without bytes of
    /// these that are not needed; the input itself if half are enough of no kind. `whole` is its run.
    pub(super) fn fewer_units(&mut self, input: &[u8], whole: &Run) -> Result<Vec<u8>> {
        let until = Instant::now() + self.time_left() / PARTS_OF_TIME;
        let all = units(input);
        if let Some(fewer) = self.fewest(&all, until)? {
            return Ok(fewer);
        }
        let goal = self.goal.clone();
        let mut run = |input: &[u8]| if Instant::now() >= until { Ok(None) } else { self.run(input) };
        let related = Relations::new(whole, &mut run, &|run| goal.keeps_way(run)).find(input, &all)?;
        Ok(self.fewest(&related, until)?.unwrap_or_else(|| input.to_vec()))
    }

    fn fewest(&mut self, all: &[Units<'_>], until: Instant) -> Result<Option<Vec<u8>>> {
        for units in all {
            for taken in [Taken::Spread, Taken::First, Taken::Last] {
                if Instant::now() >= until {
                    return Ok(None);
                }
                let mut holds = |count: usize| Ok(self.holds(&units.take(count, taken))? == Some(true));
                let (mut low, mut high) = (0, units.count() / 2);
                if !holds(high)? {
                    continue;
                }
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    if holds(middle)? { high = middle } else { low = middle }
                }
                let middle = units.middle(high, taken);
                let short = delta::shorten(&middle, &mut |bytes| self.holds(&units.around(bytes, high)))?;
                return Ok(Some(units.around(&short, high)));
            }
        }
        Ok(None)
    }

    /// Remembers a run, and writes its input if it is the smallest that keeps the goal.
    fn note(&mut self, input: &[u8], run: &Run) -> Result<()> {
        let is_kept = self.goal.is_kept_by(run, input.len() as u64);
        self.known.insert(hash(input), is_kept);
        if is_kept && input.len() < self.best.len() {
            write_whole(&self.output, input)?;
            self.best = input.to_vec();
        }
        Ok(())
    }
}
