//! Arms of an entry: whether to mutate its structure or its values, learned from what both brought (BeDivFuzz, section 3).

use std::collections::BTreeMap;

use libafl_bolts::rands::{Rand, StdRand};
use serde::{Deserialize, Serialize};

use super::effort::Aim;
use crate::EntryId;
use quagmire_choices::operator::Arm;

/// Probability of a choice that ignores what was learned (epsilon of BeDivFuzz).
const EXPLORATION: f64 = 0.2;

/// Mutants after which all that was counted for an arm counts half: what is new becomes rare with time.
const WINDOW: f64 = 128.0;

/// Entries that are remembered; the oldest are forgotten first.
const MOST_ENTRIES: usize = 1 << 16;

/// Mutants that an arm made, and finds among them. An arm starts with one of each, so that it is not starved before it was
/// tried.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Record {
    mutants: f64,
    finds: f64,
}

impl Default for Record {
    fn default() -> Self {
        Self { mutants: 1.0, finds: 1.0 }
    }
}

impl Record {
    fn rate(self) -> f64 {
        self.finds / self.mutants
    }

    fn count(&mut self, amount: f64, is_find: bool) {
        self.mutants += amount;
        self.finds += f64::from(u8::from(is_find));
        if self.mutants > WINDOW {
            self.mutants /= 2.0;
            self.finds /= 2.0;
        }
    }
}

/// Structure and value arm, for one aim.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Pair {
    structure: Record,
    value: Record,
    /// Work of the first mutant, in instructions: the unit of work.
    unit: u64,
}

/// Arms of all entries, for each aim of the search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Arms {
    entries: BTreeMap<EntryId, [Pair; 2]>,
}

impl Arms {
    /// Chooses the arm of the next mutant of `entry`: mostly the one that brought more for its work, and any one in a fifth
    /// of the cases, or if both brought the same.
    pub fn choose(&self, entry: EntryId, aim: Aim, rand: &mut StdRand) -> Arm {
        let pair = self.entries.get(&entry).map_or_else(Pair::default, |pairs| pairs[aim as usize]);
        let (structure, value) = (pair.structure.rate(), pair.value.rate());
        if rand.next_float() < EXPLORATION || structure == value {
            return if rand.coinflip(0.5) { Arm::Structure } else { Arm::Value };
        }
        if structure > value { Arm::Structure } else { Arm::Value }
    }

    /// Counts a mutant of `entry`, whose run was so much work in instructions, and whether it was a find. For coverage all
    /// mutants count alike; for cost, those that take more work count more.
    pub fn count(&mut self, entry: EntryId, aim: Aim, arm: Arm, work: u64, is_find: bool) {
        if self.entries.len() >= MOST_ENTRIES && !self.entries.contains_key(&entry) {
            self.entries.pop_first();
        }
        let pair = &mut self.entries.entry(entry).or_default()[aim as usize];
        if pair.unit == 0 {
            pair.unit = work.max(1);
        }
        let amount = match aim {
            Aim::Coverage => 1.0,
            Aim::Cost => work as f64 / pair.unit as f64,
        };
        let record = match arm {
            Arm::Structure => &mut pair.structure,
            Arm::Value => &mut pair.value,
        };
        record.count(amount, is_find);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::id;

    /// Share of the structure arm in 1000 choices.
    fn share(arms: &Arms, aim: Aim) -> usize {
        let mut rand = StdRand::with_seed(1);
        (0..1000).filter(|_| arms.choose(id(0), aim, &mut rand) == Arm::Structure).count()
    }

    #[test]
    fn an_arm_that_pays_gets_nine_tenths_and_the_other_is_still_tried() {
        let mut arms = Arms::default();
        assert!((450..550).contains(&share(&arms, Aim::Coverage)), "nothing is known");
        for round in 0..100 {
            arms.count(id(0), Aim::Coverage, Arm::Structure, 9, round % 3 == 0);
            arms.count(id(0), Aim::Coverage, Arm::Value, 9, round % 30 == 0);
        }
        assert!((870..930).contains(&share(&arms, Aim::Coverage)));
        assert!((450..550).contains(&share(&arms, Aim::Cost)), "each aim learns by itself");
    }

    #[test]
    fn work_counts_and_what_was_long_ago_is_forgotten() {
        let mut arms = Arms::default();
        for _ in 0..50 {
            arms.count(id(0), Aim::Cost, Arm::Structure, 50_000, true);
            arms.count(id(0), Aim::Cost, Arm::Value, 5000, true);
        }
        assert!((70..130).contains(&share(&arms, Aim::Cost)), "the same finds for a tenth of the work");
        for _ in 0..2000 {
            arms.count(id(0), Aim::Cost, Arm::Value, 5000, false);
        }
        assert!(share(&arms, Aim::Cost) > 870);
    }

    #[test]
    fn the_oldest_entries_are_forgotten_when_there_are_too_many() {
        let mut arms = Arms::default();
        for number in 0..=MOST_ENTRIES as u32 {
            arms.count(id(number), Aim::Cost, Arm::Value, 1, false);
        }
        assert_eq!((arms.entries.len(), arms.entries.contains_key(&id(0))), (MOST_ENTRIES, false));
    }
}
