//! Functions and source lines in which an input costs more than another one, and their table for reports.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use quagmire_base::format::{grouped, shortened, shortened_path};
use quagmire_execution::symbols::is_of_library;

/// Function or source line whose cost grew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Grown {
    /// Demangled name.
    pub function: String,
    /// Source file; `None` without debug information.
    pub file: Option<String>,
    /// Line in the file, of a function its most expensive one; 0 for code that the compiler made up, `None` without debug
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Growth by function, at most 20.
    pub functions: Vec<Grown>,
    /// Growth by source line, at most 50.
    pub lines: Vec<Grown>,
    /// Executions of the lines around the hottest ones, in the order of the hottest; empty without debug information.
    pub around: Vec<LineCount>,
}

/// Executions of a source line by an input, whether they grew or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineCount {
    /// Source file.
    pub file: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Number of executions.
    pub count: u64,
    /// Number of executions by an ordinary input of its size, or by the median seed where there is none; `None` if that is
    /// not known.
    pub ordinary_count: Option<u64>,
}

/// Place in the code to name first for a cost that grew.
#[derive(Clone, Debug, PartialEq)]
pub struct HotPlace<'a> {
    /// Function in which the cost grew most; if that is a library's, the function of the program that does the work or has
    /// it done, where one is known.
    pub function: &'a str,
    /// Location of its hottest line, as `file:line`.
    pub location: Option<String>,
    /// Line of a library below it in which the cost grew most.
    pub below: Option<&'a Grown>,
}

/// Number of lines before and behind a hot one that are shown with it.
pub const CONTEXT: u32 = 2;

/// Smallest share of the growth of a line that is shown with its source.
const WARM: f64 = 0.05;

impl Growth {
    /// Place where the cost grew most: a line if there is debug information, or else a function.
    pub fn hottest(&self) -> Option<&Grown> {
        self.lines.iter().find(|grown| grown.has_line()).or(self.functions.first())
    }

    /// Place to name first. Nobody repairs a standard library: where the cost grew most in one, that is the program's
    /// function with the most growth, to which inlined code counts, and its hottest line.
    pub fn place(&self) -> Option<HotPlace<'_>> {
        let hottest = self.hottest()?;
        let itself = HotPlace { function: &hottest.function, location: hottest.location(), below: None };
        if !hottest.is_of_library() {
            return Some(itself);
        }
        let is_own = |grown: &&Grown| grown.file.is_some() && !grown.is_of_library();
        let function = self.functions.iter().find(is_own).map(|grown| grown.function.as_str());
        let line = |grown: &&Grown| is_own(grown) && grown.has_line() && function.is_none_or(|f| f == grown.function);
        // where it calls a library that does the work, its own lines have not grown: one of them says nothing
        let has_grown = |grown: &&Grown| line(grown) && grown.share >= LEAST_OWN;
        let Some(own) =
            self.lines.iter().find(has_grown).or(self.functions.iter().find(is_own)).or(self.lines.iter().find(line))
        else {
            return Some(itself);
        };
        Some(HotPlace { function: &own.function, location: own.location(), below: Some(hottest) })
    }

    /// At most `most` lines whose source is worth a look: that of [`Self::place`], then the hottest, each far enough from
    /// those before it to be shown by itself.
    pub fn hot_lines(&self, most: usize) -> Vec<&Grown> {
        let first = self.place().and_then(|place| {
            let is_it = |grown: &&Grown| grown.function == place.function && grown.location() == place.location;
            self.lines.iter().chain(&self.functions).find(is_it)
        });
        let mut shown: Vec<&Grown> = Vec::new();
        for grown in first.into_iter().chain(self.lines.iter().filter(|grown| grown.share >= WARM)) {
            let (Some(file), Some(line @ 1..)) = (&grown.file, grown.line) else { continue };
            let is_near = |known: &&Grown| {
                known.file.as_ref() == Some(file) && known.line.is_some_and(|of| of.abs_diff(line) <= 2 * CONTEXT)
            };
            if shown.len() < most && !shown.iter().any(is_near) {
                shown.push(grown);
            }
        }
        shown
    }
}

