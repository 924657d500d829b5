//! A text beside the repetitions of a template that counts as well: the cost is that of both, and so is the law.

use std::{collections::HashSet, ops::Range, time::Instant};

use super::alike::Finding;
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::{
    template::{Evidence, Part, Template, Times, candidates},
    units::{Taken, units},
};

/// Shortest text that is halved.
const LEAST_TEXT: usize = 32;
/// Share of its cost below which an input counts as cheaper without half of a text. At least half of the cost grows with the
/// repetitions: if the text's own cost were only added to that, three quarters would be left.
const CHEAPER: f64 = 0.7;
/// Shares of a text that are left out in turn: what stands at its ends may be what makes it a text.
const HALVES: [(f64, f64); 3] = [(0.25, 0.75), (0.0, 0.5), (0.5, 1.0)];
/// Kinds of units of which a text has half.
const MOST_KINDS: usize = 4;
/// Templates of a whole text that are tried.
const MOST_CANDIDATES: usize = 8;
/// Places in what was left out, and lengths, of the units that are repeated in its place.
const PLACES: [f64; 4] = [0.0, 0.3, 0.5, 0.8];
const LENGTHS: [usize; 7] = [1, 2, 3, 4, 6, 8, 16];
/// Least factor between the steps from a quarter to half and from half to the whole of repetitions whose cost is a product, and
/// templates with such a factor of which the law is asked.
const LEAST_STEEPER: f64 = 2.4;
const MOST_STEEP: usize = 4;
/// Least number of repetitions of which a quarter says something.
const LEAST_ROUNDS: u64 = 8;
/// Runs that look for the number of repetitions that costs as much as the finding.
const MOST_STEPS: usize = 8;

/// A text that does not repeat, without half of which a finding is clearly cheaper.
pub(super) struct Half {
    /// Part of the template that it is.
    place: usize,
    /// The part that was left out; `None` if that was every second of its units.
    range: Option<Range<usize>>,
    /// Share of its cost that the finding has without it.
    pub share: f64,
}

/// A template with other parts in the place of one.
fn replaced(template: &Template, place: usize, instead: impl IntoIterator<Item = Part>) -> Option<Template> {
    let mut parts = template.parts.clone();
    let is_empty = |part: &Part| matches!(part, Part::Literal(text) if text.is_empty());
    parts.splice(place..=place, instead.into_iter().filter(|part| !is_empty(part)));
    Template::new(parts).ok()
}

/// Halves of a text, and what of it is left out.
fn halves(text: &[u8]) -> Vec<(Vec<u8>, Option<Range<usize>>)> {
    let at = |share: f64| (text.len() as f64 * share) as usize;
    let ranges = HALVES.map(|(from, to)| at(from)..at(to));
    let mut all: Vec<_> =
        ranges.map(|range| ([&text[..range.start], &text[range.end..]].concat(), Some(range))).into_iter().collect();
    // a cut within a word may be what a program refuses
    let some = units(text).into_iter().take(MOST_KINDS);
    all.extend(some.map(|units| (units.take(units.count() / 2, Taken::Spread), None)));
    all
}

/// A text without half of which a finding, as the instance of a template of `n`, is clearly cheaper and still of its kind.
pub(super) fn half_that_counts(
    runner: &mut Runner,
    finding: &Finding<'_>,
    (template, n): (&Template, u64),
    until: Instant,
) -> Result<Option<Half>> {
    for (place, part) in template.parts.iter().enumerate() {
        let Part::Literal(text) = part else { continue };
        if text.len() < LEAST_TEXT {
            continue;
        }
        for (half, range) in halves(text) {
            if interruption::has_come() || Instant::now() >= until {
                return Ok(None);
            }
            let halved = replaced(template, place, [Part::Literal(half)]);
            let Some(bytes) = halved.and_then(|one| one.render(n, runner.capacity() as u64).ok()) else { continue };
            let run = runner.run(&bytes, Detail::Edges)?;
            let share = run.amount(finding.resource) as f64 / finding.amount().max(1) as f64;
            if finding.is_akin(&run) && share < CHEAPER {
                return Ok(Some(Half { place, range, share }));
            }
        }
    }
    Ok(None)
}

