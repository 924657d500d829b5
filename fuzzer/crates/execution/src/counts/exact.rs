//! Exact figures of the last run: 64-bit counts and charges, edges without a counter included.

use super::CountsObserver;
use crate::timer;

impl CountsObserver {
    /// Exact 64-bit counts of the branches of a function that ran. Valid until the next run starts.
    pub fn exact_counts(&self, function: u32) -> Vec<u64> {
        let (first, last) = self.branches(function);
        self.exact(function, first..first + last.len())
    }

    /// Exact 64-bit charges of a function that ran. Valid until the next run starts.
    pub fn exact_charges(&self, function: u32) -> Vec<u64> {
        self.exact(function, self.program.functions()[function as usize].charge_numbers())
    }

    /// Exact 64-bit counts of edges of a function that ran.
    fn exact(&self, function: u32, edges: std::ops::Range<usize>) -> Vec<u64> {
        // SAFETY: counts are read between runs.
        let folded = unsafe { timer::folded() };
        let Some(folded) = folded else { return self.last[edges].iter().map(|&count| count.into()).collect() };
        let f = &self.program.functions()[function as usize];
        let slots = std::iter::once(f.entered()).chain(f.others().iter().copied());
        let numbered = (f.first_edge as usize..).zip(slots).skip_while(|(edge, _)| *edge < edges.start);
        numbered.take(edges.len()).map(|(edge, slot)| folded.count(edge, slot)).collect()
    }

    /// Number of edges that the last run executed, including those without a counter.
    pub fn edges_hit(&self) -> u64 {
        let hit = |count: u64, edges: u64| if count > 0 { edges } else { 0 };
        let of_function = |&index: &u32| {
            let f = &self.program.functions()[index as usize];
            let mut counts = self.exact_counts(index);
            let counters = counts.len();
            f.sums().complete(&mut counts);
            let own = counts.iter().zip(f.edge_weights()).map(|(&count, &edges)| hit(count, edges.into()));
            let sums = counts[counters..].iter().zip(f.sums().iter());
            own.chain(sums.map(|(&count, (edges, _))| hit(count, edges.into()))).sum::<u64>()
        };
        self.ran.iter().map(of_function).sum()
    }
}
