//! Runs of the original on each input, and the choice of the inputs that are left out.

use std::time::Duration;

use super::{ScoreOptions, progress::Progress, workers::share};
use quagmire_base::{
    error::{Error, Result},
    seeds::Seed,
};
use quagmire_execution::fork_server::mutants::{MutantServer, Observed, RunEnd, RunLimits, Variant};

/// Runs of each input: all but the last one in the first server, the last one in another, in which addresses differ.
const RUNS: [usize; 2] = [2, 1];

/// An input whose runs are all the same.
#[derive(Clone, Debug)]
pub(super) struct Stable {
    pub path: String,
    pub bytes: Vec<u8>,
    pub observed: Observed,
    /// CPU time of its quickest run.
    pub cpu: Duration,
}

/// An input that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub path: String,
    pub reason: &'static str,
}

/// Limits of runs of the original.
pub(super) fn generous(options: &ScoreOptions) -> RunLimits {
    RunLimits { cpu: options.hang_timeout, time: options.hang_timeout, memory: options.memory_limit }
}

/// Runs all inputs without a mutant. Inputs that a signal has kept from being run are in neither list.
pub(super) fn measure(options: &ScoreOptions, inputs: Vec<Seed>) -> Result<(Vec<Stable>, Vec<LeftOut>)> {
    let mut runs: Vec<Vec<(Observed, Duration)>> = vec![Vec::new(); inputs.len()];
    for repeats in RUNS {
        let mut progress = Progress::new("original", inputs.len());
        let work = |server: &mut MutantServer, number: usize| {
            let run = |_| server.run(&inputs[number].bytes, Variant::Original, generous(options));
            (0..repeats).map(run).collect::<Result<Vec<_>>>().map(Some)
        };
        share(options, inputs.len(), work, |number, more| {
            runs[number].extend(more);
            progress.step(0);
            Ok(())
        })?;
    }
    let (mut stable, mut left_out) = (Vec::new(), Vec::new());
    for (input, runs) in inputs.into_iter().zip(runs) {
        let path = input.path.display().to_string();
        let Some((observed, _)) = runs.first().copied().filter(|_| runs.len() == RUNS.iter().sum::<usize>()) else {
            continue;
        };
        let reason = match observed.end {
            _ if runs.iter().any(|(other, _)| *other != observed) => Some("unstable"),
            RunEnd::TimedOut => Some("hang"),
            RunEnd::Lost => Some("lost"),
            RunEnd::Ended(_) => None,
        };
        match reason {
            Some(reason) => left_out.push(LeftOut { path, reason }),
            None => {
                let cpu = runs.iter().map(|(_, cpu)| *cpu).min().unwrap_or_default();
                stable.push(Stable { path, bytes: input.bytes, observed, cpu });
            }
        }
    }
    Ok((stable, left_out))
}

/// Error of a corpus of which nothing is left.
pub(super) fn nothing_left(left_out: &[LeftOut]) -> Error {
    let first = left_out.first().map(|one| format!(": {} ({})", one.path, in_words(one.reason))).unwrap_or_default();
    Error::target(format!(
        "no input does the same in each run of the original{first}; make the program repeatable (random seeds, times, \
         addresses in its output), or give other inputs"
    ))
}

/// A reason for people.
pub(super) fn in_words(reason: &str) -> &'static str {
    match reason {
        "hang" => "longer than --hang-timeout",
        "lost" => "ended its server",
        "differs-unoptimised" => "does something else where it is not optimised",
        _ => "not the same in each run",
    }
}
