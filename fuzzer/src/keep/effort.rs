//! What the search has spent on which aim. Shares are kept by work done and not by rounds: otherwise a few inputs that
//! are hundreds of times as expensive as the rest would take nearly all of the time.

use serde::{Deserialize, Serialize};

/// What a round is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim {
    /// New behaviour, from any input that is best at something, cheap ones first.
    #[default]
    Coverage,
    /// More cost, from the most expensive inputs.
    Cost,
}

/// Work that an execution is worth beside the target's own: mutating, digesting, judging. Instructions.
const OVERHEAD: u64 = 3000;

/// How the work is divided between the aims (`--focus`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    /// Four fifths for cost.
    Cost,
    /// Four fifths for coverage.
    Coverage,
    /// One half each.
    #[default]
    Balanced,
}

impl Focus {
    /// Parts of the work for coverage and for cost.
    fn parts(self) -> [u64; 2] {
        match self {
            Self::Cost => [1, 4],
            Self::Coverage => [4, 1],
            Self::Balanced => [1, 1],
        }
    }
}

/// See the module's text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    /// How the work is divided.
    #[serde(skip)]
    pub focus: Focus,
    aim: Aim,
    /// Instructions for coverage and for cost.
    spent: [u64; 2],
}

impl Effort {
    /// Begins a round for the aim that got less than its share so far.
    pub fn begin(&mut self) -> Aim {
        let [coverage, cost] = self.focus.parts();
        self.aim = if self.spent[0] / coverage <= self.spent[1] / cost { Aim::Coverage } else { Aim::Cost };
        self.aim
    }

    /// What the current round is for.
    pub fn aim(&self) -> Aim {
        self.aim
    }

    /// Adds an execution to the current round's aim.
    #[inline]
    pub fn spend(&mut self, instructions: u64) {
        let spent = &mut self.spent[self.aim as usize];
        *spent = spent.saturating_add(instructions + OVERHEAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(focus: Focus) -> f64 {
        let mut effort = Effort { focus, ..Effort::default() };
        for _ in 0..20_000 {
            let cost = if effort.begin() == Aim::Cost { 1_000_000 } else { 1_000 };
            effort.spend(cost);
        }
        effort.spent[0] as f64 / effort.spent[1] as f64
    }

    #[test]
    fn the_aims_get_their_shares_of_the_work_whatever_a_run_costs() {
        for (focus, expected) in [(Focus::Balanced, 1.0), (Focus::Coverage, 4.0), (Focus::Cost, 0.25)] {
            let share = shares(focus);
            assert!((0.9..1.1).contains(&(share / expected)), "{focus:?}: {share}");
        }
    }
}
