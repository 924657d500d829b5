//! quagmire: finds the inputs that bog a program down, proves that they do, and shows where the time goes.
//!
//! This crate is the engine: options resolved, campaigns assembled, and the entry that harnesses call. `DESIGN.md` maps the
//! other crates.

#![allow(unreachable_pub, reason = "until the search has one way to evaluate an input: campaign/ changes with it")]

pub mod campaign;
pub mod cli;
pub mod engine;
pub mod options;
