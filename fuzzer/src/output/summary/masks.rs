//! Rare branches and masks in `summary.json`.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::{keep::shadow::Source, mask::TargetKind};

/// Branches that few runs hit, as FairFuzz has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rare {
    /// How many there are now.
    pub branches: u64,
    /// Branches that no more runs have hit are rare.
    pub cutoff: u64,
    /// Those that could not be hit again and are left alone for a while.
    pub paused: u64,
    /// How often ordinary mutation took over since rare branches brought nothing new.
    pub bootstraps: u64,
}

/// What masks cost and brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masks {
    /// Inputs that got a mask for a target, after they were trimmed to it.
    pub computed: u64,
    /// Bytes of these inputs, after trimming.
    pub bytes: u64,
    /// Executions for masks.
    pub executions: u64,
    /// Executions for trimming.
    pub trimming: u64,
    /// Mutants that were held to a mask.
    pub mutants: u64,
    /// Those of them that satisfied their target.
    pub hits: u64,
    /// Those of them that were kept.
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

/// How many mutants of one kind satisfy their target, with a mask and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// Kind of target.
    pub target: TargetKind,
    /// Where the mutants come from.
    pub stage: Source,
    /// Mutants with a mask.
    pub masked_mutants: u64,
    /// Those that satisfy the target.
    pub masked_hits: u64,
    /// Mutants without.
    pub plain_mutants: u64,
    /// Those that satisfy the target.
    pub plain_hits: u64,
}
