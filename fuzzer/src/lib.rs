//! quagmire: finds the inputs that bog a program down, proves that they do, and shows where the time goes.
//!
//! Start with `DESIGN.md`: it maps every folder to its one job.

pub mod error;
pub mod mutators;
