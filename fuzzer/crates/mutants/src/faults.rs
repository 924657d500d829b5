//! Small faults: which of them the inputs reach and infect, and runs of these until one tells it from the original.

use std::time::Duration;

use super::{
    ScoreOptions,
    log::{Header, Log, Verdict},
    runs::{Progress, Stable, generous, share},
    table::Listed,
};
use quagmire_base::error::Result;
use quagmire_execution::{
    fork_server::mutants::{INFECTED, MutantServer, Observed, REACHED, RunEnd, RunLimits, Variant},
    interruption,
    process::End,
};
use quagmire_results::score_file::{KilledBy, LeftOut, MutantKill, MutantState, ScoreFile, ScoredMutant, Unfit};

/// How much longer a probing run may take: its code is not optimised, and computes all mutants.
const SLOWER: u32 = 100;
/// Longest CPU time of a run that is not optimised.
const LONGEST: Duration = Duration::from_secs(600);
/// CPU time of a run of a mutant, as a multiple of that without a mutant, from which on it is a hang.
const HANG_RATIO: u32 = 10;
/// CPU time that is no hang, however quick the original is.
const NO_HANG: Duration = Duration::from_millis(50);
/// Runs of a mutant that is slower, all of which are: something else may have made one of them slow.
const SLOW_RUNS: usize = 4;
/// CPU time that a slower run takes more at least: what a process takes differs by less.
const LEAST_MORE: Duration = Duration::from_millis(5);

/// Effect of the inputs on each mutant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Probed {
    /// For each mutant: whether an input reaches it.
    pub is_reached: Vec<bool>,
    /// For each mutant: the inputs that infect it, the cheapest first.
    pub infecting: Vec<Vec<u32>>,
    /// For each mutant: the inputs that reach it without infecting it, the cheapest first; none unless they are asked for.
    pub reaching: Vec<Vec<u32>>,
    /// For each input: its CPU time without a fault in the slower of the two copies. That with the mutants is not optimised
    /// either, and computes all of a function.
    pub usual: Vec<Duration>,
}

