//! The hidden command `serve-runs`: runs inputs for `quagmire compare`, which cannot load two harnesses. It speaks through a
//! socket that is its standard input.

use std::{fs::File, os::unix::net::UnixStream};

use rustix::{
    io::fcntl_dupfd_cloexec,
    stdio::{dup2_stdin, stdin},
};

use super::{
    Runner,
    protocol::{Answer, Hello, Request},
};
use clap::Parser;

use crate::command::{Command, TargetOptions};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    files::LARGEST_INPUT,
    units,
};
use quagmire_execution::{
    harness::Harness,
    info::TargetInfo,
    process,
    session::{read_block, write, write_block},
};

/// Run inputs for `quagmire compare`, which starts it
#[derive(Clone, Debug, Parser)]
#[command(name = "serve-runs", hide = true)]
pub struct OfferOptions {
    /// Largest input in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::size)]
    pub capacity: u64,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

impl Command for OfferOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        run(&self, &target, harness)
    }
}

/// Runs inputs on request until the other side closes the socket.
///
/// # Errors
/// If standard input is no socket, or there is no memory.
fn run(options: &OfferOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    process::die_with_parent(std::os::unix::process::parent_id());
    let mut stream = socket()?;
    let hello = serde_json::to_vec(&Hello::of(target.instrumentation)).unwrap_or_default();
    let capacity = options.capacity.min(LARGEST_INPUT) as usize;
    let mut runner = Runner::new(harness, capacity, options.target.runner())?;
    if write_block(&mut stream, &hello).is_some() {
        // ends when the other side is gone, which is as it should be
        let _ = answer_all(&mut runner, &mut stream);
    }
    Ok(ExitCode::Ended)
}

/// Answers requests. Returns `None` when the socket is closed.
fn answer_all(runner: &mut Runner, stream: &mut UnixStream) -> Option<()> {
    loop {
        let request: Request = postcard::from_bytes(&read_block(stream)?).ok()?;
        let input = read_block(stream)?;
        let fresh = if request.is_fresh { runner.restart() } else { Ok(()) };
        let answer = match fresh.and_then(|()| runner.run_repeatedly(&input, request.detail, request.repeats)) {
            Ok(run) => Answer::Run(Box::new(run)),
            Err(error) => Answer::Error(error.message, error.code as u8),
        };
        write(stream, &answer)?;
    }
}

/// Takes the socket from standard input, which the target finds empty.
fn socket() -> Result<UnixStream> {
    let no_socket = || Error::usage("serve-runs is a command for `quagmire compare`, which starts it by itself");
    let descriptor = fcntl_dupfd_cloexec(stdin(), libc::STDERR_FILENO + 1).map_err(|_| no_socket())?;
    let socket = UnixStream::from(descriptor);
    if socket.peer_addr().is_err() {
        return Err(no_socket());
    }
    let empty = File::open("/dev/null").map_err(|error| Error::other(format!("cannot open /dev/null: {error}")))?;
    // nothing else uses standard input here
    let _ = dup2_stdin(&empty);
    Ok(socket)
}
