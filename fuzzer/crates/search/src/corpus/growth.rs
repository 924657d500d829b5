//! Knowledge of the search by growth: for each function, the patterns under which its counts and its memory grow fastest.

use std::collections::BTreeMap;

use quagmire_choices::pattern::Pattern;
use quagmire_cost::resource::Resource;
use serde::{Deserialize, Serialize};

use crate::EntryId;

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

/// Part of the expected count that a large run has to reach to show that growth goes on.
const HOLDS: f64 = 0.2;

/// Part of the growth that a shorter pattern has to keep.
const KEPT: f64 = 0.7;

/// Something that may grow: counts of a function, its memory, or a resource of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// Counts and charges of a function.
    Counts(u32),
    /// Bytes that calls of allocators got in a function.
    Heap(u32),
    /// Depth of the stack at the entry of a function.
    Stack(u32),
    /// All that a run uses of a resource, also in code that is not counted.
    Whole(Resource),
}

impl Place {
    /// Local exponent from which it grows fast: n log n has less than this at small sizes. A stack as deep as the input is long is what
    /// a system has no room for.
    pub fn fast(self) -> f64 {
        if matches!(self, Self::Stack(_) | Self::Whole(Resource::Stack)) { 0.8 } else { 1.3 }
    }
}

/// Growth of an amount with the size of inputs: of the counts of an edge, or of memory.
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

/// A pattern that was run at the small sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grown {
    pub pattern: Pattern,
    /// Entry that it was made of.
    pub parent: EntryId,
    /// Growth of all work.
    pub work: Growth,
    /// Places at which amounts grow fast.
    pub places: Vec<(Place, Growth)>,
}

impl Grown {
    /// Largest size in bytes at which a run is expected to be no more than so much work.
    pub fn affordable(&self, work: f64) -> f64 {
        let steepest = self.places.iter().map(|(_, growth)| growth.exponent).fold(self.work.exponent, f64::max);
        self.work.bytes * (work / self.work.count.max(1.0)).max(1.0).powf(1.0 / steepest.max(1.0))
    }
}

/// The pattern under which a place grows fastest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Steepest {
    pub grown: Grown,
    pub growth: Growth,
    /// Largest size at which it was run, in bytes.
    reached: usize,
    /// Whether its growth goes on there.
    pub holds: bool,
}

/// Patterns by place, and the work that they took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GrowthState {
    pub steepest: BTreeMap<Place, Steepest>,
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

    /// Factor by which a place's amounts reach further than under any known pattern.
    fn ratio(&self, place: Place, growth: Growth) -> f64 {
        self.steepest.get(&place).map_or(f64::INFINITY, |known| growth.reach() / known.growth.reach())
    }

    /// Whether one of the places grows much faster than under any known pattern.
    pub fn is_news(&self, grown: &[(Place, Growth)]) -> bool {
        grown.iter().any(|&(place, growth)| self.ratio(place, growth) >= NEWS)
    }

    /// Whether the places that make a pattern news grow about as fast under another one.
    pub fn keeps_news(&self, grown: &[(Place, Growth)], other: &[(Place, Growth)]) -> bool {
        let news = grown.iter().filter(|&&(place, growth)| self.ratio(place, growth) >= NEWS);
        news.into_iter().all(|(place, growth)| {
            let same = other.iter().find(|(one, _)| one == place);
            same.is_some_and(|(_, other)| other.reach() >= KEPT * growth.reach())
        })
    }

    /// Counts a pattern that grows in proportion, or was not run to the end.
    pub fn add_dull(&mut self) {
        self.patterns += 1;
    }

    /// Counts a pattern that was run, and keeps it for the places at which it grows fastest.
    pub fn add(&mut self, grown: &Grown) {
        self.patterns += 1;
        self.news += u64::from(self.is_news(&grown.places));
        for &(place, growth) in &grown.places {
            let (ratio, known) = (self.ratio(place, growth), self.steepest.get(&place));
            let is_shorter =
                known.is_some_and(|known| known.holds && grown.pattern.length() < known.grown.pattern.length());
            if ratio >= BETTER || is_shorter && ratio > 1.0 / BETTER {
                let (reached, holds) = known.map_or((0, true), |known| (known.reached, known.holds || ratio >= NEWS));
                let reached = if ratio >= NEWS { 0 } else { reached };
                let steepest = Steepest { grown: grown.clone(), growth, reached, holds };
                self.steepest.insert(place, steepest);
            }
        }
    }
}

impl GrowthState {
    /// Notes that a pattern was run at a size, and the largest amounts of places there, `None` if the run did not return.
    pub fn reach(&mut self, pattern: &Pattern, bytes: usize, amounts: impl Fn(Place) -> Option<f64>) {
        for (&place, known) in self.steepest.iter_mut().filter(|(_, known)| known.grown.pattern == *pattern) {
            known.reached = bytes;
            let (Some(count), size) = (amounts(place), bytes as f64) else { continue };
            known.holds = count >= HOLDS * known.growth.at(size);
            if !known.holds {
                // what it comes to in truth is what others have to exceed
                let steps = (size / known.growth.bytes).ln();
                let exponent = (count.max(1.0) / known.growth.count).ln() / steps.max(1.0);
                known.growth = Growth { exponent: exponent.max(0.0), count, bytes: size };
            }
        }
    }

