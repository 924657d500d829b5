//! The law of a finding by its own parts: it is run with fewer and fewer of its units. It needs no template, and is held
//! against the law of one: it is the second opinion.

use std::{
    cmp::Ordering,
    collections::HashSet,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    alike::Finding,
    family::Family,
    fits,
    ladder::fastest,
    sample::{Axis, Sample},
};
use crate::{
    interruption,
    relations::{Relations, hash},
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::units::{Taken, Units, units};
use quagmire_cost::{
    law::{Class, Confidence, Fit, LARGEST_ERROR, LARGEST_SWING, Point, Rival, Total, fit_noisy},
    resource::Resource,
};

/// Shares of the units that are run, the whole first.
const SHARES: [f64; 14] = [1.0, 0.84, 0.7, 0.59, 0.5, 0.42, 0.35, 0.29, 0.24, 0.2, 0.16, 0.13, 0.1, 0.08];
/// The same for the way that checks the first one.
const FEW_SHARES: [f64; 7] = [1.0, 0.84, 0.7, 0.59, 0.5, 0.35, 0.24];
/// Shares of the cost that half of the units have if they are what it grows with: less is another input.
const AT_HALF: std::ops::Range<f64> = 0.03..0.8;
/// Fewest sizes of a law by parts, and the factor that they span.
const LEAST_SIZES: usize = 5;
const LEAST_SPAN: f64 = 1.9;
/// Laws of units that are not confirmed, of which the best is taken.
const MOST_LAWS: usize = 6;
/// Part of a finding that may be around its units, as a divisor.
const MOST_REST: usize = 8;
/// Factor between the sizes of a law that is more than a guess.
const WIDE_SPAN: u64 = 3;
/// Local exponent up to which a law is told as linear or less.
pub(super) const LINEAR: f64 = 1.2;
/// Local exponents of laws that agree differ by less.
pub(super) const SAME_EXPONENT: f64 = 0.35;
/// Error of a law by parts above which its confidence is low.
const LARGEST_NOISE: f64 = 0.05;

/// The law by parts in the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartsReport {
    /// Units that the finding is made of, as a plural.
    pub unit: String,
    /// Fewest units that were run.
    pub from: u64,
    /// Units of the finding.
    pub to: u64,
    /// Class of the law.
    pub class: String,
    /// Local exponent of what grows, at the finding.
    pub exponent: f64,
    /// Whether the law of the template agrees; `None` if there is no template.
    pub agrees: Option<bool>,
}

/// The law of a finding by its parts.
pub(super) struct Parts<'a> {
    pub family: Family<'a>,
    /// Runs of them, the smallest first.
    pub samples: Vec<Sample>,
    pub fit: Fit,
    /// Sum of the laws of all edges.
    pub sum: Option<Total>,
}

impl Parts<'_> {
    /// Units of the finding.
    pub(super) fn count(&self) -> u64 {
        self.samples.last().map_or(0, |sample| sample.n)
    }

    /// Whether a law with this local exponent at the finding agrees.
    pub(super) fn agrees(&self, exponent: f64) -> bool {
        (self.exponent() - exponent).abs() < SAME_EXPONENT
    }

    /// Whether the sizes are far enough apart to tell laws from each other.
    fn is_wide(&self) -> bool {
        self.samples.first().is_some_and(|first| self.count() >= WIDE_SPAN * first.n)
    }

    /// Whether the units are most of a finding: what stays as it is hides how the rest grows.
    fn covers(&self, finding: &Finding<'_>) -> bool {
        match &self.family {
            Family::Parts(units, _) => units.place().len() * MOST_REST >= finding.bytes.len() * (MOST_REST - 1),
            Family::Template(_) => true,
        }
    }

    fn exponent(&self) -> f64 {
        self.fit.exponent_at(self.count())
    }

    pub(super) fn report(&self, agrees: Option<bool>) -> PartsReport {
        PartsReport {
            unit: self.family.unit(),
            from: self.samples.first().map_or(0, |sample| sample.n),
            to: self.count(),
            class: self.fit.class_at(self.count()).to_string(),
            exponent: self.exponent(),
            agrees,
        }
    }
}

/// Limits of the runs of parts.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Time at which no part is run any more.
    pub until: Instant,
    /// Runs of each size, of which the fastest counts.
    pub rounds: u32,
}

/// Finds the units that the cost of a finding grows with, and its law. `None` if fewer units of no kind are a smaller input
/// of the same form, also with the fields that runs find.
pub(super) fn study<'a>(runner: &mut Runner, finding: &Finding<'a>, limits: Limits) -> Result<Option<Parts<'a>>> {
    let all = units(finding.bytes);
    if let Some(parts) = of_first(runner, finding, &all, limits)? {
        return Ok(Some(parts));
    }
    let mut run = |input: &[u8]| {
        let is_over = interruption::has_come() || Instant::now() >= limits.until;
        if is_over { Ok(None) } else { runner.run(input, Detail::Edges).map(Some) }
    };
    let related = Relations::new(&finding.run, &mut run, &|run| is_smaller(finding, run)).find(finding.bytes, &all)?;
    of_first(runner, finding, &related, limits)
}

