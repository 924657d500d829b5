//! Execution of a command of `quagmire`.

use std::os::unix::process::CommandExt;

use quagmire::{
    campaign::pages::QUAGMIRE,
    cli::Command,
    options::{args::ReportArgs, report::ReportTask},
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    plain,
};
use quagmire_execution::recognise::{ProgramKind, recognise};
use quagmire_results::Summary;

/// Executes a command: writes a report or generated inputs, runs a program under its fork server, or replaces this process with the
/// harness, which contains the engine, with the same options.
///
/// # Errors
/// If the command names no program, its options are invalid, or the program cannot be used.
pub(crate) fn run(command: Command) -> Result<ExitCode> {
    let (program, typed, name) = match &command {
        Command::Fuzz(fuzz) => (&fuzz.program, &fuzz.command, "fuzz"),
        Command::Replay(replay) => (&replay.program, &replay.command, "replay"),
        Command::Diversity(diversity) => (&diversity.program, &diversity.command, "diversity"),
        Command::Mine(mine) => (&mine.program, &mine.command, "mine"),
        Command::Report(args) => return report(args),
        Command::Generate(generate) if generate.grammar.is_some() => {
            return quagmire::generate::run(&generate.resolve()?);
        }
        Command::Generate(generate) => (&generate.program, &generate.command, "generate"),
    };
    let [program, arguments @ ..] = program.as_slice() else {
        let other = if name == "generate" { "--grammar FILE or " } else { "" };
        return Err(Error::usage(format!("{name} needs {other}a program: end the command with -- ./HARNESS")));
    };
    // errors in the options are reported before errors of the program
    match command.clone() {
        Command::Fuzz(fuzz) => drop(quagmire::options::Options::resolve(fuzz)?),
        Command::Replay(replay) => drop(replay.resolve()?),
        Command::Diversity(diversity) => drop(diversity.resolve()?),
        Command::Mine(mine) => drop(mine.resolve()?),
        Command::Generate(generate) => drop(generate.resolve()?),
        Command::Report(_) => {}
    }
    let path = std::path::Path::new(program);
    let kind = recognise(path)?;
    let path = if path.components().count() == 1 { std::path::Path::new(".").join(path) } else { path.to_owned() };
    if let ProgramKind::Program(builder) = kind {
        let words = std::iter::once(path.into_os_string()).chain(arguments.iter().cloned()).collect();
        return quagmire::engine::run_program(command, words, builder);
    }
    if !arguments.is_empty() {
        return Err(Error::usage(
            "a harness takes no arguments after its name: the engine inside it gives it its inputs",
        ));
    }
    let options = std::env::args_os().skip(2).take_while(|argument| argument != "--");
    let error = std::process::Command::new(&path)
        .args((name != "fuzz").then_some(name))
        .args(options)
        .env(quagmire::engine::PROGRAM, &path)
        .envs(std::env::current_exe().map(|quagmire| (QUAGMIRE, quagmire)))
        .env(quagmire::engine::COMMAND, serde_json::to_string(typed).unwrap_or_default())
        .exec();
    Err(Error::target(format!("cannot start {}: {error}", path.display())))
}

/// Writes the report of a campaign, or exports its findings.
fn report(args: &ReportArgs) -> Result<ExitCode> {
    match args.resolve()? {
        ReportTask::Page { options, is_brief } => quagmire_report::run(&args.output, options, is_brief),
        ReportTask::Export { exporter, file } => {
            let text = (exporter.export)(&Summary::of_campaign(&args.output)?);
            match file {
                Some(file) => write_whole(&file, plain::printed(&text, exporter.form).as_bytes())?,
                None => plain::print(&text, exporter.form)
                    .map_err(|error| Error::other(format!("cannot print: {error}")))?,
            }
            Ok(ExitCode::Ended)
        }
    }
}
