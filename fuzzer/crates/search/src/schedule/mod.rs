//! The choice of the entry that is mutated next, and of how many mutants each rule makes of it.

pub mod by_cost;
pub mod intervals;
pub mod strategy;
