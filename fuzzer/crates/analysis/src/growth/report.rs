//! Result of `growth`: for JSON, for people, and for the findings of a campaign.

use serde::Serialize;

use super::{
    family::Family,
    fits::PlaceLaw,
    parts::PartsReport,
    sample::{Axis, Sample},
    time::Times,
};
use quagmire_base::format::grouped;
use quagmire_choices::template::Template;
use quagmire_cost::{
    law::{Class, Fit, Total},
    resource::Resource,
};
use quagmire_results::summary::{FindingLaw, LawPoint};

/// How the cost of an input grows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrowthReport {
    /// The input; `None` for a template given by the user.
    pub input: Option<String>,
    /// The law as findings of campaigns have it.
    pub law: Option<FindingLaw>,
    /// Template of which all inputs that were run are instances; `None` for a law by parts of the input.
    pub template: Option<String>,
    /// The law by parts of the input, if it has parts that say something.
    pub parts: Option<PartsReport>,
    /// Part of the template that repeats; the plural of the units for a law by parts.
    pub pump: String,
    /// Number of repetitions at which it is about as large as the input; number of its units for a law by parts.
    pub n: Option<u64>,
    /// Share of the input's hot cost that it keeps there, 0 to 1.
    pub kept: Option<f64>,
    /// Resource whose amount grows.
    pub resource: Resource,
    /// Unit of its amounts, as a noun.
    pub unit: String,
    /// Unit that CPU times are measured for, as a noun: instructions, whatever the resource is, or `ns` without exact counts.
    pub unit_of_time: String,
    /// Sizes that the law is a law of.
    pub axis: Axis,
    /// The law in words: `exactly quadratic in the number of "["`.
    pub words: String,
    /// Name of the class of the term that carries most at the input and at the sizes that were run: `quadratic`.
    pub class: String,
    /// Its formula: `0.5 n^2 + 12 n`.
    pub formula: String,
    /// The law.
    pub fit: Fit,
    /// Sum of the laws of all edges; `None` without exact counts.
    pub sum: Option<Total>,
    /// Size from which on the highest term is more than all others together.
    pub crossover: Option<f64>,
    /// Runs of the template.
    pub points: Vec<GrowthPoint>,
    /// Reason why no larger size was run, in words.
    pub end: String,
    /// Laws of the most expensive functions.
    pub functions: Vec<PlaceLaw>,
    /// Laws of the most expensive source lines.
    pub lines: Vec<PlaceLaw>,
    /// Laws of the other resources.
    pub resources: Vec<ResourceLaw>,
    /// CPU times; `None` if all runs were too short to measure one.
    pub times: Option<Times>,
    /// Command in one line that prints an instance; empty if it is too long for one.
    pub generator: String,
    /// Remarks for the user, a sentence each.
    pub notes: Vec<String>,
    /// Number of runs of the target.
    pub executions: u64,
}

/// Result without a law, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoLaw {
    /// The input; `None` for a template given by the user.
    pub input: Option<String>,
    /// Always `None`.
    pub law: Option<FindingLaw>,
    /// The template, if there is one.
    pub template: Option<String>,
    /// The reason, and what to do.
    pub why: String,
}

/// A run of the template.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrowthPoint {
    /// Number of repetitions.
    pub n: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Amount of the resource.
    pub amount: u64,
    /// Amount that the law says.
    pub expected: f64,
    /// CPU time of the run in seconds.
    pub seconds: f64,
    /// How the run ended: `returned` or `rejected`.
    pub status: String,
}

/// Law of one of the other resources.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceLaw {
    pub resource: Resource,
    /// Amount at the largest size.
    pub amount: u64,
    pub words: String,
    pub fit: Fit,
}

/// How many times the largest size that was run an exact law is looked at: where a pattern is a small part of an input, what
/// is quadratic is a straight line at first.
const BEYOND: u64 = 10;