impl Grown {
    /// Whether its line is known: line 0 is code that the compiler made up.
    fn has_line(&self) -> bool {
        self.line.is_some_and(|line| line > 0)
    }

    /// Whether it is in the source of a standard library or of the system.
    pub fn is_of_library(&self) -> bool {
        self.file.as_deref().is_some_and(is_of_library)
    }

    /// Location as `file:line`; `None` if either is not known.
    pub fn location(&self) -> Option<String> {
        Some(format!("{}:{}", self.file.as_ref()?, self.line?))
    }
}

/// Share of the growth below which a line of the program is no place to look at.
pub const LEAST_OWN: f64 = 1e-4;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(function: &str, file: &str, line: Option<u32>, share: f64) -> Grown {
        let file = Some(file.to_owned());
        let function = function.to_owned();
        Grown { function, file, line, count: 9, first_count: 1, instructions: 9, first_instructions: 1, share }
    }

    const DFS: &str = "std::__detail::_Executor<char>::_M_dfs(long)";
    const EXECUTOR: &str = "/usr/include/c++/12/bits/regex_executor.tcc";

    #[test]
    fn a_line_of_the_program_comes_before_the_library_that_does_its_work() {
        let iterator = "/rustc/59807616/library/core/src/slice/iter/macros.rs";
        for library in [EXECUTOR, iterator] {
            let growth = Growth {
                functions: vec![grown(DFS, library, Some(512), 0.9), grown("trim", "/src/trim.cc", Some(16), 0.1)],
                lines: vec![
                    grown(DFS, library, Some(512), 0.9),
                    grown("other", "/src/trim.cc", Some(3), 0.06),
                    grown("trim", "/src/trim.cc", Some(17), 0.04),
                ],
                ..Growth::default()
            };
            let place = growth.place().unwrap();
            assert_eq!((place.function, place.location.as_deref()), ("trim", Some("/src/trim.cc:17")));
            assert_eq!(place.below.unwrap().location(), Some(format!("{library}:512")));
            let lines: Vec<_> = growth.hot_lines(3).into_iter().map(|grown| grown.line).collect();
            assert_eq!(lines, [Some(17), Some(512), Some(3)]);
            // where none of its own lines grew, it has its most expensive one
            let growth = Growth { lines: vec![growth.lines[0].clone()], ..growth };
            assert_eq!(growth.place().unwrap().location.as_deref(), Some("/src/trim.cc:16"));
            assert_eq!(
                growth.hot_lines(3).into_iter().map(|grown| grown.line).collect::<Vec<_>>(),
                [Some(16), Some(512)]
            );
        }
    }

    #[test]
    fn what_the_program_does_itself_has_nothing_below_it() {
        let own = grown("trim", "/src/trim.cc", Some(17), 0.6);
        let library = grown(DFS, EXECUTOR, Some(512), 0.4);
        let growth = Growth { lines: vec![own, library.clone()], ..Growth::default() };
        assert_eq!(growth.place().map(|place| (place.function, place.below)), Some(("trim", None)));
        // nothing of the program is known
        let growth = Growth { lines: vec![library], ..Growth::default() };
        assert_eq!(growth.place().map(|place| (place.function, place.below)), Some((DFS, None)));
        assert_eq!(Growth::default().place(), None);
    }

    #[test]
    fn lines_beside_each_other_are_shown_once_and_cold_ones_not_at_all() {
        let lines = [(10, 0.5), (12, 0.3), (30, 0.1), (50, 0.06), (70, 0.04)];
        let lines = lines.map(|(line, share)| grown("f", "a.c", Some(line), share)).to_vec();
        let growth = Growth { lines, ..Growth::default() };
        let shown = |most| growth.hot_lines(most).into_iter().filter_map(|grown| grown.line).collect::<Vec<_>>();
        assert_eq!((shown(9), shown(2)), (vec![10, 30, 50], vec![10, 30]));
    }
}
