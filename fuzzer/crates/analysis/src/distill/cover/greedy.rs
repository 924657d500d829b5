//! Weighted greedy choice of a cover, and reverse pruning of it.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::core::Core;

/// Price of a row for each feature that it would cover, ordered as numbers are. Never NaN: prices are finite, and
/// divided by at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Price(f64);

impl Eq for Price {}

impl Ord for Price {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Price {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Completes the rows `chosen` to a cover: always by the row whose `price`, at least 0, is the least for each feature
/// that it adds. Prunes it then. Returns its rows, ascending.
pub(super) fn complete(core: &Core, mut chosen: Vec<u32>, price: impl Fn(usize) -> f64) -> Vec<u32> {
    let mut is_covered = vec![false; core.features];
    for &row in &chosen {
        core.sets[row as usize].iter().for_each(|&feature| is_covered[feature as usize] = true);
    }
    let mut open = is_covered.iter().filter(|covered| !**covered).count();
    let gain = |row: usize, is_covered: &[bool]| {
        core.sets[row].iter().filter(|&&feature| !is_covered[feature as usize]).count()
    };
    let offer = |row: usize, gain: usize| Reverse((Price(price(row) / gain as f64), row, gain));
    let rows = (0..core.sets.len()).map(|row| (row, gain(row, &is_covered)));
    let mut offers: BinaryHeap<_> = rows.filter(|(_, gain)| *gain > 0).map(|(row, gain)| offer(row, gain)).collect();
    while open > 0 {
        let Some(Reverse((_, row, promised))) = offers.pop() else { break };
        // an offer only gets worse: one that still holds is the best
        let now = gain(row, &is_covered);
        if now == promised {
            chosen.push(row as u32);
            core.sets[row].iter().for_each(|&feature| is_covered[feature as usize] = true);
            open -= now;
        } else if now > 0 {
            offers.push(offer(row, now));
        }
    }
    prune(core, chosen)
}

/// Removes rows that others of the cover make superfluous, the heaviest first. Returns the rest, ascending.
fn prune(core: &Core, mut chosen: Vec<u32>) -> Vec<u32> {
    let mut covers = vec![0_u32; core.features];
    for &row in &chosen {
        core.sets[row as usize].iter().for_each(|&feature| covers[feature as usize] += 1);
    }
    chosen.sort_by_key(|&row| (Reverse(core.weights[row as usize]), core.sets[row as usize].len(), Reverse(row)));
    chosen.retain(|&row| {
        let set = &core.sets[row as usize];
        let is_needed = set.iter().any(|&feature| covers[feature as usize] == 1);
        if !is_needed {
            set.iter().for_each(|&feature| covers[feature as usize] -= 1);
        }
        is_needed
    });
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greedy_choice_is_by_weight_for_each_feature_and_what_it_makes_superfluous_goes() {
        let sets = vec![vec![0, 1], vec![2, 3], vec![1, 2, 3], vec![0]];
        let core = Core::new(sets, vec![3, 2, 1, 9], vec![0, 1, 2, 3]);
        let price = |row: usize| core.weights[row] as f64;
        assert_eq!(complete(&core, Vec::new(), price), [0, 2]);
        assert_eq!(complete(&core, vec![1, 3], price), [2, 3]);
    }
}
