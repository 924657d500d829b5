//! Weighted set cover: a row is an input with the features that its run has, and the rows of the least weight that have all
//! features are looked for, with a lower bound that proves how far from it they are at most.
//!
//! Rows that are the only one with some feature are taken, dominated rows and implied features are dropped, again and again. What is
//! left is covered greedily by weight for each feature, pruned, and improved by Lagrangian relaxation, whose
//! multipliers are the proof.

mod core;
mod dual;
mod greedy;

use self::core::{Core, sum};
use super::rows::Rows;

/// Rounds of relaxation, each on what the one before has not ruled out.
const ROUNDS: usize = 4;

/// Rows of a cover, and how light a cover can be at best.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Solution {
    /// Rows of the cover, ascending.
    pub rows: Vec<u32>,
    /// Rows of them that have a feature which no other row has.
    pub essentials: Vec<u32>,
    /// Weight of the cover.
    pub weight: u64,
    /// Lower bound of the weight of a cover.
    pub bound: u64,
}

/// Covers all features of `rows`, which have these weights.
pub(crate) fn solve(rows: &Rows, weights: &[u64]) -> Solution {
    let (essentials, mut core) = essentials_and_rest(rows, weights);
    let mut chosen = essentials.clone();
    chosen.extend(core.reduce());
    let forced = sum(weights, &chosen);
    let (rest, bound) = cover(core, weights);
    chosen.extend(rest);
    chosen.sort_unstable();
    let weight = sum(weights, &chosen);
    Solution { rows: chosen, essentials, weight, bound: forced.saturating_add(bound) }
}

/// Names of the rows of a cover, and a lower bound of the weight of any. `weights` are those of rows by their names.
fn cover(mut core: Core, weights: &[u64]) -> (Vec<u32>, u64) {
    let mut best: Option<(u64, Vec<u32>)> = None;
    let mut taken: Vec<u32> = Vec::new();
    let mut bound = 0;
    for _ in 0..ROUNDS {
        let greedy = greedy::complete(&core, Vec::new(), |row| core.weights[row] as f64);
        let found = dual::improve(&core, greedy);
        let taken_weight = sum(weights, &taken);
        let weight = taken_weight.saturating_add(sum(&core.weights, &found.chosen));
        if best.as_ref().is_none_or(|(least, _)| weight < *least) {
            let rows = found.chosen.iter().map(|&row| core.names[row as usize]).chain(taken.iter().copied());
            best = Some((weight, rows.collect()));
        }
        // covers without the useless rows are no lighter than this, and those with them no lighter than the best
        bound = bound.max(taken_weight.saturating_add(found.bound));
        let least = best.as_ref().map_or(0, |(least, _)| *least);
        if bound >= least {
            break;
        }
        let before = core.sets.len();
        let rows: Vec<bool> = found.useless.iter().map(|useless| !useless).collect();
        if is_without_cover(&core, &rows) {
            // only rows that a lighter cover cannot have would cover all: there is none
            bound = least;
            break;
        }
        core.keep(&rows, &vec![true; core.features]);
        taken.extend(core.reduce());
        if core.sets.len() == before {
            break;
        }
    }
    let (least, rows) = best.unwrap_or_default();
    (rows, bound.min(least))
}

/// Whether some feature is in none of these rows.
fn is_without_cover(core: &Core, rows: &[bool]) -> bool {
    let mut is_covered = vec![false; core.features];
    for (set, _) in core.sets.iter().zip(rows).filter(|(_, is_kept)| **is_kept) {
        set.iter().for_each(|&feature| is_covered[feature as usize] = true);
    }
    is_covered.contains(&false)
}

/// Rows that are the only one with some feature, and the problem that they leave open. Of features that are in the same rows, it has
/// one. Reads the rows three times, and holds no others than those of the rest.
fn essentials_and_rest(rows: &Rows, weights: &[u64]) -> (Vec<u32>, Core) {
    let mut set = Vec::new();
    // for each feature, its number of rows, the last of them, and a hash of all
    let mut columns = vec![(0_u32, 0_u32, 0_u64); rows.features()];
    for row in 0..rows.len() as u32 {
        rows.read(row, &mut set);
        let term = mixed(row);
        for &feature in &set {
            let (number, last, hash) = &mut columns[feature as usize];
            (*number, *last, *hash) = (*number + 1, row, hash.wrapping_add(term));
        }
    }
    let mut essentials: Vec<u32> = columns.iter().filter(|(number, ..)| *number == 1).map(|&(_, row, _)| row).collect();
    essentials.sort_unstable();
    essentials.dedup();
    let mut is_open: Vec<bool> = columns.iter().map(|(number, ..)| *number > 1).collect();
    for &row in &essentials {
        rows.read(row, &mut set);
        set.iter().for_each(|&feature| is_open[feature as usize] = false);
    }
    let mut known = std::collections::HashSet::new();
    for (&(number, last, hash), is_open) in columns.iter().zip(&mut is_open).filter(|(_, is_open)| **is_open) {
        *is_open = known.insert((number, last, hash));
    }
    drop((columns, known));
    let (mut sets, mut names) = (Vec::new(), Vec::new());
    for row in 0..rows.len() as u32 {
        rows.read(row, &mut set);
        set.retain(|&feature| is_open[feature as usize]);
        if !set.is_empty() {
            sets.push(set.clone());
            names.push(row);
        }
    }
    let weights = names.iter().map(|&row| weights[row as usize]).collect();
    (essentials, Core::new(sets, weights, names))
}

/// Well mixed bits of a number: the last steps of SplitMix64.
fn mixed(number: u32) -> u64 {
    let bits = u64::from(number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests;
