//! Fork server of programs built by AFL++'s compilers (tested with 4.04c and 4.40c), by AFL's protocol: one request per run,
//! answered by the child's process id and its wait status.
//!
//! A run yields AFL's map and the time it took, nothing else.

mod hello;
mod segment;
mod table;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    os::{fd::RawFd, raw::c_int},
    process::Child,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use self::{
    hello::{GIVES_MEMORY, Hello, LARGEST_SIZE, Refusal},
    segment::Segment,
    table::Table,
};
use super::{
    child, ended, give_up,
    input::Input,
    launch::{self, START, Started, Wanted, cannot},
    run_folder::RunFiles,
};
use crate::{
    abi::{Ended, Event, INPUT_BYTES, RawModules, Resources, Status},
    clock, process, symbols, timer,
};
use quagmire_base::error::{Error, Result};

/// Descriptor under which the server holds the write end of its own requests. If the pipe closed, the server would
/// end and leave a stopped child behind; with it, the signal that it gets instead makes it kill the child.
const OWN_REQUESTS: RawFd = 195;

/// Size in bytes of the length that precedes an input in shared memory.
const LENGTH: usize = size_of::<u32>();

/// Execution modes of a program, read from its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// It makes many runs in one process (`__AFL_LOOP`).
    pub persistent: bool,
    /// Its fork server starts late (`__AFL_INIT`).
    pub deferred: bool,
}

/// Process that makes the runs, for the timer to kill; 0 if there is none. Static as the rest of
/// what the timer's handler uses.
static CHILD: AtomicU64 = AtomicU64::new(0);

/// A running AFL++ fork server. It is killed when this value is dropped, or when this process ends.
pub(crate) struct Server {
    process: Child,
    requests: io::PipeWriter,
    answers: io::PipeReader,
    map: Segment,
    map_size: usize,
    table: Table,
    /// Dictionary of the program.
    pub(crate) tokens: Vec<Vec<u8>>,
    /// Inputs in shared memory, if the program takes them.
    memory: Option<Segment>,
    input: Input,
    /// CPU time of the child that waits in its loop, in nanoseconds; 0 if unknown.
    stopped: Option<u64>,
    /// Whether the last run was cut off.
    was_killed: bool,
}

impl Server {
    /// Starts the program of `command` with its arguments, and stores its tables in `into`.
    ///
    /// # Errors
    /// If the program cannot be started, or its fork server does not answer as expected.
    pub(crate) fn start(command: &[OsString], files: &RunFiles, traits: Traits, into: &RawModules) -> Result<Self> {
        // of maximum size: unused pages take no memory
        let map = Segment::new(LARGEST_SIZE).map_err(cannot("share memory for AFL's map (see kernel.shmmax)"))?;
        // without it, programs read their inputs from a file or standard input
        let memory = Segment::new(LENGTH + INPUT_BYTES).ok();
        let mut variables =
            vec![("__AFL_SHM_ID", map.number().to_string()), ("AFL_MAP_SIZE", LARGEST_SIZE.to_string())];
        variables.extend(memory.iter().map(|memory| ("__AFL_SHM_FUZZ_ID", memory.number().to_string())));
        variables.extend(traits.persistent.then(|| ("__AFL_PERSISTENT", "1".to_owned())));
        variables.extend(traits.deferred.then(|| ("__AFL_DEFER_FORKSRV", "1".to_owned())));
        let input = Input::of_program(command, files)?;
        let wanted = Wanted {
            descriptors: &[],
            variables: &variables,
            own_requests: Some(OWN_REQUESTS),
            last_signal: libc::SIGTERM,
            own_segments: false,
            is_silent: false,
        };
        let mut started = launch::start(command, &input, &wanted)?;
        let hello = match greet(&mut started) {
            Ok(hello) => hello,
            Err(error) => {
                let _ = started.process.kill();
                let _ = started.process.wait();
                return Err(error);
            }
        };
        let Started { process, name, requests, answers } = started;
        let (table, module) = Table::new(hello.map_size);
        into.module[0].set(module);
        into.count.store(1, SeqCst);
        into.generation.fetch_add(2, SeqCst);
        symbols::count_edges();
        // SAFETY: a static.
        unsafe { child::is_told_at(&raw const CHILD, process.id() as libc::pid_t) };
        let memory = memory.filter(|_| hello.takes_memory);
        let (stopped, was_killed) = (None, false);
        let Hello { map_size, tokens, asks_back, .. } = hello;
        let mut server =
            Self { process, requests, answers, map, map_size, table, tokens, memory, input, stopped, was_killed };
        if server.memory.is_some() && asks_back {
            let told = server.requests.write_all(&GIVES_MEMORY.to_ne_bytes());
            told.map_err(|error| Error::target(format!("{name} does not listen: {error}")))?;
        }
        Ok(server)
    }

