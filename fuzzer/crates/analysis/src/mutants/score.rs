//! `quagmire mutants score`.

use super::{
    ScoreOptions,
    baseline::{self, nothing_left},
    hunt::hunt,
    log::{Header, Log, RESULT},
    print,
    probing::probe,
    result::Score,
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
use quagmire_execution::fork_server::mutants::MutantServer;

/// Runs `quagmire mutants score`.
///
/// # Errors
/// If an input cannot be read, the program has no mutants or cannot be run, no input is stable, the output folder belongs
/// to another score or cannot be written, or the user has stopped it: then the result is that of the mutants so far.
pub fn run(options: &ScoreOptions) -> Result<ExitCode> {
    let inputs = distinct(&options.inputs)?;
    let name = options.program.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let table = Table::read(MutantServer::start(&options.program)?.table());
    if table.mutants.is_empty() {
        return Err(Error::target(format!(
            "{name} has no mutants: compile its sources, too, with QUAGMIRE_MUTANTS=1 and without -g0"
        )));
    }
    let header = Header::new(options, &inputs)?;
    let mut log = Log::open(options, &header)?;
    interruption::watch();
    let (stable, mut left_out) = baseline::measure(options, inputs)?;
    if stable.is_empty() && !interruption::has_come() {
        return Err(nothing_left(&left_out));
    }
    let probed = probe(options, &table, &stable, &mut left_out)?;
    hunt(options, &table, &stable, &probed, &mut log)?;
    left_out.sort_by(|a, b| a.path.cmp(&b.path));
    let is_interrupted = interruption::has_come();
    let mut score = Score::new(&header, table, &stable, left_out, &probed, &log);
    score.is_incomplete |= is_interrupted;
    if let Some(folder) = &options.output {
        let text = serde_json::to_string_pretty(&score).unwrap_or_default() + "\n";
        write_whole(&folder.join(RESULT), text.as_bytes())?;
    }
    print::print(&score, options)?;
    if is_interrupted {
        let done = grouped(log.verdicts.len() as u64);
        let remedy = match &options.output {
            Some(folder) => format!("go on with --resume -o {}", folder.display()),
            None => "give -o DIR to be able to go on".to_owned(),
        };
        return Err(Error::other(format!("stopped by a signal after {done} mutants: {remedy}")));
    }
    Ok(ExitCode::Ended)
}

/// The inputs, each content once.
fn distinct(paths: &[std::path::PathBuf]) -> Result<Vec<Seed>> {
    let Seeds { inputs, warnings } = Seeds::load_for_replay(paths)?;
    warnings.iter().for_each(|warning| warn(warning));
    let all = inputs.len();
    let mut seen = std::collections::HashSet::new();
    let inputs: Vec<Seed> = inputs.into_iter().filter(|input| seen.insert(input.bytes.clone())).collect();
    if inputs.len() < all {
        let more = counted((all - inputs.len()) as u64, "input");
        warn(&format!("{more} with the contents of another: left out"));
    }
    Ok(inputs)
}
