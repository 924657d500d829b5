//! Performance mutants: one run of each input tells what most of them would cost with it; those whose cost is elsewhere in the
//! program are run.

use std::{cmp::Ordering, collections::BTreeMap, collections::HashMap, time::Duration};

use super::{
    InputOrder, ScoreOptions,
    log::{Header, LOG},
    runs::{Progress, Stable, generous, share},
    table::Listed,
};
use quagmire_base::{
    atomic::unwritable,
    error::{Error, Result},
    files,
    seeds::Seed,
};
use quagmire_execution::{
    fork_server::{
        charges::Charges,
        mutants::{MutantServer, Observed, RunEnd, RunLimits},
    },
    interruption,
};
use quagmire_results::score_file::{
    KilledBy, LeftOut, Mutant, MutantKill, MutantState, Rung, SCORE, ScoreFile, ScoredMutant, Unfit,
};

/// Multiple of an input's own cost from which on it kills, unless another one is asked for.
const FACTOR: f64 = 2.0;
/// Multiple of the CPU time of an input at which a run with a mutant is stopped.
const STOPPED_AT: u32 = 200;
/// CPU time that every run may take.
const ALWAYS: Duration = Duration::from_millis(50);

/// Effect of the inputs on a performance mutant.
#[derive(Clone, Debug, Default, PartialEq)]
struct Slowed {
    /// Whether some input reaches its place.
    is_reached: bool,
    /// Number of inputs that cost more with it.
    by: u64,
    /// The input with the largest multiple of its own cost.
    worst: Option<Slow>,
    /// The first input that kills it.
    first: Option<Slow>,
    /// If it is run: the inputs that come to its place more often than its gate says, and how often.
    candidates: Vec<(u64, Own)>,
    /// Number of its runs, if it is run.
    runs: u64,
    /// Number of these that say nothing of its cost, since they did something else.
    changed_runs: u64,
}

/// An input that costs more with a mutant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slow {
    own: Own,
    /// Multiple of its own cost.
    factor: f64,
    /// Instructions that the mutant adds.
    added: u64,
}

/// An input without mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Own {
    /// Its number.
    input: usize,
    /// Its instructions, 1 at least.
    instructions: u64,
    /// Its place in the order of the inputs, of which equal ones are in that of their numbers.
    place: u128,
}

/// Scores the inputs, of which those that are not repeatable are in `left_out`. `ages` are those of [`ages`].
pub(super) fn score(
    options: &ScoreOptions,
    header: &Header,
    table: Vec<Listed>,
    inputs: &[Stable],
    ages: &HashMap<String, Duration>,
    mut left_out: Vec<LeftOut>,
) -> Result<ScoreFile> {
    let factor = options.cost_factor.unwrap_or(FACTOR);
    let known = left_out.len();
    let mut slowed = vec![Slowed::default(); table.len()];
    let charged = charge(options, factor, &table, inputs, ages, &mut slowed, &mut left_out)?;
    let mut is_incomplete = charged + left_out.len() - known < inputs.len();
    is_incomplete |= !run(options, factor, &table, inputs, &mut slowed)?;
    let fates = table.into_iter().zip(&slowed).map(|(one, slowed)| fate(one.mutant, slowed, inputs, ages));
    let mutants: Vec<ScoredMutant> = fates.collect();
    let ladder = ladder(&mutants);
    let runs = charged as u64 + mutants.iter().map(|one| one.runs).sum::<u64>();
    let score = header.score(charged, left_out, mutants);
    Ok(ScoreFile { runs, is_incomplete, cost_factor: Some(factor), ladder, ..score })
}

/// Makes a charging run with each input. Inputs that do something else in it are put into `left_out`. Returns the number of
/// the others.
fn charge(
    options: &ScoreOptions,
    factor: f64,
    table: &[Listed],
    inputs: &[Stable],
    ages: &HashMap<String, Duration>,
    slowed: &mut [Slowed],
    left_out: &mut Vec<LeftOut>,
) -> Result<usize> {
    let mut charged = 0;
    let work = |server: &mut MutantServer, number: usize| {
        server.charge(&inputs[number].bytes, &[], generous(options)).map(Some)
    };
    let take = |number: usize, (observed, charges): (Observed, Charges)| {
        let input = &inputs[number];
        if observed != input.observed {
            left_out.push(LeftOut { path: input.path.clone(), reason: Unfit::Unstable });
            return Ok(Some(0));
        }
        charged += 1;
        let place = match options.order {
            Some(InputOrder::Modified) => ages.get(&input.path).copied().unwrap_or_default().as_nanos(),
            Some(InputOrder::Cost) | None => u128::from(charges.instructions),
        };
        let own = Own { input: number, instructions: charges.instructions.max(1), place };
        for (one, slowed) in table.iter().zip(slowed.iter_mut()) {
            let sum = |of: fn(&Charges, u32) -> u64| {
                one.probes.iter().fold(0, |sum: u64, probe| sum.saturating_add(of(&charges, *probe)))
            };
            let times = sum(Charges::reached);
            slowed.is_reached |= times > 0;
            if !one.mutant.is_run {
                slowed.add(own, sum(Charges::added), factor);
            } else if times > one.mutant.gate.unwrap_or(0) {
                slowed.candidates.push((times, own));
            }
        }
        Ok(Some(0))
    };
    share(options, &mut Progress::new("charges", inputs.len()), inputs.len(), work, take)?;
    Ok(charged)
}

