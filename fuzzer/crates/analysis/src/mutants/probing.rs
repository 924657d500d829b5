//! Probing runs: which mutants an input reaches and infects.

use std::time::Duration;

use super::{
    ScoreOptions,
    baseline::{LeftOut, Stable, generous},
    progress::Progress,
    table::Table,
    workers::share,
};
use quagmire_base::error::Result;
use quagmire_execution::fork_server::mutants::{INFECTED, MutantServer, REACHED, RunLimits};

/// How much longer a probing run may take: its code is not optimised, and computes all mutants.
const SLOWER: u32 = 100;
/// Longest CPU time of a run that is not optimised.
pub(super) const LONGEST: Duration = Duration::from_secs(600);

/// Effect of the inputs on each mutant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Probed {
    /// For each mutant: whether an input reaches it.
    pub is_reached: Vec<bool>,
    /// For each mutant: the inputs that infect it, the cheapest first.
    pub infecting: Vec<Vec<u32>>,
    /// For each mutant: the inputs that reach it without infecting it, the cheapest first; none unless they are asked for.
    pub reaching: Vec<Vec<u32>>,
    /// For each input: CPU time of its probing run.
    pub cpu: Vec<Duration>,
}

/// Makes a probing run with each input. Inputs that do something else in the copies, which are not optimised, are put into
/// `left_out`: they depend on what the compiler makes of them.
pub(super) fn probe(
    options: &ScoreOptions,
    table: &Table,
    inputs: &[Stable],
    left_out: &mut Vec<LeftOut>,
) -> Result<Probed> {
    let mut probed = Probed {
        is_reached: vec![false; table.mutants.len()],
        infecting: vec![Vec::new(); table.mutants.len()],
        reaching: vec![Vec::new(); table.mutants.len()],
        cpu: vec![Duration::ZERO; inputs.len()],
    };
    let limits = RunLimits { cpu: (options.hang_timeout * SLOWER).min(LONGEST), ..generous(options) };
    let limits = RunLimits { time: limits.cpu, ..limits };
    let mut progress = Progress::new("probes", inputs.len());
    let work = |server: &mut MutantServer, number: usize| server.probe(&inputs[number].bytes, limits).map(Some);
    share(options, inputs.len(), work, |number, (observed, cpu, bytes)| {
        progress.step(0);
        if observed != inputs[number].observed {
            left_out.push(LeftOut { path: inputs[number].path.clone(), reason: "differs-unoptimised" });
            return Ok(());
        }
        probed.cpu[number] = cpu;
        for (at, mutant) in table.mutants.iter().enumerate() {
            let all = mutant.probes.iter().fold(0, |all, probe| all | bytes.get(*probe as usize).unwrap_or(&0));
            probed.is_reached[at] |= all & REACHED != 0;
            if all & INFECTED != 0 {
                probed.infecting[at].push(number as u32);
            } else if options.with_reached && all & REACHED != 0 {
                probed.reaching[at].push(number as u32);
            }
        }
        Ok(())
    })?;
    for inputs_of_one in probed.infecting.iter_mut().chain(&mut probed.reaching) {
        inputs_of_one.sort_by_key(|&input| (inputs[input as usize].cpu, input));
    }
    Ok(probed)
}

impl Probed {
    /// The inputs that a mutant is run with, the first ones first.
    pub(super) fn inputs_of(&self, mutant: usize) -> impl Iterator<Item = usize> {
        self.infecting[mutant].iter().chain(&self.reaching[mutant]).map(|&input| input as usize)
    }
}
