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

/// See the module's text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    aim: Aim,
    /// Instructions for coverage and for cost.
    spent: [u64; 2],
}

impl Effort {
    /// Begins a round for the aim that got less than half so far.
    pub fn begin(&mut self) -> Aim {
        self.aim = if self.spent[0] <= self.spent[1] { Aim::Coverage } else { Aim::Cost };
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

    #[test]
    fn the_aims_get_equal_shares_of_the_work_whatever_a_run_costs() {
        let mut effort = Effort::default();
        for _ in 0..10_000 {
            let cost = if effort.begin() == Aim::Cost { 1_000_000 } else { 1_000 };
            effort.spend(cost);
        }
        let [coverage, cost] = effort.spent.map(|spent| spent as f64);
        assert!((0.9..1.1).contains(&(coverage / cost)), "{coverage} against {cost}");
    }
}
