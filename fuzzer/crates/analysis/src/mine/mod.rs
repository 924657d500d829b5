//! `quagmire mine`: a grammar from examples and a program that accepts or rejects.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::runner::Runner;
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    format::{counted, grouped},
    plain::{complain, warn},
    seeds::{Seed, Seeds},
};
use quagmire_choices::mine::{LEAST_PRECISION, Mined, mine};
use quagmire_execution::{harness::Harness, info::TargetInfo, session::Limits, timer::HangClock};

/// Options of `mine` after defaults and checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MineOptions {
    /// Files and folders of examples, as given; at least one.
    pub examples: Vec<PathBuf>,
    /// The file for the grammar.
    pub output: PathBuf,
    /// Files and folders of examples that the grammar is checked with; may be empty.
    pub check: Vec<PathBuf>,
    /// Time limit.
    pub time: Duration,
    /// Limit of executions.
    pub execs: Option<u64>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Hang timeout of a run; at least 10 ms.
    pub hang_timeout: Duration,
    /// Memory limit of the target in bytes; 0 for none.
    pub memory_limit: u64,
    /// Whether to show the target's output.
    pub debug_target: bool,
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
pub fn run(options: &MineOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let seeds = Seeds::load(&options.examples, None)?;
    let held_back = if options.check.is_empty() { Seeds::default() } else { Seeds::load(&options.check, None)? };
    for warning in seeds.warnings.iter().chain(&held_back.warnings) {
        warn(warning);
    }
    let capacity = 2 * seeds.largest().min(LARGEST as u64) as usize + LARGEST;
    let limits = Limits {
        hang_timeout: options.hang_timeout,
        clock: HangClock::Wall,
        memory_limit: options.memory_limit,
        debug_target: options.debug_target,
    };
    let mut runner = Runner::within(harness, capacity, limits)?;
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
    write_whole(&options.output, mined.json.as_bytes())?;
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
