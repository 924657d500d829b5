//! `quagmire compare`: two builds of a program over the same inputs, run in turn in one job. Counts come first, since they
//! are exact; times are measured where counts moved, and decide whether that matters.

mod baseline;
mod builds;
mod evidence;
mod law;
mod moved;
mod observe;
mod report;
mod subject;
mod times;
mod tolerated;

use std::{
    ffi::OsString,
    path::PathBuf,
    time::{Duration, Instant},
};

use self::{builds::Builds, times::Limits};
use crate::{interruption, runner::RunnerOptions};
use quagmire_base::{
    atomic::write_whole,
    error::{ExitCode, Result},
    plain::{self, Form, warn},
};
use quagmire_results::comparison::{Comparison, ComparisonVerdict, Reference};

/// Options of `compare` after defaults and checks.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// Files and folders of inputs, as given; at least one.
    pub inputs: Vec<PathBuf>,
    /// Reference of the comparison.
    pub old: Old,
    /// The new build: the program and its arguments.
    pub new: Vec<OsString>,
    /// Generator in front of both programs.
    pub generator: Option<OsString>,
    /// Extension of the file that stands for `@@`.
    pub extension: Option<String>,
    /// Whether runs have a working folder of their own.
    pub scratch: bool,
    /// File of regressions that are tolerated.
    pub tolerated: Option<PathBuf>,
    /// Ratio of instructions from which on an input is slower; more than 1.
    pub threshold: f64,
    /// Time after which no times are measured any more.
    pub time: Duration,
    /// Whether unstable inputs have an exit code of their own.
    pub is_strict: bool,
    /// Whether builds with other compilers, flags or instrumentation are compared.
    pub is_forced: bool,
    /// Whether to print JSON.
    pub json: bool,
    /// File for the result as JSON.
    pub output: Option<PathBuf>,
    /// How the targets are run.
    pub runs: RunnerOptions,
}

/// Reference that a new build is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Old {
    /// Another build: the program and its arguments.
    Build(Vec<OsString>),
    /// A file of costs.
    Baseline(PathBuf),
    /// Nothing: the costs of the new build are written to this file.
    Update(PathBuf),
    /// The findings of the campaign whose folder is the only input.
    Campaign,
}

/// Runs `quagmire compare`.
///
/// # Errors
/// If an input, the baseline or the list of tolerated regressions cannot be read, builds differ in more than the program,
/// or a target cannot be run.
pub fn run(options: &CompareOptions) -> Result<ExitCode> {
    interruption::watch();
    let tolerated = options.tolerated.as_deref().map(tolerated::read).transpose()?.unwrap_or_default();
    let (mut subjects, reference) = match &options.old {
        Old::Campaign => subject::findings(&options.inputs)?,
        Old::Build(_) => (subject::load(&options.inputs)?, Reference::Build),
        Old::Baseline(file) | Old::Update(file) => {
            (subject::load(&options.inputs)?, Reference::Baseline(file.display().to_string()))
        }
    };
    let largest = subjects.iter().map(|subject| subject.bytes.len()).max().unwrap_or(0);
    let mut builds = Builds::open(options, largest)?;
    if let Old::Update(file) = &options.old {
        return baseline::update(file, &mut builds, &subjects);
    }
    if let Old::Baseline(file) = &options.old {
        baseline::read(file)?.take_over(file, &builds, &mut subjects, options.is_forced)?;
    }
    let limits = Limits {
        threshold: options.threshold,
        until: Instant::now() + options.time,
        hang_timeout: options.runs.hang_timeout,
    };
    let is_complete = observe::all(&mut builds, &mut subjects, &limits)?;
    let comparison = report::of(&builds, options, subjects, reference, &tolerated, !is_complete);
    tell(options, &comparison, &tolerated)
}

/// Writes and prints a result. Returns the exit code.
fn tell(options: &CompareOptions, comparison: &Comparison, tolerated: &tolerated::Tolerated) -> Result<ExitCode> {
    let json = plain::printed(&comparison.to_json(), Form::Json).into_owned();
    if let Some(file) = &options.output {
        write_whole(file, json.as_bytes())?;
    }
    for line in tolerated.unused(comparison) {
        warn(&line);
    }
    let (text, form) = if options.json { (json, Form::Json) } else { (report::table(comparison), Form::Lines) };
    plain::print(&text, form)?;
    let left_out = comparison.count(ComparisonVerdict::Unfinished);
    if comparison.is_incomplete {
        let remedy = if interruption::has_come() { "it was stopped" } else { "give more time with --time" };
        let what = match left_out {
            0 => "whether cost grows faster was not looked at for all that grew".to_owned(),
            _ => format!("{left_out} of the inputs have no verdict"),
        };
        warn(&format!("the comparison is not complete: {what}; {remedy}"));
    }
    Ok(exit_code(comparison, options.is_strict))
}

/// Exit code of a result. An interruption is no success: what was not compared may be slower.
fn exit_code(comparison: &Comparison, is_strict: bool) -> ExitCode {
    let has = |wanted: fn(ComparisonVerdict) -> bool| comparison.verdicts.iter().any(|one| wanted(one.verdict));
    let is_unsettled = |verdict| matches!(verdict, ComparisonVerdict::Unstable | ComparisonVerdict::Unfinished);
    if has(ComparisonVerdict::is_regression) {
        ExitCode::Regression
    } else if interruption::has_come() {
        ExitCode::Error
    } else if is_strict && has(is_unsettled) {
        ExitCode::Unstable
    } else {
        ExitCode::Ended
    }
}
