//! The study of one input: its template, its parts, the runs of both, and what they say.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    GrowthOptions,
    alike::Finding,
    choose,
    coupled::{self, Half},
    family::Family,
    fits,
    ladder::{self, End, Ladder, Limits, REJECTED},
    parts::{self, LINEAR, Parts},
    report::{self, GrowthPoint, GrowthReport, NoLaw, ResourceLaw},
    sample::{Axis, Sample},
    time::{self, Times},
};
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::{
    error::{Error, Result},
    files::read_named,
    format::{self, grouped},
    plain::warn,
};
use quagmire_choices::{
    template::Template,
    units::{Taken, units},
};
use quagmire_cost::{
    law::{Confidence, Fit, LARGEST_SWING, Point, Total, fit, fit_noisy},
    resource::Resource,
};
use quagmire_execution::info::TargetInfo;
use quagmire_results::{Ancestry, template_of};

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
/// Seconds for each instruction above which most of the time is spent in code that is not counted: a cache miss takes as long.
const SLOWEST_INSTRUCTION: f64 = 100e-9;
/// Factor between the times for an instruction at two sizes above which instructions do not tell the time.
const MOST_DRIFT: f64 = 2.0;
/// Shortest runs whose time for an instruction is compared, and of which one says that it is long.
const LEAST_SECONDS: f64 = 1e-3;
const LEAST_SECONDS_ALONE: f64 = 2e-4;
/// Least factor between two sizes whose times tell by which power they grow, and how much less it may be than that of instructions.
const LEAST_STEPS_OF_TIME: f64 = 2.0;
const SAME_POWER: f64 = 0.25;
/// Shortest run that a law of times is fitted to, unless fewer than five are as long: a clock does not tell shorter ones.
const LEAST_TIMED: f64 = 50e-6;
const LEAST_TIMED_SIZES: usize = 5;
/// Parts of an input that does not return, one of which may, and the part of the time and of the hang timeout that each run takes.
const RETURNING: [f64; 10] = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05];
const PARTS_OF_BUDGET: u32 = 30;

/// Local exponent from which on parts say no more than that growth is steep: few sizes of what is exponential return.
const BEYOND_POWERS: f64 = 4.0;
/// Part of the time that is left in which a template of both is looked for, where a text beside the repetitions counts as well, and
/// loops of a template up to which one is.
const BUDGET_OF_BOTH: f64 = 0.3;
const MOST_LOOPS: usize = 2;
/// Largest seed that an input is compared with.
const LARGEST_SEED: u64 = 1 << 24;

/// Reason without a template and without parts.
const NO_TEMPLATE: &str = "nothing in it repeats in a way that explains its cost, and fewer of its lines, words, records or \
                           bytes are no smaller input of the same kind; say what repeats with --template";

/// Result of a study.
pub(super) enum Outcome {
    /// The law.
    Report(Box<Report>),
    /// No law, and why.
    NoLaw(Box<NoLaw>),
}

/// A report with what a later test of its prediction needs.
pub(super) struct Report {
    pub report: GrowthReport,
    /// The template; `None` for a law by parts.
    pub template: Option<Template>,
    /// The law that times follow: that of the instructions, or of the time itself.
    pub law_of_time: Option<Fit>,
}

/// A law, and the runs that it was fitted to.
struct Told<'a> {
    family: Family<'a>,
    samples: Vec<Sample>,
    end: String,
    fit: Fit,
    sum: Option<Total>,
    /// Number of repetitions or units of the finding.
    own: Option<u64>,
    /// Share of its hot cost that a template which was found keeps there.
    kept: Option<f64>,
    /// The law by parts, and whether this one agrees with it.
    parts: Option<parts::PartsReport>,
    notes: Vec<String>,
}

