//! `quagmire mutants score`.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use super::{
    ScoreOptions,
    faults::{self, Probed, hunt, probe},
    log::{Header, Log},
    performance::{self, ages},
    print,
    runs::{Stable, originals},
    table::{self, Listed},
};
use quagmire_base::{
    atomic::write_json,
    error::{Error, ExitCode, Result},
    format::{counted, grouped},
    plain::warn,
    seeds::{Seed, Seeds},
};
use quagmire_execution::{
    fork_server::mutants::{MutantKind, MutantServer},
    interruption,
};
use quagmire_results::score_file::{LeftOut, SCORE, ScoreFile};

/// Runs `quagmire mutants score`.
///
/// # Errors
/// If an input cannot be read, the program has no mutants or cannot be run, no input is stable, the output folder belongs
/// to another score or cannot be written, or the user has stopped it: then the result is that of the mutants so far.
pub fn run(options: &ScoreOptions) -> Result<ExitCode> {
    let score = scored(options, &warn)?;
    if let Some(folder) = &options.output {
        write_json(&folder.join(SCORE), &score)?;
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
pub(super) fn scored(options: &ScoreOptions, warn: &dyn Fn(&str)) -> Result<ScoreFile> {
    let prepared = Prepared::new(options, warn)?;
    check(options, prepared.kind)?;
    let header = Header::new(options, &prepared.inputs)?;
    let mut score = match prepared.kind {
        MutantKind::Fault => {
            let Hunted { table, stable, left_out, probed, log } = hunted(options, &header, prepared)?;
            faults::score(&header, table, &stable, left_out, &probed, &log)
        }
        MutantKind::Performance => {
            performance::prepare_output(options)?;
            interruption::watch();
            let (stable, left_out) = originals(options, prepared.inputs)?;
            performance::score(options, &header, prepared.table, &stable, &prepared.ages, left_out)?
        }
    };
    score.is_incomplete |= interruption::has_come();
    Ok(score)
}

/// Inputs, and the mutants of a program, at least one.
struct Prepared {
    /// Each content once.
    inputs: Vec<Seed>,
    ages: HashMap<String, Duration>,
    table: Vec<Listed>,
    kind: MutantKind,
}

impl Prepared {
    fn new(options: &ScoreOptions, warn: &dyn Fn(&str)) -> Result<Self> {
        let Seeds { mut inputs, warnings } = Seeds::load_for_replay(&options.inputs)?;
        warnings.iter().for_each(|warning| warn(warning));
        let ages = ages(options, &mut inputs)?;
        let all = inputs.len();
        let mut seen = HashSet::new();
        inputs.retain(|input| seen.insert(input.bytes.clone()));
        if inputs.len() < all {
            let more = counted((all - inputs.len()) as u64, "input");
            warn(&format!("{more} with the contents of another: left out"));
        }
        let server = MutantServer::start(&options.program, &options.files)?;
        let (table, kind) = (table::read(server.table()), server.kind());
        if table.is_empty() {
            let name = options.program.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
            return Err(Error::target(format!(
                "{name} has no mutants: compile its sources, too, with QUAGMIRE_MUTANTS=1 or =performance and without -g0"
            )));
        }
        Ok(Self { inputs, ages, table, kind })
    }
}

fn check(options: &ScoreOptions, kind: MutantKind) -> Result<()> {
    const PERFORMANCE: &str = "performance mutants (QUAGMIRE_MUTANTS=performance)";
    const FAULTS: &str = "mutants of QUAGMIRE_MUTANTS=1";
    let given = [
        ("--cost-factor", options.cost_factor.is_some(), MutantKind::Performance, PERFORMANCE),
        ("--in-order", options.order.is_some(), MutantKind::Performance, PERFORMANCE),
        ("--reached", options.with_reached, MutantKind::Fault, FAULTS),
        (
            "--slower",
            options.slower.is_some(),
            MutantKind::Fault,
            "mutants of QUAGMIRE_MUTANTS=1; performance mutants have --cost-factor",
        ),
    ];
    match given.into_iter().find(|(_, is_given, of, _)| *is_given && *of != kind) {
        Some((option, .., of)) => Err(Error::usage(format!("{option}: it is for {of}: leave it out"))),
        None => Ok(()),
    }
}

/// Faults of a program, and their fates with the inputs.
pub(super) struct Hunted {
    pub table: Vec<Listed>,
    pub stable: Vec<Stable>,
    pub left_out: Vec<LeftOut>,
    pub probed: Probed,
    pub log: Log,
}

/// Runs the faults of the program that the options name with their inputs, each content once.
///
/// # Errors
/// As [`run`], and if the program has mutants of another kind.
pub(super) fn run_faults(options: &ScoreOptions) -> Result<Hunted> {
    let prepared = Prepared::new(options, &warn)?;
    if prepared.kind != MutantKind::Fault {
        return Err(Error::usage(
            "performance mutants need no runs of their own: build the program with QUAGMIRE_MUTANTS=1",
        ));
    }
    hunted(options, &Header::new(options, &prepared.inputs)?, prepared)
}

fn hunted(options: &ScoreOptions, header: &Header, Prepared { table, inputs, .. }: Prepared) -> Result<Hunted> {
    let mut log = Log::open(options, header)?;
    interruption::watch();
    let (stable, mut left_out) = originals(options, inputs)?;
    let probed = probe(options, &table, &stable, &mut left_out)?;
    hunt(options, &table, &stable, &probed, &mut log)?;
    Ok(Hunted { table, stable, left_out, probed, log })
}
