//! `replay --mask`: which bytes of an input may be changed so that a run still reaches a goal.

pub mod place;
pub mod show;

use std::{io::IsTerminal, time::Instant};

use serde::{Deserialize, Serialize};

use self::place::{CodePlace, Condition};
use super::print::{self, USUAL_WIDTH};
use crate::{
    options::ReplayOptions,
    runner::{Detail, Run, Runner},
};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    format::grouped,
    plain::{Form, warn},
    seeds::{Seed, Seeds},
    terminal::{ColorChoice, terminal_width},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi::Status,
    harness::Harness,
    info::{Instrumentation, TargetInfo},
    session::{Limits, in_child},
    symbols::Symbols,
};
use quagmire_mutators::{
    kinds::GoalKind,
    mask::{Edit, Mask},
};
use quagmire_search::mask::{Computation, Probe};

/// Number of hanging probes after which the computation is given up: each takes the whole hang timeout.
const HANGS: u32 = 3;

/// A mask as printed by `--json`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MaskReport {
    /// Version of quagmire.
    pub version: String,
    /// Path of the input, as given.
    pub path: String,
    /// Length of the input in bytes.
    pub length: usize,
    /// How the run of the input itself ended: see [`super::measurement::Measurement::status`].
    pub status: String,
    /// The goal that probes have to reach.
    pub goal: GoalReport,
    /// Same goal, under the key of earlier versions.
    pub target: GoalReport,
    /// Number of probes.
    pub executions: u64,
    /// Number of probes that did not return; they count by what they executed.
    pub early_ends: u32,
    /// Whether every position was probed.
    pub complete: bool,
    /// Why the computation is incomplete.
    pub stopped: Option<String>,
    /// Number of leading positions that were probed, at most `length + 1`: the end is a position for insertions.
    pub known: usize,
    /// Allowed edits: `[from, to, letters]` with `O` for overwriting, `I` for inserting before and `D` for deleting;
    /// `to` is exclusive. Nothing is allowed at unknown positions.
    #[serde(rename = "mask")]
    pub runs: Vec<(usize, usize, String)>,
    /// The mask itself, for printing.
    #[serde(skip)]
    pub mask: Mask,
}

/// Description of the goal of a mask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct GoalReport {
    /// `cost` or `branch`.
    pub kind: GoalKind,
    /// Description to follow "the run".
    pub description: String,
    /// Minimum number of instructions, for `cost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// The place that has to be executed, for `branch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl GoalReport {
    fn new(condition: &Condition, instructions: u64, instrumentation: Instrumentation) -> Self {
        match condition {
            Condition::Cost { least } => {
                let (work, instructions) = (instrumentation.work(), grouped(instructions));
                let description = format!("executes at least {} of {instructions} {work}", grouped(*least));
                Self { kind: GoalKind::Cost, description, least: Some(*least), place: None }
            }
            Condition::Place(place) => Self {
                kind: GoalKind::Branch,
                description: format!("executes {}", place.name),
                least: None,
                place: Some(place.name.clone()),
            },
        }
    }
}

/// Runs `replay --mask`: computes the mask of one input and prints it.
///
/// # Errors
/// A usage error if there is not exactly one input, the place is ambiguous or unknown, or the input does not execute
/// it; an error if the target cannot be run.
pub fn run(options: &ReplayOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let files = Seeds::load_for_replay(&options.inputs)?;
    for warning in &files.warnings {
        warn(warning);
    }
    let [input] = files.inputs.as_slice() else {
        let many = files.inputs.len();
        return Err(Error::usage(format!("--mask takes one input, and these are {many}: name one file")));
    };
    let limits = options.target.limits();
    let report = compute(harness, input, options, limits, target.instrumentation)?;
    let (text, form) = if options.json {
        let json = serde_json::to_string(&report);
        (json.map_err(|error| Error::other(format!("cannot write JSON: {error}")))? + "\n", Form::Json)
    } else {
        let width = terminal_width(&std::io::stdout()).unwrap_or(USUAL_WIDTH).min(USUAL_WIDTH);
        let color = ColorChoice::Auto.enabled(std::io::stdout().is_terminal());
        (show::for_people(&report, &input.bytes, width, color), Form::Painted)
    };
    print::print_text(&text, form)?;
    Ok(ExitCode::Ended)
}

fn compute(
    harness: &'static Harness,
    input: &Seed,
    options: &ReplayOptions,
    limits: Limits,
    instrumentation: Instrumentation,
) -> Result<MaskReport> {
    let start = Instant::now();
    let First { run, condition } = first(harness, &input.bytes, options.branch.as_deref(), limits)?;
    let goal = GoalReport::new(&condition, run.cost[Resource::Instructions], instrumentation);
    if !condition.is_satisfied(&run) {
        return Err(Error::usage(format!(
            "--branch: {} does not execute {}: give an input that does",
            input.path.display(),
            goal.place.as_deref().unwrap_or("it")
        )));
    }
    // a probe inserts at most as many bytes as there are positions
    let mut runner = Runner::within(harness, 2 * input.bytes.len() + 1, limits)?;
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
        match runner.run(text, Detail::Edges) {
            Ok(run) => {
                early_ends += u32::from(!run.came_back());
                hangs += u32::from(run.hung());
                if condition.is_satisfied(&run) { Probe::Satisfied } else { Probe::Missed }
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
        goal: goal.clone(),
        target: goal,
        executions: computation.probes(),
        early_ends,
        complete: computation.is_complete(),
        stopped,
        known: computation.known(),
        runs: runs(computation.mask()),
        mask: computation.mask().clone(),
    })
}

/// Result of the run of the input itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct First {
    /// How it ended, and its cost.
    run: Run,
    /// The goal that probes have to reach.
    condition: Condition,
}

/// Runs the input itself, and finds the place if `branch` names one.
///
/// # Errors
/// If the target cannot be run or its process is killed, or the place is not found.
fn first(harness: &'static Harness, input: &[u8], branch: Option<&str>, limits: Limits) -> Result<First> {
    let page = limits.page(input.len())?;
    let first = in_child(&page, || {
        let mut executor = limits.prepare(harness, &page)?;
        limits.start(harness);
        let mut status = executor.execute(input);
        if matches!(status, Status::Returned | Status::Rejected) {
            // the first run also includes one-time initialisation
            status = executor.execute(input);
        }
        let counts = executor.counts();
        let mut symbols = Symbols::new();
        let run = Run::of(status, counts, 0.0, Detail::Edges, &mut symbols);
        let condition = match branch {
            None => Condition::keeps_cost(run.cost[Resource::Instructions]),
            Some(wanted) => Condition::Place(CodePlace::find(counts.program(), &mut symbols, wanted)?),
        };
        Ok(First { run, condition })
    })?;
    first.map_err(|gone| {
        let how = if gone.was_stuck { "it blocks signals".to_owned() } else { gone.end.to_string() };
        Error::target(match page.interrupted_bytes() {
            Some(_) => {
                format!("the input takes the target's process along ({how}): nothing is known of what it executes")
            }
            None => format!("the target ended its process before the first run ({how})"),
        })
    })
}

/// Letters of the edits that are allowed at a position.
fn letters(mask: &Mask, position: usize) -> String {
    Edit::ALL.iter().filter(|&&edit| mask.allows(edit, position)).map(|edit| edit.letter()).collect()
}

/// Ranges of positions with the same allowed edits, which cover all positions.
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
