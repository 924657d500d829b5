//! `quagmire minimize`: the smallest input with the same slowness, or the same early end, and the same cause.
//!
//! A template says how the input may shrink: its literals are shortened at fixed sizes, then the smallest size is looked
//! for (`pump`). Inputs without one lose units (`search`), and are shortened by delta debugging then (`delta`). What has to stay is the `goal`, relative
//! to an `ordinary` input of the same size, and the `cause`.

mod delta;
mod goal;
mod ordinary;
mod pump;
mod report;
mod search;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use self::{
    goal::Goal,
    pump::Pumped,
    search::{Limits, Search},
};
use clap::{Parser, ValueEnum};

use crate::{
    cause::Cause,
    command::{Command, EXIT_CODES, TargetOptions, say_what_is_missing},
    growth::{Chosen, GrowthOptions, choose, seed_of},
    interruption, only_input,
    runner::{Detail, Run, Runner, RunnerOptions},
    values,
};
use quagmire_base::{
    atomic::unwritable,
    error::{Error, ExitCode, Result},
    files,
    plain::{Form, warn},
    seeds::Seeds,
};
use quagmire_choices::template::Template;
use quagmire_cost::resource::Resource;
use quagmire_execution::{harness::Harness, info::TargetInfo};
use quagmire_results::folder::{self, MINIMIZED};
pub use report::MinimizeReport;
pub use search::Stop;

/// Find the smallest input with the same slowness and the same cause
#[derive(Clone, Debug, Parser)]
#[command(
    name = "minimize",
    override_usage = "quagmire minimize [OPTIONS] INPUT [-o FILE] -- PROGRAM [ARGS... @@]",
    after_help = EXIT_CODES
)]
pub struct MinimizeOptions {
    /// The input
    #[arg(value_name = "INPUT")]
    pub input: Option<PathBuf>,
    /// Write the smallest input to this file [default: INPUT.min]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Seeds: what costs so much as they do for their size is ordinary [default: as the first bytes of the input]
    #[arg(short = 'i', long = "seeds", value_name = "SEEDS")]
    pub seeds: Vec<PathBuf>,
    /// Keep this multiple of the cost of an ordinary input of the same size
    #[arg(long, value_name = "RATIO", default_value = "2.0", value_parser = values::above_one)]
    pub threshold: f64,
    /// The resource whose cost is kept [default: instructions, or another one that only is unusual]
    #[arg(long = "cost", value_name = "RESOURCE", value_parser = resource)]
    pub resource: Option<Resource>,
    /// The cause that has to stay: same (the hottest function, and the ratios of all), or any
    #[arg(long, value_name = "CAUSE", default_value = "same")]
    pub cause: WantedCause,
    /// Time for all runs
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = values::some_time)]
    pub budget: Duration,
    /// Run the target at most so often
    #[arg(long = "execs", value_name = "N", default_value = "2000", value_parser = values::count::<u64>)]
    pub executions: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

/// The cause that has to stay (`--cause`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WantedCause {
    Same,
    Any,
}

impl Command for MinimizeOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.seeds.iter().chain(&self.input).cloned().collect()
    }

    fn check(&self) -> Result<()> {
        self.input.as_ref().map(drop).ok_or_else(|| Error::usage("no input to minimize: name a file"))
    }

    fn run(mut self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        self.target.extension.clone_from(&target.extension);
        say_what_is_missing(&target, harness, self.json);
        run(&self, &target, harness)
    }
}

impl MinimizeOptions {
    /// The input, which [`Command::check`] has asked for.
    fn input(&self) -> &Path {
        self.input.as_deref().unwrap_or(Path::new(""))
    }

    fn output(&self) -> PathBuf {
        let by_itself = || smallest_of(self.input(), self.target.extension.as_deref());
        self.output.clone().unwrap_or_else(by_itself)
    }
}

