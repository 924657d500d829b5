//! Runs of the performance mutants whose cost cannot be charged: it is elsewhere in the program.

use std::time::Duration;

use super::{
    ScoreOptions,
    baseline::Stable,
    charging::{Candidate, Charged},
    progress::Progress,
    table::Table,
    workers::share,
};
use crate::interruption;
use quagmire_base::error::Result;
use quagmire_execution::fork_server::mutants::{MutantServer, RunEnd, RunLimits};

/// Multiple of the CPU time of an input at which a run with a mutant is stopped.
const STOPPED_AT: u32 = 200;
/// CPU time that every run may take.
const ALWAYS: Duration = Duration::from_millis(50);

/// Result of a run.
struct Ran {
    of: Candidate,
    /// Instructions beyond those of the input itself; `None` if the run did something else.
    added: Option<u64>,
}

/// Runs each of these mutants with the inputs that come to its place more often than its gate says, most often first, at
/// most [`ScoreOptions::inputs_per_mutant`] of them, and adds what they cost. Returns whether all were run.
pub(super) fn run(
    options: &ScoreOptions,
    factor: f64,
    table: &Table,
    inputs: &[Stable],
    charged: &mut Charged,
) -> Result<bool> {
    let Charged { mutants, candidates, .. } = charged;
    for of_one in candidates.iter_mut() {
        of_one.sort_by_key(|one| (std::cmp::Reverse(one.times), one.own.input));
        of_one.truncate(options.inputs_per_mutant);
    }
    let open: Vec<usize> = (0..candidates.len()).filter(|&mutant| !candidates[mutant].is_empty()).collect();
    let mut progress = Progress::new("mutants", open.len());
    let work = |server: &mut MutantServer, number: usize| {
        let mutant = open[number];
        let mut all = Vec::new();
        for &candidate in &candidates[mutant] {
            if interruption::has_come() {
                return Ok(None);
            }
            all.push(ran(server, options, &table.mutants[mutant].sites, &inputs[candidate.own.input], candidate)?);
        }
        Ok(Some(all))
    };
    let mut done = 0;
    share(options, open.len(), work, |number, all: Vec<Ran>| {
        done += 1;
        let slowed = &mut mutants[open[number]];
        slowed.runs = all.len() as u64;
        for one in all {
            match one.added {
                Some(added) => slowed.add(one.of.own, added, factor),
                None => slowed.changed_runs += 1,
            }
        }
        progress.step(usize::from(slowed.first.is_some()));
        Ok(())
    })?;
    Ok(done == open.len())
}

/// Runs a mutant with an input. A run that is stopped costs what it did until then.
fn ran(
    server: &mut MutantServer,
    options: &ScoreOptions,
    sites: &[(u32, u32)],
    input: &Stable,
    of: Candidate,
) -> Result<Ran> {
    let cpu = (input.cpu * STOPPED_AT).max(ALWAYS).min(options.hang_timeout);
    let limits = RunLimits { cpu, time: options.hang_timeout.max(cpu * 2), memory: options.memory_limit };
    let (observed, charges) = server.charge(&input.bytes, sites, limits)?;
    let says = observed == input.observed || observed.end == RunEnd::TimedOut;
    Ok(Ran { of, added: says.then(|| charges.instructions.saturating_sub(of.own.instructions)) })
}
