//! Names of the kinds of mutants in results.

use serde::{Deserialize, Serialize};

/// Kinds of goals of masks.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum GoalKind {
    /// The run hits a branch.
    #[default]
    Branch,
    /// The run executes an edge at least as often; only in results of earlier versions.
    Edge,
    /// The run keeps a cost.
    Cost,
}

impl GoalKind {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Deterministic edits, one after the other.
    Deterministic,
    /// Mutants whose first operator is one of LibAFL's mutations.
    Havoc,
    /// Mutants whose first operator is a rule.
    Rules,
}
