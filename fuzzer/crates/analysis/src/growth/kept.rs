//! Hot cost of a finding, and templates that keep it.

use std::collections::HashMap;

use crate::runner::Run;
use quagmire_choices::template::Template;
use quagmire_cost::resource::Resource;

/// Share of the finding's cost whose edges are the hot ones.
const HOT: f64 = 0.8;

/// A template that keeps the cost of a finding.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub template: Template,
    /// Number of repetitions at which it is about as large as the finding.
    pub n: u64,
    /// Share of the hot cost that it keeps there.
    pub kept: f64,
    /// Local exponent of its hot cost.
    pub order: f64,
    /// Factor by which its hot cost grows where `N` grows fourfold.
    pub growth: f64,
    /// Cost for each byte at its largest size.
    pub(super) per_byte: f64,
}

/// Hot cost of a finding: its most expensive edges, or one resource.
pub(super) struct Hot {
    resource: Resource,
    /// Executions and weight by edge; empty if the resource is not instructions, or edges have no exact counts.
    edges: HashMap<u32, (u64, u64)>,
    whole: u64,
}

impl Hot {
    pub(super) fn of(run: &Run, resource: Resource) -> Self {
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
    pub(super) fn kept(&self, run: &Run) -> f64 {
        if self.edges.is_empty() {
            return self.share(run.cost[self.resource] as f64);
        }
        let shared = run.edges.iter().filter_map(|edge| {
            let (count, weight) = self.edges.get(&edge.edge)?;
            Some(edge.count.min(*count) * weight)
        });
        shared.sum::<u64>() as f64 / self.whole.max(1) as f64
    }

    /// Share of the hot cost that an amount is, 0 to 1.
    pub(super) fn share(&self, amount: f64) -> f64 {
        (amount / self.whole.max(1) as f64).min(1.0)
    }

    /// Cost of a run on the hot edges.
    pub(super) fn amount(&self, run: &Run) -> u64 {
        if self.edges.is_empty() {
            return run.cost[self.resource];
        }
        run.edges.iter().filter(|edge| self.edges.contains_key(&edge.edge)).map(|edge| edge.instructions()).sum()
    }
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
