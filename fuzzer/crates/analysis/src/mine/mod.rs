//! `quagmire mine`: a grammar from examples and a program that accepts or rejects.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Parser;

use crate::{
    command::{Command, EXIT_CODES, TargetOptions, need},
    runner::Runner,
    values,
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    format::{counted, grouped},
    plain::{complain, warn},
    seeds::{Seed, Seeds},
};
use quagmire_choices::mine::{LEAST_PRECISION, Mined, mine};
use quagmire_execution::{harness::Harness, info::TargetInfo};

/// Mine a grammar from examples that the program accepts
#[derive(Clone, Debug, Parser)]
#[command(
    name = "mine",
    override_usage = "quagmire mine [OPTIONS] EXAMPLES... -o GRAMMAR -- PROGRAM [ARGS... @@]",
    long_about = "Mines a grammar from examples that the program accepts. A harness rejects an input by returning -1, any \
                  other program by exiting with a status other than 0.",
    after_help = EXIT_CODES
)]
pub struct MineOptions {
    /// The examples: files, or folders of files; ten small ones of different kinds are enough
    #[arg(value_name = "EXAMPLES")]
    pub examples: Vec<PathBuf>,
    /// Write the grammar to this file, as JSON of the fuzzing book
    #[arg(short = 'o', long, value_name = "GRAMMAR")]
    pub output: Option<PathBuf>,
    /// Say how many of these files the grammar describes (files or folders that are no examples; repeatable)
    #[arg(long, value_name = "PATH")]
    pub check: Vec<PathBuf>,
    /// Stop after this time and write what is known then
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = values::some_time)]
    pub time: Duration,
    /// Stop after this many executions and write what is known then [default: no limit]
    #[arg(long, value_name = "N", value_parser = values::count::<u64>)]
    pub execs: Option<u64>,
    /// Seed of random choices: the same seed, the same grammar
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::seed)]
    pub seed: u64,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

impl Command for MineOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.examples.clone()
    }

    fn check(&self) -> Result<()> {
        if self.target.generator.is_some() {
            return Err(Error::usage(
                "--generator: a grammar is mined from inputs of the program itself: leave it out",
            ));
        }
        need(&self.examples, "no examples to mine: name files or folders")?;
        self.output.as_ref().map(drop).ok_or_else(|| Error::usage("no file for the grammar: name one with -o"))
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        run(&self, &target, harness)
    }
}

/// Largest example, in bytes: structure shows in small ones.
const LARGEST: usize = 1 << 14;
/// Interval of lines about the progress.
const PROGRESS: Duration = Duration::from_secs(5);
/// Inputs of no format that a program is asked about first.
const NONSENSE: [&[u8]; 6] = [b"\x00\x01\x02\xff\xfe", b")]}>'\"([{<", b"\n=,;:]\n[", b"\x80<</a", b"(\"\\", b"}{,:"];

/// Runs `quagmire mine`: mines a grammar, writes it, and says how good it is.
///
/// # Errors
/// If an example cannot be read, the program cannot be run, accepts everything or none of the examples, or most samples of
/// the grammar are rejected.
fn run(options: &MineOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let seeds = Seeds::load(&options.examples, None)?;
    let held_back = if options.check.is_empty() { Seeds::default() } else { Seeds::load(&options.check, None)? };
    for warning in seeds.warnings.iter().chain(&held_back.warnings) {
        warn(warning);
    }
    let capacity = 2 * seeds.largest().min(LARGEST as u64) as usize + LARGEST;
    let mut runner = Runner::within(harness, capacity, options.target.limits())?;
    let examples = accepted_examples(seeds.inputs, target, &mut runner)?;
    let start = Instant::now();
    let (mut failed, mut shown) = (None, start);
    let mut ask = |input: &[u8]| {
        if failed.is_some() || options.execs == Some(runner.executions()) || start.elapsed() > options.time {
            return None;
        }
        if shown.elapsed() > PROGRESS {
            shown = Instant::now();
            complain(&format!("quagmire: mining: {}\n", counted(runner.executions(), "execution")));
        }
        match runner.accepts(input) {
            Ok(is_accepted) => Some(is_accepted),
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    };
    let mined = mine(examples, options.seed, &mut ask);
    if let Some(error) = failed {
        return Err(error);
    }
    let mut mined = mined?;
    if mined.is_cut_short {
        // 300 executions more than the budget: what it does not know would count as rejected
        mined.measure(options.seed, &mut |input| runner.accepts(input).ok());
    }
    tell(&mined, runner.executions());
    if mined.precision < LEAST_PRECISION {
        return Err(Error::other(format!(
            "{} accepts {:.0} % of the grammar's samples: it is not written; campaigns divide text by brackets and \
             separators without one, or give more and smaller examples",
            target.name(),
            100.0 * mined.precision
        )));
    }
    write_whole(options.output.as_deref().unwrap_or(Path::new("")), mined.json.as_bytes())?;
    if !held_back.inputs.is_empty() {
        let parsed = held_back.inputs.iter().filter(|seed| mined.grammar.parse(&seed.bytes).is_some()).count();
        let recall = parsed as f64 / held_back.inputs.len() as f64;
        complain(&format!("quagmire: recall {recall:.3}: {parsed} of {} files to check\n", held_back.inputs.len()));
    }
    Ok(ExitCode::Ended)
}

/// Says how good a grammar is.
fn tell(mined: &Mined, executions: u64) {
    complain(&format!(
        "quagmire: {} from {}, precision {:.3} over 300 samples, {} executions\n",
        counted(mined.nonterminals as u64, "nonterminal"),
        counted(mined.examples as u64, "example"),
        mined.precision,
        grouped(executions)
    ));
    if mined.is_cut_short {
        warn("the time or the executions were used up before the end: give more with --time or --execs");
    }
}

/// Examples that the program accepts, if it accepts some, and not everything.
fn accepted_examples(seeds: Vec<Seed>, target: &TargetInfo, runner: &mut Runner) -> Result<Vec<Vec<u8>>> {
    let program = target.name();
    let number = seeds.len();
    let mut examples = Vec::new();
    for seed in seeds {
        if seed.bytes.len() <= LARGEST && runner.accepts(&seed.bytes)? {
            examples.push(seed.bytes);
        }
    }
    if examples.is_empty() {
        return Err(Error::target(format!(
            "{program} accepts none of {}: a harness has to return 0 for what it accepts, a program to exit with 0; give \
             examples of at most 16 KiB that are valid",
            counted(number as u64, "example")
        )));
    }
    if examples.len() < number {
        warn(&format!(
            "{program} rejects {} of {}, which are left out",
            number - examples.len(),
            counted(number as u64, "example")
        ));
    }
    let mut accepts_all = true;
    for nonsense in NONSENSE {
        accepts_all &= runner.accepts(nonsense)?;
    }
    if accepts_all {
        return Err(Error::target(format!(
            "{program} accepts everything, so nothing can be learned from it: a harness has to return -1 for what it \
             rejects, a program to exit with another status than 0"
        )));
    }
    Ok(examples)
}
