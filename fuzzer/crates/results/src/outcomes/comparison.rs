//! Outcomes of a comparison of two builds: each input is one.

use quagmire_base::format::{counted, grouped};
use quagmire_cost::resource::Resource;

use super::{Kind, Level, Outcome, Outcomes, Place, Since, SourceRoot, Step};
use crate::comparison::{ComparedInput, Comparison, ComparisonVerdict, MovedFunction, Reference, RunFigures};

/// Ratio from which on a slower input is grave.
const GRAVE: f64 = 2.0;

impl Outcomes {
    /// Outcomes of a comparison, in its order. Paths of sources become relative to `root`.
    pub fn of_comparison(comparison: &Comparison, root: &mut SourceRoot) -> Self {
        Self {
            command: "compare".into(),
            version: comparison.version.clone(),
            target: comparison.new.command.join(" "),
            headline: headline(comparison),
            all: comparison.inputs.iter().map(|input| outcome(input, root)).collect(),
            ..Self::default()
        }
    }
}

fn headline(comparison: &Comparison) -> String {
    let counts: Vec<String> =
        comparison.verdicts.iter().map(|one| format!("{} {}", grouped(one.inputs), one.verdict.words())).collect();
    let reference = match &comparison.reference {
        Reference::Build => "the old build".to_owned(),
        Reference::Baseline(path) => path.clone(),
        Reference::Campaign(path) => format!("the campaign in {path}"),
    };
    let rest = if comparison.is_incomplete { ", not complete" } else { "" };
    let inputs = counted(comparison.inputs.len() as u64, "input");
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    format!("{inputs} against {reference}{counts}{rest}")
}

fn outcome(input: &ComparedInput, root: &mut SourceRoot) -> Outcome {
    let tolerance = input.tolerance.as_ref().filter(|_| input.verdict == ComparisonVerdict::Tolerated);
    let kind = kind(tolerance.map_or(input.verdict, |tolerance| tolerance.verdict));
    let steps = steps(input, root);
    let place =
        steps.iter().map(|step| &step.place).find(|place| place.is_inside()).or(steps.first().map(|step| &step.place));
    let in_law = input.law.as_ref().and_then(|law| law.function.clone());
    let growth = |exponent: f64| format!("n^{exponent:.1}");
    Outcome {
        kind,
        level: level(kind, input.ratio),
        input: input.path.clone(),
        message: message(input),
        place: place.cloned(),
        cause: in_law.or_else(|| input.moved.first().map(|moved| moved.function.clone())),
        explained: Vec::new(),
        law: input.law.as_ref().map(|law| {
            let (old, new) = (growth(law.old_exponent), growth(law.new_exponent));
            format!("{new} in the {}, {old} before", law.along())
        }),
        law_class: input.law.as_ref().map(|law| growth(law.new_exponent)),
        steps,
        figures: figures(input),
        rank: rank(kind, input.ratio),
        seconds: input.time.map(|time| time.new_seconds),
        reproduce: Some(input.reproduce.clone()).filter(|command| !command.is_empty()),
        tolerated: tolerance.map(|tolerance| format!("until {}: {}", tolerance.expires, tolerance.reason)),
        since: input.verdict.is_regression().then_some(Since::New).or(tolerance.map(|_| Since::Unchanged)),
    }
}

fn kind(verdict: ComparisonVerdict) -> Kind {
    match verdict {
        ComparisonVerdict::LawWorse => Kind::LawWorse,
        ComparisonVerdict::NewCrash => Kind::NewFault,
        ComparisonVerdict::NewHang => Kind::NewHang,
        ComparisonVerdict::Slower => Kind::Slower,
        ComparisonVerdict::Unstable => Kind::Unstable,
        // a tolerated one has the verdict that it would have
        ComparisonVerdict::Unfinished | ComparisonVerdict::Tolerated => Kind::Unfinished,
        ComparisonVerdict::TimeOnly => Kind::TimeOnly,
        ComparisonVerdict::Fixed => Kind::Fixed,
        ComparisonVerdict::Faster => Kind::Faster,
        ComparisonVerdict::Same => Kind::Same,
    }
}

