//! Cost of a run by source line: exact, with inlined code attributed to where it was written.
//!
//! Takes milliseconds, so it is for reports only: the search uses [`super::counts`].

use std::{
    cell::RefCell,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::RangeInclusive,
};

use serde::{Deserialize, Serialize};

use super::{
    counts::CountsObserver,
    known_lines::line_table,
    line_table::SourceFunction,
    program::{Function, Program},
    symbols::{CodeLocation, Symbols, demangle},
};

/// Cost of a run in one source line of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCost {
    /// Demangled name of the source function, also of one that was inlined. Without debug information the symbol and
    /// the number of an edge, `name#3`.
    pub function: String,
    /// Path of the source file; empty without debug information.
    pub file: String,
    /// Line number from 1; 0 for code made up by the compiler, and without debug information.
    pub line: u32,
    /// Number of executions: the largest count of any of its blocks, summed over all copies of the function.
    pub count: u64,
    /// Executed instructions.
    pub instructions: u64,
}

impl LineCost {
    /// Identity of the line: file, line number and function.
    pub fn key(&self) -> (&str, u32, &str) {
        (&self.file, self.line, &self.function)
    }
}

/// Cost of a run in one function. Inlined code of standard libraries and system headers is attributed to the function that
/// it was inlined into, all other code to the function that it was written in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCost {
    /// Demangled name; the symbol without debug information.
    pub function: String,
    /// `file:line` of its most expensive line, if there is debug information.
    pub location: Option<String>,
    /// Number of executions of its most executed line (or block, without debug information).
    pub count: u64,
    /// Executed instructions.
    pub instructions: u64,
}

/// Cache of readable file and function names.
#[derive(Default)]
struct Names(HashMap<SourceFunction, (String, String)>);

impl Names {
    fn file_and_function(&mut self, place: SourceFunction) -> &(String, String) {
        self.0.entry(place).or_insert_with(|| (tidy(&place.file()), demangle(&place.function())))
    }
}

/// Complete cost of a run by source: the instructions of all lines sum up to those of the run, and so do those of all
/// functions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceCosts {
    /// Executed lines, the most expensive first.
    pub lines: Vec<LineCost>,
    /// Executed functions, the most expensive first.
    pub functions: Vec<FunctionCost>,
}

impl SourceCosts {
    /// Number of executed source lines, each counted as often as it was executed; without code made up by the
    /// compiler.
    pub fn executed_lines(&self) -> u64 {
        self.lines.iter().filter(|line| line.line > 0).fold(0, |sum, line| sum.saturating_add(line.count))
    }
}

#[derive(Default)]
struct Sums {
    /// Count and instructions by file, line and function.
    lines: BTreeMap<(String, u32, String), (u64, u64)>,
    functions: BTreeMap<String, FunctionSum>,
}

#[derive(Default)]
struct FunctionSum {
    count: u64,
    instructions: u64,
    /// Instructions by location: of the function's own lines, and of lines inlined into it.
    own: BTreeMap<(String, u32), u64>,
    inlined: BTreeMap<(String, u32), u64>,
}

impl Sums {
    fn add(&mut self, file: &str, line: u32, function: &str, owner: &str, count: u64, instructions: u64) {
        let sum = self.lines.entry((file.to_owned(), line, function.to_owned())).or_default();
        *sum = (sum.0.saturating_add(count), sum.1.saturating_add(instructions));
        let sum = self.functions.entry(owner.to_owned()).or_default();
        sum.count = sum.count.max(count);
        sum.instructions = sum.instructions.saturating_add(instructions);
        if line > 0 {
            let locations = if function == owner { &mut sum.own } else { &mut sum.inlined };
            *locations.entry((file.to_owned(), line)).or_default() += instructions;
        }
    }

    fn sorted(self) -> SourceCosts {
        let line =
            |((file, line, function), (count, instructions))| LineCost { function, file, line, count, instructions };
        let function = |(function, sum): (String, FunctionSum)| {
            let hottest = |all: BTreeMap<(String, u32), u64>| all.into_iter().max_by_key(|(_, work)| *work);
            let location = hottest(sum.own).or_else(|| hottest(sum.inlined));
            let location = location.map(|((file, line), _)| format!("{file}:{line}"));
            FunctionCost { function, location, count: sum.count, instructions: sum.instructions }
        };
        let mut lines: Vec<LineCost> = self.lines.into_iter().map(line).collect();
        let mut functions: Vec<FunctionCost> = self.functions.into_iter().map(function).collect();
        // stable: ties keep the order of lines and names
        lines.sort_by_key(|line| Reverse(line.instructions));
        functions.sort_by_key(|function| Reverse(function.instructions));
        SourceCosts { lines, functions }
    }
}

