//! `quagmire distill --for mutants`: few inputs that kill all mutants that all inputs kill.
//!
//! The score says which mutants some input kills. Then, until none is left, the input that infects the most of those that are
//! left is run with all of these; it is kept if it kills one. The input that has killed a mutant in the score infects it, so
//! that nothing is lost.

use std::{collections::HashSet, fs, path::Path};

use serde::Serialize;

use super::{
    ScoreOptions,
    baseline::Stable,
    hunt::{allowed, told},
    probing::Probed,
    progress::Progress,
    score::{Hunted, faults},
    table::Table,
    workers::share,
};
use crate::{distill::check_empty, interruption, print::print_text};
use quagmire_base::{
    atomic::unwritable,
    error::{Error, ExitCode, Result},
    files::{Folder, FreeNames},
    format::{counted, grouped},
    plain::{Form, shown},
};
use quagmire_execution::fork_server::mutants::MutantServer;

/// Result, as printed with `--json`.
#[derive(Debug, Serialize)]
struct Distilled {
    /// Number of inputs that were given, and that are used.
    inputs: u64,
    /// Number of mutants that they kill.
    killed: u64,
    /// Number of these that the corpus did not kill again: mutants that read what was never written do so in some runs only.
    unsteady: u64,
    /// Number of runs of mutants that the choice took, beside those of the score.
    runs: u64,
    /// The inputs of the corpus, in the order in which they were chosen.
    corpus: Vec<Chosen>,
}

/// An input of the corpus.
#[derive(Debug, Serialize)]
struct Chosen {
    path: String,
    /// Name of its file in the corpus.
    name: String,
    /// Number of mutants that it kills and none before it does.
    kills: u64,
}

/// Runs `quagmire distill --for mutants`: writes the corpus into `output`.
///
/// # Errors
/// As those of a score; if no mutant is killed; if the folder is not empty or cannot be written; or if the user stops it: then
/// nothing is written.
pub fn run(options: &ScoreOptions, output: &Path) -> Result<ExitCode> {
    check_empty(output)?;
    let Hunted { table, stable, probed, log, .. } = faults(options)?;
    if interruption::has_come() {
        return Err(Error::other("stopped by a signal before all mutants were run: nothing is written"));
    }
    let mut killed: Vec<usize> =
        log.verdicts.values().filter(|one| one.killed.is_some()).map(|one| one.mutant).collect();
    killed.sort_unstable();
    if killed.is_empty() {
        return Err(Error::other("no input kills a mutant: there is nothing to keep"));
    }
    let folder = Folder::named(output);
    let mut runs = 0;
    let all = killed.len() as u64;
    let (cover, unsteady) = cover(options, (&table, &stable, &probed), killed, &mut runs)?;
    fs::create_dir_all(output).map_err(|error| unwritable(output, &error))?;
    let mut distilled = Distilled { inputs: stable.len() as u64, killed: all, unsteady, runs, corpus: Vec::new() };
    let mut taken = FreeNames::default();
    for (input, kills) in cover {
        let Stable { path, bytes, .. } = &stable[input];
        let name = taken.of(Path::new(path));
        folder.write_whole(&name, bytes).map_err(|error| unwritable(&output.join(&name), &error))?;
        distilled.corpus.push(Chosen { path: path.clone(), name, kills });
    }
    print(&distilled, options)?;
    Ok(ExitCode::Ended)
}

/// Inputs that together kill all of `left`, each with the number of mutants that those before it do not kill; and the number of
/// mutants that none of the inputs kills this time.
fn cover(
    options: &ScoreOptions,
    (table, stable, probed): (&Table, &[Stable], &Probed),
    mut left: Vec<usize>,
    runs: &mut u64,
) -> Result<(Vec<(usize, u64)>, u64)> {
    let mut progress = Progress::new("choice", left.len());
    let mut tried = vec![false; stable.len()];
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let mut infected = vec![0_u64; stable.len()];
        for &mutant in &left {
            for &input in probed.infecting[mutant].iter().filter(|&&input| !tried[input as usize]) {
                infected[input as usize] += 1;
            }
        }
        let order = |&input: &usize| (infected[input], std::cmp::Reverse((stable[input].bytes.len(), input)));
        let Some(best) = (0..stable.len()).filter(|&input| infected[input] > 0).max_by_key(order) else { break };
        tried[best] = true;
        let open: Vec<usize> =
            left.iter().copied().filter(|&mutant| probed.infecting[mutant].contains(&(best as u32))).collect();
        let of_best = allowed(options, stable[best].cpu.max(probed.cpu[best]));
        let work = |server: &mut MutantServer, number: usize| {
            let mut runs = 0;
            let told = told(server, &table.mutants[open[number]].sites, &stable[best], of_best, &mut runs)?;
            Ok(Some((told.is_some(), runs)))
        };
        let mut killed = HashSet::new();
        share(options, open.len(), work, |number, (is_killed, more)| {
            *runs += more;
            if is_killed {
                killed.insert(open[number]);
                progress.step(1);
            }
            Ok(())
        })?;
        if interruption::has_come() {
            return Err(Error::other("stopped by a signal before the choice was made: nothing is written"));
        }
        left.retain(|mutant| !killed.contains(mutant));
        if !killed.is_empty() {
            chosen.push((best, killed.len() as u64));
        }
    }
    Ok((chosen, left.len() as u64))
}

fn print(distilled: &Distilled, options: &ScoreOptions) -> Result<()> {
    if options.json {
        let text = serde_json::to_string_pretty(distilled).map_err(|error| Error::other(error.to_string()))?;
        return print_text(&format!("{text}\n"), Form::Json);
    }
    let Distilled { inputs, killed, unsteady, runs, corpus } = distilled;
    let kept = grouped(corpus.len() as u64);
    let mut text = format!(
        "{kept} of {} kill the {} that all of them kill\n{} of mutants beside those of the score\n",
        counted(*inputs, "input"),
        counted(*killed, "mutant"),
        counted(*runs, "run"),
    );
    if *unsteady > 0 {
        text += &format!("{} of these were killed in some runs only, and are not kept\n", grouped(*unsteady));
    }
    for Chosen { path, kills, .. } in corpus {
        text += &format!("{:>9}  {}\n", grouped(*kills), shown(path));
    }
    print_text(&text, Form::Lines)
}
