//! The program under test as the engine runs it: a harness in this process, or a program under its fork server.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use super::{
    abi::{ABI, Ended, Event, OnEnd, RawDraws, RawHarness, RawModules, Status},
    code_tokens::tokens_of_code,
    comparisons::Comparisons,
    fork_server::{Builder, ForkServer, run_folder::RunFiles},
    own_mutator::OwnMutator,
    sources::Sources,
    timer::{self, RunLimits},
};
use quagmire_base::error::{Error, Result};

/// The program under test. Whoever makes one vouches for it, so that everything else calls it without a promise.
pub struct Harness(Backend);

enum Backend {
    InProcess(&'static RawHarness),
    ForkServer(Box<ForkServer>),
}

impl Harness {
    /// Makes a harness of the functions and tables that a program's `main` has handed over.
    ///
    /// # Safety
    /// Its pointers and functions must be those of the runtime (`compiler-wrapper/runtime`), if it has the version
    /// [`ABI`]: valid as long as this process, and called by one thread.
    pub unsafe fn in_process(raw: &'static RawHarness) -> &'static Self {
        Box::leak(Box::new(Self(Backend::InProcess(raw))))
    }

    /// Makes a harness that runs `command`, a program and its arguments, under its fork server, with `files` that its runs
    /// see. Nothing is started before the harness is initialised.
    pub fn of_program(command: Vec<OsString>, files: RunFiles, builder: Builder) -> &'static Self {
        Box::leak(Box::new(Self(Backend::ForkServer(Box::new(ForkServer::new(command, files, builder))))))
    }

    /// As [`Self::of_program`] for a program that quagmire-cc has built, whose inputs a generator makes: a shared object
    /// that [`generator::checked`](crate::fork_server::generator::checked) has returned.
    pub fn behind_generator(generator: PathBuf, command: Vec<OsString>, files: RunFiles) -> &'static Self {
        let server = ForkServer::new(command, files, Builder::Quagmire).behind(generator);
        Box::leak(Box::new(Self(Backend::ForkServer(Box::new(server)))))
    }

    /// Whether each run is a process of its own, so that a crash ends nothing else.
    #[inline]
    pub fn is_isolated(&self) -> bool {
        matches!(self.0, Backend::ForkServer(_))
    }

    /// Whether nothing of the program is counted.
    pub fn is_uncounted(&self) -> bool {
        matches!(&self.0, Backend::ForkServer(server) if server.is_uncounted())
    }

    /// The fork server; `None` for a harness in this process.
    #[inline]
    pub(crate) fn fork_server(&self) -> Option<&ForkServer> {
        match &self.0 {
            Backend::InProcess(_) => None,
            Backend::ForkServer(server) => Some(server),
        }
    }

    /// Sources of the counts of a harness in this process, as far as its objects are loaded before it is initialised;
    /// those of a program are not known.
    pub fn sources(&self) -> Sources {
        match &self.0 {
            // SAFETY: a static of the runtime, of this version, as `in_process` was promised.
            Backend::InProcess(raw) if raw.abi == ABI => Sources::of(unsafe { &*raw.modules }),
            _ => Sources::default(),
        }
    }

    /// Initialises the target. Call it once in a process.
    ///
    /// # Errors
    /// If the harness was built by another version, or the program cannot be started under its fork server.
    pub(crate) fn initialize(&self) -> Result<()> {
        let raw = match &self.0 {
            Backend::InProcess(raw) => raw,
            Backend::ForkServer(server) => return server.start(),
        };
        if raw.abi != ABI {
            return Err(Error::target("the harness was built by another version of quagmire-cc: build it again"));
        }
        if let Some(initialize) = raw.initialize {
            // SAFETY: a function of the runtime, as `in_process` was promised.
            unsafe { initialize() };
        }
        Ok(())
    }

    /// The harness's own mutator and crossover, with room for results of at most `max_size` bytes; `None` if it has
    /// neither, or runs in another process.
    ///
    /// # Errors
    /// If there is no memory for the room.
    pub fn own_mutator(&self, max_size: usize) -> Result<Option<OwnMutator>> {
        match &self.0 {
            Backend::InProcess(raw) if self.has_own_mutator() => OwnMutator::new(raw, max_size).map(Some),
            Backend::InProcess(_) | Backend::ForkServer(_) => Ok(None),
        }
    }

    /// Whether the harness has a mutator or a crossover of its own that the engine can call.
    pub fn has_own_mutator(&self) -> bool {
        matches!(&self.0, Backend::InProcess(raw) if raw.mutate.is_some() || raw.cross_over.is_some())
    }

