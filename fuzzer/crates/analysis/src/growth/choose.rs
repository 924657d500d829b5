//! The template that a finding follows: of those that keep its cost, the one whose cost grows fastest.

use std::{cmp::Ordering, time::Instant};

use super::{
    GrowthOptions,
    alike::Finding,
    kept::{Chosen, Hot},
    numbers,
};
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::template::{Candidate, Evidence, Template, Times, candidates};

/// Growth of the hot cost over four times the repetitions below which it does not depend on them.
const LEAST_GROWTH: f64 = 2.0;
/// Share of the growth from half of an input to the whole that a loop may have part in if the hot cost does not depend on it.
const NO_GROWTH: f64 = 0.1;
/// Candidates that are run.
const MOST: usize = 48;
/// Share of the hot cost that a template keeps at the finding's size.
const LEAST_KEPT: f64 = 0.5;
/// Orders that are closer are equal.
const SAME_ORDER: f64 = 0.25;
/// Part of the time that is left that choosing may take.
const BUDGET_SHARE: f64 = 0.3;
/// Runs of the finding that have to fit into that part. Of a finding that takes longer, only candidates that smaller sizes
/// speak for are run at its own.
const LEAST_RUNS: f64 = 16.0;
/// Smallest number of repetitions of which a sixteenth says something.
const LEAST_DIVISIBLE: u64 = 64;
/// Runs that are expected to take more than this part of the hang timeout, or of the time for all, are not made.
const HANG_SHARE: f64 = 0.4;

/// Templates that are given, the best first: the law of the first may not explain the input.
const BEST: usize = 3;
/// Fewest repetitions in a finding that a law can explain.
const LEAST_ROUNDS: u64 = 4;

/// Chooses templates of an input, the best first: they keep at least half of the hot cost at the input's size; among those, one that grows, the
/// highest order, then the highest cost per byte. Of a `finding` that is to be explained they cost as much as that, for the same
/// reason.
pub(crate) fn choose(
    runner: &mut Runner,
    options: &GrowthOptions,
    (input, run): (&[u8], &Run),
    finding: Option<&Finding<'_>>,
    started: Instant,
) -> Result<Vec<Chosen>> {
    let hot = Hot::of(run, options.resource);
    let begun = Instant::now();
    let share = options.left(started).mul_f64(BUDGET_SHARE);
    let is_long = run.seconds * LEAST_RUNS > share.as_secs_f64();
    let mut all: Vec<Chosen> = Vec::new();
    for candidate in candidates(&Evidence { input, ..Evidence::default() }, MOST) {
        if interruption::has_come() || begun.elapsed() > share {
            break;
        }
        let is_few = candidate.n < LEAST_ROUNDS || candidate.template.list_end().is_some_and(|last| candidate.n > last);
        if finding.is_some() && is_few {
            continue;
        }
        let is_exact = candidate.is_exact;
        let is_divisible = is_long && candidate.n >= LEAST_DIVISIBLE;
        let judge = if is_divisible { evaluate_smaller } else { evaluate };
        let Some(mut chosen) = judge(runner, options, &hot, candidate)? else { continue };
        let place = all.iter().position(|other| chosen.compare(other) == Ordering::Greater).unwrap_or(all.len());
        if place >= BEST {
            continue;
        }
        if is_divisible || finding.is_some() && !is_exact {
            let at_n = render(runner, options, &chosen.template, chosen.n)?.map(|(run, _)| run);
            chosen.kept = at_n.as_ref().map_or(0.0, |run| hot.kept(run));
            let explains = |(finding, run): (&Finding<'_>, &Run)| {
                finding.is_like(run) && finding.costs(run.amount(finding.resource) as f64)
            };
            if !finding.zip(at_n.as_ref()).is_none_or(explains) {
                continue;
            }
        }
        if chosen.kept >= LEAST_KEPT {
            all.insert(place, chosen);
            all.truncate(BEST);
        }
    }
    if finding.is_some() {
        for chosen in &mut all {
            keep_what_grows(runner, options, &hot, chosen)?;
        }
    }
    Ok(all)
}

/// Chooses templates of an input. If the hot cost grows with none as powers do, a number in the input may be what its cost depends
/// on: `seed` is what it comes from, if that is known.
pub(crate) fn choose_any(
    runner: &mut Runner,
    options: &GrowthOptions,
    input: (&[u8], &Run),
    finding: Option<&Finding<'_>>,
    seed: Option<&[u8]>,
    started: Instant,
) -> Result<Vec<Chosen>> {
    let all = choose(runner, options, input, finding, started)?;
    if all.first().is_some_and(Chosen::grows) {
        return Ok(all);
    }
    // what repeats is not what makes it slow, or makes another input of it
    let number = choose_number(runner, options, input, seed, started)?;
    Ok(number.into_iter().chain(all).collect())
}

/// The number in an input that its cost depends on, as `N` of a template.
pub(crate) fn choose_number(
    runner: &mut Runner,
    options: &GrowthOptions,
    input: (&[u8], &Run),
    seed: Option<&[u8]>,
    started: Instant,
) -> Result<Option<Chosen>> {
    numbers::choose(runner, options, &Hot::of(input.1, options.resource), input, seed, started)
}

