//! `replay --annotate`: a source file with the executions of each line, by the first and the last input.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{report::InputReport, source::SourceFile};
use quagmire_base::{
    format::{counted, grouped, ratio},
    plain::{self, is_obeyed},
};

/// Share of a run's instructions from which on a line is marked as hot.
const HOT: f64 = 0.05;

/// Share of a run's instructions from which on a line is coloured as warm.
const WARM: f64 = 0.005;

const RED: &str = "31";
const YELLOW: &str = "33";

/// Executions of the lines of a file by one input, summed over functions.
struct Column<'a> {
    input: &'a InputReport,
    /// Count and instructions by line number.
    lines: BTreeMap<u32, (u64, u64)>,
}

impl<'a> Column<'a> {
    fn new(input: &'a InputReport, file: &SourceFile) -> Self {
        let mut lines: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for line in input.lines.iter().filter(|line| line.file == file.path) {
            let sum = lines.entry(line.line).or_default();
            *sum = (sum.0.saturating_add(line.count), sum.1.saturating_add(line.instructions));
        }
        Self { input, lines }
    }

    /// Count of a line; `None` for a line without code.
    fn count(&self, file: &SourceFile, line: u32) -> Option<u64> {
        let known = self.lines.get(&line).map(|&(count, _)| count);
        known.or_else(|| file.lines.binary_search(&line).is_ok().then_some(0))
    }

    /// Share of the run's instructions, 0 to 1.
    fn share(&self, instructions: u64) -> f64 {
        instructions as f64 / self.input.instructions.max(1) as f64
    }

    fn share_of(&self, line: u32) -> f64 {
        self.lines.get(&line).map_or(0.0, |&(_, instructions)| self.share(instructions))
    }

    /// Whether a line is hot, or at most this many lines from one that is; every line is without a limit.
    fn is_near_hot(&self, line: u32, context: Option<u32>) -> bool {
        let Some(context) = context else { return true };
        let near = line.saturating_sub(context)..=line.saturating_add(context);
        self.lines.range(near).any(|(&line, _)| self.share_of(line) >= HOT)
    }
}

/// Style of an annotated source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style<'a> {
    /// Unit in which instructions are counted.
    pub unit: &'a str,
    /// Whether hot lines are coloured.
    pub color: bool,
    /// If set, only hot lines are shown, with this many lines around each.
    pub context: Option<u32>,
}

