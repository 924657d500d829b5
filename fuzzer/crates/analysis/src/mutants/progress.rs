//! A line on the terminal that says how far a step is, and how much time is left.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use quagmire_base::format::{clock, grouped};

/// Time between two updates of the line.
const UPDATE: Duration = Duration::from_millis(200);

/// Progress of one step. Shows nothing unless standard error is a terminal.
pub(super) struct Progress {
    what: &'static str,
    all: usize,
    done: usize,
    killed: usize,
    began: Instant,
    shown: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Begins a step of `all` parts.
    pub(super) fn new(what: &'static str, all: usize) -> Self {
        let is_shown = std::io::stderr().is_terminal();
        Self { what, all, done: 0, killed: 0, began: Instant::now(), shown: None, is_shown }
    }

    /// A part is done, and so many mutants are killed by it.
    pub(super) fn step(&mut self, killed: usize) {
        self.done += 1;
        self.killed += killed;
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= UPDATE);
        if self.is_shown && (is_due || self.done == self.all) {
            self.shown = Some(Instant::now());
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", self.line(self.began.elapsed()));
        }
    }

    /// The line, after this time.
    fn line(&self, elapsed: Duration) -> String {
        let (done, all) = (self.done, self.all);
        let left = elapsed.mul_f64((all - done.min(all)) as f64 / done.max(1) as f64);
        let killed = match self.killed {
            0 => String::new(),
            killed => format!(", {} killed", grouped(killed as u64)),
        };
        let (done, all) = (grouped(done as u64), grouped(all as u64));
        format!("{}: {done} of {all}{killed}, {} left", self.what, clock(left))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown && self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_from_the_time_so_far() {
        let mut progress = Progress::new("mutants", 4000);
        progress.is_shown = false;
        (0..1000).for_each(|at| progress.step(usize::from(at % 2 == 0)));
        assert_eq!(progress.line(Duration::from_secs(60)), "mutants: 1,000 of 4,000, 500 killed, 00:03:00 left");
    }
}
