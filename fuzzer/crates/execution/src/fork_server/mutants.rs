//! Fork server of programs with mutants (`QUAGMIRE_MUTANTS`): runs of the original, of a mutant, and those that note what a
//! run does to the mutants (see `compiler-wrapper/runtime/mutants.h`).

use std::{
    ffi::OsString,
    fs::File,
    hash::{DefaultHasher, Hasher},
    io::{self, PipeReader, PipeWriter, Read, Write},
    os::{
        fd::{AsRawFd, RawFd},
        unix::{fs::FileExt, process::ExitStatusExt},
    },
    process::{Child, ExitStatus},
    time::Duration,
};

use super::{
    charges::Charges,
    input::Input,
    launch::{self, START, Started, Wanted, cannot},
    run_folder::RunFiles,
};
use crate::{
    pipes,
    process::{End, memory_file},
};
use quagmire_base::error::{Error, Result};

/// Version of requests, answers and table (`QGM_MUTANTS_ABI`).
const ABI: u64 = 3;
/// Variable that has the program serve (`QGM_MUTANTS_SERVE`).
const SERVE: &str = "QUAGMIRE_MUTANTS_SERVE";
/// Descriptors in the server (`QGM_MUTANTS_OUTPUT`, `QGM_MUTANTS_TABLE`, `QGM_MUTANTS_PROBES`).
const OUTPUT: RawFd = 192;
const TABLE: RawFd = 193;
const PROBES: RawFd = 194;

/// Words of the first answer, of a request and of an answer (`struct qgm_mutants_hello` and so on).
const HELLO: usize = 5;
const REQUEST: usize = 5;
const ANSWER: usize = 5;

/// Most copies of a mutant that a request may name, those of an inline function for example
/// (`QGM_MUTANTS_SELECTED`); more stay as they are.
const MOST_SELECTED: usize = 4096;

/// Largest table, in bytes: the program has written its length.
const LARGEST_TABLE: u64 = 1 << 30;
/// Time beyond the limit of a run after which the server is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bit in the byte of a mutant: a probing run has come to its place.
pub const REACHED: u8 = 1;
/// Bit in the byte of a mutant: its value differed from the original one.
pub const INFECTED: u8 = 2;

/// Kinds of mutants (`enum qgm_mutants_kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutantKind {
    /// Small faults.
    Fault,
    /// Places that could be slower.
    Performance,
}

/// A run that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant<'a> {
    /// The program as it is.
    Original,
    /// Mutants: pairs of the number of a function and that of one of its mutants.
    Mutant(&'a [(u32, u32)]),
    /// With notes: of faults, which are reached and infected; of performance mutants, what they would cost. Of performance
    /// mutants, some may be selected, as of [`Variant::Mutant`].
    Probes(&'a [(u32, u32)]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// CPU time.
    pub cpu: Duration,
    /// Time, for runs that wait for something.
    pub time: Duration,
    /// Memory in bytes; 0 for no limit.
    pub memory: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// By itself, or by a signal.
    Ended(End),
    /// At a limit of time.
    TimedOut,
    /// Its server has ended, or does not answer: the run has reached beyond its process.
    Lost,
}

/// Effects of a run that can be seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// How it ended.
    pub end: RunEnd,
    /// Whether the harness returned -1.
    pub is_rejected: bool,
    /// Hash of what it has written to standard output and error.
    pub output: u64,
    /// Hash of what it has shown by `qgm_observe`.
    pub shown: u64,
}

/// A running fork server of a program with mutants. It is killed when this value is dropped.
pub struct MutantServer {
    command: Vec<OsString>,
    files: RunFiles,
    process: Child,
    requests: PipeWriter,
    answers: PipeReader,
    input: Input,
    output: File,
    probes: File,
    kind: MutantKind,
    mutants: u64,
    table: String,
}

