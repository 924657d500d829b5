//! `summary.json` while its worker cannot write it, since a single run takes long: the process above brings up to date what
//! goes on all the same, the time and what the other clients do.

use std::{
    fs::File,
    path::Path,
    time::{Duration, SystemTime},
};

use super::Setup;
use quagmire_base::error::Result;
use quagmire_execution::timer;
use quagmire_results::{Summary, summary::per_second};

/// A summary that is older was left alone by its worker, which writes one every five seconds.
const OLD: Duration = Duration::from_secs(6);

/// Who holds this may write `summary.json`: the worker and the process above it never undo each other's. On a file system
/// without such locks only the worker writes.
#[derive(Debug)]
pub struct Turn {
    /// The system releases the lock however this process ends.
    _folder: Option<File>,
}

impl Turn {
    /// Waits for it.
    pub fn wait(output: &Path) -> Self {
        let folder = File::open(output).ok();
        Self { _folder: folder.filter(|folder| folder.lock().is_ok()) }
    }

    /// `None` if somebody else has it, or there are no locks.
    fn take(output: &Path) -> Option<Self> {
        let folder = File::open(output).ok()?;
        folder.try_lock().is_ok().then_some(Self { _folder: Some(folder) })
    }
}

/// Brings the summary up to date if it is old. To be called now and then.
///
/// # Errors
/// If it cannot be written.
pub fn refresh(setup: &Setup) -> Result<()> {
    let path = setup.folder.summary();
    let age = || {
        let written = path.metadata().and_then(|file| file.modified()).ok()?;
        // one of an earlier session is that session's
        if written < setup.started { None } else { SystemTime::now().duration_since(written).ok() }
    };
    if age().is_none_or(|age| age < OLD) {
        return Ok(());
    }
    let Some(_turn) = Turn::take(setup.folder.path()) else { return Ok(()) };
    // once more, now that nobody else writes
    let Some(age) = age().filter(|age| *age >= OLD) else { return Ok(()) };
    let Ok(mut summary) = Summary::read(&path) else { return Ok(()) };
    if summary.stopped_by.is_some() {
        return Ok(());
    }
    summary.seconds += age.as_secs_f64();
    let session = Duration::from_nanos(timer::now_ns().saturating_sub(setup.start_ns));
    let figures: Vec<_> = setup.place.board.figures().collect();
    let new = |client: &super::board::Figures| client.executions.saturating_sub(client.before);
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