/// Templates in which such a text, or a part of it, is repeated as often as the rest, so that the cost is a product, the steepest first.
pub(super) fn templates(
    runner: &mut Runner,
    finding: &Finding<'_>,
    template: &Template,
    half: &Half,
    until: Instant,
) -> Result<Vec<Template>> {
    let Part::Literal(text) = &template.parts[half.place] else { return Ok(Vec::new()) };
    let of_all = candidates(&Evidence { input: text, ..Evidence::default() }, MOST_CANDIDATES);
    let mut all: Vec<Template> =
        of_all.into_iter().filter_map(|one| replaced(template, half.place, one.template.parts)).collect();
    if let Some(range) = &half.range {
        let mut tried = HashSet::new();
        let left_out = &text[range.clone()];
        let places = PLACES.map(|place| (left_out.len() as f64 * place) as usize);
        let units = LENGTHS.iter().flat_map(|length| places.map(|from| left_out.get(from..from + length)));
        for unit in units.flatten().filter(|unit| tried.insert(unit.to_vec())) {
            let around = [&text[..range.start], &text[range.end..]].map(|text| Part::Literal(text.to_vec()));
            let [front, back] = around;
            let repeated = Part::Repeat { times: Times::N, body: vec![Part::Literal(unit.to_vec())] };
            all.extend(replaced(template, half.place, [front, repeated, back]));
        }
    }
    let mut steep = Vec::new();
    for both in all {
        if interruption::has_come() || Instant::now() >= until {
            break;
        }
        let steepness = steepness(runner, finding, &both)?;
        if steepness >= LEAST_STEEPER {
            steep.push((steepness, both));
        }
    }
    steep.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    steep.truncate(MOST_STEEP);
    Ok(steep.into_iter().map(|(_, both)| both).collect())
}

/// Cost of a template at a number of repetitions, if the run is one that `is_of_it`.
fn amount(
    runner: &mut Runner,
    finding: &Finding<'_>,
    (template, n): (&Template, u64),
    is_of_it: impl Fn(&Run) -> bool,
) -> Result<Option<f64>> {
    let Ok(bytes) = template.render(n, runner.capacity() as u64) else { return Ok(None) };
    let run = runner.run(&bytes, Detail::Edges)?;
    Ok(is_of_it(&run).then(|| run.amount(finding.resource) as f64))
}

/// Factor between the steps of a template's cost from a quarter to half of the finding's size and from half to the whole; 0 if the
/// whole is not slow for the same reason.
fn steepness(runner: &mut Runner, finding: &Finding<'_>, template: &Template) -> Result<f64> {
    let n = template.n_for_size(finding.bytes.len() as u64);
    if n < LEAST_ROUNDS {
        return Ok(0.0);
    }
    let Some(whole) = amount(runner, finding, (template, n), |run| finding.is_like(run))? else { return Ok(0.0) };
    let mut smaller = |n| amount(runner, finding, (template, n), |run| finding.ends_like(run));
    let (Some(half), Some(quarter)) = (smaller(n / 2)?, smaller(n / 4)?) else { return Ok(0.0) };
    Ok((whole - half) / (half - quarter).max(1.0))
}

/// The number of repetitions at which a template costs as much as the finding, for the same reason.
pub(super) fn as_expensive(runner: &mut Runner, finding: &Finding<'_>, template: &Template) -> Result<Option<u64>> {
    let mut n = template.n_for_size(finding.bytes.len() as u64);
    for _ in 0..MOST_STEPS {
        let Some(known) = amount(runner, finding, (template, n), |run| finding.is_like(run))? else { break };
        if finding.costs(known) {
            return Ok(Some(n));
        }
        // between linear and quadratic: a step in the right direction at least
        let next = (n as f64 * (finding.amount() as f64 / known.max(1.0)).powf(0.6)).round() as u64;
        if next == n || next == 0 {
            break;
        }
        n = next;
    }
    Ok(None)
}
