//! Outcomes of a score: each mutant that survives is one.

use std::collections::HashMap;

use quagmire_base::format::counted;

use super::{Kind, Outcome, Outcomes, SourceRoot};
use crate::score_file::{MutantState, ScoreFile, ScoredMutant};

impl Outcomes {
    /// The outcomes of a score. Paths of sources become relative to `root`.
    pub fn of_score(score: &ScoreFile, target: &str, root: &mut SourceRoot) -> Self {
        let mut seen: HashMap<(&str, &str, String), u32> = HashMap::new();
        let mut all: Vec<Outcome> = {
            let one = |mutant| outcome(mutant, score.cost_factor, &mut seen, root);
            score.mutants.iter().map(one).collect()
        };
        // those that most inputs have missed come first, then those that no input could notice
        let missed = |outcome: &Outcome| outcome.figures.first().map_or(0, |(_, by)| *by as u64);
        all.sort_by_key(|outcome| (outcome.kind != Kind::MutantSurvived, std::cmp::Reverse(missed(outcome))));
        Self {
            command: "mutants score".into(),
            version: score.version.clone(),
            target: target.into(),
            headline: score.headline(),
            error: score.is_incomplete.then(|| "it was stopped before all mutants were done".to_owned()),
            all,
            ..Self::default()
        }
    }
}

fn outcome<'a>(
    scored: &'a ScoredMutant,
    cost_factor: Option<f64>,
    seen: &mut HashMap<(&'a str, &'a str, String), u32>,
    root: &mut SourceRoot,
) -> Outcome {
    let mutant = &scored.mutant;
    let kind = match scored.state {
        MutantState::Killed => Kind::MutantKilled,
        MutantState::Survived => Kind::MutantSurvived,
        MutantState::NotRun => Kind::Unfinished,
        MutantState::NotReached | MutantState::NotInfected | MutantState::Equivalent => Kind::MutantNotRun,
    };
    let change = mutant.change();
    let inputs = counted(scored.infected_by, "input");
    let fate = match (scored.state, &scored.killed) {
        (MutantState::Survived, _) => match cost_factor {
            Some(factor) => {
                let worst =
                    scored.worst_factor.map_or_else(String::new, |worst| format!(", at most {worst:.2} times as much"));
                format!("no input costs {factor} times as much with it, though {inputs} cost more{worst}")
            }
            None => format!("no input notices it, though {inputs} compute another value there"),
        },
        (MutantState::Killed, Some(kill)) => format!("noticed by {}, with {}", kill.by.name(), kill.input),
        (MutantState::Killed, None) => "noticed".to_owned(),
        (MutantState::NotRun, _) => "not run".to_owned(),
        (MutantState::NotInfected, _) if cost_factor.is_some() => "it costs nothing with any input".to_owned(),
        (MutantState::NotInfected, _) => "no input computes another value there".to_owned(),
        (MutantState::Equivalent, _) => "the compiler makes the same code of it".to_owned(),
        (MutantState::NotReached, _) => "no input runs it".to_owned(),
    };
    // without lines, which move; the number tells equal changes of a function apart
    let key = (mutant.file.as_str(), mutant.function.as_str(), change.clone());
    let number = seen.entry(key).and_modify(|number| *number += 1).or_insert(1);
    let place = root.place(&mutant.file, Some(mutant.line), Some(&mutant.function));
    let cause = format!("{} in {} ({number})", change, mutant.function);
    Outcome {
        kind,
        level: kind.describe().level,
        input: mutant.location(),
        message: format!("{change}: {fate}."),
        place: Some(place),
        cause: Some(cause),
        figures: vec![("infected_by".to_owned(), scored.infected_by as f64)],
        ..Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        exporters::EXPORTERS,
        outcomes::Status,
        score_file::{KilledBy, Mutant, MutantCounts, MutantKill},
    };

    fn score() -> ScoreFile {
        let mutant = |line, state, infected_by| ScoredMutant {
            mutant: Mutant {
                file: "/src/a.c".into(),
                line,
                column: 3,
                function: "f".into(),
                operator: "comparison-moved".into(),
                was: "<".into(),
                became: "<=".into(),
                ..Mutant::default()
            },
            state,
            infected_by,
            killed: (state == MutantState::Killed).then(|| MutantKill {
                by: KilledBy::Output,
                input: "seeds/one".into(),
                detail: String::new(),
            }),
            ..ScoredMutant::default()
        };
        ScoreFile {
            version: "0.1.0".into(),
            inputs: 7,
            all: MutantCounts { mutants: 5, reached: 4, infected: 3, killed: 1, equivalent: 0 },
            operators: [("comparison-moved".to_owned(), MutantCounts::default())].into(),
            killed_by: [("output".to_owned(), 1)].into(),
            mutants: vec![
                mutant(1, MutantState::NotReached, 0),
                mutant(2, MutantState::NotInfected, 0),
                mutant(3, MutantState::Survived, 1),
                mutant(4, MutantState::Survived, 6),
                mutant(5, MutantState::Killed, 2),
            ],
            ..ScoreFile::default()
        }
    }

    #[test]
    fn survivors_are_failures_of_their_own_and_the_most_missed_one_comes_first() {
        let mut root = SourceRoot::new(std::path::Path::new("/src"));
        let outcomes = Outcomes::of_score(&score(), "score.json", &mut root);
        let failed: Vec<&str> = outcomes.with(Status::Failed).map(|outcome| outcome.input.as_str()).collect();
        assert_eq!(failed, ["/src/a.c:4:3", "/src/a.c:3:3"]);
        assert_eq!((outcomes.with(Status::Passed).count(), outcomes.with(Status::Skipped).count()), (1, 2));
        assert_eq!(outcomes.alerts().len(), 2, "equal changes of a function are two");
        assert_eq!(
            outcomes.all[0].message,
            "`<` became `<=`: no input notices it, though 6 inputs compute another value there."
        );
        assert_eq!(
            outcomes.headline,
            "1 of 5 mutants killed by 7 inputs: 20.0 % of all, 25.0 % of the 4 reached, 33.3 % of the 3 infected"
        );
        for exporter in EXPORTERS {
            let text = (exporter.outcomes)(&outcomes);
            assert!(text.contains("a.c"), "{}: {text}", exporter.name);
        }
    }
}
