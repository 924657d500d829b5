//! Families of rules (T, B, D, V, R): how often each is drawn, by the content of the parent and by what it has brought.

use std::{ops::Range, sync::Arc};

use libafl_bolts::rands::{Rand, StdRand};

use crate::strategy::Yields;
use quagmire_mutators::{rule::Rule, select::split};

/// Smallest weight of a family that suits little of the parent: none is off.
const LEAST: f64 = 0.1;

/// Largest factor by which a family gets more for what it brought, and smallest.
const MOST_EARNED: f64 = 4.0;

/// Finds as many as were to be expected that are added to each family's: a few finds say little.
const EXPECTED: f64 = 4.0;

/// Content that a family of rules changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Text,
    Binary,
    Any,
}

/// Rules with numbers next to each other whose labels have the same letter.
struct Family {
    rules: Range<usize>,
    content: Content,
    /// Share of the parent that it suits, at least [`LEAST`].
    suits: f64,
    /// Weight in draws.
    weight: f64,
}

/// All families of a campaign.
pub(super) struct Families {
    all: Vec<Family>,
}

impl Families {
    /// Finds the families of these rules. Until [`Self::weigh`] is called, all rules are drawn equally.
    pub(super) fn new(rules: &[Arc<dyn Rule>]) -> Self {
        let mut all = Vec::new();
        let mut start = 0;
        for same in rules.chunk_by(|a, b| split(a.label()).0 == split(b.label()).0) {
            let content = match split(same[0].label()).0 {
                "T" | "D" | "V" => Content::Text,
                "B" => Content::Binary,
                _ => Content::Any,
            };
            let rules = start..start + same.len();
            start = rules.end;
            all.push(Family { weight: rules.len() as f64, rules, content, suits: 1.0 });
        }
        Self { all }
    }

    /// Weighs the families for a parent of which this share is text, 0 to 1: by the number of their rules, by the share that they
    /// suit, and by their finds for each mutant.
    pub(super) fn weigh(&mut self, text: f64, yields: &Yields) {
        let rules = self.all.last().map_or(0, |family| family.rules.end);
        let mean = yields.total(rules) as f64 / (yields.applied(0..rules) as f64).max(1.0);
        for family in &mut self.all {
            family.suits = match family.content {
                Content::Text => text.max(LEAST),
                Content::Binary => (1.0 - text).max(LEAST),
                Content::Any => 1.0,
            };
            let found: u64 = family.rules.clone().map(|rule| yields.of(rule)).sum();
            let expected = yields.applied(family.rules.clone()) as f64 * mean;
            let earned = (found as f64 + EXPECTED) / (expected + EXPECTED);
            let earned = earned.clamp(1.0 / MOST_EARNED, MOST_EARNED);
            family.weight = family.rules.len() as f64 * family.suits * earned;
        }
    }

    /// Draws a rule: a family by weight, and one of its rules.
    pub(super) fn draw(&self, rand: &mut StdRand) -> usize {
        let total: f64 = self.all.iter().map(|family| family.weight).sum();
        let mut draw = rand.next_float() * total;
        let mut family = self.all.iter();
        let mut drawn = 0..0;
        for Family { rules, weight, .. } in family.by_ref() {
            drawn = rules.clone();
            if draw < *weight {
                break;
            }
            draw -= weight;
        }
        drawn.start + rand.below_or_zero(drawn.len())
    }

    /// Whether a rule has its turn in a round for cost: always if its family suits the parent, and by that share otherwise.
    pub(super) fn has_turn(&self, rule: usize, rand: &mut StdRand) -> bool {
        let suits = self.of(rule).map_or(1.0, |family| family.suits);
        suits >= 1.0 || rand.next_float() < suits
    }

    /// Whether a rule changes text.
    pub(super) fn is_for_text(&self, rule: usize) -> bool {
        self.of(rule).is_some_and(|family| family.content == Content::Text)
    }

    fn of(&self, rule: usize) -> Option<&Family> {
        self.all.iter().find(|family| family.rules.contains(&rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_mutators::{BUILT_IN, built_in_rules};

    /// Families whose shares are told, in this order.
    const LETTERS: [char; 4] = ['T', 'V', 'D', 'B'];

    /// Share in percent of each family in 10,000 draws for a parent of this share of text.
    fn shares(text: f64, yields: &Yields) -> [usize; 4] {
        let rules = built_in_rules();
        let mut families = Families::new(&rules);
        families.weigh(text, yields);
        let (mut rand, mut drawn) = (StdRand::with_seed(1), [0; 4]);
        for _ in 0..10_000 {
            let rule = &rules[families.draw(&mut rand)];
            drawn[LETTERS.iter().position(|&letter| rule.label().starts_with(letter)).unwrap()] += 1;
        }
        drawn.map(|drawn| (drawn + 50) / 100)
    }

    #[test]
    fn families_are_drawn_by_what_the_parent_is_made_of_and_none_is_off() {
        let rules =
            LETTERS.map(|letter| BUILT_IN.iter().filter(|rule| rule.label().starts_with(letter)).count() as f64);
        for (text, suits) in [(1.0, [1.0, 1.0, 1.0, 0.1]), (0.5, [0.5; 4]), (0.0, [0.1, 0.1, 0.1, 1.0])] {
            let weight = |family: usize| rules[family] * suits[family];
            let total: f64 = (0..4).map(weight).sum();
            for (family, share) in shares(text, &Yields::default()).into_iter().enumerate() {
                let expected = 100.0 * weight(family) / total;
                assert!((share as f64 - expected).abs() <= 2.0, "{}: {share}, not {expected}", LETTERS[family]);
            }
        }
    }

    #[test]
    fn families_earn_their_share_by_what_they_bring() {
        let rules = built_in_rules();
        let mut yields = Yields::default();
        for round in 0..1000 {
            (0..rules.len()).for_each(|rule| yields.apply(rule));
            if round % 10 == 0 {
                let binary = rules.iter().position(|rule| rule.label() == "B.1").unwrap();
                yields.credit(binary + round / 10 % 6);
            }
        }
        let [text, varied, tags, binary] = shares(0.8, &yields);
        assert!(binary > 35 && text > 30 && varied > 5 && tags > 5, "{text} {varied} {tags} {binary}");
    }

    #[test]
    fn what_suits_little_of_a_parent_rarely_leads_a_mutant() {
        let rules = built_in_rules();
        let mut families = Families::new(&rules);
        families.weigh(0.95, &Yields::default());
        let mut rand = StdRand::with_seed(1);
        let mut turns = |rule: usize| (0..1000).filter(|_| families.has_turn(rule, &mut rand)).count();
        let [binary, tags] = ["B.1", "D.1"].map(|label| rules.iter().position(|rule| rule.label() == label).unwrap());
        assert!((900..=1000).contains(&turns(0)) && (50..200).contains(&turns(binary)));
        assert!(families.is_for_text(0) && families.is_for_text(tags) && !families.is_for_text(binary));
    }
}