    /// A pattern that holds and was not run at half of a size or more, if it can be with so much work.
    pub fn due(&self, most: usize, work: f64) -> Option<Grown> {
        let is_due = |one: &&Steepest| {
            one.holds && one.reached > 0 && one.reached <= most / 2 && one.grown.affordable(work) >= most as f64
        };
        self.steepest.values().find(is_due).map(|one| one.grown.clone())
    }
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::StdRand;
    use quagmire_choices::pattern::Material;

    use super::*;
    use Place::Counts;

    fn growth(exponent: f64, count: f64) -> Growth {
        Growth { exponent, count, bytes: 100.0 }
    }

    fn grown(seed: u64, places: &[(Place, Growth)]) -> Grown {
        let material = Material { input: b"a text", other: b"b", word: b"" };
        let pattern = Pattern::fresh(material, &mut StdRand::with_seed(seed));
        let work = growth(1.0, 1e4);
        Grown { pattern, parent: EntryId::from(libafl::corpus::CorpusId(0)), work, places: places.to_vec() }
    }

    #[test]
    fn of_each_place_the_pattern_is_kept_that_leads_furthest() {
        let mut state = GrowthState::default();
        assert!(state.is_news(&[(Counts(1), growth(2.0, 500.0))]));
        state.add(&grown(1, &[(Counts(1), growth(2.0, 500.0)), (Counts(2), growth(1.5, 500.0))]));
        // a higher exponent leads further in the end than a higher count
        let steeper = [(Counts(1), growth(3.0, 300.0)), (Counts(2), growth(1.4, 500.0))];
        assert!(state.is_news(&steeper));
        state.add(&grown(2, &steeper));
        let kept: Vec<f64> = state.steepest.values().map(|one| one.growth.exponent).collect();
        assert_eq!(kept, [3.0, 1.5]);
        assert!(!state.is_news(&[(Counts(1), growth(3.0, 400.0))]));
        assert!(state.keeps_news(
            &[(Counts(3), growth(2.0, 500.0)), (Counts(1), growth(3.0, 300.0))],
            &[(Counts(3), growth(2.0, 400.0))]
        ));
        assert!(!state.keeps_news(&[(Counts(3), growth(2.0, 500.0))], &[(Counts(3), growth(1.4, 500.0))]));
    }

    #[test]
    fn what_does_not_go_on_stands_for_no_more_than_it_came_to() {
        let mut state = GrowthState::default();
        let capped = grown(1, &[(Counts(1), growth(4.0, 500.0))]);
        state.add(&capped);
        assert!(!state.is_news(&[(Counts(1), growth(2.0, 500.0))]));
        // a run that did not return says nothing
        state.reach(&capped.pattern, 10_000, |_| None);
        assert!(state.steepest[&Counts(1)].holds);
        state.reach(&capped.pattern, 10_000, |_| Some(900.0));
        assert!(!state.steepest[&Counts(1)].holds && state.is_news(&[(Counts(1), growth(2.0, 500.0))]));
    }

    #[test]
    fn what_holds_is_due_again_when_inputs_may_be_twice_as_large() {
        let mut state = GrowthState::default();
        let one = grown(1, &[(Counts(1), growth(2.0, 500.0)), (Counts(2), growth(3.0, 500.0))]);
        state.add(&one);
        assert!(state.due(1 << 20, 1e30).is_none());
        state.reach(&one.pattern, 4_000, |place| {
            let exponent = if place == Counts(1) { 2.0 } else { 3.0 };
            Some(growth(exponent, 500.0).at(4_000.0))
        });
        assert!(state.due(7_999, 1e30).is_none() && state.due(8_000, 1e30).is_some());
        // 1e4 at 100 bytes, and cubic somewhere
        assert!(state.due(8_000, 1e9).is_none());
    }

    #[test]
    fn the_share_falls_where_nothing_is_found_and_is_kept_where_something_is() {
        let share = |news_every: u64| {
            let mut state = GrowthState::default();
            for number in 0..20_000 {
                let is_news = news_every > 0 && number % news_every == 0;
                let exponent = 1.5 + number as f64 / 1e4;
                match is_news {
                    true => state.add(&grown(1, &[(Counts(number as u32), growth(exponent, 500.0))])),
                    false => state.add_dull(),
                }
            }
            state.work = 1.0;
            (1..1000).map(f64::from).find(|all| !state.is_sated(*all)).map_or(0.0, |all| 1.0 / all)
        };
        assert!((0.004..0.012).contains(&share(0)), "{}", share(0));
        assert!(share(200) > 0.1, "{}", share(200));
    }
}
