//! Hardware counters of the calling thread, by Linux perf events, user space only. Many virtual machines and most
//! containers have none, so nothing depends on them.

use std::{io, time::Duration};

use perf_event::{Builder, Counter, Group, events::Hardware};

/// Names of the counters, in the order of [`Amounts`].
pub const NAMES: [&str; 2] = ["hw-instructions", "hw-cycles"];

/// Counts of one run, in the order of [`NAMES`].
pub type Amounts = [f64; NAMES.len()];

/// A running group of counters.
pub struct Counters {
    group: Group,
    members: [Counter; NAMES.len()],
}

/// Values of the counters at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    amounts: [u64; NAMES.len()],
    /// Time since the counters were started.
    enabled: Duration,
    /// Part of that time in which the processor counted: it may share its counters with others.
    running: Duration,
}

impl Counters {
    /// Starts counting retired instructions and cycles of the calling thread.
    ///
    /// # Errors
    /// If there are no such counters, or they are not permitted: see [`why_not`].
    pub fn start() -> io::Result<Self> {
        Self::of([Builder::new(Hardware::INSTRUCTIONS), Builder::new(Hardware::CPU_CYCLES)])
    }

    /// Starts counting as [`Self::start`], and makes sure that work is counted.
    ///
    /// # Errors
    /// Why there are no counters, in words.
    pub fn start_tested() -> Result<Self, String> {
        let mut counters = Self::start().map_err(|error| why_not(&error))?;
        let before = counters.read();
        let work: u64 = (0..100_000_u64).map(std::hint::black_box).sum();
        std::hint::black_box(work);
        let counted = before.zip(counters.read()).and_then(|(before, after)| after.since(before, 1));
        // sandboxes accept events that they do not count
        let is_counted = counted.is_some_and(|amounts| amounts.iter().all(|&amount| amount >= 1.0));
        if is_counted { Ok(counters) } else { Err("this kernel accepts them and counts nothing".to_owned()) }
    }

    /// Starts a group of counters. The builder excludes the kernel and the hypervisor by default.
    fn of(events: [Builder; NAMES.len()]) -> io::Result<Self> {
        let mut group = Group::new()?;
        let [first, second] = &events;
        let members = [group.add(first)?, group.add(second)?];
        group.enable()?;
        Ok(Self { group, members })
    }

    /// Reads the counters; `None` if they cannot be read, for example because the target closed their descriptors.
    pub fn read(&mut self) -> Option<Reading> {
        let data = self.group.read().ok()?;
        let [first, second] = &self.members;
        Some(Reading {
            amounts: [data.get(first)?.value(), data.get(second)?.value()],
            enabled: data.time_enabled()?,
            running: data.time_running()?,
        })
    }
}

impl Reading {
    /// Average counts of each of the `runs` runs since `before`, extrapolated if the processor counted only part of
    /// the time. `None` if it did not count at all.
    pub fn since(self, before: Self, runs: u32) -> Option<Amounts> {
        let running = self.running.saturating_sub(before.running).as_secs_f64();
        if running <= 0.0 {
            return None;
        }
        let scale = self.enabled.saturating_sub(before.enabled).as_secs_f64() / running / f64::from(runs.max(1));
        let mut amounts = Amounts::default();
        for (amount, (now, then)) in amounts.iter_mut().zip(self.amounts.into_iter().zip(before.amounts)) {
            *amount = now.saturating_sub(then) as f64 * scale;
        }
        Some(amounts)
    }
}

/// Explains why there are no counters, and what would help.
pub fn why_not(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO) => {
            "its processor offers none, as in most virtual machines".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            let level = level.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
            format!(
                "not allowed: kernel.perf_event_paranoid is {level} and has to be 2 or less, and a container has to allow \
                 perf_event_open"
            )
        }
        Some(libc::ENOSYS) => "the kernel was built without perf events, or a container hides them".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod missing;

#[cfg(test)]
mod tests {
    use perf_event::events::Software;

    use super::*;

    const PAGES: usize = 4000;

    /// Name of the kernel's counters in the tests' rule for what may be left out.
    const MISSING: &str = "perf-events";

    /// Causes page faults: touches pages that were never touched, which the allocator's may have been.
    fn touch_fresh_pages() {
        let bytes = PAGES * 4096;
        // SAFETY: a new private mapping that is used within its bounds and unmapped once
        unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let memory = libc::mmap(std::ptr::null_mut(), bytes, protection, kind, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            // one fault a page: a kernel that does not know the advice counts fewer
            libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE);
            for page in 0..PAGES {
                memory.cast::<u8>().add(page * 4096).write_volatile(1);
            }
            libc::munmap(memory, bytes);
        }
    }

    #[test]
    fn events_of_the_kernel_are_counted() {
        // by the very code that counts hardware events, on any machine that has perf events at all
        let events = [Software::PAGE_FAULTS, Software::PAGE_FAULTS_MIN].map(|event| {
            let mut builder = Builder::new(event);
            builder.include_kernel();
            builder
        });
        let mut counters = match Counters::of(events) {
            Ok(counters) => counters,
            Err(error) => {
                missing::skip(MISSING, &why_not(&error));
                return;
            }
        };
        let before = counters.read().expect("they are on");
        touch_fresh_pages();
        let after = counters.read().expect("they are on");
        let Some([all, minor]) = after.since(before, 2).filter(|amounts| *amounts != [0.0; 2]) else {
            // sandboxes accept events that they do not count
            missing::skip(MISSING, "this kernel accepts events that it does not count");
            return;
        };
        assert!((2.0..=PAGES as f64).contains(&all), "{all} faults in each of two runs");
        assert!((1.0..=all).contains(&minor), "{minor} of {all}");
    }

    #[test]
    fn shared_counters_are_scaled_up() {
        let reading = |instructions, cycles, enabled, running| Reading {
            amounts: [instructions, cycles],
            enabled: Duration::from_millis(enabled),
            running: Duration::from_millis(running),
        };
        let (before, after) = (reading(100, 10, 10, 10), reading(1100, 510, 50, 30));
        assert_eq!(after.since(before, 10), Some([200.0, 100.0]));
        assert_eq!(before.since(before, 10), None);
    }

    #[test]
    fn what_is_missing_is_named_with_its_remedy() {
        let why = |code| why_not(&io::Error::from_raw_os_error(code));
        assert!(why(libc::ENOENT).contains("virtual machines"));
        assert!(why(libc::EACCES).contains("perf_event_paranoid"));
        assert!(why(libc::ENOSYS).contains("kernel"));
        assert!(!why(libc::EMFILE).is_empty());
        match Counters::start() {
            Ok(mut counters) => assert!(counters.read().is_some()),
            Err(error) => assert!(!why_not(&error).is_empty()),
        }
    }
}
