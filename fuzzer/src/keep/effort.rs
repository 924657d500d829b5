//! What the search has spent on which aim, and what that brought. Shares are kept by work done and not by rounds: otherwise
//! a few inputs that are hundreds of times as expensive as the rest would take nearly all of the time.

use serde::{Deserialize, Serialize};

use super::history::Novelty;

/// What a round is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim {
    /// New behaviour: rare branches, or any input that is best at something, cheap ones first.
    #[default]
    Coverage,
    /// More cost, from the most expensive inputs.
    Cost,
}

/// Work that an execution is worth beside the target's own: mutating, digesting, judging. Instructions.
pub const OVERHEAD: u64 = 3000;

/// ... and per byte of the input, which is copied some times over: bytes that are worth one instruction.
const BYTES: u64 = 2;

/// How the work is divided between the aims (`--focus`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    /// Four fifths for cost.
    Cost,
    /// Four fifths for coverage.
    Coverage,
    /// By what each aim found lately for its work, a fifth for each at least.
    #[default]
    Balanced,
}

/// Share of the work for coverage with `--focus coverage`; the rest with `--focus cost`; the limits with `balanced`.
const LARGEST_SHARE: f64 = 0.8;
const SMALLEST_SHARE: f64 = 1.0 - LARGEST_SHARE;

/// What mutants of a round for cost keep, if they are held to a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// There is no mask.
    Nothing,
    /// The total.
    Cost,
    /// The count of the edge that the entry is the worst one of.
    Edge,
}

/// Each way of mutating for cost gets this share of that work at least.
const SMALLEST_SHARE_OF_HOLDS: f64 = 0.1;

/// Work after which everything counts half: about ten seconds. Instructions.
const WINDOW: f64 = 1e10;

/// Work that each kind of round is taken to have done for its first find. Instructions.
const FIRST_WORK: f64 = 1e6;

/// A kind of round.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Arm {
    found: f64,
    work: f64,
}

impl Arm {
    /// Finds per work.
    fn rate(&self) -> f64 {
        (self.found + 1.0) / (self.work + FIRST_WORK)
    }
}

const COVERAGE: usize = 0;
const PLAIN_COST: usize = 1;
const COST_KEPT: usize = 2;
const EDGE_KEPT: usize = 3;
const ARMS: usize = 4;
const HOLDS: [(usize, Hold); 3] = [(PLAIN_COST, Hold::Nothing), (COST_KEPT, Hold::Cost), (EDGE_KEPT, Hold::Edge)];

/// See the module's text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    /// How the work is divided.
    #[serde(skip)]
    pub focus: Focus,
    current: usize,
    /// Held to nothing after all: not the next one, or it would be chosen for ever, since it gets no work.
    let_go: Option<usize>,
    arms: [Arm; ARMS],
}

impl Effort {
    /// Begins a round for the aim that got less than its share so far.
    pub fn begin(&mut self) -> Aim {
        while self.arms.iter().map(|arm| arm.work).sum::<f64>() > WINDOW {
            for arm in &mut self.arms {
                arm.work /= 2.0;
                arm.found /= 2.0;
            }
        }
        let (coverage, cost) = (self.arms[COVERAGE].work, self.for_cost().work);
        let share = self.share_of_coverage();
        if coverage * (1.0 - share) <= cost * share {
            self.current = COVERAGE;
            return Aim::Coverage;
        }
        self.current = PLAIN_COST;
        Aim::Cost
    }

    /// Share of the work that goes to coverage now: 0 to 1.
    pub fn share_of_coverage(&self) -> f64 {
        match self.focus {
            Focus::Cost => SMALLEST_SHARE,
            Focus::Coverage => LARGEST_SHARE,
            Focus::Balanced => {
                let (coverage, cost) = (self.arms[COVERAGE].rate(), self.for_cost().rate());
                (coverage / (coverage + cost)).clamp(SMALLEST_SHARE, LARGEST_SHARE)
            }
        }
    }

    /// All rounds for cost.
    fn for_cost(&self) -> Arm {
        let arms = HOLDS.map(|(arm, _)| &self.arms[arm]);
        Arm { found: arms.iter().map(|arm| arm.found).sum(), work: arms.iter().map(|arm| arm.work).sum() }
    }

    /// What the round for cost that has begun is held to: the ways of doing it share the work by what they found lately.
    /// Without `edge` there is none that the entry is the worst one of.
    pub fn begin_hold(&mut self, edge: bool) -> Hold {
        let let_go = self.let_go.take();
        let possible = || HOLDS.into_iter().filter(|&(arm, hold)| (edge || hold != Hold::Edge) && Some(arm) != let_go);
        let rates: f64 = possible().map(|(arm, _)| self.arms[arm].rate()).sum();
        // how far it is behind: work done for each unit of share
        let lag = |arm: usize| self.arms[arm].work / (self.arms[arm].rate() / rates).max(SMALLEST_SHARE_OF_HOLDS);
        let behind = possible().min_by(|(one, _), (other, _)| lag(*one).total_cmp(&lag(*other)));
        let (arm, hold) = behind.unwrap_or(HOLDS[0]);
        self.current = arm;
        hold
    }

    /// The round is not held to a mask after all: a round for cost goes on as one that is held to nothing.
    pub fn let_go(&mut self) {
        if self.aim() == Aim::Cost && self.current != PLAIN_COST {
            self.let_go = Some(self.current);
            self.current = PLAIN_COST;
        }
    }

    /// What the current round is for.
    pub fn aim(&self) -> Aim {
        if self.current == COVERAGE { Aim::Coverage } else { Aim::Cost }
    }

