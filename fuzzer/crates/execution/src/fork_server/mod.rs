//! Fork servers: programs without the engine inside, where each run is a process of its own, forked by the program
//! itself (see `compiler-wrapper/runtime/serve.c`).
//!
//! Programs built by AFL++ have a fork server of their own (`afl`).
//!
//! To the rest of the engine a fork server is a [`Harness`] like any other: it has tables, counts, a run function and
//! a guard. The counts are the target's own, in shared memory; the tables are copies in this process with relocated
//! pointers.

mod afl;
mod child;
mod image;
mod input;
mod launch;
mod maps;
mod server;

use std::{
    cell::UnsafeCell,
    ffi::{OsStr, OsString, c_char, c_int},
    os::unix::ffi::OsStrExt,
    sync::{Mutex, OnceLock, PoisonError, atomic::AtomicU64},
};

pub use self::afl::Traits as AflTraits;
use self::server::{Ended, Server};
use super::abi::{ABI, Event, Harness, MAX_MODULES, RawModule, RawModules, Resources, Status};
use quagmire_base::error::{Error, Result};

/// Placeholder of the input file in the target's arguments.
pub(crate) const INPUT_FILE: &str = "@@";

/// Memory that a [`Harness`] points to.
struct Slot<T>(UnsafeCell<T>);

// SAFETY: written by the engine's one thread only; the timer's handler reads the modules alone, while their generation
// says that they do not change.
unsafe impl<T> Sync for Slot<T> {}

/// Compilers that a program with a fork server was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// quagmire-cc: exact counts.
    Quagmire,
    /// AFL++: an 8-bit map.
    Afl(AflTraits),
}

/// A fork server of either kind.
enum AnyServer {
    Quagmire(Server),
    Afl(afl::Server),
}

// SAFETY: what the servers point to is memory of this process, or shared with other processes, and of no thread.
unsafe impl Send for AnyServer {}

impl AnyServer {
    /// Starts the server, and stores the program's tables in `into`.
    ///
    /// # Safety
    /// As [`Server::load`]; nothing may have read `into` yet.
    unsafe fn start(into: *mut RawModules) -> Result<Self> {
        match BUILDER.get() {
            Some(&Builder::Afl(traits)) => {
                // SAFETY: the caller's promise.
                afl::Server::start(command(), traits, unsafe { &mut *into }).map(Self::Afl)
            }
            _ => {
                let mut server = Server::start(command())?;
                // SAFETY: the caller's promise.
                unsafe { server.load(into)? };
                Ok(Self::Quagmire(server))
            }
        }
    }

    /// quagmire's own server; `None` for AFL++'s, which cannot open libraries.
    fn as_ours(&mut self) -> Option<&mut Server> {
        match self {
            Self::Quagmire(server) => Some(server),
            Self::Afl(_) => None,
        }
    }

    fn run(&mut self, input: &[u8]) -> Ended {
        match self {
            Self::Quagmire(server) => server.run(input),
            Self::Afl(server) => server.run(input),
        }
    }
}

/// The only fork server that this process may start.
static SERVER: Mutex<Option<AnyServer>> = Mutex::new(None);
static EVENT: Slot<Event> = Slot(UnsafeCell::new(Event { signal: 0, exit_code: 0, pc: 0, address: 0 }));
static RESOURCES: Slot<Resources> =
    Slot(UnsafeCell::new(Resources { cycles: 0, heap_peak: 0, heap_total: 0, stack: 0, time_ns: 0, threads: 0 }));
const UNLOADED: RawModule = RawModule {
    functions_start: std::ptr::null(),
    functions_stop: std::ptr::null(),
    entries_start: std::ptr::null_mut(),
    entries_stop: std::ptr::null_mut(),
};
static MODULES: Slot<RawModules> = Slot(UnsafeCell::new(RawModules {
    generation: AtomicU64::new(0),
    count: 0,
    refused: 0,
    reading: AtomicU64::new(0),
    module: [UNLOADED; MAX_MODULES],
}));

static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();
static BUILDER: OnceLock<Builder> = OnceLock::new();
static FAILURE: Mutex<Option<Error>> = Mutex::new(None);