/// File for the smallest input: in `minimized/` of the campaign that the input is of, or beside it. It keeps the extension that
/// its program needs.
fn smallest_of(input: &Path, extension: Option<&str>) -> PathBuf {
    if let (Some(campaign), Some(name)) = (folder::of_file(input), input.file_name()) {
        return campaign.join(MINIMIZED).join(name);
    }
    let extension = extension.filter(|extension| !extension.is_empty());
    let bare = match extension {
        Some(extension) if input.extension().is_some_and(|own| own == extension) => input.with_extension(""),
        _ => input.to_owned(),
    };
    let mut name = bare.into_os_string();
    name.push(".min");
    if let Some(extension) = extension {
        name.push(format!(".{extension}"));
    }
    name.into()
}

fn resource(name: &str) -> Result<Resource, String> {
    let usable = || Resource::ALL.into_iter().filter(|one| one.is_deterministic() && one.is_always_measured());
    usable().find(|one| one.name() == name).ok_or_else(|| {
        let names: Vec<&str> = usable().map(Resource::name).collect();
        format!("inputs cannot be minimized by it: name one of {}", names.join(", "))
    })
}

/// Rounds of templates and delta debugging: what the second has removed may let a template appear.
const ROUNDS: usize = 2;

/// Order of growth from which a template says all: removing single parts of what repeats would hide its law.
const SUPERLINEAR: f64 = 1.2;

/// Sizes that there is room for, as a multiple of the input's, and the least room in bytes.
const ROOM: usize = 8;
const LEAST_ROOM: usize = 1 << 16;

/// Ratio of two costs of one input above which it does not repeat itself.
const REPEATS: f64 = 1.05;

/// Part of the time that a second run of the input may take, which says whether it repeats itself.
const REPEAT_SHARE: f64 = 0.05;

/// Part of the hang timeout after which a run counts as a hang while a smaller one is looked for: with all of it, the time
/// is over after a few.
const PART_OF_HANG: u32 = 20;

/// Part of the time for all runs in which the smallest hang is looked for at first.
const PARTS_OF_BUDGET: u32 = 3;

/// Shortest hang timeout.
const LEAST_HANG: Duration = Duration::from_millis(10);

/// Runs `quagmire minimize`.
///
/// # Errors
/// If the input or a seed cannot be read, the output cannot be written, or the target cannot be run.
fn run(options: &MinimizeOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let started = Instant::now();
    let files = Seeds::load_for_replay(&[options.input().to_owned()])?;
    let input = only_input(files, options.input(), "minimize")?.bytes;
    let seeds = match options.seeds.is_empty() {
        true => Vec::new(),
        false => Seeds::load(&options.seeds, None)?.inputs.into_iter().map(|seed| seed.bytes).collect(),
    };
    if let Some(folder) = options.output().parent().filter(|folder| folder.ends_with(MINIMIZED)) {
        files::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
    }
    interruption::watch();
    let Begun { mut runner, first, hang } = begin(options, target, harness, &input)?;
    if first.seconds < options.budget.as_secs_f64() * REPEAT_SHARE {
        check_repeats(&mut runner, options, &input, &first)?;
    }
    let ordinary = ordinary::measure(&mut runner, &seeds, &input)?;
    let resource = match options.resource {
        None if !target.instrumentation.measures(Resource::Instructions) => Some(Resource::Edges),
        resource => resource,
    };
    let bytes = input.len() as u64;
    let goal =
        Goal::of(first.clone(), bytes, ordinary, resource, options.threshold, options.cause == WantedCause::Same);
    if goal.ratio(&first, bytes).is_some_and(|ratio| ratio < options.threshold) {
        warn(&format!(
            "{} costs less than {} times an ordinary input of its size: what it costs relative to its size is kept",
            options.input().display(),
            options.threshold
        ));
    }
    let deadline = started + options.budget;
    let part = if hang.is_some() { options.budget / PARTS_OF_BUDGET } else { options.budget };
    let limits = Limits { executions: options.executions, deadline: started + part };
    let mut found = shrink(&mut runner, goal, limits, options, (&input, &first))?;
    if hang.is_some() && !interruption::has_come() {
        found = go_on(found, runner, harness, deadline, options)?;
    }
    let Found { goal, mut best, pumped, stopped, executions } = found;
    // once more in a process of its own: what was left behind by other runs is no reason
    let mut fresh = Runner::new(harness, room(&input), options.target.runner())?;
    let mut last = fresh.run(&best, Detail::Source)?;
    let is_kept = goal.is_kept_by(&last, best.len() as u64);
    if best != input && !interruption::has_come() && !is_kept {
        warn(
            "the smallest input does not keep what was asked for when it is run by itself: the input itself is written",
        );
        quagmire_base::atomic::write_whole(&options.output(), &input)?;
        (best, last) = (input.clone(), hang.as_ref().unwrap_or(&first).clone());
    } else if interruption::has_come() && !last.came_back() && first.came_back() {
        last = Run { cost: last.cost, ..first.clone() };
    }
    let pumped = pumped.filter(|one| one.template.render(one.n, best.len() as u64).is_ok_and(|bytes| bytes == best));
    let report = report(options, &goal, (&input, hang.as_ref().unwrap_or(&first)), (&best, &last), pumped, stopped);
    let report = MinimizeReport {
        executions: executions + fresh.executions() + u64::from(hang.is_some()),
        seconds: started.elapsed().as_secs_f64(),
        ..report
    };
    print(&report, options.json)?;
    Ok(ExitCode::Ended)
}

