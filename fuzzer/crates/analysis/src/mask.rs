//! `replay --mask`: which bytes of an input may be changed so that a run still does what the target asks for.

pub mod place;
pub mod probes;
pub mod show;

use std::{io::IsTerminal, time::Instant};

use serde::Serialize;

use self::{
    place::Condition,
    probes::{First, Limits, Prober},
};
use super::report::{self, USUAL_WIDTH};
use crate::options::{MaskOptions, ReplayOptions};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    format::grouped,
    plain::{Form, warn},
    seeds::{Seed, Seeds},
    terminal::{ColorChoice, terminal_width},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi::Harness,
    info::{Instrumentation, TargetInfo},
};
use quagmire_mutators::{
    kinds::TargetKind,
    mask::{Edit, Mask},
};
use quagmire_search::mask::{Computation, Probe, Target};

/// Probes that hang before it is given up: each takes the whole hang timeout.
const HANGS: u32 = 3;

/// A mask, as `--json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct MaskReport {
    /// Of the program that printed it.
    pub version: String,
    /// The input, as given.
    pub path: String,
    /// Its bytes.
    pub length: usize,
    /// How its own run ended: see [`super::measure::Measurement::status`].
    pub status: String,
    /// What probes have to satisfy.
    pub target: TargetReport,
    /// Probes.
    pub executions: u64,
    /// Probes that did not come back by themselves; they count by what they executed.
    pub early_ends: u32,
    /// Whether every position is known.
    pub complete: bool,
    /// Why it is not.
    pub stopped: Option<String>,
    /// Positions from the start that are known, at most `length + 1`: the end is a position to insert at.
    pub known: usize,
    /// What is allowed: `[from, to, letters]` with `O` for overwriting, `I` for inserting before, `D` for deleting; `to` is
    /// the first position that is not part of it. Not known counts as not allowed.
    #[serde(rename = "mask")]
    pub runs: Vec<(usize, usize, String)>,
    /// For printing.
    #[serde(skip)]
    pub mask: Mask,
}

/// What a mask is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TargetReport {
    /// `cost` or `branch`.
    pub kind: TargetKind,
    /// In words, after "the run".
    pub description: String,
    /// Instructions that a run has to execute, for `cost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// What a run has to execute, for `branch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl TargetReport {
    fn new(condition: &Condition, instructions: u64, instrumentation: Instrumentation) -> Self {
        let kind = condition.kind();
        match condition {
            Condition::Cost { least } => {
                let (work, instructions) = (instrumentation.work(), grouped(instructions));
                let description = format!("executes at least {} of {instructions} {work}", grouped(*least));
                Self { kind, description, least: Some(*least), place: None }
            }
            Condition::Place(place) => Self {
                kind,
                description: format!("executes {}", place.name),
                least: None,
                place: Some(place.name.clone()),
            },
        }
    }
}

/// Computes the mask of the one input, and prints it.
///
/// # Errors
/// Usage if there is not one input, a place that is not clear, or an input that does not execute it; a target that cannot
/// be run.
pub fn run(
    options: &ReplayOptions,
    mask: &MaskOptions,
    target: &TargetInfo,
    harness: &'static Harness,
) -> Result<ExitCode> {
    let files = Seeds::load_for_replay(&options.inputs)?;
    for warning in &files.warnings {
        warn(warning);
    }
    let [input] = files.inputs.as_slice() else {
        let many = files.inputs.len();
        return Err(Error::usage(format!("--mask takes one input, and these are {many}: name one file")));
    };
    let limits =
        Limits { hang_timeout: options.hang_timeout, memory: options.memory_limit, debug_target: options.debug_target };
    let report = compute(harness, input, mask, limits, target.instrumentation)?;
    let (text, form) = if options.json {
        let json = serde_json::to_string(&report);
        (json.map_err(|error| Error::other(format!("cannot write JSON: {error}")))? + "\n", Form::Json)
    } else {
        let width = terminal_width(&std::io::stdout()).unwrap_or(USUAL_WIDTH).min(USUAL_WIDTH);
        let color = ColorChoice::Auto.enabled(std::io::stdout().is_terminal());
        (show::for_people(&report, &input.bytes, width, color), Form::Painted)
    };
    report::print_text(&text, form)?;
    Ok(ExitCode::Ended)
}

fn compute(
    harness: &'static Harness,
    input: &Seed,
    options: &MaskOptions,
    limits: Limits,
    instrumentation: Instrumentation,
) -> Result<MaskReport> {
    let start = Instant::now();
    let mut prober = Prober::new(harness, &input.bytes, limits)?;
    let First { run, condition, is_satisfied } = prober.first(options.branch.as_deref())?;
    let target = TargetReport::new(&condition, run.cost[Resource::Instructions], instrumentation);
    if !is_satisfied {
        return Err(Error::usage(format!(
            "--branch: {} does not execute {}: give an input that does",
            input.path.display(),
            target.place.as_deref().unwrap_or("it")
        )));
    }
    let begin = if options.exact { Computation::exact } else { Computation::new };
    let mut computation = begin(input.bytes.len());
    let (mut early_ends, mut hangs, mut stopped, mut failed) = (0, 0, None, None);
    computation.go_on(&input.bytes, &mut Vec::new(), |text, _| {
        if hangs == HANGS {
            stopped = Some(format!("{HANGS} probes hung"));
            return Probe::Stop;
        }
        if start.elapsed() > options.budget {
            stopped = Some("the time was up: give more with --budget".to_owned());
            return Probe::Stop;
        }
        match prober.probe(text) {
            Ok(answer) => {
                early_ends += u32::from(answer.ended_early);
                hangs += u32::from(answer.hung);
                if answer.is_satisfied { Probe::Satisfied } else { Probe::Missed }
            }
            Err(error) => {
                failed = Some(error);
                Probe::Stop
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    Ok(MaskReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        path: input.path.display().to_string(),
        length: input.bytes.len(),
        status: run.status,
        target,
        executions: computation.probes(),
        early_ends,
        complete: computation.is_complete(),
        stopped,
        known: computation.known(),
        runs: runs(computation.mask()),
        mask: computation.mask().clone(),
    })
}

/// What is allowed at a position.
fn letters(mask: &Mask, position: usize) -> String {
    Edit::ALL.iter().filter(|&&edit| mask.allows(edit, position)).map(|edit| edit.letter()).collect()
}

/// Stretches of positions at which the same is allowed; together all positions.
fn runs(mask: &Mask) -> Vec<(usize, usize, String)> {
    let mut runs: Vec<(usize, usize, String)> = Vec::new();
    for position in 0..=mask.length() {
        let here = letters(mask, position);
        match runs.last_mut() {
            Some((_, to, before)) if *before == here => *to = position + 1,
            _ => runs.push((position, position + 1, here)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_all_positions_and_the_end() {
        let mut mask = Mask::nothing(5);
        mask.allow(Edit::Overwrite, 1..3);
        mask.allow(Edit::Delete, 2..3);
        mask.allow(Edit::Insert, 4..6);
        let run = |from, to, letters: &str| (from, to, letters.to_owned());
        assert_eq!(runs(&mask), [run(0, 1, ""), run(1, 2, "O"), run(2, 3, "OD"), run(3, 4, ""), run(4, 6, "I")]);
        assert_eq!(runs(&Mask::everything(3)), [run(0, 3, "OID"), run(3, 4, "I")]);
        assert_eq!(runs(&Mask::everything(0)), [run(0, 1, "I")]);
    }
}
