//! What the seeds cost: everything else is measured against it.

use serde::{Deserialize, Serialize};

/// Medians over the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Median instructions of a seed's run; at least 1.
    pub instructions: u64,
    /// Median size of the seeds, in bytes.
    pub bytes: u64,
}

impl Baseline {
    /// From (instructions, bytes) of every usable seed. `None` without one.
    pub fn of_seeds(seeds: &[(u64, u64)]) -> Option<Self> {
        let median = |mut values: Vec<u64>| {
            values.sort_unstable();
            values.get((values.len().max(1) - 1) / 2).copied()
        };
        Some(Self {
            instructions: median(seeds.iter().map(|s| s.0).collect())?.max(1),
            bytes: median(seeds.iter().map(|s| s.1).collect())?,
        })
    }

    /// `icovr`: how many times the baseline's instructions a run took (Perun's indicator of coverage).
    pub fn icovr(&self, instructions: u64) -> f64 {
        instructions as f64 / self.instructions as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_the_median_seed() {
        let baseline = Baseline::of_seeds(&[(900, 1), (10, 5), (30, 7)]).unwrap();
        assert_eq!(baseline, Baseline { instructions: 30, bytes: 5 });
        assert!((baseline.icovr(60) - 2.0).abs() < 1e-12);
        assert_eq!(Baseline::of_seeds(&[]), None);
        assert_eq!(Baseline::of_seeds(&[(0, 0)]).unwrap().instructions, 1);
    }
}
