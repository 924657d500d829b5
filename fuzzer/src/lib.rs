//! quagmire finds inputs that make a program slow, proves that they do, and shows where the time goes.
//!
//! This crate has the command lines, the campaign, and the entry points of the engine. `DESIGN.md` maps the other crates.

pub mod campaign;
pub mod cli;
pub mod commands;
pub mod engine;
mod generate;
mod init;
pub mod libfuzzer;
pub mod options;
