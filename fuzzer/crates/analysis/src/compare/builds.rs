//! The builds that are compared: started, run, and checked to differ in nothing but the program.

use std::{collections::BTreeSet, ffi::OsString, path::Path};

use super::{CompareOptions, Old, moved};
use crate::runner::{
    Detail, Run,
    remote::{RemoteOptions, RemoteRunner},
};
use quagmire_base::{
    error::{Error, Result},
    plain::warn,
};
use quagmire_execution::{
    build_settings::build_settings,
    fork_server::reads_file,
    recognise::{ProgramKind, recognise, refuse_mutants},
};
use quagmire_results::comparison::Build;

/// Largest input that a part is repeated to, in bytes, unless an input is larger.
const ROOM: usize = 1 << 20;

/// The builds that are compared.
#[derive(Debug)]
pub(super) struct Builds {
    /// The old build, unless something else tells what it cost.
    pub old: Option<Side>,
    pub new: Side,
    /// Largest input that can be run, in bytes.
    pub capacity: usize,
}

impl Builds {
    /// Starts the builds, for inputs of at most so many bytes.
    ///
    /// # Errors
    /// If one cannot be started, or they differ in compilers, flags or instrumentation and that is not allowed.
    pub(super) fn open(options: &CompareOptions, old: &Old, new: &[OsString], largest: usize) -> Result<Self> {
        let capacity = largest.max(ROOM);
        let old = match old {
            Old::Build(program) => Some(Side::open(program, options, capacity)?),
            _ => None,
        };
        let new = Side::open(new, options, capacity)?;
        if let Some(old) = &old {
            check(&old.about, &new.about, options.force)?;
        }
        let instrumentation = new.about.instrumentation;
        if !instrumentation.is_exact() {
            let (origin, remark) = (instrumentation.origin(), instrumentation.remark());
            warn(&format!("the builds were {origin}: {remark}; differences in time are shown, and are no regressions"));
        }
        Ok(Self { old, new, capacity })
    }

    pub(super) fn pair(&mut self) -> Option<Pair<'_>> {
        Some(Pair { old: self.old.as_mut()?, new: &mut self.new })
    }

    /// Whether counts of both builds are exact, so that they can be compared.
    pub(super) fn are_exact(&self) -> bool {
        let old = self.old.as_ref().map_or(&self.new, |old| old);
        old.about.instrumentation.is_exact() && self.new.about.instrumentation.is_exact()
    }
}

/// Refuses builds that differ in more than the program.
///
/// # Errors
/// If they do, and `is_forced` is not set.
pub(super) fn check(old: &Build, new: &Build, is_forced: bool) -> Result<()> {
    let remedy = "build both in the same way, or compare them as they are with --force";
    let mut differences = Vec::new();
    if old.instrumentation != new.instrumentation {
        differences.push("what they count is not the same".to_owned());
    }
    let of = |build: &Build| build.settings.iter().cloned().collect::<BTreeSet<String>>();
    if of(old) != of(new) {
        let shown = |build: &Build| match build.settings.as_slice() {
            [] => "nobody knows how".to_owned(),
            settings => settings.join("; "),
        };
        differences.push(format!("the old one with {}, the new one with {}", shown(old), shown(new)));
    }
    match differences.as_slice() {
        [] => Ok(()),
        all if is_forced => {
            warn(&format!("the builds were not made in the same way ({})", all.join("; ")));
            Ok(())
        }
        all => Err(Error::usage(format!("the builds were not made in the same way ({}): {remedy}", all.join("; ")))),
    }
}

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

/// Both builds, if both are running.
pub(super) struct Pair<'a> {
    pub old: &'a mut Side,
    pub new: &'a mut Side,
}

impl Pair<'_> {
    /// Runs an input once in the old build and then in the new one.
    pub(super) fn run(&mut self, input: &[u8], detail: Detail) -> Result<(Run, Run)> {
        Ok((self.old.run(input, detail, 1)?, self.new.run(input, detail, 1)?))
    }

    /// Whether both builds do in new processes what they did; if counts are not exact, only the ends of the runs are compared.
    pub(super) fn repeats(&mut self, input: &[u8], known: (&Run, &Run), is_inexact: bool) -> Result<bool> {
        for (side, known) in [(&mut *self.old, known.0), (&mut *self.new, known.1)] {
            let again = side.run_afresh(input, Detail::Cost)?;
            if again.status != known.status || !is_inexact && moved::differs(&again.cost, &known.cost) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::info::Instrumentation;

    fn build(settings: &[&str], instrumentation: Instrumentation) -> Build {
        let settings = settings.iter().map(|text| (*text).to_owned()).collect();
        Build { command: vec!["./program".into()], settings, instrumentation }
    }

    #[test]
    fn builds_that_differ_in_flags_or_counts_are_refused_unless_forced() {
        let old = build(&["clang 14 -O2"], Instrumentation::Counts);
        assert_eq!(check(&old, &old.clone(), false), Ok(()));
        for (other, word) in [
            (build(&["clang 14 -O1"], Instrumentation::Counts), "-O1"),
            (build(&["clang 14 -O2", "clang 14 -O2 -fsanitize=address"], Instrumentation::Counts), "address"),
            (build(&["clang 14 -O2"], Instrumentation::SancovGuards), "count"),
            (build(&[], Instrumentation::Counts), "nobody"),
        ] {
            let error = check(&old, &other, false).unwrap_err();
            assert!(error.message.contains(word) && error.message.contains("--force"), "{error}");
            assert_eq!(check(&old, &other, true), Ok(()));
        }
    }
}
