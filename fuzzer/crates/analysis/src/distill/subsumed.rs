//! Who subsumes whom: for each input that is not in the corpus, the inputs that have all its features.

use super::rows::Rows;

/// Finds the rows of a corpus that subsume others.
pub(super) struct Subsumers<'a> {
    rows: &'a Rows,
    /// Rows of the corpus.
    kept: &'a [u32],
    /// For each feature, the rows of the corpus that have it, as bits; so many words for each.
    holders: Vec<u64>,
    words: usize,
    /// For each feature, the number of these rows.
    number: Vec<u32>,
}

impl<'a> Subsumers<'a> {
    /// Prepares for a corpus.
    pub(super) fn new(rows: &'a Rows, kept: &'a [u32]) -> Self {
        let words = kept.len().div_ceil(64);
        let mut holders = vec![0; rows.features() * words];
        let mut number = vec![0; rows.features()];
        let mut set = Vec::new();
        for (place, &row) in kept.iter().enumerate() {
            rows.read(row, &mut set);
            for &feature in &set {
                holders[feature as usize * words + place / 64] |= 1 << (place % 64);
                number[feature as usize] += 1;
            }
        }
        Self { rows, kept, holders, words, number }
    }

    /// Places in the corpus of rows that have all features of a row together: one if one has them, otherwise several,
    /// each of which has some that those before it lack. Empty for a row without features.
    pub(super) fn of(&self, row: u32) -> Vec<usize> {
        let mut open = Vec::new();
        self.rows.read(row, &mut open);
        open.sort_by_key(|&feature| (self.number[feature as usize], feature));
        let mut found = Vec::new();
        if let Some(one) = self.common(&open) {
            return vec![one];
        }
        let mut set = Vec::new();
        while let Some(&rarest) = open.first() {
            let mut best: Option<(usize, Vec<u32>)> = None;
            for place in places(self.holders(rarest)) {
                self.rows.read(self.kept[place], &mut set);
                let rest: Vec<u32> =
                    open.iter().copied().filter(|feature| set.binary_search(feature).is_err()).collect();
                if best.as_ref().is_none_or(|(_, least)| rest.len() < least.len()) {
                    best = Some((place, rest));
                }
            }
            let Some((place, rest)) = best else { break };
            found.push(place);
            open = rest;
        }
        found
    }

    /// First place of a row that has all these features; `None` if there is none, or no feature.
    fn common(&self, features: &[u32]) -> Option<usize> {
        let (&first, rest) = features.split_first()?;
        let mut common = self.holders(first).to_vec();
        for &feature in rest {
            let mut any = 0;
            for (common, holders) in common.iter_mut().zip(self.holders(feature)) {
                *common &= holders;
                any |= *common;
            }
            if any == 0 {
                return None;
            }
        }
        places(&common).next()
    }

    fn holders(&self, feature: u32) -> &[u64] {
        let start = feature as usize * self.words;
        &self.holders[start..start + self.words]
    }
}

/// Places of the bits that are set.
fn places(bits: &[u64]) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        let is_set = move |bit: &usize| bits >> bit & 1 == 1;
        (0..64).filter(is_set).map(move |bit| word * 64 + bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_subsumed_by_one_that_has_all_of_it_or_by_several_together() {
        let mut rows = Rows::default();
        for set in [&[0_u32, 1, 2][..], &[2, 3], &[3, 4], &[0, 2], &[1, 2, 3], &[]] {
            rows.push(&mut set.to_vec());
        }
        rows.finish(&[true; 5]);
        let kept = [0, 1, 2];
        let subsumers = Subsumers::new(&rows, &kept);
        assert_eq!(subsumers.of(3), [0]);
        assert_eq!(subsumers.of(1), [1]);
        assert_eq!(subsumers.of(4), [0, 1]);
        assert!(subsumers.of(5).is_empty());
    }

    #[test]
    fn corpora_may_have_more_rows_than_a_word_has_bits() {
        let mut rows = Rows::default();
        for feature in 0..200 {
            rows.push(&mut vec![feature, feature + 1]);
        }
        rows.finish(&[true; 201]);
        let kept: Vec<u32> = (0..200).step_by(2).collect();
        let subsumers = Subsumers::new(&rows, &kept);
        // features 131 and 132: of the rows 130 and 132
        assert_eq!(subsumers.of(131), [65, 66]);
    }
}
