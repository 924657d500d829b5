//! The CPU time of a run, without a system call for short ones.
//!
//! Asking for the CPU time of a thread costs a third of a microsecond, as much as a small target's whole run. The
//! time-stamp counter costs next to nothing but goes on while the thread waits for the processor. So a run shorter than
//! 20 us is timed by the counter alone. After a longer one the CPU clock is read as well: what passed on the counter
//! since it was read last, and not on the CPU clock, was spent waiting, and is taken off the run.

use std::{sync::OnceLock, time::Duration};

use super::{process::cpu_ns, tick::now_ns};

/// Runs from this length on are worth a look at the CPU clock.
const WORTH_NS: u64 = 20_000;

/// How long the time-stamp counter is compared with the clock to learn its rate.
const CALIBRATION: Duration = Duration::from_millis(5);

/// The time-stamp counter.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has it.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    now_ns()
}

/// Nanoseconds in a tick of the time-stamp counter. Takes 5 ms the first time, which a process should spend before it
/// forks.
pub fn ns_per_tick() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        let (ticks_before, ns_before) = (ticks(), now_ns());
        let end = ns_before + CALIBRATION.as_nanos() as u64;
        let mut now = ns_before;
        while now < end {
            now = now_ns();
        }
        (now - ns_before) as f64 / ticks().wrapping_sub(ticks_before).max(1) as f64
    })
}

/// Tells the CPU time of runs. See the module's text.
#[derive(Debug)]
pub(crate) struct Clock {
    ns_per_tick: f64,
    /// When the CPU clock was read last, in ticks, and what it said, in nanoseconds.
    read_at: u64,
    read: u64,
}

impl Clock {
    /// A clock for this thread.
    pub(crate) fn new() -> Self {
        let ns_per_tick = ns_per_tick();
        Self { ns_per_tick, read_at: ticks(), read: cpu_ns() }
    }

    /// CPU time of a run that has just ended and took `run` ticks of the counter, in nanoseconds.
    #[inline]
    pub(crate) fn time_of(&mut self, run: u64) -> u64 {
        let ns = (run as f64 * self.ns_per_tick) as u64;
        if ns < WORTH_NS { ns } else { self.look(ns) }
    }

    #[cold]
    fn look(&mut self, run_ns: u64) -> u64 {
        let (at, cpu) = (ticks(), cpu_ns());
        let passed = (at.wrapping_sub(self.read_at) as f64 * self.ns_per_tick) as u64;
        let waited = passed.saturating_sub(cpu - self.read);
        (self.read_at, self.read) = (at, cpu);
        run_ns.saturating_sub(waited)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_taken_off_a_long_run() {
        let mut clock = Clock::new();
        let before = ticks();
        std::thread::sleep(Duration::from_millis(30));
        let run = ticks().wrapping_sub(before);
        let all = (run as f64 * clock.ns_per_tick) as u64;
        assert!(clock.time_of(run) < all / 2, "a thread that sleeps uses no CPU time");
    }

    #[test]
    fn a_short_run_takes_its_ticks() {
        let mut clock = Clock { ns_per_tick: 0.5, read_at: 0, read: 0 };
        assert_eq!(clock.time_of(20_000), 10_000);
    }
}
