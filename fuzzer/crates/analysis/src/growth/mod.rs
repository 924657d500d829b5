//! `quagmire growth`: the law by which the cost of an input grows.
//!
//! A template stands for the input at any size. It is run at growing sizes; laws are fitted to the counts of each edge and
//! summed, and to functions, lines and other resources; times are instructions times the measured time of one.

mod alike;
pub(crate) mod choose;
mod coupled;
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

use clap::Parser;

use crate::{
    command::{Command, EXIT_CODES, TargetOptions, say_what_is_missing},
    interruption, only_input,
    print::{USUAL_WIDTH, print_text},
    runner::{Detail, Runner, RunnerOptions},
    values,
};
pub use fits::PlaceLaw;
pub(crate) use kept::Chosen;
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

/// Resources whose growth can be asked for.
const RESOURCES: [Resource; 6] =
    [Resource::Instructions, Resource::Edges, Resource::Time, Resource::Heap, Resource::HeapTotal, Resource::Stack];

/// Find the law by which the cost of an input grows with its size
#[derive(Clone, Debug, Parser)]
#[command(
    name = "growth",
    override_usage = "quagmire growth [OPTIONS] INPUT -- PROGRAM [ARGS... @@]",
    after_help = EXIT_CODES
)]
pub struct GrowthOptions {
    /// The input
    #[arg(value_name = "INPUT")]
    pub input: Option<PathBuf>,
    /// The template of the input, instead of finding it out: 'rep(N){"["}', 'nest(N){"(" | "x" | ")"}'; see the book
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// The resource whose growth is asked for: instructions, edges, time, heap, heap-total or stack
    #[arg(long = "cost", value_name = "RESOURCE", default_value = "instructions")]
    #[arg(value_parser = values::named(&RESOURCES, Resource::name))]
    pub resource: Resource,
    /// Time for all runs
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = values::some_time)]
    pub budget: Duration,
    /// Run no larger inputs, unless the input is nearly as large
    #[arg(long = "max-size", value_name = "SIZE", default_value = "1MiB", value_parser = values::some_size)]
    pub max_bytes: u64,
    /// Test the predicted CPU time by a run of so many repetitions, or of so many times the largest size (10x) [without N: of
    /// those expected to take a second]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = verify)]
    pub verify: Option<Verify>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

impl Command for GrowthOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.input.iter().cloned().collect()
    }

    fn check(&self) -> Result<()> {
        if self.input.is_none() && self.template.is_none() {
            return Err(Error::usage("no input whose growth to look at: name a file, or give a --template"));
        }
        Ok(())
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        say_what_is_missing(&target, harness, self.json);
        run(&self, &target, harness)
    }
}

fn verify(text: &str) -> Result<Verify, String> {
    let (number, kind): (_, fn(u64) -> Verify) = match text.strip_suffix('x') {
        Some(number) => (number, Verify::Times),
        None => (text, Verify::Repetitions),
    };
    match number.parse() {
        _ if text.is_empty() => Ok(Verify::Second),
        Ok(number) if number > 0 => Ok(kind(number)),
        _ => Err(format!(
            "`{text}` is no number of repetitions: write one, a multiple of the largest size such as 10x, or --verify alone"
        )),
    }
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
fn run(options: &GrowthOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    interruption::watch();
    let started = Instant::now();
    let input = options.input.as_ref().map(read).transpose()?;
    let given = options.template.as_deref().map(parse).transpose()?;
    let size = input.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64);
    let options = &GrowthOptions { max_bytes: options.max_bytes.max(size.saturating_mul(ROOM)), ..options.clone() };
    let mut runner = Runner::new(harness, options.max_bytes as usize, options.target.runner())?;
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
    let hang_timeout = options.target.hang_timeout.max(Duration::from_secs_f64(predicted * 5.0 + 1.0));
    let runs = RunnerOptions { hang_timeout, ..options.target.runner() };
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