    /// Adds an execution to the current round's work.
    #[inline]
    pub fn spend(&mut self, instructions: u64, bytes: usize) {
        self.arms[self.current].work += (instructions + OVERHEAD + bytes as u64 / BYTES) as f64;
    }

    /// An input was kept in the current round.
    pub fn found(&mut self, novelty: Novelty) {
        let counts = match self.aim() {
            Aim::Coverage => novelty.edge || novelty.bucket,
            Aim::Cost => novelty.maximum || novelty.total || novelty.memory,
        };
        self.arms[self.current].found += f64::from(u8::from(counts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Novelty = Novelty { edge: true, bucket: true, maximum: true, total: true, memory: false };

    /// Work for coverage over work for cost, if every so many-th round for each brings something.
    fn shares(focus: Focus, coverage: u64, cost: u64) -> f64 {
        let mut effort = Effort { focus, ..Effort::default() };
        let (mut work, mut rounds) = ([0.0; 2], [0u64; 2]);
        for _ in 0..20_000 {
            let aim = effort.begin();
            let (spent, every) = if aim == Aim::Cost { (1_000_000, cost) } else { (1_000, coverage) };
            effort.spend(spent, 0);
            let which = usize::from(aim == Aim::Cost);
            work[which] += (spent + OVERHEAD) as f64;
            rounds[which] += 1;
            if rounds[which] % every == 0 {
                effort.found(NEW);
            }
        }
        work[0] / work[1]
    }

    fn close(a: f64, b: f64) {
        assert!((0.9..1.1).contains(&(a / b)), "{a} is not {b}");
    }

    #[test]
    fn the_aims_get_their_shares_of_the_work_whatever_a_run_costs() {
        close(shares(Focus::Coverage, 100, 3), 4.0);
        close(shares(Focus::Cost, 100, 3), 0.25);
    }

    #[test]
    fn balanced_follows_what_the_aims_find_for_their_work() {
        // a round for cost is 250 times as much work
        close(shares(Focus::Balanced, 250, 1), 1.0);
        close(shares(Focus::Balanced, 10, 1), 4.0);
        close(shares(Focus::Balanced, 100_000, 1), 0.25);
    }

    #[test]
    fn work_ages_also_while_nothing_is_found() {
        let mut effort = Effort { focus: Focus::Coverage, ..Effort::default() };
        for _ in 0..100_000 {
            effort.begin();
            effort.spend(10_000_000, 0); // a hundred times the window
        }
        effort.focus = Focus::Cost;
        let rounds = std::iter::from_fn(|| (effort.begin() == Aim::Cost).then(|| effort.spend(10_000_000, 0))).count();
        // the work of the window, and no more: four fifths of it were for coverage
        assert!(rounds as f64 * 1e7 < 2.0 * WINDOW, "{rounds} rounds");
    }

    #[test]
    fn mutants_that_are_not_held_to_a_mask_count_as_such() {
        let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
        effort.current = EDGE_KEPT;
        effort.spend(100, 0);
        effort.let_go();
        effort.spend(1_000, 0);
        effort.found(NEW);
        let of = |arm: usize| (effort.arms[arm].work, effort.arms[arm].found);
        let work = |instructions: u64| (instructions + OVERHEAD) as f64;
        assert_eq!((of(EDGE_KEPT), of(PLAIN_COST)), ((work(100), 0.0), (work(1_000), 1.0)));
        effort.current = COVERAGE;
        effort.let_go();
        assert_eq!(effort.aim(), Aim::Coverage);
    }

    #[test]
    fn a_kind_that_is_never_possible_leaves_the_others_their_rounds() {
        for never in [Hold::Cost, Hold::Edge] {
            let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
            let mut rounds = [0u32; 3];
            for _ in 0..10_000 {
                if effort.begin() == Aim::Cost {
                    let hold = effort.begin_hold(true);
                    rounds[hold as usize] += 1;
                    if hold == never {
                        effort.let_go();
                    }
                }
                effort.spend(100_000, 0);
            }
            let other = if never == Hold::Cost { Hold::Edge } else { Hold::Cost };
            assert!(f64::from(rounds[other as usize]) > 0.3 * f64::from(rounds.iter().sum::<u32>()), "{rounds:?}");
        }
    }

    /// Share of the rounds for cost that were held to nothing, to the total and to an edge, if only a kind brings anything,
    /// every fourth time.
    fn holds(good: Hold, edge: bool) -> [f64; 3] {
        let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
        let mut rounds = [0u32; 3];
        for _ in 0..200_000 {
            let hold = (effort.begin() == Aim::Cost).then(|| effort.begin_hold(edge));
            effort.spend(100_000, 0);
            if let Some(hold) = hold {
                rounds[hold as usize] += 1;
                if hold == good && rounds[hold as usize] % 4 == 0 {
                    effort.found(NEW);
                }
            }
        }
        rounds.map(|number| f64::from(number) / f64::from(rounds.iter().sum::<u32>()))
    }

    #[test]
    fn masked_rounds_are_as_frequent_as_they_are_good() {
        let least = |share: f64| close(share, SMALLEST_SHARE_OF_HOLDS / (1.0 + 2.0 * SMALLEST_SHARE_OF_HOLDS));
        let [nothing, cost, edge] = holds(Hold::Edge, true);
        least(nothing);
        least(cost);
        assert!(edge > 0.8);
        let [nothing, cost, edge] = holds(Hold::Nothing, false);
        assert!(nothing > 0.8 && edge == 0.0);
        close(cost / nothing, SMALLEST_SHARE_OF_HOLDS);
    }
}
