//! What was measured of one input.

use serde::{Deserialize, Serialize};

use super::{attribution::Attribution, source::SourceFile};
use quagmire_cost::resource::Cost;
use quagmire_execution::{abi::Status, counts::CountsObserver, perf::Amounts, process};

/// Status of an input that ends the target's process.
pub(crate) const KILLED: &str = "killed";

/// What more is known of a run that had to be ended from outside.
pub(crate) const STUCK: &str = "it blocks signals and was killed from outside";

/// What was measured of one input.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// How its runs ended: `returned`, `rejected`, `crashed`, `hung`, `out-of-memory`, `exited` or `killed`.
    pub status: String,
    /// What more is known of an early end.
    pub detail: Option<String>,
    /// Of one run; up to where it was cut off if it was.
    pub cost: Cost,
    /// The smallest and the largest instructions over all runs: the same two numbers for a deterministic target.
    pub instructions_range: (u64, u64),
    /// Edges that it hits.
    pub edges_hit: u64,
    /// CPU seconds of one run, sample by sample.
    pub seconds: Vec<f64>,
    /// What the hardware counted in one run, sample by sample; empty where it does not count.
    pub counters: Vec<Amounts>,
    /// Where it spent its instructions; all of it for the first input, what is worth a look for the others.
    pub attribution: Attribution,
    /// The files that [`super::measure::Plan::annotate`] means.
    pub sources: Vec<SourceFile>,
    /// What was noticed meanwhile (`notices::noticed`).
    pub notices: u32,
}

impl Measurement {
    pub(crate) fn ended(status: &str, detail: Option<String>) -> Self {
        Self { status: status.to_owned(), detail, ..Self::default() }
    }

    /// Whether a run took the process with it, and the runtime could do nothing about it.
    pub fn was_killed(&self) -> bool {
        self.status == KILLED || self.detail.as_deref() == Some(STUCK)
    }

    /// Whether its runs came back by themselves.
    pub(crate) fn came_back(&self) -> bool {
        matches!(self.status.as_str(), "returned" | "rejected")
    }
}

/// How a status is called in reports.
pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Returned => "returned",
        Status::Rejected => "rejected",
        Status::Crashed => "crashed",
        Status::Hung => "hung",
        Status::Memory => "out-of-memory",
        Status::Exited => "exited",
    }
}

/// What a run did, without times.
pub fn describe(status: Status, counts: &CountsObserver) -> Measurement {
    let event = counts.event();
    let detail = match status {
        Status::Crashed if event.signal == 0 => Some("sanitizer report".to_owned()),
        Status::Crashed => Some(process::signal_name(event.signal as i32)),
        Status::Exited => Some(format!("exit code {}", event.exit_code)),
        _ => None,
    };
    Measurement {
        status: status_name(status).to_owned(),
        detail,
        cost: counts.cost(),
        instructions_range: (counts.cost().instructions, counts.cost().instructions),
        edges_hit: counts.edges_hit(),
        ..Measurement::default()
    }
}
