//! Entry points of the engine: `quagmire_engine_main`, which the runtime of a harness calls, and `run_program` for
//! programs under a fork server.

use std::{
    ffi::{CStr, OsString, c_char, c_int},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form, warn},
};
use quagmire_execution::{
    abi::RawHarness,
    fork_server::{Builder, generator, run_folder::RunFiles},
    harness::Harness,
    info::{Instrumentation, TargetInfo},
    orphans::Orphans,
};
use quagmire_mutators::inner;

use crate::{
    campaign,
    cli::{self, Command, PROGRAM},
    libfuzzer,
    options::{Options, files::run_files},
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
pub fn run_program(command: Command, program: Vec<OsString>, builder: Builder) -> Result<ExitCode> {
    let generator = command.generator().map(Path::to_owned);
    let (files, _private) = run_files(&command)?;
    say_extension(&command, &files);
    let started = program_for(&program, &files);
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
    run(command, target, harness)
}

/// The command with a program that is found from any folder, if its runs have one of their own.
pub fn program_for(command: &[OsString], files: &RunFiles) -> Vec<OsString> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut().filter(|_| files.scratch)
        && let Ok(absolute) = std::path::absolute(&*program)
    {
        *program = absolute.into_os_string();
    }
    command
}

/// Says which extension the input of a campaign has because of its seeds.
fn say_extension(command: &Command, files: &RunFiles) {
    if let (Command::Fuzz(fuzz), Some(extension)) = (command, &files.extension)
        && fuzz.target.extension.is_none()
        && !fuzz.quiet
    {
        // a failure to print is no reason to stop
        let _ = plain::print(
            &format!("Input: @@ is a file input.{extension}, since all seeds are .{extension} (-e '' for none)\n"),
            Form::Lines,
        );
    }
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
        Ok(command) => run(command, target, harness).unwrap_or_else(|error| {
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

/// Warns that less is measured if something else than quagmire's pass counts in the target.
fn say_what_is_missing(target: &TargetInfo, harness: &Harness, quiet: bool) {
    if quiet {
        return;
    }
    let (program, sources) = (target.name(), harness.sources());
    let counts = target.instrumentation;
    let (origin, remark, advice) = (counts.origin(), counts.remark(), counts.advice());
    match counts {
        // as was asked for
        Instrumentation::Counts | Instrumentation::Uninstrumented => {}
        Instrumentation::Afl => warn(&format!("{program} was {origin}: bucketed edges and time only; {advice}")),
        Instrumentation::Mixed => {
            let edges = [
                (sources.guards + sources.widened, "exact"),
                (sources.counters, "some in 8 bits, which wrap around"),
                (sources.flags, "whether, not how often"),
                (sources.pcs, "by address, some of which share a count"),
            ];
            let edges = edges.into_iter().filter(|(functions, _)| *functions > 0);
            let edges = edges.map(|(functions, how)| format!("{functions} ({how})")).collect::<Vec<_>>().join(", ");
            warn(&format!(
                "{program} counts instructions in {} functions, by quagmire-cc, and edges in {edges}, by \
                 SanitizerCoverage: instructions are the sum of both",
                sources.pass
            ));
        }
        _ => warn(&format!("{program} was {origin}: {remark}; {advice}")),
    }
    if sources.has_wrong_table {
        warn(&format!(
            "{program} has a PC table that does not match its counts: edges have numbers instead of functions; compile all \
             objects with the same -fsanitize-coverage"
        ));
    }
}

fn run(command: Command, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    if command.generator().is_some() && !target.is_isolated() {
        return Err(Error::usage(
            "--generator is for programs without a harness: call the generator in the harness, and then qgm_generated (the \
             book, Generators)",
        ));
    }
    if let Some(option) = command.target().filter(|_| !target.is_isolated()).and_then(|target| {
        [("-e", target.extension.is_some()), ("--scratch", target.scratch)].into_iter().find(|(_, given)| *given)
    }) {
        let option = option.0;
        return Err(Error::usage(format!(
            "{option} is for programs without a harness: a harness reads no file; leave it out"
        )));
    }
    if command.is_uninstrumented() && !target.is_isolated() {
        return Err(Error::usage("--uninstrumented: this harness is instrumented: leave it out"));
    }
    let name = command.name();
    let typed = std::env::var(COMMAND).ok().and_then(|json| serde_json::from_str::<Vec<String>>(&json).ok());
    match command {
        Command::Fuzz(mut fuzz) => {
            fuzz.target.command = typed.unwrap_or(fuzz.target.command);
            let options = Options::resolve(fuzz)?.for_target(&target)?;
            say_what_is_missing(&target, harness, options.quiet);
            campaign::launch(options, target, harness)
        }
        Command::Replay(replay) => {
            say_what_is_missing(&target, harness, replay.json);
            quagmire_analysis::run(&replay.resolve()?, &target, harness)
        }
        Command::Diversity(diversity) => {
            say_what_is_missing(&target, harness, diversity.json);
            quagmire_analysis::diversity::run(&diversity.resolve()?, harness)
        }
        Command::Growth(growth) => {
            say_what_is_missing(&target, harness, growth.json);
            quagmire_analysis::growth::run(&growth.resolve()?, &target, harness)
        }
        Command::Minimize(mut minimize) => {
            minimize.target.extension.clone_from(&target.extension);
            say_what_is_missing(&target, harness, minimize.json);
            quagmire_analysis::minimize::run(&minimize.resolve()?, &target, harness)
        }
        Command::Distill(distill) => {
            say_what_is_missing(&target, harness, distill.json);
            quagmire_analysis::distill::run(&distill.resolve()?, &target, harness)
        }
        Command::ServeRuns(serve) => quagmire_analysis::runner::offer::run(&serve.resolve()?, &target, harness),
        Command::Compare(_) => Err(Error::usage("builds are compared by `quagmire compare INPUTS -- OLD --and NEW`")),
        Command::Mutants(_) => Err(Error::usage("mutants are of a build of their own: QUAGMIRE_MUTANTS=1 quagmire-cc")),
        Command::Mine(mine) => quagmire_analysis::mine::run(&mine.resolve()?, &target, harness),
        Command::Report(_) => Err(Error::usage("a report is written by `quagmire report OUT`")),
        Command::Init(_) | Command::Doctor(_) | Command::Completions(_) | Command::Man(_) => {
            Err(Error::usage(format!("{name} is a command of quagmire: quagmire {name}")))
        }
        Command::Generate(generate) => crate::generate::run_harness(&generate.resolve()?, &target, harness),
    }
}
