//! Measurements of one input.

use serde::{Deserialize, Serialize};

use super::{attribution::Attribution, source::SourceFile};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{abi::Status, counts::CountsObserver, perf::Amounts, process};

/// Status of an input that kills the target's process.
pub(crate) const KILLED: &str = "killed";

/// Details of a run that had to be killed from outside.
pub(crate) const STUCK: &str = "it blocks signals and was killed from outside";

/// Measurements of one input.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// How its runs ended: `returned`, `rejected`, `crashed`, `hung`, `out-of-memory`, `exited` or `killed`.
    pub status: String,
    /// Details of an early end, such as the signal.
    pub detail: Option<String>,
    /// Cost of one run; up to the cut-off if it was cut off.
    pub cost: Cost,
    /// Minimum and maximum of the instructions over all runs: equal for a deterministic target.
    pub instructions_range: (u64, u64),
    /// Number of edges that it hits.
    pub edges_hit: u64,
    /// CPU seconds of one run, by sample.
    pub seconds: Vec<f64>,
    /// Hardware counts of one run, by sample; empty without hardware counters.
    pub counters: Vec<Amounts>,
    /// Instructions by function and line: complete for the first input, reduced for the others.
    pub attribution: Attribution,
    /// The files named by [`super::measure::MeasurementPlan::annotate`].
    pub sources: Vec<SourceFile>,
    /// Notices raised during the measurement, as bits (`notices::noticed`).
    pub notices: u32,
}

impl Measurement {
    pub(crate) fn ended(status: &str, detail: Option<String>) -> Self {
        Self { status: status.to_owned(), detail, ..Self::default() }
    }

    /// Whether a run has ended the process, and the runtime could not prevent it.
    pub fn was_killed(&self) -> bool {
        self.status == KILLED || self.detail.as_deref() == Some(STUCK)
    }

    /// Whether its runs returned.
    pub(crate) fn came_back(&self) -> bool {
        self.early_end().is_none()
    }

    /// How its run ended if it did not return, as a verb with its object: `hung`. Times of such runs tell nothing of
    /// what the input costs.
    pub(crate) fn early_end(&self) -> Option<&'static str> {
        match self.status.as_str() {
            "returned" | "rejected" => None,
            "crashed" => Some("crashed"),
            "hung" => Some("hung"),
            "out-of-memory" => Some("ran out of memory"),
            "exited" => Some("ended the program"),
            _ => Some("killed the process"),
        }
    }
}

/// Name of a status in reports.
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

/// Describes the last run, without times.
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
        instructions_range: (counts.cost()[Resource::Instructions], counts.cost()[Resource::Instructions]),
        edges_hit: counts.edges_hit(),
        ..Measurement::default()
    }
}
