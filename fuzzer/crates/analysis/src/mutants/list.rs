//! `quagmire mutants list`: the mutants of a build, with the IDs by which `QUAGMIRE_MUTANT` chooses one.

use std::fmt::Write as _;

use serde::Serialize;

use super::{ListOptions, ladder::past, result::Outcome, table::Table};
use crate::print::print_text;
use quagmire_base::{
    error::{ExitCode, Result},
    plain::{Form, shown},
};
use quagmire_execution::fork_server::{
    mutants::{MutantKind, MutantServer},
    run_folder::RunFiles,
};

/// Mutants of a build, as printed with `--json`.
#[derive(Debug, Serialize)]
struct List<'a> {
    /// `faults` or `performance`.
    kind: &'static str,
    mutants: Vec<Entry<'a>>,
}

/// A mutant.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    id: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    operator: &'a str,
    was: &'a str,
    became: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate_unit: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_run: bool,
}

/// Runs `quagmire mutants list`.
pub fn run(options: &ListOptions) -> Result<ExitCode> {
    let server = MutantServer::start(&options.program, &RunFiles::default())?;
    let mutants: Vec<Outcome> = Table::read(server.table()).mutants.into_iter().map(Outcome::new).collect();
    if options.json {
        let kind = match server.kind() {
            MutantKind::Fault => "faults",
            MutantKind::Performance => "performance",
        };
        let list = List { kind, mutants: mutants.iter().map(Entry::of).collect() };
        print_text(&(serde_json::to_string_pretty(&list).unwrap_or_default() + "\n"), Form::Json)?;
    } else {
        print_text(&mutants.iter().map(line).collect::<String>(), Form::Lines)?;
    }
    Ok(ExitCode::Ended)
}

impl<'a> Entry<'a> {
    fn of(one: &'a Outcome) -> Self {
        Self {
            id: &one.id,
            file: &one.file,
            line: one.line,
            column: one.column,
            function: &one.function,
            operator: &one.operator,
            was: &one.was,
            became: &one.became,
            gate: one.gate,
            gate_unit: one.gate_unit.as_deref(),
            is_run: one.is_run,
        }
    }
}

fn line(one: &Outcome) -> String {
    let (file, operator, function) = (shown(&one.file), shown(&one.operator), shown(&one.function));
    let (was, became, past) = (shown(&one.was), shown(&one.became), past(one));
    let mut line = String::new();
    let _ = match one.gate {
        Some(_) => writeln!(
            line,
            "{}  {file}:{}:{}  {operator}: {was}: {became}{past}  in {function}",
            one.id, one.line, one.column
        ),
        None => writeln!(
            line,
            "{}  {file}:{}:{}  {operator}: `{was}` becomes `{became}`  in {function}",
            one.id, one.line, one.column
        ),
    };
    line
}
