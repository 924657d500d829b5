//! The launcher: a process as small as can be that starts a command anew for each run, waits for its end, kills whatever
//! it leaves behind, and reports what all processes of the run used.
//!
//! It is this program itself, executed under another name ([`LAUNCHER`]). It is a subreaper: orphans of a run become its
//! children, whatever session they have moved to.

use std::{
    ffi::{CString, OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    mem::MaybeUninit,
    os::{
        fd::{FromRawFd, RawFd},
        raw::c_int,
        unix::{ffi::OsStrExt, net::UnixStream, process::CommandExt},
    },
    process::{Command, Stdio},
    sync::atomic::{AtomicI32, Ordering::SeqCst},
};

use crate::{
    abi::INPUT,
    clock,
    fork_server::{is_input_file, launch::with_input_file},
    process::adopt,
};

/// Name (`argv[0]`) under which a process is a launcher.
pub const LAUNCHER: &str = "quagmire: launcher";

/// Error by which a child tells that it cannot be traced.
const UNTRACED: c_int = libc::EOPNOTSUPP;

/// Leader of the process group of the run, for the handler of the signal that ends the launcher; 0 if there is none.
/// Static, since a handler gets no value.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// End and costs of all processes of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Wait status of the command.
    pub status: u64,
    /// User and system time in nanoseconds.
    pub cpu_ns: u64,
    /// Largest of the processes' maximum resident sets, in bytes.
    pub resident: u64,
    /// Ticks of the time-stamp counter from start to end, waiting included.
    pub cycles: u64,
}

impl Report {
    pub(super) fn from_words([status, cpu_ns, resident, cycles]: [u64; 4]) -> Self {
        Self { status, cpu_ns, resident, cycles }
    }

    fn words(self) -> [u64; 4] {
        [self.status, self.cpu_ns, self.resident, self.cycles]
    }

    /// Adds the use of a process that was waited for, and of the children that it has waited for.
    fn add(&mut self, used: &libc::rusage) {
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        self.cpu_ns += ns(used.ru_utime) + ns(used.ru_stime);
        self.resident = self.resident.max(used.ru_maxrss as u64 * 1024);
    }
}

/// Whether this process was started as a launcher.
pub fn is_meant() -> bool {
    std::env::args_os().next().is_some_and(|name| name == LAUNCHER)
}

