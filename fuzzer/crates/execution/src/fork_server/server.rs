//! quagmire's own fork server: starts a program, requests runs, and reads how they ended.

use std::{
    cell::Cell,
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsRawFd, RawFd},
        raw::c_int,
    },
    path::{Path, PathBuf},
    process::Child,
    ptr::NonNull,
    sync::atomic::Ordering::{Acquire, Release, SeqCst},
};

use super::{
    child, ended, generator, give_up, image,
    input::Input,
    launch::{self, START, Started, Wanted, cannot},
    maps,
    run_folder::RunFiles,
};
use crate::{
    abi::{
        ABI, CHOICES, Ended, Event, LIBRARIES_BYTES, NO_CHILD, NO_GENERATOR, NOT_SHARED, PAGE, READY, RawComparisons,
        RawDraws, RawModules, Resources, SERVE, STARTED, Served, ServerTables, Status, UNCOUNTED, WENT_REJECT,
        WENT_ROUND,
    },
    clock,
    notices::Notice,
    process::{map_shared, memory_file},
    symbols,
};
use quagmire_base::error::{Error, Result};

/// How often a child may reach its loop without a run before a run is given up.
const MOST_STARTS: u32 = 8;

/// Place of [`RawDraws`] in the shared memory (`QGM_DRAWS_OFFSET`).
const DRAWS_OFFSET: usize = size_of::<Served>().next_multiple_of(PAGE);

/// Place of [`RawComparisons`] in it (`QGM_COMPARISONS_OFFSET`).
const COMPARISONS_OFFSET: usize = DRAWS_OFFSET + size_of::<RawDraws>().next_multiple_of(PAGE);

/// Descriptor of the shared memory in the server, next to those of AFL's protocol.
const MEMORY: RawFd = 197;

/// A generator in front of the program.
struct Generator {
    path: PathBuf,
    /// The inputs that it gets.
    choices: Input,
}

/// A running fork server. It is killed when this value is dropped, or when this process ends.
pub(crate) struct Server {
    process: Child,
    name: String,
    requests: io::PipeWriter,
    answers: io::PipeReader,
    memory: File,
    served: NonNull<Served>,
    /// Input of the program; written by a generator if there is one.
    input: Input,
    generator: Option<Generator>,
    /// Address of the [`ServerTables`] in the server, read before the first run.
    tables: u64,
    /// Number of the last request.
    number: u64,
    /// Number of the program's objects whose tables were copied.
    loaded: usize,
    /// Bytes of the list of libraries that the server was asked to open.
    libraries_seen: usize,
}

impl Server {
    /// Starts the program of `command` with its arguments, and a generator of its inputs if there is one.
    ///
    /// # Errors
    /// If the program cannot be started, has no fork server of this version, or cannot open the generator.
    pub(crate) fn start(command: &[OsString], files: &RunFiles, generator: Option<&Path>) -> Result<Self> {
        let memory = memory_file(c"quagmire-counts").map_err(cannot("make memory to share"))?;
        let bytes = COMPARISONS_OFFSET + size_of::<RawComparisons>().next_multiple_of(PAGE);
        memory.set_len(bytes as u64).map_err(cannot("make memory to share"))?;
        let served = map_shared(bytes, Some(&memory)).map_err(cannot("map memory to share"))?.cast::<Served>();
        // SAFETY: just mapped, as large as this, and zero.
        unsafe { (*served.as_ptr()).abi = ABI };
        let mut input = Input::of_program(command, files)?;
        if generator.is_some() {
            // it writes to the file that it was given
            input.anchor().map_err(cannot("make a file for inputs"))?;
        }
        let generator = generator.map(|path| {
            // SAFETY: as above.
            generator::name(unsafe { &mut *served.as_ptr() }, path);
            generator::choices().map(|choices| Generator { path: path.to_owned(), choices })
        });
        let generator = generator.transpose()?;
        let choices = generator.as_ref().map(|generator| (generator.choices.as_raw_fd(), CHOICES));
        let descriptors: Vec<_> = choices.into_iter().chain([(memory.as_raw_fd(), MEMORY)]).collect();
        let wanted = Wanted {
            descriptors: &descriptors,
            variables: &[(SERVE, MEMORY.to_string())],
            own_requests: None,
            last_signal: libc::SIGKILL,
            own_segments: true,
            is_silent: false,
        };
        let Started { process, name, requests, answers } = launch::start(command, &input, &wanted)?;
        let mut server = Self {
            process,
            name,
            requests,
            answers,
            memory,
            served,
            input,
            generator,
            tables: 0,
            number: 0,
            loaded: 0,
            libraries_seen: 0,
        };
        server.greet()?;
        server.tables = server.served().server;
        // SAFETY: mapped for as long as this process lives.
        unsafe { child::is_told_at(&raw const server.served().child, server.process.id() as libc::pid_t) };
        child::keeps_lowest_stack_at(server.served().lowest_stack);
        if server.served().takes_memory != 0 && server.generator.is_none() {
            server.input.map().map_err(cannot("map memory for inputs"))?;
        }
        Ok(server)
    }

