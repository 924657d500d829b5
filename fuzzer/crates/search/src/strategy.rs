//! Strategies for the number of mutants that each rule makes of a parent (`--mutations-per-rule`), as in Perun.

use std::{fmt, ops::Range, str::FromStr};

use libafl_bolts::rands::Rand;
use serde::{Deserialize, Serialize};

/// Largest number of mutants of one rule in a round (Perun's FLPR).
pub const MOST: u64 = 100;

/// Smallest probability that a rule is chosen.
const LEAST_PROBABILITY: f64 = 0.1;

/// Strategy for the number of mutants of each rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One mutant of each rule.
    Unitary,
    /// One mutant more than the number of the rule's finds.
    Proportional,
    /// One mutant, with the rule's share of all finds as probability.
    Probabilistic,
    /// As many mutants as `Proportional`, with the probability of `Probabilistic`.
    Mixed,
}

impl Strategy {
    pub const ALL: [Self; 4] = [Self::Unitary, Self::Proportional, Self::Probabilistic, Self::Mixed];

    /// Name in `--mutations-per-rule`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unitary => "unitary",
            Self::Proportional => "proportional",
            Self::Probabilistic => "probabilistic",
            Self::Mixed => "mixed",
        }
    }

    /// Number of mutants of a rule with `of_rule` finds, where all rules together have `total`. At most [`MOST`].
    pub fn mutants<R: Rand>(self, of_rule: u64, total: u64, rand: &mut R) -> u64 {
        let amount = (of_rule + 1).min(MOST);
        match self {
            Self::Unitary => 1,
            Self::Proportional => amount,
            Self::Probabilistic => u64::from(rand.next_float() < probability(of_rule, total)),
            Self::Mixed => {
                if rand.next_float() < probability(of_rule, total) {
                    amount
                } else {
                    0
                }
            }
        }
    }
}

/// Share of all finds, at least a tenth; 1 before the first find.
fn probability(of_rule: u64, total: u64) -> f64 {
    if total == 0 { 1.0 } else { (of_rule as f64 / total as f64).max(LEAST_PROBABILITY) }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == text).ok_or(())
    }
}

/// Recent finds of each operator: one for each mutant that was kept, and one more if it degrades the program.
///
/// The numbers age: all are halved when their sum reaches a limit. Without that, one lucky rule of the first seconds
/// would make most mutants for the rest of the campaign, and with hundreds of entries all rules would be at [`MOST`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yields {
    of: Vec<u64>,
    /// Mutants that each operator was applied to; they age with the finds.
    applied: Vec<u64>,
}

/// Sum of the finds of all operators at which they are halved.
const AGING: u64 = 128;

impl Yields {
    /// Finds of an operator.
    pub fn of(&self, operator: usize) -> u64 {
        self.of.get(operator).copied().unwrap_or(0)
    }

    /// Sum of the finds of the first `operators` operators.
    pub fn total(&self, operators: usize) -> u64 {
        self.of.iter().take(operators).sum()
    }

    /// Mutants that these operators were applied to lately, together.
    pub fn applied(&self, operators: Range<usize>) -> u64 {
        self.applied.iter().take(operators.end).skip(operators.start).sum()
    }

    /// Adds a mutant that an operator was applied to.
    #[inline]
    pub fn apply(&mut self, operator: usize) {
        add(&mut self.applied, operator, 1);
    }

    /// Adds a find of an operator.
    pub fn credit(&mut self, operator: usize) {
        add(&mut self.of, operator, 1);
        if self.of.iter().sum::<u64>() >= AGING {
            self.of.iter_mut().chain(&mut self.applied).for_each(|number| *number /= 2);
        }
    }

    /// Renumbers the operators: `places[old]` is the new number.
    pub fn renumber(&mut self, places: &[u16]) {
        for numbers in [&mut self.of, &mut self.applied] {
            for (number, &place) in std::mem::take(numbers).into_iter().zip(places) {
                add(numbers, place.into(), number);
            }
        }
    }
}

/// Adds to the number at a place, which there may not be yet.
fn add(numbers: &mut Vec<u64>, place: usize, amount: u64) {
    if numbers.len() <= place {
        numbers.resize(place + 1, 0);
    }
    numbers[place] += amount;
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::StdRand;

    use super::*;

    fn mean(strategy: Strategy, of_rule: u64, total: u64) -> f64 {
        let mut rand = StdRand::with_seed(3);
        (0..20_000).map(|_| strategy.mutants(of_rule, total, &mut rand) as f64).sum::<f64>() / 20_000.0
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= b * 0.05, "{a} is not {b}");
    }

    #[test]
    fn unitary_is_one_whatever_was_found() {
        close(mean(Strategy::Unitary, 0, 0), 1.0);
        close(mean(Strategy::Unitary, 70, 100), 1.0);
    }

    #[test]
    fn proportional_is_one_more_than_what_was_found_up_to_the_limit() {
        close(mean(Strategy::Proportional, 0, 0), 1.0);
        close(mean(Strategy::Proportional, 30, 40), 31.0);
        close(mean(Strategy::Proportional, 500, 900), 100.0);
    }

    #[test]
    fn probabilistic_is_one_with_the_rule_s_share_and_a_tenth_at_least() {
        close(mean(Strategy::Probabilistic, 0, 0), 1.0);
        close(mean(Strategy::Probabilistic, 30, 40), 0.75);
        close(mean(Strategy::Probabilistic, 0, 40), 0.1);
    }

    #[test]
    fn mixed_is_proportional_with_the_probability_of_probabilistic() {
        close(mean(Strategy::Mixed, 0, 0), 1.0);
        close(mean(Strategy::Mixed, 30, 40), 31.0 * 0.75);
        close(mean(Strategy::Mixed, 0, 40), 0.1);
    }

    #[test]
    fn yields_age_and_move_with_their_operators() {
        let mut yields = Yields::default();
        (0..AGING - 1).for_each(|_| yields.credit(2));
        assert_eq!((yields.of(2), yields.total(2), yields.total(3)), (AGING - 1, 0, AGING - 1));
        (0..10).for_each(|_| yields.apply(1));
        yields.credit(0);
        assert_eq!((yields.of(0), yields.of(2), yields.applied(0..3)), (0, (AGING - 1) / 2, 5));
        yields.renumber(&[1, 0, 4]);
        assert_eq!((yields.of(2), yields.of(4)), (0, (AGING - 1) / 2));
        assert_eq!((yields.applied(0..1), yields.applied(1..9)), (5, 0));
    }

    #[test]
    fn strategies_are_read_as_they_are_written() {
        assert!(Strategy::ALL.into_iter().all(|strategy| strategy.name().parse() == Ok(strategy)));
        assert!("both".parse::<Strategy>().is_err());
    }
}
