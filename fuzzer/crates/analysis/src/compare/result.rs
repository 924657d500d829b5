//! The result for exporters: verdicts, tolerated ones among them, with what moved.

use std::path::Path;

use super::{
    CompareOptions, builds::Builds, evidence::Evidence, limits::Limits, moved, side::Side, subject::Subject,
    times::Times, tolerated::Tolerated,
};
use crate::runner::Run;
use quagmire_base::shell;
use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;
use quagmire_results::comparison::{ComparedInput, Comparison, ComparisonVerdict, Reference, RunFigures};

/// Functions of an input in the result: those that moved least are left out.
const MOST_MOVED: usize = 20;

/// Makes the result of what is known of all inputs.
pub(super) fn of(
    builds: &Builds,
    options: &CompareOptions,
    subjects: Vec<Subject>,
    reference: Reference,
    tolerated: &Tolerated,
    limits: &Limits,
    is_incomplete: bool,
) -> Comparison {
    let of_subject = |subject| input(&builds.new, options, subject, tolerated, limits.threshold);
    let inputs = subjects.into_iter().map(of_subject).collect();
    let mut comparison = Comparison {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        reference,
        old: builds.old.as_ref().map(|old| old.about.clone()),
        new: builds.new.about.clone(),
        threshold: limits.threshold,
        is_incomplete,
        verdicts: Vec::new(),
        inputs,
    };
    comparison.settle();
    comparison
}

fn input(
    new: &Side,
    options: &CompareOptions,
    subject: Subject,
    tolerated: &Tolerated,
    threshold: f64,
) -> ComparedInput {
    let Subject { path, bytes, hash, evidence } = subject;
    let (verdict, reason) = evidence.decide(threshold);
    let instrumentation = new.about.instrumentation;
    let figures = |run: &Option<Run>| run.as_ref().map(|run| figures(run, instrumentation));
    let reproduce = reproduce(new, options, &path);
    let mut input = ComparedInput {
        path: path.display().to_string(),
        bytes: bytes.len() as u64,
        hash,
        verdict,
        reason,
        old: figures(&evidence.old),
        new: figures(&evidence.new),
        ratio: evidence.ratio(),
        time: evidence.second.as_ref().or(evidence.first.as_ref().map(|(times, _)| times)).and_then(Times::ratio),
        moved: moved(&evidence, verdict),
        law: evidence.law,
        tolerance: None,
        reproduce,
    };
    tolerated.apply(&mut input);
    input
}

/// Functions that moved, of inputs whose verdict says that something did.
fn moved(evidence: &Evidence, verdict: ComparisonVerdict) -> Vec<quagmire_results::comparison::MovedFunction> {
    let Some((old, new)) = evidence.both() else { return Vec::new() };
    // a campaign does not know the functions of its findings
    if verdict == ComparisonVerdict::Same && evidence.ratio() == Some(1.0) || old.source.functions.is_empty() {
        return Vec::new();
    }
    let mut moved = moved::between(&old.source, &new.source);
    if moved.len() > MOST_MOVED {
        let amount =
            |one: &quagmire_results::comparison::MovedFunction| one.new_instructions.abs_diff(one.old_instructions);
        let mut sizes: Vec<u64> = moved.iter().map(amount).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        moved.retain(|one| amount(one) >= sizes[MOST_MOVED - 1]);
        moved.truncate(MOST_MOVED);
    }
    moved
}

fn figures(run: &Run, instrumentation: Instrumentation) -> RunFigures {
    let measured = Resource::ALL.into_iter().filter(|one| one.is_deterministic() && instrumentation.measures(*one));
    // what was not measured is 0, and what a file does not know
    let amounts = measured.map(|one| (one, run.cost[one])).filter(|(_, amount)| *amount > 0);
    RunFigures { status: run.status.clone(), detail: run.detail.clone(), costs: amounts.collect() }
}

/// Command that shows what an input costs.
fn reproduce(new: &Side, options: &CompareOptions, path: &Path) -> String {
    let path = path.display().to_string();
    let generator = options.target.generator.as_deref().map(Path::to_string_lossy);
    let behind = generator.as_deref().map(|file| ["--generator", file]);
    let command = new.about.command.iter().map(String::as_str);
    let extension = options.target.extension.as_deref().filter(|_| new.reads_file).map(|extension| ["-e", extension]);
    let words = ["quagmire", "replay"].into_iter().chain(behind.into_iter().flatten());
    let words = words.chain(extension.into_iter().flatten()).chain(options.target.scratch.then_some("--scratch"));
    shell::command(words.chain([path.as_str(), "--"]).chain(command))
}
