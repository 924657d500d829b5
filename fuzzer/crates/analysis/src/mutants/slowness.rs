//! Score of the performance mutants of a program.

use std::{collections::HashMap, time::Duration};

use super::{
    InputOrder, ScoreOptions,
    baseline::{LeftOut, Stable},
    charging::{Slowed, charge},
    kill::{Killed, KilledBy},
    ladder::ladder,
    log::{Header, LOG, RESULT},
    result::{Outcome, Score, State},
    running,
    table::{Mutant, Table},
};
use quagmire_base::{
    atomic::unwritable,
    error::{Error, Result},
    files,
    seeds::Seed,
};

/// Multiple of an input's own cost from which on it kills, unless another one is asked for.
const FACTOR: f64 = 2.0;

/// Scores the inputs, of which those that are not repeatable are in `left_out`. `ages` are those of [`ages`].
pub(super) fn score(
    options: &ScoreOptions,
    header: &Header,
    table: Table,
    inputs: &[Stable],
    ages: &HashMap<String, Duration>,
    mut left_out: Vec<LeftOut>,
) -> Result<Score> {
    let factor = options.cost_factor.unwrap_or(FACTOR);
    let known = left_out.len();
    let mut charged = charge(options, factor, &table, inputs, ages, &mut left_out)?;
    let mut is_incomplete = charged.inputs + left_out.len() - known < inputs.len();
    is_incomplete |= !running::run(options, factor, &table, inputs, &mut charged)?;
    left_out.sort_by(|a, b| a.path.cmp(&b.path));
    let mutants = table.mutants.into_iter().zip(&charged.mutants);
    let mutants: Vec<Outcome> = mutants.map(|(mutant, slowed)| outcome(mutant, slowed, inputs, ages)).collect();
    let ladder = ladder(&mutants);
    let runs = charged.inputs as u64 + mutants.iter().map(|one| one.runs).sum::<u64>();
    let score = Score::of(header, charged.inputs as u64, left_out, mutants);
    Ok(Score { runs, is_incomplete, cost_factor: Some(factor), ladder, ..score })
}

fn outcome(mutant: Mutant, slowed: &Slowed, inputs: &[Stable], ages: &HashMap<String, Duration>) -> Outcome {
    let path = |input: usize| inputs[input].path.clone();
    let killed = slowed.first.map(|first| Killed {
        by: KilledBy::Cost,
        input: path(first.input),
        detail: format!("{:.1} times its cost", first.factor),
    });
    let state = match () {
        () if killed.is_some() => State::Killed,
        () if slowed.by > 0 => State::Survived,
        () if slowed.is_reached => State::NotInfected,
        () => State::NotReached,
    };
    let age = |killed: &Killed| ages.get(&killed.input).map(Duration::as_secs_f64);
    Outcome {
        state,
        infected_by: slowed.by,
        runs: slowed.runs,
        changed_runs: slowed.changed_runs,
        first_killed_at: killed.as_ref().and_then(age),
        killed,
        worst_factor: slowed.worst.map(|worst| worst.factor),
        worst_added: slowed.worst.map(|worst| worst.added),
        worst_input: slowed.worst.map(|worst| path(worst.input)),
        ..Outcome::new(mutant)
    }
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
    if folder.join(RESULT).exists() && !options.resume {
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
