//! Figures of corpora as a table, and as JSON.

use std::fmt::Write as _;

use super::{DiversityReport, Row};
use quagmire_base::{
    error::Result,
    format::grouped,
    plain::{self, Form},
};
use quagmire_execution::diversity::hill::Hill;

/// Longest name of a corpus in the table, in characters.
const NAME: usize = 40;

/// Prints the figures; `traces` is the size of the samples.
pub(super) fn print(report: &DiversityReport, traces: Option<u64>, json: bool) -> Result<()> {
    if json { plain::print_json(report) } else { plain::print(&table(report, traces), Form::Lines) }
}

fn table(report: &DiversityReport, traces: Option<u64>) -> String {
    let width = report.corpora.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).max("corpus".len());
    let mut text = format!(
        "{:width$} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10} {:>10}\n",
        "corpus", "inputs", "valid", "early end", "traces", "valid tr.", "B(0)", "B(1)", "B(2)"
    );
    for row in &report.corpora {
        let full = if row.is_full { "+" } else { "" };
        let _ = writeln!(
            text,
            "{:width$} {:>9} {:>9} {:>9} {:>9} {:>9} {}",
            name(row),
            grouped(row.inputs),
            grouped(row.valid),
            grouped(row.ended_early),
            grouped(row.unique_traces) + full,
            grouped(row.unique_valid_traces) + full,
            numbers(&row.hill)
        );
    }
    if let Some(traces) = traces {
        let _ = write!(text, "\nIn a random sample of {} unique valid traces of each:\n", grouped(traces));
        for row in &report.corpora {
            let shown = row.sample.map_or_else(|| "has fewer".to_owned(), |sample| numbers(&sample.hill));
            let _ = writeln!(text, "{:width$} {:49} {shown}", name(row), "");
        }
    }
    text + "\nA queue holds what was kept, and not all that was run: compare queues with queues.\n"
}

fn numbers(hill: &Hill) -> String {
    format!("{:>10.1} {:>10.1} {:>10.1}", hill.b0, hill.b1, hill.b2)
}

/// Name of a corpus, without its beginning if it is too long.
fn name(row: &Row) -> String {
    let length = row.corpus.chars().count();
    if length <= NAME {
        row.corpus.clone()
    } else {
        "…".chars().chain(row.corpus.chars().skip(length - NAME + 1)).collect()
    }
}
