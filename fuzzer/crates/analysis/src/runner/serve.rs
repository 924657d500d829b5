//! The child of a runner: runs inputs and answers.

use std::{collections::HashMap, os::unix::net::UnixStream};

use serde::{Deserialize, Serialize};

use super::{Detail, Run, RunnerOptions};
use crate::{
    child::{read_block, write_block},
    required::require,
};
use quagmire_base::error::{ExitCode, Result};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi::Status, executor::HarnessExecutor, harness::Harness, input_page::InputPage, lines, orphans::Orphans, prepare,
    program::Program, sampled::Sampler, symbols::Symbols, timer,
};

/// First message of a child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Opening {
    /// The target is ready.
    Ready,
    /// The target cannot be run.
    Unusable {
        /// Why, for the user.
        message: String,
        /// Whether the command line is the reason.
        is_usage: bool,
    },
}

/// Encodes a request for runs of an input as bytes for the child: how much of the last one, and how many.
pub(super) fn wanted(detail: Detail, repeats: u32) -> [u8; 5] {
    let [a, b, c, d] = repeats.to_le_bytes();
    [detail as u8, a, b, c, d]
}

/// Message that asks for the lines of the program instead of a run.
pub(super) const LINES: u8 = u8::MAX;

/// Main loop of the child. Returns `None` if the socket fails, which means that the parent is gone.
pub(super) fn serve(
    harness: &'static Harness,
    page: InputPage,
    options: &RunnerOptions,
    mut stream: UnixStream,
) -> Option<()> {
    // those of a harness are below this process, which ends soon
    let mut orphans = harness.is_isolated().then(Orphans::adopt);
    let mut executor = match open(harness, page, options) {
        Ok(executor) => {
            write_block(&mut stream, &postcard::to_stdvec(&Opening::Ready).ok()?)?;
            executor
        }
        Err(error) => {
            let is_usage = error.code == ExitCode::Usage;
            let unusable = Opening::Unusable { message: error.message, is_usage };
            return write_block(&mut stream, &postcard::to_stdvec(&unusable).ok()?);
        }
    };
    let mut symbols = Symbols::new();
    let mut sampler = None;
    let (mut wanted, mut input) = (Vec::new(), Vec::new());
    let mut is_cold = !harness.is_isolated();
    loop {
        read_block(&mut stream, &mut wanted)?;
        read_block(&mut stream, &mut input)?;
        if let Some(orphans) = &mut orphans {
            orphans.look(options.hang_timeout);
        }
        if wanted == [LINES] {
            let known = lines::lines_of_functions(executor.counts().program());
            write_block(&mut stream, &postcard::to_stdvec(&known).ok()?)?;
            continue;
        }
        // of the run to come only
        timer::take_samples();
        let repeats = wanted.get(1..).and_then(|bytes| bytes.try_into().ok()).map_or(1, u32::from_le_bytes);
        let (mut status, mut seconds) = timed(&mut executor, &input, repeats);
        if std::mem::take(&mut is_cold) && came_back(status) {
            // the first run in a process does work that no other does (statics, caches)
            (status, seconds) = timed(&mut executor, &input, repeats);
        }
        let detail = Detail::from_byte(wanted.first().copied().unwrap_or_default());
        let mut run = Run::of(status, executor.counts(), seconds, detail, &mut symbols);
        if detail == Detail::Source {
            run.uncounted = uncounted(&timer::take_samples(), &mut sampler, executor.counts().program());
        }
        write_block(&mut stream, &postcard::to_stdvec(&run).ok()?)?;
        if !came_back(status) && !harness.is_isolated() {
            return Some(());
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

/// Prepares the target in this process.
fn open(harness: &'static Harness, page: InputPage, options: &RunnerOptions) -> Result<HarnessExecutor> {
    let mut executor = prepare::prepare_target(harness, page, options.debug_target)?;
    if let Some(wanted) = &options.valid_if_reached {
        require(executor.counts_mut(), wanted)?;
    }
    let RunnerOptions { hang_timeout: hang, memory_limit: memory, .. } = *options;
    harness.start_timer(timer::RunLimits { hang, clock: timer::HangClock::Cpu, memory, deadline: u64::MAX });
    Ok(executor)
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
