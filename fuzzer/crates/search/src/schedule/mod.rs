//! Schedule: the entry that is mutated next, and the number of mutants that each rule makes of it.

pub mod by_cost;
pub mod intervals;
