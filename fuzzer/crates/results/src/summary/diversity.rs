//! Validity and diversity of runs in `summary.json`.

use serde::{Deserialize, Serialize};

use quagmire_execution::diversity::trace::TraceKind;

/// Valid runs among mutants and seeds; on several cores, of the first client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// Number of valid runs.
    pub valid: u64,
    /// Number of runs that were not valid.
    pub invalid: u64,
    /// Number of edges that valid entries execute.
    pub valid_edges: u64,
}

impl Validity {
    /// Share of the runs that were valid, 0 to 1; `None` before the first run.
    pub fn share(&self) -> Option<f64> {
        let all = self.valid + self.invalid;
        (all > 0).then(|| self.valid as f64 / all as f64)
    }
}

/// Unique traces of mutants and seeds in this session, and Hill numbers over the valid ones; on several cores, of the
/// first client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diversity {
    /// Difference that makes two traces distinct.
    pub trace: TraceKind,
    /// Number of distinct traces.
    pub unique_traces: u64,
    /// Number of distinct traces of valid runs.
    pub unique_valid_traces: u64,
    /// B(0): the number of branches that valid traces cover.
    pub b0: f64,
    /// B(1): their effective number by Shannon's entropy.
    pub b1: f64,
    /// B(2): their effective number by Simpson's index.
    pub b2: f64,
    /// Whether the set of traces is full, so that new ones are not counted any more.
    pub is_full: bool,
}