/// Leaves out of the growth of a template each loop on whose rounds the hot cost does not depend: half of the input with all
/// of its rounds costs no more than half of the input.
fn keep_what_grows(runner: &mut Runner, options: &GrowthOptions, hot: &Hot, chosen: &mut Chosen) -> Result<()> {
    let (n, half) = (chosen.n, chosen.n / 2);
    let growing = |template: &Template| template.times().iter().filter(|times| times.factor > 0).count();
    let amount = |runner: &mut Runner, template: &Template, n: u64| {
        render(runner, options, template, n).map(|run| run.map(|(run, _)| hot.amount(&run) as f64))
    };
    for place in 0..chosen.template.times().len() {
        let mut times = chosen.template.times();
        if times[place].factor == 0 || growing(&chosen.template) < 2 {
            continue;
        }
        times[place] = Times { factor: 0, plus: times[place].at(n) };
        let without = chosen.template.with_times(&times);
        let whole = amount(runner, &chosen.template, n)?.zip(amount(runner, &chosen.template, half)?);
        if let (Some((whole, usual)), Some(fixed)) = (whole, amount(runner, &without, half)?)
            && fixed - usual <= (whole - usual) * NO_GROWTH
        {
            chosen.template = without;
        }
    }
    // one loop is counted by its own rounds
    let times = chosen.template.times();
    let mut grow = times.iter().enumerate().filter(|(_, times)| times.factor > 0);
    if let (Some((place, own)), None) = (grow.next(), grow.next()) {
        let times: Vec<Times> =
            times.iter().enumerate().map(|(at, times)| if at == place { Times::N } else { *times }).collect();
        (chosen.template, chosen.n) = (chosen.template.with_times(&times), own.at(n));
    }
    Ok(())
}

impl Chosen {
    /// Whether the hot cost grows with it as powers do.
    pub(crate) fn grows(&self) -> bool {
        self.growth >= LEAST_GROWTH && self.order <= numbers::HIGHEST
    }

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
    let mut run = |n: u64| render(runner, options, &template, n);
    let Some((at_n, bytes)) = run(n)? else { return Ok(None) };
    let kept = hot.kept(&at_n);
    if kept < LEAST_KEPT {
        return Ok(None);
    }
    let amount = hot.amount(&at_n);
    let longest = options.target.hang_timeout.min(options.budget).as_secs_f64();
    let is_within_list = template.list_end().is_none_or(|last| 4 * n <= last);
    let grows = is_within_list && at_n.seconds * 40.0 < longest * HANG_SHARE;
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
    let Shape { order, growth, per_byte, .. } = Shape::of(amounts, last_bytes);
    Ok(Some(Chosen { template, n, kept, order, growth, per_byte }))
}

/// Runs a candidate at a sixteenth, an eighth and a quarter of its size, and takes what it keeps from what follows for the whole one;
/// `None` if that is far from the hot cost, or the smallest has most of it already.
fn evaluate_smaller(runner: &mut Runner, options: &GrowthOptions, hot: &Hot, one: Candidate) -> Result<Option<Chosen>> {
    let Candidate { template, n, .. } = one;
    if !template.scales() {
        return Ok(None);
    }
    let (mut amounts, mut last_bytes) = ([0; 3], 0);
    for (amount, part) in amounts.iter_mut().zip([16, 8, 4]) {
        let Some((run, bytes)) = render(runner, options, &template, n / part)? else { return Ok(None) };
        (*amount, last_bytes) = (hot.amount(&run), bytes);
        // what costs is in what does not repeat, and each run takes as long as the finding's
        if part == 16 && hot.share(*amount as f64) > LEAST_KEPT {
            return Ok(None);
        }
    }
    let Shape { order, growth, per_byte, steps } = Shape::of(amounts, last_bytes);
    let factor = order.min(numbers::HIGHEST).exp2();
    let kept = hot.share(amounts[2] as f64 + steps[1] as f64 * (factor + factor * factor));
    Ok((kept >= LEAST_KEPT / 2.0).then_some(Chosen { template, n, kept, order, growth, per_byte }))
}

/// Runs a template at a size. `None` if that is too large, or does not come back.
fn render(runner: &mut Runner, options: &GrowthOptions, template: &Template, n: u64) -> Result<Option<(Run, u64)>> {
    let Ok(input) = template.render(n, options.max_bytes) else { return Ok(None) };
    let run = runner.run(&input, Detail::Edges)?;
    Ok(run.came_back().then_some((run, input.len() as u64)))
}

/// How hot cost grows over sizes in ratio 1 : 2 : 4, by differences, which do not see what is there from the start.
struct Shape {
    order: f64,
    growth: f64,
    per_byte: f64,
    steps: [u64; 2],
}

impl Shape {
    /// Derives it from the amounts at the three sizes, the largest of which has so many bytes.
    fn of(amounts: [u64; 3], bytes: u64) -> Self {
        let steps = [amounts[1].saturating_sub(amounts[0]), amounts[2].saturating_sub(amounts[1])];
        Self {
            order: (steps[1].max(1) as f64 / steps[0].max(1) as f64).log2().max(0.0),
            growth: amounts[2] as f64 / amounts[0].max(1) as f64,
            per_byte: amounts[2] as f64 / bytes.max(1) as f64,
            steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
