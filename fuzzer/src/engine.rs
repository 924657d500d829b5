//! Entry points of the engine: `quagmire_engine_main`, which the runtime of a harness calls, and `run_program` for
//! programs under a fork server.

use std::{
    ffi::{CStr, OsString, c_char, c_int},
    os::unix::ffi::OsStrExt,
};

use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form, warn},
};
use quagmire_execution::{
    abi::RawHarness,
    fork_server::{Builder, generator},
    harness::Harness,
    info::{Instrumentation, TargetInfo},
    orphans::Orphans,
    own_program,
    recognise::ENGINE,
};
use quagmire_mutators::inner;

use quagmire_analysis::command::Command;

use crate::{
    cli::{self, PROGRAM},
    libfuzzer,
};

/// Heap of the engine, separate from the target's: after a crash the target's may be locked or corrupted.
#[cfg(not(quagmire_system_heap))] // scripts/check-memory checks the system's heap
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Environment variable with the command line that the user typed, as a JSON list.
pub const COMMAND: &str = "QUAGMIRE_COMMAND";

/// Executes a command for a program with a fork server, given with its arguments.
///
/// # Errors
/// If the options are invalid, or the command fails.
pub fn run_program(mut command: Box<dyn Command>, program: Vec<OsString>, builder: Builder) -> Result<ExitCode> {
    let (inputs, says_extension) = (command.inputs(), command.says_extension());
    let Some(options) = command.target() else { return Err(Error::usage("this command runs no program")) };
    let (files, _private) = options.run_files(&inputs)?;
    if says_extension
        && options.extension.is_none()
        && let Some(extension) = &files.extension
    {
        // a failure to print is no reason to stop
        let _ = plain::print(
            &format!("Input: @@ is a file input.{extension}, since all seeds are .{extension} (-e '' for none)\n"),
            Form::Lines,
        );
    }
    let generator = options.generator.clone();
    let started = options.started(&program);
    let (extension, scratch) = (files.extension.clone(), files.scratch);
    let harness = match (&generator, builder) {
        (None, _) => Harness::of_program(started, files, builder),
        (Some(file), Builder::Quagmire) => Harness::behind_generator(generator::checked(file)?, started, files),
        (Some(_), Builder::Uninstrumented) => {
            return Err(Error::usage(
                "--uninstrumented and --generator do not go together: a program that is run as it is opens no generator; leave \
                 one of them out",
            ));
        }
        (Some(_), Builder::Afl(_)) => {
            return Err(Error::target(
                "--generator: only the fork server of quagmire-cc opens generators: build the program with quagmire-cc",
            ));
        }
    };
    let target = TargetInfo {
        program: program.first().cloned().unwrap_or_default(),
        command: program,
        generator,
        extension,
        scratch,
        instrumentation: match builder {
            Builder::Quagmire => Instrumentation::Counts,
            Builder::Afl(_) => Instrumentation::Afl,
            Builder::Uninstrumented => Instrumentation::Uninstrumented,
        },
    };
    command.run(target, harness)
}

/// Runs the engine with the command line of a harness. Returns the exit code of the process.
///
/// # Safety
/// `argv` must hold `argc` C strings, `harness` must live as long as the process and be the runtime's (see
/// [`Harness::in_process`]), and no other thread may be running: the runtime's `main` calls it once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quagmire_engine_main(
    argc: c_int,
    argv: *const *const c_char,
    harness: *const RawHarness,
) -> c_int {
    // SAFETY: the caller's promise.
    let (arguments, harness) = unsafe {
        let one = |at: usize| OsString::from(std::ffi::OsStr::from_bytes(CStr::from_ptr(*argv.add(at)).to_bytes()));
        ((0..argc as usize).map(one).collect::<Vec<_>>(), Harness::in_process(&*harness))
    };
    // `quagmire` reads it from the file of the harness
    std::hint::black_box(ENGINE);
    own_program::leaves(&arguments);
    let _orphans = Orphans::adopt();
    if libfuzzer::is_meant(&arguments) {
        return libfuzzer::run(&arguments, harness);
    }
    let name = std::env::var_os(PROGRAM).or_else(|| arguments.first().cloned());
    let program = name.unwrap_or_else(|| "harness".into());
    let instrumentation = harness.sources().instrumentation();
    let target = TargetInfo::of_harness(program, instrumentation);
    let code = match cli::parse_for_harness(arguments) {
        Err(stop) => stop.print(),
        Ok(parsed) => run(parsed.command, target, harness).unwrap_or_else(|error| {
            warn(&error.message);
            error.code
        }),
    };
    code as c_int
}

/// Applies one of havoc's mutations to `size` bytes at `data`, in place, for `LLVMFuzzerMutate` of the runtime. Returns the new
/// size, at most `max_size`, and 0 only if that is 0.
///
/// # Safety
/// `data` must have room for `max_size` bytes, of which the first `size` are initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quagmire_engine_mutate(data: *mut u8, size: usize, max_size: usize) -> usize {
    if data.is_null() || max_size == 0 {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let mutant = inner::mutate(std::slice::from_raw_parts(data, size.min(max_size)), max_size);
        data.copy_from_nonoverlapping(mutant.as_ptr(), mutant.len());
        mutant.len()
    }
}

/// Executes a command in a harness, which reads no files and draws by itself.
fn run(mut command: Box<dyn Command>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let is_uninstrumented = command.is_uninstrumented();
    if let Some(options) = command.target() {
        if options.generator.is_some() {
            return Err(Error::usage(
                "--generator is for programs without a harness: call the generator in the harness, and then qgm_generated (the \
                 book, Generators)",
            ));
        }
        // that of the target, which a harness does not have
        let of_files = [("-e", options.extension.is_some()), ("--scratch", options.scratch)];
        if let Some((option, _)) = of_files.into_iter().find(|(_, is_typed)| *is_typed) {
            return Err(Error::usage(format!(
                "{option} is for programs without a harness: a harness reads no file; leave it out"
            )));
        }
        if is_uninstrumented {
            return Err(Error::usage("--uninstrumented: this harness is instrumented: leave it out"));
        }
        if let Some(typed) = std::env::var(COMMAND).ok().and_then(|json| serde_json::from_str(&json).ok()) {
            options.command = typed;
        }
    }
    command.check()?;
    command.run(target, harness)
}
