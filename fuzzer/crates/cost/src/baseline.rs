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
        let bytes = median(&|seed| seed.1)?;
        let mut cost = Cost::from_fn(|resource| median(&|seed| seed.0[resource]).unwrap_or(0));
        cost[Resource::Instructions] = cost[Resource::Instructions].max(1);
        Some(Self { cost, bytes })
    }

    /// Perun's indicator of coverage: how many times the baseline's instructions a run took.
    pub fn icovr(&self, cost: &Cost) -> f64 {
        Resource::Instructions.ratio(cost[Resource::Instructions], self.cost[Resource::Instructions])
    }

    /// Perun's share of degraded resources (`pcr`): those that a run used `threshold` times as much of as the baseline,
    /// 0 to 1. Only of those that are the same in every run: parents are chosen by it, and the same seed of the random
    /// numbers must make the same choice; and of those that every campaign measures.
    pub fn degraded_share(&self, cost: &Cost, threshold: f64) -> f64 {
        let (mut resources, mut degraded) = (0, 0);
        let counts = |resource: &Resource| resource.is_deterministic() && resource.is_always_measured();
        for resource in Resource::ALL.into_iter().filter(counts) {
            resources += 1;
            degraded += u32::from(resource.ratio(cost[resource], self.cost[resource]) >= threshold);
        }
        f64::from(degraded) / f64::from(resources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(instructions: u64, bytes: u64) -> (Cost, u64) {
        (Cost::from([(Resource::Instructions, instructions), (Resource::Stack, 1000)]), bytes)
    }

    #[test]
    fn the_baseline_is_the_median_seed() {
        let baseline = Baseline::of_seeds(&[seed(900, 1), seed(10, 5), seed(30, 7)]).unwrap();
        assert_eq!(
            (baseline.cost[Resource::Instructions], baseline.cost[Resource::Stack], baseline.bytes),
            (30, 1000, 5)
        );
        assert!((baseline.icovr(&seed(60, 0).0) - 2.0).abs() < 1e-12);
        assert_eq!(Baseline::of_seeds(&[]), None);
        assert_eq!(Baseline::of_seeds(&[seed(0, 0)]).unwrap().cost[Resource::Instructions], 1);
    }

    #[test]
    fn the_degraded_share_counts_resources() {
        let baseline = Baseline::of_seeds(&[seed(100, 1)]).unwrap();
        assert_eq!(baseline.degraded_share(&seed(199, 1).0, 2.0), 0.0);
        let worse = Cost::from([(Resource::Instructions, 200), (Resource::Stack, 2000)]);
        assert_eq!(baseline.degraded_share(&worse, 2.0), 2.0 / 6.0);
        let mut slower = worse;
        (slower[Resource::Time], slower[Resource::Cycles]) = (1_000_000_000, 1_000_000_000);
        assert_eq!(baseline.degraded_share(&slower, 2.0), 2.0 / 6.0, "a clock decides");
    }
}
