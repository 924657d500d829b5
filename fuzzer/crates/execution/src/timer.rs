//! The periodic timer, whose callback runs in a signal handler: folds counts before they can wrap around, cuts off
//! hangs and excessive memory use, and notices the end of the campaign's time without a clock reading per execution.
//!
//! Nothing here allocates, locks or panics, since it may interrupt any instruction of the target or of the engine.

use std::{
    sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use super::{
    abi::{Event, Status},
    proc_files,
    program::{Program, Tables},
};

/// Limits that the timer enforces for the rest of the process.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Hang timeout of a run; noticed up to an eighth later.
    pub hang: Duration,
    /// Clock of the hang timeout.
    pub clock: HangClock,
    /// Memory limit of the target in bytes; 0 for none.
    pub memory: u64,
    /// End of the campaign's time (CLOCK_MONOTONIC, nanoseconds); `u64::MAX` for none.
    pub deadline: u64,
}

/// Clock that a hang timeout is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangClock {
    /// The one on the wall.
    Wall,
    /// CPU time of the process that runs the target: what else a machine does makes no hang. A run that waits for something
    /// is a hang by the clock on the wall, after [`PATIENCE`] hang timeouts.
    Cpu,
}

/// Hang timeouts on the clock on the wall after which a run is a hang, however little CPU time it had: a machine may be
/// as busy as this with other work.
pub const PATIENCE: u32 = 4;

// The state of the timer is static, since its signal handler gets no value: a process has one timer, for one thread.

static HANG_NS: AtomicU64 = AtomicU64::new(u64::MAX);
static IS_CPU_TIME: AtomicBool = AtomicBool::new(false);
static FIRST_CPU: AtomicU64 = AtomicU64::new(0);
static MEMORY: AtomicU64 = AtomicU64::new(0);
static DEADLINE: AtomicU64 = AtomicU64::new(u64::MAX);
static FIRST_TICK: AtomicU64 = AtomicU64::new(0);
static FIRST_MEMORY: AtomicU64 = AtomicU64::new(0);
static FOLD: AtomicPtr<Fold> = AtomicPtr::new(std::ptr::null_mut());
static TICKS: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
static EVENT: AtomicPtr<Event> = AtomicPtr::new(std::ptr::null_mut());

/// Program counters at the last ticks of runs, and the number of all that were taken.
static SAMPLES: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// How many times the hang timeout a run may take.
static TIMES: AtomicU64 = AtomicU64::new(1);

/// Multiplies the hang timeout from the next run on.
pub(crate) fn be_patient(times: u64) {
    TIMES.store(times, Relaxed);
}

/// Set when the campaign's time is up.
pub static TIME_UP: AtomicBool = AtomicBool::new(false);
/// Set at each tick; cleared by the main loop, for which it is a cheap clock of periodic work.
pub static TICKED: AtomicBool = AtomicBool::new(false);
/// Set if the process should be restarted: the target holds much more memory than one run explains, or leftover
/// threads are running.
pub static WORN_OUT: AtomicBool = AtomicBool::new(false);

/// Requests a restart of the process at the next periodic check.
pub(crate) fn wear_out() {
    WORN_OUT.store(true, Relaxed);
    TICKED.store(true, Relaxed);
}

/// 64-bit counts of the current run as of its last tick. A 32-bit slot that wraps around between two ticks is still
/// resolved by the difference: ticks are at most 100 ms apart, and no edge is executed 4 billion times in that time.
struct Fold {
    tables: Tables,
    total: Vec<u64>,
    at_tick: Vec<u32>,
}

/// Current value of CLOCK_MONOTONIC in nanoseconds.
pub fn now_ns() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Current value of a clock in nanoseconds; 0 if there is no such clock.
pub(crate) fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: async-signal-safe, writes one timespec.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time in nanoseconds of the process that runs the target; 0 if it is not known yet.
fn cpu_ns() -> u64 {
    /// Kind of a process's clock that the scheduler keeps.
    const SCHEDULER: libc::clockid_t = 2;
    match WATCHED.load(Relaxed) {
        0 => read_clock(libc::CLOCK_PROCESS_CPUTIME_ID),
        ..0 => 0,
        // as clock_getcpuclockid makes it, which is not safe in signal handlers
        process => read_clock((!process << 3) | SCHEDULER),
    }
}

