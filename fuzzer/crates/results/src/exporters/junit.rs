//! JUnit XML: the target is a suite, and each input a test case of it.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::outcomes::{Outcome, Outcomes, Status};

/// Exports outcomes as JUnit XML. A failure's type is its kind, and its cause the class of the case; figures are
/// properties. The command itself is a case too, so that a report without failures has a case that passed.
pub(super) fn export(outcomes: &Outcomes) -> String {
    let mut suite = TestSuite::new(named(&outcomes.target));
    let facts = [("quagmire", &outcomes.version), ("result", &outcomes.headline)];
    suite.add_properties(facts.map(|(name, value)| Property::new(name, value.as_str())));
    suite.add_property(Property::new("started", outcomes.started.as_deref().unwrap_or_default()));
    suite.add_test_case(whole(outcomes));
    suite.add_test_cases(outcomes.all.iter().map(case));
    let mut report = Report::new(format!("quagmire {}", outcomes.command));
    if let Some(time) = duration(outcomes.seconds) {
        suite.set_time(time);
        report.set_time(time);
    }
    report.add_test_suite(suite);
    // cannot fail: it is written to memory
    let xml = report.to_string().expect("text of a report");
    // the crate leaves out the controls that XML forbids, but not these
    xml.replace(['\u{fffe}', '\u{ffff}'], "")
}

fn named(name: &str) -> &str {
    if name.is_empty() { "quagmire" } else { name }
}

fn duration(seconds: Option<f64>) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds?).ok()
}

/// Case of the command as a whole.
fn whole(outcomes: &Outcomes) -> TestCase {
    let status = match &outcomes.error {
        Some(error) => unsuccessful(NonSuccessKind::Error, "error", error, error),
        None => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(format!("quagmire {}", outcomes.command), status);
    case.set_classname("quagmire");
    case.set_system_out(outcomes.headline.as_str());
    case
}

fn case(outcome: &Outcome) -> TestCase {
    let details = details(outcome);
    let kind = outcome.kind.name();
    let status = match outcome.status() {
        Status::Passed | Status::Noted => TestCaseStatus::success(),
        Status::Failed => unsuccessful(NonSuccessKind::Failure, kind, &outcome.message, &details),
        Status::Error => unsuccessful(NonSuccessKind::Error, kind, &outcome.message, &details),
        Status::Skipped => {
            let mut skipped = TestCaseStatus::skipped();
            let reason = outcome.tolerated.as_ref().map(|reason| format!("tolerated: {reason}: {}", outcome.message));
            skipped.set_message(reason.unwrap_or_else(|| outcome.message.clone()));
            skipped
        }
    };
    let mut case = TestCase::new(named(&outcome.input), status);
    case.set_classname(outcome.cause());
    if let Some(time) = duration(outcome.seconds) {
        case.set_time(time);
    }
    case.add_property(Property::new("kind", kind));
    if let Some(law) = &outcome.law {
        case.add_property(Property::new("law", law.as_str()));
    }
    let others = outcome.explained.iter().filter(|line| line.title != "Law");
    case.add_properties(others.map(|line| Property::new(line.key(), line.in_words())));
    case.add_properties(outcome.figures.iter().map(|(name, value)| Property::new(name, value.to_string())));
    if matches!(outcome.status(), Status::Passed | Status::Noted) && !details.is_empty() {
        case.set_system_out(details);
    }
    case
}

fn unsuccessful(kind: NonSuccessKind, name: &str, message: &str, details: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name).set_message(message).set_description(details);
    status
}

/// Message, places and command in lines.
fn details(outcome: &Outcome) -> String {
    let step = |step: &crate::outcomes::Step| {
        let line = step.place.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("  {}{line}  {}", step.place.file, step.message)
    };
    let known = outcome.explanation();
    let known = known.iter().map(|line| format!("{}: {}", line.title.to_lowercase(), line.in_words()));
    let lines = std::iter::once(outcome.message.clone()).chain(known).chain(outcome.steps.iter().map(step));
    lines.chain(outcome.reproduce.clone()).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outcomes::tests::outcomes;

    #[test]
    fn outcomes_as_junit_xml() {
        insta::assert_snapshot!("junit", export(&outcomes()));
    }

    #[test]
    fn cases_are_counted_by_their_status() {
        let report = Report::deserialize_from_str(&export(&outcomes())).unwrap();
        assert_eq!((report.tests, report.failures, report.errors), (8, 2, 1));
        assert_eq!(report.test_suites[0].skipped, 2);
    }

    proptest! {
        #[test]
        fn texts_of_targets_cannot_leave_their_place(text: String) {
            let mut outcomes = outcomes();
            for hostile in [text, "]]></failure><x a='\u{1b}[2J\0\u{fffe}\">\r\n--".into()] {
                let outcome = &mut outcomes.all[1];
                (outcome.input, outcome.message, outcome.cause) = (hostile.clone(), hostile.clone(), Some(hostile.clone()));
                outcome.law = Some(hostile.clone());
                let xml = export(&outcomes);
                let is_forbidden = xml.contains(['\0', '\u{1b}', '\u{fffe}']);
                prop_assert!(!is_forbidden);
                let report = Report::deserialize_from_str(&xml).unwrap();
                prop_assert_eq!(report.test_suites[0].test_cases.len(), 8);
            }
        }
    }
}
