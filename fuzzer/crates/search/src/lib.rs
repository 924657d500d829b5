//! The search: which inputs are kept, which are mutated next and how, and what a mutant has to do.

#![allow(unreachable_pub, reason = "until the search has one way to evaluate an input: others work on this crate")]

pub mod keep;
pub mod mask;
pub mod schedule;
pub mod stages;