/// The first run, and the runner for all others.
struct Begun {
    runner: Runner,
    /// Run of the input; cut off early if it is a hang.
    first: Run,
    /// Its run until the hang timeout, if it is a hang.
    hang: Option<Run>,
}

/// Runs the input. If it is a hang, takes a shorter hang timeout from then on, unless something else takes the first part of
/// the time.
fn begin(options: &MinimizeOptions, target: &TargetInfo, harness: &'static Harness, input: &[u8]) -> Result<Begun> {
    let mut runner = Runner::new(harness, room(input), options.target.runner())?;
    let first = runner.run(input, Detail::Source)?;
    if !first.hung() || !target.instrumentation.measures(Resource::Instructions) {
        return Ok(Begun { runner, first, hang: None });
    }
    let hang_timeout = (options.target.hang_timeout / PART_OF_HANG).max(LEAST_HANG);
    let mut quick = Runner::new(harness, room(input), RunnerOptions { hang_timeout, ..options.target.runner() })?;
    let cut_off = quick.run(input, Detail::Source)?;
    if Cause::of(&first).keeps_hottest(&Cause::of(&cut_off)) {
        return Ok(Begun { runner: quick, first: cut_off, hang: Some(first) });
    }
    Ok(Begun { runner, first, hang: None })
}

/// Size in bytes that larger inputs may have.
fn room(input: &[u8]) -> usize {
    input.len().saturating_mul(ROOM).max(LEAST_ROOM)
}

/// Warns of an input whose second run is another one.
fn check_repeats(runner: &mut Runner, options: &MinimizeOptions, input: &[u8], first: &Run) -> Result<()> {
    let again = runner.run(input, Detail::Cost)?;
    let name = options.input().display();
    if again.status != first.status {
        let (one, other) = (first.end_in_words(), again.end_in_words());
        warn(&format!("{name} does not repeat itself: it {one}, then {other}; what is found may not hold"));
    } else if first.came_back() {
        let costs = [first, &again].map(|run| run.cost[Resource::Instructions].max(1) as f64);
        if costs[0] / costs[1] > REPEATS || costs[1] / costs[0] > REPEATS {
            let [one, other] = costs;
            warn(&format!("{name} does not repeat itself: {one} and {other} instructions; what is found may not hold"));
        }
    }
    Ok(())
}

