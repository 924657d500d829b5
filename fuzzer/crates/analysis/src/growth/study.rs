//! The study of one input: its template, the runs, and what they say.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    GrowthOptions, choose,
    fits::{self, Axis},
    ladder::{self, End, Ladder, Limits, REJECTED, Sample},
    report::{self, GrowthPoint, GrowthReport, NoLaw, ResourceLaw},
    time::{self, Times},
};
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::{
    error::{Error, Result},
    files::read_named,
    format::grouped,
    plain::warn,
};
use quagmire_choices::template::Template;
use quagmire_cost::{
    law::{Fit, Total, fit},
    resource::Resource,
};
use quagmire_execution::info::TargetInfo;
use quagmire_results::Ancestry;

/// Resources beside the one that is asked for.
const OTHERS: [Resource; 4] = [Resource::Instructions, Resource::Heap, Resource::HeapTotal, Resource::Stack];
/// Fewest sizes of a law.
const LEAST_SIZES: usize = 4;
/// Part of the time that is left for sizes after which no larger size is begun: equal steps and times come after that.
const LADDER_SHARE: f64 = 0.6;
/// Part of the time that a second run of the input may take, which says whether it repeats itself.
const REPEAT_SHARE: f64 = 0.1;
/// Runs of each size where the law is that of a time.
const ROUNDS_OF_TIME: u32 = 5;

/// Largest seed that an input is compared with.
const LARGEST_SEED: u64 = 1 << 24;

/// Reason without a template.
const NO_TEMPLATE: &str = "it follows no template that keeps half of its cost: nothing in it repeats in a way that is \
                           known; say what repeats with --template";

/// A template, and its relation to the input, before it is run.
struct Known {
    template: Template,
    n: Option<u64>,
    kept: Option<f64>,
}

/// Result of a study.
pub(super) enum Outcome {
    /// The law.
    Report(Box<Report>),
    /// No law, and why.
    NoLaw(Box<NoLaw>),
}

/// Finds the template of an input, and its law.
pub(super) fn study(
    runner: &mut Runner,
    options: &GrowthOptions,
    target: &TargetInfo,
    given: Option<Template>,
    input: Option<&(PathBuf, Vec<u8>)>,
    started: Instant,
) -> Result<Outcome> {
    let name = input.map(|(path, _)| path.display().to_string());
    let no_law = |template: Option<&Template>, why: String| {
        Outcome::NoLaw(Box::new(NoLaw {
            input: name.clone(),
            law: None,
            template: template.map(Template::to_string),
            why,
        }))
    };
    let known = match (given, input) {
        (Some(template), _) => Known { template, n: None, kept: None },
        (None, Some((path, bytes))) => match chosen(runner, options, path, bytes, started)? {
            Some(known) => known,
            None if interruption::has_come() => return Ok(no_law(None, "stopped before a template was found".into())),
            None => return Ok(no_law(None, NO_TEMPLATE.into())),
        },
        (None, None) => return Err(Error::usage("no input whose growth to look at: name a file, or give --template")),
    };
    let is_time = options.resource == Resource::Time || !target.instrumentation.is_exact();
    let limits = Limits {
        deadline: Instant::now() + options.left(started).mul_f64(LADDER_SHARE),
        hang_timeout: options.runs.hang_timeout,
        bytes: options.max_bytes,
        rounds: if is_time { ROUNDS_OF_TIME } else { 1 },
    };
    let ladder = ladder::climb(runner, &known.template, &limits, Detail::Source)?;
    if ladder.samples.len() < LEAST_SIZES {
        return Ok(no_law(Some(&known.template), too_few(&ladder)));
    }
    report(runner, options, target, (name, known), ladder, started + options.budget)
        .map(|report| Outcome::Report(Box::new(report)))
}

