//! JSON Lines: each finding is a line, with the keys that it has in `summary.json`.

use crate::summary::{Finding, Summary};

/// Exports findings as JSON Lines.
pub(super) fn export(summary: &Summary) -> String {
    summary.findings.iter().map(line).collect()
}

fn line(finding: &Finding) -> String {
    // cannot fail: a finding consists of strings, numbers, and lists and records of them
    serde_json::to_string(finding).expect("a finding is plain data") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn findings_as_json_lines() {
        insta::assert_snapshot!("json_lines", export(&example()));
    }

    #[test]
    fn numbers_are_those_of_the_summary_to_the_last_digit() {
        let mut written = example();
        // without serde_json's float_roundtrip these are read as their neighbours
        let ratios = ["7.5384410296184985", "0.024986618191797434"];
        written.findings[0].time_ratio = Some(ratios[0].parse().unwrap());
        written.findings[0].ratio = Some(ratios[1].parse().unwrap());
        let text = export(&serde_json::from_str(&written.to_json()).unwrap());
        assert!(ratios.iter().all(|ratio| text.contains(ratio)), "{text}");
    }

    #[test]
    fn every_line_is_read_back_as_its_finding_whatever_its_texts_hold() {
        let mut summary = example();
        summary.findings[0].hot_function = Some("a\n\"b\"\u{1b}[2J\u{2028}".into());
        let text = export(&summary);
        let read: Vec<Finding> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, summary.findings);
    }
}
