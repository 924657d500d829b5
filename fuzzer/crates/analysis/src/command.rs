//! The interface of commands: options as clap reads them, the target, and the run.

use std::{
    any::Any,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::warn,
    seeds::Seeds,
};
use quagmire_execution::{
    fork_server::{
        private_folder::PrivateFolder,
        reads_file,
        run_folder::{RunFiles, checked_extension},
    },
    harness::Harness,
    info::{Instrumentation, TargetInfo},
    session::Limits,
    timer::HangClock,
};
use quagmire_results::names::shared_extension;

use crate::values;

/// Exit codes of commands that run a program, printed at the end of their help texts.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  ended as asked: by time, executions or Ctrl-C, whatever was found
  1  an error: an unwritable folder, a full disk
  2  the command line does not make sense
  3  the target cannot be used: not instrumented, every seed fails";

/// Those of commands that run none.
pub const EXIT_CODES_ALONE: &str = "\
Exit codes:
  0  done
  1  an error: an unwritable folder, a full disk
  2  the command line does not make sense";

/// Those of all commands, which `compare` has.
pub const ALL_EXIT_CODES: &str = "\
Exit codes:
  0  ended as asked: by time, executions or Ctrl-C, whatever was found
  1  an error: an unwritable folder, a full disk
  2  the command line does not make sense
  3  the target cannot be used: not instrumented, every seed fails
  4  compare: the new build is slower
  5  compare --strict: an input is unstable, so that nothing can be said of it";

/// A command: its options, after clap has checked each of them.
pub trait Command: Any {
    /// How its program is run; `None` if it runs none.
    fn target(&mut self) -> Option<&mut TargetOptions> {
        None
    }

    /// Files and folders of inputs; `@@` has the extension that all of them share.
    fn inputs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether the program is run as it is.
    fn is_uninstrumented(&self) -> bool {
        false
    }

    /// Whether the user hears which extension the file of `@@` has because of the inputs.
    fn says_extension(&self) -> bool {
        false
    }

    /// Refuses options that make no sense together, whatever the program is.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Executes a command that `quagmire` itself executes; `None` for one that its harness or program executes.
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        None
    }

    /// Executes the command over a target.
    ///
    /// # Errors
    /// If the target cannot be used, or the command fails.
    fn run(self: Box<Self>, _target: TargetInfo, _harness: &'static Harness) -> Result<ExitCode> {
        Err(Error::usage("this is a command of quagmire, not of a harness: see quagmire --help"))
    }
}

/// The target, and how it is run.
#[derive(Clone, Debug, Args)]
pub struct TargetOptions {
    /// A run that takes longer is a hang; at least 10ms
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = values::hang_timeout)]
    #[arg(help_heading = "Running the program")]
    pub hang_timeout: Duration,
    /// Memory that the program may use; 0 for no limit
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = values::memory_limit)]
    #[arg(help_heading = "Running the program")]
    pub memory_limit: u64,
    /// Show what the program prints
    #[arg(long, help_heading = "Running the program")]
    pub debug_target: bool,
    /// `@@` stands for a file input.EXT, and saved inputs end in .EXT: for programs that go by the name of a file; '' for none
    /// [default: the extension that all inputs given have]
    #[arg(short = 'e', long, value_name = "EXT", help_heading = "Running the program")]
    pub extension: Option<String>,
    /// Run the program in a folder of its own, emptied after each run, for programs that write files. It does not find files by
    /// paths relative to this folder then
    #[arg(long, help_heading = "Running the program")]
    pub scratch: bool,
    /// A generator in front of the program: a shared object with qgm_generate of quagmire/draws.h. Inputs are what it draws
    /// from; the program gets what it makes of them
    #[arg(long, value_name = "FILE", help_heading = "Running the program")]
    pub generator: Option<PathBuf>,
    /// The harness, built with quagmire-cc -fsanitize=fuzzer; or any program built with quagmire-cc, and its arguments: @@
    /// stands for the file with the input, without it the program reads standard input
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// The whole command line, for the record.
    #[arg(skip)]
    pub command: Vec<String>,
}

