//! The engine inside a harness: where the runtime's `main` enters Rust.

use std::{
    ffi::{CStr, OsString, c_char, c_int},
    io::Write,
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
    output::{Instrumentation, summary::Engine},
    replay,
    target::{
        abi::Harness,
        fork_server::{self, Builder},
    },
};

/// The target's memory may be in any state after a crash; the engine's must not be part of it. With a heap of its own it
/// neither waits for a lock that a crashed `malloc` holds nor walks through a list that it broke.
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The program as `quagmire` was told to call it.
pub const PROGRAM: &str = "QUAGMIRE_PROGRAM";

/// The command that the user typed, as a JSON list.
pub const COMMAND: &str = "QUAGMIRE_COMMAND";

static NAME: OnceLock<String> = OnceLock::new();

/// How the user calls the target.
pub fn program() -> String {
    NAME.get().cloned().unwrap_or_default()
}

/// How the target is run, as results name it.
pub fn kind() -> Engine {
    if fork_server::is_used() { Engine::ForkServer } else { Engine::InProcess }
}

/// What counts in the target.
pub fn instrumentation() -> Instrumentation {
    if fork_server::is_afl() { Instrumentation::Afl } else { Instrumentation::Counts }
}

/// A word of a command as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,=:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The command that replays inputs with these options, as a shell takes it.
pub fn replay_command(options: &[&str], inputs: &[&Path]) -> String {
    let inputs = inputs.iter().map(|input| quoted(&input.display().to_string()));
    let inputs = options.iter().map(|&option| option.to_owned()).chain(inputs);
    let words = match fork_server::command() {
        [] => [quoted(&program()), "replay".to_owned()].into_iter().chain(inputs).collect::<Vec<_>>(),
        command => {
            let target = command.iter().map(|word| quoted(&word.to_string_lossy()));
            let replay = ["quagmire".to_owned(), "replay".to_owned()].into_iter();
            replay.chain(inputs).chain(std::iter::once("--".to_owned())).chain(target).collect()
        }
    };
    words.join(" ")
}

/// Does what was asked with a program that has no engine inside, given with its arguments.
///
/// # Errors
/// Anything that keeps it from being done.
pub fn run_program(command: Command, program: Vec<OsString>, builder: Builder) -> Result<ExitCode> {
    let _ = NAME.set(program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
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
    let name = std::env::var(PROGRAM).ok().or_else(|| arguments.first()?.clone().into_string().ok());
    let _ = NAME.set(name.unwrap_or_else(|| "harness".to_owned()));
    let code = match cli::parse_for_harness(arguments) {
        Err(stop) => stop.print(),
        Ok(command) => run(command, harness).unwrap_or_else(|error| {
            // a closed standard error is no reason to panic
            let _ = writeln!(std::io::stderr(), "quagmire: {error}");
            error.code
        }),
    };
    code as c_int
}

/// Says, if the target was built by AFL++, that less is known of its runs.
fn say_what_is_missing(quiet: bool) {
    if fork_server::is_afl() && !quiet {
        // a closed standard error is no reason to stop
        let _ = writeln!(
            std::io::stderr(),
            "quagmire: {} was built by AFL++: bucketed edges and time only; build it with quagmire-cc for exact counts and lines",
            program()
        );
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