fn level(kind: Kind, ratio: Option<f64>) -> Level {
    match kind {
        Kind::Slower if ratio.is_some_and(|ratio| ratio >= GRAVE) => Level::Error,
        kind => kind.describe().level,
    }
}

/// Importance: that of a finding of a campaign for what is slower, more for laws, most for crashes and hangs.
fn rank(kind: Kind, ratio: Option<f64>) -> Option<f64> {
    let by_ratio = (20.0 * ratio.unwrap_or(1.0).max(1.0).log10()).min(100.0).round();
    match kind {
        Kind::NewFault | Kind::NewHang => Some(100.0),
        Kind::LawWorse => Some(by_ratio.max(80.0)),
        Kind::Slower => Some(by_ratio),
        _ => None,
    }
}

fn message(input: &ComparedInput) -> String {
    let mut reason = input.reason.clone();
    if let Some(first) = reason.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    let instructions = |run: &Option<RunFigures>| run.as_ref()?.costs.get(&Resource::Instructions).copied();
    let counts = instructions(&input.old).zip(instructions(&input.new)).filter(|(old, new)| old != new);
    let counts = counts.map(|(old, new)| format!(" {} instructions instead of {}.", grouped(new), grouped(old)));
    format!("{reason}.{}", counts.unwrap_or_default())
}

/// Functions that grew, at the lines that grew most in them.
fn steps(input: &ComparedInput, root: &mut SourceRoot) -> Vec<Step> {
    let growth = |moved: &MovedFunction| moved.new_instructions.saturating_sub(moved.old_instructions);
    let all = input.moved.iter().map(growth).fold(0, u64::saturating_add).max(1);
    let step = |moved: &MovedFunction| {
        let (file, line) = moved.location.as_deref()?.rsplit_once(':')?;
        let place: Place = root.place(file, line.parse().ok(), Some(&moved.function));
        let (old, new) = (grouped(moved.old_instructions), grouped(moved.new_instructions));
        let message = format!("{new} instructions in {} instead of {old}", moved.function);
        Some(Step { place, message, share: growth(moved) as f64 / all as f64 })
    };
    input.moved.iter().filter(|moved| growth(moved) > 0).filter_map(step).collect()
}

