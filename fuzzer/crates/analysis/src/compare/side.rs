//! One of the builds that are compared, running.

use std::{ffi::OsString, path::Path};

use super::CompareOptions;
use crate::runner::{
    Detail, Run,
    remote::{RemoteOptions, RemoteRunner},
};
use quagmire_base::error::{Error, Result};
use quagmire_execution::{
    build_settings::build_settings,
    fork_server::reads_file,
    recognise::{ProgramKind, recognise, refuse_mutants},
};
use quagmire_results::comparison::Build;

/// One build that is running.
#[derive(Debug)]
pub(super) struct Side {
    runner: RemoteRunner,
    /// Description for the result.
    pub about: Build,
    /// Whether each run is a process of its own.
    pub is_isolated: bool,
    /// Whether it reads its input from a file.
    pub reads_file: bool,
}

impl Side {
    /// Starts a build.
    ///
    /// # Errors
    /// If it cannot be read or started.
    pub(super) fn open(program: &[OsString], options: &CompareOptions, capacity: usize) -> Result<Self> {
        let path = Path::new(program.first().map_or_else(Default::default, |name| name.as_os_str()));
        let kind = recognise(path)?;
        if kind == ProgramKind::Mutants {
            return Err(refuse_mutants(path));
        }
        if kind == ProgramKind::Harness && options.target.scratch {
            return Err(Error::usage(format!(
                "--scratch is for programs without a harness: {} is one",
                path.display()
            )));
        }
        let settings = build_settings(path)?.into_iter().collect();
        let remote = RemoteOptions {
            program: program.to_vec(),
            generator: options.target.generator.clone().map(OsString::from),
            extension: options.target.extension.clone(),
            scratch: options.target.scratch,
            capacity,
            runs: options.target.runner(),
        };
        let runner = RemoteRunner::start(&remote)?;
        let command = program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let about = Build { command, settings, instrumentation: runner.instrumentation() };
        Ok(Self { runner, about, is_isolated: kind != ProgramKind::Harness, reads_file: reads_file(program) })
    }

    /// Runs an input `repeats` times in a row and returns the last run.
    pub(super) fn run(&mut self, input: &[u8], detail: Detail, repeats: u32) -> Result<Run> {
        self.runner.run(input, detail, repeats, false)
    }

    /// Runs an input once in a new process.
    pub(super) fn run_afresh(&mut self, input: &[u8], detail: Detail) -> Result<Run> {
        self.runner.run(input, detail, 1, true)
    }
}
