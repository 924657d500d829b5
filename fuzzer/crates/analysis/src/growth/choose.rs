//! The template that a finding follows: of those that keep its cost, the one whose cost grows fastest.

use std::{cmp::Ordering, collections::HashMap, time::Instant};

use super::GrowthOptions;
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::template::{Candidate, Evidence, Template, candidates};
use quagmire_cost::resource::Resource;

/// Candidates that are run.
const MOST: usize = 48;
/// Share of the finding's cost whose edges are the hot ones.
const HOT: f64 = 0.8;
/// Share of the hot cost that a template keeps at the finding's size.
const LEAST_KEPT: f64 = 0.5;
/// Orders that are closer are equal.
const SAME_ORDER: f64 = 0.25;
/// Part of the time that choosing may take.
const BUDGET_SHARE: f64 = 0.3;
/// Runs that are expected to take more than this part of the hang timeout are not made.
const HANG_SHARE: f64 = 0.4;

/// A template that keeps the cost of a finding.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// The template.
    pub template: Template,
    /// Number of repetitions at which it is about as large as the finding.
    pub n: u64,
    /// Share of the hot cost that it keeps there.
    pub kept: f64,
    /// Local exponent of its hot cost.
    pub order: f64,
    /// Cost for each byte at its largest size.
    per_byte: f64,
}

/// Hot cost of a finding: its most expensive edges, or one resource.
struct Hot {
    resource: Resource,
    /// Executions and weight by edge; empty if the resource is not instructions, or edges have no exact counts.
    edges: HashMap<u32, (u64, u64)>,
    whole: u64,
}

impl Hot {
    fn of(run: &Run, resource: Resource) -> Self {
        let mut edges = HashMap::new();
        let mut whole = run.cost[resource];
        if resource == Resource::Instructions && !run.edges.is_empty() {
            let mut all = run.edges.clone();
            all.sort_by_key(|edge| std::cmp::Reverse(edge.instructions()));
            let wanted = (whole as f64 * HOT) as u64;
            let mut sum = 0;
            for edge in all {
                if sum >= wanted && sum > 0 {
                    break;
                }
                sum += edge.instructions();
                edges.insert(edge.edge, (edge.count, edge.weight.into()));
            }
            whole = sum;
        }
        Self { resource, edges, whole }
    }

    /// Share of the hot cost that a run has too, 0 to 1.
    fn kept(&self, run: &Run) -> f64 {
        if self.edges.is_empty() {
            return (run.cost[self.resource] as f64 / self.whole.max(1) as f64).min(1.0);
        }
        let shared = run.edges.iter().filter_map(|edge| {
            let (count, weight) = self.edges.get(&edge.edge)?;
            Some(edge.count.min(*count) * weight)
        });
        shared.sum::<u64>() as f64 / self.whole.max(1) as f64
    }

    /// Cost of a run on the hot edges.
    fn amount(&self, run: &Run) -> u64 {
        if self.edges.is_empty() {
            return run.cost[self.resource];
        }
        run.edges.iter().filter(|edge| self.edges.contains_key(&edge.edge)).map(|edge| edge.instructions()).sum()
    }
}

/// Chooses the template of a finding: it keeps at least half of the hot cost at the finding's size; among those, the
/// highest order, then the highest cost per byte. `None` if none keeps so much.
///
/// # Errors
/// If the target cannot be run.
pub(crate) fn choose(
    runner: &mut Runner,
    options: &GrowthOptions,
    finding: &[u8],
    run: &Run,
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
    Ok(best)
}

impl Chosen {
    fn compare(&self, other: &Self) -> Ordering {
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
    let grows = at_n.seconds * 40.0 < options.runs.hang_timeout.as_secs_f64() * HANG_SHARE;
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
    Ok(Some(Chosen { template, n, kept, order, per_byte }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::EdgeCount;
    use quagmire_cost::resource::Cost;

    fn run(counts: &[(u32, u64)]) -> Run {
        let edges: Vec<EdgeCount> = counts.iter().map(|&(edge, count)| EdgeCount { edge, count, weight: 2 }).collect();
        let instructions = edges.iter().map(|edge| edge.instructions()).sum();
        Run { cost: Cost::from([(Resource::Instructions, instructions)]), edges, ..Run::default() }
    }

    #[test]
    fn what_is_hot_elsewhere_keeps_nothing() {
        let finding = run(&[(1, 1_000), (2, 50), (3, 50)]);
        let hot = Hot::of(&finding, Resource::Instructions);
        assert_eq!(hot.kept(&finding), 1.0);
        assert_eq!(hot.kept(&run(&[(2, 5_000)])), 0.0);
        assert_eq!(hot.kept(&run(&[(1, 500)])), 0.5);
        assert_eq!(hot.amount(&run(&[(1, 7), (2, 5_000)])), 14);
    }
}
