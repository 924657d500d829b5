//! `quagmire distill --for mutants`: few inputs that kill all mutants that all inputs kill.
//!
//! The score says which mutants some input kills. Then, until none is left, the input that infects the most of those that are
//! left is run with all of these; it is kept if it kills one. The input that has killed a mutant in the score infects it, so
//! that nothing is lost.

use std::{collections::HashSet, path::Path};

use serde::Serialize;

use super::{
    ScoreOptions,
    faults::{Probed, told},
    runs::{Progress, Stable, share},
    score::{Hunted, run_faults},
    table::Listed,
};
use quagmire_base::{
    corpus_folder::CorpusFolder,
    error::{Error, ExitCode, Result},
    format::{counted, grouped},
    plain::{self, Form, shown},
};
use quagmire_execution::{fork_server::mutants::MutantServer, interruption};

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
    CorpusFolder::check(output)?;
    let Hunted { table, stable, probed, log, .. } = run_faults(options)?;
    if interruption::has_come() {
        return Err(Error::other("stopped by a signal before all mutants were run: nothing is written"));
    }
    let mut killed: Vec<usize> =
        log.verdicts.values().filter(|one| one.killed.is_some()).map(|one| one.mutant).collect();
    killed.sort_unstable();
    if killed.is_empty() {
        return Err(Error::other("no input kills a mutant: there is nothing to keep"));
    }
    let mut runs = 0;
    let all = killed.len() as u64;
    let (cover, unsteady) = cover(options, (&table, &stable, &probed), killed, &mut runs)?;
    let mut folder = CorpusFolder::create(output)?;
    let mut distilled = Distilled { inputs: stable.len() as u64, killed: all, unsteady, runs, corpus: Vec::new() };
    for (input, kills) in cover {
        let Stable { path, bytes, .. } = &stable[input];
        let name = folder.write(Path::new(path), bytes)?;
        distilled.corpus.push(Chosen { path: path.clone(), name, kills });
    }
    print(&distilled, options)?;
    Ok(ExitCode::Ended)
}

/// Inputs that together kill all of `left`, each with the number of mutants that those before it do not kill; and the number of
/// mutants that none of the inputs kills this time.
fn cover(
    options: &ScoreOptions,
    (table, stable, probed): (&[Listed], &[Stable], &Probed),
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
        let work = |server: &mut MutantServer, number: usize| {
            let mut runs = 0;
            let sites = &table[open[number]].sites;
            let told = told(server, options, sites, &stable[best], probed.usual[best], &mut runs)?;
            Ok(Some((told.is_some(), runs)))
        };
        let mut killed = HashSet::new();
        share(options, &mut progress, open.len(), work, |number, (is_killed, more)| {
            *runs += more;
            if is_killed {
                killed.insert(open[number]);
            }
            Ok(is_killed.then_some(1))
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
        return plain::print_json(distilled);
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
    plain::print(&text, Form::Lines)
}
