//! Resolved options of a campaign: the only place that knows defaults, limits and conflicts.

pub mod args;
mod compare;
mod cores;
mod costs;
mod distill;
mod diversity;
pub mod files;
pub mod format;
pub mod generate;
mod growth;
mod measured;
mod mine;
mod minimize;
mod mutants;
mod replay;
pub mod report;
mod size;
mod target;
pub mod towards;

use crate::options::args::{Experiment, FuzzArgs, TargetArgs};
use quagmire_base::error::{Error, Result};
use quagmire_base::{path_filter::PathFilter, size_limit::SizeLimit, terminal::ColorChoice, units};
use quagmire_cost::{resource::Resource, sizes::RelativeTo};
use quagmire_execution::diversity::trace::TraceKind;
use quagmire_mutators::InputType;
use quagmire_results::{
    metrics::Address,
    names::{EntryName, files_in},
};
use quagmire_search::{
    choices::mode::Mode,
    corpus::{effort::Focus, search_state::Masking},
    schedule::by_cost::Parents,
    stages::gathering::GatheringLimits,
    strategy::Strategy,
};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

/// Default values in the form in which they are typed, as the help texts show them.
pub mod defaults {
    /// Default of `--time`.
    pub const TIME: &str = "1800s";
    /// Default of `--hang-timeout`.
    pub const HANG_TIMEOUT: &str = "10s";
    /// Default of `growth --cost`.
    pub const GROWTH_COST: &str = "instructions";
    /// Default of `growth --budget`.
    pub const GROWTH_BUDGET: &str = "30s";
    /// Default of `minimize --cause`.
    pub const MINIMIZE_CAUSE: &str = "same";
    /// Default of `minimize --budget`.
    pub const MINIMIZE_BUDGET: &str = "60s";
    /// Default of `minimize --execs`.
    pub const MINIMIZE_EXECS: &str = "2000";
    /// Default of `growth --max-size`.
    pub const GROWTH_MAX_SIZE: &str = "1MiB";
    /// Default of `--memory-limit`.
    pub const MEMORY_LIMIT: &str = "2GiB";
    /// Default of `--cost`.
    pub const COST: &str = "instructions";
    /// Default of `--steer`.
    pub const STEER: &str = "instructions";
    /// Default of `--threshold`.
    pub const THRESHOLD: &str = "2.0";
    /// Default of `report --format`.
    pub const FORMAT: &str = "html";
    /// Default of `--relative-to`.
    pub const RELATIVE_TO: &str = "size";
    /// Default of `--choices`.
    pub const CHOICES: &str = "simple";
    /// Default of `--mutations-per-rule`.
    pub const MUTATIONS_PER_RULE: &str = "mixed";
    /// Default of `--coverage-increase-rate`.
    pub const COVERAGE_INCREASE_RATE: &str = "1.5";
    /// Default of `--interesting-files-limit`.
    pub const INTERESTING_FILES_LIMIT: &str = "20";
    /// Default of `--exec-limit`.
    pub const EXEC_LIMIT: &str = "100";
    /// Default of `--focus`.
    pub const FOCUS: &str = "balanced";
    /// Default of `--parents`.
    pub const PARENTS: &str = "best";
    /// Default of `--trace`.
    pub const TRACE: &str = "bucketed";
    /// Default of `compare --threshold`: smaller differences matter to nobody, and a layout of the code can make them in
    /// time (`judgement::LEAST_EFFECT`).
    pub const REGRESSION: &str = "1.05";
    /// Default of `compare --time`.
    pub const COMPARE_TIME: &str = "10m";
    /// Default of `--color`.
    pub const COLOR: &str = "auto";
    /// Default of `mine --time`.
    pub const MINE_TIME: &str = "5m";
    /// Default of `replay --repeats`.
    pub const REPEATS: &str = "auto";
    /// Default of `replay --budget`.
    pub const BUDGET: &str = "2s";
    /// Default of `generate --size`.
    pub const GENERATED_SIZE: &str = "4096";
    /// Default of `generate --depth`.
    pub const GENERATED_DEPTH: &str = "32";
}

/// Minimum of `--hang-timeout`: below it, ordinary scheduling delays look like hangs.
pub const SHORTEST_HANG_TIMEOUT: Duration = Duration::from_millis(10);

/// Minimum of `--memory-limit` other than 0, in bytes: less does not even load a program.
pub const SMALLEST_MEMORY_LIMIT: u64 = 16 << 20;

