//! Processes that contain the target: forking, waiting, silencing, and describing how they ended.

use std::{
    fmt,
    fs::File,
    io,
    os::fd::AsRawFd,
    ptr::NonNull,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, set_parent_process_death_signal, waitpid,
    },
    stdio::{dup2_stderr, dup2_stdout},
};

use crate::timer::read_clock;
use quagmire_base::error::{Error, ExitCode, Result};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => f.write_str(&signal_name(*signal)),
        }
    }
}

/// Lets the programs that this process starts, and theirs, have the same addresses in every run: no address space layout
/// randomization. What depends on addresses, such as the order of a table with pointers as keys, costs the same again.
/// Where it is not allowed (seccomp of some containers), they have others in each process, as usual.
pub fn fix_addresses() {
    /// Asks for the present flags.
    const NONE: libc::c_ulong = 0xffff_ffff;
    // SAFETY: plain system calls.
    unsafe {
        let flags = libc::personality(NONE);
        if flags >= 0 {
            libc::personality(flags as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        }
    }
}

/// Name of a signal such as `SIGSEGV`; `signal N` for uncommon ones.
pub fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "SIGSEGV".into(),
        libc::SIGBUS => "SIGBUS".into(),
        libc::SIGABRT => "SIGABRT".into(),
        libc::SIGFPE => "SIGFPE".into(),
        libc::SIGILL => "SIGILL".into(),
        libc::SIGTRAP => "SIGTRAP".into(),
        libc::SIGSYS => "SIGSYS".into(),
        libc::SIGKILL => "SIGKILL".into(),
        libc::SIGTERM => "SIGTERM".into(),
        libc::SIGINT => "SIGINT".into(),
        other => format!("signal {other}"),
    }
}

/// Set while [`fork`] is running. Static, since handlers of `pthread_atfork` ask for it.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Children that [`fork`] has started and that were not waited for. Static, since children belong to the process.
static CHILDREN: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());

/// Forks this process; returns 0 in the child.
///
/// # Safety
/// This process must have no other thread, since the child would be without it: whatever it has locked stays locked.
///
/// # Errors
/// If the system cannot fork.
pub unsafe fn fork() -> Result<libc::pid_t> {
    // locked before the fork: in the child, no thread is left that could unlock it
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    FORKING.store(true, Relaxed);
    // SAFETY: the caller's promise: without other threads, the child may do anything.
    let pid = unsafe { libc::fork() };
    let error = std::io::Error::last_os_error();
    FORKING.store(false, Relaxed);
    match pid {
        0 => children.clear(),
        pid if pid < 0 => return Err(Error::other(format!("cannot fork: {error}"))),
        pid => children.push(pid),
    }
    Ok(pid)
}

/// Notes a child that was started otherwise, so that it is no orphan.
pub(crate) fn note_child(child: u32) {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).push(child as libc::pid_t);
}

/// Whether quagmire's own [`fork`] is running, as opposed to one of the target's: for `pthread_atfork` handlers.
pub fn is_forking() -> bool {
    FORKING.load(Relaxed)
}

/// Orphans: children of this process that it has not started, but inherited as a subreaper (see [`adopt`]). `None` if
/// the system does not list children.
pub fn orphans() -> Option<Vec<libc::pid_t>> {
    let own = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let all = std::fs::read_to_string(format!("/proc/self/task/{process}/children")).ok()?;
    Some(all.split_whitespace().filter_map(|child| child.parse().ok()).filter(|child| !own.contains(child)).collect())
}

/// Makes this process a subreaper: orphans below it become its children instead of those of init.
pub fn adopt() {
    let _ = set_child_subreaper(Some(getpid()));
}

pub fn wait(child: libc::pid_t) -> Result<End> {
    loop {
        if let Some(end) = wait_with(child, WaitOptions::empty())? {
            return Ok(end);
        }
    }
}

/// How a child has ended; `None` if it has not, without waiting.
pub fn poll(child: libc::pid_t) -> Result<Option<End>> {
    wait_with(child, WaitOptions::NOHANG)
}

fn wait_with(child: libc::pid_t, options: WaitOptions) -> Result<Option<End>> {
    let status = match waitpid(Pid::from_raw(child), options) {
        Ok(Some((_, status))) => status,
        Ok(None) | Err(Errno::INTR) => return Ok(None),
        Err(error) => {
            return Err(Error::other(format!("cannot wait for process {child}: {}", io::Error::from(error))));
        }
    };
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).retain(|&known| known != child);
    let signal = status.terminating_signal().map(End::Signal);
    Ok(Some(signal.unwrap_or(End::Code(status.exit_status().unwrap_or(0)))))
}

/// Kills a child of this process that was not waited for.
pub fn kill(child: libc::pid_t) {
    if let Some(child) = Pid::from_raw(child) {
        let _ = kill_process(child, Signal::KILL);
    }
}

/// Ends this process at once, without running destructors of the target, which may be in any state.
pub fn leave(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe {
        libc::syscall(libc::SYS_exit_group, code);
        libc::_exit(code)
    }
}

/// Has this process, which `parent` has just forked, killed when that one ends. Ends it now if that has happened.
/// Async-signal-safe.
pub fn die_with_parent(parent: u32) {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if std::os::unix::process::parent_id() != parent {
        leave(ExitCode::Error as i32);
    }
}

/// Signals that ask a process to end. Shells ignore some of them for background processes.
pub const ENDING: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Whether this process ignores a signal.
pub fn ignores(signal: i32) -> bool {
    // SAFETY: only reads; a zeroed record is a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Resets signals that a supervisor blocked, or that the starting process ignored, to what a target expects.
/// Async-signal-safe.
pub fn usual_signals() {
    // SAFETY: works on a local set, this thread's mask, and signals that were ignored.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const all, std::ptr::null_mut());
        for signal in ENDING.into_iter().filter(|&signal| ignores(signal)) {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// CPU time of the calling thread in nanoseconds.
pub(crate) fn cpu_ns() -> u64 {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of the calling thread in seconds.
pub fn cpu_seconds() -> f64 {
    cpu_ns() as f64 * 1e-9
}

/// Creates a file in memory, freed with its last descriptor. `name` is only shown in `/proc`.
pub fn memory_file(name: &std::ffi::CStr) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// Maps a file, or memory that is zero, to share it with processes that are forked later.
pub(crate) fn map_shared(bytes: usize, file: Option<&File>) -> io::Result<NonNull<u8>> {
    let (kind, file) = file.map_or((libc::MAP_ANONYMOUS, -1), |file| (0, file.as_raw_fd()));
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | kind;
    // SAFETY: a mapping of its own.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, file, 0) };
    match base {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        base => NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into()),
    }
}

/// Redirects standard output and error to `/dev/null`, so that the target does not print.
pub(crate) fn silence() {
    silence_output();
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        let _ = dup2_stderr(&null);
    }
}

/// Redirects standard output to `/dev/null`.
pub fn silence_output() {
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        let _ = dup2_stdout(&null);
    }
}
