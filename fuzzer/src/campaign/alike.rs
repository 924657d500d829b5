//! Whether runs do the same whatever their input: then the code that reads it has no counts, or does not get it.

use serde::{Deserialize, Serialize};

use quagmire_execution::{bucket::bucket, counts::CountsObserver};

/// Number of runs after which all may be said to be alike.
const ENOUGH: u64 = 300;

/// Number of runs that are looked at, and the share of them that nearly all means.
const MOST: u64 = 1_000;
const NEARLY_ALL: f64 = 0.95;

/// The first runs of a campaign, compared with the very first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alike {
    /// Number of runs that were compared, at most [`MOST`].
    pub runs: u64,
    /// Number of runs with the buckets of the first one.
    pub same: u64,
    /// Edges that the first run executed.
    pub edges: u64,
    trace: u64,
}

impl Alike {
    /// Takes in a run, unless enough is known.
    #[inline]
    pub fn learn(&mut self, counts: &CountsObserver) {
        if !self.is_known() {
            let (trace, edges) = trace(counts);
            self.add(trace, edges);
        }
    }

    fn is_known(&self) -> bool {
        self.runs >= MOST || (self.runs >= ENOUGH && !self.are_nearly_all())
    }

    fn add(&mut self, trace: u64, edges: u64) {
        if self.runs == 0 {
            (self.trace, self.edges) = (trace, edges);
        }
        self.runs += 1;
        self.same += u64::from(trace == self.trace);
    }

    fn are_nearly_all(&self) -> bool {
        self.same as f64 >= self.runs as f64 * NEARLY_ALL
    }

    /// Whether nearly all of the runs so far are alike, and there were enough.
    pub fn is_likely(&self) -> bool {
        self.runs >= MOST && self.are_nearly_all()
    }

    /// Warning, in words; `None` as long as nothing is. `found` of the `branches` of the program were executed by any
    /// run: where some were not, runs that differ may be to come, and all of the runs have to be alike.
    pub fn warning(&self, found: u64, branches: u64) -> Option<String> {
        let are_all = self.runs >= ENOUGH && self.same == self.runs;
        let (runs, edges) = (self.runs, self.edges);
        let how_many = if are_all { format!("all {runs} first runs") } else { format!("{} of {runs} runs", self.same) };
        let what = match edges {
            0 => "none of the code that is counted".to_owned(),
            1 => "the same edge".to_owned(),
            edges => format!("the same {edges} edges"),
        };
        (are_all || self.is_likely() && found >= branches).then(|| {
            format!(
                "{how_many} execute {what}, whatever the input: build the library that reads it with CC=quagmire-cc and \
                 CXX=quagmire-c++; if that was done, the input does not get there, or is refused at once"
            )
        })
    }
}

/// Hash of the edges that the last run executed, with their buckets, and their number.
fn trace(counts: &CountsObserver) -> (u64, u64) {
    let (mut hash, mut edges) = (0_u64, 0);
    for &function in counts.ran() {
        let (first, counts) = counts.branches(function);
        for (edge, &count) in (first as u64..).zip(counts).filter(|(_, count)| **count != 0) {
            let mixed = (edge << 8 | u64::from(bucket(count))).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash = hash.wrapping_add(mixed ^ mixed >> 29);
            edges += 1;
        }
    }
    (hash, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(runs: impl IntoIterator<Item = u64>) -> Alike {
        let mut alike = Alike::default();
        runs.into_iter().for_each(|trace| alike.add(trace, 1));
        alike
    }

    #[test]
    fn runs_that_are_all_alike_are_told_of_after_some_hundred() {
        assert_eq!(after([7; 299]).warning(1, 1), None);
        let warning = after([7; 300]).warning(1, 9).expect("all are alike");
        assert!(warning.contains("all 300 first runs execute the same edge") && warning.contains("CC=quagmire-cc"));
        assert_eq!(after([7; 300].into_iter().chain([8])).warning(1, 9), None);
    }

    #[test]
    fn a_few_other_runs_do_not_matter_where_all_counted_code_is_executed() {
        let mostly = |others: u64| after((0..1_000).map(|run| u64::from(run % 100 >= 100 - others)));
        assert!(mostly(5).warning(4, 4).is_some_and(|warning| warning.contains("950 of 1000 runs")));
        assert_eq!(mostly(5).warning(4, 5), None);
        assert_eq!(mostly(6).warning(4, 4), None);
        assert!(mostly(5).is_likely() && !mostly(6).is_likely());
    }

    #[test]
    fn runs_that_differ_are_looked_at_no_longer_than_needed() {
        let different = after(0..300);
        assert!(different.is_known() && different.warning(1, 1).is_none());
        assert!(!after([1; 999]).is_known() && after([1; 1_000]).is_known());
    }
}