impl MutantServer {
    /// Starts the program of `command` with its arguments, of which `@@` stands for the file with the input. `files` are those
    /// that its runs see.
    ///
    /// # Errors
    /// If it cannot be started, ends too early, or has a server of another version.
    pub fn start(command: &[OsString], files: &RunFiles) -> Result<Self> {
        let memory = |name| memory_file(name).map_err(cannot("make memory to share"));
        let (output, table, probes) =
            (memory(c"quagmire-output")?, memory(c"quagmire-table")?, memory(c"quagmire-probes")?);
        let input = Input::of_program(command, files)?;
        let descriptors = [(output.as_raw_fd(), OUTPUT), (table.as_raw_fd(), TABLE), (probes.as_raw_fd(), PROBES)];
        let wanted = Wanted {
            descriptors: &descriptors,
            variables: &[(SERVE, "1".to_owned())],
            own_requests: None,
            last_signal: libc::SIGKILL,
            own_segments: true,
            is_silent: true,
        };
        let Started { process, name, requests, answers } = launch::start(command, &input, &wanted)?;
        // killed at each error from here on
        let mut server = Self {
            command: command.to_owned(),
            files: files.clone(),
            process,
            requests,
            answers,
            input,
            output,
            probes,
            kind: MutantKind::Fault,
            mutants: 0,
            table: String::new(),
        };
        let mut hello = [0; HELLO];
        if !launch::is_heard(&server.answers) {
            let seconds = START.as_secs();
            return Err(Error::target(format!(
                "{name} did not get to its main within {seconds} s: does it wait for something?"
            )));
        }
        if read_words(&mut server.answers, &mut hello).is_err() {
            let end = launch::early_end(server.process.wait());
            return Err(Error::target(format!("{name} ended before its first run {end}")));
        }
        let [abi, kind, _, mutants, bytes] = hello;
        // a line of the table is longer than a byte
        if abi != ABI || bytes > LARGEST_TABLE || mutants > bytes {
            return Err(Error::target(format!(
                "{name} was linked by another version of quagmire-cc: build it again with QUAGMIRE_MUTANTS=1 or =performance"
            )));
        }
        server.kind = if kind == 0 { MutantKind::Fault } else { MutantKind::Performance };
        let mut text = vec![0; bytes as usize];
        table.read_exact_at(&mut text, 0).map_err(cannot("read the table of mutants"))?;
        server.table = String::from_utf8_lossy(&text).into_owned();
        server.mutants = mutants;
        Ok(server)
    }

    /// Kind of the program's mutants.
    pub fn kind(&self) -> MutantKind {
        self.kind
    }

    /// The text of the table of mutants (`passes/mutants/table.h`).
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Runs an input. Returns what the run did, and its CPU time. A server that is lost is started again.
    ///
    /// # Errors
    /// If there is no memory, or a lost server cannot be started again.
    pub fn run(&mut self, input: &[u8], variant: Variant<'_>, limits: RunLimits) -> Result<(Observed, Duration)> {
        self.input.give(input).map_err(cannot("hand over an input"))?;
        self.output.set_len(0).map_err(cannot("empty the output of a run"))?;
        let Some([status, timed_out, cpu, rejected, shown]) = self.ask(variant, limits) else {
            *self = Self::start(&self.command, &self.files)?;
            let lost = Observed { end: RunEnd::Lost, is_rejected: false, output: 0, shown: 0 };
            return Ok((lost, Duration::ZERO));
        };
        let status = ExitStatus::from_raw(status as i32);
        let end = match (timed_out, status.signal()) {
            (0, Some(signal)) => RunEnd::Ended(End::Signal(signal)),
            (0, None) => RunEnd::Ended(End::Code(status.code().unwrap_or(0))),
            _ => RunEnd::TimedOut,
        };
        let output = self.hash_output().map_err(cannot("read the output of a run"))?;
        Ok((Observed { end, is_rejected: rejected != 0, output, shown }, Duration::from_nanos(cpu)))
    }

    /// Runs an input with the copies that probe, of a program with faults. Returns, beside what [`MutantServer::run`] does, a
    /// byte for each mutant, of the bits [`REACHED`] and [`INFECTED`].
    ///
    /// # Errors
    /// As [`MutantServer::run`].
    pub fn probe(&mut self, input: &[u8], limits: RunLimits) -> Result<(Observed, Duration, Vec<u8>)> {
        self.noted(input, &[], limits, self.mutants as usize)
    }

