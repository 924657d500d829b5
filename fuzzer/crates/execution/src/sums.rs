//! Counts of blocks without a counter: sums of other counts of their function, chosen by the pass
//! (`compiler-wrapper/passes/placement.h`).

use quagmire_cost::resource::{Cost, Resource};

/// Derived counts of a function. Counts are numbered: counters first, with the entry before all others, then the
/// sums, each after its parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums<'a> {
    /// For each sum: number of edges with this count, number of parts, numbers of the parts.
    words: &'a [u16],
}

impl<'a> Sums<'a> {
    /// Reads a table of the pass. A table that ends within a sum ends that sum.
    pub(crate) fn new(words: &'a [u16]) -> Self {
        Self { words }
    }

    /// For each sum, in order of their numbers: the number of edges with this count, and its parts.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u16, &'a [u16])> {
        let mut words = self.words;
        std::iter::from_fn(move || {
            let (&[edges, length], rest) = words.split_first_chunk()?;
            let (parts, rest) = rest.split_at(usize::from(length).min(rest.len()));
            words = rest;
            Some((edges, parts))
        })
    }

    /// Appends the counts of all sums to those of the counters. Missing parts count as 0; sums saturate.
    pub(crate) fn complete(self, counts: &mut Vec<u64>) {
        for (_, parts) in self.iter() {
            let sum = parts.iter().filter_map(|&part| counts.get(usize::from(part)));
            let sum = sum.fold(0u64, |all, &count| all.saturating_add(count));
            counts.push(sum);
        }
    }
}

/// Cost of a function, from the counts of its branches. Appends the derived counts to them.
pub(crate) fn add_up(counts: &mut Vec<u64>, instructions: &[u32], edges: &[u32], sums: Sums<'_>) -> Cost {
    let weighted =
        |weights: &[u32]| counts.iter().zip(weights).map(|(&count, &weight)| count * u64::from(weight)).sum();
    let (instructions, mut executed): (u64, u64) = (weighted(instructions), weighted(edges));
    let counters = counts.len();
    sums.complete(counts);
    executed += sums.iter().zip(&counts[counters..]).map(|((edges, _), &count)| count * u64::from(edges)).sum::<u64>();
    let hottest_edge = counts.iter().copied().max().unwrap_or(0);
    Cost::from([
        (Resource::Instructions, instructions),
        (Resource::Edges, executed),
        (Resource::HottestEdge, hottest_edge),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_may_be_of_sums() {
        let mut counts = vec![1, 10, 100];
        Sums::new(&[1, 2, 1, 2, 4, 2, 3, 0]).complete(&mut counts);
        assert_eq!(counts, [1, 10, 100, 110, 111]);
    }

    #[test]
    fn a_table_that_is_cut_off_or_names_parts_that_there_are_not_gives_small_sums() {
        for words in [&[1, 2, 0][..], &[1, 1, 7], &[1, 3, 0, 1, 9]] {
            let mut counts = vec![5];
            Sums::new(words).complete(&mut counts);
            assert!(counts.len() == 2 && counts[1] <= 5, "{counts:?}");
        }
    }

    #[test]
    fn costs_are_those_of_all_edges_and_exact_beyond_32_bits() {
        let cost =
            add_up(&mut vec![1, u64::from(u32::MAX), 9], &[3, u32::MAX, 0], &[1, 2, 0], Sums::new(&[5, 2, 1, 2]));
        assert_eq!(cost[Resource::Instructions], u64::from(u32::MAX) * u64::from(u32::MAX) + 3);
        assert_eq!(cost[Resource::Edges], 7 * u64::from(u32::MAX) + 46);
        assert_eq!(cost[Resource::HottestEdge], u64::from(u32::MAX) + 9, "a sum");
    }
}
