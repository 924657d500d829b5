//! What is done with an input that the scheduler chose.

pub mod between;
pub mod gathering;
pub mod keeper;
pub mod measure;
pub mod mutate;
pub mod operators;
pub mod prepare;
pub mod strategy;
pub mod trial;
pub mod walk;
