//! Execution of a command of `quagmire`.

use std::{os::unix::process::CommandExt, time::Instant};

use quagmire::{
    campaign::pages::QUAGMIRE,
    cli::Command,
    options::{args::ReportArgs, defaults, flag},
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    plain, units,
};
use quagmire_execution::recognise::{ProgramKind, recognise};
use quagmire_report::{ReportOptions, campaign::Campaign};
use quagmire_results::exporters::{FORMATS, Format};

/// Executes a command: writes a report, runs a program under its fork server, or replaces this process with the
/// harness, which contains the engine, with the same options.
///
/// # Errors
/// If the command names no program, its options are invalid, or the program cannot be used.
pub(crate) fn run(command: Command) -> Result<ExitCode> {
    let (program, typed, name) = match &command {
        Command::Fuzz(fuzz) => (&fuzz.program, &fuzz.command, "fuzz"),
        Command::Replay(replay) => (&replay.program, &replay.command, "replay"),
        Command::Report(report) => return write_report(report),
    };
    let [program, arguments @ ..] = program.as_slice() else {
        return Err(Error::usage(format!("{name} needs a program: end the command with -- ./HARNESS")));
    };
    // errors in the options are reported before errors of the program
    match command.clone() {
        Command::Fuzz(fuzz) => drop(quagmire::options::Options::resolve(fuzz)?),
        Command::Replay(replay) => drop(replay.resolve()?),
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
        .args((name == "replay").then_some("replay"))
        .args(options)
        .env(quagmire::engine::PROGRAM, &path)
        .envs(std::env::current_exe().map(|quagmire| (QUAGMIRE, quagmire)))
        .env(quagmire::engine::COMMAND, serde_json::to_string(typed).unwrap_or_default())
        .exec();
    Err(Error::target(format!("cannot start {}: {error}", path.display())))
}

fn write_report(args: &ReportArgs) -> Result<ExitCode> {
    if args.format != defaults::FORMAT {
        return export(args);
    }
    if args.file.is_some() {
        return Err(Error::usage("-o: --format html writes into OUT; -o is for jsonl and csv"));
    }
    let time = args.time.as_deref().map(|text| flag("--time", units::duration(text))).transpose()?;
    let options = ReportOptions { deadline: time.map(|time| Instant::now() + time), graphs: !args.no_plotting };
    quagmire_report::run(&args.output, options, args.brief)
}

/// Prints the findings of a campaign in one of [`FORMATS`], or writes them into a file.
fn export(args: &ReportArgs) -> Result<ExitCode> {
    let format = Format::named(&args.format).ok_or_else(|| {
        let names = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        let (default, typed) = (defaults::FORMAT, &args.format);
        Error::usage(format!("--format: `{typed}` is not a format: write one of {default}, {names}"))
    })?;
    let text = format.exporter.export(&Campaign::read(&args.output)?.summary);
    match &args.file {
        Some(file) => write_whole(file, plain::printed(&text, format.form).as_bytes())?,
        None => plain::print(&text, format.form).map_err(|error| Error::other(format!("cannot print: {error}")))?,
    }
    Ok(ExitCode::Ended)
}
