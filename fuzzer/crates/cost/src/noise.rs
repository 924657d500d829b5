//! Noise floor of an amount that differs from run to run, by which a search can follow it nevertheless.

use serde::{Deserialize, Serialize};

use super::judgement::LEAST_EFFECT;

/// Difference that counts as noise whatever the amounts are, in nanoseconds or cycles: reading a counter before and
/// after a run takes some tens of them, and not always as many.
const GRANULARITY: u64 = 200;

/// Relative noise where no seed was measured: the step by which maxima of counts have to rise.
const UNMEASURED: f64 = 0.125;

/// Amount by which minima of repeated runs of the same input differ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// Relative part: 0.05 is 5 %.
    pub relative: f64,
}

impl Default for NoiseFloor {
    fn default() -> Self {
        Self { relative: UNMEASURED }
    }
}

impl NoiseFloor {
    /// Computes the floor from several minima for each seed, of as many runs each as runs are repeated in the search:
    /// the largest relative spread of a seed's minima beyond the granularity of the clock, at least
    /// [`LEAST_EFFECT`], since smaller differences matter to nobody. A seed with one minimum says nothing.
    pub fn of(seeds: &[Vec<u64>]) -> Self {
        let spread = |minima: &Vec<u64>| {
            let (least, most) = (*minima.iter().min()?, *minima.iter().max()?);
            (minima.len() > 1).then(|| (most - least).saturating_sub(GRANULARITY) as f64 / least.max(1) as f64)
        };
        let largest = seeds.iter().filter_map(spread).reduce(f64::max);
        largest.map_or_else(Self::default, |spread| Self { relative: spread.max(LEAST_EFFECT) })
    }

    /// Whether `amount` exceeds `record` by more than the noise.
    pub fn is_above(self, amount: u64, record: u64) -> bool {
        amount as f64 > record as f64 * (1.0 + self.relative) + GRANULARITY as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_the_largest_spread_of_minima_beyond_the_granularity() {
        let floor = |seeds: &[&[u64]]| NoiseFloor::of(&seeds.iter().map(|one| one.to_vec()).collect::<Vec<_>>());
        assert_eq!(floor(&[&[10_000, 13_200, 11_000], &[50_000, 50_100]]).relative, 0.3);
        assert_eq!(floor(&[&[300, 450, 500]]).relative, LEAST_EFFECT, "all of it is granularity");
        assert_eq!(floor(&[&[1_000_000, 1_000_000]]).relative, LEAST_EFFECT);
        assert_eq!(floor(&[]), NoiseFloor::default());
        assert_eq!(floor(&[&[10_000]]), NoiseFloor::default());
        assert!(floor(&[&[0, 1_200]]).relative.is_finite());
    }

    #[test]
    fn what_is_above_the_noise_exceeds_both_parts_of_it() {
        let floor = NoiseFloor::of(&[vec![10_000, 11_200]]);
        assert_eq!(floor.relative, 0.1);
        assert!(!floor.is_above(11_200, 10_000) && floor.is_above(11_201, 10_000));
        assert!(!floor.is_above(200, 0) && floor.is_above(201, 0));
    }
}