/// Result of a search.
struct Found {
    goal: Goal,
    best: Vec<u8>,
    pumped: Option<Pumped>,
    stopped: Option<Stop>,
    /// Runs of the target until now.
    executions: u64,
}

/// Looks for the smallest input from one whose run is known.
fn shrink(
    runner: &mut Runner,
    goal: Goal,
    limits: Limits,
    options: &MinimizeOptions,
    (input, run): (&[u8], &Run),
) -> Result<Found> {
    let mut search = Search::new(runner, goal, limits, options.output(), input)?;
    let pumped = smaller(&mut search, options, input, run)?;
    let executions = search.runner.executions();
    let (goal, stopped, best) = (search.goal.clone(), search.stopped, search.best.clone());
    Ok(Found { goal, best, pumped, stopped, executions })
}

/// Goes on from the smallest hang, which was cut off early. If it returns within the hang timeout, it is no endless loop but
/// slow: its cost relative to its size is kept from then on.
fn go_on(
    found: Found,
    mut quick: Runner,
    harness: &'static Harness,
    deadline: Instant,
    options: &MinimizeOptions,
) -> Result<Found> {
    let bytes = found.best.len() as u64;
    let mut whole = Runner::new(harness, quick.capacity(), options.target.runner())?;
    let run = whole.run(&found.best, Detail::Source)?;
    // `before`: runs that the runner which goes on has not made itself
    let (runner, goal, run, before) = if found.goal.is_slow(&run, bytes, options.threshold) {
        let ordinary = found.goal.ordinary.clone();
        let goal = Goal::of(
            run.clone(),
            bytes,
            ordinary,
            options.resource,
            options.threshold,
            options.cause == WantedCause::Same,
        );
        (&mut whole, goal, run, found.executions)
    } else {
        let run = quick.run(&found.best, Detail::Source)?;
        (&mut quick, found.goal, run, whole.executions())
    };
    let limits = Limits { executions: options.executions.saturating_sub(before), deadline };
    let more = shrink(runner, goal, limits, options, (&found.best, &run))?;
    Ok(Found { executions: more.executions + before, ..more })
}

/// Looks for smaller inputs until nothing is left to try; returns the template of the smallest one that has one.
fn smaller(search: &mut Search<'_>, options: &MinimizeOptions, input: &[u8], first: &Run) -> Result<Option<Pumped>> {
    let says_all =
        |pumped: &Option<Pumped>| pumped.as_ref().and_then(|one| one.order).is_some_and(|order| order >= SUPERLINEAR);
    let mut current = (input.to_vec(), first.clone());
    for round in 0..ROUNDS {
        let chosen = choose(search, options, &current)?;
        // what grows in proportion says less than units do
        let is_steep = chosen.as_ref().is_some_and(|one| one.is_steep);
        let mut pumped = if is_steep { shrink_by(search, chosen.as_ref())? } else { None };
        if says_all(&pumped) || search.is_over() {
            return Ok(pumped);
        }
        let before = search.best.clone();
        let mut fewer = search.fewer_units(&before, &current.1)?;
        if fewer == before && !is_steep && !search.is_over() {
            let other = match chosen {
                Some(chosen) if chosen.grows => Some(chosen),
                chosen => choose_number(search, options, &current)?.or(chosen),
            };
            pumped = shrink_by(search, other.as_ref())?;
            if says_all(&pumped) || search.is_over() {
                return Ok(pumped);
            }
            fewer.clone_from(&search.best);
        }
        let short = delta::shorten(&fewer, &mut |bytes| search.holds(bytes))?;
        if short == before || round + 1 == ROUNDS {
            return Ok(pumped);
        }
        let Some(run) = search.run(&short)? else { return Ok(None) };
        current = (short, run);
    }
    Ok(None)
}

/// A template of an input.
struct Shape {
    template: Template,
    /// `N` of the input.
    n: u64,
    /// Whether the cost grows with it, and faster than in proportion; as early ends do not, templates of these are taken for steep.
    grows: bool,
    is_steep: bool,
}

