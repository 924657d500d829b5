//! Recognition of programs: reads from the file how a program is instrumented, without running it.

use std::{os::unix::fs::PermissionsExt, path::Path};

use object::{Object, ObjectSection};

use super::fork_server::{AflTraits, Builder};
use quagmire_base::error::{Error, Result};

/// Section in which the runtime identifies itself (`inprocess.c`, `serve.c`).
const MARK_SECTION: &str = ".note.quagmire";
/// Text in that section of harnesses (`inprocess.c`).
const HARNESS_MARK: &[u8] = b"in-process harness";
/// Text in the engine that every harness has, before its version and a newline.
const ENGINE_MARK: &str = "quagmire engine ";
/// That text and the version of this engine.
pub const ENGINE: &str = concat!("quagmire engine ", env!("CARGO_PKG_VERSION"), "\n");
/// Text in that section of programs with mutants (`mutants_serve.c`).
const MUTANTS_MARK: &[u8] = b"quagmire mutants";
/// Section that the pass adds to everything it instruments.
const COUNTS_SECTION: &str = "__qgm_funcs";

/// Texts in programs with AFL's runtime: the variable that names its map, and the markers of its execution modes.
const AFL_MARK: &[u8] = b"__AFL_SHM_ID";
const AFL_PERSISTENT: &[u8] = b"##SIG_AFL_PERSISTENT##";
const AFL_DEFERRED: &[u8] = b"##SIG_AFL_DEFER_FORKSRV##";

/// Kinds of programs, by how they are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// A harness, linked with the engine.
    Harness,
    /// A program with a fork server.
    Program(Builder),
    /// A program with mutants, for `quagmire mutants` only.
    Mutants,
}

/// Remedy for programs that cannot be built anew.
const AS_IT_IS: &str = "or run it as it is: fuzz and replay take --uninstrumented";

/// Checks that `program` is an executable file.
///
/// # Errors
/// A target error that says what is wrong with the file and what to do about it.
pub fn check_file(program: &Path) -> Result<()> {
    let shown = program.display();
    let metadata = std::fs::metadata(program).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound if program.components().count() > 1 => {
            Error::target(format!("{shown} does not exist: name the program by its path"))
        }
        std::io::ErrorKind::NotFound => {
            Error::target(format!("{shown} does not exist: name the program as a path, such as ./{shown}"))
        }
        _ => Error::target(format!("cannot look at {shown}: {error}")),
    })?;
    if metadata.is_dir() {
        return Err(Error::target(format!("{shown} is a folder: name the program inside it")));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(Error::target(format!("{shown} is not executable: chmod +x it, or name another file")));
    }
    Ok(())
}

/// Recognises how `program` can be run.
///
/// # Errors
/// A target error that says what is wrong with the file and what to do about it.
pub fn recognise(program: &Path) -> Result<ProgramKind> {
    check_file(program)?;
    let shown = program.display();
    let data = std::fs::read(program).map_err(|error| Error::target(format!("cannot read {shown}: {error}")))?;
    let damaged = || Error::target(format!("{shown} is damaged: its sections cannot be read; build it again"));
    let Ok(file) = object::File::parse(&*data) else {
        if data.starts_with(object::elf::ELFMAG.as_slice()) {
            return Err(damaged());
        }
        return Err(Error::target(format!(
            "{shown} is not a compiled program (a script?): name the program that it starts, built with quagmire-cc, {AS_IT_IS}"
        )));
    };
    let contains = |text: &[u8]| memchr::memmem::find(&data, text).is_some();
    let Some(mark) = file.section_by_name(MARK_SECTION) else {
        if file.sections().next().is_none() && contains(MARK_SECTION.as_bytes()) {
            return Err(damaged());
        }
        if contains(HARNESS_MARK) && contains(AFL_DEFERRED) {
            return Err(Error::target(format!("{shown} is quagmire: name the program to run behind --")));
        }
        // a program with quagmire's fork server contains AFL's variable too
        if !file.sections().any(|s| s.name() == Ok(COUNTS_SECTION)) && contains(AFL_MARK) {
            let traits = AflTraits { persistent: contains(AFL_PERSISTENT), deferred: contains(AFL_DEFERRED) };
            return Ok(ProgramKind::Program(Builder::Afl(traits)));
        }
        return Err(Error::target(if file.sections().any(|s| s.name() == Ok(COUNTS_SECTION)) {
            format!("{shown} is instrumented but has no fork server: link it with this version of quagmire-cc as well")
        } else {
            format!(
                "no edge counts in {shown}: build it with CC=quagmire-cc CXX=quagmire-c++ (the book, Programs without a harness), {AS_IT_IS}"
            )
        }));
    };
    let text = mark.data().unwrap_or_default();
    let has = |mark: &[u8]| text.windows(mark.len()).any(|window| window == mark);
    Ok(if has(HARNESS_MARK) {
        if !contains(ENGINE.as_bytes()) {
            let other =
                engine_version(&data).map_or_else(|| "another engine".to_owned(), |it| format!("quagmire {it}"));
            let own = env!("CARGO_PKG_VERSION");
            return Err(Error::target(format!(
                "{shown} was linked with {other}, and this is quagmire {own}: build it again with the quagmire-cc of {own}"
            )));
        }
        ProgramKind::Harness
    } else if has(MUTANTS_MARK) {
        ProgramKind::Mutants
    } else {
        ProgramKind::Program(Builder::Quagmire)
    })
}

/// The version that an engine of quagmire in a harness tells; `None` if there is none that does.
fn engine_version(data: &[u8]) -> Option<&str> {
    memchr::memmem::find_iter(data, ENGINE_MARK).find_map(|at| {
        let rest = &data[at + ENGINE_MARK.len()..];
        let version = &rest[..rest.iter().take(40).position(|&byte| byte == b'\n')?];
        let is_version = version.first()?.is_ascii_digit() && version.iter().all(u8::is_ascii_graphic);
        std::str::from_utf8(version).ok().filter(|_| is_version)
    })
}

/// Error of commands other than `quagmire mutants` for a program with mutants.
pub fn refuse_mutants(program: &Path) -> Error {
    Error::target(format!(
        "{} was built with QUAGMIRE_MUTANTS=1 or =performance, and is for `quagmire mutants`: build it without that",
        program.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_tells_its_version() {
        assert_eq!(engine_version(format!("\0{ENGINE_MARK}of\n{ENGINE}").as_bytes()), Some(env!("CARGO_PKG_VERSION")));
        for none in ["", ENGINE_MARK, "quagmire engine 0.1", "quagmire engine \n", "quagmire engine 0.1 of old\n"] {
            assert_eq!(engine_version(none.as_bytes()), None, "{none:?}");
        }
    }

    #[test]
    fn a_program_whose_sections_cannot_be_read_is_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let mut bytes = std::fs::read(std::env::current_exe().expect("a program")).expect("read");
        // no table of sections
        bytes[0x28..0x30].fill(0);
        bytes[0x3a..0x40].fill(0);
        bytes.extend_from_slice(MARK_SECTION.as_bytes());
        for contents in [&bytes[..], b"\x7fELF\x02\x01\x01 and nothing else"] {
            std::fs::write(&program, contents).expect("written");
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
            let error = recognise(&program).expect_err("it is damaged");
            assert!(error.message.contains("is damaged"), "{error}");
        }
    }
}
