use std::path::Path;

use super::*;
use crate::testing::example;

/// Outcomes with one of each status, and names that try to break out of each format.
pub(crate) fn outcomes() -> Outcomes {
    let mut outcomes = Outcomes::of_campaign(&example(), &mut SourceRoot::new(Path::new("/src")));
    outcomes.headline = "1 slower, 1 unstable".into();
    let other = |kind: Kind, input: &str, message: &str| Outcome {
        kind,
        level: kind.describe().level,
        input: input.into(),
        message: message.into(),
        ..Outcome::default()
    };
    outcomes.all.extend([
        Outcome {
            tolerated: Some("until 2027: a table is planned".into()),
            law: Some("quadratic".into()),
            since: Some(Since::New),
            ..other(Kind::LawWorse, "queue/a", "Was linear, is quadratic.")
        },
        other(Kind::TimeOnly, "queue/b", "1.3x the time, the same counts."),
        other(Kind::Unstable, "queue/c", "1,000 and 1,007 instructions."),
        other(Kind::NotRun, "queue/d", "The file cannot be read."),
        other(Kind::Same, "queue/e", "The same."),
    ]);
    outcomes
}

#[test]
fn findings_become_outcomes_with_the_gravest_first() {
    let outcomes = Outcomes::of_campaign(&example(), &mut SourceRoot::new(Path::new("/src")));
    insta::assert_snapshot!("outcomes", serde_json::to_string_pretty(&outcomes.all).unwrap());
    assert_eq!(outcomes.headline, "1 degradation, 1 hang found in 812,331 executions");
}

#[test]
fn the_first_place_is_one_of_the_project() {
    let mut summary = example();
    let finding = &mut summary.findings[0];
    let mut inside = finding.growth.lines[0].clone();
    (inside.file, inside.share) = (Some("/src/lib/parse.c".into()), 0.02);
    // as an earlier version has named it
    finding.hot_location = Some("/usr/include/regex:12".into());
    finding.growth.lines[0].file = Some("/usr/include/regex".into());
    finding.growth.lines.push(inside);
    let outcomes = Outcomes::of_campaign(&summary, &mut SourceRoot::new(Path::new("/src")));
    let degradation = outcomes.all.iter().find(|outcome| outcome.kind == Kind::Degradation).unwrap();
    assert_eq!(degradation.place.as_ref().unwrap().file, "lib/parse.c");
    assert_eq!(degradation.steps[0].place.file, "/usr/include/regex");
}

#[test]
fn outcomes_of_one_cause_are_one_alert_and_tolerated_ones_stand_apart() {
    let mut outcomes = outcomes();
    let slow = outcomes.all.iter().find(|outcome| outcome.kind == Kind::Degradation).unwrap().clone();
    outcomes.all.push(Outcome { input: "another".into(), ..slow.clone() });
    outcomes.all.push(Outcome { tolerated: Some("known".into()), ..slow });
    let alerts: Vec<(Kind, usize)> = outcomes.alerts().iter().map(|alert| (alert[0].kind, alert.len())).collect();
    assert_eq!(
        alerts,
        [(Kind::Hang, 1), (Kind::Degradation, 2), (Kind::LawWorse, 1), (Kind::TimeOnly, 1), (Kind::Degradation, 1)]
    );
}

#[test]
fn a_tolerated_failure_is_skipped() {
    let outcomes = outcomes();
    let count = |status| outcomes.with(status).count();
    let all = [Status::Failed, Status::Noted, Status::Skipped, Status::Error, Status::Passed].map(count);
    assert_eq!(all, [2, 1, 2, 1, 1]);
}

#[test]
fn findings_of_a_group_have_the_law_of_its_worst() {
    let mut summary = example();
    summary.findings.push(crate::summary::Finding { law: None, ..summary.findings[0].clone() });
    summary.groups[0].findings.push(2);
    let outcomes = Outcomes::of_campaign(&summary, &mut SourceRoot::default());
    let slow: Vec<&Outcome> = outcomes.all.iter().filter(|outcome| outcome.kind == Kind::Degradation).collect();
    assert_eq!(slow.len(), 2);
    assert!(slow.iter().all(|outcome| outcome.law_class.as_deref() == Some("quadratic")), "{slow:?}");
    assert_eq!(outcomes.alerts().len(), 2);
}

#[test]
fn a_campaign_that_an_error_ended_says_so() {
    let mut summary = example();
    summary.stopped_by = Some(crate::summary::StoppedBy::Error);
    assert!(Outcomes::of_campaign(&summary, &mut SourceRoot::default()).error.is_some());
}