    /// Waits until the server is ready, and checks its version.
    fn greet(&mut self) -> Result<()> {
        if !launch::is_heard(&self.answers) {
            let (name, seconds) = (&self.name, START.as_secs());
            return Err(Error::target(format!(
                "{name} did not get to its main, or its __AFL_INIT(), within {seconds} s: does it wait for something?"
            )));
        }
        if self.answers.read_exact(&mut [0; 4]).is_err() {
            let end = launch::early_end(self.process.wait());
            return Err(Error::target(format!("{} ended before its main {end}", self.name)));
        }
        let served = self.served();
        match (served.abi, served.ready) {
            (ABI, READY) => Ok(()),
            (ABI, UNCOUNTED) => Err(Error::target(format!(
                "{} has objects compiled with SanitizerCoverage, which only harnesses in process can count: compile \
                 them with quagmire-cc, or call the code from a harness and build that without QUAGMIRE_DRIVER=1",
                self.name
            ))),
            (ABI, NOT_SHARED) => Err(Error::target(format!(
                "{} has counts that cannot be shared: link it, and the libraries of your own that it loads, with quagmire-cc, \
                 and not with gold or mold",
                self.name
            ))),
            (ABI, NO_GENERATOR) => {
                let path = self.generator.as_ref().map(|generator| generator.path.display().to_string());
                Err(Error::target(format!(
                    "{} cannot open the generator {}: {}",
                    self.name,
                    path.unwrap_or_default(),
                    generator::reason(served)
                )))
            }
            (ABI, _) => Err(Error::other(format!("no memory to share with {}", self.name))),
            _ => {
                Err(Error::target(format!("{} was built by another version of quagmire-cc: build it again", self.name)))
            }
        }
    }

    fn served(&self) -> &Served {
        // SAFETY: mapped for as long as this process lives; the server writes to it only between a request and its answer.
        unsafe { self.served.as_ref() }
    }