/// The template of an input.
fn chosen(
    runner: &mut Runner,
    options: &GrowthOptions,
    path: &Path,
    bytes: &[u8],
    started: Instant,
) -> Result<Option<Known>> {
    let name = path.display();
    let first = runner.run(bytes, Detail::Edges)?;
    if interruption::has_come() {
        return Ok(None);
    }
    if !first.came_back() {
        let how = first.end_in_words();
        return Err(Error::other(format!(
            "{name} {how}: growth needs an input that returns; give a smaller one, or a larger --hang-timeout"
        )));
    }
    if options.resource.is_deterministic() && first.seconds < options.budget.as_secs_f64() * REPEAT_SHARE {
        let second = runner.run(bytes, Detail::Cost)?;
        let amounts = [&first, &second].map(|run| run.cost[options.resource]);
        if amounts[0] != amounts[1] {
            warn(&format!("{name} does not repeat itself: {} and {} {}", amounts[0], amounts[1], options.resource));
        }
    }
    let seed = seed_of(path);
    match choose::choose(runner, options, (bytes, &first), seed.as_deref(), started)? {
        Some(chosen) => Ok(Some(Known { template: chosen.template, n: Some(chosen.n), kept: Some(chosen.kept) })),
        None => Ok(None),
    }
}

/// The seed that an input in a campaign's folder descends from.
pub(crate) fn seed_of(path: &Path) -> Option<Vec<u8>> {
    let out = path.parent()?.parent()?;
    let seed = Ancestry::read(out).seed_of(path.to_str()?)?;
    read_named(&out.join(seed), LARGEST_SEED).ok()
}

/// The reason why nothing can be said by so few sizes.
fn too_few(ladder: &Ladder) -> String {
    let runs = ladder.samples.len();
    match &ladder.end {
        End::Stopped => format!("stopped after {runs} sizes, which say nothing of a law"),
        End::Failed { n, bytes, how } => {
            format!("N = {n} ({bytes} bytes) {how}, and only {runs} smaller sizes returned, which say nothing of a law")
        }
        _ => format!(
            "only {runs} sizes could be run within the limits, which say nothing of a law: give more with --budget, \
             --hang-timeout or --max-size"
        ),
    }
}

/// A report with what a later test of its prediction needs.
pub(super) struct Report {
    /// The report.
    pub report: GrowthReport,
    /// The template.
    pub template: Template,
    /// The law that times follow: that of the instructions, or of the time itself.
    pub law_of_time: Option<Fit>,
}

/// The report of a ladder. Runs and fits that are not needed are left out after `until`.
fn report(
    runner: &mut Runner,
    options: &GrowthOptions,
    target: &TargetInfo,
    (input, Known { template, n, kept }): (Option<String>, Known),
    ladder: Ladder,
    until: Instant,
) -> Result<Report> {
    let (axis, samples) = (Axis::of(&template), &ladder.samples);
    let is_exact = target.instrumentation.is_exact();
    let resource = if is_exact { options.resource } else { Resource::Time };
    let mut notes = notes(target, &ladder, is_exact);
    let equal = match axis == Axis::Repetitions && is_exact && !interruption::has_come() {
        true => fits::Equal::run(runner, &template, samples, until)?,
        false => None,
    };
    let (fit, sum) = law(samples, axis, resource, equal.as_ref(), until)?;
    let amount = |sample: &Sample| amount_of(&sample.run, resource);
    let per_unit = time::per_unit(runner, &template, samples, |sample| time_base(&sample.run, resource), until)?;
    let law_of_time = match resource {
        Resource::Instructions | Resource::Time => Some(fit.clone()),
        // times follow from instructions, whatever was asked for
        _ => law(samples, axis, Resource::Instructions, None, until).ok().map(|(fit, _)| fit),
    };
    let times = per_unit.zip(law_of_time.as_ref()).map(|(seconds_per_unit, fit)| Times {
        seconds_per_unit,
        sizes: time::sizes(fit, &template, axis, seconds_per_unit),
        verified: None,
    });
    if times.is_none() {
        notes.push("all runs were too short to measure their time".to_owned());
    }
    let pump = template.pump();
    let point = |sample: &Sample| GrowthPoint {
        n: sample.n,
        bytes: sample.bytes,
        amount: amount(sample),
        expected: fit.amount_at(axis.size(sample)),
        seconds: sample.run.seconds,
        status: sample.run.status.clone(),
    };
    let generator_n = n.unwrap_or_else(|| samples.last().map_or(1, |sample| sample.n));
    let mut report = GrowthReport {
        input,
        law: None,
        words: report::in_words(&fit, axis, &template),
        class: fit.class().to_string(),
        formula: fit.law.to_string(),
        crossover: report::crossover(&fit),
        points: samples.iter().map(point).collect(),
        end: end_in_words(&ladder.end, options),
        functions: if is_exact { fits::of_functions(samples, axis) } else { Vec::new() },
        lines: if is_exact { fits::of_lines(samples, axis) } else { Vec::new() },
        resources: others(samples, axis, target, resource),
        generator: template.command(generator_n).unwrap_or_default(),
        unit: unit(resource, target),
        unit_of_time: unit(if resource == Resource::Time { resource } else { Resource::Instructions }, target),
        template: template.to_string(),
        executions: runner.executions(),
        pump,
        n,
        kept,
        resource,
        axis,
        fit,
        sum,
        times,
        notes,
    };
    report.law = Some(report.finding_law());
    Ok(Report { report, template, law_of_time })
}

