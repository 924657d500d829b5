//! Runs of mutants, each with the inputs that may tell it, until one tells it from the original.

use std::time::Duration;

use super::{
    ScoreOptions,
    baseline::Stable,
    kill::{Killed, KilledBy, Verdict, difference},
    log::Log,
    probing::{LONGEST, Probed},
    progress::Progress,
    table::Table,
    workers::share,
};
use crate::interruption;
use quagmire_base::error::Result;
use quagmire_execution::fork_server::mutants::{MutantServer, Observed, RunEnd, RunLimits, Variant};

/// CPU time of a run of a mutant, as a multiple of that without a mutant, from which on it is a hang.
const HANG_RATIO: u32 = 10;
/// CPU time that is no hang, however quick the original is.
const NO_HANG: Duration = Duration::from_millis(50);

/// Runs the mutants that the log does not know yet, and adds them to it.
///
/// # Errors
/// If the program cannot be run, or the log cannot be written.
pub(super) fn hunt(
    options: &ScoreOptions,
    table: &Table,
    inputs: &[Stable],
    probed: &Probed,
    log: &mut Log,
) -> Result<()> {
    let is_open = |&mutant: &usize| {
        let may_be_told = !table.mutants[mutant].is_equivalent && probed.inputs_of(mutant).next().is_some();
        may_be_told && !log.has(mutant)
    };
    let open: Vec<usize> = (0..table.mutants.len()).filter(is_open).collect();
    let mut progress = Progress::new("mutants", open.len());
    let work = |server: &mut MutantServer, number: usize| {
        let mutant = open[number];
        let inputs: Vec<(&Stable, RunLimits)> = probed
            .inputs_of(mutant)
            .take(options.inputs_per_mutant)
            .map(|input| (&inputs[input], limits(options, inputs[input].cpu.max(probed.cpu[input]))))
            .collect();
        verdict(server, mutant, &table.mutants[mutant].sites, &inputs)
    };
    share(options, open.len(), work, |_, verdict: Verdict| {
        progress.step(usize::from(verdict.killed.is_some()));
        log.add(verdict)
    })
}

/// Runs a mutant. `None` if a signal came before it was done.
fn verdict(
    server: &mut MutantServer,
    mutant: usize,
    sites: &[(u32, u32)],
    inputs: &[(&Stable, RunLimits)],
) -> Result<Option<Verdict>> {
    let mut runs = 0;
    for &(input, limits) in inputs {
        if interruption::has_come() {
            return Ok(None);
        }
        if let Some((by, detail)) = told(server, sites, input, limits, &mut runs)? {
            let killed = Some(Killed { by, input: input.path.clone(), detail });
            return Ok(Some(Verdict { mutant, runs, killed }));
        }
    }
    Ok(Some(Verdict { mutant, runs, killed: None }))
}

/// How an input tells a mutant from the original; `None` if it does not. Adds the runs that it took to `runs`.
///
/// # Errors
/// If the program cannot be run.
pub(super) fn told(
    server: &mut MutantServer,
    sites: &[(u32, u32)],
    input: &Stable,
    limits: RunLimits,
    runs: &mut u64,
) -> Result<Option<(KilledBy, String)>> {
    let mut run = || {
        *runs += 1;
        server.run(&input.bytes, Variant::Mutant(sites), limits).map(|(observed, _)| observed)
    };
    let mut observed: Observed = run()?;
    // a busy machine, or a server that something else has ended, is no fault of the mutant
    if matches!(observed.end, RunEnd::TimedOut | RunEnd::Lost) {
        observed = run()?;
    }
    Ok(difference(&input.observed, &observed))
}

/// Limits of a mutant's runs with an input. `usual` is the CPU time of the original or of the probing run, whichever is
/// longer: the copy with the mutants is not optimised either, and computes all of a function.
pub(super) fn limits(options: &ScoreOptions, usual: Duration) -> RunLimits {
    let cpu = (usual * HANG_RATIO).clamp(NO_HANG, LONGEST);
    RunLimits { cpu, time: options.hang_timeout.max(cpu * 2), memory: options.memory_limit }
}
