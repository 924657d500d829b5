//! The options of a campaign, resolved: the only place that knows defaults, limits and conflicts.

mod afl;
pub mod args;
mod cores;
mod replay;
mod size;

use crate::options::args::{FuzzArgs, TargetArgs};
use quagmire_base::error::{Error, Result, regex_reason};
use quagmire_base::{seeds::SizeLimit, terminal::ColorChoice, units};
use quagmire_cost::{resource::Resource, sizes::RelativeTo};
use quagmire_mutators::InputType;
use quagmire_results::metrics::Address;
use quagmire_search::keep::{effort::Focus, kept::Masking};
use quagmire_search::schedule::{by_cost::Parents, strategy::Strategy};
use quagmire_search::stages::gathering::Limits;
use regex::bytes::Regex;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::time::Duration;

/// Defaults, in the form in which they are typed, so that the help texts show them.
pub mod defaults {
    /// `--time`
    pub const TIME: &str = "1800s";
    /// `--hang-timeout`
    pub const HANG_TIMEOUT: &str = "10s";
    /// `--memory-limit`
    pub const MEMORY_LIMIT: &str = "2GiB";
    /// `--cost`
    pub const COST: &str = "instructions";
    /// `--threshold`
    pub const THRESHOLD: &str = "2.0";
    /// `--relative-to`
    pub const RELATIVE_TO: &str = "size";
    /// `--mutations-per-rule`
    pub const MUTATIONS_PER_RULE: &str = "mixed";
    /// `--coverage-increase-rate`
    pub const COVERAGE_INCREASE_RATE: &str = "1.5";
    /// `--interesting-files-limit`
    pub const INTERESTING_FILES_LIMIT: &str = "20";
    /// `--exec-limit`
    pub const EXEC_LIMIT: &str = "100";
    /// `--focus`
    pub const FOCUS: &str = "balanced";
    /// `--parents`
    pub const PARENTS: &str = "best";
    /// `--color`
    pub const COLOR: &str = "auto";
    /// `replay --repeats`
    pub const REPEATS: &str = "auto";
    /// `replay --budget`
    pub const BUDGET: &str = "2s";
    /// `--max-size-increase`, in bytes
    pub const MAX_SIZE_INCREASE: u64 = 1_000_000;
}

/// The shortest `--hang-timeout`: below it, ordinary scheduling delays look like hangs.
pub const SHORTEST_HANG_TIMEOUT: Duration = Duration::from_millis(10);

/// The smallest `--memory-limit` other than none, in bytes: less does not even load a program.
pub const SMALLEST_MEMORY_LIMIT: u64 = 16 << 20;

/// The options of `fuzz`, resolved.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files and folders of seeds, as given; at least one.
    pub seeds: Vec<PathBuf>,
    /// The output folder.
    pub output: PathBuf,
    /// When to stop; more than zero.
    pub time: Duration,
    /// After how many executions to stop; at least one.
    pub execs: Option<u64>,
    /// A run that takes longer is a hang; at least [`SHORTEST_HANG_TIMEOUT`].
    pub hang_timeout: Duration,
    /// Memory of the target in bytes; 0 for no limit.
    pub memory_limit: u64,
    /// What has to exceed the threshold; at least one, none twice.
    pub cost: Vec<Resource>,
    /// How many times the cost of an ordinary input is a degradation; more than 1.
    pub threshold: f64,
    /// What an ordinary input is.
    pub relative_to: RelativeTo,
    /// How large inputs may become.
    pub size: SizeLimit,
    /// The rules to mutate by, as typed.
    pub rules: Option<String>,
    /// Files of custom rules, in the order given.
    pub regex_rules: Vec<PathBuf>,
    /// What the seeds are, if the user says so.
    pub input_type: Option<InputType>,
    /// Seeds whose path does not match are left out.
    pub workloads_filter: Option<Regex>,
    /// Dictionaries, in the order given.
    pub dictionaries: Vec<PathBuf>,
    /// How many mutants each rule makes.
    pub strategy: Strategy,
    /// When a phase of the search ends, and what is interesting.
    pub gathering: Limits,
    /// Measure every mutant precisely.
    pub skip_coverage_testing: bool,
    /// How the work is divided between cost and coverage.
    pub focus: Focus,
    /// How the parents of rounds for cost are chosen.
    pub parents: Parents,
    /// What of FairFuzz's masks is used.
    pub masking: Masking,
    /// Rare branches are targets also when they bring nothing new.
    pub no_bootstrap: bool,
    /// Keep no input for executing an edge more often.
    pub ignore_maxima: bool,
    /// The number that all random choices follow from.
    pub seed: u64,
    /// Go on with the campaign in the output folder.
    pub resume: bool,
    /// Rotate the campaign in the output folder away.
    pub force: bool,
    /// Numbers of the cores to fuzz on; none for one that the system chooses.
    pub cores: Vec<usize>,
    /// The folder where campaigns meet, and what this one is called there.
    pub sync: Option<(PathBuf, String)>,
    /// Draw graphs at the end.
    pub plotting: bool,
    /// Print nothing but the end.
    pub quiet: bool,
    /// Where to show figures for Prometheus.
    pub metrics: Option<Address>,
    /// When to use colours.
    pub color: ColorChoice,
    /// Show what the target prints.
    pub debug_target: bool,
    /// Confirm degradations by repeated runs.
    pub confirm: bool,
    /// The program and its arguments; empty in a harness that contains the engine.
    pub program: Vec<OsString>,
    /// The whole command line, for `summary.json`.
    pub command: Vec<String>,
}

