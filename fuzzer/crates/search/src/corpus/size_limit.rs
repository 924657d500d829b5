//! Size limit of inputs at present. Where none was asked for it begins small, since small inputs run fast and show what
//! grows, and is doubled while that pays. All of it goes by counts: the same `--seed` is the same search.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::EntryId;

/// Runs before the limit is doubled: enough to find out what the size brings.
const RUNS: u64 = 2000;

/// Work before the limit is doubled, in runs of the dearest input: the shape of it is found, and larger ones follow from it. What
/// is quadratic costs four times as much then, so that all earlier limits together take a third of the work of the last one.
const DEAREST_RUNS: f64 = 32.0;

/// Work of the dearest input, about 600 ms, from which on that number grows in proportion: runs are already slow, and what is
/// exponential never gets further.
const SLOW: f64 = 2e9;

/// Factor by which inputs above half the limit have to cost more than those below it: 2 is linear, 4 quadratic, and n log n
/// little above 2.
const PAYS: u64 = 5;
const PAYS_DIVISOR: u64 = 2;

/// Runs, as a multiple of all before, after which the limit is doubled though nothing shows that it pays: some cost begins
/// at a size. At first after [`FIRST_LOOK`] runs.
const LOOK: u64 = 7;
const FIRST_LOOK: u64 = 1 << 16;

/// Largest mean work of a run at which the limit is doubled without need: about a third of a millisecond.
const CHEAP: u64 = 1_000_000;

/// Size limit, and what speaks for a larger one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SizeLimit {
    now: usize,
    /// Largest limit.
    #[serde(skip)]
    most: usize,
    /// Most work of a run whose input is up to half as large as the limit, and of a larger one.
    lower: u64,
    upper: u64,
    /// Least work of a run.
    least: Option<u64>,
    /// Runs and work since the limit was doubled.
    runs: u64,
    work: u64,
    /// Runs before that.
    before: u64,
    /// Sizes of entries that were larger than the limit when they were entered.
    beyond: BTreeMap<EntryId, usize>,
}

impl SizeLimit {
    /// Begins a session with inputs of up to `first` bytes, unless an earlier one got further, and of `most` bytes later on.
    pub fn begin(&mut self, first: usize, most: usize) {
        self.most = most;
        self.now = self.now.max(first).min(most);
    }

    /// The limit now, in bytes.
    pub fn now(&self) -> usize {
        self.now
    }

    /// The largest limit of this session, in bytes.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Notes the size of an entry.
    pub fn enter(&mut self, entry: EntryId, bytes: usize) {
        if bytes > self.now {
            self.beyond.insert(entry, bytes);
        }
    }

    /// Whether an entry is larger than the limit: one that is made of what is known, to be mutated when its size is reached.
    pub fn is_beyond(&self, entry: EntryId) -> bool {
        self.beyond.get(&entry).is_some_and(|&bytes| bytes > self.now)
    }

    /// Counts a run of the search that returned: its work, and the size of its input.
    #[inline]
    pub fn count(&mut self, work: u64, bytes: usize) {
        // made of what is known, and not by the search at this limit
        if bytes > self.now {
            return;
        }
        self.runs += 1;
        self.work += work;
        let part = if bytes > self.now / 2 { &mut self.upper } else { &mut self.lower };
        *part = work.max(*part);
        self.least = Some(self.least.map_or(work, |least| least.min(work)));
    }

    /// Makes the limit that of an input from elsewhere, if that is larger and costs as much for its size as what was found
    /// here. Returns whether the limit changed.
    pub fn reach(&mut self, work: u64, bytes: usize) -> bool {
        let dearest = self.lower.max(self.upper);
        let is_dear = dearest > 0 && u128::from(work) * self.now as u128 >= u128::from(dearest) * bytes as u128;
        let is_larger = bytes > self.now && self.now < self.most && is_dear;
        while is_larger && self.now < bytes.min(self.most) {
            self.double();
        }
        is_larger
    }

    /// Doubles the limit if it is time. Returns whether it is larger now.
    pub fn grow(&mut self) -> bool {
        let is_due = self.now < self.most && self.has_waited() && (self.pays() || self.looks());
        if is_due {
            self.double();
        }
        is_due
    }

