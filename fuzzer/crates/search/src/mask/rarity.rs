//! FairFuzz's rarity cutoff.

/// Computes the rarity cutoff from the hits of the least hit branch: the smallest power of two that is not below them.
/// Branches with no more hits are rare. The cutoff rises with the hits, so there is always a rare branch.
pub fn cutoff(least: u64) -> u64 {
    least.max(1).checked_next_power_of_two().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::cutoff;

    #[test]
    fn the_cutoff_is_the_next_power_of_two() {
        assert_eq!([0, 1, 2, 3, 16, 19, u64::MAX].map(cutoff), [1, 1, 2, 4, 16, 32, u64::MAX]);
    }
}
