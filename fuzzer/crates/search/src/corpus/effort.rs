//! Distribution of the work between the aims of the search, by what each aim found. Shares are kept by work done and
//! not by rounds: otherwise a few inputs that are hundreds of times as expensive as the rest would take nearly all of
//! the time.

use serde::{Deserialize, Serialize};

use super::history::Novelty;

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

/// Work after which all work and finds count half, in instructions: about ten seconds.
const WINDOW: f64 = 1e10;

/// Work that is added to each aim when its rate of finds is computed, in instructions: it stands for one
/// find.
const FIRST_WORK: f64 = 1e6;

/// Work and finds of one aim.
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

/// Work and finds of both aims, from which the aim of the next round follows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    /// Division of the work between the aims.
    #[serde(skip)]
    pub focus: Focus,
    current: Aim,
    coverage: Arm,
    cost: Arm,
    /// Work by which coverage is behind its share; negative if cost is. No window: one round for cost can be the work of many
    /// of them, and has to be made up for.
    owed: f64,
    /// All work, of any age.
    all: f64,
}

impl Effort {
    /// All work so far.
    pub fn all(&self) -> f64 {
        self.all
    }

    /// Begins a round for the aim that got less than its share so far, and returns the aim.
    pub fn begin(&mut self) -> Aim {
        while self.coverage.work + self.cost.work > WINDOW {
            for arm in [&mut self.coverage, &mut self.cost] {
                arm.work /= 2.0;
                arm.found /= 2.0;
            }
        }
        self.current = if self.owed >= 0.0 { Aim::Coverage } else { Aim::Cost };
        self.current
    }

    /// Begins a round for coverage, whatever the shares are: there is no cost to raise.
    pub fn begin_coverage(&mut self) {
        self.begin();
        (self.current, self.owed) = (Aim::Coverage, 0.0);
    }

    /// Forgets the work and the finds of both aims.
    pub fn start_over(&mut self) {
        (self.coverage, self.cost, self.owed) = (Arm::default(), Arm::default(), 0.0);
    }

    /// Current share of the work for coverage, 0 to 1.
    pub fn share_of_coverage(&self) -> f64 {
        match self.focus {
            Focus::Cost => SMALLEST_SHARE,
            Focus::Coverage => LARGEST_SHARE,
            Focus::Balanced => {
                let (coverage, cost) = (self.coverage.rate(), self.cost.rate());
                (coverage / (coverage + cost)).clamp(SMALLEST_SHARE, LARGEST_SHARE)
            }
        }
    }

    /// Aim of the current round.
    pub fn aim(&self) -> Aim {
        self.current
    }

    fn arm(&mut self) -> &mut Arm {
        match self.current {
            Aim::Coverage => &mut self.coverage,
            Aim::Cost => &mut self.cost,
        }
    }

    /// Adds an execution to the work of the current round.
    #[inline]
    pub fn spend(&mut self, instructions: u64, bytes: usize) {
        let (work, share) = (work(instructions, bytes) as f64, self.share_of_coverage());
        self.arm().work += work;
        self.all += work;
        self.owed += match self.current {
            Aim::Coverage => -work * (1.0 - share),
            Aim::Cost => work * share,
        };
    }

    /// Counts an input that was kept in the current round as a find, if its novelty serves the aim of the round.
    pub fn found(&mut self, novelty: Novelty) {
        let counts = match self.aim() {
            Aim::Coverage => novelty.edge || novelty.bucket || novelty.valid_edge,
            Aim::Cost => novelty.maximum || novelty.total || novelty.memory,
        };
        self.arm().found += f64::from(u8::from(counts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Novelty =
        Novelty { edge: true, bucket: true, maximum: true, total: true, memory: false, valid_edge: false };

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
    fn a_round_that_is_the_work_of_many_windows_is_made_up_for() {
        let mut effort = Effort { focus: Focus::Coverage, ..Effort::default() };
        let mut work = [0.0; 2];
        for _ in 0..1_000_000 {
            let aim = effort.begin();
            let spent = if aim == Aim::Cost { 30 * WINDOW as u64 } else { WINDOW as u64 / 100 };
            effort.spend(spent, 0);
            work[usize::from(aim == Aim::Cost)] += spent as f64;
        }
        close(work[0] / work[1], 4.0);
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
}
