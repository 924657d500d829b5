//! Orphan processes: those that the target started and that outlive their run, in a session of their own or not. The process that
//! a user started adopts them, and kills them before it ends; one that runs many inputs kills them when they are older than a run.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::process;

/// Interval between two looks for orphans.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shortest time that an orphan is left alone: its run may still be going on, on a busy machine.
const SHORTEST: Duration = Duration::from_secs(2);

/// Number of looks at the end after which orphans that do not end are left.
const LAST_LOOKS: u32 = 200;

/// Orphans of the target, adopted by this process.
#[derive(Debug)]
pub struct Orphans {
    /// Whether this process adopts orphans.
    adopts: bool,
    known: HashMap<libc::pid_t, Instant>,
    looked: Instant,
}

impl Orphans {
    /// Starts to adopt orphans; unless this process already has children that are not its own, those of a shell that it
    /// replaced: orphans of these must not be killed.
    pub fn adopt() -> Self {
        let adopts = process::orphans().is_some_and(|others| others.is_empty());
        if adopts {
            process::adopt();
        }
        Self { adopts, known: HashMap::new(), looked: Instant::now() }
    }

    /// Kills orphans that are older than `patience`. May be called often: it looks only now and then.
    pub fn look(&mut self, patience: Duration) {
        if self.looked.elapsed() >= INTERVAL {
            self.looked = Instant::now();
            self.end_older(patience.max(SHORTEST));
        }
    }

    /// Kills orphans that are older than `patience`. Returns the number of those left, including those just killed.
    fn end_older(&mut self, patience: Duration) -> usize {
        let mut orphans = process::orphans().filter(|_| self.adopts).unwrap_or_default();
        orphans.retain(|&orphan| !matches!(process::poll(orphan), Ok(Some(_))));
        self.known.retain(|known, _| orphans.contains(known));
        for &orphan in &orphans {
            if self.known.entry(orphan).or_insert_with(Instant::now).elapsed() >= patience {
                process::kill(orphan);
            }
        }
        orphans.len()
    }
}

impl Drop for Orphans {
    /// Kills all orphans.
    fn drop(&mut self) {
        for _ in 0..LAST_LOOKS {
            // their children are adopted in turn
            if self.end_older(Duration::ZERO) == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
