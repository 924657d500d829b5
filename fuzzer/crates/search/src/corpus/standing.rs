//! Figures and counts of an entry that decide at which edges, buckets and totals it is the best.

use serde::{Deserialize, Serialize};

use quagmire_cost::resource::Cost;
use quagmire_execution::region::Region;

/// Figures of an entry that decide what it is best at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Cost of its run.
    pub cost: Cost,
    /// Cost by which it may be the most expensive one: that of its run, or of the places that the search works towards.
    pub counted: Cost,
    /// Size in bytes.
    pub bytes: u64,
    /// Sort key of the counted cost, by [`Objective::key`](super::objective::Objective::key).
    pub key: u64,
    /// Perun's score, above 0: how good a parent it is.
    pub score: f64,
}

/// Counts of a function in a run.
#[derive(Clone, Copy, Debug)]
pub struct CountsOfFunction<'a> {
    /// Number of its first edge.
    pub first: usize,
    /// Counts of its branches, followed by its progress slots.
    pub all: &'a [u32],
    /// Number of its branches.
    pub branches: usize,
    /// Number of its first charge, and its charges.
    pub charges: (usize, &'a [u32]),
}

impl<'a> CountsOfFunction<'a> {
    /// Creates the counts of a function that has nothing but branches.
    #[cfg(test)]
    pub(crate) fn branches(first: usize, all: &'a [u32]) -> Self {
        Self { first, all, branches: all.len(), charges: (first + all.len(), &[]) }
    }
}

/// Edges, and charges, whose largest counts make an entry top-rated.
#[derive(Clone, Copy, Debug)]
pub enum Maxima<'a> {
    /// All of them.
    All,
    /// None of them.
    None,
    /// Those of a part of the program.
    Of(&'a Region),
}

impl Maxima<'_> {
    /// Whether an edge is one of them.
    pub(super) fn have(self, edge: usize) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Of(region) => region.has(edge),
        }
    }
}
