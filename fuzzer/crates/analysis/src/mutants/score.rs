//! `quagmire mutants score`.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use super::{
    ScoreOptions,
    baseline::{self, LeftOut, Stable, nothing_left},
    hunt::hunt,
    log::{Header, Log, RESULT},
    print,
    probing::{Probed, probe},
    result::Score,
    slowness,
    table::Table,
};
use crate::interruption;
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    format::{counted, grouped},
    plain::warn,
    seeds::{Seed, Seeds},
};
use quagmire_execution::fork_server::mutants::{MutantKind, MutantServer};

/// Runs `quagmire mutants score`.
///
/// # Errors
/// If an input cannot be read, the program has no mutants or cannot be run, no input is stable, the output folder belongs
/// to another score or cannot be written, or the user has stopped it: then the result is that of the mutants so far.
pub fn run(options: &ScoreOptions) -> Result<ExitCode> {
    let score = scored(options, &warn)?;
    if let Some(folder) = &options.output {
        let text = serde_json::to_string_pretty(&score).unwrap_or_default() + "\n";
        write_whole(&folder.join(RESULT), text.as_bytes())?;
    }
    print::print(&score, options)?;
    if interruption::has_come() {
        let done = match score.cost_factor {
            None => grouped(score.mutants.iter().filter(|one| one.runs > 0).count() as u64) + " mutants",
            Some(_) => grouped(score.inputs) + " inputs",
        };
        let remedy = match &options.output {
            Some(folder) => format!("go on with --resume -o {}", folder.display()),
            None => "give -o DIR to be able to go on".to_owned(),
        };
        return Err(Error::other(format!("stopped by a signal after {done}: {remedy}")));
    }
    Ok(ExitCode::Ended)
}

/// Scores the inputs; writes no result and prints none. `warn` gets a line for each oddity of the inputs.
///
/// # Errors
/// As [`run`], but for the user who has stopped it.
pub(super) fn scored(options: &ScoreOptions, warn: &dyn Fn(&str)) -> Result<Score> {
    let Seeds { mut inputs, warnings } = Seeds::load_for_replay(&options.inputs)?;
    warnings.iter().for_each(|warning| warn(warning));
    let ages = slowness::ages(options, &mut inputs)?;
    let inputs = distinct(inputs, warn);
    let (table, kind) = mutants_of(options)?;
    check(options, kind)?;
    let header = Header::new(options, &inputs)?;
    match kind {
        MutantKind::Fault => of_faults(options, &header, table, inputs),
        MutantKind::Performance => of_performance(options, &header, table, inputs, &ages),
    }
}

/// The mutants of the program, at least one, and their kind.
fn mutants_of(options: &ScoreOptions) -> Result<(Table, MutantKind)> {
    let server = MutantServer::start(&options.program, &options.files)?;
    let (table, kind) = (Table::read(server.table()), server.kind());
    if !table.mutants.is_empty() {
        return Ok((table, kind));
    }
    let name = options.program.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    Err(Error::target(format!(
        "{name} has no mutants: compile its sources, too, with QUAGMIRE_MUTANTS=1 or =performance and without -g0"
    )))
}

fn check(options: &ScoreOptions, kind: MutantKind) -> Result<()> {
    let wrong = |option: &str, of: &str| Err(Error::usage(format!("{option}: it is for {of}: leave it out")));
    match kind {
        MutantKind::Fault if options.cost_factor.is_some() => {
            wrong("--cost-factor", "performance mutants (QUAGMIRE_MUTANTS=performance)")
        }
        MutantKind::Fault if options.order.is_some() => {
            wrong("--in-order", "performance mutants (QUAGMIRE_MUTANTS=performance)")
        }
        MutantKind::Performance if options.with_reached => wrong("--reached", "mutants of QUAGMIRE_MUTANTS=1"),
        MutantKind::Performance if options.slower.is_some() => {
            wrong("--slower", "mutants of QUAGMIRE_MUTANTS=1; performance mutants have --cost-factor")
        }
        _ => Ok(()),
    }
}

/// Faults of a program, and their fates with the inputs.
pub(super) struct Hunted {
    pub table: Table,
    pub stable: Vec<Stable>,
    pub left_out: Vec<LeftOut>,
    pub probed: Probed,
    pub log: Log,
}

/// Runs the faults of the program that the options name with their inputs, each content once.
///
/// # Errors
/// As [`run`], and if the program has mutants of another kind.
pub(super) fn faults(options: &ScoreOptions) -> Result<Hunted> {
    let Seeds { inputs, warnings } = Seeds::load_for_replay(&options.inputs)?;
    warnings.iter().for_each(|warning| warn(warning));
    let inputs = distinct(inputs, &warn);
    let (table, kind) = mutants_of(options)?;
    if kind != MutantKind::Fault {
        return Err(Error::usage(
            "performance mutants need no runs of their own: build the program with QUAGMIRE_MUTANTS=1",
        ));
    }
    let header = Header::new(options, &inputs)?;
    hunted(options, &header, table, inputs)
}

fn hunted(options: &ScoreOptions, header: &Header, table: Table, inputs: Vec<Seed>) -> Result<Hunted> {
    let mut log = Log::open(options, header)?;
    interruption::watch();
    let (stable, mut left_out) = measure(options, inputs)?;
    let probed = probe(options, &table, &stable, &mut left_out)?;
    hunt(options, &table, &stable, &probed, &mut log)?;
    left_out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Hunted { table, stable, left_out, probed, log })
}

fn of_faults(options: &ScoreOptions, header: &Header, table: Table, inputs: Vec<Seed>) -> Result<Score> {
    let Hunted { table, stable, left_out, probed, log } = hunted(options, header, table, inputs)?;
    let mut score = Score::new(header, table, &stable, left_out, &probed, &log);
    score.is_incomplete |= interruption::has_come();
    Ok(score)
}

fn of_performance(
    options: &ScoreOptions,
    header: &Header,
    table: Table,
    inputs: Vec<Seed>,
    ages: &HashMap<String, Duration>,
) -> Result<Score> {
    slowness::prepare_output(options)?;
    interruption::watch();
    let (stable, left_out) = measure(options, inputs)?;
    let mut score = slowness::score(options, header, table, &stable, ages, left_out)?;
    score.is_incomplete |= interruption::has_come();
    Ok(score)
}

/// Runs the original.
fn measure(options: &ScoreOptions, inputs: Vec<Seed>) -> Result<(Vec<Stable>, Vec<LeftOut>)> {
    let (stable, left_out) = baseline::measure(options, inputs)?;
    if stable.is_empty() && !interruption::has_come() {
        return Err(nothing_left(&left_out));
    }
    Ok((stable, left_out))
}

/// The inputs, each content once.
fn distinct(inputs: Vec<Seed>, warn: &dyn Fn(&str)) -> Vec<Seed> {
    let all = inputs.len();
    let mut seen = HashSet::new();
    let inputs: Vec<Seed> = inputs.into_iter().filter(|input| seen.insert(input.bytes.clone())).collect();
    if inputs.len() < all {
        let more = counted((all - inputs.len()) as u64, "input");
        warn(&format!("{more} with the contents of another: left out"));
    }
    inputs
}
