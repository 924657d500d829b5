//! The template that a finding follows: of those that keep its cost, the one whose cost grows fastest.

use std::{cmp::Ordering, time::Instant};

use super::{
    GrowthOptions,
    kept::{Chosen, Hot},
    numbers,
};
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::template::{Candidate, Evidence, candidates};

/// Growth of the hot cost over four times the repetitions below which it does not depend on them.
const LEAST_GROWTH: f64 = 2.0;
/// Candidates that are run.
const MOST: usize = 48;
/// Share of the hot cost that a template keeps at the finding's size.
const LEAST_KEPT: f64 = 0.5;
/// Orders that are closer are equal.
const SAME_ORDER: f64 = 0.25;
/// Part of the time that choosing may take.
const BUDGET_SHARE: f64 = 0.3;
/// Runs that are expected to take more than this part of the hang timeout, or of the time for all, are not made.
const HANG_SHARE: f64 = 0.4;

/// Chooses the template of a finding: it keeps at least half of the hot cost at the finding's size; among those, one that grows, the
/// highest order, then the highest cost per byte. If none keeps so much, or the hot cost does not grow with any as
/// powers do, a number in the finding may be what its cost depends on: `seed` is what it comes from, if that is known. `None` if there is nothing.
///
/// # Errors
/// If the target cannot be run.
pub(crate) fn choose(
    runner: &mut Runner,
    options: &GrowthOptions,
    (finding, run): (&[u8], &Run),
    seed: Option<&[u8]>,
    started: Instant,
) -> Result<Option<Chosen>> {
    let hot = Hot::of(run, options.resource);
    let mut best: Option<Chosen> = None;
    for candidate in candidates(&Evidence { input: finding, ..Evidence::default() }, MOST) {
        if interruption::has_come() || started.elapsed() > options.budget.mul_f64(BUDGET_SHARE) {
            break;
        }
        let Some(chosen) = evaluate(runner, options, &hot, candidate)? else { continue };
        if best.as_ref().is_none_or(|best| chosen.compare(best) == Ordering::Greater) {
            best = Some(chosen);
        }
    }
    if best.as_ref().is_some_and(|best| best.growth >= LEAST_GROWTH && best.order <= numbers::HIGHEST) {
        return Ok(best);
    }
    // what repeats is not what makes it slow, or makes another input of it
    Ok(numbers::choose(runner, options, &hot, (finding, run), seed, started)?.or(best))
}

impl Chosen {
    fn compare(&self, other: &Self) -> Ordering {
        // what hardly grows has an order by chance: a little more after nothing at all looks steep
        let grows = |one: &Self| one.growth >= LEAST_GROWTH;
        if grows(self) != grows(other) {
            return grows(self).cmp(&grows(other));
        }
        if (self.order - other.order).abs() >= SAME_ORDER {
            return self.order.total_cmp(&other.order);
        }
        // a tenth more is no reason to prefer what is less likely: candidates come with the likely ones first
        if self.per_byte > other.per_byte * 1.1 { Ordering::Greater } else { Ordering::Less }
    }
}

/// Runs a candidate at its size and at larger or smaller ones; `None` if it does not keep the hot cost.
fn evaluate(runner: &mut Runner, options: &GrowthOptions, hot: &Hot, one: Candidate) -> Result<Option<Chosen>> {
    let Candidate { template, n, .. } = one;
    if !template.scales() {
        return Ok(None);
    }
    let mut run = |n: u64| -> Result<Option<(Run, u64)>> {
        match template.render(n, options.max_bytes) {
            Ok(input) => {
                let run = runner.run(&input, Detail::Edges)?;
                Ok(run.came_back().then_some((run, input.len() as u64)))
            }
            Err(_) => Ok(None),
        }
    };
    let Some((at_n, bytes)) = run(n)? else { return Ok(None) };
    let kept = hot.kept(&at_n);
    if kept < LEAST_KEPT {
        return Ok(None);
    }
    // sizes in ratio 1 : 2 : 4, whose differences do not see what is there from the start
    let amount = hot.amount(&at_n);
    let longest = options.runs.hang_timeout.min(options.budget).as_secs_f64();
    let grows = at_n.seconds * 40.0 < longest * HANG_SHARE;
    let larger = if grows { (run(2 * n)?, run(4 * n)?) } else { (None, None) };
    let (amounts, last_bytes) = match larger {
        (Some((double, _)), Some((four, bytes))) => ([amount, hot.amount(&double), hot.amount(&four)], bytes),
        _ => {
            let (Some((quarter, _)), Some((half, _))) = (run((n / 4).max(1))?, run((n / 2).max(1))?) else {
                return Ok(None);
            };
            ([hot.amount(&quarter), hot.amount(&half), amount], bytes)
        }
    };
    let steps = [amounts[1].saturating_sub(amounts[0]), amounts[2].saturating_sub(amounts[1])];
    let order = (steps[1].max(1) as f64 / steps[0].max(1) as f64).log2().max(0.0);
    let per_byte = amounts[2] as f64 / last_bytes.max(1) as f64;
    let growth = amounts[2] as f64 / amounts[0].max(1) as f64;
    Ok(Some(Chosen { template, n, kept, order, growth, per_byte }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_choices::template::Template;

    #[test]
    fn what_hardly_grows_is_worse_than_what_does_however_steep_it_looks() {
        let chosen = |growth, order| {
            let template = Template::parse(r#"rep(N){"x"}"#).expect("a template");
            Chosen { template, n: 6, kept: 1.0, order, growth, per_byte: 1.0 }
        };
        let (flat, linear, quadratic) = (chosen(1.1, 6.0), chosen(4.0, 1.0), chosen(16.0, 2.0));
        assert_eq!(linear.compare(&flat), Ordering::Greater);
        assert_eq!(flat.compare(&quadratic), Ordering::Less);
        assert_eq!(quadratic.compare(&linear), Ordering::Greater);
    }
}