    /// Runs an input and adds up what each mutant would cost, of a program with performance mutants: as it is, or with those
    /// that are selected.
    ///
    /// # Errors
    /// As [`MutantServer::run`].
    pub fn charge(&mut self, input: &[u8], selected: &[(u32, u32)], limits: RunLimits) -> Result<(Observed, Charges)> {
        let (observed, _, bytes) = self.noted(input, selected, limits, Charges::bytes(self.mutants))?;
        Ok((observed, Charges::read(&bytes)))
    }

    /// Makes a probing run. Returns the bytes that it has noted.
    fn noted(
        &mut self,
        input: &[u8],
        selected: &[(u32, u32)],
        limits: RunLimits,
        bytes: usize,
    ) -> Result<(Observed, Duration, Vec<u8>)> {
        let mut bytes = vec![0; bytes];
        self.probes.write_all_at(&bytes, 0).map_err(cannot("empty the probes"))?;
        let (observed, cpu) = self.run(input, Variant::Probes(selected), limits)?;
        self.probes.read_exact_at(&mut bytes, 0).map_err(cannot("read the probes"))?;
        Ok((observed, cpu, bytes))
    }

    /// Requests a run, and waits for its end. `None` if the server is lost.
    fn ask(&mut self, variant: Variant<'_>, limits: RunLimits) -> Option<[u64; ANSWER]> {
        let (kind, selected) = match variant {
            Variant::Original => (0, &[][..]),
            Variant::Mutant(selected) => (1, selected),
            Variant::Probes(selected) => (2, selected),
        };
        let selected = &selected[..selected.len().min(MOST_SELECTED)];
        let words: [u64; REQUEST] =
            [kind, limits.cpu.as_nanos() as u64, limits.time.as_nanos() as u64, limits.memory, selected.len() as u64];
        let mut request: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for (function, number) in selected {
            request.extend(function.to_ne_bytes());
            request.extend(number.to_ne_bytes());
        }
        self.requests.write_all(&request).ok()?;
        if pipes::readable([&self.answers], limits.time + limits.cpu + PATIENCE) != [true] {
            return None;
        }
        let mut answer = [0; ANSWER];
        read_words(&mut self.answers, &mut answer).ok()?;
        Some(answer)
    }

    /// Hash of the output; 0 if there is none.
    fn hash_output(&self) -> io::Result<u64> {
        let length = self.output.metadata()?.len();
        if length == 0 {
            return Ok(0);
        }
        let (mut hasher, mut part) = (DefaultHasher::new(), vec![0; 1 << 16]);
        let mut at = 0;
        loop {
            match self.output.read_at(&mut part, at)? {
                0 => return Ok(hasher.finish() | 1),
                more => hasher.write(&part[..more]),
            }
            at += part.len() as u64;
        }
    }
}

impl Drop for MutantServer {
    fn drop(&mut self) {
        // its children get a signal when it ends
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read_words(pipe: &mut PipeReader, words: &mut [u64]) -> io::Result<()> {
    for word in words {
        let mut bytes = [0; 8];
        pipe.read_exact(&mut bytes)?;
        *word = u64::from_ne_bytes(bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_runtime() {
        let header = crate::testing::runtime("mutants.h");
        let defined = |name: &str| {
            let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
            line.unwrap_or_else(|| panic!("{name} is not defined")).split(" /*").next().unwrap_or_default().trim()
        };
        assert_eq!(defined("QGM_MUTANTS_ABI"), ABI.to_string());
        assert_eq!(defined("QGM_MUTANTS_SELECTED"), MOST_SELECTED.to_string());
        assert_eq!(defined("QGM_MUTANTS_SERVE").trim_matches('"'), SERVE);
        for (name, number) in
            [("QGM_MUTANTS_OUTPUT", OUTPUT), ("QGM_MUTANTS_TABLE", TABLE), ("QGM_MUTANTS_PROBES", PROBES)]
        {
            assert_eq!(defined(name), number.to_string());
        }
        let words = |name: &str| {
            let body = header.split(&format!("struct {name} {{")).nth(1).and_then(|rest| rest.split('}').next());
            body.unwrap_or_else(|| panic!("no {name}")).matches("uint64_t ").count()
        };
        let structs = ["qgm_mutants_hello", "qgm_mutants_request", "qgm_mutants_answer"].map(words);
        assert_eq!(structs, [HELLO, REQUEST, ANSWER]);
    }
}