impl From<Chosen> for Shape {
    fn from(one: Chosen) -> Self {
        let grows = one.grows();
        Self { is_steep: grows && one.order >= SUPERLINEAR, grows, template: one.template, n: one.n }
    }
}

fn shrink_by(search: &mut Search<'_>, shape: Option<&Shape>) -> Result<Option<Pumped>> {
    shape.map_or(Ok(None), |one| pump::shrink(search, one.template.clone(), one.n))
}

/// The template of an input whose cost grows fastest, or the first that ends as the input does.
fn choose(search: &mut Search<'_>, options: &MinimizeOptions, (input, run): &(Vec<u8>, Run)) -> Result<Option<Shape>> {
    if search.goal.wanted_ratio().is_none() {
        let chosen = pump::choose_for_end(search, input)?;
        return Ok(chosen.map(|(template, n)| Shape { template, n, grows: true, is_steep: true }));
    }
    let growth = growth_options(search, options);
    let chosen = choose::choose(search.runner, &growth, (input, run), None, Instant::now());
    if interruption::has_come() {
        return Ok(None);
    }
    Ok(chosen?.into_iter().next().map(Shape::from))
}

/// The template of an input in which its cost depends on a number.
fn choose_number(
    search: &mut Search<'_>,
    options: &MinimizeOptions,
    (input, run): &(Vec<u8>, Run),
) -> Result<Option<Shape>> {
    if search.goal.wanted_ratio().is_none() {
        return Ok(None);
    }
    let (growth, seed) = (growth_options(search, options), seed_of(options.input()));
    let chosen = choose::choose_number(search.runner, &growth, (input, run), seed.as_deref(), Instant::now());
    if interruption::has_come() {
        return Ok(None);
    }
    Ok(chosen?.map(Shape::from))
}

fn growth_options(search: &Search<'_>, options: &MinimizeOptions) -> GrowthOptions {
    GrowthOptions {
        input: None,
        template: None,
        resource: search.goal.resource(),
        budget: search.time_left(),
        max_bytes: search.runner.capacity() as u64,
        verify: None,
        json: false,
        target: options.target.clone(),
    }
}

/// The report, without its executions and seconds.
fn report(
    options: &MinimizeOptions,
    goal: &Goal,
    (input, first): (&[u8], &Run),
    (best, last): (&[u8], &Run),
    pumped: Option<Pumped>,
    stopped: Option<Stop>,
) -> MinimizeReport {
    let (bytes, bytes_before) = (best.len() as u64, input.len() as u64);
    let cause = Cause::of(last);
    let hottest = first.source.functions.first().map(|one| one.function.clone());
    let generator = pumped.as_ref().and_then(|one| one.template.command(one.n));
    MinimizeReport {
        input: options.input().display().to_string(),
        output: options.output().display().to_string(),
        bytes,
        bytes_before,
        instructions: last.cost[Resource::Instructions],
        instructions_before: first.cost[Resource::Instructions],
        executions: 0,
        seconds: 0.0,
        status: last.end_in_words(),
        resource: goal.wanted_ratio().map(|_| goal.resource()),
        ratio: goal.ratio(last, bytes),
        ratio_before: goal.ratio(first, bytes_before),
        ratio_wanted: goal.wanted_ratio(),
        function: hottest.filter(|_| options.cause == WantedCause::Same),
        kept_share: goal.cause.kept_share(&cause),
        cosine: goal.cause.cosine(&cause),
        template: pumped.as_ref().map(|one| one.template.to_string()),
        n: pumped.as_ref().map(|one| one.n),
        order: pumped.as_ref().and_then(|one| one.order),
        generator,
        stopped,
    }
}

fn print(report: &MinimizeReport, json: bool) -> Result<()> {
    if !json {
        return crate::print::print_text(&report.for_people(), Form::Lines);
    }
    quagmire_base::plain::print_json(report)
}
