//! The hidden command `serve-runs`: runs inputs for `quagmire compare`, which cannot load two harnesses. It speaks through a
//! socket that is its standard input.

use std::{
    fs::File,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use super::{
    Detail, Runner,
    protocol::{Answer, Hello, Request},
};
use clap::Parser;

use crate::{
    child::{read_block, write_block},
    command::{Command, TargetOptions},
};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    files::LARGEST_INPUT,
    units,
};
use quagmire_execution::{harness::Harness, info::TargetInfo, process};

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
    let (mut request, mut input) = (Vec::new(), Vec::new());
    loop {
        read_block(stream, &mut request)?;
        read_block(stream, &mut input)?;
        let request: Request = postcard::from_bytes(&request).ok()?;
        let answer = match answer(runner, request, &input) {
            Ok(run) => Answer::Run(Box::new(run)),
            Err(error) => Answer::Error(error.message, error.code as u8),
        };
        write_block(stream, &postcard::to_stdvec(&answer).ok()?)?;
    }
}

fn answer(runner: &mut Runner, request: Request, input: &[u8]) -> Result<super::Run> {
    if request.is_fresh {
        runner.restart()?;
    }
    runner.run_repeatedly(input, Detail::from_byte(request.detail), request.repeats)
}

/// Takes the socket from standard input, which the target finds empty.
fn socket() -> Result<UnixStream> {
    let no_socket = || Error::usage("serve-runs is a command for `quagmire compare`, which starts it by itself");
    // SAFETY: duplicates a descriptor; the result is checked, and owned from here on.
    let socket = unsafe {
        let descriptor = libc::fcntl(libc::STDIN_FILENO, libc::F_DUPFD_CLOEXEC, libc::STDERR_FILENO + 1);
        if descriptor < 0 {
            return Err(no_socket());
        }
        UnixStream::from(OwnedFd::from_raw_fd(descriptor))
    };
    if socket.peer_addr().is_err() {
        return Err(no_socket());
    }
    let empty = File::open("/dev/null").map_err(|error| Error::other(format!("cannot open /dev/null: {error}")))?;
    // SAFETY: replaces standard input, which nothing else uses here.
    unsafe { libc::dup2(empty.as_raw_fd(), libc::STDIN_FILENO) };
    Ok(socket)
}
