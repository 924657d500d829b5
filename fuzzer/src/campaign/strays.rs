//! What the target leaves behind: processes that it forked and that outlive their run. They become children of the process
//! that watches, which lets them be for as long as a run may take, and then ends them.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use quagmire_execution::process;

/// How often they are looked for.
const INTERVAL: Duration = Duration::from_millis(100);

/// They live so long at least: one may be the worker of a client that was killed, which writes what it knows.
const SHORTEST: Duration = Duration::from_secs(2);

/// What is killed has gone after so many looks, or never goes.
const LAST_LOOKS: u32 = 200;

/// See the module's text.
#[derive(Debug)]
pub struct Strays {
    /// They come to this process.
    adopts: bool,
    known: HashMap<libc::pid_t, Instant>,
    looked: Instant,
}

impl Strays {
    /// From now on they come to this process: unless it has children already that are not its own, those of a shell in whose
    /// place it was started. What these leave behind is nobody's business here.
    pub fn adopt() -> Self {
        let adopts = process::orphans().is_some_and(|others| others.is_empty());
        if adopts {
            process::adopt();
        }
        Self { adopts, known: HashMap::new(), looked: Instant::now() }
    }

    /// Ends those that are here for longer than `patience`. To be called often: it does something now and then.
    pub fn look(&mut self, patience: Duration) {
        if self.looked.elapsed() >= INTERVAL {
            self.looked = Instant::now();
            self.end_older(patience.max(SHORTEST));
        }
    }

    /// How many are left, those that were killed a moment ago among them.
    fn end_older(&mut self, patience: Duration) -> usize {
        let mut strays = process::orphans().filter(|_| self.adopts).unwrap_or_default();
        strays.retain(|&stray| !matches!(process::poll(stray), Ok(Some(_))));
        self.known.retain(|known, _| strays.contains(known));
        for &stray in &strays {
            if self.known.entry(stray).or_insert_with(Instant::now).elapsed() >= patience {
                // SAFETY: a child of ours that was not waited for.
                unsafe { libc::kill(stray, libc::SIGKILL) };
            }
        }
        strays.len()
    }
}

impl Drop for Strays {
    /// Ends all of them.
    fn drop(&mut self) {
        for _ in 0..LAST_LOOKS {
            // the children of what ends come here too
            if self.end_older(Duration::ZERO) == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
