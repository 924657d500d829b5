//! Counting of executed source lines in every run, for campaigns with `--cost lines`.

use super::{known_lines::line_table, line_table::LineTable, program::Function};

/// Line tables of functions, each read when its function first runs.
#[derive(Debug, Default)]
pub(crate) struct LineCounter {
    /// Tables by index of the function in the program.
    tables: Vec<Known>,
}

/// State of the line table of one function.
#[derive(Debug, Default)]
enum Known {
    /// Not read yet.
    #[default]
    NotRead,
    /// The function has no debug information.
    Nothing,
    /// The table was read.
    Table(LineTable),
}

impl LineCounter {
    /// Number of executed source lines of a function, each counted as often as it was executed; 0 without debug
    /// information. `counts` are those of its branches, entry first; further items are ignored.
    pub(crate) fn executed(&mut self, index: u32, function: &Function, counts: &[u64]) -> u64 {
        let index = index as usize;
        if self.tables.len() <= index {
            self.tables.resize_with(index + 1, Known::default);
        }
        let known = &mut self.tables[index];
        if matches!(known, Known::NotRead) {
            *known = line_table(function).map_or(Known::Nothing, Known::Table);
        }
        match known {
            Known::Table(table) => table.executed_lines(counts),
            _ => 0,
        }
    }
}
