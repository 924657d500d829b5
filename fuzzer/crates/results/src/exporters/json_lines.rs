//! JSON Lines: each finding is a line, with the keys that it has in `summary.json`, or each outcome is one.

use serde_json::{Value, json};

use crate::{
    outcomes::{Outcome, Outcomes},
    summary::Summary,
};

/// Exports findings as JSON Lines.
pub(super) fn findings(summary: &Summary) -> String {
    summary.findings.iter().map(line).collect()
}

/// Exports outcomes as JSON Lines.
pub(super) fn outcomes(outcomes: &Outcomes) -> String {
    outcomes.all.iter().map(|outcome| line(&complete(outcome))).collect()
}

/// Record of an outcome, with what is derived from it.
fn complete(outcome: &Outcome) -> Value {
    let mut record = json!(outcome);
    record["status"] = json!(outcome.status());
    record["fingerprint"] = json!(outcome.fingerprint());
    record
}

fn line(record: &impl serde::Serialize) -> String {
    // cannot fail: records consist of strings, numbers, and lists and records of them
    serde_json::to_string(record).expect("plain data") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcomes::tests, summary::Finding, testing::example};

    #[test]
    fn findings_as_json_lines() {
        insta::assert_snapshot!("json_lines", findings(&example()));
    }

    #[test]
    fn numbers_are_those_of_the_summary_to_the_last_digit() {
        let mut written = example();
        // without serde_json's float_roundtrip these are read as their neighbours
        let ratios = ["7.5384410296184985", "0.024986618191797434"];
        written.findings[0].time_ratio = Some(ratios[0].parse().unwrap());
        written.findings[0].ratio = Some(ratios[1].parse().unwrap());
        let text = findings(&serde_json::from_str(&written.to_json()).unwrap());
        assert!(ratios.iter().all(|ratio| text.contains(ratio)), "{text}");
    }

    #[test]
    fn every_line_is_read_back_as_its_finding_whatever_its_texts_hold() {
        let mut summary = example();
        summary.findings[0].hot_function = Some("a\n\"b\"\u{1b}[2J\u{2028}".into());
        let text = findings(&summary);
        let read: Vec<Finding> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, summary.findings);
    }

    #[test]
    fn outcomes_are_lines_with_status_and_fingerprint() {
        let text = outcomes(&tests::outcomes());
        let read: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let statuses: Vec<&str> = read.iter().map(|one| one["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["failed", "failed", "skipped", "noted", "skipped", "error", "passed"]);
        assert_eq!(read[1]["figures"]["instructions"], 413_800.0);
        assert_eq!(read[1]["fingerprint"].as_str().unwrap().len(), 16);
    }
}
