//! Features of many inputs, compactly: ascending numbers as differences, and rows with the same features only once.

use indexmap::IndexSet;

/// Rows of features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Differences of the numbers of each row, in one to five bytes each, as postcard writes them.
    rows: IndexSet<Vec<u8>>,
    /// For each number that was pushed, the number of the feature; `None` as long as rows are pushed.
    numbers: Option<Vec<Option<u32>>>,
    features: usize,
}

impl Rows {
    /// Adds a row of these numbers, unless there is one. Returns its number.
    pub(crate) fn push(&mut self, numbers: &mut Vec<u32>) -> u32 {
        numbers.sort_unstable();
        numbers.dedup();
        let mut last = 0;
        let differences: Vec<u32> =
            numbers.iter().map(|&number| number - std::mem::replace(&mut last, number)).collect();
        let row = postcard::to_stdvec(&differences).expect("numbers can be written");
        self.rows.insert_full(row).0 as u32
    }

    /// Makes features of those numbers that are live; the others are not there any more. No row can be pushed then.
    pub(crate) fn finish(&mut self, is_live: &[bool]) {
        let mut features = 0_u32;
        let number = |&is_live: &bool| {
            features += u32::from(is_live);
            is_live.then(|| features - 1)
        };
        self.numbers = Some(is_live.iter().map(number).collect());
        self.features = features as usize;
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of features of all rows.
    pub(crate) fn features(&self) -> usize {
        self.features
    }

    /// Puts the features of a row into `into`, ascending.
    pub(crate) fn read(&self, row: u32, into: &mut Vec<u32>) {
        into.clear();
        let differences: Vec<u32> = postcard::from_bytes(&self.rows[row as usize]).expect("a row is as it was written");
        let mut number = 0;
        for difference in differences {
            number += difference;
            match &self.numbers {
                None => into.push(number),
                Some(numbers) => into.extend(numbers.get(number as usize).copied().flatten()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_with_the_same_features_are_one() {
        let mut rows = Rows::default();
        assert_eq!(rows.push(&mut vec![3, 1]), 0);
        assert_eq!(rows.push(&mut vec![]), 1);
        assert_eq!(rows.push(&mut vec![1, 3, 3]), 0);
        assert_eq!(rows.push(&mut vec![1]), 2);
        assert_eq!(rows.push(&mut vec![]), 1);
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn numbers_that_are_not_live_are_left_out_and_the_others_count_from_0() {
        let mut rows = Rows::default();
        rows.push(&mut vec![0, 2, 3]);
        rows.push(&mut vec![2]);
        rows.finish(&[true, false, false, true]);
        let mut read = Vec::new();
        rows.read(0, &mut read);
        assert_eq!((rows.features(), &*read), (2, &[0, 1][..]));
        rows.read(1, &mut read);
        assert!(read.is_empty());
    }

    proptest! {
        #[test]
        fn rows_are_read_as_they_were_pushed(sets in proptest::collection::vec(
            proptest::collection::btree_set(prop_oneof![0_u32..300, any::<u32>()], 0..20), 1..20)
        ) {
            let mut rows = Rows::default();
            let pushed: Vec<u32> = sets.iter().map(|set| rows.push(&mut set.iter().copied().collect())).collect();
            let mut read = Vec::new();
            for (set, row) in sets.iter().zip(pushed) {
                rows.read(row, &mut read);
                prop_assert_eq!(&read, &set.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
