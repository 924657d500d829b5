//! quagmire: finds the inputs that bog a program down, proves that they do, and shows where the time goes.
//!
//! Start with `DESIGN.md`: it maps every folder to its one job.

pub mod campaign;
pub mod cli;
pub mod cost;
pub mod engine;
pub mod error;
pub mod files;
pub mod keep;
pub mod mask;
pub mod metrics;
pub mod mutators;
pub mod output;
pub mod replay;
pub mod report;
pub mod schedule;
pub mod stages;
pub mod target;
