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
use quagmire_execution::fork_server::mutants::{MutantServer, RunEnd, RunLimits, Variant};

/// CPU time of a run of a mutant, as a multiple of that without a mutant, from which on it is a hang.
const HANG_RATIO: u32 = 10;
/// CPU time that is no hang, however quick the original is.
const NO_HANG: Duration = Duration::from_millis(50);
/// Runs of a mutant that is slower, all of which are: something else may have made one of them slow.
const SLOW_RUNS: usize = 4;
/// CPU time that a slower run takes more at least: what a process takes differs by less.
const LEAST_MORE: Duration = Duration::from_millis(5);

/// Limits of a run of a mutant, and the cost that kills it.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    limits: RunLimits,
    /// CPU time without a fault, in the slower of the two copies.
    usual: Duration,
    /// CPU time from which on the cost kills the mutant, if it may.
    slow: Option<Duration>,
}

/// Runs the mutants that the log does not know yet, and adds them to it.
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
        let inputs: Vec<(&Stable, Allowed)> = probed
            .inputs_of(mutant)
            .take(options.inputs_per_mutant)
            .map(|input| (&inputs[input], allowed(options, inputs[input].cpu.max(probed.cpu[input]))))
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
    inputs: &[(&Stable, Allowed)],
) -> Result<Option<Verdict>> {
    let mut runs = 0;
    for &(input, allowed) in inputs {
        if interruption::has_come() {
            return Ok(None);
        }
        if let Some((by, detail)) = told(server, sites, input, allowed, &mut runs)? {
            let killed = Some(Killed { by, input: input.path.clone(), detail });
            return Ok(Some(Verdict { mutant, runs, killed }));
        }
    }
    Ok(Some(Verdict { mutant, runs, killed: None }))
}

/// How an input tells a mutant from the original; `None` if it does not. Adds the runs that it took to `runs`.
pub(super) fn told(
    server: &mut MutantServer,
    sites: &[(u32, u32)],
    input: &Stable,
    allowed: Allowed,
    runs: &mut u64,
) -> Result<Option<(KilledBy, String)>> {
    let mut run = || {
        *runs += 1;
        server.run(&input.bytes, Variant::Mutant(sites), allowed.limits)
    };
    let (mut observed, mut cpu) = run()?;
    // a busy machine, or a server that something else has ended, is no fault of the mutant
    if matches!(observed.end, RunEnd::TimedOut | RunEnd::Lost) {
        (observed, cpu) = run()?;
    }
    let difference = difference(&input.observed, &observed);
    let Some(slow) = allowed.slow.filter(|&slow| difference.is_none() && cpu >= slow) else { return Ok(difference) };
    for _ in 1..SLOW_RUNS {
        cpu = cpu.min(run()?.1);
    }
    let times = || format!("{:.1} times the CPU time", cpu.as_secs_f64() / allowed.usual.as_secs_f64().max(1e-6));
    Ok((cpu >= slow).then(|| (KilledBy::Cost, times())))
}

/// Returns what the runs of a mutant with an input may take. `usual` is the CPU time of the original or of the probing
/// run, whichever is longer: the copy with the mutants is not optimised either, and computes all of a function.
pub(super) fn allowed(options: &ScoreOptions, usual: Duration) -> Allowed {
    let cpu = (usual * HANG_RATIO).clamp(NO_HANG, LONGEST);
    let limits = RunLimits { cpu, time: options.hang_timeout.max(cpu * 2), memory: options.memory_limit };
    Allowed { limits, usual, slow: options.slower.map(|times| usual.mul_f64(times).max(usual + LEAST_MORE)) }
}
