//! What the seeds cost: everything else is measured against it.

use serde::{Deserialize, Serialize};

use super::resource::{Cost, Resource};

/// Medians over the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Of each resource, the median use of a seed's run.
    pub cost: Cost,
    /// Median size of the seeds, in bytes.
    pub bytes: u64,
}

impl Baseline {
    /// From cost and size of every usable seed. `None` without one.
    pub fn of_seeds(seeds: &[(Cost, u64)]) -> Option<Self> {
        let median = |amount: &dyn Fn(&(Cost, u64)) -> u64| {
            let mut amounts: Vec<u64> = seeds.iter().map(amount).collect();
            amounts.sort_unstable();
            amounts.get((amounts.len().max(1) - 1) / 2).copied()
        };
        let of = |resource: Resource| median(&|seed| resource.of(&seed.0));
        Some(Self {
            cost: Cost {
                instructions: of(Resource::Instructions)?.max(1),
                edges: of(Resource::Edges)?,
                hottest_edge: of(Resource::HottestEdge)?,
                cycles: of(Resource::Cycles)?,
                time_ns: of(Resource::Time)?,
                heap_peak: of(Resource::Heap)?,
                heap_total: of(Resource::HeapTotal)?,
                stack: of(Resource::Stack)?,
                lines: of(Resource::Lines)?,
            },
            bytes: median(&|seed| seed.1)?,
        })
    }

    /// Perun's indicator of coverage: how many times the baseline's instructions a run took.
    pub fn icovr(&self, cost: &Cost) -> f64 {
        Resource::Instructions.ratio(cost.instructions, self.cost.instructions)
    }

    /// Perun's share of degraded resources (`pcr`): those that a run used `threshold` times as much of as the baseline,
    /// 0 to 1. Only of those that are the same in every run: parents are chosen by it, and the same seed of the random
    /// numbers must make the same choice; and of those that every campaign measures.
    pub fn degraded_share(&self, cost: &Cost, threshold: f64) -> f64 {
        let (mut resources, mut degraded) = (0, 0);
        let counts = |resource: &Resource| resource.is_deterministic() && resource.is_always_measured();
        for resource in Resource::ALL.into_iter().filter(counts) {
            resources += 1;
            degraded += u32::from(resource.ratio(resource.of(cost), resource.of(&self.cost)) >= threshold);
        }
        f64::from(degraded) / f64::from(resources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(instructions: u64, bytes: u64) -> (Cost, u64) {
        (Cost { instructions, stack: 1000, ..Cost::default() }, bytes)
    }

    #[test]
    fn the_baseline_is_the_median_seed() {
        let baseline = Baseline::of_seeds(&[seed(900, 1), seed(10, 5), seed(30, 7)]).unwrap();
        assert_eq!((baseline.cost.instructions, baseline.cost.stack, baseline.bytes), (30, 1000, 5));
        assert!((baseline.icovr(&seed(60, 0).0) - 2.0).abs() < 1e-12);
        assert_eq!(Baseline::of_seeds(&[]), None);
        assert_eq!(Baseline::of_seeds(&[seed(0, 0)]).unwrap().cost.instructions, 1);
    }

    #[test]
    fn the_degraded_share_counts_resources() {
        let baseline = Baseline::of_seeds(&[seed(100, 1)]).unwrap();
        assert_eq!(baseline.degraded_share(&seed(199, 1).0, 2.0), 0.0);
        let worse = Cost { instructions: 200, stack: 2000, ..Cost::default() };
        assert_eq!(baseline.degraded_share(&worse, 2.0), 2.0 / 6.0);
        let slower = Cost { time_ns: 1_000_000_000, cycles: 1_000_000_000, ..worse };
        assert_eq!(baseline.degraded_share(&slower, 2.0), 2.0 / 6.0, "a clock decides");
    }
}