/// Inputs and limits of a study.
struct Study<'a> {
    runner: &'a mut Runner,
    options: &'a GrowthOptions,
    target: &'a TargetInfo,
    started: Instant,
    /// Resource whose law is looked for.
    resource: Resource,
    /// Whether the user names the template, which stays as it is.
    is_given: bool,
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
    let resource = measured(options.resource, target);
    let mut study = Study { runner, options, target, started, resource, is_given: given.is_some() };
    let template = given.as_ref().map(Template::to_string);
    let returned;
    let told = match (given, input) {
        (given, Some((path, bytes))) => {
            let run;
            (returned, run) = study.returning(path, bytes)?;
            study.of_input(path, &returned, run, given.as_ref())?
        }
        (Some(template), None) => study.of_template(&template)?,
        (None, None) => return Err(Error::usage("no input whose growth to look at: name a file, or give --template")),
    };
    Ok(match told {
        Ok(told) => Outcome::Report(Box::new(study.report(told, name)?)),
        Err(why) => Outcome::NoLaw(Box::new(NoLaw { input: name, law: None, template, why })),
    })
}

/// The resource that is measured in place of one that the target does not count.
fn measured(resource: Resource, target: &TargetInfo) -> Resource {
    match resource {
        _ if !target.instrumentation.is_exact() => Resource::Time,
        Resource::Instructions if !target.instrumentation.measures(resource) => Resource::Edges,
        resource => resource,
    }
}

