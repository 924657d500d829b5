//! Execution of a command of `quagmire`.

use std::{
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
};

use quagmire::{
    campaign::pages::QUAGMIRE,
    cli::{PROGRAM, Parsed, with_folder},
};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain,
};
use quagmire_execution::{
    fork_server::Builder,
    huge_pages, lookup, process,
    recognise::{ProgramKind, recognise, refuse_mutants},
};

/// Executes a command: by itself, with a program under its fork server, or by replacing this process with the harness, which contains
/// the engine, with the same options.
///
/// # Errors
/// If the command names no program, its options make no sense together, or the program cannot be used.
pub(crate) fn run(Parsed { name, mut command }: Parsed) -> Result<ExitCode> {
    // `compare` needs to see what depends on addresses: two builds have others in any case
    if !matches!(name.as_str(), "compare" | "serve-runs") {
        process::fix_addresses();
    }
    if let Some(result) = command.run_alone() {
        return result;
    }
    // errors in the options are reported before errors of the program
    command.check()?;
    let is_uninstrumented = command.is_uninstrumented();
    let target = command.target().ok_or_else(|| Error::usage(format!("{name} runs no program")))?;
    let [program, arguments @ ..] = target.program.as_slice() else {
        return Err(Error::usage(format!(
            "{name} needs --grammar FILE or a program: end the command with -- ./HARNESS"
        )));
    };
    let words = |path: PathBuf| std::iter::once(path.into_os_string()).chain(arguments.iter().cloned()).collect();
    if is_uninstrumented {
        let path = lookup::program(program)?;
        if recognise(&path).is_ok() {
            let shown = path.display();
            plain::warn(&format!("{shown} is instrumented: without --uninstrumented, {name} counts what it executes"));
        }
        let words: Vec<OsString> = words(path);
        return quagmire::engine::run_program(command, words, Builder::Uninstrumented);
    }
    let path = Path::new(program);
    let kind = recognise(path)?;
    if kind == ProgramKind::Mutants {
        return Err(refuse_mutants(path));
    }
    let path = with_folder(path);
    if let ProgramKind::Program(builder) = kind {
        let words = words(path);
        return quagmire::engine::run_program(command, words, builder);
    }
    if !arguments.is_empty() {
        return Err(Error::usage(
            "a harness takes no arguments after its name: the engine inside it gives it its inputs",
        ));
    }
    Err(become_harness(&name, &path, &target.command))
}

/// Replaces this process with a harness, which executes the command with this name. Returns why that is impossible.
fn become_harness(name: &str, path: &Path, words: &[String]) -> Error {
    let mut harness = std::process::Command::new(path);
    if name == "fuzz" {
        huge_pages::ask(&mut harness);
    }
    let options = std::env::args_os().skip(2).take_while(|argument| argument != "--");
    let error = harness
        .args((name != "fuzz").then_some(name))
        .args(options)
        .env(PROGRAM, path)
        .envs(std::env::current_exe().map(|quagmire| (QUAGMIRE, quagmire)))
        .env(quagmire::engine::COMMAND, serde_json::to_string(words).unwrap_or_default())
        .exec();
    Error::target(format!("cannot start {}: {error}", path.display()))
}
