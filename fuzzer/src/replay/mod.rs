//! `quagmire replay`: what inputs cost, measured outside a campaign, the first one beside all others.
//!
//! The campaign confirms its candidates with the very same: it starts the harness as `harness replay --json SEED
//! CANDIDATE` and reads what this prints.

pub mod growth;
pub mod measure;
pub mod report;
pub mod rounds;

use std::{io::Write, path::PathBuf};

use crate::{
    campaign::{options::ReplayOptions, seeds::Seeds},
    error::{ExitCode, Result},
    target::{
        abi::Harness,
        perf::{self, Counters},
    },
};

/// Measures and prints.
///
/// # Errors
/// An input that cannot be read, and a target that ends its process before it runs.
pub fn run(options: &ReplayOptions, harness: &'static Harness) -> Result<ExitCode> {
    let paths: Vec<PathBuf> = options.seeds.iter().chain(&options.inputs).cloned().collect();
    let files = Seeds::load_for_replay(&paths)?;
    for warning in &files.warnings {
        // a closed standard error is no reason to stop
        let _ = writeln!(std::io::stderr(), "quagmire: {warning}");
    }
    let inputs: Vec<measure::Input> =
        files.inputs.into_iter().map(|file| measure::Input { path: file.path, bytes: file.bytes }).collect();
    let counters = Counters::start().map(drop);
    if let Err(error) = &counters {
        let why = perf::why_not(error);
        let _ = writeln!(std::io::stderr(), "quagmire: no hardware counters on this machine: {why}");
    }
    let plan = measure::Plan {
        counters: counters.is_ok(),
        rounds: options.rounds,
        hang_timeout: options.hang_timeout,
        memory_limit: options.memory_limit,
        debug_target: options.debug_target,
    };
    let measured = measure::measure(harness, &inputs, &plan)?;
    let report = report::Report::new(&inputs, &measured);
    report::print(&report, options.json)?;
    Ok(ExitCode::Ended)
}
