//! Threads of the target that outlive their run.

use std::time::Duration;

/// State of threads of the target that outlive their run.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Some thread has outlived its run.
    pub(crate) are_left: bool,
    /// The last run has left threads.
    pub(crate) are_new: bool,
    /// Sum of all counts after the last run, modulo 2^64.
    pub(crate) sum: u64,
}

/// How long to wait for leftover threads to execute counted code.
pub(crate) const THREADS_SHOW: Duration = Duration::from_millis(10);
