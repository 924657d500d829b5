//! Regions: parts of the program as sets of edges, and what runs do in them.

use quagmire_cost::resource::{Cost, Resource};

use super::{counts::CountsObserver, program::Program};

/// A part of the program: some of its edges, charges among them.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// For each edge of the program, whether it is in the region; shorter if the last ones are not.
    is_in: Vec<bool>,
    parts: Vec<Part>,
}

/// Edges of one function that are in a region.
#[derive(Clone, Debug)]
struct Part {
    function: u32,
    /// Their numbers in the program, ascending.
    edges: Vec<u32>,
    /// Whether all of its branches are among them.
    is_whole: bool,
}

impl Region {
    /// Creates a region of these edges. Leaves out those that the program does not have.
    pub fn new(program: &Program, edges: impl IntoIterator<Item = u32>) -> Self {
        let mut edges: Vec<u32> = edges.into_iter().filter(|&edge| (edge as usize) < program.edges()).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut is_in = vec![false; edges.last().map_or(0, |&last| last as usize + 1)];
        edges.iter().for_each(|&edge| is_in[edge as usize] = true);
        let function_of = |edge: &u32| program.function_of_edge(*edge as usize);
        let parts = edges.chunk_by(|one, other| function_of(one) == function_of(other)).map(|edges| {
            let index = function_of(&edges[0]);
            let function = &program.functions()[index];
            let branches = function.first_edge..function.first_edge + function.branches;
            let is_whole = branches.len() == edges.iter().filter(|edge| branches.contains(edge)).count();
            Part { function: index as u32, edges: edges.to_vec(), is_whole }
        });
        Self { parts: parts.collect(), is_in }
    }

    /// The region of all branches of all functions that this region has edges of.
    pub fn whole_functions(&self, program: &Program) -> Self {
        let functions = self.parts.iter().map(|part| &program.functions()[part.function as usize]);
        Self::new(program, functions.flat_map(|function| function.first_edge..function.first_edge + function.branches))
    }

    /// Whether it has this edge.
    #[inline]
    pub fn has(&self, edge: usize) -> bool {
        self.is_in.get(edge).copied().unwrap_or(false)
    }

    /// Whether the last run hit a branch of the region.
    pub fn is_hit(&self, counts: &CountsObserver) -> bool {
        self.parts.iter().any(|part| part.is_hit(counts))
    }

    /// Cost of the last run in the region: its instructions and edges there, and its hottest edge. Other resources are those
    /// of the whole run, since nothing says where they were used. Everything is 0 if the run did not hit the region.
    pub fn cost(&self, counts: &CountsObserver) -> Cost {
        let (mut cost, mut is_hit) = (counts.cost(), false);
        let (mut instructions, mut edges, mut hottest) = (0u64, 0u64, 0u64);
        for part in self.parts.iter().filter(|part| part.is_hit(counts)) {
            is_hit = true;
            let of_part = part.cost(counts);
            instructions = instructions.saturating_add(of_part[Resource::Instructions]);
            edges = edges.saturating_add(of_part[Resource::Edges]);
            hottest = hottest.max(of_part[Resource::HottestEdge]);
        }
        if !is_hit {
            return Cost::default();
        }
        cost[Resource::Instructions] = instructions;
        cost[Resource::Edges] = edges;
        cost[Resource::HottestEdge] = hottest;
        cost
    }
}

impl Part {
    /// Whether the last run hit one of the branches.
    fn is_hit(&self, counts: &CountsObserver) -> bool {
        let function = &counts.program().functions()[self.function as usize];
        if function.entered() == 0 {
            return false;
        }
        let (first, branches) = counts.branches(self.function);
        self.is_whole
            || self.edges.iter().any(|&edge| branches.get(edge as usize - first).is_some_and(|&count| count != 0))
    }

    /// Instructions, edges and the hottest edge of the last run, which hit it.
    fn cost(&self, counts: &CountsObserver) -> Cost {
        if self.is_whole {
            return counts.cost_of(self.function);
        }
        let function = &counts.program().functions()[self.function as usize];
        let (first, branches) = counts.branches(self.function);
        let (first_charge, charges) = counts.charges(self.function);
        let mut cost = Cost::default();
        for edge in self.edges.iter().map(|&edge| edge as usize) {
            if let Some(&count) = branches.get(edge - first) {
                let weighed = |weights: &[u32]| {
                    u64::from(count).saturating_mul(weights.get(edge - first).copied().unwrap_or(0).into())
                };
                let (instructions, edges) = (weighed(function.weights()), weighed(function.edge_weights()));
                cost[Resource::Instructions] = cost[Resource::Instructions].saturating_add(instructions);
                cost[Resource::Edges] = cost[Resource::Edges].saturating_add(edges);
                cost[Resource::HottestEdge] = cost[Resource::HottestEdge].max(count.into());
            } else if let Some(&charge) = edge.checked_sub(first_charge).and_then(|at| charges.get(at)) {
                cost[Resource::Instructions] = cost[Resource::Instructions].saturating_add(charge.into());
            }
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made_up;

    /// Instructions, edges and hottest edge in a region of a program with functions of three and two edges.
    fn amounts(edges: &[u32], first: [u32; 3], second: [u32; 2]) -> [u64; 3] {
        let (program, slots) = made_up(&[3, 2]);
        let region = Region::new(&program, edges.iter().copied());
        let mut counts = CountsObserver::new(program);
        counts.clear();
        slots.set(0, &first);
        slots.set(1, &second);
        counts.digest();
        let cost = region.cost(&counts);
        assert_eq!(region.is_hit(&counts), cost[Resource::Edges] > 0);
        [Resource::Instructions, Resource::Edges, Resource::HottestEdge].map(|resource| cost[resource])
    }

    #[test]
    fn a_region_costs_what_its_edges_cost() {
        assert_eq!(amounts(&[0, 1, 2], [1, 5, 3], [1, 100]), [9, 9, 5]);
        assert_eq!(amounts(&[2, 4], [1, 5, 3], [1, 100]), [103, 103, 100]);
        assert_eq!(amounts(&[2, 4, 99], [1, 5, 0], [0, 0]), [0; 3], "not hit");
        assert_eq!(amounts(&[], [1, 5, 3], [1, 100]), [0; 3]);
    }

    #[test]
    fn a_function_that_did_not_run_costs_nothing_whatever_it_did_before() {
        let (program, slots) = made_up(&[1, 2]);
        let region = Region::new(&program, [1, 2]);
        let mut counts = CountsObserver::new(program);
        for second in [[1, 7], [0, 0]] {
            counts.clear();
            slots.set(0, &[1]);
            slots.set(1, &second);
            counts.digest();
        }
        assert!(!region.is_hit(&counts));
        assert_eq!(region.cost(&counts), Cost::default());
    }

    #[test]
    fn the_functions_around_a_region_have_all_of_their_branches() {
        let (program, _) = made_up(&[3, 2, 2]);
        let around = Region::new(&program, [1, 6]).whole_functions(&program);
        let has: Vec<usize> = (0..9).filter(|&edge| around.has(edge)).collect();
        assert_eq!(has, [0, 1, 2, 5, 6]);
    }
}
