//! Random amounts, log-uniform so that both tiny and huge changes happen.

use libafl_bolts::rands::{Rand, StdRand};

/// Maximum number of repetitions in one call: more add nothing and are expensive.
pub(super) const MOST_REPEATS: usize = 1 << 16;

/// Draws from `1..=max` so that every order of magnitude is equally likely; 0 if `max` is 0.
pub(super) fn log_uniform(rand: &mut StdRand, max: usize) -> usize {
    if max <= 1 {
        return max;
    }
    let exponent = rand.next_float() * (max as f64 + 1.0).ln();
    (exponent.exp() as usize).clamp(1, max)
}

/// Number of repetitions in a call of a rule: 1 in half of the calls, log-uniform up to `max()` in the others.
///
/// `max` is a function because some rules have to scan the input for it, and it is mostly not needed.
pub(super) fn repeats(rand: &mut StdRand, max: impl FnOnce() -> usize) -> usize {
    if rand.coinflip(0.5) { 1 } else { log_uniform(rand, max().clamp(1, MOST_REPEATS)) }
}

/// Place of a number among weights that lie side by side: the first one that the sum up to it exceeds. `None` if the sum
/// of all does not.
pub fn place_of(weights: impl IntoIterator<Item = usize>, mut number: usize) -> Option<usize> {
    weights.into_iter().position(|weight| match number.checked_sub(weight) {
        Some(rest) => {
            number = rest;
            false
        }
        None => true,
    })
}

/// Draws up to `k` positions in `bytes` whose byte `fits`, sorted and distinct.
///
/// Draws that coincide or do not fit are dropped, but the result has at least one position if any fits.
pub(super) fn positions(bytes: &[u8], k: usize, rand: &mut StdRand, fits: impl Fn(u8) -> bool) -> Vec<usize> {
    let mut drawn = Vec::with_capacity(k);
    if bytes.is_empty() {
        return drawn;
    }
    for _ in 0..k {
        let at = rand.below_or_zero(bytes.len());
        if fits(bytes[at]) {
            drawn.push(at);
        }
    }
    if drawn.is_empty() {
        let start = rand.below_or_zero(bytes.len());
        drawn.extend((start..bytes.len()).chain(0..start).find(|&at| fits(bytes[at])));
    }
    drawn.sort_unstable();
    drawn.dedup();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_stay_in_their_range_and_reach_both_ends() {
        let mut rand = StdRand::with_seed(1);
        let drawn: Vec<usize> = (0..10_000).map(|_| log_uniform(&mut rand, 50)).collect();
        assert_eq!(drawn.iter().min(), Some(&1));
        assert_eq!(drawn.iter().max(), Some(&50));
        assert_eq!(log_uniform(&mut rand, 0), 0);
        assert_eq!(log_uniform(&mut rand, 1), 1);
    }

    #[test]
    fn each_order_of_magnitude_is_equally_likely() {
        let mut rand = StdRand::with_seed(2);
        let small = (0..10_000).filter(|_| log_uniform(&mut rand, 999_999) < 1000).count();
        assert!((4_700..5_300).contains(&small), "{small} of 10000 are below the geometric middle");
    }

    #[test]
    fn about_half_of_the_calls_repeat_nothing() {
        let mut rand = StdRand::with_seed(3);
        let once = (0..10_000).filter(|_| repeats(&mut rand, || 1_000_000) == 1).count();
        assert!((4_800..6_000).contains(&once), "{once} of 10000 calls work once");
    }

    #[test]
    fn a_rare_byte_is_found() {
        let mut bytes = vec![0; 100_000];
        bytes[77_777] = 1;
        assert_eq!(positions(&bytes, 1, &mut StdRand::with_seed(4), |b| b == 1), [77_777]);
        assert!(positions(&bytes, 1, &mut StdRand::with_seed(4), |b| b == 2).is_empty());
    }
}
