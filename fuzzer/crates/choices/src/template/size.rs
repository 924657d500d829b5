//! Sizes of templates, without making their bytes.

use super::{Part, Pick, Template, Times};

impl Template {
    /// Number of bytes at `n`; `u64::MAX` if there are more.
    pub fn size(&self, n: u64) -> u64 {
        size(&self.parts, n)
    }

    /// The largest `N` of at most `bytes` whose size is at most `bytes`, but at least 1. 1 for a template that does not
    /// scale.
    pub fn n_for_size(&self, bytes: u64) -> u64 {
        if !self.scales() {
            return 1;
        }
        let (mut low, mut high) = (1, bytes.max(2));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.size(middle) <= bytes { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// The largest `N` at which no number loses its first digit; `None` if that is any of 64 bits.
    pub fn largest_n(&self) -> Option<u64> {
        least(&self.parts, Times::N, &|part, _| match part {
            Part::Counter(counter) => u64::from(counter.digits.base()).checked_pow(counter.width.into()),
            Part::Number(field) => field.largest(),
            _ => None,
        })
    }

    /// The largest `N` up to which every long list gives each of its texts once at most; `None` if there is no such list.
    /// A few texts in turn are a pattern, which goes on.
    pub fn list_end(&self) -> Option<u64> {
        least(&self.parts, Times::N, &|part, rounds| match part {
            Part::Pick(pick) if pick.choices.len() > MOST_IN_TURN => {
                let last = (pick.choices.len() as u64).saturating_sub(rounds.plus);
                last.checked_div(rounds.factor)
            }
            _ => None,
        })
    }
}

/// Texts of a list that are taken in turn without end.
const MOST_IN_TURN: usize = 15;

/// The least of what parts say, with the rounds of the loop around them.
fn least(parts: &[Part], rounds: Times, of: &dyn Fn(&Part, Times) -> Option<u64>) -> Option<u64> {
    let inner = |part: &Part| match part {
        Part::Repeat { times, body } => least(body, *times, of),
        Part::Stair(body) => least(body, rounds, of),
        Part::Nest { times, open, middle, close } => {
            let all = [least(open, *times, of), least(middle, rounds, of), least(close, *times, of)];
            all.into_iter().flatten().min()
        }
        part => of(part, rounds),
    };
    parts.iter().filter_map(inner).min()
}

/// Whether `N` itself stands in parts.
pub(super) fn has_number(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Number(_) => true,
        Part::Repeat { body, .. } | Part::Stair(body) => has_number(body),
        Part::Nest { open, middle, close, .. } => [open, middle, close].into_iter().any(|parts| has_number(parts)),
        Part::Literal(_) | Part::Counter(_) | Part::Pick(_) => false,
    })
}

/// Number of bytes of parts outside of loops, at `n`.
pub(super) fn size(parts: &[Part], n: u64) -> u64 {
    let round = Round::of(parts, n);
    u64::try_from(round.fixed).unwrap_or(u64::MAX)
}

/// Sizes in one round of a loop: what is there in each round, and what depends on its number.
#[derive(Default)]
struct Round<'a> {
    /// Bytes in each round.
    fixed: u128,
    /// Bytes times the number of the round, which is 1 in the first one.
    growing: u128,
    /// Texts that are picked once in each round.
    picks: Vec<&'a Pick>,
    /// Texts that are picked as often as the number of the round says.
    growing_picks: Vec<&'a Pick>,
}

impl<'a> Round<'a> {
    fn of(parts: &'a [Part], n: u64) -> Self {
        let mut round = Self::default();
        round.add(parts, n);
        round
    }

    fn add(&mut self, parts: &'a [Part], n: u64) {
        for part in parts {
            let more = match part {
                Part::Literal(bytes) => bytes.len() as u128,
                Part::Counter(counter) => counter.width.into(),
                Part::Number(field) => field.digits_of(n).into(),
                Part::Repeat { times, body } => Self::of(body, n).over(times.at(n)),
                Part::Nest { times, open, middle, close } => {
                    self.add(middle, n);
                    let times = times.at(n);
                    Self::of(open, n).over(times).saturating_add(Self::of(close, n).over(times))
                }
                Part::Stair(body) => {
                    let inner = Self::of(body, n);
                    self.growing = self.growing.saturating_add(inner.fixed);
                    self.growing_picks.extend(inner.picks);
                    0
                }
                Part::Pick(pick) => {
                    self.picks.push(pick);
                    0
                }
            };
            self.fixed = self.fixed.saturating_add(more);
        }
    }

    /// Bytes of all of `times` rounds.
    fn over(&self, times: u64) -> u128 {
        let times = u128::from(times);
        let mut sum = self.fixed.saturating_mul(times);
        let rounds = times * (times + 1) / 2;
        sum = sum.saturating_add(self.growing.saturating_mul(rounds));
        for (picks, is_growing) in [(&self.picks, false), (&self.growing_picks, true)] {
            for pick in picks {
                let cycle = pick.choices.len() as u128;
                for (place, choice) in pick.choices.iter().enumerate() {
                    let place = place as u128;
                    // rounds that pick it: place + 1, place + 1 + cycle, ...
                    let often = if times > place { (times - place - 1) / cycle + 1 } else { 0 };
                    let weight = if is_growing {
                        (place + 1)
                            .saturating_mul(often)
                            .saturating_add(cycle.saturating_mul(often.saturating_mul(often.saturating_sub(1)) / 2))
                    } else {
                        often
                    };
                    sum = sum.saturating_add((choice.len() as u128).saturating_mul(weight));
                }
            }
        }
        sum
    }
}