/// Cost of the last run by source line and function. Call it before the next run.
pub fn source_costs(counts: &CountsObserver, symbols: &mut Symbols) -> SourceCosts {
    let (mut names, mut sums) = (Names::default(), Sums::default());
    for &index in counts.ran() {
        let function = &counts.program().functions()[index as usize];
        let edges = counts.exact_counts(index);
        if let Some(table) = line_table(function) {
            for executed in
                table.executed(&edges, &counts.exact_charges(index)).into_iter().filter(|e| e.instructions > 0)
            {
                let owner = names.file_and_function(executed.owner).1.clone();
                let (file, name) = names.file_and_function(executed.source);
                sums.add(file, executed.line, name, &owner, executed.count, executed.instructions);
            }
        } else {
            let name = place_of(function, symbols).function;
            for (edge, (&count, &weight)) in edges.iter().zip(function.weights()).enumerate() {
                if count > 0 {
                    let block = symbols.edge(&name, edge);
                    sums.add("", 0, &block, &name, count, count.saturating_mul(weight.into()));
                }
            }
            let charged: u64 = counts.exact_charges(index).iter().sum();
            if charged > 0 {
                sums.add("", 0, &format!("{name} (calls of the C library)"), &name, 0, charged);
            }
        }
    }
    sums.sorted()
}

/// Name and source line of a function: its number of edges' first if nothing says where it is.
pub fn place_of(function: &Function, symbols: &mut Symbols) -> CodeLocation {
    match function.address() {
        0 => CodeLocation { function: format!("edge {}", function.first_edge), location: None },
        address => symbols.place(address),
    }
}

/// All lines with code of all source files in the debug information of the program, by path; empty without debug
/// information.
pub fn source_files(program: &Program) -> BTreeMap<String, Vec<u32>> {
    let mut names = Names::default();
    let mut files: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for table in program.loaded_functions().filter_map(line_table) {
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

/// Lines with code of one function in one file, and how to tell whether it was called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionLines {
    /// Path of the file.
    pub file: String,
    /// Demangled name.
    pub function: String,
    /// Numbers of its lines, ascending; not empty.
    pub lines: Vec<u32>,
    /// Edges whose counts are its calls, one for each copy of it; none for calls that were inlined.
    pub entries: Vec<u32>,
}

/// All lines with code, by file and function; empty without debug information.
pub fn lines_of_functions(program: &Program) -> Vec<FunctionLines> {
    let mut names = Names::default();
    let mut found: BTreeMap<(String, String), (BTreeSet<u32>, BTreeSet<u32>)> = BTreeMap::new();
    for function in program.loaded_functions() {
        let Some(table) = line_table(function) else { continue };
        for (place, line) in table.lines() {
            found.entry(names.file_and_function(place).clone()).or_default().0.insert(line);
        }
        for (place, _) in table.functions().filter(|(_, is_itself)| *is_itself) {
            found.entry(names.file_and_function(place).clone()).or_default().1.insert(function.first_edge);
        }
    }
    let known = found.into_iter().filter(|((file, _), (lines, _))| !file.is_empty() && !lines.is_empty());
    known
        .map(|((file, function), (lines, entries))| {
            let (lines, entries) = (lines.into_iter().collect(), entries.into_iter().collect());
            FunctionLines { file, function, lines, entries }
        })
        .collect()
}

/// Name of a source function in reports, and its file; without debug information the symbol and an empty path.
pub type FunctionKey = (String, String);

/// All functions of the program, with the edges that tell whether a run entered them. For inlined functions these are
/// the edges of the inlined code.
pub fn source_functions(program: &Program, symbols: &mut Symbols) -> BTreeMap<FunctionKey, Vec<u32>> {
    let mut names = Names::default();
    let mut functions: BTreeMap<FunctionKey, BTreeSet<u32>> = BTreeMap::new();
    for function in program.loaded_functions() {
        let Some(table) = line_table(function) else {
            let key = (place_of(function, symbols).function, String::new());
            functions.entry(key).or_default().insert(function.first_edge);
            continue;
        };
        for (place, is_itself) in table.functions() {
            let (file, name) = names.file_and_function(place).clone();
            let edges = if is_itself { BTreeSet::from([0]) } else { table.edges_of(|other, _| other == place) };
            let edges = edges.into_iter().map(|edge| function.first_edge + edge as u32);
            functions.entry((name, file)).or_default().extend(edges);
        }
    }
    functions.into_iter().map(|(key, edges)| (key, edges.into_iter().collect())).collect()
}

/// Edges that tell whether a run executed a line of a source file, optionally in one source function only.
pub fn edges_of_line(program: &Program, file: &str, line: u32, function: Option<&str>) -> Vec<u32> {
    let names = RefCell::new(Names::default());
    let is_wanted = |place: SourceFunction| {
        let mut names = names.borrow_mut();
        let (in_file, name) = names.file_and_function(place);
        in_file == file && function.is_none_or(|wanted| wanted == name)
    };
    let mut edges = Vec::new();
    for function in program.loaded_functions() {
        let Some(table) = line_table(function) else { continue };
        let of_line = table.edges_of(|place, at| at == line && is_wanted(place));
        edges.extend(of_line.into_iter().map(|edge| function.first_edge + edge as u32));
    }
    edges
}

/// A place in the source whose edges are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourcePlace {
    /// A function, by its key in [`source_functions`].
    Function(FunctionKey),
    /// Lines of the file with this path, both ends inclusive.
    Lines(String, RangeInclusive<u32>),
}