impl Slowed {
    /// Adds an input to which the mutant adds so many instructions; it kills from `factor` on.
    fn add(&mut self, own: Own, added: u64, factor: f64) {
        if added == 0 {
            return;
        }
        let instructions = own.instructions as f64;
        let one = Slow { own, factor: (instructions + added as f64) / instructions, added };
        self.by += 1;
        // of two that are as slow, the first: runs end in any order
        let is_worse = |worst: Slow| {
            one.factor.total_cmp(&worst.factor).then(worst.own.input.cmp(&own.input)) == Ordering::Greater
        };
        if self.worst.is_none_or(is_worse) {
            self.worst = Some(one);
        }
        let is_before = |first: Slow| (own.place, own.input) < (first.own.place, first.own.input);
        if one.factor >= factor && self.first.is_none_or(is_before) {
            self.first = Some(one);
        }
    }
}

/// Runs the mutants that have candidates with these, most often first, at most [`ScoreOptions::inputs_per_mutant`] of them,
/// and adds what they cost. Returns whether all were run.
fn run(
    options: &ScoreOptions,
    factor: f64,
    table: &[Listed],
    inputs: &[Stable],
    slowed: &mut [Slowed],
) -> Result<bool> {
    let mut open: Vec<(usize, Vec<(u64, Own)>)> = Vec::new();
    for (mutant, one) in slowed.iter_mut().enumerate().filter(|(_, one)| !one.candidates.is_empty()) {
        let mut candidates = std::mem::take(&mut one.candidates);
        candidates.sort_by_key(|(times, own)| (std::cmp::Reverse(*times), own.input));
        candidates.truncate(options.inputs_per_mutant);
        open.push((mutant, candidates));
    }
    let work = |server: &mut MutantServer, number: usize| {
        let (mutant, candidates) = &open[number];
        let mut all = Vec::new();
        for &(_, own) in candidates {
            if interruption::has_come() {
                return Ok(None);
            }
            all.push((own, added(server, options, &table[*mutant].sites, &inputs[own.input], own)?));
        }
        Ok(Some(all))
    };
    let mut done = 0;
    let take = |number: usize, all: Vec<(Own, Option<u64>)>| {
        done += 1;
        let slowed = &mut slowed[open[number].0];
        slowed.runs = all.len() as u64;
        for (own, added) in all {
            match added {
                Some(added) => slowed.add(own, added, factor),
                None => slowed.changed_runs += 1,
            }
        }
        Ok(Some(usize::from(slowed.first.is_some())))
    };
    share(options, &mut Progress::new("mutants", open.len()), open.len(), work, take)?;
    Ok(done == open.len())
}

/// Runs a mutant with an input, and returns the instructions beyond those of the input itself; `None` if the run did something
/// else. A run that is stopped costs what it did until then.
fn added(
    server: &mut MutantServer,
    options: &ScoreOptions,
    sites: &[(u32, u32)],
    input: &Stable,
    own: Own,
) -> Result<Option<u64>> {
    let cpu = (input.cpu * STOPPED_AT).max(ALWAYS).min(options.hang_timeout);
    let limits = RunLimits { cpu, time: options.hang_timeout.max(cpu * 2), memory: options.memory_limit };
    let (observed, charges) = server.charge(&input.bytes, sites, limits)?;
    let says = observed == input.observed || observed.end == RunEnd::TimedOut;
    Ok(says.then(|| charges.instructions.saturating_sub(own.instructions)))
}

fn fate(mutant: Mutant, slowed: &Slowed, inputs: &[Stable], ages: &HashMap<String, Duration>) -> ScoredMutant {
    let path = |slow: &Slow| inputs[slow.own.input].path.clone();
    let killed = slowed.first.as_ref().map(|first| MutantKill {
        by: KilledBy::Cost,
        input: path(first),
        detail: format!("{:.1} times its cost", first.factor),
    });
    let state = match () {
        () if killed.is_some() => MutantState::Killed,
        () if slowed.by > 0 => MutantState::Survived,
        () if slowed.is_reached => MutantState::NotInfected,
        () => MutantState::NotReached,
    };
    ScoredMutant {
        mutant,
        state,
        infected_by: slowed.by,
        runs: slowed.runs,
        changed_runs: slowed.changed_runs,
        first_killed_at: killed.as_ref().and_then(|killed| ages.get(&killed.input).map(Duration::as_secs_f64)),
        killed,
        worst_factor: slowed.worst.map(|worst| worst.factor),
        worst_added: slowed.worst.map(|worst| worst.added),
        worst_input: slowed.worst.as_ref().map(path),
    }
}

