//! Mutation of choices as other tools do it, for comparison: QuickCheck's and Zest's.

use libafl_bolts::rands::{Rand, StdRand};

use quagmire_choices::draws::Log;

/// Mean number of places that Zest changes, and of bytes that it changes at each.
const PLACES: f64 = 8.0;
const BYTES: f64 = 4.0;

/// Longest input of random draws, in bytes: JQF's generators get as many.
const LONGEST: usize = 10_240;

/// Draws a number of at least 1 from the geometric distribution with this mean, which is more than 1.
pub(super) fn geometric(mean: f64, rand: &mut StdRand) -> usize {
    let trials = (1.0 - rand.next_float()).ln() / (1.0 - 1.0 / mean).ln();
    (trials.ceil() as usize).max(1)
}

/// Bytes for a generator that is to make any input.
pub(super) fn random_bytes(limit: usize, rand: &mut StdRand) -> Vec<u8> {
    (0..limit.min(LONGEST)).map(|_| rand.below_or_zero(256) as u8).collect()
}

/// Changes any bytes of the draws of `log`, as Zest does. `None` if it has drawn no bytes.
pub(super) fn change_any(log: &Log, rand: &mut StdRand) -> Option<Vec<u8>> {
    let ranges: Vec<_> = log.draw_ranges().map(|(_, range)| range).collect();
    let total: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    if total == 0 {
        return None;
    }
    let mut bytes = log.bytes.to_vec();
    let is_zero = rand.next_float() < 0.1;
    for _ in 0..geometric(PLACES, rand) {
        let mut place = rand.below_or_zero(total);
        let range = ranges.iter().find(|range| {
            let is_here = place < range.len();
            place = if is_here { place } else { place - range.len() };
            is_here
        })?;
        let length = geometric(BYTES, rand);
        for byte in bytes[range.clone()].iter_mut().skip(place).take(length) {
            *byte = if is_zero { 0 } else { rand.below_or_zero(256) as u8 };
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_numbers_have_their_mean() {
        let mut rand = StdRand::with_seed(1);
        let drawn: Vec<usize> = (0..20_000).map(|_| geometric(8.0, &mut rand)).collect();
        let mean = drawn.iter().sum::<usize>() as f64 / drawn.len() as f64;
        assert!((7.8..8.2).contains(&mean) && drawn.contains(&1), "{mean}");
    }
}