/// Allocates the counts of `program` for the timer. Call it again when the program has grown.
pub fn prepare(program: &Program) {
    let fold = Box::new(Fold {
        tables: program.tables().clone(),
        total: vec![0; program.edges()],
        at_tick: vec![0; program.edges()],
    });
    // the old value is leaked, since a tick may be using it; programs grow a few times at most
    FOLD.store(Box::into_raw(fold), Relaxed);
}

/// Sets the limits, and where the number of ticks in a run is. Returns the interval of ticks in nanoseconds.
///
/// At a tick, `event` says where the run was interrupted; null if the target runs in another process.
pub(crate) fn set(limits: RunLimits, ticks_in_run: &'static AtomicU64, event: *const Event) -> u64 {
    EVENT.store(event.cast_mut(), Relaxed);
    HANG_NS.store(limits.hang.as_nanos() as u64, Relaxed);
    IS_CPU_TIME.store(limits.clock == HangClock::Cpu, Relaxed);
    MEMORY.store(limits.memory, Relaxed);
    DEADLINE.store(limits.deadline, Relaxed);
    // a process that dies before its first tick would never notice
    TIME_UP.store(now_ns() >= limits.deadline, Relaxed);
    TICKS.store(std::ptr::from_ref(ticks_in_run).cast_mut(), Relaxed);
    (limits.hang / 8).clamp(Duration::from_millis(5), Duration::from_millis(100)).as_nanos() as u64
}

/// Process whose memory is limited; 0 for this one, negative for none. Static as the rest of the timer's state.
static WATCHED: AtomicI32 = AtomicI32::new(0);

/// Applies the memory limit to this process from now on: 0 for the calling one, negative for none.
pub fn watch(process: libc::pid_t) {
    WATCHED.store(process, Relaxed);
}

unsafe extern "C" {
    /// mimalloc's statistics; mimalloc is the engine's heap. Writes to every pointer that is not null.
    fn mi_process_info(
        elapsed: *mut usize,
        user: *mut usize,
        system: *mut usize,
        resident: *mut usize,
        most_resident: *mut usize,
        committed: *mut usize,
        most_committed: *mut usize,
        faults: *mut usize,
    );
}

/// Bytes that the engine's heap has taken from the system, including inputs.
fn engine_heap() -> u64 {
    use std::ptr::null_mut;
    let mut committed = 0;
    // SAFETY: adds up statistics; takes no memory and no lock.
    unsafe {
        mi_process_info(
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            &raw mut committed,
            null_mut(),
            null_mut(),
        );
    }
    committed as u64
}

/// Bytes of memory that the target uses, as far as known, without the engine's heap and the input page in the same
/// process.
fn used_by_target() -> u64 {
    match WATCHED.load(Relaxed) {
        0 => {
            let memory = proc_files::memory(0);
            memory.resident.saturating_sub(memory.shared).saturating_sub(engine_heap())
        }
        ..0 => 0,
        process => proc_files::memory(process).resident,
    }
}