/// The law of the first units for which two ways to take them agree; of few others, the smoothest.
fn of_first<'a>(
    runner: &mut Runner,
    finding: &Finding<'a>,
    all: &[Units<'a>],
    limits: Limits,
) -> Result<Option<Parts<'a>>> {
    let mut others = HashSet::new();
    let mut laws: Vec<Parts<'a>> = Vec::new();
    for units in all {
        let mut found: Option<Parts<'a>> = None;
        for taken in [Taken::Spread, Taken::First, Taken::Last] {
            if laws.iter().filter(|law| law.covers(finding)).count() >= MOST_LAWS
                || interruption::has_come()
                || Instant::now() >= limits.until
            {
                laws.extend(found.map(Parts::unconfirmed));
                return Ok(smoothest(finding, laws));
            }
            let half = units.take(units.count() / 2, taken);
            // units of several sizes have the same half
            if others.contains(&hash(&half)) {
                continue;
            }
            if !is_smaller(finding, &runner.run(&half, Detail::Edges)?) {
                others.insert(hash(&half));
                continue;
            }
            let shares = if found.is_some() { &FEW_SHARES[..] } else { &SHARES[..] };
            let Some(parts) = of_units(runner, finding, units.clone(), taken, shares, limits)? else { continue };
            let Some(first) = found.take() else {
                found = Some(parts);
                continue;
            };
            // another way to take units of the same kind confirms the first
            let mut parts = first.held_against(&parts);
            // what stays may be what is slow
            if !parts.covers(finding) && parts.exponent() <= LINEAR {
                parts.fit.confidence = Confidence::Low;
            }
            if parts.fit.confidence >= Confidence::Medium && parts.covers(finding) {
                return Ok(Some(parts));
            }
            laws.push(parts);
            break;
        }
        laws.extend(found.map(Parts::unconfirmed));
    }
    Ok(smoothest(finding, laws))
}

/// The surest law, and of equally sure ones that of most of the finding, of sizes that are far apart, without a rival, and with the
/// smallest error.
fn smoothest<'a>(finding: &Finding<'_>, laws: Vec<Parts<'a>>) -> Option<Parts<'a>> {
    let rank =
        |parts: &Parts<'_>| (parts.fit.confidence, parts.covers(finding), parts.is_wide(), parts.fit.rival.is_none());
    laws.into_iter().reduce(|best, one| {
        let is_better = rank(&one).cmp(&rank(&best)).then(best.fit.error.total_cmp(&one.fit.error));
        if is_better == Ordering::Greater { one } else { best }
    })
}

/// Whether the run of half of the units is that of an input like the finding that costs less.
fn is_smaller(finding: &Finding<'_>, run: &Run) -> bool {
    let share = run.amount(finding.resource) as f64 / finding.amount().max(1) as f64;
    finding.is_like(run) && AT_HALF.contains(&share)
}

/// Runs shares of the units, from the whole down, as long as they are like the finding.
fn of_units<'a>(
    runner: &mut Runner,
    finding: &Finding<'_>,
    units: Units<'a>,
    taken: Taken,
    shares: &[f64],
    limits: Limits,
) -> Result<Option<Parts<'a>>> {
    let count = units.count() as u64;
    let family = Family::Parts(units, taken);
    let mut samples: Vec<Sample> = Vec::new();
    for share in shares {
        let n = (count as f64 * share).round() as u64;
        let is_new = n >= 1 && samples.last().is_none_or(|last| n < last.n);
        if !is_new || interruption::has_come() || Instant::now() >= limits.until {
            break;
        }
        let Ok(input) = family.render(n, u64::MAX) else { break };
        if input.len() > runner.capacity() {
            break;
        }
        let run = fastest(runner, &input, Detail::Source, limits.rounds)?;
        if !finding.is_like(&run) {
            break;
        }
        samples.push(Sample { n, bytes: input.len() as u64, run });
    }
    samples.reverse();
    let span = samples.last().map_or(0, |sample| sample.n) as f64 / samples.first().map_or(1, |one| one.n) as f64;
    if samples.len() < LEAST_SIZES || span < LEAST_SPAN {
        return Ok(None);
    }
    let explains = |fit: &Fit| fit.error <= LARGEST_SWING && finding.check(fit, count, Axis::Repetitions).is_ok();
    let law = law(finding.resource, &samples, limits.until).filter(|(fit, _)| explains(fit));
    Ok(law.map(|(fit, sum)| Parts { family, samples, fit, sum }))
}

/// The law of parts of a finding, or of texts of a list that differ: if it is a whole one to the hundredth, that; else the
/// nearest, since what differs costs differently.
pub(super) fn law(resource: Resource, samples: &[Sample], until: Instant) -> Option<(Fit, Option<Total>)> {
    let exact = match resource {
        Resource::Instructions => fits::of_instructions(samples, Axis::Repetitions, None, until),
        _ => None,
    };
    let is_whole =
        |fit: &Fit| !matches!(fit.law.class(), Class::Power(_)) && fit.rival.is_none() && fit.onset.is_none();
    if let Some((fit, sum)) = exact.filter(|(fit, _)| fit.error <= LARGEST_ERROR && is_whole(fit)) {
        return Some((fit, sum));
    }
    let points: Vec<Point> =
        samples.iter().map(|sample| Point { size: sample.n, amount: sample.run.amount(resource) }).collect();
    fit_noisy(&points).map(|fit| (fit, None))
}

impl Parts<'_> {
    /// The law if no other way to take units says anything.
    fn unconfirmed(mut self) -> Self {
        self.fit.confidence = Confidence::Low;
        self
    }

    /// The law with the confidence that another way to take units gives it; that one's law is its rival if they differ.
    fn held_against(mut self, other: &Self) -> Self {
        let is_same = self.agrees(other.exponent());
        let is_sure = self.fit.error <= LARGEST_NOISE && self.fit.rival.is_none() && self.is_wide();
        self.fit.confidence = match (is_same, is_sure) {
            (true, true) => Confidence::Medium,
            _ => Confidence::Low,
        };
        if !is_same {
            self.fit.rival = Some(Rival { law: other.fit.law.clone(), factor: 1.0 });
        }
        self
    }
}

/// Time for the runs of parts, of the time for all.
pub(super) fn time(budget: Duration) -> Duration {
    budget.mul_f64(0.25)
}
