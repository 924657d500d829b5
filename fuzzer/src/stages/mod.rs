//! What is done with an input that the scheduler chose.

pub mod mutate;
pub mod operators;
