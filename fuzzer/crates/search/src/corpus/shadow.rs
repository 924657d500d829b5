//! Success of mutants with a mask and without (`--experiment shadow-mask`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use quagmire_mutators::kinds::Source;

/// Number of mutants, and of those that reach their goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
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

/// Shares for each source of mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    rows: BTreeMap<Source, Row>,
}

impl Shadow {
    /// Counts a mutant of this source; `hit` tells whether it reached the goal.
    pub fn count(&mut self, source: Source, masked: bool, hit: bool) {
        let row = self.rows.entry(source).or_default();
        let share = if masked { &mut row.masked } else { &mut row.plain };
        share.mutants += 1;
        share.hits += u64::from(hit);
    }

    /// Rows of the table: source of the mutants, shares.
    pub fn rows(&self) -> impl Iterator<Item = (Source, Row)> {
        self.rows.iter().map(|(&source, &row)| (source, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept_by_source_and_mask() {
        let mut shadow = Shadow::default();
        for hit in [true, true, false, true] {
            shadow.count(Source::Havoc, true, hit);
        }
        shadow.count(Source::Havoc, false, false);
        let rows: Vec<_> = shadow.rows().collect();
        let row = Row { masked: Share { mutants: 4, hits: 3 }, plain: Share { mutants: 1, hits: 0 } };
        assert_eq!(rows, [(Source::Havoc, row)]);
        assert_eq!((row.masked.share(), Share::default().share()), (0.75, 0.0));
    }
}