impl TargetOptions {
    /// Limits of runs whose hangs are told by the clock on the wall.
    pub fn limits(&self) -> Limits {
        Limits {
            hang_timeout: self.hang_timeout,
            clock: HangClock::Wall,
            memory_limit: self.memory_limit,
            debug_target: self.debug_target,
        }
    }

    /// Extension of the file that stands for `@@`: as typed, or the one that all these inputs have.
    ///
    /// # Errors
    /// A usage error if it is none, or the program reads no file.
    pub fn extension(&self, inputs: &[PathBuf]) -> Result<Option<String>> {
        let reads_file = reads_file(&self.program);
        if let Some(typed) = &self.extension {
            let extension = checked_extension(typed)?;
            if extension.is_some() && !reads_file {
                return Err(Error::usage(format!(
                    "-e {typed} has no effect: no argument of the program has @@, so that it reads standard input; add @@, or leave \
                     out -e"
                )));
            }
            return Ok(extension);
        }
        // a generator makes something else of the inputs
        if !reads_file || self.generator.is_some() {
            return Ok(None);
        }
        // a path that cannot be read is an error of the command itself
        let files = Seeds::list(inputs).map_or_else(|_| Vec::new(), |(files, _)| files);
        Ok(shared_extension(files.iter().map(PathBuf::as_path)))
    }

    /// Resolves the files that runs of the program see, and creates the private folder that they need: to be held until the command
    /// ends. Call it while this process has no other thread.
    ///
    /// # Errors
    /// A usage error that names the option, or if no folder can be written.
    pub fn run_files(&self, inputs: &[PathBuf]) -> Result<(RunFiles, Option<PrivateFolder>)> {
        let mut files = RunFiles { extension: self.extension(inputs)?, scratch: self.scratch, place: None };
        if !files.need_folder() {
            return Ok((files, None));
        }
        if self.scratch {
            warn_of_relative(&self.program);
        }
        // SAFETY: the caller's promise.
        let private = unsafe { PrivateFolder::create()? };
        files.place = Some(private.path().to_owned());
        Ok((files, Some(private)))
    }

    /// The command of the program, which is found from any folder if its runs have one of their own.
    pub fn started(&self, command: &[OsString]) -> Vec<OsString> {
        let mut command = command.to_vec();
        if let Some(program) = command.first_mut().filter(|_| self.scratch)
            && let Ok(absolute) = std::path::absolute(&*program)
        {
            *program = absolute.into_os_string();
        }
        command
    }
}

/// Warns of arguments that name files relative to the working folder, where a program with a folder of its own is not.
fn warn_of_relative(program: &[OsString]) {
    let names_file = |argument: &&OsString| {
        let path = Path::new(argument);
        path.is_relative() && path.exists()
    };
    for argument in program.iter().skip(1).filter(names_file) {
        let shown = Path::new(argument).display();
        warn(&format!("--scratch: the program does not find {shown} from a folder of its own: give the absolute path"));
    }
}

/// Refuses a command without inputs.
pub(crate) fn need(inputs: &[PathBuf], message: &str) -> Result<()> {
    if inputs.is_empty() { Err(Error::usage(message)) } else { Ok(()) }
}

/// Refuses two options of which the first that is typed goes with none of the others.
pub(crate) fn refuse_beside(option: &str, others: &[(&str, bool)]) -> Result<()> {
    match others.iter().find(|(_, is_typed)| *is_typed) {
        Some((other, _)) => {
            Err(Error::usage(format!("{option} and {other} do not go together: leave one of them out")))
        }
        None => Ok(()),
    }
}

/// Warns that less is measured if something else than quagmire's pass counts in the target.
pub fn say_what_is_missing(target: &TargetInfo, harness: &Harness, quiet: bool) {
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