/// Options of `fuzz` after defaults and checks.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files and folders of seeds, as given; at least one, unless there is a grammar.
    pub seeds: Vec<PathBuf>,
    /// The output folder.
    pub output: PathBuf,
    /// Time limit of the campaign; more than zero.
    pub time: Duration,
    /// Limit of executions; at least one.
    pub execs: Option<u64>,
    /// Time for laws and smallest inputs of findings after the search; `None` for a share of the search's time.
    pub explain: Option<Duration>,
    /// Hang timeout of a run; at least [`SHORTEST_HANG_TIMEOUT`].
    pub hang_timeout: Duration,
    /// Memory limit of the target in bytes; 0 for none.
    pub memory_limit: u64,
    /// Resources of which any makes an input a degradation; at least one, without duplicates.
    pub cost: Vec<Resource>,
    /// Measured resource that the search follows, one of `cost`; `None` if it follows counts.
    pub steer: Option<Resource>,
    /// Multiple of the cost of an ordinary input from which on an input is a degradation; more than 1.
    pub threshold: f64,
    /// Reference of the threshold: an ordinary input of the same size, or the median seed.
    pub relative_to: RelativeTo,
    /// Limit of the size of inputs.
    pub size: SizeLimit,
    /// Selection of rules, as typed.
    pub rules: Option<String>,
    /// Files of custom rules, in the order given.
    pub regex_rules: Vec<PathBuf>,
    /// Type of the seeds, if the user gives it.
    pub input_type: Option<InputType>,
    /// Expression that the paths of seeds have to match.
    pub workloads_filter: Option<PathFilter>,
    /// Dictionaries, in the order given.
    pub dictionaries: Vec<PathBuf>,
    /// Whether constants of the code are tokens, too.
    pub auto_dict: bool,
    /// File of the grammar of the inputs.
    pub grammar: Option<PathBuf>,
    /// How choices are mutated.
    pub choices: Mode,
    /// How the number of mutants per rule is determined.
    pub strategy: Strategy,
    /// Conditions that end a phase of the search, and the ratio from which on an input is interesting.
    pub gathering: GatheringLimits,
    /// Whether to measure every mutant precisely.
    pub skip_coverage_testing: bool,
    /// Division of the work between cost and coverage.
    pub focus: Focus,
    /// Places that the search works towards.
    pub towards: towards::Towards,
    /// Choice of parents in rounds for cost.
    pub parents: Parents,
    /// Use of FairFuzz's masks.
    pub masking: Masking,
    /// Whether to continue with rare branches even if they bring nothing new.
    pub no_bootstrap: bool,
    /// Whether to ignore inputs that only execute an edge more often than others.
    pub ignore_maxima: bool,
    /// Whether inputs that crash or exit may become parents.
    pub keep_early_ends: bool,
    /// Kind of the traces by which diversity is counted; `None` if it is not.
    pub trace: Option<TraceKind>,
    /// Function that valid runs enter, as typed.
    pub valid_if_reached: Option<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Whether to resume the campaign in the output folder.
    pub resume: bool,
    /// Whether to move an existing campaign in the output folder away.
    pub force: bool,
    /// Numbers of the cores to fuzz on; empty for one that the system chooses.
    pub cores: Vec<usize>,
    /// Sync folder, and the name of this campaign in it.
    pub sync: Option<(PathBuf, String)>,
    /// Whether to draw graphs at the end.
    pub plotting: bool,
    /// Whether to print only the end.
    pub quiet: bool,
    /// Address of the Prometheus exporter.
    pub metrics: Option<Address>,
    /// When output is coloured.
    pub color: ColorChoice,
    /// Whether to show the target's output.
    pub debug_target: bool,
    /// Whether to confirm degradations by repeated runs.
    pub confirm: bool,
    /// The program and its arguments; empty in a harness.
    pub program: Vec<OsString>,
    /// The whole command line, for `summary.json`.
    pub command: Vec<String>,
}

