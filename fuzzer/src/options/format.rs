//! Formats of `report`: the page, and one for each exporter.

use std::iter::once;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quagmire_results::exporters::{EXPORTERS, Exporter};

use super::defaults;

/// Value of `--format`.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// The page `report.html` and what it links to, in the output folder.
    Page,
    /// The findings, as an exporter writes them.
    Findings(&'static Exporter),
}

impl Format {
    /// Parser of `--format`: the page, or an exporter by its name.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        let page = PossibleValue::new(defaults::FORMAT).help("the report, into OUT: report.html, graphs/ and diffs/");
        let findings = EXPORTERS.iter().map(|exporter| PossibleValue::new(exporter.name).help(exporter.meaning));
        PossibleValuesParser::new(once(page).chain(findings)).map(|name| {
            let exporter = EXPORTERS.iter().find(|exporter| exporter.name == name);
            exporter.map_or(Self::Page, Self::Findings)
        })
    }
}
