//! CPU time of runs, measured without a system call for short ones.
//!
//! Reading the CPU time of a thread costs a third of a microsecond, as much as the whole run of a small target. The
//! time-stamp counter costs next to nothing, but continues while the thread waits for the processor. A run shorter
//! than 20 us is therefore timed by the counter alone. After a longer one the CPU clock is read as well: the run took no
//! more than what that has advanced since it was last read. This is exact for a run after such a run; after many short
//! ones, a run that had to wait counts with its waiting. It is never less than the run took.

use std::{sync::OnceLock, time::Duration};

use super::{process::cpu_ns, timer::now_ns};

/// Shortest run for which the CPU clock is read, in nanoseconds.
const WORTH_NS: u64 = 20_000;

/// Duration of the calibration of the time-stamp counter against the clock.
const CALIBRATION: Duration = Duration::from_millis(5);

/// Current value of the time-stamp counter, as the runtime reads it; nanoseconds where there is none.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has it.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads a counter that Linux lets programs read.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    now_ns()
}

/// Nanoseconds in a tick of the time-stamp counter. The first call takes 5 ms for calibration: make it before
/// forking.
pub fn ns_per_tick() -> f64 {
    // static: the same for the whole machine
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

/// Converts time-stamp counts of runs to CPU time of the calling thread (see the module documentation).
#[derive(Debug)]
pub(crate) struct Clock {
    ns_per_tick: f64,
    /// Last reading of the CPU clock, in nanoseconds.
    read: u64,
}

impl Clock {
    /// Creates a clock for the calling thread.
    pub(crate) fn new() -> Self {
        Self { ns_per_tick: ns_per_tick(), read: cpu_ns() }
    }

    /// CPU time in nanoseconds of a run that has just ended and took `run` ticks of the counter.
    #[inline]
    pub(crate) fn time_of(&mut self, run: u64) -> u64 {
        let ns = (run as f64 * self.ns_per_tick) as u64;
        if ns < WORTH_NS { ns } else { self.look(ns) }
    }

    #[cold]
    fn look(&mut self, run_ns: u64) -> u64 {
        let before = std::mem::replace(&mut self.read, cpu_ns());
        run_ns.min(self.read - before)
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
    fn waiting_before_a_run_is_not_taken_off_it() {
        let mut clock = Clock::new();
        std::thread::sleep(Duration::from_millis(30));
        let (before, from) = (ticks(), cpu_ns());
        while cpu_ns() < from + 1_000_000 {}
        assert!(clock.time_of(ticks().wrapping_sub(before)) >= 1_000_000);
    }

    #[test]
    fn a_short_run_takes_its_ticks() {
        let mut clock = Clock { ns_per_tick: 0.5, read: 0 };
        assert_eq!(clock.time_of(20_000), 10_000);
    }
}