/// Edges of each of these places, ascending: those in its code, in code that was inlined into it, and the charges of its
/// calls of the C library. Goes through the program once.
pub fn edges_of_places(program: &Program, symbols: &mut Symbols, places: &[SourcePlace]) -> Vec<Vec<u32>> {
    let mut names = Names::default();
    let mut found = vec![BTreeSet::new(); places.len()];
    for function in program.loaded_functions() {
        let Some(table) = line_table(function) else {
            let name = place_of(function, symbols).function;
            for (edges, _) in found.iter_mut().zip(places).filter(|(_, place)| place.is_symbol(&name)) {
                edges.extend(function.edge_numbers().map(|edge| edge as u32));
            }
            continue;
        };
        let sources: Vec<(SourceFunction, bool, FunctionKey)> = table
            .functions()
            .map(|(source, is_itself)| {
                let (file, name) = names.file_and_function(source).clone();
                (source, is_itself, (name, file))
            })
            .collect();
        let charge = |at: usize| (function.charge_numbers().start + at) as u32;
        for (edges, place) in found.iter_mut().zip(places) {
            let of_place: Vec<_> = sources.iter().filter(|(.., key)| place.may_be_in(key)).collect();
            if of_place.is_empty() {
                continue;
            }
            let is_of_place = |source| of_place.iter().any(|(known, ..)| *known == source);
            let (branches, charges) = match place {
                SourcePlace::Function(_) if of_place.iter().any(|(_, is_itself, _)| *is_itself) => {
                    edges.extend(function.edge_numbers().map(|edge| edge as u32));
                    continue;
                }
                SourcePlace::Function(_) => table.within(is_of_place),
                SourcePlace::Lines(_, lines) => {
                    let is_wanted = |source, line| lines.contains(&line) && is_of_place(source);
                    (table.edges_of(is_wanted), table.charges_of(is_wanted))
                }
            };
            edges.extend(branches.into_iter().map(|edge| function.first_edge + edge as u32));
            edges.extend(charges.into_iter().map(charge));
        }
    }
    found.into_iter().map(|edges| edges.into_iter().collect()).collect()
}

impl SourcePlace {
    /// Whether it is the function with this symbol, about which nothing more is known.
    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self, Self::Function((name, file)) if file.is_empty() && name == symbol)
    }

    /// Whether code of a source function may be in it.
    fn may_be_in(&self, (name, file): &FunctionKey) -> bool {
        match self {
            Self::Function((wanted, of)) => wanted == name && of == file,
            Self::Lines(wanted, _) => wanted == file,
        }
    }
}

/// Normalizes a path: `/usr/lib/gcc/12/../../include` becomes `/usr/include`.
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
        sums.add("a.c", 1, "f", "f", 2, 10);
        sums.add("a.c", 2, "f", "f", 1, 30);
        sums.add("a.c", 1, "f", "f", 3, 15);
        sums.add("a.c", 1, "g", "g", 1, 25);
        let lines = sums.sorted().lines;
        let shown: Vec<_> = lines.iter().map(|l| (l.line, l.function.as_str(), l.count, l.instructions)).collect();
        assert_eq!(shown, [(2, "f", 1, 30), (1, "f", 5, 25), (1, "g", 1, 25)]);
    }

    #[test]
    fn functions_are_the_sums_of_the_lines_that_they_own_and_are_found_in_their_own() {
        let mut sums = Sums::default();
        sums.add("vector.h", 7, "at", "g", 900, 90);
        sums.add("a.c", 0, "g", "g", 1, 1_000);
        sums.add("a.c", 9, "g", "g", 7, 30);
        sums.add("a.c", 2, "f", "f", 5, 50);
        sums.add("vector.h", 7, "at", "h", 1, 9);
        let cost = |function: &str, location: &str, count, instructions| FunctionCost {
            function: function.into(),
            location: Some(location.into()),
            count,
            instructions,
        };
        let expected = [cost("g", "a.c:9", 900, 1_120), cost("f", "a.c:2", 5, 50), cost("h", "vector.h:7", 1, 9)];
        assert_eq!(sums.sorted().functions, expected);
    }
}
