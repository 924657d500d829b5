//! Blind spots of a campaign, in `summary.json`: time in code without counts, and runs that are all alike.

use serde::{Deserialize, Serialize};

/// Code and runs that the counts do not show. Shares are of the time of runs, and `null` where it was not sampled: of programs in processes
/// of their own, and before there are enough samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Unseen {
    /// Number of samples of what runs executed.
    pub samples: u64,
    /// Share of the time in code of the program and its libraries that has no counts.
    pub uncounted_share: Option<f64>,
    /// Share of the time in libraries of the system, without the functions whose costs their callers are charged with.
    pub system_share: Option<f64>,
    /// Functions of both in which most of that time is spent, the first of them most.
    pub functions: Vec<UnseenFunction>,
    /// Runs that were compared with the first one, while that was done.
    pub runs: u64,
    /// Those of them that executed the same edges as often, within AFL's buckets.
    pub runs_alike: u64,
    /// Edges that the first run executed.
    pub edges: u64,
    /// Warning in words if part of the program is not seen; then "no degradation" holds for counted code only.
    pub warning: Option<String>,
}

/// Function without counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnseenFunction {
    /// Its demangled name.
    pub function: String,
    /// File name of its program or library.
    pub object: String,
    /// Share of the time of runs.
    pub share: f64,
}