/// Makes a harness that runs `command`, a program and its arguments, under its fork server. Nothing is started before
/// the harness is initialised. Call it once.
pub fn harness(command: Vec<OsString>, builder: Builder) -> &'static Harness {
    let _ = COMMAND.set(command);
    let _ = BUILDER.set(builder);
    Box::leak(Box::new(Harness {
        abi: ABI,
        modules: MODULES.0.get(),
        initialize: Some(initialize),
        run,
        event: EVENT.0.get(),
        guard: child::guard,
        ticks_in_run: child::ticks(),
        resources: RESOURCES.0.get(),
    }))
}

/// The program under a fork server, and its arguments; empty if there is none.
pub fn command() -> &'static [OsString] {
    COMMAND.get().map(Vec::as_slice).unwrap_or_default()
}

/// Whether runs are made by a fork server.
#[inline]
pub fn is_used() -> bool {
    COMMAND.get().is_some()
}

/// Whether the program reads its input from a file, whose name replaces `@@`, instead of standard input.
pub fn reads_file(command: &[OsString]) -> bool {
    command.iter().skip(1).any(|argument| is_input_file(argument))
}

fn is_input_file(argument: &OsStr) -> bool {
    argument.as_bytes().windows(2).any(|window| window == INPUT_FILE.as_bytes())
}

/// Takes the error of the last failed start, if any.
pub(crate) fn take_failure() -> Option<Error> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Starts counting libraries that the last run has opened for the first time. Call it after each run. Returns whether
/// the tables have grown.
///
/// If the server has died, kills this process too: its successor starts another server.
#[inline]
pub(crate) fn take_in_libraries() -> bool {
    with_ours(|server| server.has_news() && take_in(server)).unwrap_or(false)
}

/// Paths of the libraries that runs have opened, zero-terminated, in the order in which their counts were added.
pub fn opened() -> Vec<u8> {
    with_ours(|server| server.opened().to_vec()).unwrap_or_default()
}

/// Keeps those of these libraries ([`opened`]) whose files exist: some programs write a library, open it and remove
/// it.
pub fn existing(libraries: &[u8]) -> Vec<u8> {
    let paths = libraries.split_inclusive(|&byte| byte == 0);
    let exists = |path: &&[u8]| {
        path.strip_suffix(&[0]).is_some_and(|path| std::path::Path::new(OsStr::from_bytes(path)).exists())
    };
    paths.filter(exists).flatten().copied().collect()
}

/// Whether runs have opened all of these libraries ([`opened`]) and none of them is counted yet.
pub(crate) fn has_met(libraries: &[u8]) -> bool {
    libraries.is_empty() || with_ours(|server| server.has_met(libraries)).unwrap_or(false)
}

/// Forgets libraries that runs have opened and that are not counted yet, until a run opens them again.
pub(crate) fn forget_met() {
    with_ours(Server::forget_met);
}

/// Starts counting libraries that were opened in an earlier process, before the first run. Returns whether the tables
/// have grown.
pub fn open_again(libraries: &[u8]) -> bool {
    with_ours(|server| server.list(libraries) && take_in(server)).unwrap_or(false)
}

/// Calls `use_it` with quagmire's own server; `None` if there is none. Costs one load in a harness.
#[inline]
fn with_ours<T>(use_it: impl FnOnce(&mut Server) -> T) -> Option<T> {
    if !is_used() {
        return None;
    }
    SERVER.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.as_ours().map(use_it)
}

#[cold]
fn take_in(server: &mut Server) -> bool {
    if server.open_libraries().is_err() {
        // SAFETY: ends this process.
        unsafe { libc::raise(libc::SIGKILL) };
    }
    // SAFETY: a static that this thread alone writes, between runs.
    unsafe { server.load(MODULES.0.get()) }.unwrap_or(false)
}

unsafe extern "C" fn initialize(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> c_int {
    // SAFETY: a static that this thread alone writes; no run is on, and the program is read after this.
    match unsafe { AnyServer::start(MODULES.0.get()) } {
        Ok(server) => *SERVER.lock().unwrap_or_else(PoisonError::into_inner) = Some(server),
        Err(error) => *FAILURE.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
    }
    0
}

unsafe extern "C" fn run(data: *const u8, size: usize) -> Status {
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(server) = server.as_mut() else { return Status::Crashed };
    // SAFETY: the executor's buffer; event and resources are written by this thread alone, and read after the run.
    unsafe {
        let ended = server.run(std::slice::from_raw_parts(data, size));
        *EVENT.0.get() = ended.event;
        *RESOURCES.0.get() = ended.resources;
        ended.status
    }
}
