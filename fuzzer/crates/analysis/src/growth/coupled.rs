//! A text beside the repetitions of a template that counts as well: the cost is that of both, and so is the law.

use std::{collections::HashSet, time::Instant};

use super::alike::Finding;
use crate::{
    interruption,
    runner::{Detail, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::template::{Part, Template, Times};

/// Shortest text that is halved.
const LEAST_TEXT: usize = 32;
/// Share of its cost below which an input counts as cheaper without half of a text. At least half of the cost grows with the
/// repetitions: if the text's own cost were only added to that, three quarters would be left.
const CHEAPER: f64 = 0.7;
/// Shares of a text that are left out in turn: what stands at its ends may be what makes it a text.
const HALVES: [(f64, f64); 3] = [(0.25, 0.75), (0.0, 0.5), (0.5, 1.0)];
/// Places in what was left out, and lengths, of the units that are repeated in its place.
const PLACES: [f64; 4] = [0.0, 0.3, 0.5, 0.8];
const LENGTHS: [usize; 7] = [1, 2, 3, 4, 6, 8, 16];
/// Least factor between the steps from a quarter to half and from half to the whole of repetitions whose cost is a product.
const LEAST_STEEPER: f64 = 2.4;
/// Runs that look for the number of repetitions that costs as much as the finding.
const MOST_STEPS: usize = 8;

/// Part of a text that does not repeat, without which a finding is clearly cheaper.
pub(super) struct Half {
    /// Part of the template that the text is, and what of it was left out.
    place: usize,
    range: std::ops::Range<usize>,
    /// Share of its cost that the finding has without it.
    pub share: f64,
}

impl Half {
    /// The template without it, with `instead` in its place.
    fn replaced(&self, template: &Template, instead: Vec<Part>) -> Option<Template> {
        let mut parts = template.parts.clone();
        let Part::Literal(text) = &parts[self.place] else { return None };
        let (front, back) = (text[..self.range.start].to_vec(), text[self.range.end..].to_vec());
        let literal = |text: Vec<u8>| (!text.is_empty()).then_some(Part::Literal(text));
        let all: Vec<Part> = literal(front).into_iter().chain(instead).chain(literal(back)).collect();
        parts.splice(self.place..=self.place, all);
        Template::new(parts).ok()
    }
}

/// Half of a text without which a finding, as the instance of a template of `n`, is clearly cheaper for the same reason.
pub(super) fn half_that_counts(
    runner: &mut Runner,
    finding: &Finding<'_>,
    template: &Template,
    n: u64,
) -> Result<Option<Half>> {
    for (place, part) in template.parts.iter().enumerate() {
        let Part::Literal(text) = part else { continue };
        if text.len() < LEAST_TEXT {
            continue;
        }
        for (from, to) in
            HALVES.map(|(from, to)| ((text.len() as f64 * from) as usize, (text.len() as f64 * to) as usize))
        {
            let mut half = Half { place, range: from..to, share: 1.0 };
            let halved = half.replaced(template, Vec::new());
            let Some(bytes) = halved.and_then(|one| one.render(n, runner.capacity() as u64).ok()) else { continue };
            let run = runner.run(&bytes, Detail::Edges)?;
            half.share = run.amount(finding.resource) as f64 / finding.amount().max(1) as f64;
            if finding.is_like(&run) && half.share < CHEAPER {
                return Ok(Some(half));
            }
        }
    }
    Ok(None)
}

/// A template in which a part of such a text is repeated as often as the rest of it, with the number of repetitions at which it costs
/// as much as the finding. `None` if no part of the text makes the cost a product.
pub(super) fn template(
    runner: &mut Runner,
    finding: &Finding<'_>,
    template: &Template,
    half: &Half,
    until: Instant,
) -> Result<Option<(Template, u64)>> {
    let Part::Literal(text) = &template.parts[half.place] else { return Ok(None) };
    let left_out = &text[half.range.clone()];
    let mut tried = HashSet::new();
    for length in LENGTHS {
        for from in PLACES.map(|place| (left_out.len() as f64 * place) as usize) {
            let Some(unit) = left_out.get(from..from + length).filter(|unit| tried.insert(unit.to_vec())) else {
                continue;
            };
            let repeated = Part::Repeat { times: Times::N, body: vec![Part::Literal(unit.to_vec())] };
            let Some(both) = half.replaced(template, vec![repeated]) else { continue };
            if interruption::has_come() || Instant::now() >= until {
                return Ok(None);
            }
            if let Some(n) = as_expensive(runner, finding, &both)? {
                return Ok(Some((both, n)));
            }
        }
    }
    Ok(None)
}

/// The number of repetitions at which a template costs as much as the finding, for the same reason, if its cost is steeper than linear.
fn as_expensive(runner: &mut Runner, finding: &Finding<'_>, template: &Template) -> Result<Option<u64>> {
    let mut amount = |n: u64| -> Result<Option<f64>> {
        let Ok(bytes) = template.render(n, runner.capacity() as u64) else { return Ok(None) };
        let run = runner.run(&bytes, Detail::Edges)?;
        Ok(finding.is_like(&run).then(|| run.amount(finding.resource) as f64))
    };
    let mut n = template.n_for_size(finding.bytes.len() as u64);
    let (Some(whole), Some(half), Some(quarter)) = (amount(n)?, amount(n / 2)?, amount(n / 4)?) else {
        return Ok(None);
    };
    if n < 8 || whole - half < LEAST_STEEPER * (half - quarter) {
        return Ok(None);
    }
    let mut known = whole;
    for _ in 0..MOST_STEPS {
        if finding.costs(known) {
            return Ok(Some(n));
        }
        // between linear and quadratic: a step in the right direction at least
        let next = (n as f64 * (finding.amount() as f64 / known).powf(0.6)).round() as u64;
        let Some(cost) = (next != n && next > 0).then(|| amount(next)).transpose()?.flatten() else { return Ok(None) };
        (n, known) = (next, cost);
    }
    Ok(None)
}
