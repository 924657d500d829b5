//! Names of the kinds of mutants in results.

use serde::{Deserialize, Serialize};

/// Kinds of goals of masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// The run hits a branch.
    Branch,
    /// The run executes an edge at least as often.
    Edge,
    /// The run keeps a cost.
    Cost,
}

impl TargetKind {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Edge => "edge",
            Self::Cost => "cost",
        }
    }
}

/// Stages that produce masked mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Deterministic edits, one after the other.
    Deterministic,
    /// Mutants whose first operator is one of LibAFL's mutations.
    Havoc,
    /// Mutants whose first operator is a rule.
    Rules,
}
