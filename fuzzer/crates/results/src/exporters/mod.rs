//! Exporters: the findings of a campaign as text, for tools that do not read `summary.json`. A new format is a file
//! here and a row of the table.

mod csv;
mod json_lines;

use quagmire_base::plain::Form;

use crate::summary::Summary;

/// A format of findings: a row of the table. Values of `--format`, help texts and the book's table are made from it.
#[derive(Debug)]
pub struct Exporter {
    /// Name in `--format`.
    pub name: &'static str,
    /// Explanation in one line, without a full stop.
    pub meaning: &'static str,
    /// Escaping of control characters when the text is printed or written to a file.
    pub form: Form,
    /// Makes the whole text from a summary, and reads nothing else. Names and messages in it may hold any characters:
    /// those that the format interprets are escaped.
    pub export: fn(&Summary) -> String,
}

/// All exporters, in the order in which they are shown.
pub static EXPORTERS: &[Exporter] = &[
    Exporter {
        name: "jsonl",
        meaning: "JSON Lines: each finding is a line, with its keys in summary.json",
        form: Form::Json,
        export: json_lines::export,
    },
    Exporter {
        name: "csv",
        meaning: "CSV: a line of column names, then each finding is a row",
        form: Form::Lines,
        export: csv::export,
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
        for Exporter { name, meaning, .. } in EXPORTERS {
            assert!(!name.is_empty() && !meaning.is_empty() && !meaning.ends_with('.'), "{name}: {meaning}");
        }
    }
}