/// Amount of a resource in a run.
pub(super) fn amount_of(run: &Run, resource: Resource) -> u64 {
    match resource {
        Resource::Time => (run.seconds * 1e9) as u64,
        other => run.cost[other],
    }
}

/// Amount that the time of a run is divided by.
fn time_base(run: &Run, resource: Resource) -> u64 {
    amount_of(run, if resource == Resource::Time { resource } else { Resource::Instructions })
}

/// The law of a resource.
fn law(
    samples: &[Sample],
    axis: Axis,
    resource: Resource,
    equal: Option<&fits::Equal>,
    until: Instant,
) -> Result<(Fit, Option<Total>)> {
    let none = || Error::other("the sizes do not increase: the template makes no larger inputs");
    if resource == Resource::Instructions {
        return fits::of_instructions(samples, axis, equal, until).ok_or_else(none);
    }
    let points = fits::points(samples, axis, |run| amount_of(run, resource));
    let steps = equal.filter(|_| resource.is_deterministic()).map(|equal| equal.of(|run| run.cost[resource]));
    Ok((fit(&points, steps.as_ref()).ok_or_else(none)?, None))
}

/// Laws of the resources that were not asked for and that the program uses.
fn others(samples: &[Sample], axis: Axis, target: &TargetInfo, asked: Resource) -> Vec<ResourceLaw> {
    let wanted = OTHERS.into_iter().filter(|&one| one != asked && target.instrumentation.measures(one));
    let law = |resource: Resource| {
        let points = fits::points(samples, axis, |run| run.cost[resource]);
        let amount = points.last()?.amount;
        let fit = fit(&points, None)?;
        (amount >= resource.describe().least).then(|| ResourceLaw { resource, amount, words: fit.to_string(), fit })
    };
    wanted.filter_map(law).collect()
}

/// Unit of a resource's amounts, as a noun.
fn unit(resource: Resource, target: &TargetInfo) -> String {
    match (resource, resource.unit().name()) {
        (Resource::Instructions, _) => target.instrumentation.work().to_owned(),
        (_, "") => resource.name().to_owned(),
        (_, name) => name.to_owned(),
    }
}

fn notes(target: &TargetInfo, ladder: &Ladder, is_exact: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !is_exact {
        let (program, remark, advice) =
            (target.name(), target.instrumentation.remark(), target.instrumentation.advice());
        notes.push(format!("{program}: {remark}, so that this is the law of its time: {advice}"));
    }
    let rejected = |sample: &&Sample| sample.run.status == REJECTED;
    match ladder.samples.iter().filter(rejected).count() {
        0 => {}
        all if all == ladder.samples.len() => notes.push("the program rejects the inputs of all sizes".to_owned()),
        some => {
            let from = ladder.samples.iter().find(rejected).map_or(0, |sample| sample.n);
            notes.push(format!("the program rejects {some} of the inputs, from N = {} on", grouped(from)));
        }
    }
    notes
}

fn end_in_words(end: &End, options: &GrowthOptions) -> String {
    match end {
        End::Sizes => "more are not needed".to_owned(),
        End::Bytes => format!("larger inputs would exceed {} bytes (--max-size)", grouped(options.max_bytes)),
        End::Time => "larger inputs would take too long (--hang-timeout, --budget)".to_owned(),
        End::Failed { n, bytes, how } => format!("N = {} ({} bytes) {how}", grouped(*n), grouped(*bytes)),
        End::Rejected { n, bytes } => {
            format!("the program rejects N = {} ({} bytes)", grouped(*n), grouped(*bytes))
        }
        End::Digits => "a number of the template has no more digits".to_owned(),
        End::Stopped => "stopped".to_owned(),
    }
}