/// Callback of the timer: async-signal-safe.
pub(crate) unsafe extern "C" fn on_timer(ticks_in_run: u64) -> Status {
    let now = now_ns();
    TICKED.store(true, Relaxed);
    if now >= DEADLINE.load(Relaxed) {
        TIME_UP.store(true, Relaxed);
    }
    if ticks_in_run == 0 {
        return Status::Returned;
    }
    // SAFETY: the timer's callback, during a run.
    unsafe { fold(ticks_in_run == 1) };
    let event = EVENT.load(Relaxed);
    if !event.is_null() {
        let taken = TAKEN.load(Relaxed);
        // SAFETY: a static of the runtime, which has just written to it.
        let pc = unsafe { (&raw const (*event).pc).read_volatile() };
        SAMPLES[taken % SAMPLES.len()].store(pc, Relaxed);
        TAKEN.store(taken.wrapping_add(1), Relaxed);
    }
    let limit = MEMORY.load(Relaxed);
    let memory = if limit == 0 { 0 } else { used_by_target() };
    if ticks_in_run == 1 {
        FIRST_TICK.store(now, Relaxed);
        FIRST_MEMORY.store(memory, Relaxed);
        FIRST_CPU.store(cpu_ns(), Relaxed);
    }
    if limit != 0 && memory > limit {
        // did this run allocate it, or did many runs before leak it?
        let grown = memory.saturating_sub(FIRST_MEMORY.load(Relaxed));
        let alone = WATCHED.load(Relaxed) != 0;
        if alone || (ticks_in_run > 1 && grown > limit / 4) {
            return Status::Memory;
        }
        WORN_OUT.store(true, Relaxed);
        if memory > limit.saturating_mul(2) {
            return Status::Memory;
        }
    }
    if is_hang(now - FIRST_TICK.load(Relaxed)) { Status::Hung } else { Status::Returned }
}

/// Whether a run that has taken so many nanoseconds since its first tick is a hang.
fn is_hang(wall: u64) -> bool {
    let limit = HANG_NS.load(Relaxed).saturating_mul(TIMES.load(Relaxed));
    if wall < limit || !IS_CPU_TIME.load(Relaxed) {
        return wall >= limit;
    }
    let cpu = cpu_ns().saturating_sub(FIRST_CPU.load(Relaxed));
    cpu >= limit || wall >= limit.saturating_mul(PATIENCE.into())
}

/// Program counters at the ticks of runs since the last call, the latest ones if there were many; none of a target in another
/// process.
pub fn take_samples() -> Vec<u64> {
    let taken = TAKEN.swap(0, Relaxed).min(SAMPLES.len());
    SAMPLES[..taken].iter().map(|sample| sample.load(Relaxed)).collect()
}

/// Adds the counts since the last tick to the 64-bit counts; clears these first at the `first` tick of a run.
///
/// # Safety
/// Only the timer's callback may call it, during a run.
unsafe fn fold(first: bool) {
    // SAFETY: set by `prepare` to a box that is never freed; the only other reader is `folded`, between runs.
    let Some(fold) = (unsafe { FOLD.load(Relaxed).as_mut() }) else { return };
    if first {
        fold.total.fill(0);
        fold.at_tick.fill(0);
    }
    let Fold { tables, total, at_tick } = fold;
    tables.look_safely(|functions| {
        for function in functions {
            let edge = function.first_edge as usize;
            let mut add = |edge: usize, now: u32| {
                let (Some(total), Some(then)) = (total.get_mut(edge), at_tick.get_mut(edge)) else { return };
                *total += u64::from(now.wrapping_sub(*then));
                *then = now;
            };
            add(edge, function.entered());
            for (at, &count) in function.others().iter().enumerate() {
                add(edge + 1 + at, count);
            }
        }
    });
}

/// 64-bit counts of the last run as of its last tick.
pub struct Folded(&'static Fold);

impl Folded {
    /// The exact count of an edge, given the current value of its 32-bit slot.
    pub fn count(&self, edge: usize, slot: u32) -> u64 {
        match (self.0.total.get(edge), self.0.at_tick.get(edge)) {
            (Some(total), Some(&then)) => total + u64::from(slot.wrapping_sub(then)),
            _ => slot.into(), // of an object that was opened in this very run
        }
    }
}

/// The folded counts of the last run; `None` if it ended before its first tick.
///
/// # Safety
/// No run may be on, and the result must be dropped before the next run begins.
pub unsafe fn folded() -> Option<Folded> {
    // SAFETY: null, or a reference that is valid for as long as the process lives.
    let ticks = unsafe { TICKS.load(Relaxed).as_ref() }.map_or(0, |ticks| ticks.load(Relaxed));
    if ticks == 0 {
        return None;
    }
    // SAFETY: a box that is never freed; no run is on, so no tick writes to it.
    unsafe { FOLD.load(Relaxed).as_ref() }.map(Folded)
}
