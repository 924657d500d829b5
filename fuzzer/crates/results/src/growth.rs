//! Functions and source lines in which an input costs more than another one, and their table for reports.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use quagmire_base::format::{grouped, shortened, shortened_path};

/// Function or source line whose cost grew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grown {
    /// Demangled name.
    pub function: String,
    /// Source file; `None` without debug information.
    pub file: Option<String>,
    /// Line in the file, 0 for code that the compiler made up; `None` for a whole function, and without debug
    /// information.
    pub line: Option<u32>,
    /// Number of executions; for a function that of its most executed line.
    pub count: u64,
    /// Number of executions by the other input.
    pub first_count: u64,
    /// Instructions executed in the function or line.
    pub instructions: u64,
    /// Instructions that the other input executed in it.
    pub first_instructions: u64,
    /// Share of the whole growth, 0 to 1.
    pub share: f64,
}

/// Places where the cost grew, the most first. Places that did not grow are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Growth by function, at most 20.
    pub functions: Vec<Grown>,
    /// Growth by source line, at most 50.
    pub lines: Vec<Grown>,
}

impl Growth {
    /// Place where the cost grew most: a line if there is debug information, or else a function.
    pub fn hottest(&self) -> Option<&Grown> {
        // line 0 is code that the compiler made up
        let known = self.lines.iter().find(|grown| grown.line.is_some_and(|line| line > 0));
        known.or(self.functions.first())
    }
}

impl Grown {
    /// Location as `file:line`; `None` if either is not known.
    pub fn location(&self) -> Option<String> {
        Some(format!("{}:{}", self.file.as_ref()?, self.line?))
    }
}

/// Largest number of lines that a table shows.
const SHOWN: usize = 8;

/// Smallest share of the growth that is shown.
const SMALLEST: f64 = 0.001;

/// Table of the source lines that grew most, `columns` columns wide; empty if none did.
pub fn table(growth: &Growth, columns: usize) -> String {
    let shown: Vec<&Grown> = growth.lines.iter().take(SHOWN).filter(|grown| grown.share >= SMALLEST).collect();
    if shown.is_empty() {
        return String::new();
    }
    let counts: Vec<String> =
        shown.iter().map(|grown| format!("{} -> {}", grouped(grown.first_count), grouped(grown.count))).collect();
    let widest = |texts: &[String], title: &str| texts.iter().map(|t| t.chars().count()).fold(title.len(), usize::max);
    let counts_width = widest(&counts, "executed");
    // what is left of the columns is shared by line and function
    let left = columns.saturating_sub("  100.0 %  ".len() + counts_width + 4).max(24);
    let places: Vec<String> = shown.iter().map(|grown| shortened_path(&location(grown), left * 11 / 20)).collect();
    let places_width = widest(&places, "line");
    let mut text = "  where it grew against the first\n".to_owned();
    let _ = writeln!(text, "    share  {:counts_width$}  {:places_width$}  function", "executed", "line");
    for ((grown, count), place) in shown.into_iter().zip(counts).zip(places) {
        let share = format!("{:.1} %", grown.share * 100.0);
        let function = shortened(&grown.function, left - places_width);
        let _ = writeln!(text, "  {share:>7}  {count:counts_width$}  {place:places_width$}  {function}");
    }
    text
}

fn location(grown: &Grown) -> String {
    match (&grown.file, grown.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => "-".to_owned(),
    }
}
