//! Fork servers: programs without the engine inside, where each run is a process of its own, forked by the program
//! itself (see `compiler-wrapper/runtime/serve.c`).
//!
//! Programs built by AFL++ have a fork server of their own (`afl`). Programs without instrumentation have none: a launcher
//! takes its place (`uninstrumented`).
//!
//! To the rest of the engine it is a [`Harness`](crate::harness::Harness) like any other: it has tables, counts, a run
//! function and a guard. The counts are the target's own, in shared memory; the tables are copies in this process with relocated
//! pointers.

mod afl;
pub mod charges;
mod child;
pub mod generator;
mod image;
mod input;
mod launch;
mod maps;
pub mod mutants;
pub mod private_folder;
pub mod run_folder;
mod server;
pub mod uninstrumented;

use std::{
    cell::RefCell,
    ffi::{OsStr, OsString},
    os::{raw::c_int, unix::ffi::OsStrExt},
    path::PathBuf,
    sync::atomic::AtomicU64,
};

pub use self::afl::Traits as AflTraits;
use self::{input::Input, run_folder::RunFiles, server::Server};
use super::abi::{Ended, Event, OnTimer, RawComparisons, RawDraws, RawModules, Resources, Status};
use quagmire_base::error::Result;

/// Placeholder of the input file in the target's arguments.
pub(crate) const INPUT_FILE: &str = "@@";

/// Compilers that a program with a fork server was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builder {
    /// quagmire-cc: exact counts.
    Quagmire,
    /// AFL++: an 8-bit map.
    Afl(AflTraits),
    /// Any other compiler or interpreter: no counts, and no fork server.
    Uninstrumented,
}

/// A fork server of any kind.
enum AnyServer {
    Quagmire(Server),
    Afl(afl::Server),
    Uninstrumented(uninstrumented::Server),
}

impl AnyServer {
    /// Starts the server, and stores the program's tables in `into`.
    fn start(of: &ForkServer, into: &RawModules) -> Result<Self> {
        let ForkServer { command, files, builder, generator, .. } = of;
        match *builder {
            Builder::Afl(traits) => afl::Server::start(command, files, traits, into).map(Self::Afl),
            Builder::Uninstrumented => uninstrumented::Server::start(command, files).map(Self::Uninstrumented),
            Builder::Quagmire => {
                let mut server = Server::start(command, files, generator.as_deref())?;
                server.load(into)?;
                Ok(Self::Quagmire(server))
            }
        }
    }

    /// quagmire's own server; `None` for others, which cannot open libraries.
    fn as_ours(&mut self) -> Option<&mut Server> {
        match self {
            Self::Quagmire(server) => Some(server),
            Self::Afl(_) | Self::Uninstrumented(_) => None,
        }
    }

    /// The file that the program reads; `None` if it may have its input in another way.
    fn input(&self) -> Option<&Input> {
        match self {
            Self::Quagmire(server) => server.input_file(),
            Self::Afl(server) => server.input_file(),
            Self::Uninstrumented(server) => Some(server.input_file()),
        }
    }

    fn run(&mut self, input: &[u8]) -> Ended {
        match self {
            Self::Quagmire(server) => server.run(input),
            Self::Afl(server) => server.run(input),
            Self::Uninstrumented(server) => server.run(input),
        }
    }
}

/// Whether the program reads its input from a file, whose name replaces `@@`, instead of standard input.
pub fn reads_file(command: &[OsString]) -> bool {
    command.iter().skip(1).any(|argument| is_input_file(argument))
}

fn is_input_file(argument: &OsStr) -> bool {
    argument.as_bytes().windows(2).any(|window| window == INPUT_FILE.as_bytes())
}

/// Keeps those of these libraries ([`opened`](crate::executor::HarnessExecutor::opened)) whose files exist: some programs write a library, open it and remove
/// it.
pub fn existing(libraries: &[u8]) -> Vec<u8> {
    let paths = libraries.split_inclusive(|&byte| byte == 0);
    let exists = |path: &&[u8]| {
        path.strip_suffix(&[0]).is_some_and(|path| std::path::Path::new(OsStr::from_bytes(path)).exists())
    };
    paths.filter(exists).flatten().copied().collect()
}

/// Ends this process, whose server has died: its successor starts another one.
fn give_up() {
    // SAFETY: a signal for this process.
    unsafe { libc::raise(libc::SIGKILL) };
}

/// How a process has ended that was not cut off, by its wait status.
fn ended(status: c_int) -> (Status, Event) {
    let mut event = Event::default();
    if libc::WIFSIGNALED(status) {
        event.signal = libc::WTERMSIG(status).into();
        return (Status::Crashed, event);
    }
    event.exit_code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status).into() } else { 0 };
    (Status::Returned, event)
}

/// A program and its fork server, which runs once it is started.
pub(crate) struct ForkServer {
    command: Vec<OsString>,
    files: RunFiles,
    builder: Builder,
    /// Shared object that makes the inputs of the program.
    generator: Option<PathBuf>,
    modules: &'static RawModules,
    server: RefCell<Option<AnyServer>>,
}

