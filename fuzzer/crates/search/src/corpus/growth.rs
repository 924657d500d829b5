//! Knowledge of the search by growth: for each function, the patterns under which its counts and its memory grow fastest.

use std::collections::BTreeMap;

use quagmire_choices::pattern::Pattern;
use quagmire_cost::resource::Resource;
use serde::{Deserialize, Serialize};

use crate::EntryId;

/// Share of the work while patterns pay, and while they do not.
const SHARE: f64 = 0.2;
const LEAST_SHARE: f64 = 0.004;

/// Work that pays if a pattern grows faster than what was known, in mean executions of the campaign.
const EXECUTIONS_FOR_ONE: f64 = 4000.0;

/// Least share of a kind of patterns.
const LEAST_OF_KIND: f64 = 0.1;

/// Work that is added to that of a kind when its rate of news is computed, in instructions: it stands for one of them.
const FIRST_WORK: f64 = 1e6;

/// Size that growth is compared at, in bytes.
const COMPARED_AT: f64 = 4096.0;

/// Work that stands behind each count of a place that grows: of other edges of its loop, too.
const WORK_OF_COUNT: f64 = 20.0;

/// Factor between the counts of two patterns at that size from which one of them is better, and from which it is news.
const BETTER: f64 = 1.1;
const NEWS: f64 = 2.0;

/// Part of the expected count that a large run has to reach to show that growth goes on.
const HOLDS: f64 = 0.2;

/// Growths of a place that did not go on and are remembered; how far the exponents of two of them differ, and the factor between
/// what they lead to, if they are alike.
const MOST_REFUTED: usize = 16;
const SAME_EXPONENT: f64 = 0.1;
const SAME_REACH: f64 = 1.5;

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

    fn is_like(&self, other: &Self) -> bool {
        let factor = self.reach() / other.reach();
        (self.exponent - other.exponent).abs() < SAME_EXPONENT && (1.0 / SAME_REACH..SAME_REACH).contains(&factor)
    }
}

/// How a pattern is made. Those of a kind share its work, since one in a whole input can cost a hundred times as much as a
/// character that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A part of an input repeats where it stands, or something else in its place.
    Within,
    /// Units repeat with hardly anything around them.
    Alone,
    /// A known one that holds is changed.
    Changed,
}

/// Where a pattern is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub kind: Kind,
    /// Entry that it was made of.
    pub parent: EntryId,
}

/// Work of a kind, and the patterns of it that were news.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Arm {
    work: f64,
    news: u64,
    /// Whether a pattern was run to the end: units alone are no inputs of many programs.
    is_accepted: bool,
}

impl Arm {
    fn rate(&self) -> f64 {
        if self.is_accepted { (self.news + 1) as f64 / (self.work + FIRST_WORK) } else { 0.0 }
    }
}

/// A pattern that was run at the small sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grown {
    pub pattern: Pattern,
    pub source: Source,
    /// Number by which it is known.
    number: u64,
    /// Growth of all work, from the largest size at which it was run.
    pub work: Growth,
    /// Places at which amounts grow fast.
    pub places: Vec<(Place, Growth)>,
}

impl Grown {
    /// A pattern that is not known yet.
    pub fn new(pattern: Pattern, source: Source, work: Growth, places: Vec<(Place, Growth)>) -> Self {
        Self { pattern, source, number: 0, work, places }
    }

    /// Largest size in bytes at which a run is expected to be no more than so much work, as a whole and at each place.
    pub fn affordable(&self, work: f64) -> f64 {
        let known = self.work;
        let enough = |of: f64, exponent: f64| known.bytes * (work / of.max(1.0)).max(1.0).powf(1.0 / exponent.max(1.0));
        let counts = self.places.iter().filter(|(place, _)| matches!(place, Place::Counts(_)));
        let of_place = |growth: &Growth| (WORK_OF_COUNT * growth.at(known.bytes)).min(known.count);
        let places = counts.map(|(_, growth)| enough(of_place(growth), growth.exponent));
        places.fold(enough(known.count, known.exponent), f64::min)
    }
}

