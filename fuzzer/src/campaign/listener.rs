//! Events of a running campaign, for another front end than `quagmire`.

use std::{fmt::Debug, time::Duration};

use quagmire_base::error::Result;
use quagmire_execution::abi::Status;
use quagmire_results::summary::{Finding, StoppedBy};

/// Figures of one client at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub executions: u64,
    /// Edges executed by any entry.
    pub edges: u64,
    /// Buckets of edges executed by any entry.
    pub buckets: u64,
    /// Entries of the queue.
    pub entries: u64,
    /// Size of all entries in bytes.
    pub bytes: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Longest measured run, in nanoseconds.
    pub slowest_ns: u64,
}

/// Answer to a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The campaign goes on.
    GoOn,
    /// The campaign ends.
    End,
}

/// A listener is told what happens in the process of each worker, and decides whether a finding ends the campaign. With one,
/// nothing is shown and no page is written.
pub trait Listener: Debug + Send + Sync {
    /// The first worker has loaded a target of so many edges.
    fn loaded(&self, edges: usize);

    /// All seeds were run.
    fn seeds_done(&self, progress: Progress);

    /// An input was entered that is no seed.
    fn entered(&self, input: &[u8], progress: Progress) -> Result<()>;

    /// A run ended early, in a new way.
    fn ended_early(&self, status: Status, input: &[u8]) -> Result<Answer>;

    /// A degradation was confirmed.
    fn degraded(&self, input: &[u8], finding: &Finding) -> Result<Answer>;

    /// Called about ten times a second.
    fn ticked(&self, progress: Progress);

    /// Inputs that somebody has added since the last call. Called in each round.
    fn added(&self) -> Vec<Vec<u8>>;

    /// Added inputs were run.
    fn reloaded(&self, progress: Progress);

    /// The campaign is over.
    fn ended(&self, stopped_by: StoppedBy, progress: Progress);
}
