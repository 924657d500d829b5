//! The engine inside a harness: where the runtime's `main` enters Rust.

use std::{
    ffi::{CStr, OsString, c_char, c_int},
    os::unix::ffi::OsStrExt,
};

use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::warn,
};
use quagmire_execution::{
    abi::Harness,
    fork_server::{self, Builder},
    info::{Instrumentation, TargetInfo},
};

use crate::{
    campaign,
    cli::{self, Command},
    options::Options,
};

/// The target's memory may be in any state after a crash; the engine's must not be part of it. With a heap of its own it
/// neither waits for a lock that a crashed `malloc` holds nor walks through a list that it broke.
#[cfg(not(quagmire_system_heap))] // scripts/check-memory looks at the system's
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Names the program as `quagmire` was told to call it.
pub const PROGRAM: &str = "QUAGMIRE_PROGRAM";

/// Names the command that the user typed, as a JSON list.
pub const COMMAND: &str = "QUAGMIRE_COMMAND";

/// Does what was asked with a program that has no engine inside, given with its arguments.
///
/// # Errors
/// Anything that keeps it from being done.
pub fn run_program(command: Command, program: Vec<OsString>, builder: Builder) -> Result<ExitCode> {
    let target = TargetInfo {
        program: program.first().cloned().unwrap_or_default(),
        command: program.clone(),
        instrumentation: match builder {
            Builder::Quagmire => Instrumentation::Counts,
            Builder::Afl(_) => Instrumentation::Afl,
        },
    };
    run(command, target, fork_server::harness(program, builder))
}

/// Runs the engine with the command line of a harness. Returns the exit code of the process.
///
/// # Safety
/// `argv` holds `argc` C strings, `harness` lives as long as the process, and nothing else runs yet: it is called by the
/// runtime's `main`, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quagmire_engine_main(
    argc: c_int,
    argv: *const *const c_char,
    harness: *const Harness,
) -> c_int {
    // SAFETY: the caller's promise.
    let (arguments, harness) = unsafe {
        let one = |at: usize| OsString::from(std::ffi::OsStr::from_bytes(CStr::from_ptr(*argv.add(at)).to_bytes()));
        ((0..argc as usize).map(one).collect::<Vec<_>>(), &*harness)
    };
    let name = std::env::var_os(PROGRAM).or_else(|| arguments.first().cloned());
    let program = name.unwrap_or_else(|| "harness".into());
    let target = TargetInfo { program, command: Vec::new(), instrumentation: Instrumentation::Counts };
    let code = match cli::parse_for_harness(arguments) {
        Err(stop) => stop.print(),
        Ok(command) => run(command, target, harness).unwrap_or_else(|error| {
            warn(&error.message);
            error.code
        }),
    };
    code as c_int
}

/// Says, if the target was built by AFL++, that less is known of its runs.
fn say_what_is_missing(target: &TargetInfo, quiet: bool) {
    if target.instrumentation == Instrumentation::Afl && !quiet {
        let program = target.name();
        warn(&format!(
            "{program} was built by AFL++: bucketed edges and time only; build it with quagmire-cc for exact counts and lines"
        ));
    }
}

fn run(command: Command, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let typed = std::env::var(COMMAND).ok().and_then(|json| serde_json::from_str::<Vec<String>>(&json).ok());
    match command {
        Command::Fuzz(mut fuzz) => {
            fuzz.command = typed.unwrap_or(fuzz.command);
            let options = Options::resolve(fuzz)?.for_target(&target)?;
            say_what_is_missing(&target, options.quiet);
            campaign::launch(options, target, harness)
        }
        Command::Replay(replay) => {
            say_what_is_missing(&target, replay.json);
            quagmire_analysis::run(&replay.resolve()?, &target, harness)
        }
        Command::Report(_) => Err(Error::usage("a report is written by `quagmire report OUT`")),
    }
}