/// The pattern under which a place grows fastest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Steepest {
    pub grown: Grown,
    pub growth: Growth,
    /// Largest size at which it was tried, in bytes.
    tried: usize,
    /// Whether its growth goes on there.
    pub holds: bool,
}

/// Growth that did not go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Refuted {
    growth: Growth,
    /// How often it was seen since.
    times: u32,
}

/// Patterns by place, and the work that they took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GrowthState {
    pub steepest: BTreeMap<Place, Steepest>,
    /// Growths at small sizes that did not go on.
    refuted: BTreeMap<Place, Vec<Refuted>>,
    /// By [`Kind`].
    arms: [Arm; 3],
    patterns: u64,
}

impl GrowthState {
    /// Whether patterns have had their share of so much work of so many executions.
    pub fn is_sated(&self, all: f64, executions: u64) -> bool {
        let (work, news) = self.arms.iter().fold((0.0, 2), |(work, news), arm| (work + arm.work, news + arm.news));
        let spent = work * executions as f64 / all.max(1.0);
        let paid = news as f64 * EXECUTIONS_FOR_ONE;
        work > all * (SHARE * paid / (paid + spent)).max(LEAST_SHARE)
    }

    /// The kind that is furthest behind its share, which goes by what its work has brought.
    pub fn next_kind(&self) -> Kind {
        let has_known = self.steepest.values().any(|known| known.holds);
        let kinds = [Kind::Within, Kind::Alone, Kind::Changed];
        let kinds = kinds.into_iter().filter(|kind| has_known || *kind != Kind::Changed);
        let all: f64 = self.arms.iter().map(Arm::rate).sum();
        let behind = |kind: Kind| {
            let arm = &self.arms[kind as usize];
            arm.work / (arm.rate() / all.max(f64::MIN_POSITIVE)).max(LEAST_OF_KIND)
        };
        kinds.min_by(|one, other| behind(*one).total_cmp(&behind(*other))).unwrap_or(Kind::Alone)
    }

    /// Counts work for a pattern of a kind.
    pub fn spend(&mut self, kind: Kind, work: f64) {
        self.arms[kind as usize].work += work;
    }

    /// Notes that a pattern of a kind was run to the end.
    pub fn accept(&mut self, kind: Kind) {
        self.arms[kind as usize].is_accepted = true;
    }

    /// All work for patterns.
    pub fn work(&self) -> f64 {
        self.arms.iter().map(|arm| arm.work).sum()
    }

    /// The patterns that hold, each once.
    pub fn holding(&self) -> Vec<&Grown> {
        let holding = self.steepest.values().filter(|known| known.holds);
        let mut all: Vec<&Grown> = holding.map(|known| &known.grown).collect();
        all.sort_by_key(|grown| grown.number);
        all.dedup_by_key(|grown| grown.number);
        all
    }

    /// Factor by which a place's amounts reach further than under any known pattern.
    fn ratio(&self, place: Place, growth: Growth) -> f64 {
        self.steepest.get(&place).map_or(f64::INFINITY, |known| growth.reach() / known.growth.reach())
    }

    /// Whether one of the places grows much faster than under any known pattern. What grows there like something that did not go
    /// on is so only when it is seen for the first, second, fourth time and so on: there are many patterns like one.
    pub fn is_news(&mut self, grown: &[(Place, Growth)]) -> bool {
        let mut is_news = false;
        for &(place, growth) in grown {
            if self.ratio(place, growth) < NEWS {
                continue;
            }
            let refuted = self.refuted.get_mut(&place);
            let alike = refuted.and_then(|all| all.iter_mut().find(|one| one.growth.is_like(&growth)));
            is_news |= alike.is_none_or(|one| {
                one.times += 1;
                one.times.is_power_of_two()
            });
        }
        is_news
    }

