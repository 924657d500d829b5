//! Perun's choice of a parent: an interval of the ranking by score, higher ones preferred, then an even choice within
//! it.

use std::num::NonZeroUsize;

use libafl_bolts::rands::Rand;
use quagmire_mutators::draw::place_of;

/// Number of intervals.
pub const INTERVALS: usize = 5;

/// Draws the place of a parent among `parents` that are sorted by score, the lowest first. They are divided into five
/// intervals of nearly equal size (sizes differ by one at most, and every parent is in one). An interval is drawn with
/// weight 1 for the lowest to 5 for the highest scores, then a parent evenly within it. With fewer than five parents,
/// all are equally likely.
pub fn draw<R: Rand>(parents: NonZeroUsize, rand: &mut R) -> usize {
    if parents.get() < INTERVALS {
        return rand.below(parents);
    }
    const WEIGHTS: usize = INTERVALS * (INTERVALS + 1) / 2;
    let interval = place_of(1..=INTERVALS, rand.below_or_zero(WEIGHTS)).unwrap_or(0);
    let bound = |interval: usize| interval * parents.get() / INTERVALS;
    bound(interval) + rand.below_or_zero(bound(interval + 1) - bound(interval))
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::StdRand;

    use super::*;

    fn histogram(parents: usize, draws: usize) -> Vec<usize> {
        let mut rand = StdRand::with_seed(7);
        let mut drawn = vec![0; parents];
        for _ in 0..draws {
            drawn[draw(NonZeroUsize::new(parents).unwrap(), &mut rand)] += 1;
        }
        drawn
    }

    #[test]
    fn intervals_are_drawn_by_linear_weights() {
        let drawn = histogram(5, 150_000);
        for (place, &count) in drawn.iter().enumerate() {
            let expected = 10_000 * (place + 1);
            assert!(count.abs_diff(expected) < expected / 10, "{drawn:?}");
        }
    }

    #[test]
    fn every_parent_can_be_drawn_whatever_their_number() {
        for parents in [1, 2, 4, 5, 6, 7, 8, 9, 11, 103] {
            assert!(histogram(parents, 60_000).iter().all(|&count| count > 0), "{parents}");
        }
    }

    #[test]
    fn fewer_than_five_parents_are_drawn_evenly() {
        let drawn = histogram(3, 30_000);
        assert!(drawn.iter().all(|&count| count.abs_diff(10_000) < 500), "{drawn:?}");
    }
}