impl Study<'_> {
    fn until(&self) -> Instant {
        self.started + self.options.budget
    }

    /// Limits of the runs at growing sizes, within a part of the time that is left.
    fn limits(&self) -> Limits {
        Limits {
            deadline: Instant::now() + self.options.left(self.started).mul_f64(LADDER_SHARE),
            hang_timeout: self.options.target.hang_timeout,
            bytes: self.options.max_bytes,
            rounds: rounds(self.resource),
            detail: Detail::Source,
            resource: self.resource,
        }
    }

    /// Runs the input. Of one that does not return, the largest part that does.
    fn returning<'a>(&mut self, path: &Path, bytes: &'a [u8]) -> Result<(Cow<'a, [u8]>, Run)> {
        let name = path.display();
        let first = self.runner.run(bytes, Detail::Source)?;
        if first.came_back() || interruption::has_come() {
            return Ok((Cow::Borrowed(bytes), first));
        }
        let how = first.end_in_words();
        let Some((part, run)) = self.part_that_returns(bytes, &first)? else {
            return Err(Error::other(format!(
                "{name} {how}, and so do its parts, or they cost elsewhere: growth needs an input that returns; give a \
                 smaller one, or a larger --hang-timeout"
            )));
        };
        let (some, all) = (grouped(part.len() as u64), grouped(bytes.len() as u64));
        warn(&format!("{name} {how}: this is the law of {some} of its {all} bytes, which return"));
        Ok((Cow::Owned(part), run))
    }

    /// The finding of an input and its first run.
    fn finding<'a>(&mut self, path: &Path, bytes: &'a [u8], run: Run) -> Result<Finding<'a>> {
        let mut run = run;
        if self.resource == Resource::Time {
            run = ladder::fastest(self.runner, bytes, Detail::Source, ROUNDS_OF_TIME)?;
        } else if run.seconds < self.options.budget.as_secs_f64() * REPEAT_SHARE && !interruption::has_come() {
            let second = self.runner.run(bytes, Detail::Cost)?;
            let amounts = [&run, &second].map(|run| run.amount(self.resource));
            if amounts[0] != amounts[1] {
                let name = path.display();
                warn(&format!("{name} does not repeat itself: {} and {} {}", amounts[0], amounts[1], self.resource));
            }
        }
        let ordinary = self.ordinary(path)?;
        Ok(Finding::new(bytes, run, self.resource, ordinary))
    }

    /// The law of an input; that of its time where instructions do not tell it.
    fn of_input<'a>(
        &mut self,
        path: &Path,
        bytes: &'a [u8],
        run: Run,
        given: Option<&Template>,
    ) -> Result<Result<Told<'a>, String>> {
        if interruption::has_come() {
            return Ok(Err("stopped before a template was found".to_owned()));
        }
        let seed = seed_of(path);
        let known = template_of(path).filter(|_| given.is_none()).and_then(|text| Template::parse(&text).ok());
        let finding = self.finding(path, bytes, run)?;
        let own = [Sample { n: 1, bytes: bytes.len() as u64, run: finding.run.clone() }];
        let mut counted = None;
        let mut foreign = self.foreign_time(&own);
        if foreign.is_none() {
            let told = self.of_finding(&finding, given, known.as_ref(), seed.as_deref())?;
            foreign = told.as_ref().ok().and_then(|told| self.foreign_time(&told.samples));
            if foreign.is_none() {
                return Ok(told);
            }
            counted = told.ok();
        }
        let resource = std::mem::replace(&mut self.resource, Resource::Time);
        let timed = self.finding(path, bytes, finding.run)?;
        let told = self.of_finding(&timed, given, known.as_ref(), seed.as_deref())?;
        Ok(match (told, counted) {
            (Ok(mut told), _) => {
                told.notes.extend(foreign);
                Ok(told)
            }
            (Err(_), Some(mut counted)) if per_instruction(&timed.run) <= SLOWEST_INSTRUCTION => {
                self.resource = resource;
                let most = if counted.takes_time() { Confidence::Medium } else { Confidence::Low };
                counted.fit.confidence = counted.fit.confidence.min(most);
                counted.notes.extend(foreign);
                Ok(counted)
            }
            (Err(why), _) => Err(format!("{why}; {}", foreign.unwrap_or_default())),
        })
    }

    /// The largest part of an input that returns soon, with its run, which is slow where that of the whole is.
    fn part_that_returns(&mut self, bytes: &[u8], whole: &Run) -> Result<Option<(Vec<u8>, Run)>> {
        let usual = self.runner.hang_timeout();
        self.runner
            .set_hang_timeout(usual.min(self.options.budget / PARTS_OF_BUDGET).max(Duration::from_millis(10)))?;
        let like =
            Finding::new(bytes, Run { status: "returned".into(), is_valid: true, ..whole.clone() }, self.resource, 0);
        let mut found = None;
        'found: for units in units(bytes) {
            for taken in [Taken::Spread, Taken::First] {
                for share in RETURNING {
                    if interruption::has_come() || self.options.left(self.started) < self.options.budget / 2 {
                        break 'found;
                    }
                    let part = units.take((units.count() as f64 * share) as usize, taken);
                    let run = self.runner.run(&part, Detail::Edges)?;
                    if run.came_back() {
                        if like.is_like(&run) {
                            found = Some((part, run));
                            break 'found;
                        }
                        break;
                    }
                }
            }
        }
        self.runner.set_hang_timeout(usual)?;
        Ok(found)
    }

    /// Amount that an ordinary input uses up: the seed that the input comes from, or nothing at all.
    fn ordinary(&mut self, path: &Path) -> Result<u64> {
        let seed = seed_of(path).unwrap_or_default();
        if seed.len() > self.runner.capacity() {
            return Ok(0);
        }
        let run = self.runner.run(&seed, Detail::Cost)?;
        Ok(if run.came_back() { run.amount(self.resource) } else { 0 })
    }

    /// The law of a template that the user gives.
    fn of_template(&mut self, template: &Template) -> Result<Result<Told<'static>, String>> {
        let mut foreign = None;
        loop {
            let ladder = ladder::climb(self.runner, template, &self.limits(), None)?;
            if ladder.samples.len() < LEAST_SIZES {
                return Ok(Err(too_few(&ladder)));
            }
            let is_foreign = self.foreign_time(&ladder.samples);
            if is_foreign.is_none() {
                let mut told = self.told(template.clone(), ladder, None)?;
                if let Ok(told) = &mut told {
                    told.notes.extend(foreign);
                }
                return Ok(told);
            }
            (foreign, self.resource) = (is_foreign, Resource::Time);
        }
    }

    /// The law of a finding: by a template that explains it, the `known` one first, else by its parts; or the reason why
    /// there is none.
    fn of_finding<'a>(
        &mut self,
        finding: &Finding<'a>,
        given: Option<&Template>,
        known: Option<&Template>,
        seed: Option<&[u8]>,
    ) -> Result<Result<Told<'a>, String>> {
        let limits = parts::Limits {
            until: Instant::now() + parts::time(self.options.left(self.started)),
            rounds: rounds(self.resource),
        };
        let by = |template: &Template| (template.clone(), template.n_for_size(finding.bytes.len() as u64), None);
        // what a template has made needs no parts that confirm it
        if let Some((template, n, _)) = known.filter(|template| self.makes(template, finding)).map(by)
            && let Ok(told) = self.of_chosen(finding, template, n, None)?
        {
            return Ok(Ok(told));
        }
        let parts = parts::study(self.runner, finding, limits)?;
        if let Some((template, n, _)) = known.filter(|template| !self.makes(template, finding)).map(by)
            && let Ok(told) = self.of_chosen(finding, template, n, parts.as_ref())?
        {
            return Ok(Ok(told));
        }
        let templates = match given {
            Some(template) => vec![by(template)],
            None => self.templates(finding, seed)?,
        };
        let mut why = None;
        for (template, n, kept) in templates {
            match self.of_chosen(finding, template, n, parts.as_ref())? {
                Ok(told) => return Ok(Ok(Told { kept, ..told })),
                Err(reason) => why = why.or(Some(reason)),
            }
        }
        Ok(match (parts, why) {
            _ if interruption::has_come() => Err("stopped before a template was found".to_owned()),
            (Some(parts), why) => {
                of_parts(finding, parts).map_err(|reason| why.clone().unwrap_or(reason)).map(|mut told| {
                    told.notes.extend(why.filter(|_| given.is_some()));
                    told
                })
            }
            (None, why) => Err(why.unwrap_or_else(|| NO_TEMPLATE.to_owned())),
        })
    }

    /// Whether a template makes the finding itself.
    fn makes(&self, template: &Template, finding: &Finding<'_>) -> bool {
        let n = template.n_for_size(finding.bytes.len() as u64);
        template.size(n) == finding.bytes.len() as u64
            && template.render(n, self.options.max_bytes).is_ok_and(|bytes| bytes == finding.bytes)
    }

    /// Templates that cost as much as the finding, the best first: the number of repetitions at which they do, and the share
    /// of its hot cost that they keep there.
    fn templates(&mut self, finding: &Finding<'_>, seed: Option<&[u8]>) -> Result<Vec<(Template, u64, Option<f64>)>> {
        let options = GrowthOptions { resource: self.resource, ..self.options.clone() };
        let input = (finding.bytes, &finding.run);
        let chosen = choose::choose_any(self.runner, &options, input, Some(finding), seed, self.started)?;
        Ok(chosen.into_iter().map(|one| (one.template, one.n, Some(one.kept))).collect())
    }

    /// The law of a template that was chosen, if it explains the finding.
    fn of_chosen(
        &mut self,
        finding: &Finding<'_>,
        template: Template,
        own: u64,
        parts: Option<&Parts<'_>>,
    ) -> Result<Result<Told<'static>, String>> {
        let limits = self.limits();
        let ladder = ladder::climb(self.runner, &template, &limits, Some((finding, own)))?;
        let is_exact = self.makes(&template, finding);
        let mut told = match self.told(template, ladder, Some(own))? {
            Ok(told) => told,
            Err(why) => return Ok(Err(why)),
        };
        let size = told.size_of(own);
        let axis = told.axis();
        if finding.check(&told.fit, size, axis).is_err()
            && let Some(near) = told.near(own, self.resource, self.until())
        {
            told.fit = near;
            told.sum = None;
        }
        if let Err(why) = finding.check(&told.fit, size, axis) {
            return Ok(Err(format!("its repetitions of {} do not explain it: {why}", told.family.unit())));
        }
        let agrees = parts.map(|parts| {
            parts.agrees(told.fit.exponent_at(size)) || parts.fit.exponent_at(parts.count()) > BEYOND_POWERS
        });
        if told.fit.confidence == Confidence::Low && (agrees == Some(false) || told.fit.steps && agrees.is_none()) {
            return Ok(Err(format!("its cost does not follow its repetitions of {} by any law", told.family.unit())));
        }
        if let (Some(parts), Some(agrees)) = (parts, agrees) {
            if !agrees {
                told.fit.confidence = told.fit.confidence.min(Confidence::Medium);
                let (unit, class) = (parts.family.unit(), parts.fit.class_at(parts.count()));
                told.notes.push(format!(
                    "parts of the input say something else: {class} in the number of {unit}, so that this law is less sure"
                ));
            }
            told.parts = Some(parts.report(Some(agrees)));
        } else if !is_exact {
            // nothing confirms that what was made up is what is slow in the finding
            told.fit.confidence = told.fit.confidence.min(Confidence::Medium);
        }
        if told.fit.exponent_at(size) <= LINEAR
            && let Family::Template(template) = &told.family
            && let Some(half) = coupled::half_that_counts(self.runner, finding, (template, own), self.until())?
        {
            if let Some(of_both) = self.of_both(finding, template, &half)? {
                return Ok(Ok(of_both));
            }
            told.fit.confidence = told.fit.confidence.min(Confidence::Medium);
            told.notes.push(format!(
                "what does not repeat counts as well: with half of it the same repetitions cost {:.0} %, so that the cost grows \
                 faster if all of the input does",
                half.share * 100.0
            ));
        }
        Ok(Ok(told))
    }

    /// The law of a template and of a text beside its repetitions, if both together explain the finding by a steeper one.
    fn of_both(&mut self, finding: &Finding<'_>, template: &Template, half: &Half) -> Result<Option<Told<'static>>> {
        if self.is_given || template.times().len() > MOST_LOOPS {
            return Ok(None);
        }
        let until = Instant::now() + self.options.left(self.started).mul_f64(BUDGET_OF_BOTH);
        for both in coupled::templates(self.runner, finding, template, half, until)? {
            if let Some(n) = coupled::as_expensive(self.runner, finding, &both)?
                && let Ok(told) = self.of_chosen(finding, both, n, None)?
                && told.fit.exponent_at(told.size_of(n)) > LINEAR
            {
                return Ok(Some(told));
            }
        }
        Ok(None)
    }

    /// A law of the runs of a template.
    fn told(&mut self, template: Template, ladder: Ladder, own: Option<u64>) -> Result<Result<Told<'static>, String>> {
        if ladder.samples.len() < LEAST_SIZES {
            return Ok(Err(too_few(&ladder)));
        }
        let axis = Axis::of(&template);
        let is_counted = self.resource.is_deterministic() && axis == Axis::Repetitions;
        let until = self.until();
        let equal = match is_counted && !interruption::has_come() {
            true => fits::Equal::run(self.runner, &template, &ladder.samples, until)?,
            false => None,
        };
        let (fit, sum) = match template.list_end() {
            Some(_) => match parts::law(self.resource, &ladder.samples, until) {
                Some(law) if law.0.error <= LARGEST_SWING => law,
                _ => return Ok(Err("the texts that differ in it cost too differently for a law".to_owned())),
            },
            None => law(&ladder.samples, axis, self.resource, equal.as_ref(), until)?,
        };
        let notes = notes(self.target, &ladder);
        let end = end_in_words(&ladder.end, self.options);
        let family = Family::Template(template);
        Ok(Ok(Told { family, samples: ladder.samples, end, fit, sum, own, kept: None, parts: None, notes }))
    }

    /// The reason why instructions do not tell the time of runs, if they do not.
    fn foreign_time(&self, samples: &[Sample]) -> Option<String> {
        if self.resource != Resource::Instructions {
            return None;
        }
        let last = &samples.last()?.run;
        let is_long = last.seconds >= LEAST_SECONDS_ALONE && per_instruction(last) > SLOWEST_INSTRUCTION;
        let mut long = samples.iter().filter(|sample| sample.run.seconds >= LEAST_SECONDS);
        let drift = long.next().map_or(1.0, |first| per_instruction(last) / per_instruction(&first.run));
        (is_long || drift > MOST_DRIFT).then(|| {
            let place = samples.iter().rev().find_map(|sample| sample.run.uncounted.as_deref());
            let place = place.map_or_else(String::new, |place| format!(", most of it in {place}"));
            format!(
                "time is spent in code that is not counted{place} ({:.0} ns for each counted instruction): build the libraries \
                 that it is in with quagmire-cc, if they are yours",
                per_instruction(last) * 1e9
            )
        })
    }

    /// The report of a law.
    fn report(&mut self, told: Told<'_>, input: Option<String>) -> Result<Report> {
        let axis = told.axis();
        let until = self.until();
        let Told { family, samples, end, fit, sum, own, kept, parts, mut notes } = told;
        let resource = self.resource;
        let is_exact = self.target.instrumentation.is_exact();
        let per_unit =
            time::per_unit(self.runner, &family, &samples, |sample| time_base(&sample.run, resource), until)?;
        let law_of_time = match resource {
            Resource::Instructions | Resource::Time => Some(fit.clone()),
            // times follow from instructions, whatever was asked for
            _ => law(&samples, axis, Resource::Instructions, None, until).ok().map(|(fit, _)| fit),
        };
        let times = per_unit.zip(law_of_time.as_ref()).map(|(seconds_per_unit, fit)| Times {
            seconds_per_unit,
            sizes: time::sizes(fit, &family, axis, seconds_per_unit),
            verified: None,
        });
        if times.is_none() {
            notes.push("all runs were too short to measure their time".to_owned());
        }
        let point = |sample: &Sample| GrowthPoint {
            n: sample.n,
            bytes: sample.bytes,
            amount: sample.run.amount(resource),
            expected: fit.amount_at(axis.size(sample)),
            seconds: sample.run.seconds,
            status: sample.run.status.clone(),
        };
        let generator_n = own.unwrap_or_else(|| samples.last().map_or(1, |sample| sample.n));
        let template = family.template();
        let own_size = own.map(|n| if axis == Axis::Bytes { family.size(n) } else { n });
        let headline = report::headline(&fit, own_size);
        let mut report = GrowthReport {
            input,
            law: None,
            words: report::in_words(&fit, headline, axis, &family, &samples),
            class: headline.to_string(),
            formula: fit.law.to_string(),
            crossover: report::crossover(&fit),
            points: samples.iter().map(point).collect(),
            end,
            functions: if is_exact { fits::of_functions(&samples, axis) } else { Vec::new() },
            lines: if is_exact { fits::of_lines(&samples, axis) } else { Vec::new() },
            resources: others(&samples, axis, self.target, resource),
            generator: template.and_then(|template| template.command(generator_n)).unwrap_or_default(),
            unit: unit(resource, self.target),
            unit_of_time: unit(if resource == Resource::Time { resource } else { Resource::Instructions }, self.target),
            template: template.map(Template::to_string),
            parts,
            executions: self.runner.executions(),
            pump: family.unit(),
            n: own,
            kept,
            resource,
            axis,
            fit,
            sum,
            times,
            notes,
        };
        report.law = Some(report.finding_law());
        let template = template.cloned();
        Ok(Report { report, template, law_of_time })
    }
}

