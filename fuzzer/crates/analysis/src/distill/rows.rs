//! Features of many inputs, compactly: ascending numbers as differences in one to five bytes, and rows with the same
//! features only once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Rows of features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    /// For each row, where its bytes end.
    ends: Vec<usize>,
    /// Rows by hash of their bytes.
    known: HashMap<u64, Vec<u32>>,
    hasher: RandomState,
    /// For each number that was pushed, the number of the feature; `None` as long as rows are pushed.
    numbers: Option<Vec<Option<u32>>>,
    features: usize,
}

impl Rows {
    /// Adds a row of these numbers, unless there is one. Returns its number.
    pub(crate) fn push(&mut self, numbers: &mut Vec<u32>) -> u32 {
        numbers.sort_unstable();
        numbers.dedup();
        let start = self.bytes.len();
        let mut last = 0;
        for &number in numbers.iter() {
            let mut difference = number - last;
            while difference >= 1 << 7 {
                self.bytes.push(difference as u8 | 1 << 7);
                difference >>= 7;
            }
            self.bytes.push(difference as u8);
            last = number;
        }
        let (before, row) = self.bytes.split_at(start);
        let same_hash = self.known.entry(self.hasher.hash_one(row)).or_default();
        let bytes_of = |row: u32| {
            let row = row as usize;
            &before[if row == 0 { 0 } else { self.ends[row - 1] }..self.ends[row]]
        };
        if let Some(&known) = same_hash.iter().find(|&&known| bytes_of(known) == row) {
            self.bytes.truncate(start);
            return known;
        }
        let number = self.ends.len() as u32;
        same_hash.push(number);
        self.ends.push(self.bytes.len());
        number
    }

    /// Makes features of those numbers below `numbers` that are `live`; the others are not there any more. No row can
    /// be pushed then.
    pub(crate) fn finish(&mut self, numbers: u32, is_live: impl Fn(u32) -> bool) {
        let mut features = 0;
        let number = |number| {
            is_live(number).then(|| {
                features += 1;
                features - 1
            })
        };
        self.numbers = Some((0..numbers).map(number).collect());
        self.features = features as usize;
        self.known = HashMap::new();
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Number of features of all rows.
    pub(crate) fn features(&self) -> usize {
        self.features
    }

    /// Puts the features of a row into `into`, ascending.
    pub(crate) fn read(&self, row: u32, into: &mut Vec<u32>) {
        into.clear();
        let row = row as usize;
        let bytes = &self.bytes[if row == 0 { 0 } else { self.ends[row - 1] }..self.ends[row]];
        let (mut number, mut difference, mut shift) = (0_u32, 0_u32, 0);
        for byte in bytes {
            difference |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 1 << 7 == 0 {
                number += difference;
                (difference, shift) = (0, 0);
                match &self.numbers {
                    None => into.push(number),
                    Some(numbers) => into.extend(numbers.get(number as usize).copied().flatten()),
                }
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
        rows.finish(4, |number| number != 2 && number != 1);
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
