//! Which kept input is mutated next.

pub mod by_cost;
pub mod intervals;
