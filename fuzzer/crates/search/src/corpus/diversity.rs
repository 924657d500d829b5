//! Validity and diversity of the runs of a campaign: how many were valid, how many distinct traces they had, and how
//! evenly these cover the branches.
//!
//! Mutants and seeds count. Runs that measure, probe or trim do not, nor do inputs of other campaigns.

use serde::{Deserialize, Serialize};

use quagmire_execution::{
    abi::Status,
    counts::CountsObserver,
    diversity::{
        hill::Hill,
        table::{TraceCounts, TraceTable},
    },
};

/// Counts of valid runs, and of the branches that unique valid traces cover; part of the checkpoint. The set of traces
/// itself is in memory that outlives the worker.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Diversity {
    #[serde(skip)]
    traces: Option<TraceTable>,
    valid: u64,
    invalid: u64,
    /// For each edge, the number of unique valid traces that cover it; 0 for progress slots.
    covered: Vec<u64>,
}

impl Diversity {
    /// Counts traces in this set from now on. If that is empty, as in a new session, the counts of branches begin anew:
    /// nobody knows any more which traces they are of.
    pub fn count_traces(&mut self, traces: TraceTable) {
        if traces.counts() == TraceCounts::default() {
            self.covered.clear();
        }
        self.traces = Some(traces);
    }

    /// Prepares for [`Self::observe`].
    #[inline]
    pub(crate) fn fetch(&self, counts: &CountsObserver) {
        if let (Some(traces), Some(trace)) = (&self.traces, counts.last_trace()) {
            traces.fetch(trace);
        }
    }

    /// Counts the last run. Returns whether its trace was new.
    #[inline]
    pub(crate) fn observe(&mut self, counts: &mut CountsObserver) -> bool {
        let is_valid = counts.is_valid();
        *(if is_valid { &mut self.valid } else { &mut self.invalid }) += 1;
        let (Some(traces), Some(trace)) = (&self.traces, counts.last_trace()) else { return false };
        // a run that was cut off stops anywhere
        if !matches!(counts.status(), Status::Returned | Status::Rejected) {
            return false;
        }
        let sighting = traces.insert(trace, is_valid);
        if sighting.is_new_valid {
            counts.count_trace();
        }
        sighting.is_new
    }

    /// Takes over the branches that new traces have covered since the last call.
    pub fn settle(&mut self, counts: &mut CountsObserver) {
        if self.traces.is_some() {
            counts.settle_hits_of_traces(&mut self.covered);
        }
    }

    /// Number of valid runs.
    pub fn valid(&self) -> u64 {
        self.valid
    }

    /// Number of runs that were not valid.
    pub fn invalid(&self) -> u64 {
        self.invalid
    }

    /// Numbers of distinct traces; `None` if they are not counted.
    pub fn traces(&self) -> Option<TraceCounts> {
        self.traces.map(|traces| traces.counts())
    }

    /// Hill numbers over the unique valid traces, as of the last call of [`Self::settle`]. Takes time proportional to the
    /// number of edges.
    pub fn hill(&self) -> Hill {
        Hill::of(self.covered.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::{diversity::trace::TraceKind, testing::made_up};

    #[test]
    fn branches_count_once_for_each_unique_valid_trace() {
        let (program, slots) = made_up(&[2, 3]);
        let mut counts = CountsObserver::new(program);
        counts.trace(TraceKind::Bucketed);
        let mut diversity = Diversity::default();
        diversity.count_traces(TraceTable::new().unwrap());
        let mut run = |diversity: &mut Diversity, first: [u32; 2], second: [u32; 3], status| {
            counts.clear();
            slots.set(0, &first);
            slots.set(1, &second);
            counts.set_end(status, Default::default());
            counts.digest();
            let is_new = diversity.observe(&mut counts);
            diversity.settle(&mut counts);
            is_new
        };
        assert!(run(&mut diversity, [1, 0], [1, 4, 0], Status::Returned));
        assert!(!run(&mut diversity, [1, 0], [1, 7, 0], Status::Returned), "the same buckets");
        assert!(run(&mut diversity, [1, 0], [1, 8, 0], Status::Returned));
        assert!(run(&mut diversity, [1, 1], [0, 0, 0], Status::Rejected));
        assert!(!run(&mut diversity, [1, 1], [0, 0, 0], Status::Returned), "new among valid ones only");
        assert!(!run(&mut diversity, [1, 0], [1, 9, 9], Status::Crashed));
        assert_eq!(diversity.covered, [3, 1, 2, 2, 0]);
        assert_eq!((diversity.valid(), diversity.invalid()), (4, 2));
        assert_eq!(diversity.traces(), Some(TraceCounts { all: 3, valid: 3, is_full: false }));
        assert_eq!(diversity.hill().b0, 4.0);
    }
}
