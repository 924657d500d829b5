//! Runs of a program with mutants on several threads: those of the original, and what all kinds of runs share.

use std::{
    io::{IsTerminal, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use super::ScoreOptions;
use quagmire_base::{
    error::{Error, Result},
    format::{clock, grouped},
    seeds::Seed,
};
use quagmire_execution::{
    fork_server::mutants::{MutantServer, Observed, RunEnd, RunLimits, Variant},
    interruption,
};
use quagmire_results::score_file::{LeftOut, Unfit};

/// Runs of each input: all but the last one in the first server, the last one in another, in which addresses differ.
const RUNS: [usize; 2] = [2, 1];
/// Time between two updates of the line that shows progress.
const UPDATE: Duration = Duration::from_millis(200);

/// Calls `work` with a state of the thread for each number below `count`, on so many threads, until a signal comes or an
/// error does. `take` gets each result, with its number, one at a time.
///
/// # Errors
/// The first of the three.
pub(super) fn in_parallel<S, T: Send>(
    threads: usize,
    count: usize,
    start: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize) -> Result<Option<T>> + Sync,
    take: impl FnMut(usize, T) -> Result<()> + Send,
) -> Result<()> {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let taker = Mutex::new(take);
    let one = || -> Result<()> {
        let mut state = None;
        while !is_over.load(Relaxed) && !interruption::has_come() {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                break;
            }
            let state = match &mut state {
                Some(state) => state,
                none => none.insert(start()?),
            };
            if let Some(done) = work(state, number)? {
                let mut take = taker.lock().unwrap_or_else(PoisonError::into_inner);
                take(number, done)?;
            }
        }
        Ok(())
    };
    let one = || one().inspect_err(|_| is_over.store(true, Relaxed));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.min(count)).map(|_| scope.spawn(one)).collect();
        let mut first = Ok(());
        for thread in threads {
            match thread.join() {
                Ok(ended) => first = first.and(ended),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        first
    })
}

/// Calls `work` with a server of the thread for each number below `count`, as [`in_parallel`] does. `take` returns how many
/// mutants the result has killed; `None` if `progress` is not to count it.
pub(super) fn share<T: Send>(
    options: &ScoreOptions,
    progress: &mut Progress,
    count: usize,
    work: impl Fn(&mut MutantServer, usize) -> Result<Option<T>> + Sync,
    mut take: impl FnMut(usize, T) -> Result<Option<usize>> + Send,
) -> Result<()> {
    let start = || MutantServer::start(&options.program, &options.files);
    in_parallel(options.jobs, count, start, work, |number, done| {
        if let Some(killed) = take(number, done)? {
            progress.step(killed);
        }
        Ok(())
    })
}

/// A line on the terminal that says how far a step is, and how much time is left. Shows nothing unless standard error is
/// a terminal.
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
    fn step(&mut self, killed: usize) {
        self.done += 1;
        self.killed += killed;
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= UPDATE);
        if self.is_shown && (is_due || self.done == self.all) {
            self.shown = Some(Instant::now());
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", self.line(self.began.elapsed()));
        }
    }

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
        if self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// An input whose runs are all the same.
#[derive(Clone, Debug)]
pub(super) struct Stable {
    pub path: String,
    pub bytes: Vec<u8>,
    pub observed: Observed,
    /// CPU time of its quickest run.
    pub cpu: Duration,
}

/// Limits of runs of the original.
pub(super) fn generous(options: &ScoreOptions) -> RunLimits {
    RunLimits { cpu: options.hang_timeout, time: options.hang_timeout, memory: options.memory_limit }
}

/// Runs all inputs without a mutant. Inputs that a signal has kept from being run are in neither list.
///
/// # Errors
/// If no input is left, unless a signal has come.
pub(super) fn originals(options: &ScoreOptions, inputs: Vec<Seed>) -> Result<(Vec<Stable>, Vec<LeftOut>)> {
    let mut runs: Vec<Vec<(Observed, Duration)>> = vec![Vec::new(); inputs.len()];
    for repeats in RUNS {
        let work = |server: &mut MutantServer, number: usize| {
            let run = |_| server.run(&inputs[number].bytes, Variant::Original, generous(options));
            (0..repeats).map(run).collect::<Result<Vec<_>>>().map(Some)
        };
        share(options, &mut Progress::new("original", inputs.len()), inputs.len(), work, |number, more| {
            runs[number].extend(more);
            Ok(Some(0))
        })?;
    }
    let (mut stable, mut left_out) = (Vec::new(), Vec::new());
    for (input, runs) in inputs.into_iter().zip(runs) {
        let path = input.path.display().to_string();
        let Some(&(observed, _)) = runs.first().filter(|_| runs.len() == RUNS.iter().sum::<usize>()) else { continue };
        let reason = match observed.end {
            _ if runs.iter().any(|(other, _)| *other != observed) => Unfit::Unstable,
            RunEnd::TimedOut => Unfit::Hang,
            RunEnd::Lost => Unfit::Lost,
            RunEnd::Ended(_) => {
                let cpu = runs.iter().map(|(_, cpu)| *cpu).min().unwrap_or_default();
                stable.push(Stable { path, bytes: input.bytes, observed, cpu });
                continue;
            }
        };
        left_out.push(LeftOut { path, reason });
    }
    if stable.is_empty() && !interruption::has_come() {
        let first = left_out.first().map(|one| format!(": {} ({})", one.path, one.reason.words())).unwrap_or_default();
        return Err(Error::target(format!(
            "no input does the same in each run of the original{first}; make the program repeatable (random seeds, times, \
             addresses in its output), or give other inputs"
        )));
    }
    Ok((stable, left_out))
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
