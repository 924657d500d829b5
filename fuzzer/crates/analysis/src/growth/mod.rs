//! `quagmire growth`: the law by which the cost of an input grows.
//!
//! A template stands for the input at any size. It is run at growing sizes; laws are fitted to the counts of each edge and
//! summed, and to functions, lines and other resources; times are instructions times the measured time of one.

mod alike;
pub(crate) mod choose;
mod family;
mod fits;
mod kept;
mod ladder;
mod numbers;
mod parts;
mod plot;
mod print;
mod report;
mod sample;
mod study;
mod time;

use std::{
    io::IsTerminal,
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::{
    interruption, only_input,
    print::{USUAL_WIDTH, print_text},
    runner::{Detail, Runner, RunnerOptions},
};
pub use fits::PlaceLaw;
pub use parts::PartsReport;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    files::read_named,
    format::grouped,
    plain::{Form, shown, warn},
    seeds::Seeds,
    terminal::{ColorChoice, terminal_width},
};
use quagmire_choices::template::Template;
use quagmire_cost::resource::Resource;
use quagmire_execution::{harness::Harness, info::TargetInfo};
pub use report::{GrowthPoint, GrowthReport, NoLaw, ResourceLaw};
pub use sample::Axis;
pub(crate) use study::seed_of;
use study::{Outcome, Report, study};
pub use time::{SizeOfTime, Times, Verified};

/// Largest input that tests a prediction, and the longest run that does.
const LARGEST_VERIFIED: u64 = 1 << 28;
const LONGEST_VERIFIED: f64 = 120.0;
/// Time after which such a run is not repeated.
const VERIFYING: Duration = Duration::from_secs(2);
/// Largest file that a template may name.
const LARGEST_FILE: u64 = 1 << 24;
/// Ratio of the input's size that larger sizes are given room for.
const ROOM: u64 = 8;

/// Options of `growth` after defaults and checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrowthOptions {
    /// The input; `None` only if there is a template.
    pub input: Option<PathBuf>,
    /// Template given by the user.
    pub template: Option<String>,
    /// Resource whose growth is asked for.
    pub resource: Resource,
    /// Time for all runs.
    pub budget: Duration,
    /// Largest input in bytes.
    pub max_bytes: u64,
    /// Whether to test a prediction of CPU time by a run.
    pub verify: Option<Verify>,
    /// Whether to print JSON.
    pub json: bool,
    /// How the target is run.
    pub runs: RunnerOptions,
}

impl GrowthOptions {
    /// Time that is left.
    fn left(&self, started: Instant) -> Duration {
        self.budget.saturating_sub(started.elapsed())
    }
}

/// Size at which a prediction is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// The size that is expected to take a second.
    Second,
    /// A number of repetitions.
    Repetitions(u64),
    /// A multiple of the largest size that was run.
    Times(u64),
}

/// Runs `quagmire growth`.
///
/// # Errors
/// If the input cannot be read, no template describes it, it does not return, or the target cannot be run.
pub fn run(options: &GrowthOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    interruption::watch();
    let started = Instant::now();
    let input = options.input.as_ref().map(read).transpose()?;
    let given = options.template.as_deref().map(parse).transpose()?;
    let size = input.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64);
    let options = &GrowthOptions { max_bytes: options.max_bytes.max(size.saturating_mul(ROOM)), ..options.clone() };
    let mut runner = Runner::new(harness, options.max_bytes as usize, options.runs.clone())?;
    match study(&mut runner, options, target, given, input.as_ref(), started)? {
        Outcome::Report(report) => print(&verified(*report, options, harness)?, options.json)?,
        Outcome::NoLaw(nothing) if options.json => quagmire_base::plain::print_json(&nothing)?,
        Outcome::NoLaw(nothing) => {
            let NoLaw { input, template, why, .. } = *nothing;
            let name = shown(input.as_deref().unwrap_or("template"));
            let template = template.map_or_else(String::new, |template| format!("  template     {template}\n"));
            print_text(&format!("{name}: no law: {why}\n{template}"), Form::Lines)?;
        }
    }
    Ok(ExitCode::Ended)
}

/// Reads the input.
fn read(path: &PathBuf) -> Result<(PathBuf, Vec<u8>)> {
    let files = Seeds::load_for_replay(std::slice::from_ref(path))?;
    files.warnings.iter().for_each(|warning| warn(warning));
    let file = only_input(files, path, "growth")?;
    Ok((file.path, file.bytes))
}

/// Reads a template of the user.
fn parse(text: &str) -> Result<Template> {
    let load = |file: &str| read_named(&PathBuf::from(file), LARGEST_FILE).map_err(|error| error.to_string());
    let template = Template::parse_with(text, load).map_err(|error| Error::usage(format!("--template: {error}")))?;
    if template.scales() {
        return Ok(template);
    }
    Err(Error::usage("--template: its bytes do not depend on N: put the part that grows into rep(N){...}"))
}

/// Tests the prediction by a run if the options ask for it.
fn verified(made: Report, options: &GrowthOptions, harness: &'static Harness) -> Result<GrowthReport> {
    let Report { mut report, template, law_of_time } = made;
    let (Some(verify), Some(times), Some(law), Some(template)) = (options.verify, &report.times, law_of_time, template)
    else {
        return Ok(report);
    };
    let n = match verify {
        Verify::Second => times.sizes.first().map(|size| size.n[0] as u64),
        Verify::Repetitions(n) => Some(n),
        Verify::Times(factor) => report.points.last().map(|point| point.n.saturating_mul(factor)),
    };
    let Some(n) = n.filter(|_| !interruption::has_come()) else { return Ok(report) };
    let bytes = template.size(n);
    let size = if report.axis == Axis::Bytes { bytes } else { n };
    let predicted = law.amount_at(size) * times.seconds_per_unit[0];
    if bytes > LARGEST_VERIFIED || predicted > LONGEST_VERIFIED {
        report.notes.push(format!("N = {}, {} bytes, is too large to be run", grouped(n), grouped(bytes)));
        return Ok(report);
    }
    let hang_timeout = options.runs.hang_timeout.max(Duration::from_secs_f64(predicted * 5.0 + 1.0));
    let runs = RunnerOptions { hang_timeout, ..options.runs.clone() };
    let mut runner = Runner::new(harness, bytes as usize, runs)?;
    let Ok(input) = template.render(n, bytes) else { return Ok(report) };
    let run = runner.run(&input, Detail::Cost)?;
    let measured = match run.came_back() {
        true => Some(time::fastest(&mut runner, &input, run.seconds, Instant::now() + VERIFYING)?),
        false => None,
    };
    report.executions += runner.executions();
    let verified = Verified {
        n,
        bytes,
        predicted,
        measured,
        predicted_amount: report.fit.amount_at(size),
        amount: run.amount(report.resource),
        status: run.end_in_words(),
    };
    if let Some(times) = &mut report.times {
        times.verified = Some(verified);
    }
    Ok(report)
}

fn print(report: &GrowthReport, json: bool) -> Result<()> {
    if json {
        return quagmire_base::plain::print_json(report);
    }
    let stdout = std::io::stdout();
    let color = ColorChoice::Auto.enabled(stdout.is_terminal());
    let width = terminal_width(&stdout).unwrap_or(USUAL_WIDTH);
    print_text(&print::for_people(report, width, color), if color { Form::Painted } else { Form::Lines })
}
