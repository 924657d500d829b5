//! JSON Lines: one finding a line, with the keys that it has in `summary.json`.

use super::Exporter;
use crate::summary::Summary;

/// Exports JSON Lines.
pub struct JsonLines;

impl Exporter for JsonLines {
    fn export(&self, summary: &Summary) -> String {
        let line = |finding| {
            // strings, numbers and lists of them: nothing in it that has no JSON
            serde_json::to_string(finding).expect("a finding is plain data") + "\n"
        };
        summary.findings.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{summary::Finding, testing::example};

    #[test]
    fn the_findings_of_a_campaign_as_json_lines() {
        insta::assert_snapshot!("json_lines", JsonLines.export(&example()));
    }

    #[test]
    fn every_line_is_a_finding_whatever_is_in_its_texts() {
        let mut summary = example();
        summary.findings[0].hot_function = Some("a\n\"b\"\u{1b}[2J".into());
        let text = JsonLines.export(&summary);
        let read: Vec<Finding> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, summary.findings);
    }
}
