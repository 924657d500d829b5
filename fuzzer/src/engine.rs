//! The engine inside a harness: where the runtime's `main` enters Rust.

use std::{
    ffi::{CStr, OsStr, OsString, c_char, c_int},
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::OnceLock,
};

use crate::{
    campaign::{
        self,
        options::{Options, ReplayOptions},
    },
    cli::{self, Command},
    error::{ExitCode, Result},
    output::{Instrumentation, plain::warn, shell, summary::Engine},
    replay,
    target::{
        abi::Harness,
        fork_server::{self, Builder},
    },
};

/// The target's memory may be in any state after a crash; the engine's must not be part of it. With a heap of its own it
/// neither waits for a lock that a crashed `malloc` holds nor walks through a list that it broke.
#[cfg(not(quagmire_system_heap))] // scripts/check-memory looks at the system's
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The program as `quagmire` was told to call it.
pub const PROGRAM: &str = "QUAGMIRE_PROGRAM";

/// The command that the user typed, as a JSON list.
pub const COMMAND: &str = "QUAGMIRE_COMMAND";

static NAME: OnceLock<OsString> = OnceLock::new();

/// How the user calls the target, to be shown.
pub fn program() -> String {
    program_word().to_string_lossy().into_owned()
}

/// The same, as a word of a command.
fn program_word() -> &'static OsStr {
    NAME.get().map(OsString::as_os_str).unwrap_or_default()
}

/// How the target is run, as results name it.
pub fn kind() -> Engine {
    if fork_server::is_used() { Engine::ForkServer } else { Engine::InProcess }
}

/// What counts in the target.
pub fn instrumentation() -> Instrumentation {
    if fork_server::is_afl() { Instrumentation::Afl } else { Instrumentation::Counts }
}

/// The command that replays inputs with these options, as a shell takes it.
pub fn replay_command(options: &[&str], inputs: &[&Path]) -> String {
    let inputs = options.iter().map(OsStr::new).chain(inputs.iter().map(|input| input.as_os_str()));
    match fork_server::command() {
        [] => shell::command([program_word(), OsStr::new("replay")].into_iter().chain(inputs)),
        command => {
            let replay = ["quagmire", "replay"].map(OsStr::new).into_iter();
            let target = command.iter().map(OsString::as_os_str);
            shell::command(replay.chain(inputs).chain([OsStr::new("--")]).chain(target))
        }
    }
}

/// Does what was asked with a program that has no engine inside, given with its arguments.
///
/// # Errors
/// Anything that keeps it from being done.
pub fn run_program(command: Command, program: Vec<OsString>, builder: Builder) -> Result<ExitCode> {
    let _ = NAME.set(program.first().cloned().unwrap_or_default());
    run(command, fork_server::harness(program, builder))
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
    let _ = NAME.set(name.unwrap_or_else(|| "harness".into()));
    let code = match cli::parse_for_harness(arguments) {
        Err(stop) => stop.print(),
        Ok(command) => run(command, harness).unwrap_or_else(|error| {
            warn(&error.message);
            error.code
        }),
    };
    code as c_int
}

/// Says, if the target was built by AFL++, that less is known of its runs.
fn say_what_is_missing(quiet: bool) {
    if fork_server::is_afl() && !quiet {
        let program = program();
        warn(&format!(
            "{program} was built by AFL++: bucketed edges and time only; build it with quagmire-cc for exact counts and lines"
        ));
    }
}

fn run(command: Command, harness: &'static Harness) -> Result<ExitCode> {
    let typed = std::env::var(COMMAND).ok().and_then(|json| serde_json::from_str::<Vec<String>>(&json).ok());
    match command {
        Command::Fuzz(mut fuzz) => {
            fuzz.command = typed.unwrap_or(fuzz.command);
            let options = Options::resolve(fuzz)?;
            let options = if fork_server::is_afl() { options.for_afl(&program())? } else { options };
            say_what_is_missing(options.quiet);
            campaign::launch(options, harness)
        }
        Command::Replay(options) => {
            say_what_is_missing(options.json);
            replay::run(&ReplayOptions::resolve(options)?, harness)
        }
        Command::Report(report) => crate::report::run(&report.output),
    }
}
