//! Choices of generators and grammars, and their mutation: draws that a harness makes from its input, and derivation trees
//! of inputs that a grammar describes.
//!
//! Both are views of an input, derived from its bytes whenever they are needed; what is saved and shared is bytes.

pub mod brackets;
pub mod draws;
pub mod grammar;
pub mod mine;
pub mod operator;
pub mod outline;
pub mod pattern;
pub mod records;
pub mod template;
pub mod tree;
pub mod tree_mutation;
pub mod units;

use libafl_bolts::rands::Rand;

/// Draws from `1..=max` so that every order of magnitude is equally likely; 0 if `max` is 0.
fn log_uniform(rand: &mut impl Rand, max: usize) -> usize {
    ((rand.next_float() * (max as f64 + 1.0).ln()).exp() as usize).clamp(max.min(1), max)
}
