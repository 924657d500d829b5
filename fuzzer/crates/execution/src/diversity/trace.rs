//! Trace of a run: a fingerprint of the functions that ran and of how often they executed their branches.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::bucket::bucket;

/// Difference that makes two traces distinct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceKind {
    /// Exact counts of all branches.
    Exact,
    /// AFL's buckets of the counts.
    #[default]
    Bucketed,
    /// Whether branches were executed.
    Edges,
}

impl TraceKind {
    /// All kinds, the finest first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Bucketed, Self::Edges];

    /// Name in options and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Bucketed => "bucketed",
            Self::Edges => "edges",
        }
    }

    /// Class of a count, within which counts are not distinguished; 0 for a count of 0 and for no other.
    #[inline]
    fn class(self, count: u32) -> u32 {
        match self {
            Self::Exact => count,
            Self::Bucketed => bucket(count).into(),
            Self::Edges => u32::from(count != 0),
        }
    }

    /// Difference that it makes to a trace, modulo 2^64, if the count of an edge changes. A trace is the sum of these
    /// differences over the edges of the functions that ran, from 0 to their counts.
    #[inline]
    pub(crate) fn change(self, edge: usize, before: u32, after: u32) -> u64 {
        let (before, after) = (self.class(before), self.class(after));
        if before == after { 0 } else { term(edge, after).wrapping_sub(term(edge, before)) }
    }

    /// Sum of [`Self::change`] over edges that follow each other.
    #[inline]
    pub(crate) fn changes(self, first_edge: usize, before: &[u32], after: &[u32]) -> u64 {
        // most counts stay as they are, which is seen in a step for several of them
        let (steps, _) = before.as_chunks::<STEP>();
        let (steps_after, _) = after.as_chunks::<STEP>();
        let whole = steps.len().min(steps_after.len()) * STEP;
        let in_steps = steps.iter().zip(steps_after).enumerate().filter(|(_, (before, after))| before != after);
        let differing =
            in_steps.flat_map(|(step, (before, after))| (first_edge + step * STEP..).zip(before.iter().zip(after)));
        let rest = (first_edge + whole..).zip(before[whole..].iter().zip(&after[whole..]));
        let change = |all: u64, (edge, (&before, &after)): (usize, (&u32, &u32))| {
            if before == after { all } else { all.wrapping_add(self.change(edge, before, after)) }
        };
        rest.fold(differing.fold(0, change), change)
    }
}

/// Number of counts that are compared at once.
const STEP: usize = 8;

impl fmt::Display for TraceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TraceKind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(())
    }
}

/// Part of a trace for an edge in this class: well mixed bits, by the last steps of SplitMix64; 0 for class 0.
#[inline]
fn term(edge: usize, class: u32) -> u64 {
    if class == 0 {
        return 0;
    }
    let hash = (edge as u64) << 32 ^ u64::from(class);
    let hash = hash.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    /// Trace of a run of functions with so many edges as their counts, if they had run with the counts of `earlier`.
    fn trace_after(kind: TraceKind, earlier: &[Vec<u32>], run: &[Vec<u32>]) -> u64 {
        let mut first = 0;
        let mut trace = 0_u64;
        for (before, counts) in earlier.iter().zip(run) {
            let zeros = vec![0; counts.len()];
            let of_earlier = kind.changes(first, &zeros, before);
            if counts[0] != 0 {
                trace = trace.wrapping_add(of_earlier).wrapping_add(kind.changes(first, before, counts));
            }
            first += counts.len();
        }
        trace
    }

    fn trace(kind: TraceKind, run: &[Vec<u32>]) -> u64 {
        let nothing: Vec<Vec<u32>> = run.iter().map(|counts| vec![0; counts.len()]).collect();
        trace_after(kind, &nothing, run)
    }

    #[test]
    fn two_functions_do_not_stand_for_each_other() {
        for kind in TraceKind::ALL {
            let runs = [vec![vec![1], vec![0]], vec![vec![0], vec![1]], vec![vec![1], vec![1]], vec![vec![0], vec![0]]];
            let traces: HashSet<u64> = runs.iter().map(|run| trace(kind, run)).collect();
            assert_eq!(traces.len(), 4, "{kind}");
        }
    }

    #[test]
    fn branches_beyond_one_step_count_and_so_does_their_order() {
        for kind in TraceKind::ALL {
            let runs = (0..200).map(|at| (0..200).map(|branch| u32::from(branch == 0 || branch == at)).collect());
            let traces: HashSet<u64> = runs.map(|run: Vec<u32>| trace(kind, &[run])).collect();
            assert_eq!(traces.len(), 200, "{kind}");
        }
    }

    proptest! {
        #[test]
        fn traces_are_equal_if_and_only_if_the_classes_of_all_counts_are(
            runs in proptest::collection::vec(
                (proptest::collection::vec(0_u32..10, 9), proptest::collection::vec(0_u32..200, 3)), 2..40),
        ) {
            type Class = fn(u32) -> u32;
            let classes: [(TraceKind, Class); 3] = [
                (TraceKind::Exact, |count| count),
                (TraceKind::Bucketed, |count| match count { 0..=3 => count, 4..=7 => 4, 8..=15 => 5, 16..=31 => 6, 32..=127 => 7, _ => 8 }),
                (TraceKind::Edges, |count| count.min(1)),
            ];
            for (kind, class) in classes {
                let mut of_classes: HashMap<Vec<Vec<u32>>, u64> = HashMap::new();
                for (first, second) in &runs {
                    let run = [first.clone(), second.clone()];
                    // a function that was not entered has executed nothing
                    let alike = run.iter().map(|counts| match counts[0] {
                        0 => Vec::new(),
                        _ => counts.iter().map(|&count| class(count)).collect(),
                    });
                    let trace = trace(kind, &run);
                    let earlier = [runs[0].0.clone(), runs[1].1.clone()];
                    prop_assert_eq!(trace_after(kind, &earlier, &run), trace);
                    prop_assert_eq!(*of_classes.entry(alike.collect()).or_insert(trace), trace);
                }
                let traces: HashSet<u64> = of_classes.values().copied().collect();
                prop_assert_eq!(traces.len(), of_classes.len());
            }
        }
    }
}
