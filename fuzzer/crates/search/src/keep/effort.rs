//! Distribution of the work between the aims of the search, by what each aim found. Shares are kept by work done and
//! not by rounds: otherwise a few inputs that are hundreds of times as expensive as the rest would take nearly all of
//! the time.

use serde::{Deserialize, Serialize};

use super::{history::Novelty, offspring::Goals};
use crate::mask::target::Goal;

/// Aim of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim {
    /// New behaviour: mutates entries that hit rare branches, or any top-rated entry, cheap ones preferred.
    #[default]
    Coverage,
    /// Higher cost: mutates the entries with the best scores.
    Cost,
}

/// Work of an execution beside the target's own (mutating, digesting, judging), in instructions.
pub const OVERHEAD: u64 = 3000;

/// Bytes of the input whose handling (copying) is as much work as one instruction.
const BYTES: u64 = 2;

/// Work of a run, in instructions.
pub fn work(instructions: u64, bytes: usize) -> u64 {
    instructions + OVERHEAD + bytes as u64 / BYTES
}

/// Division of the work between the aims (`--focus`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    /// Four fifths for cost.
    Cost,
    /// Four fifths for coverage.
    Coverage,
    /// By the finds of each aim for its work, with at least a fifth for each.
    #[default]
    Balanced,
}

/// Share of the work for coverage with `--focus coverage`, and for cost with `--focus cost`; with `balanced`, the
/// largest share of either.
const LARGEST_SHARE: f64 = 0.8;
const SMALLEST_SHARE: f64 = 1.0 - LARGEST_SHARE;

/// Smallest share of the work for cost that each way of mutating for cost gets.
const SMALLEST_SHARE_OF_HOLDS: f64 = 0.1;

/// Work after which all work and finds count half, in instructions: about ten seconds.
const WINDOW: f64 = 1e10;

/// Work that is added to each kind of round when its rate of finds is computed, in instructions: it stands for one
/// find.
const FIRST_WORK: f64 = 1e6;

/// Work and finds of one kind of round.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Arm {
    found: f64,
    work: f64,
}

impl Arm {
    /// Finds for each unit of work.
    fn rate(&self) -> f64 {
        (self.found + 1.0) / (self.work + FIRST_WORK)
    }
}

const COVERAGE: usize = 0;
const PLAIN_COST: usize = 1;
const COST_KEPT: usize = 2;
const EDGE_KEPT: usize = 3;
/// Kind of the rounds for cost in which there was no choice between the ways of mutating for it: rounds of entries
/// that are worth no mask, and probes.
const NO_CHOICE: usize = 4;
const ARMS: usize = 5;

/// Work and finds of all kinds of rounds, from which the aim of the next one follows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    /// Division of the work between the aims.
    #[serde(skip)]
    pub focus: Focus,
    current: usize,
    #[serde(skip)]
    prepares: bool,
    /// Kind of the last round whose goal was dropped. It is not chosen the next time, or it would be chosen for ever,
    /// since it gets no work.
    let_go: Option<usize>,
    arms: [Arm; ARMS],
}

