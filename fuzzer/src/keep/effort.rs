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

/// Rounds for cost that are held to a mask, and those that are not: each gets this share of them at least.
const SMALLEST_SHARE_OF_MASKS: f64 = 0.1;

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
const MASKED_COST: usize = 2;

/// See the module's text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    /// How the work is divided.
    #[serde(skip)]
    pub focus: Focus,
    current: usize,
    arms: [Arm; 3],
}

impl Effort {
    /// Begins a round for the aim that got less than its share so far.
    pub fn begin(&mut self) -> Aim {
        let (coverage, cost) = (self.arms[COVERAGE].work, self.arms[PLAIN_COST].work + self.arms[MASKED_COST].work);
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
                let work = self.arms[PLAIN_COST].work + self.arms[MASKED_COST].work;
                let found = self.arms[PLAIN_COST].found + self.arms[MASKED_COST].found;
                let (coverage, cost) = (self.arms[COVERAGE].rate(), Arm { found, work }.rate());
                (coverage / (coverage + cost)).clamp(SMALLEST_SHARE, LARGEST_SHARE)
            }
        }
    }

    /// Whether the round for cost that has begun is to be held to a mask: masked and plain rounds share the work by what
    /// they found lately.
    pub fn begin_masked(&mut self) -> bool {
        let (plain, masked) = (&self.arms[PLAIN_COST], &self.arms[MASKED_COST]);
        let share = masked.rate() / (masked.rate() + plain.rate());
        let share = share.clamp(SMALLEST_SHARE_OF_MASKS, 1.0 - SMALLEST_SHARE_OF_MASKS);
        let masked = masked.work * (1.0 - share) <= plain.work * share;
        if masked {
            self.current = MASKED_COST;
        }
        masked
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
        if self.arms.iter().map(|arm| arm.work).sum::<f64>() > WINDOW {
            for arm in &mut self.arms {
                arm.work /= 2.0;
                arm.found /= 2.0;
            }
        }
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
    fn masked_rounds_are_as_frequent_as_they_are_good() {
        let mut effort = Effort { focus: Focus::Cost, ..Effort::default() };
        let mut masked = [0u64; 2];
        for _ in 0..200_000 {
            if effort.begin() == Aim::Cost {
                let is_masked = effort.begin_masked();
                masked[usize::from(is_masked)] += 1;
                effort.spend(100_000, 0);
                if !is_masked && masked[0] % 4 == 0 {
                    effort.found(NEW);
                }
            } else {
                effort.spend(100_000, 0);
            }
        }
        close(masked[1] as f64 / (masked[0] + masked[1]) as f64, SMALLEST_SHARE_OF_MASKS);
    }
}