/// The law by parts, if it explains the finding.
fn of_parts<'a>(finding: &Finding<'_>, parts: Parts<'a>) -> Result<Told<'a>, String> {
    let count = parts.count();
    if let Err(reason) = finding.check(&parts.fit, count, Axis::Repetitions) {
        return Err(format!("its {} do not explain it: {reason}", parts.family.unit()));
    }
    let report = parts.report(None);
    let Parts { family, samples, fit, sum } = parts;
    let end = "these are parts of the input, which has no more".to_owned();
    Ok(Told { family, samples, end, fit, sum, own: Some(count), kept: None, parts: Some(report), notes: Vec::new() })
}

impl Told<'_> {
    fn axis(&self) -> Axis {
        self.family.template().map_or(Axis::Repetitions, Axis::of)
    }

    /// Whether the time of runs that are long enough to be told from noise grows by its power or faster.
    fn takes_time(&self) -> bool {
        let axis = self.axis();
        let mut long = self.samples.iter().filter(|sample| sample.run.seconds >= LEAST_SECONDS);
        let (Some(first), Some(last)) = (long.next(), long.next_back()) else { return false };
        let times = (last.run.seconds / first.run.seconds).ln();
        let steps = (axis.size(last) as f64 / axis.size(first) as f64).ln();
        steps >= LEAST_STEPS_OF_TIME.ln() && times / steps >= self.fit.exponent_at(axis.size(last)) - SAME_POWER
    }

    /// Size on the axis at a number of repetitions.
    fn size_of(&self, n: u64) -> u64 {
        if self.axis() == Axis::Bytes { self.family.size(n) } else { n }
    }

    /// The law of the sizes around the finding's own, where another one holds beyond them. `None` if they are too few.
    fn near(&mut self, own: u64, resource: Resource, until: Instant) -> Option<Fit> {
        let near: Vec<Sample> = self.samples.iter().filter(|sample| sample.n <= 2 * own).cloned().collect();
        let (mut fit, _) = law(&near, self.axis(), resource, None, until).ok()?;
        let last = near.last()?.n;
        fit.confidence = fit.confidence.min(Confidence::Medium);
        self.notes.push(format!("this is the law up to N = {}: larger inputs follow another one", grouped(last)));
        Some(fit)
    }
}

