//! Execution of a command of `quagmire`.

use std::{
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
};

use crate::{doctor, init, manual};
use quagmire::{
    campaign::pages::QUAGMIRE,
    cli::{Command, PROGRAM},
    options::{
        args::{MutantsCommand, ReportArgs},
        files::{extension, run_files},
        report::ReportTask,
    },
};
use quagmire_analysis::compare::CompareOptions;
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    plain,
};
use quagmire_execution::{
    fork_server::{Builder, private_folder::PrivateFolder},
    huge_pages, lookup, process,
    recognise::{ProgramKind, recognise, refuse_mutants},
};
use quagmire_mutants::ScoreOptions;
use quagmire_results::{Summary, outcomes::SourceRoot, result_file::ResultFile, score_file::SCORE};

/// Executes a command: writes a report or generated inputs, runs a program under its fork server, or replaces this process with the
/// harness, which contains the engine, with the same options.
///
/// # Errors
/// If the command names no program, its options are invalid, or the program cannot be used.
pub(crate) fn run(command: Command) -> Result<ExitCode> {
    // `compare` needs to see what depends on addresses: two builds have others in any case
    if !matches!(command, Command::Compare(_) | Command::ServeRuns(_)) {
        process::fix_addresses();
    }
    match &command {
        Command::Report(args) => return report(args),
        Command::Init(args) => return init::run(args),
        Command::Doctor(args) => return doctor::run(args.json),
        Command::Completions(args) => return manual::completions(&args.shell),
        Command::Man(args) => return manual::pages(&args.folder),
        Command::Generate(generate) if generate.grammar.is_some() => {
            return quagmire::generate::run(&generate.resolve()?);
        }
        Command::Mutants(mutants) => {
            return match mutants.command.clone() {
                MutantsCommand::Score(args) => {
                    let mut options = args.resolve()?;
                    let _private = with_mutants_and_files(&mut options, &command, "mutants score")?;
                    quagmire_mutants::score(&options)
                }
                MutantsCommand::List(args) => {
                    let mut options = args.resolve()?;
                    with_mutants(&mut options.program, "mutants list")?;
                    quagmire_mutants::list(&options)
                }
                MutantsCommand::Bench(args) => {
                    let mut options = args.resolve()?;
                    let _private = with_mutants_and_files(&mut options.score, &command, "mutants bench")?;
                    quagmire_mutants::bench(&options)
                }
                MutantsCommand::Compare(args) => quagmire_mutants::compare(&args.resolve()?),
            };
        }
        Command::Distill(distill) if distill.is_for_mutants() => {
            let (mut options, output) = distill.clone().resolve_for_mutants()?;
            let _private = with_mutants_and_files(&mut options, &command, "distill --for mutants")?;
            return quagmire_mutants::distill(&options, &output);
        }
        Command::Compare(compare) => {
            let options = compare.clone().resolve()?;
            return quagmire_analysis::compare::run(&CompareOptions { extension: extension(&command)?, ..options });
        }
        _ => {}
    }
    let name = command.name();
    let target = command.target().cloned().ok_or_else(|| Error::usage(format!("{name} runs no program")))?;
    let [program, arguments @ ..] = target.program.as_slice() else {
        let other = if name == "generate" { "--grammar FILE or " } else { "" };
        return Err(Error::usage(format!("{name} needs {other}a program: end the command with -- ./HARNESS")));
    };
    // errors in the options are reported before errors of the program
    command.check()?;
    if command.is_uninstrumented() {
        return as_it_is(command, program, arguments);
    }
    let path = Path::new(program);
    let kind = recognise(path)?;
    if kind == ProgramKind::Mutants {
        return Err(refuse_mutants(path));
    }
    let path = with_folder(path);
    if let ProgramKind::Program(builder) = kind {
        let words = std::iter::once(path.into_os_string()).chain(arguments.iter().cloned()).collect();
        return quagmire::engine::run_program(command, words, builder);
    }
    if !arguments.is_empty() {
        return Err(Error::usage(
            "a harness takes no arguments after its name: the engine inside it gives it its inputs",
        ));
    }
    Err(become_harness(name, &path, &target.command))
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

/// Executes a command for a program that is run as it is.
fn as_it_is(command: Command, program: &OsString, arguments: &[OsString]) -> Result<ExitCode> {
    let path = lookup::program(program)?;
    if recognise(&path).is_ok() {
        let (shown, name) = (path.display(), command.name());
        plain::warn(&format!("{shown} is instrumented: without --uninstrumented, {name} counts what it executes"));
    }
    let words = std::iter::once(path.into_os_string()).chain(arguments.iter().cloned()).collect();
    quagmire::engine::run_program(command, words, Builder::Uninstrumented)
}

/// A path that is not looked for in `PATH`.
fn with_folder(path: &Path) -> PathBuf {
    if path.components().count() == 1 { Path::new(".").join(path) } else { path.to_owned() }
}

/// Checks that a command is that of a program with mutants, and gives the program a path that is not looked for.
fn with_mutants(command: &mut [OsString], name: &str) -> Result<()> {
    let program = command.first_mut().ok_or_else(|| Error::usage(format!("{name} runs no program")))?;
    let path = with_folder(Path::new(program));
    if recognise(Path::new(program))? != ProgramKind::Mutants {
        return Err(Error::target(format!(
            "{} has no mutants: build it with QUAGMIRE_MUTANTS=1 or =performance, CC=quagmire-cc CXX=quagmire-c++",
            Path::new(program).display()
        )));
    }
    *program = path.into_os_string();
    Ok(())
}

/// As [`with_mutants`], and sets the files that the runs of the program see. They are removed with what is returned.
fn with_mutants_and_files(options: &mut ScoreOptions, command: &Command, name: &str) -> Result<Option<PrivateFolder>> {
    with_mutants(&mut options.program, name)?;
    let (files, private) = run_files(command)?;
    options.program = quagmire::engine::program_for(&options.program, &files);
    options.files = files;
    Ok(private)
}

/// Writes the report of a campaign, a comparison, a growth or a score, or exports its findings or outcomes.
fn report(args: &ReportArgs) -> Result<ExitCode> {
    // the folder of a score holds its result; that of a campaign is asked for its findings, whatever else lies in it
    let score = args.output.join(SCORE);
    let is_campaign = args.output.join("summary.json").is_file();
    let of = if score.is_file() && !is_campaign { score } else { args.output.clone() };
    match args.resolve()? {
        ReportTask::Page { .. } if of.is_file() => quagmire_report::comparison::run(&of),
        ReportTask::Page { options, shown } => quagmire_report::run(&of, shown.as_deref(), options),
        ReportTask::Export { exporter, file, source_root } => {
            let mut root = source_root.as_deref().map_or_else(SourceRoot::here, SourceRoot::new);
            let text = if of.is_file() {
                (exporter.outcomes)(&ResultFile::read(&of)?.outcomes(&of, &mut root))
            } else {
                exporter.campaign(&Summary::of_campaign(&of)?, &mut root)
            };
            match file {
                Some(file) => write_whole(&file, plain::printed(&text, exporter.form).as_bytes())?,
                None => plain::print(&text, exporter.form)?,
            }
            Ok(ExitCode::Ended)
        }
    }
}
