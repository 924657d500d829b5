//! Rare branches and masks in `summary.json`.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use quagmire_mutators::kinds::{GoalKind, Source};

/// Rare branches, as in FairFuzz; on several cores, of those that the first client works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rare {
    /// Number of rare branches now.
    pub branches: u64,
    /// Rarity cutoff: branches with no more hits are rare.
    pub cutoff: u64,
    /// Rare branches that are left alone for a while: they could not be hit again, or are too expensive.
    pub paused: u64,
    /// Number of times that ordinary mutation took over since rare branches brought nothing new.
    pub bootstraps: u64,
}

/// Costs and finds of masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masks {
    /// Inputs that got a mask for a goal, after they were trimmed to it.
    pub computed: u64,
    /// Bytes of these inputs, after trimming.
    pub bytes: u64,
    /// Executions for computing masks.
    pub executions: u64,
    /// Executions for trimming.
    pub trimming: u64,
    /// Mutants made with a mask.
    pub mutants: u64,
    /// Mutants made with a mask that reached its goal.
    pub hits: u64,
    /// Mutants made with a mask that were kept.
    pub kept: u64,
}

impl AddAssign for Masks {
    fn add_assign(&mut self, other: Self) {
        let Self { computed, bytes, executions, trimming, mutants, hits, kept } = other;
        self.computed += computed;
        self.bytes += bytes;
        self.executions += executions;
        self.trimming += trimming;
        self.mutants += mutants;
        self.hits += hits;
        self.kept += kept;
    }
}

/// Success of mutants of one kind, with a mask and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// Kind of goal.
    #[serde(default)]
    pub goal: GoalKind,
    /// Same kind, under the key of earlier versions.
    pub target: GoalKind,
    /// Stage that made the mutants.
    pub stage: Source,
    /// Mutants with a mask.
    pub masked_mutants: u64,
    /// Mutants with a mask that reached the goal.
    pub masked_hits: u64,
    /// Mutants without a mask.
    pub plain_mutants: u64,
    /// Mutants without a mask that reached the goal.
    pub plain_hits: u64,
}

impl Shadow {
    /// Adds the rows of another client to those of the same kind.
    pub fn add_all(rows: &mut Vec<Self>, others: &[Self]) {
        for other in others {
            let Some(row) = rows.iter_mut().find(|row| (row.target, row.stage) == (other.target, other.stage)) else {
                rows.push(*other);
                continue;
            };
            row.masked_mutants += other.masked_mutants;
            row.masked_hits += other.masked_hits;
            row.plain_mutants += other.plain_mutants;
            row.plain_hits += other.plain_hits;
        }
        rows.sort_by_key(|row| (row.target, row.stage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_clients_are_added_by_target_and_stage() {
        let row = |target, stage, mutants| Shadow {
            goal: target,
            target,
            stage,
            masked_mutants: mutants,
            masked_hits: mutants / 2,
            plain_mutants: mutants + 1,
            plain_hits: 1,
        };
        let mut rows = vec![row(GoalKind::Branch, Source::Rules, 10)];
        let others = [row(GoalKind::Branch, Source::Rules, 4), row(GoalKind::Branch, Source::Havoc, 6)];
        Shadow::add_all(&mut rows, &others);
        let both = Shadow { plain_mutants: 16, plain_hits: 2, ..row(GoalKind::Branch, Source::Rules, 14) };
        assert_eq!(rows, [others[1], both]);
    }
}
