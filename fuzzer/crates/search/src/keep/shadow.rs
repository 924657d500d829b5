//! Success of mutants with a mask and without (`--shadow-mask`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use quagmire_mutators::kinds::{Source, TargetKind};

/// Number of mutants, and of those that reach their goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// All mutants.
    pub mutants: u64,
    /// Mutants that reach the goal.
    pub hits: u64,
}

impl Share {
    /// Share of mutants that reach the goal, 0 to 1; 0 without mutants.
    pub fn share(self) -> f64 {
        self.hits as f64 / self.mutants.max(1) as f64
    }
}

/// Shares with a mask and without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Mutants with a mask, which are run anyway.
    pub masked: Share,
    /// Mutants without a mask, run only for comparison.
    pub plain: Share,
}

/// Shares for each kind of goal and each source of mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    rows: BTreeMap<(TargetKind, Source), Row>,
}

impl Shadow {
    /// Counts a mutant of this kind of goal and this source; `hit` tells whether it reached the goal.
    pub fn count(&mut self, kind: TargetKind, source: Source, masked: bool, hit: bool) {
        let row = self.rows.entry((kind, source)).or_default();
        let share = if masked { &mut row.masked } else { &mut row.plain };
        share.mutants += 1;
        share.hits += u64::from(hit);
    }

    /// Rows of the table: kind of goal, source of the mutants, shares.
    pub fn rows(&self) -> impl Iterator<Item = (TargetKind, Source, Row)> {
        self.rows.iter().map(|(&(kind, source), &row)| (kind, source, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept_by_target_source_and_mask() {
        let mut shadow = Shadow::default();
        for hit in [true, true, false, true] {
            shadow.count(TargetKind::Branch, Source::Havoc, true, hit);
        }
        shadow.count(TargetKind::Branch, Source::Havoc, false, false);
        let rows: Vec<_> = shadow.rows().collect();
        let row = Row { masked: Share { mutants: 4, hits: 3 }, plain: Share { mutants: 1, hits: 0 } };
        assert_eq!(rows, [(TargetKind::Branch, Source::Havoc, row)]);
        assert_eq!((row.masked.share(), Share::default().share()), (0.75, 0.0));
    }
}
