//! `quagmire mutants bench`: how many mutants of a program the campaigns of several fuzzers kill, and how soon.
//!
//! Each fuzzer (`fuzzer`) makes repeated campaigns from the same seeds (`campaign`), over a build of its own. What they leave is
//! scored by the program with mutants (`result`), without the mutants that the seeds kill. A table (`table`) ranks the
//! fuzzers. Finished campaigns are files of their own (`folder`), from which `--resume` goes on.

mod campaign;
mod folder;
mod fuzzer;
mod result;
mod table;

use std::path::{Path, PathBuf};

pub use self::fuzzer::known_fuzzers;
use self::{
    folder::BenchFolder,
    fuzzer::{Fuzzer, Setup},
    result::{Bench, Campaign, Known},
};
use super::{ScoreOptions, log::Header, runs::in_parallel};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    format::counted,
    plain::{self, Form, complain},
    seeds::Seeds,
};
use quagmire_execution::interruption;

/// Options of `mutants bench` after defaults and checks.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchOptions {
    /// Scores of what campaigns leave: its inputs are the seeds, and its program has the mutants.
    pub score: ScoreOptions,
    /// Folder for the campaigns and the result.
    pub output: PathBuf,
    /// The fuzzers, at least one, each name once.
    pub fuzzers: Vec<Contestant>,
    /// Seconds of each campaign; at least 1.
    pub seconds: u64,
    /// Number of campaigns of each fuzzer; at least 1.
    pub runs: u64,
    /// Seed of the first campaign of each fuzzer; the others have those after it.
    pub first_seed: u64,
    /// Largest input in bytes.
    pub max_size: u64,
    /// Number of campaigns that run at a time; at least 1.
    pub jobs: usize,
    /// Whether to go on with what is in the output folder.
    pub resume: bool,
    /// Whether to print JSON.
    pub json: bool,
}

/// A fuzzer of a bench as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contestant {
    /// One of [`known_fuzzers`], or any other name of a script.
    pub name: String,
    /// The program as it is built for the fuzzer, or the script that runs it.
    pub path: PathBuf,
    /// Whether it is a script.
    pub is_script: bool,
}

/// Runs `quagmire mutants bench`.
///
/// # Errors
/// If a fuzzer or the program cannot be run, a seed cannot be read, the output folder belongs to another bench or cannot be
/// written, or the user has stopped it: finished campaigns stay.
pub fn run(options: &BenchOptions) -> Result<ExitCode> {
    let fuzzers = options.fuzzers.iter().map(Fuzzer::of).collect::<Result<Vec<_>>>()?;
    let seeds = Seeds::load_for_replay(&options.score.inputs)?.inputs;
    if let Some(large) = seeds.iter().find(|seed| seed.bytes.len() as u64 > options.max_size) {
        return Err(Error::usage(format!(
            "{} has {}, and campaigns leave out what is larger than --max-size {}: raise it",
            large.path.display(),
            counted(large.bytes.len() as u64, "byte"),
            options.max_size
        )));
    }
    let folder = BenchFolder::open(options, Header::new(&options.score, &seeds)?)?;
    let corpus = folder.write_seeds(&seeds)?;
    interruption::watch();
    let known = Known::of_seeds(options)?;
    let campaigns = campaigns(options, &fuzzers, &folder, &corpus, &known)?;
    if interruption::has_come() {
        let finished = counted(campaigns.len() as u64, "finished campaign");
        let shown = options.output.display();
        return Err(Error::other(format!("stopped by a signal after {finished}: go on with --resume -o {shown}")));
    }
    let bench = Bench::new(&folder.header, &fuzzers, &known, campaigns);
    folder.finish(&bench)?;
    if options.json {
        plain::print_json(&bench)?;
    } else {
        plain::print(&table::text(&bench, &options.output), Form::Lines)?;
    }
    Ok(ExitCode::Ended)
}

/// Makes the campaigns that the folder does not have yet, and returns all of them, in any order; after a signal, those that
/// are finished.
fn campaigns(
    options: &BenchOptions,
    fuzzers: &[Fuzzer],
    folder: &BenchFolder,
    corpus: &Path,
    known: &Known,
) -> Result<Vec<Campaign>> {
    let mut finished = Vec::new();
    let work = |(): &mut (), number: usize| {
        // by turns, so that what changes on the machine falls on all
        let (fuzzer, seed) = (&fuzzers[number % fuzzers.len()], options.first_seed + (number / fuzzers.len()) as u64);
        if let Some(campaign) = folder.finished(&fuzzer.name, seed)? {
            return Ok(Some(campaign));
        }
        let setup = Setup { seeds: corpus, out: &folder.of_campaign(&fuzzer.name, seed), seed, options };
        Campaign::run(fuzzer, &setup, known)?.map(|campaign| folder.keep(campaign)).transpose()
    };
    let count = options.runs as usize * fuzzers.len();
    in_parallel(
        options.jobs,
        count,
        || Ok(()),
        work,
        |_, campaign| {
            complain(&(campaign.line(known) + "\n"));
            finished.push(campaign);
            Ok(())
        },
    )?;
    Ok(finished)
}
