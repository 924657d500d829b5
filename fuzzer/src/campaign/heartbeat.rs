//! Refresh of `summary.json` by the supervising process while a single long run keeps the worker from writing it:
//! updates the time and the figures of the other clients.

use std::{
    fs::File,
    path::Path,
    time::{Duration, SystemTime},
};

use super::Setup;
use quagmire_base::error::Result;
use quagmire_execution::timer;
use quagmire_results::{Summary, summary::per_second};

/// Age from which a summary is refreshed; the worker writes one every five seconds.
const OLD: Duration = Duration::from_secs(6);

/// Lock on `summary.json`: the worker and the supervising process never overwrite each other's. On a file system
/// without locks only the worker writes.
#[derive(Debug)]
pub(super) struct Turn {
    /// Output folder, which is locked. The system releases the lock however this process ends.
    _folder: Option<File>,
}

impl Turn {
    /// Waits for the lock.
    pub(super) fn wait(output: &Path) -> Self {
        let folder = File::open(output).ok();
        Self { _folder: folder.filter(|folder| folder.lock().is_ok()) }
    }

    /// Takes the lock; `None` if another process has it, or there are no locks.
    fn take(output: &Path) -> Option<Self> {
        let folder = File::open(output).ok()?;
        folder.try_lock().is_ok().then_some(Self { _folder: Some(folder) })
    }
}

/// Refreshes the summary if it is old. To be called about every second.
pub(super) fn refresh(setup: &Setup) -> Result<()> {
    let path = setup.folder.summary();
    let age = || {
        let written = path.metadata().and_then(|file| file.modified()).ok()?;
        // a summary of an earlier session is not touched
        if written < setup.started { None } else { SystemTime::now().duration_since(written).ok() }
    };
    if age().is_none_or(|age| age < OLD) {
        return Ok(());
    }
    let Some(_turn) = Turn::take(setup.folder.path()) else { return Ok(()) };
    // checked once more under the lock
    let Some(age) = age().filter(|age| *age >= OLD) else { return Ok(()) };
    let Ok(mut summary) = Summary::read(&path) else { return Ok(()) };
    if summary.stopped_by.is_some() {
        return Ok(());
    }
    summary.seconds += age.as_secs_f64();
    let session = Duration::from_nanos(timer::now_ns().saturating_sub(setup.start_ns));
    let figures: Vec<_> = setup.place.statistics.figures().collect();
    let new = |client: &super::shared_statistics::Figures| client.executions.saturating_sub(client.before);
    summary.executions = figures.iter().map(|client| client.executions).sum();
    summary.executions_per_second = per_second(figures.iter().map(new).sum(), session);
    for (client, figures) in summary.clients.iter_mut().zip(&figures) {
        client.executions = figures.executions;
        client.executions_per_second = per_second(new(figures), session);
        (client.edges_found, client.entries) = (figures.edges_found, figures.entries);
    }
    summary.write(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_may_write() {
        let folder = tempfile::tempdir().unwrap();
        let turn = Turn::wait(folder.path());
        assert!(Turn::take(folder.path()).is_none());
        drop(turn);
        assert!(Turn::take(folder.path()).is_some());
        // no folder, no locks: the worker writes all the same
        assert!(Turn::wait(Path::new("/nowhere"))._folder.is_none());
    }
}
