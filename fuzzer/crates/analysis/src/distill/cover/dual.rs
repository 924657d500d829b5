//! Lower bound of the weight of covers by Lagrangian relaxation, and covers that its multipliers lead to (J. E.
//! Beasley, A Lagrangian heuristic for set-covering problems, 1990).
//!
//! Each feature gets a multiplier of at least 0, which rows earn for covering it. For any multipliers, their sum and all
//! negative reduced weights (weights of rows less what they earn) are no more than the weight of any cover. Subgradient
//! steps raise that bound: the multiplier of a feature that no row with a negative reduced weight has is raised, that of
//! one that several have is lowered.

use super::{
    core::{Core, sum},
    greedy,
};

/// Entries of the cover that all steps together may visit.
const MOST_WORK: usize = 1_000_000_000;

/// Largest number of steps.
const MOST_STEPS: usize = 1500;

/// Steps without a better bound after which they become half as long.
const PATIENCE: u32 = 15;

/// Length of steps, relative to the gap, at the start, and below which they end.
const STEP: (f64, f64) = (1.0, 0.002);

/// Steps between covers.
const STEPS_OF_COVER: usize = 5;

/// Binary digits behind the point of multipliers in the exact bound.
const FRACTION: u32 = 24;

/// A cover and a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounded {
    /// Rows of the best known cover, ascending.
    pub chosen: Vec<u32>,
    /// Lower bound of the weight of a cover.
    pub bound: u64,
    /// Rows that no cover lighter than `chosen` has.
    pub useless: Vec<bool>,
}

/// Improves the bound, and the cover `chosen`, until they meet or further steps do little.
pub(super) fn improve(core: &Core, mut chosen: Vec<u32>) -> Bounded {
    let mut best = sum(&core.weights, &chosen);
    let mut multipliers = start(core);
    let mut highest = (exact(core, &multipliers), multipliers.clone());
    let (mut length, mut futile) = (STEP.0, 0);
    let mut reduced = Vec::new();
    let steps = (MOST_WORK / core.entries().max(1) / 3).clamp(20, MOST_STEPS);
    let mut last_float = f64::MIN;
    for step in 0..steps {
        let bound = reduce(core, &multipliers, &mut reduced);
        if bound > last_float {
            (last_float, futile) = (bound, 0);
            let exact = exact(core, &multipliers);
            if exact > highest.0 {
                highest = (exact, multipliers.clone());
            }
        } else {
            futile += 1;
            if futile == PATIENCE {
                (length, futile) = (length / 2.0, 0);
            }
        }
        if step % STEPS_OF_COVER == 0 || futile == 0 {
            let paying = (0..core.sets.len() as u32).filter(|&row| reduced[row as usize] <= 0.0).collect();
            let least = |row: usize| reduced[row].max(core.weights[row] as f64 * 1e-9);
            let cover = greedy::complete(core, paying, least);
            let weight = sum(&core.weights, &cover);
            if weight < best {
                (best, chosen) = (weight, cover);
            }
        }
        if highest.0 >= best || length < STEP.1 {
            break;
        }
        if !walk(core, &reduced, &mut multipliers, |norm| length * (1.01 * best as f64 - bound) / norm) {
            break;
        }
    }
    let (bound, multipliers) = highest;
    let useless = useless(core, &multipliers, best);
    Bounded { chosen, bound: bound.min(best), useless }
}

/// Multipliers to start with: the least weight for each feature of a row that has it.
fn start(core: &Core) -> Vec<f64> {
    let mut multipliers = vec![f64::MAX; core.features];
    for (set, &weight) in core.sets.iter().zip(&core.weights) {
        let share = weight as f64 / set.len() as f64;
        for &feature in set {
            let multiplier = &mut multipliers[feature as usize];
            *multiplier = multiplier.min(share);
        }
    }
    multipliers
}

/// Computes the reduced weights, and the bound by them.
fn reduce(core: &Core, multipliers: &[f64], reduced: &mut Vec<f64>) -> f64 {
    reduced.clear();
    reduced.extend(
        core.sets.iter().zip(&core.weights).map(|(set, &weight)| {
            weight as f64 - set.iter().map(|&feature| multipliers[feature as usize]).sum::<f64>()
        }),
    );
    multipliers.iter().sum::<f64>() + reduced.iter().map(|weight| weight.min(0.0)).sum::<f64>()
}

/// Makes a step along the subgradient, whose length follows from the square of its norm. Returns false if that is 0.
fn walk(core: &Core, reduced: &[f64], multipliers: &mut [f64], length: impl Fn(f64) -> f64) -> bool {
    let mut slopes = vec![1_i64; core.features];
    for (set, _) in core.sets.iter().zip(reduced).filter(|(_, weight)| **weight < 0.0) {
        set.iter().for_each(|&feature| slopes[feature as usize] -= 1);
    }
    // a multiplier of 0 cannot be lowered
    let movable = |slope: i64, multiplier: f64| slope > 0 || (slope < 0 && multiplier > 0.0);
    let squares = slopes.iter().zip(&*multipliers).filter(|&(&slope, &multiplier)| movable(slope, multiplier));
    let norm: f64 = squares.map(|(&slope, _)| (slope * slope) as f64).sum();
    if norm == 0.0 {
        return false;
    }
    let length = length(norm);
    for (multiplier, &slope) in multipliers.iter_mut().zip(&slopes) {
        *multiplier = (*multiplier + length * slope as f64).max(0.0);
    }
    true
}

/// Reduced weights by these multipliers, and the bound, both without rounding.
fn exactly(core: &Core, multipliers: &[f64]) -> (Vec<i128>, i128) {
    // whole numbers of 2^-FRACTION
    let scale = f64::from(1_u32 << FRACTION);
    let multipliers: Vec<i128> = multipliers.iter().map(|multiplier| (multiplier * scale).floor() as i128).collect();
    let reduced = |(set, &weight): (&Vec<u32>, &u64)| {
        (i128::from(weight) << FRACTION) - set.iter().map(|&feature| multipliers[feature as usize]).sum::<i128>()
    };
    let reduced: Vec<i128> = core.sets.iter().zip(&core.weights).map(reduced).collect();
    let bound = multipliers.iter().sum::<i128>() + reduced.iter().map(|&weight| weight.min(0)).sum::<i128>();
    (reduced, bound)
}

/// Bound by these multipliers, rounded up: weights are whole numbers.
fn exact(core: &Core, multipliers: &[f64]) -> u64 {
    let one = 1_i128 << FRACTION;
    u64::try_from((exactly(core, multipliers).1 + one - 1).div_euclid(one)).unwrap_or(0)
}

/// Rows with which the bound exceeds the weight `best`.
fn useless(core: &Core, multipliers: &[f64], best: u64) -> Vec<bool> {
    let (reduced, bound) = exactly(core, multipliers);
    // a lighter cover weighs at least 1 less
    let most = i128::from(best.saturating_sub(1)) << FRACTION;
    reduced.iter().map(|&weight| bound + weight.max(0) > most).collect()
}