impl Options {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(mut args: FuzzArgs) -> Result<Self> {
        if let Some(output) = args.output.as_ref().filter(|_| args.resume && args.seeds.is_empty()) {
            args.seeds = seeds_in(output);
            // those that it let pass
            args.workloads_filter = None;
        }
        if args.seeds.is_empty() && args.grammar.is_none() {
            return Err(Error::usage(
                "no seeds: give at least one file or folder with -i, or a grammar with --grammar",
            ));
        }
        if args.grammar.is_some() && args.target.generator.is_some() {
            return Err(Error::usage(
                "--grammar and --generator do not go together: a grammar describes bytes, and a generator draws from them; \
                 leave one of them out",
            ));
        }
        let gathering = gathering(&args)?;
        let masking = masking(&args)?;
        let cost = costs::costs(&args)?;
        let Some(output) = args.output.filter(|path| !path.as_os_str().is_empty()) else {
            return Err(Error::usage("no output folder: name one with -o"));
        };
        if args.resume && args.force {
            return Err(Error::usage(
                "--resume and --force contradict each other: --resume goes on with the campaign in the output folder, \
                 --force starts anew; give one of them",
            ));
        }
        let time = flag("--time", units::duration(&args.time))?;
        if time.is_zero() {
            return Err(Error::usage("--time 0 leaves no time to search: give more, or leave it out for 1800s"));
        }
        let has_traces = args.diversity || args.grammar.is_some();
        let trace_kind = args.trace.as_deref().or(has_traces.then_some(defaults::TRACE));
        Ok(Self {
            cores: cores::cores(args.jobs.as_deref(), args.cores.as_deref())?,
            sync: cores::sync(args.sync, args.name, &output)?,
            gathering,
            strategy: strategy(&args.mutations_per_rule)?,
            grammar: args.grammar,
            choices: choices(&args.choices)?,
            focus: focus(&args.focus)?,
            towards: towards::towards(args.towards, args.experiment.contains(&Experiment::TowardsWatch))?,
            parents: parents(&args.parents)?,
            skip_coverage_testing: args.skip_coverage_testing,
            masking,
            no_bootstrap: args.experiment.contains(&Experiment::NoBootstrap),
            ignore_maxima: args.experiment.contains(&Experiment::NoEdgeMaxima),
            keep_early_ends: args.keep_early_ends,
            seeds: args.seeds,
            output,
            time,
            execs: args.execs.as_deref().map(executions).transpose()?,
            explain: args.explain.as_deref().map(|time| flag("--explain", units::duration(time))).transpose()?,
            hang_timeout: hang_timeout(&args.target)?,
            memory_limit: memory_limit(&args.target)?,
            steer: costs::steer(&args.steer)?,
            cost,
            threshold: threshold(&args.threshold)?,
            relative_to: relative_to(&args.relative_to)?,
            size: size::size_limit(args.max_size, args.max_size_increase, args.max_size_ratio)?,
            rules: args.rules,
            regex_rules: args.regex_rules,
            input_type: args.input_type.as_deref().map(str::parse).transpose()?,
            workloads_filter: args.workloads_filter.as_deref().map(filter).transpose()?,
            dictionaries: args.dict,
            auto_dict: !args.no_auto_dict,
            trace: trace_kind.map(trace).transpose()?,
            valid_if_reached: args.validity.valid_if_reached,
            seed: args.seed.as_deref().map_or_else(|| Ok(drawn_seed()), given_seed)?,
            resume: args.resume,
            force: args.force,
            plotting: !args.no_plotting,
            quiet: args.quiet,
            metrics: args.metrics.as_deref().map(Address::parse).transpose()?,
            color: color(&args.color)?,
            debug_target: args.target.debug_target,
            confirm: !args.no_confirm,
            program: args.target.program,
            command: args.target.command,
        })
    }
}

/// The seeds of the campaign in a folder.
fn seeds_in(folder: &Path) -> Vec<PathBuf> {
    let is_seed = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.parse::<EntryName>().is_ok_and(|name| name.orig.is_some())
    };
    files_in(&folder.join("queue")).into_iter().filter(is_seed).collect()
}

/// Prefixes the error of a value with the name of its option.
pub fn flag<T>(name: &str, value: Result<T, String>) -> Result<T> {
    value.map_err(|what| Error::usage(format!("{name}: {what}")))
}

fn executions(text: &str) -> Result<u64> {
    match text.parse() {
        Ok(0) => {
            Err(Error::usage("--execs 0 leaves nothing to execute: give at least 1, or leave it out for no limit"))
        }
        Ok(executions) => Ok(executions),
        Err(_) => Err(Error::usage(format!("--execs: `{text}` is not a count: write a whole number such as 100000"))),
    }
}

fn hang_timeout(args: &TargetArgs) -> Result<Duration> {
    let timeout = flag("--hang-timeout", units::duration(&args.hang_timeout))?;
    if timeout < SHORTEST_HANG_TIMEOUT {
        return Err(Error::usage(format!(
            "--hang-timeout {} is too short to tell a hang from an ordinary delay: give at least 10ms",
            args.hang_timeout
        )));
    }
    Ok(timeout)
}

fn memory_limit(args: &TargetArgs) -> Result<u64> {
    let limit = flag("--memory-limit", units::size(&args.memory_limit))?;
    if limit != 0 && limit < SMALLEST_MEMORY_LIMIT {
        return Err(Error::usage(format!(
            "--memory-limit {} ({limit} bytes) leaves no room for a program: give at least 16MiB, or 0 for no limit",
            args.memory_limit
        )));
    }
    Ok(limit)
}

