//! Exporters: the results of a command as text, for tools that do not read `summary.json`. A new format is a file
//! here and a row of the table.

mod csv;
mod github;
mod json_lines;
mod junit;
mod markdown;
mod sarif;

use quagmire_base::plain::Form;

use crate::{
    outcomes::{Outcomes, SourceRoot},
    summary::Summary,
};

/// A format: a row of the table. Values of `--format`, help texts and the book's table are made from it.
#[derive(Debug)]
pub struct Exporter {
    /// Name in `--format`.
    pub name: &'static str,
    /// Explanation in one line, without a full stop.
    pub meaning: &'static str,
    /// Escaping of control characters when the text is printed or written to a file.
    pub form: Form,
    /// Makes the whole text from the outcomes of any command, and reads nothing else. Names and messages in it may hold
    /// any characters: those that the format interprets are escaped.
    pub outcomes: fn(&Outcomes) -> String,
    /// Makes the text from the findings of a campaign, for formats that tell all that `summary.json` has of them;
    /// `None` for those that are made from its outcomes.
    findings: Option<fn(&Summary) -> String>,
    /// Whether the text of a campaign names sources, so that it matters where the project's folder is.
    pub names_sources: bool,
}

impl Exporter {
    /// Text of a campaign. `root` is the folder of its sources.
    pub fn campaign(&self, summary: &Summary, root: &mut SourceRoot) -> String {
        match self.findings {
            Some(findings) => findings(summary),
            None => (self.outcomes)(&Outcomes::of_campaign(summary, root)),
        }
    }
}

/// All exporters, in the order in which they are shown.
pub static EXPORTERS: &[Exporter] = &[
    Exporter {
        name: "jsonl",
        meaning: "JSON Lines: each finding is a line, with its keys in summary.json",
        form: Form::Json,
        outcomes: json_lines::outcomes,
        findings: Some(json_lines::findings),
        names_sources: false,
    },
    Exporter {
        name: "csv",
        meaning: "CSV: a line of column names, then each finding is a row",
        form: Form::Lines,
        outcomes: csv::outcomes,
        findings: Some(csv::findings),
        names_sources: false,
    },
    Exporter {
        name: "sarif",
        meaning: "SARIF 2.1.0, for code scanning: an alert for each cause",
        form: Form::Json,
        outcomes: sarif::export,
        findings: None,
        names_sources: true,
    },
    Exporter {
        name: "junit",
        meaning: "JUnit XML, for CI services: each input is a test case",
        form: Form::Lines,
        outcomes: junit::export,
        findings: None,
        names_sources: true,
    },
    Exporter {
        name: "github",
        meaning: "annotations of GitHub Actions: printed by a step, shown beside the changed lines",
        form: Form::Lines,
        outcomes: github::export,
        findings: None,
        names_sources: true,
    },
    Exporter {
        name: "markdown",
        meaning: "a summary in Markdown, for a job's page or a comment",
        form: Form::Lines,
        outcomes: markdown::export,
        findings: None,
        names_sources: true,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_complete_and_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = EXPORTERS.iter().map(|exporter| exporter.name).collect();
        assert!(names.len() == EXPORTERS.len() && !names.contains("html"), "{names:?}");
        for Exporter { name, meaning, findings, names_sources, .. } in EXPORTERS {
            assert!(!name.is_empty() && !meaning.is_empty() && !meaning.ends_with('.'), "{name}: {meaning}");
            // only outcomes are given the folder
            assert!(findings.is_none() || !names_sources, "{name}");
        }
    }

    #[test]
    fn every_format_can_tell_of_nothing() {
        for exporter in EXPORTERS {
            let text = (exporter.outcomes)(&Outcomes::default());
            assert!(text.is_empty() || text.ends_with('\n'), "{}: {text:?}", exporter.name);
        }
    }
}