impl Options {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// A usage error of one line that names the flag and the remedy.
    pub fn resolve(args: FuzzArgs) -> Result<Self> {
        if args.seeds.is_empty() {
            return Err(Error::usage("no seeds: give at least one file or folder with -i"));
        }
        let gathering = gathering(&args)?;
        let masking = masking(&args)?;
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
        Ok(Self {
            cores: cores::cores(args.jobs.as_deref(), args.cores.as_deref())?,
            sync: cores::sync(args.sync, args.name, &output)?,
            gathering,
            strategy: strategy(&args.mutations_per_rule)?,
            focus: focus(&args.focus)?,
            parents: parents(&args.parents)?,
            skip_coverage_testing: args.skip_coverage_testing,
            masking,
            no_bootstrap: args.no_bootstrap,
            ignore_maxima: args.no_edge_maxima,
            seeds: args.seeds,
            output,
            time,
            execs: args.execs.as_deref().map(executions).transpose()?,
            hang_timeout: hang_timeout(&args.target)?,
            memory_limit: memory_limit(&args.target)?,
            cost: costs(&args.cost)?,
            threshold: threshold(&args.threshold)?,
            relative_to: relative_to(&args.relative_to)?,
            size: size::size_limit(args.max_size, args.max_size_increase, args.max_size_ratio)?,
            rules: args.rules,
            regex_rules: args.regex_rules,
            input_type: args.input_type.as_deref().map(str::parse).transpose()?,
            workloads_filter: args.workloads_filter.as_deref().map(filter).transpose()?,
            dictionaries: args.dict,
            seed: args.seed.as_deref().map_or_else(|| Ok(drawn_seed()), given_seed)?,
            resume: args.resume,
            force: args.force,
            plotting: !args.no_plotting,
            quiet: args.quiet,
            metrics: args.metrics.as_deref().map(Address::parse).transpose()?,
            color: color(&args.color)?,
            debug_target: args.target.debug_target,
            confirm: !args.no_confirm,
            program: args.program,
            command: args.command,
        })
    }
}

/// Puts the flag in front of what is wrong with its value.
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

fn costs(list: &str) -> Result<Vec<Resource>> {
    let mut costs = Vec::new();
    for name in list.split(',').map(str::trim) {
        let cost = name.parse::<Resource>().map_err(|()| {
            let names = Resource::ALL.map(Resource::name).join(", ");
            Error::usage(format!("--cost: `{name}` is not a cost: write one or more of {names}, with commas"))
        })?;
        if !costs.contains(&cost) {
            costs.push(cost);
        }
    }
    Ok(costs)
}

fn strategy(text: &str) -> Result<Strategy> {
    text.parse().map_err(|()| {
        let names = Strategy::ALL.map(Strategy::name).join(", ");
        Error::usage(format!("--mutations-per-rule: `{text}` is not a strategy: write one of {names}"))
    })
}

fn gathering(args: &FuzzArgs) -> Result<Limits> {
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
    Ok(Limits {
        files: count("--interesting-files-limit", &args.interesting_files_limit)?,
        executions: count("--exec-limit", &args.exec_limit)?,
        rate,
    })
}

fn masking(args: &FuzzArgs) -> Result<Masking> {
    if args.no_mask && args.shadow_mask {
        return Err(Error::usage(
            "--no-mask and --shadow-mask contradict each other: a shadow is compared with a masked mutant; leave one of them out",
        ));
    }
    Ok(Masking { no_mask: args.no_mask, no_trim: args.no_trim, shadow: args.shadow_mask })
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

fn color(text: &str) -> Result<ColorChoice> {
    match text {
        "auto" => Ok(ColorChoice::Auto),
        "always" => Ok(ColorChoice::Always),
        "never" => Ok(ColorChoice::Never),
        _ => Err(Error::usage(format!("--color: `{text}` is not a choice: write auto, always or never"))),
    }
}

fn filter(pattern: &str) -> Result<Regex> {
    Regex::new(pattern).map_err(|error| {
        let reason = regex_reason(&error);
        Error::usage(format!("--workloads-filter: `{pattern}` is not a regular expression ({reason}): correct it"))
    })
}

fn given_seed(text: &str) -> Result<u64> {
    text.parse().map_err(|_| {
        Error::usage(format!("--seed: `{text}` is not a seed number: write a whole number from 0 to {}", u64::MAX))
    })
}

/// A number from the operating system's entropy, with 32 bits so that people can copy it.
fn drawn_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests;