    fn has_waited(&self) -> bool {
        let dearest = self.lower.max(self.upper) as f64;
        self.runs >= RUNS && self.work as f64 >= DEAREST_RUNS * dearest * (dearest / SLOW).max(1.0)
    }

    /// Whether cost grows faster than size, beyond what each run costs.
    fn pays(&self) -> bool {
        let beyond = |work: u64| work.saturating_sub(self.least.unwrap_or(0));
        PAYS_DIVISOR.saturating_mul(beyond(self.upper)) >= PAYS.saturating_mul(beyond(self.lower).max(1))
    }

    fn looks(&self) -> bool {
        self.runs >= FIRST_LOOK.max(LOOK.saturating_mul(self.before)) && self.work / self.runs <= CHEAP
    }

    fn double(&mut self) {
        self.now = self.now.saturating_mul(2).min(self.most);
        self.lower = self.lower.max(self.upper);
        self.before += self.runs;
        (self.upper, self.runs, self.work) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits that a search of `runs` runs has, whose inputs are of all sizes up to the limit and of this work.
    fn limits(runs: u64, work: impl Fn(u64) -> u64) -> Vec<usize> {
        let mut limit = SizeLimit::default();
        limit.begin(4096, 1_000_000);
        let mut seen = vec![limit.now()];
        for run in 1..=runs {
            let bytes = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (limit.now() as u64 + 1);
            limit.count(work(bytes), bytes as usize);
            if limit.grow() {
                seen.push(limit.now());
            }
        }
        seen
    }

    #[test]
    fn the_limit_grows_where_cost_grows_faster_than_size_and_each_step_takes_longer() {
        let quadratic = |bytes: u64| 1000 + bytes * bytes / 10;
        assert_eq!(limits(1900, quadratic), [4096]);
        assert_eq!(limits(15_000, quadratic).last(), Some(&524_288));
        assert_eq!(limits(200_000, quadratic).last(), Some(&1_000_000), "never beyond the largest");
    }

    #[test]
    fn linear_programs_stay_at_small_inputs_but_for_a_look_now_and_then() {
        let linear = |bytes: u64| 1000 + 30 * bytes;
        assert_eq!(limits(60_000, linear), [4096]);
        assert_eq!(limits(500_000, linear), [4096, 8192]);
        assert_eq!(limits(540_000, linear), [4096, 8192, 16384]);
        let constant = |_| 50_000_000;
        assert_eq!(limits(200_000, constant), [4096], "no look where runs are expensive");
    }

    #[test]
    fn one_run_that_costs_far_more_than_all_others_keeps_the_limit_small() {
        let exponential = |bytes: u64| if bytes > 4090 { 1 << 36 } else { 1000 + bytes };
        assert_eq!(limits(60_000, exponential), [4096]);
    }

    #[test]
    fn inputs_from_elsewhere_raise_the_limit_if_they_cost_enough_for_their_size() {
        let mut limit = SizeLimit::default();
        limit.begin(4096, 50_000);
        assert!(!limit.reach(1 << 40, 10_000), "nothing is known that it could be held against");
        limit.count(40_960, 4096);
        assert!(!limit.reach(50_000, 10_000) && !limit.reach(1 << 40, 4000));
        assert!(limit.reach(100_000, 10_000));
        assert_eq!(limit.now(), 16_384);
        assert!(limit.reach(1 << 40, 60_000));
        assert_eq!(limit.now(), 50_000);
        assert!(!limit.reach(1 << 40, 60_000));
    }

    #[test]
    fn a_later_session_goes_on_with_its_limit_and_a_limit_that_is_asked_for_stays() {
        let mut limit = SizeLimit { now: 16_384, ..SizeLimit::default() };
        limit.begin(4096, 1_000_000);
        assert_eq!(limit.now(), 16_384);
        limit.begin(2000, 2000);
        assert_eq!(limit.now(), 2000);
        (0..100_000).for_each(|_| limit.count(10, 1000));
        assert!(!limit.grow());
    }
}