impl ForkServer {
    /// Takes a program, its arguments, and the files that its runs see. Starts nothing.
    pub(crate) fn new(command: Vec<OsString>, files: RunFiles, builder: Builder) -> Self {
        Self {
            command,
            files,
            builder,
            generator: None,
            modules: Box::leak(Box::default()),
            server: RefCell::default(),
        }
    }

    /// Puts a generator in front of the program, which quagmire-cc has built.
    pub(crate) fn behind(self, generator: PathBuf) -> Self {
        Self { generator: Some(generator), ..self }
    }

    /// Whether the program has neither counts nor a fork server.
    pub(crate) fn is_uncounted(&self) -> bool {
        self.builder == Builder::Uninstrumented
    }

    /// Whether a generator makes the inputs of the program.
    pub(crate) fn has_generator(&self) -> bool {
        self.generator.is_some()
    }

    /// Starts the server. Call it once in a process, which may be a fork of the one that made this value.
    ///
    /// # Errors
    /// If the program cannot be started, or has no fork server of this version.
    pub(crate) fn start(&self) -> Result<()> {
        let server = AnyServer::start(self, self.modules)?;
        *self.server.borrow_mut() = Some(server);
        Ok(())
    }

    /// The objects of the program: none before it was started. The tables are copies that are never freed.
    pub(crate) fn modules(&self) -> &'static RawModules {
        self.modules
    }

    /// The dictionary that AFL++'s compiler has put into the program; none of other servers, or before it was started.
    pub(crate) fn tokens(&self) -> Vec<Vec<u8>> {
        match &*self.server.borrow() {
            Some(AnyServer::Afl(server)) => server.tokens.clone(),
            _ => Vec::new(),
        }
    }

    /// The record of draws of quagmire's own server; `None` for others, or before it was started.
    pub(crate) fn draws(&self) -> Option<&'static RawDraws> {
        self.with_ours(|server| server.draws())
    }

    /// The record of comparisons, likewise.
    pub(crate) fn comparisons(&self) -> Option<&'static RawComparisons> {
        self.with_ours(|server| server.comparisons())
    }

    /// Makes one run.
    pub(crate) fn run(&self, input: &[u8]) -> Ended {
        match &mut *self.server.borrow_mut() {
            Some(server) => server.run(input),
            None => {
                Ended { status: Status::Crashed, event: Event::default(), resources: Resources::default(), resident: 0 }
            }
        }
    }

    /// Notices from now on whether the program reads its standard input; returns false if that cannot be noticed.
    pub(crate) fn watch_input(&self) -> bool {
        self.server.borrow().as_ref().and_then(AnyServer::input).is_some_and(Input::watch)
    }

    /// Whether the program has read its standard input since [`Self::watch_input`].
    pub(crate) fn has_read_input(&self) -> bool {
        self.server.borrow().as_ref().and_then(AnyServer::input).is_none_or(Input::was_read)
    }

    /// Installs the handler of the timer and starts it.
    ///
    /// # Safety
    /// `callback` must be async-signal-safe.
    pub(crate) unsafe fn guard(&self, interval_ns: u64, callback: OnTimer) {
        // SAFETY: the caller's promise.
        unsafe { child::guard(interval_ns, callback) };
    }

    /// Number of timer ticks in the current or last run.
    pub(crate) fn ticks_in_run(&self) -> &'static AtomicU64 {
        child::ticks()
    }

    /// Starts counting libraries that the last run has opened for the first time. Call it after each run. Returns
    /// whether the tables have grown.
    ///
    /// If the server has died, kills this process too: its successor starts another server.
    #[inline]
    pub(crate) fn take_in_libraries(&self) -> bool {
        self.with_ours(|server| server.has_news() && self.take_in(server)).unwrap_or(false)
    }

    /// Paths of the libraries that runs have opened, zero-terminated, in the order in which their counts were added.
    pub(crate) fn opened(&self) -> Vec<u8> {
        self.with_ours(|server| server.opened().to_vec()).unwrap_or_default()
    }

    /// Whether runs have opened all of these libraries ([`Self::opened`]) and none of them is counted yet.
    pub(crate) fn has_met(&self, libraries: &[u8]) -> bool {
        self.with_ours(|server| server.has_met(libraries)).unwrap_or(false)
    }

    /// Forgets libraries that runs have opened and that are not counted yet, until a run opens them again.
    pub(crate) fn forget_met(&self) {
        self.with_ours(Server::forget_met);
    }

    /// Starts counting libraries that were opened in an earlier process, before the first run. Returns whether the
    /// tables have grown.
    pub(crate) fn open_again(&self, libraries: &[u8]) -> bool {
        self.with_ours(|server| server.list(libraries) && self.take_in(server)).unwrap_or(false)
    }

    /// Calls `use_it` with quagmire's own server; `None` if it is another one, or not started.
    #[inline]
    fn with_ours<T>(&self, use_it: impl FnOnce(&mut Server) -> T) -> Option<T> {
        self.server.borrow_mut().as_mut()?.as_ours().map(use_it)
    }

    #[cold]
    fn take_in(&self, server: &mut Server) -> bool {
        if server.open_libraries().is_err() {
            give_up();
        }
        server.load(self.modules).unwrap_or(false)
    }
}
