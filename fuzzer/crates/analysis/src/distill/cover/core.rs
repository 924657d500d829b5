//! Set cover in memory, and the reductions that leave its optimum as it is: inputs that only they can cover something
//! are taken, and inputs and features that others make superfluous are dropped, until nothing changes.

/// Steps of comparisons after which a round of reductions is given up: they only save work for what follows.
const MOST_STEPS: u64 = 400_000_000;

/// Weighted set cover: choose rows, so that each feature is in one of them, of the least weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Core {
    /// Features of each row, ascending.
    pub(super) sets: Vec<Vec<u32>>,
    /// Weight of each row.
    pub(super) weights: Vec<u64>,
    /// Name of each row: its number for the caller.
    pub(super) names: Vec<u32>,
    /// Number of features; each is in a row.
    pub(super) features: usize,
}

impl Core {
    /// Creates a cover of rows with these features, weights and names. Features that are in no row do not count.
    pub(super) fn new(sets: Vec<Vec<u32>>, weights: Vec<u64>, names: Vec<u32>) -> Self {
        let features = sets.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut core = Self { sets, weights, names, features };
        let rows = vec![true; core.sets.len()];
        let features = vec![true; core.features];
        core.keep(&rows, &features);
        core
    }

    /// Rows of each feature, ascending.
    pub(super) fn holders(&self) -> Vec<Vec<u32>> {
        let mut holders = vec![Vec::new(); self.features];
        for (row, set) in (0..).zip(&self.sets) {
            set.iter().for_each(|&feature| holders[feature as usize].push(row));
        }
        holders
    }

    /// Number of features of all rows.
    pub(super) fn entries(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }

    /// Keeps some rows and features. Drops rows without features, and numbers the features anew.
    pub(super) fn keep(&mut self, rows: &[bool], features: &[bool]) {
        let mut numbers = vec![u32::MAX; self.features];
        let mut kept = 0;
        let sets = std::mem::take(&mut self.sets);
        let (weights, names) = (std::mem::take(&mut self.weights), std::mem::take(&mut self.names));
        for (row, mut set) in sets.into_iter().enumerate().filter(|(row, _)| rows[*row]) {
            set.retain(|&feature| features[feature as usize]);
            if set.is_empty() {
                continue;
            }
            for feature in &mut set {
                let number = &mut numbers[*feature as usize];
                if *number == u32::MAX {
                    *number = kept;
                    kept += 1;
                }
                *feature = *number;
            }
            set.sort_unstable();
            self.sets.push(set);
            self.weights.push(weights[row]);
            self.names.push(names[row]);
        }
        self.features = kept as usize;
    }

    /// Reduces the cover until no reduction does more. Returns the names of rows that belong to some cover of the
    /// least weight: that weight is theirs and that of what is left.
    pub(super) fn reduce(&mut self) -> Vec<u32> {
        let mut taken = Vec::new();
        loop {
            let before = (self.sets.len(), self.features);
            self.take_essentials(&mut taken);
            self.drop_dominated_rows();
            self.drop_implied_features();
            if (self.sets.len(), self.features) == before {
                return taken;
            }
        }
    }

    /// Takes each row that has a feature alone, and drops the features that it covers.
    fn take_essentials(&mut self, taken: &mut Vec<u32>) {
        let mut rows = vec![true; self.sets.len()];
        let mut features = vec![true; self.features];
        for holders in self.holders() {
            let [only] = holders[..] else { continue };
            if std::mem::replace(&mut rows[only as usize], false) {
                taken.push(self.names[only as usize]);
                self.sets[only as usize].iter().for_each(|&covered| features[covered as usize] = false);
            }
        }
        self.keep(&rows, &features);
    }

    /// Drops each row whose features a row of no larger weight has as well.
    fn drop_dominated_rows(&mut self) {
        let (holders, signatures) = (self.holders(), signatures(&self.sets));
        let mut rows = vec![true; self.sets.len()];
        let mut steps = 0;
        let mut smallest_first: Vec<usize> = (0..rows.len()).collect();
        smallest_first.sort_by_key(|&row| self.sets[row].len());
        for row in smallest_first {
            let set = &self.sets[row];
            let Some(rarest) = set.iter().min_by_key(|&&feature| holders[feature as usize].len()) else { continue };
            let dominates = |&other: &u32| {
                let other = other as usize;
                let is_better = (self.weights[other], other) < (self.weights[row], row);
                // of equal rows, one stays
                let is_candidate = other != row
                    && rows[other]
                    && (is_better || (self.weights[other] == self.weights[row] && self.sets[other].len() > set.len()))
                    && self.sets[other].len() >= set.len()
                    && signatures[row] & !signatures[other] == 0;
                steps += 1;
                is_candidate && is_subset(set, &self.sets[other], &mut steps)
            };
            if holders[*rarest as usize].iter().any(dominates) {
                rows[row] = false;
            }
            if steps > MOST_STEPS {
                break;
            }
        }
        let features = vec![true; self.features];
        self.keep(&rows, &features);
    }