fn figures(input: &ComparedInput) -> Vec<(String, f64)> {
    let amounts = |run: &Option<RunFigures>, which: &str| -> Vec<(String, f64)> {
        let costs = run.iter().flat_map(|run| &run.costs);
        costs.map(|(resource, amount)| (format!("{which}_{}", resource.name()), *amount as f64)).collect()
    };
    let time = input.time.map(|time| [("time_ratio", time.value), ("p_value", time.p_value)]);
    let named = [("ratio", input.ratio), ("bytes", Some(input.bytes as f64))];
    let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let known = named.chain(time.into_iter().flatten()).map(|(name, value)| (name.to_owned(), value));
    let all = known.chain(amounts(&input.old, "old")).chain(amounts(&input.new, "new"));
    all.filter(|(_, value)| value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{
        comparison::{Build, LawChange, Tolerance},
        outcomes::Status,
    };

    fn input(path: &str, verdict: ComparisonVerdict, amounts: [u64; 2]) -> ComparedInput {
        let run = |amount| {
            let costs = [(Resource::Instructions, amount)].into();
            Some(RunFigures { status: "returned".into(), detail: None, costs })
        };
        let moved = |function: &str, file: &str, old, new| MovedFunction {
            function: function.into(),
            location: Some(format!("{file}:12")),
            old_instructions: old,
            new_instructions: new,
            old_count: Some(1),
            new_count: 9,
        };
        ComparedInput {
            path: path.into(),
            hash: "00".into(),
            bytes: 50,
            verdict,
            reason: "more instructions".into(),
            old: run(amounts[0]),
            new: run(amounts[1]),
            ratio: Some(amounts[1] as f64 / amounts[0] as f64),
            time: None,
            law: None,
            moved: vec![
                moved("std::find", "/usr/include/algo.h", 10, amounts[1]),
                moved("lookup", "/src/a.c", 10, 500),
                moved("other", "/src/a.c", 10, 5),
            ],
            tolerance: None,
            reproduce: format!("quagmire replay {path} -- ./new"),
        }
    }

    fn comparison() -> Comparison {
        let mut worse = input("corpus/law", ComparisonVerdict::LawWorse, [100, 150]);
        worse.law = Some(LawChange {
            pump: "\"a\"".into(),
            template: String::new(),
            function: Some("lookup".into()),
            old_exponent: 1.02,
            new_exponent: 1.97,
            sizes: Vec::new(),
        });
        let mut known = input("corpus/known", ComparisonVerdict::Tolerated, [100, 120]);
        known.tolerance = Some(Tolerance {
            verdict: ComparisonVerdict::Slower,
            reason: "a larger table".into(),
            expires: "2027-01-31".into(),
            has_expired: false,
        });
        let mut comparison = Comparison {
            version: "0.1.0".into(),
            reference: Reference::Build,
            old: Some(Build::default()),
            new: Build { command: vec!["./new".into()], ..Build::default() },
            threshold: 1.05,
            is_incomplete: false,
            verdicts: Vec::new(),
            inputs: vec![
                worse,
                input("corpus/slow", ComparisonVerdict::Slower, [100, 1_000]),
                input("corpus/bit", ComparisonVerdict::Slower, [100, 110]),
                known,
                input("corpus/odd", ComparisonVerdict::Unstable, [100, 101]),
                input("corpus/late", ComparisonVerdict::Unfinished, [100, 101]),
                input("corpus/same", ComparisonVerdict::Same, [100, 100]),
            ],
        };
        comparison.settle();
        comparison
    }

    #[test]
    fn inputs_become_outcomes_with_their_verdicts() {
        let outcomes = Outcomes::of_comparison(&comparison(), &mut SourceRoot::new(Path::new("/src")));
        assert_eq!(
            outcomes.headline,
            "7 inputs against the old build: 1 law worse, 2 slower, 1 unstable, 1 unfinished, 1 tolerated, 1 same"
        );
        let told: Vec<_> =
            outcomes.all.iter().map(|one| (one.kind.name(), one.status(), one.level, one.rank)).collect();
        assert_eq!(
            told,
            [
                ("law-worse", Status::Failed, Level::Error, Some(80.0)),
                ("slower", Status::Failed, Level::Error, Some(20.0)),
                ("slower", Status::Failed, Level::Warning, Some(1.0)),
                ("unstable", Status::Skipped, Level::Note, None),
                ("unfinished", Status::Skipped, Level::Note, None),
                ("slower", Status::Skipped, Level::Warning, Some(2.0)),
                ("same", Status::Passed, Level::Note, None),
            ]
        );
        assert_eq!(outcomes.all[1].message, "More instructions. 1,000 instructions instead of 100.");
        assert_eq!(outcomes.all[5].tolerated.as_deref(), Some("until 2027-01-31: a larger table"));
    }

    #[test]
    fn a_law_that_is_worse_is_an_alert_of_its_function_whatever_was_measured() {
        let mut one = comparison();
        let mut root = SourceRoot::new(Path::new("/src"));
        let first = Outcomes::of_comparison(&one, &mut root).all[0].clone();
        assert_eq!(first.law.as_deref(), Some("n^2.0 in the repetitions of \"a\", n^1.0 before"));
        assert_eq!(first.place.as_ref().map(|place| place.file.as_str()), Some("a.c"));
        assert_eq!((first.cause(), first.steps.len()), ("lookup", 2));
        one.inputs[0].law.as_mut().unwrap().new_exponent = 2.06;
        assert_eq!(Outcomes::of_comparison(&one, &mut root).all[0].fingerprint(), first.fingerprint());
    }
}
