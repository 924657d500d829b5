//! The baseline: median cost and size of the seeds. Costs are reported as multiples of it.

use serde::{Deserialize, Serialize};

use super::resource::{Cost, Resource};

/// Medians over the seeds of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Median amount of each resource over the runs of the seeds; instructions are at least 1.
    pub cost: Cost,
    /// Median size of the seeds, in bytes.
    pub bytes: u64,
}

impl Baseline {
    /// Computes the medians from cost and size (in bytes) of every usable seed; of an even number, the lower of the
    /// middle two. `None` without seeds.
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

    /// Instructions of a run as a multiple of the baseline's: Perun's indicator of coverage (`icovr`).
    pub fn icovr(&self, cost: &Cost) -> f64 {
        Resource::Instructions.ratio(cost[Resource::Instructions], self.cost[Resource::Instructions])
    }

    /// Share of degraded resources, 0 to 1 (Perun's `pcr`): those of which a run used at least `threshold` times the
    /// baseline. Considers only resources that are deterministic, since parents are chosen by this share and the same
    /// `--seed` must choose the same ones, and only those that every campaign measures.
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
        let counted = Resource::ALL.iter().filter(|one| one.is_deterministic() && one.is_always_measured()).count();
        assert_eq!(baseline.degraded_share(&worse, 2.0), 2.0 / counted as f64);
        let mut slower = worse;
        (slower[Resource::Time], slower[Resource::Cycles]) = (1_000_000_000, 1_000_000_000);
        assert_eq!(baseline.degraded_share(&slower, 2.0), 2.0 / counted as f64, "a clock decides");
    }
}