    /// The record of draws.
    pub(crate) fn draws(&self) -> &'static RawDraws {
        // SAFETY: mapped behind `Served` for as long as this process lives, aligned to pages, and any bytes are valid.
        unsafe { &*self.served.as_ptr().cast::<u8>().add(DRAWS_OFFSET).cast::<RawDraws>() }
    }

    /// The record of comparisons.
    pub(crate) fn comparisons(&self) -> &'static RawComparisons {
        // SAFETY: as for the draws.
        unsafe { &*self.served.as_ptr().cast::<u8>().add(COMPARISONS_OFFSET).cast::<RawComparisons>() }
    }

    /// Copies the tables of objects that are not in `into` yet, and appends them. Returns whether there were any.
    ///
    /// # Errors
    /// If this process may not read the memory of the server.
    pub(crate) fn load(&mut self, into: &RawModules) -> Result<bool> {
        let process = self.process.id() as libc::pid_t;
        let failed = |error: io::Error| Error::other(format!("cannot read the tables of {}: {error}", self.name));
        let text = std::fs::read_to_string(format!("/proc/{process}/maps")).map_err(failed)?;
        let mappings = maps::parse(&text);
        let process = File::open(format!("/proc/{process}/mem")).map_err(failed)?;
        let tables: Box<ServerTables> = image::value_at(&process, self.tables).map_err(failed)?;
        let regions = &tables.region[..(tables.region_count as usize).min(tables.region.len())];
        let theirs: Box<RawModules> = image::value_at(&process, tables.modules).map_err(failed)?;
        let refused = theirs.refused.load(SeqCst);
        let theirs = &theirs.module[..(theirs.count.load(SeqCst) as usize).min(theirs.module.len())];
        let mut copies = Vec::new();
        for module in theirs.iter().map(Cell::get).skip(self.loaded).filter(|module| !module.functions_start.is_null())
        {
            copies.push(image::copy(&process, &module, &mappings, regions, &self.memory).map_err(failed)?);
        }
        // objects that somebody may have looked at stay as they are, and the generation is changed when all is there
        let known = into.count.load(SeqCst) as usize;
        let mut count = known;
        for (place, copy) in into.module[known..].iter().zip(&copies) {
            place.set(*copy);
            count += 1;
        }
        into.count.store(count as u64, SeqCst);
        into.refused.store(refused, SeqCst);
        into.generation.fetch_add(2, SeqCst);
        self.loaded = theirs.len();
        let mut objects = maps::objects(&mappings);
        if let Some(generator) = &self.generator {
            // it makes the draws, whose places are relative to it
            let path = generator.path.canonicalize().unwrap_or_default();
            objects.sort_by_key(|object| object.path != path);
        }
        symbols::look_elsewhere(objects);
        Ok(!copies.is_empty())
    }

    /// Length in bytes of the list of libraries, cut to the buffer: the target may have written any value.
    fn libraries_end(&self) -> usize {
        usize::try_from(self.served().libraries_end.load(Acquire)).unwrap_or(LIBRARIES_BYTES).min(LIBRARIES_BYTES)
    }

    /// Whether runs have opened libraries that the server was not asked to open yet.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.libraries_end() > self.libraries_seen
    }

    /// Paths, zero-terminated, of the libraries that the server was asked to open.
    pub(crate) fn opened(&self) -> &[u8] {
        &self.served().libraries[..self.libraries_seen]
    }

    /// Whether all of these zero-terminated paths are of libraries that runs have opened and the server was not asked
    /// to open.
    pub(crate) fn has_met(&self, paths: &[u8]) -> bool {
        let end = self.libraries_end();
        let met: Vec<&[u8]> =
            self.served().libraries[self.libraries_seen.min(end)..end].split(|&byte| byte == 0).collect();
        paths.ends_with(&[0]) && paths.split(|&byte| byte == 0).all(|path| path.is_empty() || met.contains(&path))
    }

    /// Removes the libraries that the server was not asked to open from the list. Call it between runs.
    pub(crate) fn forget_met(&mut self) {
        self.served().libraries_end.store(self.libraries_seen as u64, Release);
    }

    /// Puts paths on the list of opened libraries, if that is empty. Returns whether it did.
    pub(crate) fn list(&mut self, paths: &[u8]) -> bool {
        if paths.is_empty() || paths.len() > LIBRARIES_BYTES || self.has_news() || !self.opened().is_empty() {
            return false;
        }
        // SAFETY: mapped for as long as this process lives; no run is on.
        let served = unsafe { &mut *self.served.as_ptr() };
        served.libraries[..paths.len()].copy_from_slice(paths);
        served.libraries_end.store(paths.len() as u64, Release);
        true
    }

    /// Has the server open the libraries on the list. It tries each of them once only. Call it between runs: a child
    /// in its loop ends.
    ///
    /// # Errors
    /// If the server has died.
    pub(crate) fn open_libraries(&mut self) -> io::Result<()> {
        self.libraries_seen = self.libraries_end();
        self.ask(true)
    }

    /// The file that the program reads; `None` if it has its input in memory, or from a generator.
    pub(crate) fn input_file(&self) -> Option<&Input> {
        let is_read = self.served().takes_memory == 0 && self.generator.is_none();
        is_read.then_some(&self.input)
    }

    /// Makes one run. If the server has died, kills this process too: its successor starts another server.
    pub(crate) fn run(&mut self, input: &[u8]) -> Ended {
        let mut told = Ok(None);
        for _ in 0..MOST_STARTS {
            told = self.give(input).and_then(|()| self.request());
            // what a child does before it first reaches its loop is no part of a run
            if !(matches!(told, Ok(None)) && self.served().looped == STARTED) {
                break;
            }
        }
        let cut_off = told.unwrap_or_else(|_| {
            give_up();
            None
        });
        let served = self.served();
        let cycles = plausible(served.cycles);
        let time_ns = match served.time_ns {
            0 => (cycles as f64 * clock::ns_per_tick()) as u64,
            measured => plausible(measured),
        };
        let resources = Resources {
            cycles,
            heap_peak: plausible(served.heap.peak.max(0) as u64),
            heap_total: plausible(served.heap.total),
            // processes that it has forked may have stored less deep stacks
            stack: plausible(served.stack.max(child::deepest_stack(served.top))),
            time_ns: time_ns.max(1),
            threads: 0,
        };
        if self.generator.is_some() && served.generating != 0 {
            Notice::GeneratorFails.raise();
            return Ended { status: Status::Rejected, event: Event::default(), resources, resident: 0 };
        }
        let (status, event) = match (cut_off, served.looped) {
            (Some(cut_off), _) => (cut_off, Event::default()),
            (None, WENT_ROUND) => (Status::Returned, Event::default()),
            (None, WENT_REJECT) => (Status::Rejected, Event::default()),
            (None, _) => ended(served.status as c_int),
        };
        let event = Event { pc: served.pc, address: served.address, ..event };
        Ended { status, event, resources, resident: 0 }
    }

    /// Puts the input where the program reads it, or its generator.
    fn give(&mut self, input: &[u8]) -> io::Result<()> {
        let given = match &mut self.generator {
            Some(generator) => {
                self.input.tidy()?;
                generator.choices.give(input)?
            }
            None => self.input.give(input)?,
        };
        // SAFETY: mapped for as long as this process lives; no run is on.
        unsafe { (*self.served.as_ptr()).input_size = given as u64 };
        Ok(())
    }

    /// Requests one run. Returns why it was cut off, if it was.
    fn request(&mut self) -> io::Result<Option<Status>> {
        child::begin();
        self.ask(false)?;
        let cut_off = child::end();
        let served = self.served();
        if served.looped == 0 && served.status == NO_CHILD {
            return Err(io::Error::other("it cannot fork"));
        }
        Ok(cut_off)
    }

    /// Sends a request, to open libraries or to run, and waits for the answer.
    fn ask(&mut self, opening: bool) -> io::Result<()> {
        self.number += 1;
        // SAFETY: mapped for as long as this process lives; the server waits. A target may have written to all of them.
        unsafe {
            (*self.served.as_ptr()).answered = self.number - 1;
            (*self.served.as_ptr()).wanted = self.number;
            (*self.served.as_ptr()).opening = opening.into();
        }
        let (word, mut answer) = ((self.number as u32).to_ne_bytes(), [0; 4]);
        self.requests.write_all(&word)?;
        self.answers.read_exact(&mut answer)?;
        if answer == word { Ok(()) } else { Err(io::Error::other("it answers something else")) }
    }
}

/// Limits a number that the target can have written to what a run can use, so that sums do not overflow.
fn plausible(amount: u64) -> u64 {
    amount.min(1 << 48)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