/// Makes a probing run with each input. Inputs that do something else in the copies, which are not optimised, are put into
/// `left_out`: they depend on what the compiler makes of them.
pub(super) fn probe(
    options: &ScoreOptions,
    table: &[Listed],
    inputs: &[Stable],
    left_out: &mut Vec<LeftOut>,
) -> Result<Probed> {
    let mut probed = Probed {
        is_reached: vec![false; table.len()],
        infecting: vec![Vec::new(); table.len()],
        reaching: vec![Vec::new(); table.len()],
        usual: vec![Duration::ZERO; inputs.len()],
    };
    let limits = RunLimits { cpu: (options.hang_timeout * SLOWER).min(LONGEST), ..generous(options) };
    let limits = RunLimits { time: limits.cpu, ..limits };
    let work = |server: &mut MutantServer, number: usize| server.probe(&inputs[number].bytes, limits).map(Some);
    share(
        options,
        &mut Progress::new("probes", inputs.len()),
        inputs.len(),
        work,
        |number, (observed, cpu, bytes)| {
            if observed != inputs[number].observed {
                left_out.push(LeftOut { path: inputs[number].path.clone(), reason: Unfit::DiffersUnoptimised });
                return Ok(Some(0));
            }
            probed.usual[number] = cpu.max(inputs[number].cpu);
            for (at, mutant) in table.iter().enumerate() {
                let all = mutant.probes.iter().fold(0, |all, probe| all | bytes.get(*probe as usize).unwrap_or(&0));
                probed.is_reached[at] |= all & REACHED != 0;
                if all & INFECTED != 0 {
                    probed.infecting[at].push(number as u32);
                } else if options.with_reached && all & REACHED != 0 {
                    probed.reaching[at].push(number as u32);
                }
            }
            Ok(Some(0))
        },
    )?;
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

/// Runs the mutants that the log does not know yet, and adds them to it.
pub(super) fn hunt(
    options: &ScoreOptions,
    table: &[Listed],
    inputs: &[Stable],
    probed: &Probed,
    log: &mut Log,
) -> Result<()> {
    let is_open = |&mutant: &usize| {
        let may_be_told = !table[mutant].is_equivalent() && probed.inputs_of(mutant).next().is_some();
        may_be_told && !log.verdicts.contains_key(&mutant)
    };
    let open: Vec<usize> = (0..table.len()).filter(is_open).collect();
    let work = |server: &mut MutantServer, number: usize| {
        let (mutant, mut runs) = (open[number], 0);
        for input in probed.inputs_of(mutant).take(options.inputs_per_mutant) {
            if interruption::has_come() {
                return Ok(None);
            }
            let (sites, usual, input) = (&table[mutant].sites, probed.usual[input], &inputs[input]);
            if let Some((by, detail)) = told(server, options, sites, input, usual, &mut runs)? {
                let killed = Some(MutantKill { by, input: input.path.clone(), detail });
                return Ok(Some(Verdict { mutant, runs, killed }));
            }
        }
        Ok(Some(Verdict { mutant, runs, killed: None }))
    };
    share(options, &mut Progress::new("mutants", open.len()), open.len(), work, |_, verdict: Verdict| {
        let is_killed = verdict.killed.is_some();
        log.add(verdict)?;
        Ok(Some(usize::from(is_killed)))
    })
}

/// How an input tells a mutant from the original; `None` if it does not. Adds the runs that it took to `runs`. `usual` is the
/// CPU time of the input without a fault.
pub(super) fn told(
    server: &mut MutantServer,
    options: &ScoreOptions,
    sites: &[(u32, u32)],
    input: &Stable,
    usual: Duration,
    runs: &mut u64,
) -> Result<Option<(KilledBy, String)>> {
    let most = (usual * HANG_RATIO).clamp(NO_HANG, LONGEST);
    let limits = RunLimits { cpu: most, time: options.hang_timeout.max(most * 2), memory: options.memory_limit };
    let mut run = || {
        *runs += 1;
        server.run(&input.bytes, Variant::Mutant(sites), limits)
    };
    let (mut observed, mut cpu) = run()?;
    // a busy machine, or a server that something else has ended, is no fault of the mutant
    if matches!(observed.end, RunEnd::TimedOut | RunEnd::Lost) {
        (observed, cpu) = run()?;
    }
    let difference = difference(&input.observed, &observed);
    let slow = options.slower.map(|times| usual.mul_f64(times).max(usual + LEAST_MORE));
    let Some(slow) = slow.filter(|&slow| difference.is_none() && cpu >= slow) else { return Ok(difference) };
    for _ in 1..SLOW_RUNS {
        cpu = cpu.min(run()?.1);
    }
    let times = || format!("{:.1} times the CPU time", cpu.as_secs_f64() / usual.as_secs_f64().max(1e-6));
    Ok((cpu >= slow).then(|| (KilledBy::Cost, times())))
}

/// How a run of a mutant differs from that of the original, and details; `None` if it does not.
pub(super) fn difference(original: &Observed, mutant: &Observed) -> Option<(KilledBy, String)> {
    if mutant.end != original.end {
        return Some(match mutant.end {
            RunEnd::Ended(end @ End::Signal(_)) => (KilledBy::Signal, end.to_string()),
            RunEnd::Lost => (KilledBy::Signal, "it ended its server".to_owned()),
            RunEnd::TimedOut => (KilledBy::Hang, String::new()),
            RunEnd::Ended(end @ End::Code(_)) => (KilledBy::Status, end.to_string()),
        });
    }
    if mutant.is_rejected != original.is_rejected {
        let returned = if mutant.is_rejected { "it rejects the input" } else { "it accepts the input" };
        return Some((KilledBy::Status, returned.to_owned()));
    }
    let is_same = mutant.output == original.output && mutant.shown == original.shown;
    (!is_same).then(|| (KilledBy::Output, String::new()))
}

/// Sums up the fates of all mutants.
pub(super) fn score(
    header: &Header,
    table: Vec<Listed>,
    inputs: &[Stable],
    left_out: Vec<LeftOut>,
    probed: &Probed,
    log: &Log,
) -> ScoreFile {
    let unoptimised = left_out.iter().filter(|one| one.reason == Unfit::DiffersUnoptimised).count();
    let fates = table.into_iter().enumerate().map(|(number, one)| {
        let infecting = probed.infecting[number].len() as u64;
        fate(one, probed.is_reached[number], infecting, log.verdicts.get(&number))
    });
    let mutants: Vec<ScoredMutant> = fates.collect();
    let runs = mutants.iter().map(|one| one.runs).sum();
    let is_incomplete = mutants.iter().any(|one| one.state == MutantState::NotRun);
    ScoreFile { is_incomplete, runs, ..header.score(inputs.len() - unoptimised, left_out, mutants) }
}

fn fate(one: Listed, is_reached: bool, infected_by: u64, verdict: Option<&Verdict>) -> ScoredMutant {
    if one.is_equivalent() {
        return ScoredMutant { state: MutantState::Equivalent, mutant: one.mutant, ..ScoredMutant::default() };
    }
    let killed = verdict.and_then(|verdict| verdict.killed.clone());
    let state = match (is_reached, infected_by, verdict) {
        (_, _, Some(_)) if killed.is_some() => MutantState::Killed,
        (_, 1.., Some(_)) => MutantState::Survived,
        (_, 1.., None) => MutantState::NotRun,
        // it may have been run with inputs that only reach it
        (true, 0, _) => MutantState::NotInfected,
        (false, 0, _) => MutantState::NotReached,
    };
    let runs = verdict.map_or(0, |verdict| verdict.runs);
    ScoredMutant { mutant: one.mutant, state, infected_by, runs, killed, ..ScoredMutant::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use quagmire_results::score_file::MutantCounts;

    #[test]
    fn a_crash_comes_before_a_status_and_that_before_the_output() {
        let original = Observed { end: RunEnd::Ended(End::Code(0)), is_rejected: false, output: 1, shown: 2 };
        let by = |mutant: Observed| difference(&original, &mutant).map(|(by, _)| by);
        assert_eq!(by(original), None);
        assert_eq!(by(Observed { output: 3, ..original }), Some(KilledBy::Output));
        assert_eq!(by(Observed { shown: 3, ..original }), Some(KilledBy::Output));
        assert_eq!(by(Observed { is_rejected: true, output: 3, ..original }), Some(KilledBy::Status));
        assert_eq!(by(Observed { end: RunEnd::Ended(End::Code(1)), ..original }), Some(KilledBy::Status));
        assert_eq!(by(Observed { end: RunEnd::Ended(End::Signal(11)), ..original }), Some(KilledBy::Signal));
        assert_eq!(by(Observed { end: RunEnd::TimedOut, ..original }), Some(KilledBy::Hang));
        assert_eq!(by(Observed { end: RunEnd::Lost, ..original }), Some(KilledBy::Signal));
        // an original that crashes is no reason to call its mutants dead
        let crashing = Observed { end: RunEnd::Ended(End::Signal(6)), ..original };
        assert_eq!(difference(&crashing, &crashing), None);
    }

    #[test]
    fn a_state_includes_those_before_it() {
        let table = table::read(
            "\u{c}f\tf\n=/a.c\n1\t1\tshift\t<<\t>>\n2\t1\tshift\t<<\t>>\n3\t1\tarithmetic\t+\t-\n4\t1\tarithmetic\t+\t-\n5\t1\tarithmetic\t+\t-\n",
        );
        let infecting = vec![vec![], vec![], vec![0], vec![0], vec![0, 1]];
        let probed = Probed { is_reached: vec![false, true, true, true, true], infecting, ..Probed::default() };
        let killed = MutantKill { by: KilledBy::Output, input: "i".into(), detail: String::new() };
        let verdicts = [
            (2, Verdict { mutant: 2, runs: 1, killed: None }),
            (3, Verdict { mutant: 3, runs: 4, killed: Some(killed) }),
            // with inputs that only reach it
            (1, Verdict { mutant: 1, runs: 2, killed: None }),
        ];
        let log = Log { verdicts: verdicts.into(), ..Log::default() };
        let header = Header {
            version: "1".into(),
            program: String::new(),
            inputs: String::new(),
            inputs_per_mutant: 50,
            slower: None,
        };
        let left_out = vec![LeftOut { path: "u".into(), reason: Unfit::Unstable }];
        let score = score(&header, table, &[], left_out, &probed, &log);
        use MutantState::{NotInfected, NotReached, NotRun, Survived};
        let states: Vec<MutantState> = score.mutants.iter().map(|one| one.state).collect();
        assert_eq!(states, [NotReached, NotInfected, Survived, MutantState::Killed, NotRun]);
        assert_eq!(score.all, MutantCounts { mutants: 5, reached: 4, infected: 3, killed: 1, equivalent: 0 });
        assert_eq!(
            score.operators["shift"],
            MutantCounts { mutants: 2, reached: 1, infected: 0, killed: 0, equivalent: 0 }
        );
        assert_eq!((score.runs, score.is_incomplete, score.killed_by["output"]), (7, true, 1));
        let text = serde_json::to_string(&score).expect("JSON");
        assert_eq!(serde_json::from_str::<ScoreFile>(&text).expect("the same"), score);
    }
}