    /// Whether the places that make a pattern news grow about as fast under another one.
    pub fn keeps_news(&self, grown: &[(Place, Growth)], other: &[(Place, Growth)]) -> bool {
        let news = grown.iter().filter(|&&(place, growth)| self.ratio(place, growth) >= NEWS);
        news.into_iter().all(|(place, growth)| {
            let same = other.iter().find(|(one, _)| one == place);
            same.is_some_and(|(_, other)| other.reach() >= KEPT * growth.reach())
        })
    }

    /// Keeps a pattern, which may be news, for the places at which it grows fastest, by a number of its own.
    pub fn add(&mut self, grown: &mut Grown, is_news: bool) {
        self.patterns += 1;
        grown.number = self.patterns;
        self.arms[grown.source.kind as usize].news += u64::from(is_news);
        for &(place, growth) in &grown.places {
            let (ratio, known) = (self.ratio(place, growth), self.steepest.get(&place));
            let is_shorter =
                known.is_some_and(|known| known.holds && grown.pattern.length() < known.grown.pattern.length());
            if ratio >= BETTER || is_shorter && ratio > 1.0 / BETTER {
                let (tried, holds) = known.map_or((0, true), |known| (known.tried, known.holds || ratio >= NEWS));
                let tried = if ratio >= NEWS { 0 } else { tried };
                let steepest = Steepest { grown: grown.clone(), growth, tried, holds };
                self.steepest.insert(place, steepest);
            }
        }
    }

    /// Notes that a pattern is tried at a size.
    pub fn tried(&mut self, grown: &Grown, bytes: usize) {
        let of_it = self.steepest.values_mut().filter(|known| known.grown.number == grown.number);
        of_it.for_each(|known| known.tried = bytes);
    }

    /// Notes the work of a run of a pattern at a size, and the largest amounts of places there.
    pub fn reach(&mut self, grown: &Grown, bytes: f64, work: f64, amounts: impl Fn(Place) -> f64) {
        for (&place, known) in self.steepest.iter_mut().filter(|(_, known)| known.grown.number == grown.number) {
            let before = known.grown.work;
            let observed = (work / before.count.max(1.0)).ln() / (bytes / before.bytes).ln();
            known.grown.work = Growth { exponent: observed.max(before.exponent), count: work, bytes };
            let count = amounts(place);
            known.holds = count >= HOLDS * known.growth.at(bytes);
            if !known.holds {
                let refuted = self.refuted.entry(place).or_default();
                if refuted.len() < MOST_REFUTED && !refuted.iter().any(|one| one.growth.is_like(&known.growth)) {
                    refuted.push(Refuted { growth: known.growth, times: 1 });
                }
                // what it comes to in truth is what others have to exceed
                let steps = (bytes / known.growth.bytes).ln();
                let exponent = (count.max(1.0) / known.growth.count).ln() / steps.max(1.0);
                known.growth = Growth { exponent: exponent.max(0.0), count, bytes };
            }
        }
    }

    /// A pattern that holds and was tried at no more than half of the size that so much work is enough for, up to `most` bytes.
    pub fn due(&self, most: usize, work: f64) -> Option<(Grown, usize)> {
        let holding = self.steepest.values().filter(|known| known.holds && known.tried > 0);
        let sized = holding.map(|known| (known, most.min(known.grown.affordable(work) as usize)));
        let mut due = sized.filter(|(known, size)| known.tried <= size / 2);
        due.next().map(|(known, size)| (known.grown.clone(), size))
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
        let pattern = Pattern::alone(material, &mut StdRand::with_seed(seed));
        let work = growth(1.0, 1e4);
        let source = Source { kind: Kind::Alone, parent: EntryId::from(libafl::corpus::CorpusId(0)) };
        Grown::new(pattern, source, work, places.to_vec())
    }