/// Formats the text of `file` with counts before the lines. `inputs` are all that were measured; only the first and
/// the last are shown. Shares are those of the last one.
pub(crate) fn annotated(file: &SourceFile, text: &[String], inputs: &[InputReport], style: Style<'_>) -> String {
    let unit = style.unit;
    let shown = match inputs {
        [] => return String::new(),
        [only] => vec![("count", only)],
        [first, .., last] => vec![("first", first), ("last", last)],
    };
    let columns: Vec<(&str, Column<'_>)> =
        shown.into_iter().map(|(name, input)| (name, Column::new(input, file))).collect();
    let mut out = format!("{}\n", plain::shown(&file.path));
    for (name, column) in &columns {
        let input = column.input;
        let instructions = counted(input.instructions, unit);
        let _ = write!(out, "  {name:5}  {}  {instructions}", plain::shown(&input.path));
        if *name == "last" {
            let _ = write!(out, "  {} the first", ratio(input.instructions_ratio));
        }
        let early = if input.status == "returned" { String::new() } else { format!("  {}", input.status) };
        let _ = writeln!(out, "{early}");
    }
    let widths: Vec<usize> = columns
        .iter()
        .map(|(name, column)| {
            let largest = column.lines.values().map(|&(count, _)| count).max().unwrap_or(0);
            grouped(largest).len().max(name.len())
        })
        .collect();
    out.push('\n');
    for ((name, _), &width) in columns.iter().zip(&widths) {
        let _ = write!(out, "  {name:>width$}");
    }
    let _ = writeln!(out, "     share   line");
    let Some((_, measured)) = columns.last() else { return out };
    let width_of_numbers = text.len().to_string().len().max(4);
    let mut last_shown = 0;
    for (number, source) in (1..).zip(text) {
        if !measured.is_near_hot(number, style.context) {
            continue;
        }
        if last_shown > 0 && number > last_shown + 1 {
            out.push_str("  ...\n");
        }
        last_shown = number;
        let gutter = gutter(&columns, &widths, file, number, style.color);
        let line = format!("{gutter} {number:>width_of_numbers$}  {}", printable(source));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if last_shown == 0 {
        let _ = writeln!(out, "  no line has {:.0} % of them or more", HOT * 100.0);
    }
    let here: u64 = measured.lines.values().map(|&(_, instructions)| instructions).sum();
    let whose = if columns.len() == 1 { "the" } else { "the last input's" };
    let _ = writeln!(out, "\n  {:.1} % of {whose} {unit}s are in this file", measured.share(here) * 100.0);
    let behind = measured.lines.keys().chain(&file.lines).max().copied().unwrap_or(0);
    if behind as usize > text.len() {
        let _ = writeln!(
            out,
            "  The source has changed since the program was built: line {behind} is behind its end. Build it again."
        );
    }
    out
}

/// Counts of a line, and the share of the last column, with a mark if it is hot.
fn gutter(columns: &[(&str, Column<'_>)], widths: &[usize], file: &SourceFile, number: u32, color: bool) -> String {
    let mut gutter = String::new();
    for ((_, column), &width) in columns.iter().zip(widths) {
        let count = column.count(file, number).map(grouped).unwrap_or_default();
        let _ = write!(gutter, "  {count:>width$}");
    }
    let share = columns.last().map_or(0.0, |(_, measured)| measured.share_of(number));
    let mark = if share >= HOT { '>' } else { ' ' };
    let percent = if share > 0.0 { format!("{:.1} %", share * 100.0) } else { String::new() };
    let _ = write!(gutter, "  {mark} {percent:>7}");
    let code = match share {
        s if s >= HOT => RED,
        s if s >= WARM => YELLOW,
        _ => "",
    };
    if color && !code.is_empty() { format!("\x1b[{code}m{gutter}\x1b[0m") } else { gutter }
}

/// Expands tabs and replaces characters that a terminal would interpret.
fn printable(source: &str) -> String {
    const TAB: usize = 8;
    let mut text = String::with_capacity(source.len());
    let mut column = 0;
    for c in source.chars() {
        if c == '\t' {
            let blanks = TAB - column % TAB;
            text.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            text.push(if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c });
            column += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::lines::LineCost;

    const PLAIN: Style<'_> = Style { unit: "instruction", color: false, context: None };

    fn file() -> SourceFile {
        SourceFile { path: "/src/a.c".into(), lines: vec![1, 2, 3, 5] }
    }

    fn input(path: &str, lines: &[(&str, u32, u64, u64)]) -> InputReport {
        let line = |&(function, line, count, instructions): &(&str, u32, u64, u64)| LineCost {
            function: function.into(),
            file: if function == "elsewhere" { "/src/b.c".into() } else { "/src/a.c".into() },
            line,
            count,
            instructions,
        };
        InputReport {
            path: path.into(),
            status: "returned".into(),
            instructions: lines.iter().map(|line| line.3).sum(),
            instructions_ratio: 7.25,
            lines: lines.iter().map(line).collect(),
            ..InputReport::default()
        }
    }

    fn text() -> Vec<String> {
        ["int f(int n) {", "\tfor (;;)", "  \tg();\x1b[2J", "}", "int never;"].map(String::from).to_vec()
    }

    #[test]
    fn two_inputs_stand_side_by_side() {
        let first = input("a", &[("f", 1, 1, 2), ("f", 2, 11, 33), ("f", 3, 10, 40), ("elsewhere", 2, 1, 25)]);
        let last = input("b", &[("f", 1, 1, 2), ("f", 2, 1_001, 3_003), ("g", 3, 500, 2_000), ("f", 3, 500, 2_000)]);
        let between = input("never shown", &[]);
        insta::assert_snapshot!(annotated(&file(), &text(), &[first, between, last], PLAIN));
    }

    #[test]
    fn one_input_has_one_column() {
        let only = input("a", &[("f", 1, 1, 2), ("f", 2, 11, 33), ("f", 9, 10, 40)]);
        insta::assert_snapshot!(annotated(&file(), &text(), &[only], PLAIN));
    }

    #[test]
    fn hot_lines_are_coloured_where_colours_are_wanted() {
        let only = input("a", &[("f", 1, 1, 2), ("f", 2, 11, 98)]);
        let colored = annotated(&file(), &text(), std::slice::from_ref(&only), Style { color: true, ..PLAIN });
        assert!(colored.contains("\x1b[31m     11  >  98.0 %\x1b[0m    2  "), "{colored:?}");
        assert!(colored.contains("\x1b[33m      1      2.0 %\x1b[0m"), "{colored:?}");
        let plain = annotated(&file(), &text(), &[only], PLAIN);
        assert!(!plain.contains('\x1b'), "{plain:?}");
    }

    #[test]
    fn with_a_context_there_are_hot_lines_and_those_around_them() {
        let text: Vec<String> = (1..=9).map(|line| format!("line {line}")).collect();
        let only = input("a", &[("f", 1, 1, 1), ("f", 3, 50, 500), ("f", 8, 50, 400)]);
        let shown = |context| {
            let out = annotated(&file(), &text, std::slice::from_ref(&only), Style { context: Some(context), ..PLAIN });
            let line = |line: &str| line.rsplit_once("  line ").map(|(_, number)| number.to_owned());
            out.lines().filter_map(|row| line(row).or((row == "  ...").then(|| "...".into()))).collect::<Vec<_>>()
        };
        assert_eq!(shown(0), ["3", "...", "8"]);
        assert_eq!(shown(1), ["2", "3", "4", "...", "7", "8", "9"]);
        assert_eq!(shown(2).len(), 9);
        let cold = input("a", &[("elsewhere", 2, 1, 10)]);
        let out = annotated(&file(), &text, &[cold], Style { context: Some(2), ..PLAIN });
        assert!(out.contains("no line has 5 % of them or more") && !out.contains("line 1"), "{out}");
    }
}
