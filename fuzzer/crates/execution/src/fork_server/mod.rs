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
pub const INPUT_FILE: &str = "@@";

/// State of the only fork server that this process may start, used by the engine's one thread.
struct Slot<T>(UnsafeCell<T>);

// SAFETY: used by the engine's one thread only; the tick's handler does not touch it.
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

impl AnyServer {
    fn start(into: *mut RawModules) -> Result<Self> {
        match BUILDER.get() {
            Some(&Builder::Afl(traits)) => {
                // SAFETY: no run is on, and nothing has looked at the modules yet.
                afl::Server::start(command(), traits, unsafe { &mut *into }).map(Self::Afl)
            }
            _ => {
                let mut server = Server::start(command())?;
                server.load(into)?;
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

static SERVER: Slot<Option<AnyServer>> = Slot(UnsafeCell::new(None));
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

/// Whether the program was built by AFL++, so that only a bucket for each edge and a time are known.
pub fn is_afl() -> bool {
    matches!(BUILDER.get(), Some(Builder::Afl(_)))
}

/// Whether the program reads its input from a file, whose name replaces `@@`, instead of standard input.
pub fn reads_file(command: &[OsString]) -> bool {
    command.iter().skip(1).any(|argument| is_input_file(argument))
}

fn is_input_file(argument: &OsStr) -> bool {
    argument.as_bytes().windows(2).any(|window| window == INPUT_FILE.as_bytes())
}

/// Takes the error of the last failed start, if any.
pub fn take_failure() -> Option<Error> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Starts counting libraries that the last run has opened for the first time. Call it after each run. Returns whether
/// the tables have grown.
///
/// If the server has died, kills this process too: its successor starts another server.
#[inline]
pub fn take_in_libraries() -> bool {
    match ours() {
        Some(server) if server.has_news() => take_in(server),
        _ => false,
    }
}

/// Paths of the libraries that runs have opened, zero-terminated, in the order in which their counts were added.
pub fn opened() -> Vec<u8> {
    ours().map_or_else(Vec::new, |server| server.opened().to_vec())
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
pub fn has_met(libraries: &[u8]) -> bool {
    libraries.is_empty() || ours().is_some_and(|server| server.has_met(libraries))
}

/// Forgets libraries that runs have opened and that are not counted yet, until a run opens them again.
pub fn forget_met() {
    if let Some(server) = ours() {
        server.forget_met();
    }
}

/// Starts counting libraries that were opened in an earlier process, before the first run. Returns whether the tables
/// have grown.
pub fn open_again(libraries: &[u8]) -> bool {
    ours().is_some_and(|server| server.list(libraries) && take_in(server))
}

#[inline]
fn ours() -> Option<&'static mut Server> {
    // SAFETY: see `Slot`; whoever asks has done with it before anybody else does.
    unsafe { &mut *SERVER.0.get() }.as_mut()?.as_ours()
}

#[cold]
fn take_in(server: &mut Server) -> bool {
    if server.open_libraries().is_err() {
        // SAFETY: ends this process.
        unsafe { libc::raise(libc::SIGKILL) };
    }
    server.load(MODULES.0.get()).unwrap_or(false)
}

unsafe extern "C" fn initialize(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> c_int {
    match AnyServer::start(MODULES.0.get()) {
        // SAFETY: see `Slot`.
        Ok(server) => unsafe { *SERVER.0.get() = Some(server) },
        Err(error) => *FAILURE.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
    }
    0
}

unsafe extern "C" fn run(data: *const u8, size: usize) -> Status {
    // SAFETY: the executor's buffer; see `Slot` for the rest.
    unsafe {
        let Some(server) = &mut *SERVER.0.get() else { return Status::Crashed };
        let ended = server.run(std::slice::from_raw_parts(data, size));
        *EVENT.0.get() = ended.event;
        *RESOURCES.0.get() = ended.resources;
        ended.status
    }
}