fn strategy(text: &str) -> Result<Strategy> {
    text.parse().map_err(|()| {
        let names = Strategy::ALL.map(Strategy::name).join(", ");
        Error::usage(format!("--mutations-per-rule: `{text}` is not a strategy: write one of {names}"))
    })
}

fn choices(text: &str) -> Result<Mode> {
    text.parse().map_err(|()| {
        let names = Mode::ALL.map(Mode::name).join(", ");
        Error::usage(format!("--choices: `{text}` is not a mode: write one of {names}"))
    })
}

fn gathering(args: &FuzzArgs) -> Result<GatheringLimits> {
    let count = |name: &str, text: &str| match text.parse() {
        Ok(0) => Err(Error::usage(format!("{name} 0 would never let a phase begin: give at least 1"))),
        Ok(count) => Ok(count),
        Err(_) => Err(Error::usage(format!("{name}: `{text}` is not a count: write a whole number such as 100"))),
    };
    let rate = match args.coverage_increase_rate.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate >= 1.0 => rate,
        Ok(rate) if rate < 1.0 => {
            return Err(Error::usage(format!(
                "--coverage-increase-rate {rate} would take cheaper inputs for interesting: give at least 1"
            )));
        }
        _ => {
            return Err(Error::usage(format!(
                "--coverage-increase-rate: `{}` is not a ratio: write a number from 1 such as 1.5",
                args.coverage_increase_rate
            )));
        }
    };
    Ok(GatheringLimits {
        files: count("--interesting-files-limit", &args.interesting_files_limit)?,
        executions: count("--exec-limit", &args.exec_limit)?,
        rate,
    })
}

fn masking(args: &FuzzArgs) -> Result<Masking> {
    let has = |one| args.experiment.contains(&one);
    let shadow = has(Experiment::ShadowMask);
    if args.no_mask && shadow {
        return Err(Error::usage(
            "--no-mask and --experiment shadow-mask contradict each other: a shadow is compared with a masked mutant; leave one of them out",
        ));
    }
    Ok(Masking { no_mask: args.no_mask, no_trim: has(Experiment::NoTrim), shadow })
}

fn focus(text: &str) -> Result<Focus> {
    match text {
        "cost" => Ok(Focus::Cost),
        "coverage" => Ok(Focus::Coverage),
        "balanced" => Ok(Focus::Balanced),
        _ => Err(Error::usage(format!("--focus: `{text}` is not a focus: write cost, coverage or balanced"))),
    }
}

fn parents(text: &str) -> Result<Parents> {
    match text {
        "best" => Ok(Parents::Best),
        "intervals" => Ok(Parents::Intervals),
        "both" => Ok(Parents::Both),
        _ => Err(Error::usage(format!("--parents: `{text}` is not a choice: write best, intervals or both"))),
    }
}

fn threshold(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(ratio) if ratio.is_finite() && ratio > 1.0 => Ok(ratio),
        Ok(ratio) if ratio <= 1.0 => {
            Err(Error::usage(format!("--threshold {text} would call every input a degradation: give more than 1")))
        }
        _ => Err(Error::usage(format!("--threshold: `{text}` is not a ratio: write a number above 1 such as 2.0"))),
    }
}

fn relative_to(text: &str) -> Result<RelativeTo> {
    match text {
        "size" => Ok(RelativeTo::Size),
        "seed" => Ok(RelativeTo::Seed),
        _ => Err(Error::usage(format!("--relative-to: `{text}` is not a choice: write size or seed"))),
    }
}

fn trace(text: &str) -> Result<TraceKind> {
    text.parse().map_err(|()| {
        let names = TraceKind::ALL.map(TraceKind::name).join(", ");
        Error::usage(format!("--trace: `{text}` is not a kind of traces: write one of {names}"))
    })
}

fn color(text: &str) -> Result<ColorChoice> {
    match text {
        "auto" => Ok(ColorChoice::Auto),
        "always" => Ok(ColorChoice::Always),
        "never" => Ok(ColorChoice::Never),
        _ => Err(Error::usage(format!("--color: `{text}` is not a choice: write auto, always or never"))),
    }
}

fn filter(pattern: &str) -> Result<PathFilter> {
    PathFilter::new(pattern).map_err(|reason| {
        Error::usage(format!("--workloads-filter: `{pattern}` is not a regular expression ({reason}): correct it"))
    })
}

fn given_seed(text: &str) -> Result<u64> {
    text.parse().map_err(|_| {
        Error::usage(format!("--seed: `{text}` is not a seed number: write a whole number from 0 to {}", u64::MAX))
    })
}

/// Draws a number from the operating system's entropy, of 32 bits so that people can copy it.
fn drawn_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests;
