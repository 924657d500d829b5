//! `quagmire replay`: what inputs cost, measured outside a campaign, the first one beside all others.
//!
//! The campaign confirms its candidates with the very same: it starts the harness as `harness replay --json SEED
//! CANDIDATE` and reads what this prints.

pub mod measure;
pub mod report;

use std::path::PathBuf;

use crate::{
    campaign::options::ReplayOptions,
    error::{Error, ExitCode, Result},
    target::abi::Harness,
};

/// Measures and prints.
///
/// # Errors
/// An input that cannot be read, and a target that ends its process before it runs.
pub fn run(options: &ReplayOptions, harness: &'static Harness) -> Result<ExitCode> {
    let inputs = options.seeds.iter().chain(&options.inputs).map(read).collect::<Result<Vec<_>>>()?;
    let plan = measure::Plan {
        rounds: options.repeats,
        hang_timeout: options.hang_timeout,
        memory_limit: options.memory_limit,
        debug_target: options.debug_target,
    };
    let measured = measure::measure(harness, &inputs, &plan)?;
    let report = report::Report::new(&inputs, &measured);
    report::print(&report, options.json)?;
    Ok(ExitCode::Ended)
}

fn read(path: &PathBuf) -> Result<measure::Input> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::usage(format!("cannot read the input {}: {error}; name files to replay", path.display()))
    })?;
    Ok(measure::Input { path: path.clone(), bytes })
}
