//! Programs as they are, without instrumentation: a launcher process starts the command anew for each run, and reports
//! CPU time and peak memory of the processes of the run.
//!
//! It is spoken to as a fork server is, so that limits, restarts and results are those of other programs. There are no
//! counts: the list of objects stays empty.

pub mod launcher;

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        raw::c_int,
        unix::{ffi::OsStrExt, net::UnixStream, process::CommandExt},
    },
    path::Path,
    process::{Child, Command},
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use self::launcher::{LAUNCHER, Report};
use super::{
    child, ended, give_up,
    input::Input,
    launch::{cannot, detach, moved_up},
    run_folder::RunFiles,
};
use crate::abi::{Ended, Event, INPUT, Resources, Status};
use quagmire_base::error::{Error, Result};

/// Process that makes the run, for the timer to kill; 0 if there is none. Static as the rest of what the timer's handler
/// uses.
static CHILD: AtomicU64 = AtomicU64::new(0);

/// A running launcher. It ends, with all processes of the run, when this value is dropped, or when this process ends.
pub(crate) struct Server {
    process: Child,
    stream: UnixStream,
    input: Input,
}

impl Server {
    /// Starts a launcher for `command`, whose runs see `files`, and checks that the system can execute the program. Runs nothing of it.
    ///
    /// # Errors
    /// If the program cannot be executed.
    pub(crate) fn start(command: &[OsString], files: &RunFiles) -> Result<Self> {
        let [program, ..] = command else {
            return Err(Error::usage("no program to run: end the command with `-- PROGRAM [ARGS... @@]`"));
        };
        let input = Input::of_program(command, files)?;
        let (mut stream, theirs) = UnixStream::pair().map_err(cannot("make a socket"))?;
        let given = moved_up(input.as_raw_fd()).map_err(cannot("share inputs with the launcher"))?;
        // the memory of a process that executes another program counts as that one's: not that of this process
        let mut launcher = Command::new("/proc/self/exe");
        let path = input.path().unwrap_or_default();
        launcher.arg0(LAUNCHER).arg(OsStr::from_bytes(path)).args(command).stdin(OwnedFd::from(theirs));
        if let Some(folder) = input.working_folder() {
            launcher.current_dir(folder);
        }
        let parent = std::process::id();
        // SAFETY: async-signal-safe calls.
        unsafe {
            launcher.pre_exec(move || {
                if libc::dup2(given.as_raw_fd(), INPUT) < 0 {
                    return Err(io::Error::last_os_error());
                }
                // it ends the processes of the run first
                detach(parent, libc::SIGTERM)?;
                // what it holds when it forks is the least memory that a run shows: no huge pages. Runs may have them
                libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
                Ok(())
            })
        };
        let process = launcher.spawn().map_err(|error| Error::other(format!("cannot start a launcher: {error}")))?;
        // its copy of the other end
        drop(launcher);
        let [refused] = words(&mut stream).map_err(cannot("hear from the launcher"))?;
        if refused != 0 {
            return Err(refusal(Path::new(program), refused as i32));
        }
        // SAFETY: a static.
        unsafe { child::is_told_at(&raw const CHILD, process.id() as libc::pid_t) };
        Ok(Self { process, stream, input })
    }

    /// The file that the program reads.
    pub(crate) fn input_file(&self) -> &Input {
        &self.input
    }

    /// Makes one run. If the launcher has died, kills this process too: its successor starts another one.
    pub(crate) fn run(&mut self, input: &[u8]) -> Ended {
        let (report, cut_off) = self.request(input).unwrap_or_else(|_| {
            give_up();
            (Report::default(), None)
        });
        let (status, event) = match cut_off {
            Some(cut_off) => (cut_off, Event::default()),
            None => ended(report.status as c_int),
        };
        let resources = Resources { cycles: report.cycles, time_ns: report.cpu_ns.max(1), ..Resources::default() };
        Ended { status, event, resources, resident: report.resident }
    }

    /// Requests one run. Returns what the launcher reports, and why the run was cut off, if it was.
    fn request(&mut self, input: &[u8]) -> io::Result<(Report, Option<Status>)> {
        self.input.give(input)?;
        child::begin();
        self.stream.write_all(&[1])?;
        let [process] = words(&mut self.stream)?;
        CHILD.store(process, SeqCst);
        let report = Report::from_words(words(&mut self.stream)?);
        CHILD.store(0, SeqCst);
        Ok((report, child::end()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: a child of this process that was not waited for.
        unsafe { libc::kill(self.process.id() as libc::pid_t, libc::SIGTERM) };
        let _ = self.process.wait();
    }
}

/// Reads numbers that the launcher has sent.
fn words<const N: usize>(stream: &mut UnixStream) -> io::Result<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; size_of::<u64>()];
        stream.read_exact(&mut bytes)?;
        *word = u64::from_ne_bytes(bytes);
    }
    Ok(words)
}

/// Error of a program that the system does not execute, with the number of the system's error.
fn refusal(program: &Path, number: i32) -> Error {
    let (shown, why) = (program.display(), io::Error::from_raw_os_error(number));
    Error::target(match number {
        libc::ENOEXEC => format!(
            "{shown} is neither a compiled program nor a script that begins with #!: name its interpreter, as in -- \
             python3 {shown}"
        ),
        libc::ENOENT => {
            format!("cannot start {shown}: the interpreter that its first line names, or its loader, is missing")
        }
        _ => format!("cannot start {shown}: {why}"),
    })
}