impl Effort {
    /// Begins a round for the aim that got less than its share so far, and returns the aim.
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
        self.current = NO_CHOICE;
        Aim::Cost
    }

    /// Current share of the work for coverage, 0 to 1.
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

    /// Work and finds of all rounds for cost.
    fn for_cost(&self) -> Arm {
        let arms = [PLAIN_COST, COST_KEPT, EDGE_KEPT, NO_CHOICE].map(|arm| &self.arms[arm]);
        Arm { found: arms.iter().map(|arm| arm.found).sum(), work: arms.iter().map(|arm| arm.work).sum() }
    }

    /// Chooses whether mutants of the round for cost that has begun should keep one of `goals`, and which; `None` for
    /// neither. The goals given are those that are worth a mask. The ways of mutating such entries share the work by
    /// the recent finds of the mutants of each. The work of computing a mask does not count: it is spent, whether or
    /// not the mask is used.
    pub fn begin_hold(&mut self, goals: Goals) -> Option<Goal> {
        if goals.iter().all(Option::is_none) {
            return None;
        }
        let let_go = self.let_go.take();
        let holds = [(PLAIN_COST, None), (COST_KEPT, goals[0]), (EDGE_KEPT, goals[1])];
        let is_possible = |arm: usize, goal: Option<Goal>| arm == PLAIN_COST || (goal.is_some() && Some(arm) != let_go);
        let possible = || holds.into_iter().filter(|&(arm, goal)| is_possible(arm, goal));
        let rates: f64 = possible().map(|(arm, _)| self.arms[arm].rate()).sum();
        // how far it is behind: work done for each unit of share
        let lag = |arm: usize| self.arms[arm].work / (self.arms[arm].rate() / rates).max(SMALLEST_SHARE_OF_HOLDS);
        let behind = possible().min_by(|(one, _), (other, _)| lag(*one).total_cmp(&lag(*other)));
        let (arm, goal) = behind.unwrap_or((PLAIN_COST, None));
        self.current = arm;
        goal
    }

    /// Drops the goal of the current round for cost, which goes on as a round of ordinary mutation.
    pub fn let_go(&mut self) {
        if self.current == COST_KEPT || self.current == EDGE_KEPT {
            self.let_go = Some(self.current);
            self.current = PLAIN_COST;
        }
    }

    /// Aim of the current round.
    pub fn aim(&self) -> Aim {
        if self.current == COVERAGE { Aim::Coverage } else { Aim::Cost }
    }

    /// Begins or ends the preparation of a round: its work and finds are not counted as those of the round's mutants.
    pub fn prepare(&mut self, prepares: bool) {
        self.prepares = prepares;
    }

    fn arm(&mut self) -> &mut Arm {
        let prepares = self.prepares && self.aim() == Aim::Cost;
        &mut self.arms[if prepares { NO_CHOICE } else { self.current }]
    }

    /// Adds an execution to the work of the current round.
    #[inline]
    pub fn spend(&mut self, instructions: u64, bytes: usize) {
        self.arm().work += work(instructions, bytes) as f64;
    }

    /// Counts an input that was kept in the current round as a find, if its novelty serves the aim of the round.
    pub fn found(&mut self, novelty: Novelty) {
        let counts = match self.aim() {
            Aim::Coverage => novelty.edge || novelty.bucket,
            Aim::Cost => novelty.maximum || novelty.total || novelty.memory,
        };
        self.arm().found += f64::from(u8::from(counts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_cost::resource::Resource;

    const NEW: Novelty = Novelty { edge: true, bucket: true, maximum: true, total: true, memory: false };

    /// Work for coverage over work for cost, if every `coverage`-th and every `cost`-th round brings something.
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
        let work = |instructions: u64| work(instructions, 0) as f64;
        assert_eq!((of(EDGE_KEPT), of(PLAIN_COST)), ((work(100), 0.0), (work(1_000), 1.0)));
        effort.current = COVERAGE;
        effort.let_go();
        assert_eq!(effort.aim(), Aim::Coverage);
    }

    const TOTAL: Goal = Goal::KeepsCost { resource: Resource::Instructions, least: 1 };
    const EDGE: Goal = Goal::KeepsHot { edge: 2, least: 1 };

    #[test]
    fn what_a_mask_takes_is_work_for_cost_but_no_reason_not_to_use_it() {
        let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
        let mut rounds = [0u32; 2];
        for _ in 0..10_000 {
            if effort.begin() == Aim::Cost {
                let held = effort.begin_hold([Some(TOTAL), None]).is_some();
                rounds[usize::from(held)] += 1;
                if held {
                    effort.prepare(true);
                    effort.spend(1_000_000, 0);
                    effort.prepare(false);
                }
            } else {
                effort.prepare(true); // coverage's
                effort.spend(50_000, 0);
                effort.prepare(false);
            }
            effort.spend(50_000, 0);
        }
        close(f64::from(rounds[0]), f64::from(rounds[1]));
        close(effort.arms[COVERAGE].work / effort.for_cost().work, 0.25);
        assert!(effort.arms[NO_CHOICE].work > 5.0 * effort.arms[COST_KEPT].work);
    }

    #[test]
    fn rounds_without_a_choice_take_nothing_from_those_that_have_one() {
        let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
        let (mut rounds, mut number) = ([0u32; 2], 0);
        for _ in 0..20_000 {
            if effort.begin() == Aim::Cost {
                number += 1;
                let total = (number % 8 == 0).then_some(TOTAL);
                let goal = effort.begin_hold([total, None]);
                assert!(total.is_some() || goal.is_none());
                rounds[usize::from(goal.is_some())] += u32::from(total.is_some());
            }
            effort.spend(100_000, 0);
        }
        close(f64::from(rounds[0]), f64::from(rounds[1]));
    }

    #[test]
    fn a_kind_that_is_never_possible_leaves_the_others_their_rounds() {
        for never in [TOTAL, EDGE] {
            let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
            let mut rounds = [0u32; 3];
            for _ in 0..10_000 {
                if effort.begin() == Aim::Cost {
                    let goal = effort.begin_hold([Some(TOTAL), Some(EDGE)]);
                    rounds[place(goal)] += 1;
                    if goal == Some(never) {
                        effort.let_go();
                    }
                }
                effort.spend(100_000, 0);
            }
            let other = if never == TOTAL { EDGE } else { TOTAL };
            assert!(f64::from(rounds[place(Some(other))]) > 0.3 * f64::from(rounds.iter().sum::<u32>()), "{rounds:?}");
        }
    }

    fn place(goal: Option<Goal>) -> usize {
        [None, Some(TOTAL), Some(EDGE)].into_iter().position(|other| other == goal).unwrap()
    }

    /// Shares of the rounds for cost without a goal, with the total as goal, and with an edge as goal, if every fourth
    /// round of kind `good` brings something, and no other does.
    fn holds(good: Option<Goal>, edge: Option<Goal>) -> [f64; 3] {
        let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
        let mut rounds = [0u32; 3];
        for _ in 0..200_000 {
            let goal = (effort.begin() == Aim::Cost).then(|| effort.begin_hold([Some(TOTAL), edge]));
            effort.spend(100_000, 0);
            if let Some(goal) = goal {
                rounds[place(goal)] += 1;
                if goal == good && rounds[place(goal)] % 4 == 0 {
                    effort.found(NEW);
                }
            }
        }
        rounds.map(|number| f64::from(number) / f64::from(rounds.iter().sum::<u32>()))
    }

    #[test]
    fn masked_rounds_are_as_frequent_as_they_are_good() {
        let least = |share: f64| close(share, SMALLEST_SHARE_OF_HOLDS / (1.0 + 2.0 * SMALLEST_SHARE_OF_HOLDS));
        let [nothing, total, edge] = holds(Some(EDGE), Some(EDGE));
        least(nothing);
        least(total);
        assert!(edge > 0.8);
        let [nothing, total, edge] = holds(None, None);
        assert!(nothing > 0.8 && edge == 0.0);
        close(total / nothing, SMALLEST_SHARE_OF_HOLDS);
    }
}
