//! Commands on given inputs: growth, minimize, distill, compare, diversity and mine, each in its module, and here `replay`
//! with costs, verdicts, annotated sources and masks.
//!
//! Campaigns confirm their candidates by `replay`: they run the harness as `harness replay --json SEED CANDIDATE` and parse
//! its output.

pub mod against;
pub mod annotate;
pub mod attribution;
mod cause;
pub mod command;
pub mod compare;
pub mod distill;
pub mod diversity;
mod explanation;
pub mod generation;
pub mod grown;
pub mod growth;
mod lcov;
pub mod mask;
pub mod measure;
pub mod measurement;
pub mod mine;
pub mod minimize;
pub mod options;
mod print;
mod relations;
pub mod report;
pub mod required;
pub mod rounds;
pub mod runner;
pub mod source;
pub mod towards;
pub mod values;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use self::rounds::Rounds;
use crate::options::ReplayOptions;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form, warn},
    seeds::{Seed, Seeds},
    terminal::ColorChoice,
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    harness::Harness,
    info::TargetInfo,
    interruption, notices,
    perf::{self, Counters},
};

/// Runs `quagmire replay`: measures the inputs and prints the result.
fn run(options: &ReplayOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    if !options.annotate.is_empty() && !target.instrumentation.measures(Resource::Lines) {
        let program = target.name();
        let origin = target.instrumentation.origin();
        return Err(Error::usage(format!(
            "--annotate: {program} was {origin}, which does not count source lines: build it with quagmire-cc -g"
        )));
    }
    if options.mask {
        return mask::run(options, target, harness);
    }
    if let Some(file) = &options.lcov {
        return lcov::run(options, file, target, harness);
    }
    let paths: Vec<PathBuf> = options.seeds.iter().chain(&options.inputs).cloned().collect();
    let files = Seeds::load_for_replay(&paths)?;
    for warning in &files.warnings {
        warn(warning);
    }
    let inputs: Vec<measure::Input> =
        files.inputs.into_iter().map(|file| measure::Input { path: file.path, bytes: file.bytes }).collect();
    // an annotated source shows counts but no times
    let only_counts = !options.annotate.is_empty() && !options.json;
    let counters = Counters::start().map(drop);
    let plan = measure::MeasurementPlan {
        counters: counters.is_ok(),
        rounds: if only_counts { Rounds::Fixed(1) } else { options.rounds() },
        question: options.question(),
        hang_timeout: options.target.hang_timeout,
        memory_limit: options.target.memory_limit,
        debug_target: options.target.debug_target,
        annotate: options.annotate.clone(),
    };
    let measured = measure::measure(harness, &inputs, &plan)?;
    for notice in notices::among(measured.iter().fold(0, |all, one| all | one.notices)) {
        warn(notice.in_words());
    }
    let mut report = report::Report::new(&inputs, &measured, options.question(), target.instrumentation);
    report.no_counters = counters.err().map(|error| perf::why_not(&error));
    if only_counts {
        annotate_all(&report, &options.annotate, options.context)?;
    } else {
        print::print(&report, options.question(), options.json)?;
    }
    Ok(ExitCode::Ended)
}

/// The one input of a command that looks at one.
fn only_input(mut files: Seeds, path: &Path, command: &str) -> Result<Seed> {
    match (files.inputs.pop(), files.inputs.len()) {
        (Some(file), 0) => Ok(file),
        (_, more) => {
            let (path, count) = (path.display(), more + 1);
            Err(Error::usage(format!("{path}: {count} files; {command} looks at one input: name a file of these")))
        }
    }
}

/// Prints the requested source files with counts.
fn annotate_all(report: &report::Report, wanted: &[PathBuf], context: Option<u32>) -> Result<()> {
    if report.annotated.is_empty() {
        // every input has killed the process, and its counts are lost
        return Err(Error::target("no input came back with its counts: there is nothing to annotate"));
    }
    let color = ColorChoice::Auto.enabled(std::io::stdout().is_terminal());
    let unit = if report.instrumentation.measures(Resource::Instructions) { "instruction" } else { "edge" };
    let mut text = String::new();
    for (wanted, file) in wanted.iter().zip(&report.annotated) {
        if !text.is_empty() {
            text.push('\n');
        }
        let format = annotate::Style { unit, color, context };
        text += &annotate::annotated(file, &source::read(wanted, file)?, &report.inputs, format);
    }
    plain::print(&text, Form::Painted)
}