/// The class of the term that carries most of what grows: at the input's own size or at the middle of those that were run,
/// whichever is larger; without an input, at the largest one. For an exact law, which is certain of all its terms, beyond.
pub(super) fn headline(fit: &Fit, own: Option<u64>) -> Class {
    let middle = (fit.smallest as f64 * fit.largest as f64).sqrt() as u64;
    let size = own.map_or(fit.largest, |own| own.max(middle));
    fit.class_at(if fit.exact { size.max(fit.largest.saturating_mul(BEYOND)) } else { size })
}

/// A law with what it is a law of: `exactly quadratic in the number of "[", from 40 on`.
pub(super) fn in_words(fit: &Fit, headline: Class, axis: Axis, family: &Family<'_>, samples: &[Sample]) -> String {
    let number = family.template().and_then(Template::number_in_words);
    let along = match (axis, family.unit()) {
        (Axis::Repetitions, unit) if unit.is_empty() => number.unwrap_or_else(|| "N".to_owned()),
        (Axis::Repetitions, unit) => format!("the number of {unit}"),
        (Axis::Bytes, _) => "the number of bytes".to_owned(),
    };
    let mut words = format!("{} in {along}", fit.name_of(headline));
    if let Some(onset) = fit.onset {
        words += &format!(", from {} on", grouped(onset));
    }
    if let Some(cap) = &fit.cap {
        words += &format!(", {}", cap.in_words(&grouped(cap.size)));
    }
    if let (None, Some(first), Some(last)) = (family.template(), samples.first(), samples.last()) {
        words += &format!(", seen from {} to {}", grouped(first.n), grouped(last.n));
    }
    words
}

/// The size from which on the highest term of a law is more than all others, if that is not so at all sizes.
pub(super) fn crossover(fit: &Fit) -> Option<f64> {
    fit.law.crossover().filter(|size| *size > fit.smallest as f64 && fit.cap.is_none())
}

impl GrowthReport {
    /// The law as a part of a finding in `summary.json`.
    pub fn finding_law(&self) -> FindingLaw {
        let bytes_of = |seconds: f64| {
            let times = self.times.as_ref()?;
            times.sizes.iter().find(|size| size.seconds == seconds && size.is_safe).map(|size| size.bytes[0] as u64)
        };
        let point = |point: &GrowthPoint| LawPoint {
            n: point.n,
            bytes: point.bytes,
            amount: point.amount,
            expected: point.expected,
        };
        let points: Vec<LawPoint> = self.points.iter().map(point).collect();
        let repetitions = |size: u64| match self.axis {
            Axis::Repetitions => size,
            Axis::Bytes => LawPoint::repetitions_of(&points, size),
        };
        FindingLaw {
            words: self.words.clone(),
            class: self.class.clone(),
            resource: self.resource,
            confidence: self.fit.confidence.to_string(),
            rival: self.fit.rival.as_ref().map(|rival| rival.law.class().to_string()),
            onset: self.fit.onset.map(repetitions),
            cap: self.fit.cap.as_ref().map(|cap| repetitions(cap.size)),
            bytes_of_second: bytes_of(1.0),
            bytes_of_minute: bytes_of(60.0),
            generator: Some(self.generator.clone()).filter(|generator| !generator.is_empty()),
            points,
        }
    }
}

#[cfg(test)]
mod tests {
    use quagmire_cost::law::{Point, fit};

    use super::*;

    #[test]
    fn an_exact_law_is_named_for_inputs_that_are_larger_than_those_that_were_run() {
        let headlines = |largest: u64, law: fn(u64) -> u64| {
            let sizes = (0..12).map(|step| 5 + step * (largest - 5) / 11);
            let points: Vec<Point> = sizes.map(|size| Point { size, amount: law(size) }).collect();
            let fit = Fit { exact: true, ..fit(&points, None).expect("a law") };
            [true, false].map(|exact| headline(&Fit { exact, ..fit.clone() }, Some(30)))
        };
        // a pattern of twelve bytes in an input of six thousand
        let straight = |n: u64| 168_000_000 + 661_500 * n + 648 * n * n;
        assert_eq!(headlines(290, straight), [Class::Quadratic, Class::Linear]);
        // its highest term needs sizes that nobody will run
        assert_eq!(headlines(400, |n| 41 * n * n * n + 7_600_000 * n * n), [Class::Quadratic, Class::Quadratic]);
    }
}