    #[test]
    fn of_each_place_the_pattern_is_kept_that_leads_furthest() {
        let mut state = GrowthState::default();
        assert!(state.is_news(&[(Counts(1), growth(2.0, 500.0))]));
        state.add(&mut grown(1, &[(Counts(1), growth(2.0, 500.0)), (Counts(2), growth(1.5, 500.0))]), true);
        // a higher exponent leads further in the end than a higher count
        let steeper = [(Counts(1), growth(3.0, 300.0)), (Counts(2), growth(1.4, 500.0))];
        assert!(state.is_news(&steeper));
        state.add(&mut grown(2, &steeper), true);
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
        let mut capped = grown(1, &[(Counts(1), growth(4.0, 500.0))]);
        state.add(&mut capped, true);
        assert!(!state.is_news(&[(Counts(1), growth(2.0, 500.0))]));
        assert!(state.steepest[&Counts(1)].holds);
        state.reach(&capped, 10_000.0, 1e6, |_| 900.0);
        assert!(!state.steepest[&Counts(1)].holds && state.is_news(&[(Counts(1), growth(2.0, 500.0))]));
        let seen: Vec<bool> = (0..6).map(|_| state.is_news(&[(Counts(1), growth(4.05, 510.0))])).collect();
        assert_eq!(seen, [true, false, true, false, false, false]);
    }

    #[test]
    fn what_holds_is_due_at_larger_sizes_while_they_are_affordable() {
        let mut state = GrowthState::default();
        let mut one = grown(1, &[(Counts(1), growth(2.0, 500.0)), (Counts(2), growth(3.0, 500.0))]);
        state.add(&mut one, true);
        assert!(state.due(1 << 20, 1e30).is_none());
        state.tried(&one, 4_000);
        let size_of = |state: &GrowthState, most: usize, work: f64| state.due(most, work).map(|(_, size)| size);
        assert_eq!(
            (size_of(&state, 7_999, 1e30), size_of(&state, 8_000, 1e30), size_of(&state, 90_000, 1e30)),
            (None, Some(8_000), Some(90_000))
        );
        // 1e4 at 100 bytes, and cubic somewhere
        let is_about = |size: Option<usize>, about: usize| size.is_some_and(|size| size.abs_diff(about) <= 1);
        assert!(size_of(&state, 90_000, 1e9).is_none() && is_about(size_of(&state, 90_000, 1e10), 10_000));
        // less than it had to be expected
        state.reach(&one, 4_000.0, 1e6, |_| 1e9);
        assert!(is_about(size_of(&state, 90_000, 1e9), 40_000));
    }

    #[test]
    fn the_share_falls_where_nothing_is_found_and_is_kept_where_something_is() {
        let share = |news_every: u64| {
            let mut state = GrowthState::default();
            for number in 0..40_000 {
                state.spend(Kind::Alone, 4e4);
                if news_every > 0 && number % news_every == 0 {
                    let exponent = 1.5 + number as f64 / 1e4;
                    state.add(&mut grown(1, &[(Counts(number as u32), growth(exponent, 500.0))]), true);
                }
            }
            let is_sated = |times: u64| state.is_sated(state.work() * times as f64, 160_000 * times);
            (1..1000).find(|times| !is_sated(*times)).map_or(0.0, |times| 1.0 / times as f64)
        };
        assert!((0.004..0.012).contains(&share(0)), "{}", share(0));
        assert!(share(200) > 0.1, "{}", share(200));
    }

    #[test]
    fn kinds_share_the_work_by_what_it_brought() {
        let mut state = GrowthState::default();
        let mut works = [0.0; 3];
        state.accept(Kind::Within);
        state.accept(Kind::Alone);
        for number in 0..3_000 {
            let kind = state.next_kind();
            let cost = if kind == Kind::Within { 1e6 } else { 1e4 };
            state.spend(kind, cost);
            works[kind as usize] += cost;
            if kind == Kind::Alone && number % 10 == 0 {
                state.add(&mut grown(1, &[(Counts(number), growth(2.0, 500.0))]), true);
            }
        }
        let shares = works.map(|work| work / state.work());
        assert!((0.05..0.3).contains(&shares[0]) && shares[1] > 0.5, "{shares:?}");
        state.arms[Kind::Alone as usize] = Arm { work: state.arms[Kind::Within as usize].work, ..Arm::default() };
        assert_eq!(state.next_kind(), Kind::Within, "what is refused is as dear, and has brought nothing");
    }
}