/// Sums by operator and gate.
fn ladder(mutants: &[ScoredMutant]) -> Vec<Rung> {
    let mut rungs: BTreeMap<(&str, u64), Rung> = BTreeMap::new();
    for one in mutants {
        let (operator, gate) = (&one.mutant.operator, one.mutant.gate.unwrap_or(0));
        let new = || Rung { operator: operator.clone(), gate, ..Rung::default() };
        let rung = rungs.entry((operator, gate)).or_insert_with(new);
        rung.counts.add(one);
        let is_at = |factor: f64| u64::from(one.worst_factor.is_some_and(|worst| worst >= factor));
        rung.at_2 += is_at(2.0);
        rung.at_10 += is_at(10.0);
        rung.at_100 += is_at(100.0);
    }
    rungs.into_values().collect()
}

/// Makes the output folder, if there is one, unless it must not get the result. There is no log: a score is little
/// more than one run of each input.
///
/// # Errors
/// If it holds a result and is not to be resumed, or holds the log of another kind of mutants, or cannot be
/// made.
pub(super) fn prepare_output(options: &ScoreOptions) -> Result<()> {
    let Some(folder) = &options.output else { return Ok(()) };
    let shown = folder.display();
    if folder.join(LOG).exists() {
        return Err(Error::usage(format!("{shown} holds a score of another build: name another folder")));
    }
    if folder.join(SCORE).exists() && !options.resume {
        return Err(Error::usage(format!("{shown} holds a score: replace it by --resume, or name another folder")));
    }
    files::create_folder(folder).map_err(|error| unwritable(folder, &error))
}

/// Puts inputs into the order of their last modification, if that is asked for. Returns the age of each by its path: the time
/// since that of the first one, or the one that the options name; empty otherwise.
///
/// # Errors
/// If the time of a file is not known.
pub(super) fn ages(options: &ScoreOptions, inputs: &mut Vec<Seed>) -> Result<HashMap<String, Duration>> {
    if options.order != Some(InputOrder::Modified) {
        return Ok(HashMap::new());
    }
    let mut timed = Vec::new();
    for input in inputs.drain(..) {
        let time = std::fs::metadata(&input.path).and_then(|file| file.modified()).map_err(|error| {
            Error::usage(format!("the time of {} is not known ({error}): leave --in-order out", input.path.display()))
        })?;
        timed.push((time, input));
    }
    timed.sort_by_key(|(time, _)| *time);
    let first = options.since.or(timed.first().map(|(time, _)| *time));
    let mut ages = HashMap::new();
    for (time, input) in timed {
        let age = first.and_then(|first| time.duration_since(first).ok()).unwrap_or_default();
        ages.insert(input.path.display().to_string(), age);
        inputs.push(input);
    }
    Ok(ages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn the_first_that_kills_is_the_first_in_the_order_and_the_worst_is_the_worst() {
        let mut slowed = Slowed::default();
        for (input, added, place) in [(0, 20, 9), (1, 5, 1), (2, 10, 5), (3, 70, 7), (4, 70, 5), (5, 0, 0)] {
            slowed.add(Own { input, instructions: 10, place }, added, 2.0);
        }
        assert_eq!((slowed.by, slowed.worst.map(|worst| (worst.factor, worst.own.input))), (5, Some((8.0, 3))));
        assert_eq!(slowed.first.map(|first| (first.own.input, first.factor)), Some((2, 2.0)));
    }

    #[test]
    fn the_ladder_sums_up_by_operator_and_gate() {
        let site = |line: u32| {
            [0, 16, 256, 4096].map(|gate| format!("{line}\t1\tloop-squared\tloop\tsquared\t{gate}\trounds\n")).concat()
        };
        let table = table::read(&format!("\u{c}f\tf\n=/a.c\n{}{}", site(1), site(2)));
        let scored = |one: Listed| ScoredMutant { mutant: one.mutant, ..ScoredMutant::default() };
        let mut mutants: Vec<ScoredMutant> = table.into_iter().map(scored).collect();
        for (mutant, factor) in mutants.iter_mut().zip([150.0, 12.0, 2.0, 1.5]) {
            mutant.worst_factor = Some(factor);
            mutant.state = if factor >= 2.0 { MutantState::Killed } else { MutantState::Survived };
            mutant.infected_by = 1;
        }
        let rungs = ladder(&mutants);
        let found: Vec<_> = rungs
            .iter()
            .map(|one| (one.gate, one.counts.mutants, one.counts.killed, [one.at_2, one.at_10, one.at_100]))
            .collect();
        assert_eq!(
            found,
            [(0, 2, 1, [1, 1, 1]), (16, 2, 1, [1, 1, 0]), (256, 2, 1, [1, 0, 0]), (4096, 2, 0, [0, 0, 0])]
        );
        assert_eq!(mutants[2].mutant.past(), " past 256 rounds");
        assert_eq!(mutants[0].mutant.past(), "");
    }
}