    /// Drops each feature that every row with some other feature has as well.
    fn drop_implied_features(&mut self) {
        let holders = self.holders();
        let signatures = signatures(&holders);
        let mut features = vec![true; self.features];
        let mut steps = 0;
        let mut rarest_first: Vec<usize> = (0..features.len()).collect();
        rarest_first.sort_by_key(|&feature| holders[feature].len());
        for feature in rarest_first {
            let rows = &holders[feature];
            if !features[feature] {
                continue;
            }
            let Some(&shortest) = rows.iter().min_by_key(|&&row| self.sets[row as usize].len()) else { continue };
            for &other in &self.sets[shortest as usize] {
                let other = other as usize;
                steps += 1;
                let is_candidate = other != feature
                    && features[other]
                    && (holders[other].len(), other)
                        > (rows.len(), if holders[other].len() == rows.len() { feature } else { 0 })
                    && signatures[feature] & !signatures[other] == 0;
                if is_candidate && is_subset(rows, &holders[other], &mut steps) {
                    features[other] = false;
                }
            }
            if steps > MOST_STEPS {
                break;
            }
        }
        let rows = vec![true; self.sets.len()];
        self.keep(&rows, &features);
    }
}

/// Weight of all these rows.
pub(super) fn sum(weights: &[u64], rows: &[u32]) -> u64 {
    rows.iter().fold(0, |sum: u64, &row| sum.saturating_add(weights[row as usize]))
}

/// A bit for each element of each set, of which several share one: if a set has a bit that another lacks, it is no
/// part of that.
fn signatures(sets: &[Vec<u32>]) -> Vec<u64> {
    let bit = |&element: &u32| 1 << (element.wrapping_mul(0x9e37_79b9) >> 26);
    sets.iter().map(|set| set.iter().map(bit).fold(0, |all: u64, bit: u64| all | bit)).collect()
}

/// Whether each element of `part` is in `whole`; both ascend.
fn is_subset(part: &[u32], whole: &[u32], steps: &mut u64) -> bool {
    let mut rest = whole;
    for element in part {
        *steps += 1;
        let place = rest.partition_point(|other| other < element);
        if rest.get(place) != Some(element) {
            return false;
        }
        rest = &rest[place + 1..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(rows: &[(u64, &[u32])]) -> Core {
        let sets = rows.iter().map(|(_, set)| set.to_vec()).collect();
        Core::new(sets, rows.iter().map(|(weight, _)| *weight).collect(), (0..rows.len() as u32).collect())
    }

    #[test]
    fn a_row_with_a_feature_of_its_own_is_taken_with_all_that_it_covers() {
        let mut core = core(&[(9, &[0, 1, 2]), (1, &[1, 2, 3]), (1, &[2, 3])]);
        assert_eq!(core.reduce(), [0, 1]);
        assert_eq!(core.sets.len(), 0);
    }

    #[test]
    fn of_equal_rows_the_first_of_the_lightest_stays() {
        let mut core = core(&[(2, &[0, 1]), (1, &[0, 1]), (1, &[0, 1])]);
        core.drop_dominated_rows();
        assert_eq!(core.names, [1]);
    }

    #[test]
    fn a_heavier_row_that_has_more_is_not_dropped() {
        let mut core = core(&[(5, &[0, 1, 2]), (1, &[0, 1]), (1, &[2]), (3, &[1])]);
        core.drop_dominated_rows();
        assert_eq!(core.names, [0, 1, 2]);
    }

    #[test]
    fn a_feature_that_comes_with_another_is_dropped_and_of_equal_ones_the_first_stays() {
        let mut core = core(&[(1, &[0, 1, 2]), (1, &[0, 1, 2, 3]), (1, &[1, 2, 3])]);
        core.drop_implied_features();
        // all rows with 0 have 1 and 2; 1 and 2 are in all rows; 3 is in others
        assert_eq!((core.features, core.sets), (2, vec![vec![0], vec![0, 1], vec![1]]));
    }
}
