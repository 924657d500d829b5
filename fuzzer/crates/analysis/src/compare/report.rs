//! The result: verdicts, tolerated ones among them, with what moved, and as text for people.

use std::{fmt::Write as _, path::Path};

use super::{
    CompareOptions,
    builds::{Builds, Side},
    evidence::Evidence,
    moved,
    subject::Subject,
    times::Times,
    tolerated::Tolerated,
};
use crate::{print::seconds, runner::Run};
use quagmire_base::{
    format::{counted, grouped, ratio, short},
    plain::shown,
    shell,
};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;
use quagmire_results::comparison::{
    Build, ComparedInput, Comparison, ComparisonVerdict as Verdict, MovedFunction, Reference, RunFigures,
};

/// Functions of an input in the result: those that moved least are left out.
const MOST_MOVED: usize = 20;

/// Makes the result of what is known of all inputs.
pub(super) fn of(
    builds: &Builds,
    options: &CompareOptions,
    subjects: Vec<Subject>,
    reference: Reference,
    tolerated: &Tolerated,
    is_incomplete: bool,
) -> Comparison {
    let of_subject = |subject| input(&builds.new, options, subject, tolerated);
    let inputs = subjects.into_iter().map(of_subject).collect();
    let mut comparison = Comparison {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        reference,
        old: builds.old.as_ref().map(|old| old.about.clone()),
        new: builds.new.about.clone(),
        threshold: options.threshold,
        is_incomplete,
        verdicts: Vec::new(),
        inputs,
    };
    comparison.settle();
    comparison
}

fn input(new: &Side, options: &CompareOptions, subject: Subject, tolerated: &Tolerated) -> ComparedInput {
    let Subject { path, bytes, hash, evidence } = subject;
    let (verdict, reason) = evidence.decide(options.threshold);
    let instrumentation = new.about.instrumentation;
    let figures = |run: &Option<Run>| run.as_ref().map(|run| figures(run, instrumentation));
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
        reproduce: reproduce(new, options, &path),
    };
    tolerated.apply(&mut input);
    input
}

/// Functions that moved, of inputs whose verdict says that something did.
fn moved(evidence: &Evidence, verdict: Verdict) -> Vec<MovedFunction> {
    let Some((old, new)) = evidence.both() else { return Vec::new() };
    // a campaign does not know the functions of its findings
    if verdict == Verdict::Same && evidence.ratio() == Some(1.0) || old.source.functions.is_empty() {
        return Vec::new();
    }
    let mut moved = moved::between(&old.source, &new.source);
    if moved.len() > MOST_MOVED {
        let amount = |one: &MovedFunction| one.new_instructions.abs_diff(one.old_instructions);
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

/// Inputs shown for each verdict.
const MOST_INPUTS: usize = 20;
/// Functions shown for each input.
const MOST_FUNCTIONS: usize = 3;

/// Lines about the builds, each input that is not the same, and how many there are of each verdict.
pub(super) fn table(comparison: &Comparison) -> String {
    let mut text = String::new();
    let of = match (&comparison.old, &comparison.reference) {
        (Some(old), _) => name(old),
        (None, Reference::Baseline(file)) => format!("baseline {}", shown(file)),
        (None, Reference::Campaign(folder)) => format!("campaign {}", shown(folder)),
        (None, Reference::Build) => String::new(),
    };
    let _ = writeln!(text, "old  {of}\nnew  {}\n", name(&comparison.new));
    for verdict in Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::Same) {
        let mut of_verdict: Vec<&ComparedInput> =
            comparison.inputs.iter().filter(|one| one.verdict == verdict).collect();
        of_verdict.sort_by(|a, b| change(b).total_cmp(&change(a)));
        of_verdict.iter().take(MOST_INPUTS).for_each(|input| text += &one(input));
        if of_verdict.len() > MOST_INPUTS {
            let more = counted((of_verdict.len() - MOST_INPUTS) as u64, "input");
            let _ = writeln!(text, "{:<11} {more} more: --json shows all\n", verdict.words());
        }
    }
    let counts: Vec<String> =
        comparison.verdicts.iter().map(|one| format!("{} {}", grouped(one.inputs), one.verdict.words())).collect();
    let _ = writeln!(text, "{}: {}", counted(comparison.inputs.len() as u64, "input"), counts.join(", "));
    text
}

/// How far an input has changed, in either direction: by counts, or else by time.
fn change(input: &ComparedInput) -> f64 {
    let ratio = input.ratio.or(input.time.as_ref().map(|time| time.value)).unwrap_or(1.0);
    ratio.max(f64::MIN_POSITIVE).ln().abs()
}

/// Program and settings of a build.
fn name(build: &Build) -> String {
    let command: Vec<String> = build.command.iter().map(|word| shown(word)).collect();
    let settings = if build.settings.is_empty() { String::new() } else { format!("  ({})", build.settings.join("; ")) };
    format!("{}{}", command.join(" "), shown(&settings))
}

/// Lines about one input.
fn one(input: &ComparedInput) -> String {
    let mut text = format!("{:<11} {}  {}\n", input.verdict.words(), shown(&input.path), counted(input.bytes, "byte"));
    let mut line = |words: String| {
        let _ = writeln!(text, "            {}", shown(&words));
    };
    line(input.reason.clone());
    let amount =
        |run: &Option<RunFigures>| run.as_ref().and_then(|run| run.costs.get(&Resource::Instructions).copied());
    if let (Some(value), Some(old), Some(new)) = (input.ratio, amount(&input.old), amount(&input.new)) {
        line(format!("instructions {} -> {}   {}", grouped(old), grouped(new), ratio(value)));
    }
    if let Some(time) = &input.time {
        let [old, new] = [time.old_seconds, time.new_seconds].map(seconds);
        let [value, low, high] = [time.value, time.low, time.high].map(ratio);
        line(format!("CPU time {old} -> {new}   {value} [{low}, {high}]"));
    }
    if let Some(law) = &input.law
        && let Some(last) = law.sizes.last()
    {
        let (size, old, new) = (counted(last.bytes, "byte"), grouped(last.old), grouped(last.new));
        line(format!("{size}: {old} -> {new}   {}", ratio(last.new as f64 / last.old.max(1) as f64)));
    }
    for function in input.moved.iter().take(MOST_FUNCTIONS) {
        let at = function.location.as_ref().map_or_else(String::new, |at| format!("  at {at}"));
        let (old, new) = (function.old_instructions, function.new_instructions);
        line(format!("{} -> {}  {}{at}", grouped(old), grouped(new), short(&function.function)));
    }
    if let Some(tolerance) = &input.tolerance {
        let (verdict, reason, expires) = (tolerance.verdict.words(), &tolerance.reason, &tolerance.expires);
        line(match tolerance.has_expired {
            true => format!("was tolerated until {expires}: {reason}"),
            false => format!("{verdict}, tolerated until {expires}: {reason}"),
        });
    }
    if input.verdict.is_regression() {
        line(input.reproduce.clone());
    }
    text.push('\n');
    text
}
