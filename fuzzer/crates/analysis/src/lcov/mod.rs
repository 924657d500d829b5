//! `quagmire replay --lcov`: how often each line is executed by all inputs together, as a tracefile of lcov, which
//! genhtml and services for coverage read.

mod tracefile;

use std::path::Path;

use self::tracefile::Tracefile;
use crate::{
    options::ReplayOptions,
    runner::{Detail, Runner},
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    format::counted,
    plain::{self, Form, warn},
    seeds::Seeds,
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{harness::Harness, info::TargetInfo};

/// Runs each input once, and writes the tracefile. Runs that end early count up to their end, unless they end the whole
/// process.
///
/// # Errors
/// If the target has no lines, an input cannot be read, the target cannot be run, or the file cannot be written.
pub(crate) fn run(
    options: &ReplayOptions,
    file: &Path,
    target: &TargetInfo,
    harness: &'static Harness,
) -> Result<ExitCode> {
    let program = target.name();
    if !target.instrumentation.measures(Resource::Lines) {
        let origin = target.instrumentation.origin();
        return Err(Error::usage(format!(
            "--lcov: {program} was {origin}, which does not count source lines: build it with quagmire-cc -g"
        )));
    }
    let files = Seeds::load_for_replay(&options.inputs)?;
    files.warnings.iter().for_each(|warning| warn(warning));
    let capacity = files.inputs.iter().map(|input| input.bytes.len()).max().unwrap_or(0);
    let mut runner = Runner::new(harness, capacity, options.target.runner())?;
    let mut trace = Tracefile::default();
    let mut lost = 0;
    for input in &files.inputs {
        let run = runner.run(&input.bytes, Detail::Source)?;
        lost += u64::from(run.edges.is_empty());
        trace.add(&run);
        // the libraries that this run has opened are gone with its child
        if !run.came_back() {
            trace.know(runner.lines()?);
        }
    }
    trace.know(runner.lines()?);
    if trace.is_empty() {
        return Err(Error::target(format!(
            "--lcov: {program} was built without -g and knows no source lines: build it again with -g"
        )));
    }
    if lost > 0 {
        warn(&format!(
            "{} ended the whole process: what they executed is not in {}",
            counted(lost, "input"),
            file.display()
        ));
    }
    write_whole(file, trace.text().as_bytes())?;
    let inputs = counted(files.inputs.len() as u64, "input");
    plain::print(&format!("{inputs}: {}\n{}\n", trace.totals(), file.display()), Form::Lines)?;
    Ok(ExitCode::Ended)
}