/// Runs of each size.
fn rounds(resource: Resource) -> u32 {
    if resource == Resource::Time { ROUNDS_OF_TIME } else { 1 }
}

/// CPU time for each counted instruction of a run, in seconds.
fn per_instruction(run: &Run) -> f64 {
    run.seconds / run.cost[Resource::Instructions].max(1) as f64
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
        End::Other { n, bytes, how } => {
            format!(
                "N = {n} ({bytes} bytes) {how}, and only {runs} smaller sizes are like the input, which say nothing of a law"
            )
        }
        _ => format!(
            "only {} could be run within the limits, which says nothing of a law: give more with --budget, --hang-timeout or \
             --max-size",
            format::counted(runs as u64, "size")
        ),
    }
}

/// Amount that the time of a run is divided by.
fn time_base(run: &Run, resource: Resource) -> u64 {
    run.amount(if resource == Resource::Time { resource } else { Resource::Instructions })
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
    let points = fits::points(samples, axis, |run| run.amount(resource));
    if resource == Resource::Time {
        let is_timed = |point: &&Point| point.amount as f64 >= LEAST_TIMED * 1e9;
        let timed: Vec<Point> = points.iter().filter(is_timed).copied().collect();
        let points = if timed.len() >= LEAST_TIMED_SIZES { timed } else { points };
        return Ok((fit_noisy(&points).ok_or_else(none)?, None));
    }
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

fn notes(target: &TargetInfo, ladder: &Ladder) -> Vec<String> {
    let mut notes = Vec::new();
    if !target.instrumentation.is_exact() {
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
        End::Other { n, bytes, how } => format!("N = {} ({} bytes) {how}", grouped(*n), grouped(*bytes)),
        End::Digits => "a number of the template has no more digits".to_owned(),
        End::List => "a list of the template has no more texts".to_owned(),
        End::Stopped => "stopped".to_owned(),
    }
}
