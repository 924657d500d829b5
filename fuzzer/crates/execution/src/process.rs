//! Processes that contain the target: forking, waiting, silencing, naming how they ended.

use std::{
    fmt,
    os::fd::{AsRawFd, FromRawFd},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use quagmire_base::error::{Error, Result};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Code(i32),
    /// By this signal.
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

/// `SIGSEGV` and the like; `signal N` for the uncommon.
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

/// [`fork`] is at work.
static FORKING: AtomicBool = AtomicBool::new(false);

/// What [`fork`] has started from this process, and was not waited for.
static CHILDREN: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());

/// `fork`: 0 in the child. To be called while this process has one thread.
pub fn fork() -> Result<libc::pid_t> {
    // before: in the child nobody is left who could unlock it
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    FORKING.store(true, Relaxed);
    // SAFETY: the engine has no other thread, so the child may do anything.
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

/// Whether this is the middle of a fork of ours, and not of one of the target's: for handlers of `pthread_atfork`.
pub fn is_forking() -> bool {
    FORKING.load(Relaxed)
}

/// Children of this process that it has not started itself: what lost its parent, and came to this process since it is
/// the one that looks after such (see [`adopt`]). `None` on a system that does not list children.
pub fn strays() -> Option<Vec<libc::pid_t>> {
    let own = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let all = std::fs::read_to_string(format!("/proc/self/task/{process}/children")).ok()?;
    Some(all.split_whitespace().filter_map(|child| child.parse().ok()).filter(|child| !own.contains(child)).collect())
}

/// From now on, processes below this one that lose their parent become its children, instead of those of the system's first.
pub fn adopt() {
    // SAFETY: a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// Waits for a child to end.
pub fn wait(child: libc::pid_t) -> Result<End> {
    loop {
        if let Some(end) = wait_with(child, 0)? {
            return Ok(end);
        }
    }
}

/// The end of a child that has ended, `None` for one that has not.
pub fn poll(child: libc::pid_t) -> Result<Option<End>> {
    wait_with(child, libc::WNOHANG)
}

fn wait_with(child: libc::pid_t, flags: i32) -> Result<Option<End>> {
    let mut status = 0;
    // SAFETY: writes one int.
    let waited = unsafe { libc::waitpid(child, &raw mut status, flags) };
    if waited < 0 {
        let error = std::io::Error::last_os_error();
        if error.kind() == std::io::ErrorKind::Interrupted {
            return Ok(None);
        }
        return Err(Error::other(format!("cannot wait for process {child}: {error}")));
    }
    Ok((waited == child).then(|| {
        CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).retain(|&known| known != child);
        if libc::WIFSIGNALED(status) {
            End::Signal(libc::WTERMSIG(status))
        } else {
            End::Code(libc::WEXITSTATUS(status))
        }
    }))
}

/// Ends this process at once: no destructors of the target, which may be in any state.
pub fn leave(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe {
        libc::syscall(libc::SYS_exit_group, code);
        libc::_exit(code)
    }
}

/// This process is killed when the one that forked it ends.
pub fn die_with_parent() {
    // SAFETY: a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// What asks a process to end. Shells ignore some of it for what they run in the background.
pub const ENDING: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Whether this process ignores a signal.
pub fn ignores(signal: i32) -> bool {
    // SAFETY: only reads; a zeroed record is a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Signals that a supervisor blocked, or that whoever started quagmire ignored, have their effect again, as a target
/// expects. Async-signal-safe.
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

/// CPU time of this thread, in nanoseconds.
pub(crate) fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of this thread, in seconds.
pub fn cpu_seconds() -> f64 {
    cpu_ns() as f64 * 1e-9
}

/// A file in memory, which goes when the last process that has it does. `name` is shown in `/proc` only.
///
/// # Errors
/// If there is no memory, or no descriptor.
pub fn memory_file(name: &std::ffi::CStr) -> std::io::Result<std::fs::File> {
    // SAFETY: a C string; a descriptor that is owned from here on.
    unsafe {
        match libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) {
            descriptor if descriptor < 0 => Err(std::io::Error::last_os_error()),
            descriptor => Ok(std::fs::File::from_raw_fd(descriptor)),
        }
    }
}

/// Sends standard output and error, which the target may use, to nowhere.
pub(crate) fn silence() {
    silence_streams(&[1, 2]);
}

/// Sends standard output to nowhere.
pub fn silence_output() {
    silence_streams(&[1]);
}

fn silence_streams(streams: &[i32]) {
    let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") else { return };
    for &stream in streams {
        // SAFETY: plain descriptors.
        unsafe { libc::dup2(null.as_raw_fd(), stream) };
    }
}
