//! `quagmire mutants list`: the mutants of a build, with the IDs by which `QUAGMIRE_MUTANT` chooses one.

use serde::Serialize;

use super::{ListOptions, table};
use quagmire_base::{
    error::{ExitCode, Result},
    plain::{self, Form, shown},
};
use quagmire_execution::fork_server::{
    mutants::{MutantKind, MutantServer},
    run_folder::RunFiles,
};
use quagmire_results::score_file::Mutant;

/// Mutants of a build, as printed with `--json`.
#[derive(Debug, Serialize)]
struct List {
    /// `faults` or `performance`.
    kind: &'static str,
    mutants: Vec<Mutant>,
}

/// Runs `quagmire mutants list`.
pub fn run(options: &ListOptions) -> Result<ExitCode> {
    let server = MutantServer::start(&options.program, &RunFiles::default())?;
    let mutants: Vec<Mutant> = table::read(server.table()).into_iter().map(|one| one.mutant).collect();
    if options.json {
        let kind = match server.kind() {
            MutantKind::Fault => "faults",
            MutantKind::Performance => "performance",
        };
        plain::print_json(&List { kind, mutants })?;
    } else {
        plain::print(&mutants.iter().map(line).collect::<String>(), Form::Lines)?;
    }
    Ok(ExitCode::Ended)
}

fn line(one: &Mutant) -> String {
    let Mutant { id, operator, was, became, function, .. } = one;
    let change = match one.gate {
        Some(_) => format!("{was}: {became}{}", one.past()),
        None => format!("`{was}` becomes `{became}`"),
    };
    format!("{id}  {}\n", shown(&format!("{}  {operator}: {change}  in {function}", one.location())))
}
