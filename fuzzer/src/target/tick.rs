//! What happens on the timer tick, in a signal handler: counts are folded before they can wrap, hangs and runaway
//! memory are cut off, and the end of the campaign's time is noticed without asking for the time in every execution.
//!
//! Nothing here allocates, locks or panics: it may interrupt any instruction of the target or of the engine.

use std::{
    sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::{
    abi::{Harness, Status},
    program::Program,
};

/// Limits that the tick watches, for the rest of the process.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A run longer than this is a hang (wall-clock; noticed up to an eighth later).
    pub hang: Duration,
    /// Resident memory of the process in bytes; 0 for none.
    pub memory: u64,
    /// When the campaign's time is up (CLOCK_MONOTONIC, nanoseconds); `u64::MAX` for never.
    pub deadline: u64,
}

static HANG_NS: AtomicU64 = AtomicU64::new(u64::MAX);
static MEMORY: AtomicU64 = AtomicU64::new(0);
static DEADLINE: AtomicU64 = AtomicU64::new(u64::MAX);
static FIRST_TICK: AtomicU64 = AtomicU64::new(0);
static FIRST_MEMORY: AtomicU64 = AtomicU64::new(0);
static FOLDS: AtomicU64 = AtomicU64::new(0);
static FOLD: AtomicPtr<Fold> = AtomicPtr::new(std::ptr::null_mut());
static TICKS: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());

/// The campaign's time is up.
pub static TIME_UP: AtomicBool = AtomicBool::new(false);
/// A tick passed since somebody cleared this: a cheap clock for work that is due now and then.
pub static TICKED: AtomicBool = AtomicBool::new(false);
/// The process holds much more memory than one run explains: it should be started afresh.
pub static LEAKING: AtomicBool = AtomicBool::new(false);

/// Counts of the current run at its last tick. A slot that wraps between two ticks (at most 100 ms apart, and no edge is
/// executed 4 billion times in that time) is still told exactly by the difference.
struct Fold {
    functions: Vec<super::program::Function>,
    total: Vec<u64>,
    at_tick: Vec<u32>,
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: async-signal-safe, writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Makes room for the counts of `program`. Call it again when the program has grown.
pub fn prepare(program: &Program) {
    let fold = Box::new(Fold {
        functions: program.functions().to_vec(),
        total: vec![0; program.edges()],
        at_tick: vec![0; program.edges()],
    });
    // The old one is leaked: a tick may be looking at it. Programs grow a few times at most.
    FOLD.store(Box::into_raw(fold), Relaxed);
}

/// Installs the guard around the target's runs and starts the ticks.
pub fn start(harness: &Harness, limits: Limits) {
    HANG_NS.store(limits.hang.as_nanos() as u64, Relaxed);
    MEMORY.store(limits.memory, Relaxed);
    DEADLINE.store(limits.deadline, Relaxed);
    // a process that dies before its first tick would never notice
    TIME_UP.store(now_ns() >= limits.deadline, Relaxed);
    TICKS.store(harness.ticks_in_run.cast_mut(), Relaxed);
    let interval = (limits.hang / 8).clamp(Duration::from_millis(5), Duration::from_millis(100));
    // SAFETY: the harness's own function, with a callback that is safe in a signal handler.
    unsafe { (harness.guard)(interval.as_nanos() as u64, on_tick) };
}

/// The process whose memory is looked at; 0 for this one.
static WATCHED: AtomicI32 = AtomicI32::new(0);

/// From now on, the memory limit is on this process; 0 for this one.
pub fn watch(process: libc::pid_t) {
    WATCHED.store(process, Relaxed);
}

/// `/proc/PID/statm` of the process that is watched, as a C string; no allocation.
fn statm() -> [u8; 32] {
    let mut path = [0; 32];
    let mut length = 0;
    let mut push = |text: &[u8]| {
        for &byte in text {
            path[length] = byte;
            length += 1;
        }
    };
    push(b"/proc/");
    match WATCHED.load(Relaxed) {
        ..=0 => push(b"self"),
        process => {
            let mut divisor = 1_000_000_000;
            let mut begun = false;
            while divisor > 0 {
                let digit = process / divisor % 10;
                begun |= digit != 0;
                if begun {
                    push(&[b'0' + digit as u8]);
                }
                divisor /= 10;
            }
        }
    }
    push(b"/statm");
    path
}

/// Resident bytes of the process that is watched, from /proc without allocation; 0 if unknown.
fn resident() -> u64 {
    let mut text = [0u8; 128];
    let path = statm();
    // SAFETY: system calls on a path that is a C string and a buffer of the given length.
    let length = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return 0;
        }
        let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        length
    };
    let mut pages = 0u64;
    let mut field = 0;
    for &byte in text.iter().take(length.max(0) as usize) {
        match byte {
            b' ' => field += 1,
            b'0'..=b'9' if field == 1 => pages = pages.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            _ => {}
        }
    }
    pages.wrapping_mul(4096)
}

