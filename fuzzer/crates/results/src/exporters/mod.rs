//! Exporters of findings, for tools that read no `summary.json`. One file and one row for each format.

mod csv;
mod json_lines;

use quagmire_base::plain::Form;

use crate::summary::Summary;

/// Turns the findings of a campaign into text. It reads nothing but the summary.
pub trait Exporter: Sync {
    /// The whole text. Whatever the target may have put into names and messages is escaped as the format has it.
    fn export(&self, summary: &Summary) -> String;
}

/// A format in which findings are exported.
pub struct Format {
    /// As in `--format`.
    pub name: &'static str,
    /// How its text is printed.
    pub form: Form,
    /// Makes the text.
    pub exporter: &'static dyn Exporter,
}

/// All formats, in the order in which messages name them.
pub static FORMATS: &[Format] = &[
    Format { name: "jsonl", form: Form::Json, exporter: &json_lines::JsonLines },
    Format { name: "csv", form: Form::Lines, exporter: &csv::Csv },
];

impl Format {
    /// The format of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_their_names() {
        for format in FORMATS {
            assert_eq!(Format::named(format.name).map(|found| found.name), Some(format.name));
        }
        assert!(Format::named("html").is_none(), "a page is no export: the report writes it");
    }
}
