//! State of the child of a fork server that runs now, shared with the timer, which kills it when a limit is exceeded.
//!
//! Everything here is async-signal-safe.

use std::{
    os::raw::c_int,
    sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst},
};

use crate::{
    abi::{OnTimer, Status},
    proc_files, timer,
};

/// Largest plausible stack, in bytes.
const LARGEST_STACK: u64 = 1 << 32;

// Static, since the handler of the timer gets no value; a process starts one fork server.

static TICKS: AtomicU64 = AtomicU64::new(0);
static RUNNING: AtomicBool = AtomicBool::new(false);
static CHILD: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
static SERVER: AtomicI32 = AtomicI32::new(0);
static CUT_OFF: AtomicU32 = AtomicU32::new(0);
static LOWEST_AT: AtomicU64 = AtomicU64::new(0);
static LOWEST: AtomicU64 = AtomicU64::new(0);
static ON_TIMER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Number of ticks in the current or last run.
pub(crate) fn ticks() -> &'static AtomicU64 {
    &TICKS
}

/// Marks a run as begun.
pub(crate) fn begin() {
    TICKS.store(0, SeqCst);
    CUT_OFF.store(0, SeqCst);
    LOWEST.store(0, SeqCst);
    RUNNING.store(true, SeqCst);
}

/// Sets the address, in the children, of the variable with their lowest stack address.
pub(crate) fn keeps_lowest_stack_at(address: u64) {
    LOWEST_AT.store(address, SeqCst);
}

/// Stack use of a child that was killed, in bytes, given the address `top` where the stack began; 0 if it was not
/// killed, could not be read, or has executed another program.
pub(crate) fn deepest_stack(top: u64) -> u64 {
    match LOWEST.load(SeqCst) {
        0 => 0,
        lowest => top.checked_sub(lowest).filter(|&depth| depth <= LARGEST_STACK).unwrap_or(0),
    }
}

/// Reads the lowest stack address of a child that still exists.
fn look_at_stack(child: libc::pid_t) {
    let (mut lowest, address) = (0u64, LOWEST_AT.load(SeqCst));
    if child <= 1 || address == 0 || LOWEST.load(SeqCst) != 0 {
        return;
    }
    let here = libc::iovec { iov_base: (&raw mut lowest).cast(), iov_len: size_of::<u64>() };
    let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: size_of::<u64>() };
    // SAFETY: writes to no more than the one variable; the other side is checked by the system.
    if unsafe { libc::process_vm_readv(child, &raw const here, 1, &raw const there, 1, 0) } == size_of::<u64>() as isize
    {
        LOWEST.store(lowest, SeqCst);
    }
}

/// Sets the server, and where it stores the process that makes the run.
///
/// # Safety
/// `child` must be null, or point to memory that stays valid as long as this process. The target may write any value
/// to it.
pub(crate) unsafe fn is_told_at(child: *const AtomicU64, server: libc::pid_t) {
    SERVER.store(server, SeqCst);
    CHILD.store(child.cast_mut(), SeqCst);
}

/// The process that makes the run: a child of the server; 0 if there is none or it is not known. Values that the
/// target forged are recognised, since they are no children of the server.
fn current() -> libc::pid_t {
    // SAFETY: null, or valid for as long as this process lives.
    let told = unsafe { CHILD.load(SeqCst).as_ref() }.map_or(0, |child| child.load(SeqCst));
    let child = libc::pid_t::try_from(told).unwrap_or(0);
    if proc_files::is_child(child, SERVER.load(SeqCst)) { child } else { 0 }
}

/// Marks the run as ended. Returns why it was cut off, if it was.
pub(crate) fn end() -> Option<Status> {
    RUNNING.store(false, SeqCst);
    match CUT_OFF.load(SeqCst) {
        status if status == Status::Hung as u32 => Some(Status::Hung),
        status if status == Status::Memory as u32 => Some(Status::Memory),
        _ => None,
    }
}

fn kill(child: libc::pid_t) {
    // -1 would mean every process
    if child > 1 {
        // SAFETY: a child of the fork server that nobody has told us the end of, and its group, once it has one.
        unsafe {
            libc::kill(-child, libc::SIGKILL);
            libc::kill(child, libc::SIGKILL);
        }
    }
}

extern "C" fn on_signal(_signal: c_int) {
    // SAFETY: this thread's own.
    let saved = unsafe { *libc::__errno_location() };
    let callback = ON_TIMER.load(SeqCst);
    if !callback.is_null() {
        let running = RUNNING.load(SeqCst);
        timer::watch(match current() {
            child if running && child > 1 => child,
            _ => -1,
        });
        let ticks = if running { TICKS.fetch_add(1, SeqCst) + 1 } else { 0 };
        // SAFETY: only `guard` sets it, to such a function.
        let status = unsafe { std::mem::transmute::<*mut (), OnTimer>(callback)(ticks) };
        if running && status != Status::Returned {
            CUT_OFF.store(status as u32, SeqCst);
            // if the child is not known yet, the next tick decides the same
            let child = current();
            look_at_stack(child);
            kill(child);
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = saved };
}

/// Starts the timer: see [`Harness::start_timer`](crate::harness::Harness::start_timer).
///
/// # Safety
/// `callback` must be async-signal-safe.
pub(crate) unsafe fn guard(interval_ns: u64, callback: OnTimer) {
    ON_TIMER.store(callback as *mut (), SeqCst);
    // the same signal as in harnesses
    let signal = libc::SIGRTMIN() + 7;
    // SAFETY: a handler that is safe in signals; zeroed records are valid ones.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        let mut how: libc::sigevent = std::mem::zeroed();
        how.sigev_notify = libc::SIGEV_THREAD_ID;
        how.sigev_signo = signal;
        how.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as c_int;
        let mut timer: libc::timer_t = std::ptr::null_mut();
        if libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut how, &raw mut timer) == 0 {
            let interval = libc::timespec {
                tv_sec: (interval_ns / 1_000_000_000) as libc::time_t,
                tv_nsec: (interval_ns % 1_000_000_000) as libc::c_long,
            };
            let when = libc::itimerspec { it_interval: interval, it_value: interval };
            libc::timer_settime(timer, 0, &raw const when, std::ptr::null_mut());
        }
    }
}
