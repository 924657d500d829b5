//! Runs of a corpus, each input once, in child processes. After a run that ended early in a child, whose memory may be
//! corrupted, another child goes on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::DiversityOptions;
use crate::required::require;
use quagmire_base::error::{Error, Result};
use quagmire_execution::{
    abi::Status,
    diversity::table::{TraceCounts, TraceTable},
    harness::Harness,
    input_page::InputPage,
    session::{Limits, in_child},
};

/// Figures of a corpus.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub valid: u64,
    pub ended_early: u64,
    /// For each edge, the number of unique valid traces that cover it.
    pub covered: Vec<u64>,
    pub traces: TraceCounts,
}

/// Result of one child.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Part {
    /// Index of the first input that was not run.
    next: usize,
    valid: u64,
    ended_early: u64,
    covered: Vec<u64>,
}

/// Runs each input once.
///
/// # Errors
/// If no child process can be started, the target cannot be run, or it ends its process outside of a run.
pub(super) fn run(harness: &'static Harness, inputs: &[Vec<u8>], options: &DiversityOptions) -> Result<Figures> {
    let traces = TraceTable::new()?;
    // inputs that end the whole process, and what it has counted
    let mut deadly = BTreeSet::new();
    loop {
        traces.clear();
        match run_all(harness, inputs, options, traces, &deadly)? {
            Ok(figures) => return Ok(figures),
            Err(index) => drop(deadly.insert(index)),
        }
    }
}

/// Runs all inputs but those that are `deadly`. Returns the index of an input that ended the child's process, if one did.
fn run_all(
    harness: &'static Harness,
    inputs: &[Vec<u8>],
    options: &DiversityOptions,
    traces: TraceTable,
    deadly: &BTreeSet<usize>,
) -> Result<Result<Figures, usize>> {
    let limits = options.target.limits();
    let page = limits.page(inputs.iter().map(Vec::len).max().unwrap_or(0))?;
    let mut figures = Figures { ended_early: deadly.len() as u64, ..Figures::default() };
    let mut next = 0;
    while next < inputs.len() {
        let work = || run_some(harness, inputs, options, (limits, &page), traces, next, deadly);
        match in_child(&page, work)? {
            Ok(part) => {
                next = part.next;
                figures.valid += part.valid;
                figures.ended_early += part.ended_early;
                figures.covered.resize(figures.covered.len().max(part.covered.len()), 0);
                figures.covered.iter_mut().zip(part.covered).for_each(|(all, covered)| *all += covered);
            }
            Err(gone) => {
                let running = page.interrupted();
                page.end();
                let found = running.and_then(|running| {
                    (next..inputs.len()).find(|index| !deadly.contains(index) && inputs[*index] == running)
                });
                return found
                    .map(Err)
                    .ok_or_else(|| Error::target(format!("the target ended its process ({})", gone.end)));
            }
        }
    }
    figures.traces = traces.counts();
    Ok(Ok(figures))
}

/// In the child: runs the inputs from the first on, until one ends its run early in this process.
fn run_some(
    harness: &'static Harness,
    inputs: &[Vec<u8>],
    options: &DiversityOptions,
    (limits, page): (Limits, &InputPage),
    traces: TraceTable,
    first: usize,
    deadly: &BTreeSet<usize>,
) -> Result<Part> {
    let mut executor = limits.prepare(harness, page)?;
    executor.counts_mut().trace(options.trace);
    if let Some(wanted) = &options.validity.valid_if_reached {
        require(executor.counts_mut(), wanted)?;
    }
    limits.start(harness);
    let mut part = Part { next: first, ..Part::default() };
    let mut is_cold = !harness.is_isolated();
    while part.next < inputs.len() {
        let index = part.next;
        part.next += 1;
        if deadly.contains(&index) {
            continue;
        }
        let mut status = executor.execute(&inputs[index]);
        if std::mem::take(&mut is_cold) && matches!(status, Status::Returned | Status::Rejected) {
            // the first run in a process does work that no other does (statics, caches)
            status = executor.execute(&inputs[index]);
        }
        let counts = executor.counts_mut();
        if matches!(status, Status::Returned | Status::Rejected) {
            let is_valid = counts.is_valid();
            part.valid += u64::from(is_valid);
            if counts.last_trace().is_some_and(|trace| traces.insert(trace, is_valid).is_new_valid) {
                counts.count_trace();
            }
        } else {
            part.ended_early += 1;
            if !harness.is_isolated() {
                break;
            }
        }
    }
    executor.counts_mut().settle_hits_of_traces(&mut part.covered);
    Ok(part)
}
