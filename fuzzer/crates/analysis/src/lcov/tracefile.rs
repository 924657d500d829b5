//! A tracefile of lcov: sums over runs, and the text. The format is described in the manual page geninfo(1).

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use crate::runner::Run;
use quagmire_base::{format::counted, plain::shown};
use quagmire_execution::lines::FunctionLines;

/// Functions of a file, by name.
type Functions = BTreeMap<String, FunctionSum>;

/// Executions of all lines by all runs.
#[derive(Debug, Default)]
pub(super) struct Tracefile {
    files: BTreeMap<String, Functions>,
    /// Executions of each edge.
    edges: HashMap<u32, u64>,
}

/// Executions of one function of a file.
#[derive(Debug, Default)]
struct FunctionSum {
    /// Executions by line.
    lines: BTreeMap<u32, u64>,
    /// Edges whose executions are calls.
    entries: Vec<u32>,
}

impl FunctionSum {
    /// Number of calls: those of its own code, or the executions of its first line if all calls were inlined.
    fn calls(&self, edges: &HashMap<u32, u64>) -> u64 {
        let entered =
            self.entries.iter().filter_map(|edge| edges.get(edge)).fold(0, |sum: u64, n| sum.saturating_add(*n));
        if entered > 0 { entered } else { self.lines.values().next().copied().unwrap_or(0) }
    }
}

impl Tracefile {
    pub(super) fn add(&mut self, run: &Run) {
        for edge in &run.edges {
            let sum = self.edges.entry(edge.edge).or_default();
            *sum = sum.saturating_add(edge.count);
        }
        for line in run.source.lines.iter().filter(|line| line.line > 0 && !line.file.is_empty()) {
            let file = known(&mut self.files, &line.file);
            let sum = known(file, &line.function).lines.entry(line.line).or_default();
            *sum = sum.saturating_add(line.count);
        }
    }

    /// Adds the lines with code that no run executed.
    pub(super) fn know(&mut self, all: Vec<FunctionLines>) {
        for function in all {
            let sum = self.files.entry(function.file).or_default().entry(function.function).or_default();
            sum.entries = function.entries;
            for line in function.lines {
                sum.lines.entry(line).or_default();
            }
        }
    }

    /// Whether no line is known.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn text(&self) -> String {
        // the name of the test stays empty
        let mut text = "TN:\n".to_owned();
        for (file, functions) in &self.files {
            let _ = writeln!(text, "SF:{}", shown(file));
            let first = |function: &FunctionSum| function.lines.keys().next().copied().unwrap_or(1);
            for (name, function) in functions {
                let _ = writeln!(text, "FN:{},{}", first(function), named(name));
            }
            for (name, function) in functions {
                let _ = writeln!(text, "FNDA:{},{}", function.calls(&self.edges), named(name));
            }
            let (called, all) = self.functions(functions);
            let _ = writeln!(text, "FNF:{all}\nFNH:{called}");
            let lines = lines(functions);
            for (line, count) in &lines {
                let _ = writeln!(text, "DA:{line},{count}");
            }
            let _ = writeln!(text, "LF:{}\nLH:{}\nend_of_record", lines.len(), executed(&lines));
        }
        text
    }

    /// Shares of lines and functions that were executed, in words.
    pub(super) fn totals(&self) -> String {
        let (mut hit, mut all, mut called, mut functions) = (0, 0, 0, 0);
        for file in self.files.values() {
            let lines = lines(file);
            hit += executed(&lines);
            all += lines.len();
            let (of_file, all_of_file) = self.functions(file);
            called += of_file;
            functions += all_of_file;
        }
        format!(
            "{hit} of {} and {called} of {} in {}",
            counted(all as u64, "line"),
            counted(functions as u64, "function"),
            counted(self.files.len() as u64, "file")
        )
    }

    /// Number of functions of a file that were called, and of all.
    fn functions(&self, functions: &Functions) -> (usize, usize) {
        (functions.values().filter(|function| function.calls(&self.edges) > 0).count(), functions.len())
    }
}

/// Name of a function as lcov takes it: it ends a name at a comma.
fn named(function: &str) -> String {
    shown(function).replace(',', ";")
}

/// Value of a key, which is copied only if it is new.
fn known<'a, T: Default>(map: &'a mut BTreeMap<String, T>, key: &str) -> &'a mut T {
    if !map.contains_key(key) {
        map.insert(key.to_owned(), T::default());
    }
    map.entry(key.to_owned()).or_default()
}

/// Executions of the lines of a file: of all functions that have code in a line.
fn lines(functions: &Functions) -> BTreeMap<u32, u64> {
    let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
    for (&line, &count) in functions.values().flat_map(|function| &function.lines) {
        let sum = lines.entry(line).or_default();
        *sum = sum.saturating_add(count);
    }
    lines
}

fn executed(lines: &BTreeMap<u32, u64>) -> usize {
    lines.values().filter(|count| **count > 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::EdgeCount;
    use quagmire_execution::lines::{LineCost, SourceCosts};

    fn ran(lines: &[(&str, u32, u64)], edges: &[(u32, u64)]) -> Run {
        let line = |&(function, line, count): &(&str, u32, u64)| LineCost {
            function: function.into(),
            file: "/src/a.c".into(),
            line,
            count,
            instructions: count,
        };
        Run {
            source: SourceCosts { lines: lines.iter().map(line).collect(), functions: Vec::new() },
            edges: edges.iter().map(|&(edge, count)| EdgeCount { edge, count, weight: 1 }).collect(),
            ..Run::default()
        }
    }

    fn function(function: &str, lines: &[u32], entries: &[u32]) -> FunctionLines {
        FunctionLines {
            file: "/src/a.c".into(),
            function: function.into(),
            lines: lines.into(),
            entries: entries.into(),
        }
    }

    #[test]
    fn runs_are_added_up_and_lines_without_runs_have_zero() {
        let mut trace = Tracefile::default();
        trace.add(&ran(&[("f", 2, 5), ("f", 3, 1), ("g<int, b>(a\nb)", 7, 10), ("f", 0, 9)], &[(0, 1), (1, 5)]));
        trace.add(&ran(&[("f", 3, 2), ("inlined", 3, 4)], &[(0, 1)]));
        trace.know(vec![
            function("f", &[2, 3, 4], &[0]),
            function("g<int, b>(a\nb)", &[7], &[8]),
            function("inlined", &[3], &[]),
            function("never", &[11, 12], &[9]),
        ]);
        insta::assert_snapshot!(trace.text());
        assert_eq!(trace.totals(), "3 of 6 lines and 3 of 4 functions in 1 file");
    }

    #[test]
    fn counts_do_not_overflow() {
        let mut trace = Tracefile::default();
        trace.add(&ran(&[("f", 2, u64::MAX), ("g", 2, 7)], &[(0, u64::MAX)]));
        trace.add(&ran(&[("f", 2, 1)], &[(0, 1)]));
        trace.know(vec![function("f", &[2], &[0, 1]), function("g", &[2], &[0, 1])]);
        assert!(trace.text().contains(&format!("DA:2,{}\n", u64::MAX)), "{}", trace.text());
    }
}