    /// The recording of comparisons, once the harness is initialised; `None` for programs that AFL++ has built.
    pub fn comparisons(&self) -> Option<Comparisons> {
        match &self.0 {
            // SAFETY: a static of the runtime, as `in_process` was promised.
            Backend::InProcess(raw) => Some(Comparisons::new(unsafe { &*raw.comparisons })),
            Backend::ForkServer(server) => server.comparisons().map(Comparisons::new),
        }
    }

    /// Tokens of the program's code, once the harness is initialised: constants that it compares with something.
    pub fn tokens(&self) -> Vec<Vec<u8>> {
        let mut tokens = tokens_of_code();
        if let Backend::ForkServer(server) = &self.0 {
            tokens.extend(server.tokens());
        }
        tokens
    }

    /// Whether it is known before the first run that there may be draws: a harness in this process was compiled with a
    /// header that draws, or a generator makes the inputs of a program.
    pub fn draws_are_compiled(&self) -> bool {
        match &self.0 {
            // SAFETY: a static of the runtime, as `in_process` was promised.
            Backend::InProcess(raw) => raw.abi == ABI && unsafe { &*raw.draws }.are_used.load(Relaxed) != 0,
            Backend::ForkServer(server) => server.has_generator(),
        }
    }

    /// The record of draws, once the harness is initialised; `None` for programs that AFL++ has built.
    pub(crate) fn draws(&self) -> Option<&'static RawDraws> {
        match &self.0 {
            // SAFETY: a static of the runtime, as `in_process` was promised.
            Backend::InProcess(raw) => Some(unsafe { &*raw.draws }),
            Backend::ForkServer(server) => server.draws(),
        }
    }

    /// The objects of the program, once it is initialised.
    pub(crate) fn modules(&self) -> &'static RawModules {
        match &self.0 {
            // SAFETY: a static of the runtime, as `in_process` was promised.
            Backend::InProcess(raw) => unsafe { &*raw.modules },
            Backend::ForkServer(server) => server.modules(),
        }
    }

    /// Runs the target once, whatever happens in it.
    #[inline]
    pub(crate) fn run(&self, input: &[u8]) -> Ended {
        let raw = match &self.0 {
            Backend::InProcess(raw) => raw,
            Backend::ForkServer(server) => return server.run(input),
        };
        // SAFETY: functions and statics of the runtime, as `in_process` was promised; it writes the statics before it returns.
        unsafe {
            let status = (raw.run)(input.as_ptr(), input.len());
            let is_early = !matches!(status, Status::Returned | Status::Rejected);
            let event = if is_early { *raw.event } else { Event::default() };
            Ended { status, event, resources: *raw.resources, resident: 0 }
        }
    }

    /// Makes whatever ends a run end this process, as it does under libFuzzer. `ended` is called where the run ends,
    /// after which nothing of this process is to be relied on: it prints, and leaves. To be called before
    /// [`Self::start_timer`]; without effect under a fork server.
    pub fn end_process(&self, ended: OnEnd) {
        if let Backend::InProcess(raw) = &self.0 {
            // SAFETY: a function of the runtime, as `in_process` was promised.
            unsafe { (raw.end_process)(ended) };
        }
    }

    /// Ends runs that allocate this many bytes or more at once, if a sanitizer tells of allocations.
    pub fn limit_allocations(&self, bytes: u64) {
        if let Backend::InProcess(raw) = &self.0 {
            // SAFETY: a function of the runtime, as `in_process` was promised.
            unsafe { (raw.limit_allocations)(bytes) };
        }
    }

    /// Whether a sanitizer is linked into this process, which reports errors itself.
    pub fn is_sanitized(&self) -> bool {
        matches!(&self.0, Backend::InProcess(raw) if raw.is_sanitized != 0)
    }

    /// Installs the guard around the target's runs and starts the timer.
    pub fn start_timer(&self, limits: RunLimits) {
        let event = match &self.0 {
            Backend::InProcess(raw) => raw.event,
            Backend::ForkServer(_) => std::ptr::null(),
        };
        let interval = timer::set(limits, self.ticks_in_run(), event);
        // SAFETY: functions of the runtime and of the fork server, with a callback as they want.
        unsafe {
            match &self.0 {
                Backend::InProcess(raw) => (raw.guard)(interval, timer::on_timer),
                Backend::ForkServer(server) => server.guard(interval, timer::on_timer),
            }
        }
    }

    /// Number of timer ticks in the current or last run.
    fn ticks_in_run(&self) -> &'static AtomicU64 {
        match &self.0 {
            // SAFETY: a static of the runtime, as `in_process` was promised.
            Backend::InProcess(raw) => unsafe { &*raw.ticks_in_run },
            Backend::ForkServer(server) => server.ticks_in_run(),
        }
    }
}