unsafe extern "C" fn on_tick(ticks_in_run: u64) -> Status {
    let now = now_ns();
    TICKED.store(true, Relaxed);
    if now >= DEADLINE.load(Relaxed) {
        TIME_UP.store(true, Relaxed);
    }
    if ticks_in_run == 0 {
        return Status::Returned;
    }
    fold(ticks_in_run == 1);
    let limit = MEMORY.load(Relaxed);
    let memory = if limit == 0 { 0 } else { resident() };
    if ticks_in_run == 1 {
        FIRST_TICK.store(now, Relaxed);
        FIRST_MEMORY.store(memory, Relaxed);
    }
    if limit != 0 && memory > limit {
        // Did this run take it, or did many runs before leak it?
        let grown = memory.saturating_sub(FIRST_MEMORY.load(Relaxed));
        let alone = WATCHED.load(Relaxed) != 0;
        if alone || (ticks_in_run > 1 && grown > limit / 4) {
            return Status::Memory;
        }
        LEAKING.store(true, Relaxed);
        if memory > limit.saturating_mul(2) {
            return Status::Memory;
        }
    }
    if now - FIRST_TICK.load(Relaxed) >= HANG_NS.load(Relaxed) {
        return Status::Hung;
    }
    Status::Returned
}

fn fold(first: bool) {
    FOLDS.fetch_add(1, Relaxed);
    // SAFETY: set once by `prepare` to a box that is never freed; the only other reader is `folded`, between runs.
    let Some(fold) = (unsafe { FOLD.load(Relaxed).as_mut() }) else { return };
    if first {
        fold.total.fill(0);
        fold.at_tick.fill(0);
    }
    for function in &fold.functions {
        let edge = function.first_edge as usize;
        let mut add = |edge: usize, now: u32| {
            let (Some(total), Some(then)) = (fold.total.get_mut(edge), fold.at_tick.get_mut(edge)) else { return };
            *total += u64::from(now.wrapping_sub(*then));
            *then = now;
        };
        add(edge, function.entered());
        if function.edges > 1 {
            for (at, &count) in function.others().iter().enumerate() {
                add(edge + 1 + at, count);
            }
        }
    }
}

/// Counts of the last run at its last tick.
pub struct Folded(&'static Fold);

impl Folded {
    /// The exact count of an edge whose slot now shows `slot`.
    pub fn count(&self, edge: usize, slot: u32) -> u64 {
        match (self.0.total.get(edge), self.0.at_tick.get(edge)) {
            (Some(total), Some(&then)) => total + u64::from(slot.wrapping_sub(then)),
            _ => slot.into(), // of an object that was opened in this very run
        }
    }
}

/// The folded counts of the last run, if it was long enough to see a tick.
pub fn folded() -> Option<Folded> {
    // SAFETY: points into the harness for as long as the process lives; written by the tick only.
    let ticks = unsafe { TICKS.load(Relaxed).as_ref().map_or(0, |ticks| std::ptr::from_ref(ticks).read_volatile()) };
    if ticks == 0 {
        return None;
    }
    // SAFETY: a box that is never freed; no run is on, so no tick writes to it.
    unsafe { FOLD.load(Relaxed).as_ref() }.map(Folded)
}
