//! Testing targets: what a run has to do to be of interest.

use serde::{Deserialize, Serialize};

use crate::target::counts::CountsObserver;

/// A predicate on a run. Masks, trimming, masked mutation and shadow runs know nothing else of it.
pub trait Target {
    /// Whether the run that `counts` shows does what is asked for. A run that ended early counts as far as it came.
    fn is_satisfied(&self, counts: &CountsObserver) -> bool;

    /// As it is called in results.
    fn kind(&self) -> TargetKind;
}

/// Kinds of targets, as results name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// [`Goal::HitsBranch`].
    Branch,
    /// [`Goal::KeepsHot`], of an edge.
    Edge,
    /// [`Goal::KeepsHot`], of the total cost.
    Cost,
}

impl TargetKind {
    /// As in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Edge => "edge",
            Self::Cost => "cost",
        }
    }
}

/// A mutant of an expensive input should keep this share of its cost.
const HOT_SHARE: f64 = 0.9;

/// The targets that campaigns use. Edges go by their numbers in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Goal {
    /// FairFuzz's: the run executes this edge.
    HitsBranch(u32),
    /// The run executes an edge at least so often, or without an edge, at least so many instructions: a slow structure is
    /// kept while the rest is varied.
    KeepsHot {
        /// Which.
        edge: Option<u32>,
        /// How often, or how many.
        least: u64,
    },
}

impl Goal {
    /// The run keeps nine tenths of the cost of an input that executes so many instructions.
    pub fn keeps_cost(instructions: u64) -> Self {
        Self::KeepsHot { edge: None, least: (instructions as f64 * HOT_SHARE) as u64 }
    }

    /// The run executes an edge nine tenths as often as an input that does so `count` times; once at least.
    pub fn keeps_edge(edge: u32, count: u32) -> Self {
        Self::KeepsHot { edge: Some(edge), least: ((f64::from(count) * HOT_SHARE) as u64).max(1) }
    }

    /// Whether a mask for one of them says much about the other, for an input that differs little.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::HitsBranch(one), Self::HitsBranch(another)) => one == another,
            (Self::KeepsHot { edge: one, .. }, Self::KeepsHot { edge: another, .. }) => one == another,
            _ => false,
        }
    }
}

impl Target for Goal {
    #[inline]
    fn is_satisfied(&self, counts: &CountsObserver) -> bool {
        match *self {
            Self::HitsBranch(edge) => counts.count(edge as usize) != 0,
            Self::KeepsHot { edge: Some(edge), least } => u64::from(counts.count(edge as usize)) >= least,
            Self::KeepsHot { edge: None, least } => counts.cost().instructions >= least,
        }
    }

    fn kind(&self) -> TargetKind {
        match self {
            Self::HitsBranch(_) => TargetKind::Branch,
            Self::KeepsHot { edge: Some(_), .. } => TargetKind::Edge,
            Self::KeepsHot { edge: None, .. } => TargetKind::Cost,
        }
    }
}
