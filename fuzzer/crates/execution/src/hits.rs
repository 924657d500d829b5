//! Number of runs that hit each branch (FairFuzz's numHits), counted with one addition per function that ran.
//!
//! A function that runs with the same counts as before hits the same branches again: only the number of such runs is
//! kept, and distributed to its branches when its counts change or the hits are read.

use super::program::Function;

/// Hits since the last settling, by numbers of functions and edges in the program.
#[derive(Debug)]
pub(crate) struct FreshHits {
    counting: bool,
    /// For each function: runs with its present counts that are not yet distributed to its branches.
    runs: Vec<u32>,
    /// For each branch: distributed hits.
    hits: Vec<u32>,
    /// Functions that ran since the last settling.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Default for FreshHits {
    fn default() -> Self {
        Self { counting: true, runs: Vec::new(), hits: Vec::new(), touched: Vec::new(), is_touched: Vec::new() }
    }
}

impl FreshHits {
    /// Makes room for so many functions and edges.
    pub(crate) fn grow(&mut self, functions: usize, edges: usize) {
        self.runs.resize(functions, 0);
        self.is_touched.resize(functions, false);
        self.hits.resize(edges, 0);
    }

    /// Turns counting on or off.
    pub(crate) fn set_counting(&mut self, on: bool) {
        self.counting = on;
    }

    /// Records a run of a function. Call it after [`change`](Self::change).
    #[inline]
    pub(crate) fn ran(&mut self, function: u32) {
        if !self.counting {
            return;
        }
        self.runs[function as usize] += 1;
        if !self.is_touched[function as usize] {
            self.is_touched[function as usize] = true;
            self.touched.push(function);
        }
    }

    /// Distributes the runs of a function whose counts, `counts` so far, are about to change.
    #[inline]
    pub(crate) fn change(&mut self, function: u32, first_edge: usize, counts: &[u32]) {
        let runs = std::mem::take(&mut self.runs[function as usize]);
        if runs == 0 {
            return;
        }
        for (hits, &count) in self.hits[first_edge..].iter_mut().zip(counts) {
            *hits += if count == 0 { 0 } else { runs };
        }
    }

    /// Adds all hits since the last settling to `all`, and resets them; `counts` are the present counts of all edges.
    pub(crate) fn settle(&mut self, functions: &[Function], counts: &[u32], all: &mut [u64]) {
        for function in std::mem::take(&mut self.touched) {
            self.is_touched[function as usize] = false;
            let edges = functions[function as usize].edge_numbers();
            self.change(function, edges.start, &counts[edges.clone()]);
            for (all, fresh) in all[edges.clone()].iter_mut().zip(&mut self.hits[edges]) {
                *all += u64::from(std::mem::take(fresh));
            }
            // charges and memory are no branches
            let function = &functions[function as usize];
            all[function.charge_numbers().start..function.memory_numbers().end].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made_up;

    #[test]
    fn each_run_counts_once_for_each_branch_that_it_hit() {
        let (program, _) = made_up(&[2, 3]);
        let mut hits = FreshHits::default();
        hits.grow(2, 5);
        let mut all = [0; 5];
        let mut settle = |hits: &mut FreshHits, counts: &[u32; 5]| {
            hits.settle(program.functions(), counts, &mut all);
            all
        };
        // three runs of the second function, the last one with other counts
        hits.ran(1);
        hits.ran(1);
        hits.change(1, 2, &[1, 7, 0]);
        hits.ran(1);
        assert_eq!(settle(&mut hits, &[0, 0, 1, 0, 9]), [0, 0, 3, 2, 1]);
        assert_eq!(settle(&mut hits, &[0, 0, 1, 0, 9]), [0, 0, 3, 2, 1], "once");
        hits.ran(0);
        hits.set_counting(false);
        hits.ran(0);
        hits.change(0, 0, &[1, 1]);
        hits.ran(0);
        hits.set_counting(true);
        assert_eq!(settle(&mut hits, &[1, 0, 1, 0, 9]), [1, 1, 3, 2, 1]);
    }
}
