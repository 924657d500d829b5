//! The child of a runner: runs inputs and answers.

use std::{collections::HashMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Detail, Run};
use crate::required::require;
use quagmire_base::error::Result;
use quagmire_choices::draws::Log;
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi::Status,
    executor::HarnessExecutor,
    harness::Harness,
    input_page::InputPage,
    lines::{self, FunctionLines},
    orphans::Orphans,
    program::Program,
    sampled::Sampler,
    session::Limits,
    symbols::Symbols,
    timer,
};

/// A request to the child.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Runs of the input in a row, and so much of the last one.
    Run { detail: Detail, repeats: u32 },
    /// A run of which it is recorded what a generator draws.
    Generate,
    /// The lines of the program.
    Lines,
}

/// Answer to a [`Request`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Run(Box<Run>),
    Generation(Generation),
    Lines(Vec<FunctionLines>),
}

/// Work of a generator in one run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Generation {
    /// Whether it has drawn anything.
    pub has_drawn: bool,
    pub ended_early: bool,
    /// The input without the bytes that nobody has read.
    pub read: Vec<u8>,
    /// Bytes that it has handed to `qgm_generated`, up to 1 MiB; `None` if it has not called it.
    pub generated: Option<Vec<u8>>,
}

/// The target in a child.
pub(super) struct Served {
    executor: HarnessExecutor,
    hang_timeout: Duration,
    /// Processes that a program has left; those of a harness are below this process, which ends soon.
    orphans: Option<Orphans>,
    symbols: Symbols,
    sampler: Option<Sampler>,
    /// Whether the next run is the first in this process.
    is_cold: bool,
    is_isolated: bool,
}

impl Served {
    pub(super) fn open(
        harness: &'static Harness,
        page: &InputPage,
        limits: Limits,
        valid_if_reached: Option<&str>,
    ) -> Result<Self> {
        let is_isolated = harness.is_isolated();
        let orphans = is_isolated.then(Orphans::adopt);
        let mut executor = limits.prepare(harness, page)?;
        if let Some(wanted) = valid_if_reached {
            require(executor.counts_mut(), wanted)?;
        }
        limits.start(harness);
        Ok(Self {
            executor,
            hang_timeout: limits.hang_timeout,
            orphans,
            symbols: Symbols::new(),
            sampler: None,
            is_cold: !is_isolated,
            is_isolated,
        })
    }

    /// Answers a request. Returns as well whether there may be more: not after a run that ended early in this process,
    /// whose memory may be corrupted.
    pub(super) fn answer(&mut self, request: Request, input: &[u8]) -> (Answer, bool) {
        if let Some(orphans) = &mut self.orphans {
            orphans.look(self.hang_timeout);
        }
        match request {
            Request::Run { detail, repeats } => {
                let (run, status) = self.run(input, detail, repeats);
                (Answer::Run(Box::new(run)), came_back(status) || self.is_isolated)
            }
            Request::Generate => {
                let generation = self.generate(input);
                let is_good = !generation.ended_early || self.is_isolated;
                (Answer::Generation(generation), is_good)
            }
            Request::Lines => (Answer::Lines(lines::lines_of_functions(self.executor.counts().program())), true),
        }
    }

    fn run(&mut self, input: &[u8], detail: Detail, repeats: u32) -> (Run, Status) {
        // of the run to come only
        timer::take_samples();
        let executor = &mut self.executor;
        let (mut status, mut seconds) = timed(executor, input, repeats);
        if std::mem::take(&mut self.is_cold) && came_back(status) {
            // the first run in a process does work that no other does (statics, caches)
            (status, seconds) = timed(executor, input, repeats);
        }
        let mut run = Run::of(status, executor.counts(), seconds, detail, &mut self.symbols);
        if detail == Detail::Source {
            run.uncounted = uncounted(&timer::take_samples(), &mut self.sampler, executor.counts().program());
        }
        (run, status)
    }

    fn generate(&mut self, input: &[u8]) -> Generation {
        self.executor.draws_mut().record(true);
        let status = self.executor.execute(input);
        let draws = self.executor.draws();
        let log = Log::new(draws.log(), input, draws.is_cut());
        Generation {
            has_drawn: !draws.log().is_empty(),
            ended_early: !came_back(status),
            read: log.trim_unread().unwrap_or_else(|| input.to_vec()),
            generated: draws.generated(),
        }
    }
}

/// The place without counts that most of some program counters are in: `parse of libfoo.so`, or an object without symbols.
fn uncounted(samples: &[u64], sampler: &mut Option<Sampler>, program: &Program) -> Option<String> {
    if samples.is_empty() {
        return None;
    }
    let sampler = sampler.get_or_insert_with(|| Sampler::new(program));
    let mut often: HashMap<String, usize> = HashMap::new();
    for function in samples.iter().filter_map(|&pc| sampler.function(pc)) {
        if function.is_without_counts() {
            *often.entry(function.in_words()).or_default() += 1;
        }
    }
    often.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(place, _)| place)
}

fn came_back(status: Status) -> bool {
    matches!(status, Status::Returned | Status::Rejected)
}

/// Runs an input `repeats` times in a row, at least once, until a run ends early. Returns how the last one ended, and the
/// mean of the CPU times in seconds.
fn timed(executor: &mut HarnessExecutor, input: &[u8], repeats: u32) -> (Status, f64) {
    executor.restart_clock();
    let before = executor.cpu_seconds();
    let (mut runs, mut inside) = (0, 0);
    loop {
        let status = executor.execute(input);
        runs += 1;
        inside += executor.counts().cost()[Resource::Time];
        if runs >= repeats || !came_back(status) {
            // CPU time has the copy of the input in it, and time inside of the target the waiting of a busy machine
            let seconds = (executor.cpu_seconds() - before).min(inside as f64 * 1e-9);
            return (status, seconds / f64::from(runs));
        }
    }
}
