//! Names of the kinds of mutants, as results have them.

use serde::{Deserialize, Serialize};

/// Kinds of targets, as results name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// The run hits a branch.
    Branch,
    /// The run executes an edge as often.
    Edge,
    /// The run keeps a cost.
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

/// Where the mutants come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// One edit after the other.
    Deterministic,
    /// LibAFL's mutations, at least as the first.
    Havoc,
    /// Rules, at least as the first.
    Rules,
}
