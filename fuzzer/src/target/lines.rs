//! What a run cost by source line: exactly, with inlined code where it was written.
//!
//! For reports only, since it takes milliseconds: a search looks at [`super::counts`].

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{
    counts::CountsObserver,
    line_table::{LineTable, Place},
    program::Program,
    symbols::{Symbols, demangle},
};

/// What a run cost in one source line of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCost {
    /// The source function, demangled: the inlined one where code was inlined. Without debug information the symbol and
    /// the place of a block in it, `name+0x1f`.
    pub function: String,
    /// Path of the source file; empty without debug information.
    pub file: String,
    /// From 1; 0 for what the compiler made up, and without debug information.
    pub line: u32,
    /// How often it was executed: the largest count of any of its blocks, summed over all copies of the function.
    pub count: u64,
    /// Instructions executed.
    pub instructions: u64,
}

impl LineCost {
    /// What tells lines apart.
    pub fn key(&self) -> (&str, u32, &str) {
        (&self.file, self.line, &self.function)
    }
}

/// Names as people read them, worked out once each.
#[derive(Default)]
struct Names(HashMap<Place, (String, String)>);

impl Names {
    fn file_and_function(&mut self, place: Place) -> &(String, String) {
        self.0.entry(place).or_insert_with(|| (tidy(&place.file()), demangle(&place.function())))
    }
}

/// Sums by file, line and function.
#[derive(Default)]
struct Sums(BTreeMap<(String, u32, String), (u64, u64)>);

impl Sums {
    fn add(&mut self, file: &str, line: u32, function: &str, count: u64, instructions: u64) {
        let sum = self.0.entry((file.to_owned(), line, function.to_owned())).or_default();
        *sum = (sum.0.saturating_add(count), sum.1.saturating_add(instructions));
    }

    /// The most expensive first.
    fn sorted(self) -> Vec<LineCost> {
        let line =
            |((file, line, function), (count, instructions))| LineCost { function, file, line, count, instructions };
        let mut lines: Vec<LineCost> = self.0.into_iter().map(line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.instructions)); // stable: ties stay in the order of lines
        lines
    }
}

/// What the last run cost by source line, the most expensive first; lines that were not executed are left out. The
/// instructions of all lines are together those of the run. To be called before the next run.
pub fn line_costs(counts: &CountsObserver, symbols: &mut Symbols) -> Vec<LineCost> {
    let (mut names, mut sums) = (Names::default(), Sums::default());
    for &index in counts.ran() {
        let function = &counts.program().functions()[index as usize];
        let edges = counts.exact_counts(index);
        if let Some(table) = LineTable::read(function) {
            for executed in table.executed(&edges).into_iter().filter(|e| e.instructions > 0) {
                let (file, name) = names.file_and_function(executed.place);
                sums.add(file, executed.line, name, executed.count, executed.instructions);
            }
        } else {
            let start = function.pc(0);
            let name = symbols.place(start).function;
            for (edge, (&count, &weight)) in edges.iter().zip(function.weights()).enumerate() {
                if count > 0 {
                    let block = format!("{name}{BLOCK}{:x}", function.pc(edge).wrapping_sub(start));
                    sums.add("", 0, &block, count, count.saturating_mul(weight.into()));
                }
            }
        }
    }
    sums.sorted()
}

/// Between a symbol and the place of a block in it.
const BLOCK: &str = "+0x";

/// The function that a line belongs to, without the place of a block.
pub fn function_of(line: &LineCost) -> &str {
    let symbol = line.function.rsplit_once(BLOCK).filter(|_| line.file.is_empty());
    symbol.map_or(&line.function, |(symbol, _)| symbol)
}

/// All lines with code of all source files that the debug information of the program knows, by path; empty without any.
pub fn source_files(program: &Program) -> BTreeMap<String, Vec<u32>> {
    let mut names = Names::default();
    let mut files: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for table in program.loaded_functions().filter_map(LineTable::read) {
        for (place, line) in table.lines() {
            let (file, _) = names.file_and_function(place);
            match files.get_mut(file) {
                Some(lines) => lines.push(line),
                None => drop(files.insert(file.clone(), vec![line])),
            }
        }
    }
    for lines in files.values_mut() {
        lines.sort_unstable();
        lines.dedup();
    }
    files.remove("");
    files
}

/// A path without detours: `/usr/lib/gcc/12/../../include` is `/usr/include`, as the compiler's own headers are called.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_detours() {
        for (path, tidied) in [
            ("/usr/bin/../lib/gcc/12/../../../include/c++/12/regex", "/usr/include/c++/12/regex"),
            ("/src/./a.c", "/src/a.c"),
            ("../src//a.c", "../src/a.c"),
            ("a.c", "a.c"),
            ("", ""),
        ] {
            assert_eq!(tidy(path), tidied);
        }
    }

    #[test]
    fn lines_of_equal_names_are_added_up_and_sorted_by_instructions() {
        let mut sums = Sums::default();
        sums.add("a.c", 1, "f", 2, 10);
        sums.add("a.c", 2, "f", 1, 30);
        sums.add("a.c", 1, "f", 3, 15);
        sums.add("a.c", 1, "g", 1, 25);
        let lines = sums.sorted();
        let shown: Vec<_> = lines.iter().map(|l| (l.line, l.function.as_str(), l.count, l.instructions)).collect();
        assert_eq!(shown, [(2, "f", 1, 30), (1, "f", 5, 25), (1, "g", 1, 25)]);
    }

    #[test]
    fn a_block_without_a_line_belongs_to_its_symbol() {
        let line = |file: &str, function: &str| LineCost {
            file: file.into(),
            function: function.into(),
            ..LineCost::default()
        };
        assert_eq!(function_of(&line("", "operator+(A, B)+0x1f")), "operator+(A, B)");
        assert_eq!(function_of(&line("a.c", "f+0x1f")), "f+0x1f");
    }
}
