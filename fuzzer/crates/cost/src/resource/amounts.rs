//! Cost: the amounts of all resources that one run used.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::Resource;

/// Heap that a process gets from its own free memory, in bytes: glibc maps larger allocations anew.
const RECYCLED: u64 = 128 << 10;

/// Amounts of all resources in one run, each in the unit that [`Resource::unit`] names; 0 for resources that were not
/// measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost([u64; Resource::ALL.len()]);

impl Cost {
    /// Creates a cost by calling `amount` for every resource.
    pub fn from_fn(amount: impl FnMut(Resource) -> u64) -> Self {
        Self(Resource::ALL.map(amount))
    }

    /// Work of the machine for the run, as far as counts tell it, in instructions: those that were executed, and one for each
    /// byte of new memory. The system takes one or two microseconds to map and clear a page of 4 KiB; with instructions
    /// alone, inputs that allocate hundreds of megabytes take nearly all of the time.
    #[inline]
    pub fn work(&self) -> u64 {
        self[Resource::Instructions] + self[Resource::Heap].saturating_sub(RECYCLED)
    }
}

/// Creates a cost from these amounts; all other resources are 0.
impl<const N: usize> From<[(Resource, u64); N]> for Cost {
    #[inline]
    fn from(amounts: [(Resource, u64); N]) -> Self {
        let mut cost = Self::default();
        for (resource, amount) in amounts {
            cost[resource] = amount;
        }
        cost
    }
}

impl Index<Resource> for Cost {
    type Output = u64;

    #[inline]
    fn index(&self, resource: Resource) -> &u64 {
        &self.0[resource as usize]
    }
}

impl IndexMut<Resource> for Cost {
    #[inline]
    fn index_mut(&mut self, resource: Resource) -> &mut u64 {
        &mut self.0[resource as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_memory_is_work() {
        let cost = |heap| Cost::from([(Resource::Instructions, 10), (Resource::Heap, heap)]);
        assert_eq!(
            [cost(0), cost(RECYCLED), cost(1 << 20)].map(|cost| cost.work()),
            [10, 10, 10 + (1 << 20) - RECYCLED]
        );
    }

    #[test]
    fn amounts_are_those_that_were_set() {
        let mut cost = Cost::from([(Resource::Edges, 3), (Resource::Lines, 5)]);
        cost[Resource::Edges] += 1;
        let used = Resource::ALL.into_iter().filter(|&resource| cost[resource] > 0);
        let used: Vec<(Resource, u64)> = used.map(|resource| (resource, cost[resource])).collect();
        assert_eq!(used, [(Resource::Edges, 4), (Resource::Lines, 5)]);
        assert_eq!(Cost::from_fn(|resource| cost[resource]), cost);
    }
}
