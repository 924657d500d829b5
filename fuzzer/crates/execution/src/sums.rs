//! Counts of blocks without a counter: sums of other counts of their function, as the pass chose them
//! (`compiler-wrapper/passes/placement.h`).

/// Which counts of a function follow from others. Counts are numbered: first those of counters, the entry before all
/// others, then the sums, each behind its parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums<'a> {
    /// Of each sum the number of edges that it is the count of, how many parts it has, and their numbers.
    words: &'a [u16],
}

impl<'a> Sums<'a> {
    /// The sums that a table of the pass describes. Its end counts as the end of the last sum, wherever it is.
    pub(crate) fn new(words: &'a [u16]) -> Self {
        Self { words }
    }

    /// Of each sum, in the order of their numbers, the number of edges that it is the count of, and its parts.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u16, &'a [u16])> {
        let mut words = self.words;
        std::iter::from_fn(move || {
            let (&[edges, length], rest) = words.split_first_chunk()?;
            let (parts, rest) = rest.split_at(usize::from(length).min(rest.len()));
            words = rest;
            Some((edges, parts))
        })
    }

    /// Appends the counts of all sums to those of the counters. A part that there is not counts as 0; counts beyond
    /// `u64::MAX` are shown as that.
    pub(crate) fn complete(self, counts: &mut Vec<u64>) {
        for (_, parts) in self.iter() {
            let sum = parts.iter().filter_map(|&part| counts.get(usize::from(part)));
            let sum = sum.fold(0u64, |all, &count| all.saturating_add(count));
            counts.push(sum);
        }
    }
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
}