/// Serves requests for runs until the other side of the socket, which is standard input, is closed. Returns the exit code
/// of the process.
pub fn run() -> u8 {
    let mut words = std::env::args_os().skip(1);
    let input = words.next().unwrap_or_default();
    let command: Vec<OsString> = words.collect();
    // SAFETY: standard input, which nothing else uses.
    let stream = unsafe { UnixStream::from_raw_fd(0) };
    close_on_exec(0);
    close_on_exec(INPUT);
    adopt();
    // SAFETY: a handler that is safe in signals; writing to a closed socket is an error and no signal.
    unsafe {
        libc::signal(libc::SIGTERM, on_end as *const () as libc::sighandler_t);
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
    u8::from(serve(&command, &input, stream).is_err())
}

extern "C" fn on_end(_signal: c_int) {
    let group = GROUP.load(SeqCst);
    // SAFETY: system calls; the group is of a child that was not waited for. Adopted processes are killed by `sweep`,
    // once the command has ended.
    unsafe {
        if group > 1 {
            libc::kill(-group, libc::SIGKILL);
            libc::kill(group, libc::SIGKILL);
        } else {
            libc::_exit(0);
        }
    }
}

fn close_on_exec(descriptor: RawFd) {
    // SAFETY: a flag of a descriptor.
    unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
}

/// Serves requests for runs of a command. `input` is the path of the input's file; empty if it is known by its descriptor only.
fn serve(command: &[OsString], input: &OsStr, mut stream: UnixStream) -> io::Result<()> {
    let [program, arguments @ ..] = command else { return Err(io::ErrorKind::InvalidInput.into()) };
    // by the number of this process: children that close what they inherit can open it too
    let path = format!("/proc/{}/fd/{INPUT}", std::process::id());
    let by_file = arguments.iter().any(|argument| is_input_file(argument));
    let mut command = Command::new(program);
    let shown = if input.is_empty() { path.as_bytes() } else { input.as_bytes() };
    command.args(arguments.iter().map(|argument| with_input_file(argument, shown)));
    // SAFETY: async-signal-safe calls.
    unsafe {
        command.pre_exec(|| {
            // a process group that can be killed, and no terminal
            libc::setsid();
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::prctl(libc::PR_SET_THP_DISABLE, 0, 0, 0, 0);
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            Ok(())
        })
    };
    stream.write_all(&(refused(program) as u64).to_ne_bytes())?;
    loop {
        if stream.read(&mut [0])? == 0 {
            return Ok(());
        }
        command.stdin(if by_file { Stdio::null() } else { File::open(&path)?.into() });
        let began = clock::ticks();
        let child = command.spawn()?.id() as libc::pid_t;
        GROUP.store(child, SeqCst);
        let told = stream.write_all(&(child as u64).to_ne_bytes());
        let mut report = Report::default();
        report.status = wait(child, &mut report)? as u64;
        report.cycles = clock::ticks().wrapping_sub(began);
        GROUP.store(0, SeqCst);
        sweep(child, &mut report);
        told?;
        for word in report.words() {
            stream.write_all(&word.to_ne_bytes())?;
        }
    }
}

/// Number of the system's error if the program cannot be executed; 0 if it can. The process is stopped before its first
/// instruction, where this system lets it be traced, and killed.
fn refused(program: &OsStr) -> c_int {
    let Ok(path) = CString::new(program.as_bytes()) else { return libc::ENOENT };
    let mut trial = Command::new(program);
    trial.stdin(Stdio::null());
    // SAFETY: async-signal-safe calls.
    unsafe {
        trial.pre_exec(move || {
            libc::setsid();
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                return Err(io::Error::from_raw_os_error(UNTRACED));
            }
            // not as the library does, which hands a text without #! to a shell
            let arguments = [path.as_ptr(), std::ptr::null()];
            libc::execv(path.as_ptr(), arguments.as_ptr());
            Err(io::Error::last_os_error())
        })
    };
    match trial.spawn() {
        Ok(mut child) => {
            let _ = child.kill();
            let _ = child.wait();
            0
        }
        Err(error) => error.raw_os_error().filter(|&number| number != UNTRACED).unwrap_or(0),
    }
}

/// Waits for a child, adds what it used, and returns its wait status.
fn wait(child: libc::pid_t, report: &mut Report) -> io::Result<c_int> {
    let (mut status, mut used) = (0, MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: writes an int and a record, which is valid when it is zero.
        let waited = unsafe { libc::wait4(child, &raw mut status, 0, used.as_mut_ptr()) };
        if waited == child {
            // SAFETY: as above.
            report.add(unsafe { used.assume_init_ref() });
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if waited < 0 && error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Kills what a run has left behind, and adds what it used: the rest of its group, and all orphans. Children of those
/// become children of this process in turn.
fn sweep(leader: libc::pid_t, report: &mut Report) {
    // SAFETY: the group of a session that only this run has; its number is not used again while the group exists.
    unsafe { libc::kill(-leader, libc::SIGKILL) };
    let list = format!("/proc/self/task/{}/children", std::process::id());
    loop {
        let listed = std::fs::read_to_string(&list).unwrap_or_default();
        let orphans: Vec<libc::pid_t> = listed.split_ascii_whitespace().filter_map(|one| one.parse().ok()).collect();
        if orphans.is_empty() {
            break;
        }
        for &orphan in &orphans {
            // SAFETY: children of this process that were not waited for.
            unsafe { libc::kill(orphan, libc::SIGKILL) };
        }
        for orphan in orphans {
            let _ = wait(orphan, report);
        }
    }
    // where the kernel lists no children
    // SAFETY: children of this process; nothing is written.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
}
