//! Knowledge of the search by growth: for each function, the pattern under which its counts grow fastest.

use std::collections::BTreeMap;

use quagmire_choices::pattern::Pattern;
use serde::{Deserialize, Serialize};

/// Share of the work while patterns pay, and while they do not.
const SHARE: f64 = 0.2;
const LEAST_SHARE: f64 = 0.004;

/// Patterns that pay if one of them grows faster than what was known.
const PATTERNS_FOR_ONE: f64 = 500.0;

/// Size that growth is compared at, in bytes.
const COMPARED_AT: f64 = 4096.0;

/// Factor between the counts of two patterns at that size from which one of them is better, and from which it is news.
const BETTER: f64 = 1.1;
const NEWS: f64 = 2.0;

/// Part of the growth that a shorter pattern has to keep.
const KEPT: f64 = 0.7;

/// Growth of the counts of an edge with the size of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Local exponent.
    pub exponent: f64,
    /// Count at a size in bytes.
    pub count: f64,
    pub bytes: f64,
}

impl Growth {
    /// Count that it leads to at a size in bytes.
    pub fn at(&self, bytes: f64) -> f64 {
        self.count * (bytes / self.bytes).powf(self.exponent)
    }

    /// Count that it leads to at the size that growth is compared at.
    pub fn reach(&self) -> f64 {
        self.at(COMPARED_AT)
    }
}

/// The pattern that grows fastest in a function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Steepest {
    pub pattern: Pattern,
    pub growth: Growth,
    /// Largest size at which it was run, in bytes.
    pub reached: usize,
    /// Whether its growth goes on there.
    pub holds: bool,
}

/// Patterns by function, and the work that they took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GrowthState {
    pub steepest: BTreeMap<u32, Steepest>,
    pub work: f64,
    patterns: u64,
    news: u64,
}

impl GrowthState {
    /// Whether patterns have had their share of so much work.
    pub fn is_sated(&self, all: f64) -> bool {
        let paid = self.news as f64 + 2.0;
        let share = (SHARE * paid / (paid + self.patterns as f64 / PATTERNS_FOR_ONE)).max(LEAST_SHARE);
        self.work > share * all
    }

    /// Factor by which a function's counts reach further than under any known pattern.
    fn ratio(&self, function: u32, growth: Growth) -> f64 {
        self.steepest.get(&function).map_or(f64::INFINITY, |known| growth.reach() / known.growth.reach())
    }

    /// Whether one of the functions grows much faster than under any known pattern.
    pub fn is_news(&self, grown: &[(u32, Growth)]) -> bool {
        grown.iter().any(|&(function, growth)| self.ratio(function, growth) >= NEWS)
    }

    /// Whether the functions that make a pattern news grow about as fast under another one.
    pub fn keeps_news(&self, grown: &[(u32, Growth)], other: &[(u32, Growth)]) -> bool {
        let news = grown.iter().filter(|&&(function, growth)| self.ratio(function, growth) >= NEWS);
        news.into_iter().all(|(function, growth)| {
            let same = other.iter().find(|(one, _)| one == function);
            same.is_some_and(|(_, other)| other.reach() >= KEPT * growth.reach())
        })
    }

    /// Counts a pattern that was run, with the functions in which it grows fast.
    pub fn add(&mut self, pattern: &Pattern, grown: &[(u32, Growth)]) {
        self.patterns += 1;
        self.news += u64::from(self.is_news(grown));
        for &(function, growth) in grown {
            let (ratio, known) = (self.ratio(function, growth), self.steepest.get(&function));
            let is_shorter = known.is_some_and(|known| known.holds && pattern.length() < known.pattern.length());
            if ratio >= BETTER || is_shorter && ratio > 1.0 / BETTER {
                let (reached, holds) = known.map_or((0, true), |known| (known.reached, known.holds || ratio >= NEWS));
                let reached = if ratio >= NEWS { 0 } else { reached };
                let steepest = Steepest { pattern: pattern.clone(), growth, reached, holds };
                self.steepest.insert(function, steepest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::StdRand;
    use quagmire_choices::pattern::Material;

    use super::*;

    fn growth(exponent: f64, count: f64) -> Growth {
        Growth { exponent, count, bytes: 100.0 }
    }

    fn pattern(seed: u64) -> Pattern {
        Pattern::fresh(Material { input: b"a text", other: b"b", word: b"" }, &mut StdRand::with_seed(seed))
    }

    #[test]
    fn of_each_function_the_pattern_is_kept_that_leads_furthest() {
        let mut state = GrowthState::default();
        assert!(state.is_news(&[(1, growth(2.0, 500.0))]));
        state.add(&pattern(1), &[(1, growth(2.0, 500.0)), (2, growth(1.5, 500.0))]);
        // a higher exponent leads further in the end than a higher count
        let steeper = [(1, growth(3.0, 300.0)), (2, growth(1.4, 500.0))];
        assert!(state.is_news(&steeper));
        state.add(&pattern(2), &steeper);
        let kept: Vec<f64> = state.steepest.values().map(|one| one.growth.exponent).collect();
        assert_eq!(kept, [3.0, 1.5]);
        assert!(!state.is_news(&[(1, growth(3.0, 400.0))]));
        assert!(state.keeps_news(&[(3, growth(2.0, 500.0)), (1, growth(3.0, 300.0))], &[(3, growth(2.0, 400.0))]));
        assert!(!state.keeps_news(&[(3, growth(2.0, 500.0))], &[(3, growth(1.4, 500.0))]));
    }

    #[test]
    fn the_share_falls_where_nothing_is_found_and_is_kept_where_something_is() {
        let share = |news_every: u64| {
            let mut state = GrowthState::default();
            for number in 0..20_000 {
                let is_news = news_every > 0 && number % news_every == 0;
                let exponent = 1.5 + number as f64 / 1e4;
                let grown = [(number as u32, growth(exponent, 500.0))];
                state.add(&pattern(1), if is_news { &grown } else { &[] });
            }
            state.work = 1.0;
            (1..1000).map(f64::from).find(|all| !state.is_sated(*all)).map_or(0.0, |all| 1.0 / all)
        };
        assert!((0.004..0.012).contains(&share(0)), "{}", share(0));
        assert!(share(200) > 0.1, "{}", share(200));
    }
}