    /// Makes one run. If the server has died, kills this process too: its successor starts another server.
    pub(crate) fn run(&mut self, input: &[u8]) -> Ended {
        let mut before;
        let mut may_leave = true;
        let (told, began) = loop {
            self.map.bytes()[..self.map_size].fill(0);
            before = self.stopped.take();
            let began = (clock::ticks(), timer::now_ns());
            let told = self.give(input).and_then(|()| self.request());
            let is_stopped = matches!(told, Ok((status, None)) if libc::WIFSTOPPED(status));
            if is_stopped {
                self.stopped = Some(cpu_clock(CHILD.load(SeqCst) as libc::pid_t).unwrap_or(0));
            }
            // the first round of a loop includes the way into it, and the last one the way out: neither counts
            let has_left = before.is_some() && matches!(told, Ok((0, None)));
            if has_left && may_leave {
                may_leave = false; // it may be the input
            } else if before.is_some() || !is_stopped {
                break (told, began);
            }
        };
        let (status, cut_off) = told.unwrap_or_else(|_| {
            // the server that would know of the child is gone
            kill(CHILD.load(SeqCst) as libc::pid_t);
            give_up();
            (0, None)
        });
        let (cycles, elapsed) = (clock::ticks().wrapping_sub(began.0), timer::now_ns() - began.1);
        // the protocol does not report times
        let time_ns = match (before, self.stopped) {
            (Some(before @ 1..), Some(after @ 1..)) => after.saturating_sub(before),
            _ => elapsed,
        };
        self.table.add(&self.map.bytes()[..self.map_size]);
        let (status, event) = match cut_off {
            Some(cut_off) => (cut_off, Event::default()),
            None => ended(status),
        };
        let resources = Resources { cycles, time_ns: time_ns.max(1), ..Resources::default() };
        Ended { status, event, resources, resident: 0 }
    }

    /// The file that the program reads; `None` if it has its input in memory.
    pub(crate) fn input_file(&self) -> Option<&Input> {
        self.memory.is_none().then_some(&self.input)
    }

    /// Puts the input where the program reads it.
    fn give(&mut self, input: &[u8]) -> io::Result<()> {
        let Some(memory) = &mut self.memory else { return self.input.give(input).map(drop) };
        self.input.tidy()?;
        let input = &input[..input.len().min(INPUT_BYTES)];
        let (length, place) = memory.bytes().split_at_mut(LENGTH);
        length.copy_from_slice(&(input.len() as u32).to_ne_bytes());
        place[..input.len()].copy_from_slice(input);
        Ok(())
    }

    /// Requests one run. Returns the wait status of the child, and why it was cut off, if it was.
    fn request(&mut self) -> io::Result<(c_int, Option<Status>)> {
        child::begin();
        self.requests.write_all(&u32::from(self.was_killed).to_ne_bytes())?;
        let child = self.word()? as libc::pid_t;
        CHILD.store(child.max(0) as u64, SeqCst);
        let status = self.word()? as c_int;
        let cut_off = child::end();
        if cut_off.is_some() {
            // it may have stopped itself just before it was killed, or before its number was known
            kill(if libc::WIFSTOPPED(status) { child } else { 0 });
        }
        if !libc::WIFSTOPPED(status) || cut_off.is_some() {
            CHILD.store(0, SeqCst);
        }
        self.was_killed = cut_off.is_some();
        Ok((status, cut_off))
    }

    fn word(&mut self) -> io::Result<u32> {
        let mut word = [0; 4];
        self.answers.read_exact(&mut word)?;
        Ok(u32::from_ne_bytes(word))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        kill(CHILD.swap(0, SeqCst) as libc::pid_t);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// CPU time of another process in nanoseconds; `None` if unknown.
fn cpu_clock(process: libc::pid_t) -> Option<u64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both write one value each.
    let is_known = unsafe {
        libc::clock_getcpuclockid(process, &raw mut clock) == 0 && libc::clock_gettime(clock, &raw mut time) == 0
    };
    is_known.then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

fn kill(child: libc::pid_t) {
    if child > 1 {
        process::kill(child);
    }
}

/// Reads the answers of a server, each part within [`START`].
struct Heard<'a>(&'a io::PipeReader);

impl Read for Heard<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if launch::is_heard(self.0) { (&*self.0).read(bytes) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

/// Waits for the greeting of the server, and answers it.
fn greet(started: &mut Started) -> Result<Hello> {
    let name = started.name.clone();
    hello::greet(&mut Heard(&started.answers), &mut started.requests).map_err(|refusal| {
        Error::target(match refusal {
            Refusal::MapTooSmall => format!(
                "{name} has more edges than quagmire has room for in AFL++'s map ({LARGEST_SIZE}): build it with quagmire-cc, \
                 which has no such limit"
            ),
            Refusal::NotAttached(number) => format!(
                "{name} could not attach AFL's shared memory (AFL++'s error {number}): is its memory limited? Or build it with \
                 quagmire-cc"
            ),
            Refusal::Unknown(version) => format!(
                "{name} was built by another AFL++, whose fork server speaks version {version} of its protocol: quagmire knows \
                 those of AFL++ 4.00c to 4.40c; build the program with one of these or with quagmire-cc"
            ),
            Refusal::UnknownOptions(options) => format!(
                "{name} was built by another AFL++, whose fork server has options that quagmire does not know ({options:#x}): \
                 build the program with AFL++ 4.40c or with quagmire-cc"
            ),
            Refusal::Garbled => format!(
                "{name} does not speak AFL++'s protocol as AFL++ 4.40c does: does it write to descriptor 199? Or build it with \
                 quagmire-cc"
            ),
            Refusal::Gone(error) if error.kind() == io::ErrorKind::TimedOut => {
                let seconds = START.as_secs();
                format!(
                    "{name} did not start AFL++'s fork server within {seconds} s: does it wait for something before its main, \
                     or its __AFL_INIT()?"
                )
            }
            Refusal::Gone(_) => {
                let end = launch::early_end(started.process.wait());
                format!("{name} ended before AFL++'s fork server started {end}")
            }
        })
    })
}
