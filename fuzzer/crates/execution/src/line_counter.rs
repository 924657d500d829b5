//! Counts the source lines that runs execute, for campaigns that look for them.

use super::{line_table::LineTable, program::Function};

/// The line tables of functions, each read when its function is first asked for.
#[derive(Debug, Default)]
pub(crate) struct LineCounter {
    /// By the index of the function in the program.
    tables: Vec<Known>,
}

/// What is known of the lines of one function.
#[derive(Debug, Default)]
enum Known {
    /// It did not run yet.
    #[default]
    NotRead,
    /// It has no debug information.
    Nothing,
    /// Its table.
    Table(LineTable),
}

impl LineCounter {
    /// How many source lines a function executed, each as often as it was, by the counts of its branches, the entry first.
    /// What stands behind these does not matter. 0 for a function without debug information.
    pub(crate) fn executed(&mut self, index: u32, function: &Function, counts: &[u64]) -> u64 {
        let index = index as usize;
        if self.tables.len() <= index {
            self.tables.resize_with(index + 1, Known::default);
        }
        let known = &mut self.tables[index];
        if matches!(known, Known::NotRead) {
            *known = LineTable::read(function).map_or(Known::Nothing, Known::Table);
        }
        match known {
            Known::Table(table) => table.executed_lines(counts),
            _ => 0,
        }
    }
}
