//! Runs in another program: a harness, which contains the engine, or `quagmire` for a program with a fork server.

use std::{
    ffi::OsString,
    net::Shutdown,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{
    Detail, Run, RunnerOptions,
    protocol::{Answer, COMMAND, Hello, Request},
};
use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_execution::{
    fork_server::reads_file,
    info::Instrumentation,
    session::{read_block, write, write_block},
};

/// Longest wait for the first message of a program.
const PATIENCE: Duration = Duration::from_secs(60);

/// Program to run inputs in, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOptions {
    /// The program and its arguments, as typed; at least the program.
    pub program: Vec<OsString>,
    /// Generator in front of the program.
    pub generator: Option<OsString>,
    /// Extension of the file that stands for `@@`, if the program reads one.
    pub extension: Option<String>,
    /// Whether runs have a working folder of their own.
    pub scratch: bool,
    /// Largest input in bytes.
    pub capacity: usize,
    /// Limits and output of the runs.
    pub runs: RunnerOptions,
}

/// Runs inputs in another program, one after the other.
#[derive(Debug)]
pub struct RemoteRunner {
    name: String,
    process: Child,
    stream: Option<UnixStream>,
    instrumentation: Instrumentation,
    version: String,
}

impl RemoteRunner {
    /// Starts a program.
    ///
    /// # Errors
    /// If it cannot be started, or is of another version of quagmire.
    pub fn start(options: &RemoteOptions) -> Result<Self> {
        let name = options.program.first().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let socket = |error: std::io::Error| Error::other(format!("cannot make a socket: {error}"));
        let (ours, theirs) = UnixStream::pair().map_err(socket)?;
        ours.set_read_timeout(Some(PATIENCE)).map_err(socket)?;
        let quagmire =
            std::env::current_exe().map_err(|error| Error::other(format!("cannot find quagmire: {error}")))?;
        let RunnerOptions { hang_timeout, memory_limit, debug_target, .. } = options.runs;
        let mut command = Command::new(quagmire);
        command.arg(COMMAND).arg("--capacity").arg(options.capacity.to_string());
        command.arg("--hang-timeout").arg(format!("{}s", hang_timeout.as_secs_f64()));
        command.arg("--memory-limit").arg(memory_limit.to_string());
        if debug_target {
            command.arg("--debug-target");
        }
        if let Some(generator) = &options.generator {
            command.arg("--generator").arg(generator);
        }
        if let Some(extension) = options.extension.as_ref().filter(|_| reads_file(&options.program)) {
            command.arg("--extension").arg(extension);
        }
        if options.scratch {
            command.arg("--scratch");
        }
        command.arg("--").args(&options.program).stdin(OwnedFd::from(theirs));
        command.stdout(if debug_target { Stdio::inherit() } else { Stdio::null() });
        command.stderr(if debug_target { Stdio::inherit() } else { Stdio::null() });
        // Ctrl-C is for this process, which ends the other one by closing the socket
        let process = command
            .process_group(0)
            .spawn()
            .map_err(|error| Error::other(format!("cannot start a process for {name}: {error}")))?;
        // its copy of the other end
        drop(command);
        Self { name, process, stream: Some(ours), instrumentation: Instrumentation::default(), version: String::new() }
            .greeted()
    }

    /// Reads the greeting.
    fn greeted(mut self) -> Result<Self> {
        let name = &self.name;
        let other = || {
            Error::target(format!(
                "{name} does not answer to this version of quagmire ({}): build it again with its quagmire-cc",
                env!("CARGO_PKG_VERSION")
            ))
        };
        let Some(stream) = &mut self.stream else { return Err(other()) };
        let hello: Option<Hello> = read_block(stream).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let hello = hello.filter(Hello::is_understood).ok_or_else(other)?;
        let forever = stream.set_read_timeout(None);
        forever.map_err(|error| Error::other(format!("cannot wait for a socket: {error}")))?;
        self.instrumentation = hello.instrumentation.unwrap_or_default();
        self.version = hello.version;
        Ok(self)
    }

    /// Source of the program's counts.
    pub fn instrumentation(&self) -> Instrumentation {
        self.instrumentation
    }

    /// Version of quagmire that it was built with.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs an input so many times in a row, at least once, and returns the last run with the mean of the CPU times; in a
    /// new process if `is_fresh`.
    ///
    /// # Errors
    /// If the target cannot be run, or the program has ended.
    pub fn run(&mut self, input: &[u8], detail: Detail, repeats: u32, is_fresh: bool) -> Result<Run> {
        let gone = || Error::target(format!("{} has ended its process outside of a run", self.name));
        let Some(stream) = &mut self.stream else { return Err(gone()) };
        let request = Request { detail, repeats, is_fresh };
        write(stream, &request).and_then(|()| write_block(stream, input)).ok_or_else(gone)?;
        match postcard::from_bytes(&read_block(stream).ok_or_else(gone)?) {
            Ok(Answer::Run(run)) => Ok(*run),
            Ok(Answer::Error(message, code)) => {
                let message = format!("{}: {message}", self.name);
                Err(match code {
                    code if code == ExitCode::Usage as u8 => Error::usage(message),
                    code if code == ExitCode::Target as u8 => Error::target(message),
                    _ => Error::other(message),
                })
            }
            Err(_) => Err(gone()),
        }
    }
}

impl Drop for RemoteRunner {
    fn drop(&mut self) {
        // it exits when its socket closes; processes that a target has left may have a copy of it
        if let Some(stream) = self.stream.take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = self.process.wait();
    }
}
