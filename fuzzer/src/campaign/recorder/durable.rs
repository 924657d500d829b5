//! Files that have to outlive a power cut: they are written to the disk now and then, between runs.

use std::time::{Duration, Instant};

use super::Recorder;
use quagmire_base::{atomic::make_durable, error::Result};

/// Least interval between two times at which new files are written to the disk, and one in so many seconds that goes into
/// it at most.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
const SYNC_SHARE: u32 = 100;

impl Recorder<'_> {
    /// Notes that an entry's file may not be on the disk yet.
    pub(super) fn note_unsynced(&mut self, file: &str) {
        let path = self.folder().queue().join(file);
        self.record.unsynced.insert(path);
    }

    /// Writes new entries and findings to the disk, if it is time: not each, and never for long.
    pub(super) fn make_durable(&mut self) -> Result<()> {
        if self.record.unsynced.is_empty() || self.elapsed() < self.record.next_sync {
            return Ok(());
        }
        let started = Instant::now();
        make_durable(&std::mem::take(&mut self.record.unsynced))?;
        let took = started.elapsed();
        self.record.next_sync = self.elapsed() + SYNC_INTERVAL.max(took * SYNC_SHARE);
        Ok(())
    }
}
