//! Cost of a run by function and source line, reduced to a reasonable size: a large program has a hundred thousand
//! lines.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::source::SourceFile;
use quagmire_execution::lines::{FunctionCost, LineCost, SourceCosts};

/// Number of most expensive lines of an input in a report, and of lines that grew most.
const LINES: usize = 200;

/// Number of most expensive functions of an input in a report, and of functions that grew most.
const FUNCTIONS: usize = 30;

/// Instructions of a run by function and source line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Attribution {
    /// Functions, the most expensive first.
    pub functions: Vec<FunctionCost>,
    /// Lines, the most expensive first.
    pub lines: Vec<LineCost>,
    /// Executed lines that are not in `lines`.
    pub left_out: LeftOut,
    /// Number of executed source lines, each counted as often as it was executed, including those left out; 0 without
    /// debug information.
    pub executed_lines: u64,
}

/// Summary of executed lines that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Number of lines.
    pub lines: u64,
    /// Instructions in these lines.
    pub instructions: u64,
}

impl Attribution {
    /// The unreduced attribution of a run.
    pub(crate) fn complete(all: SourceCosts) -> Self {
        let executed_lines = all.executed_lines();
        Self { functions: all.functions, lines: all.lines, left_out: LeftOut::default(), executed_lines }
    }

    /// Reduces it to the most expensive items, those that grew most compared with the first input, and all lines of
    /// `sources`.
    pub(crate) fn against(mut self, first: &Self, sources: &[SourceFile]) -> Self {
        let before: BTreeMap<_, u64> = first.lines.iter().map(|line| (line.key(), line.instructions)).collect();
        let growth = |line: &LineCost| line.instructions.saturating_sub(before.get(&line.key()).copied().unwrap_or(0));
        let mut kept = worth_it(&self.lines, LINES, |line| line.instructions, growth);
        kept.extend((0..self.lines.len()).filter(|&at| sources.iter().any(|s| s.path == self.lines[at].file)));
        self.keep_lines(|at, _| kept.contains(&at));
        let before: BTreeMap<&str, u64> =
            first.functions.iter().map(|f| (f.function.as_str(), f.instructions)).collect();
        let growth = |f: &FunctionCost| f.instructions.saturating_sub(before.get(&*f.function).copied().unwrap_or(0));
        let kept = worth_it(&self.functions, FUNCTIONS, |f| f.instructions, growth);
        let mut at = 0..;
        self.functions.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
        self
    }

    /// Reduces that of the first input to the most expensive items, and all that the others are compared with.
    pub(crate) fn first_of(mut self, others: &[&Self], sources: &[SourceFile]) -> Self {
        let lines: BTreeSet<_> = others.iter().flat_map(|other| other.lines.iter().map(LineCost::key)).collect();
        self.keep_lines(|at, line| {
            at < LINES || lines.contains(&line.key()) || sources.iter().any(|source| source.path == line.file)
        });
        let functions: BTreeSet<&str> =
            others.iter().flat_map(|other| other.functions.iter().map(|f| f.function.as_str())).collect();
        let mut at = 0..;
        self.functions.retain(|f| at.next().is_some_and(|at| at < FUNCTIONS) || functions.contains(&*f.function));
        self
    }

    fn keep_lines(&mut self, mut keep: impl FnMut(usize, &LineCost) -> bool) {
        let mut at = 0..;
        let left_out = &mut self.left_out;
        self.lines.retain(|line| {
            let kept = at.next().is_some_and(|at| keep(at, line));
            if !kept {
                left_out.lines += 1;
                left_out.instructions += line.instructions;
            }
            kept
        });
    }
}

/// Indices of the first `most` of `items`, which are sorted by `cost`, and of the `most` with the largest growth.
fn worth_it<T>(items: &[T], most: usize, cost: impl Fn(&T) -> u64, growth: impl Fn(&T) -> u64) -> BTreeSet<usize> {
    let mut grown: Vec<usize> = (0..items.len()).filter(|&at| growth(&items[at]) > 0).collect();
    grown.sort_by_key(|&at| std::cmp::Reverse(growth(&items[at])));
    debug_assert!(items.is_sorted_by_key(|item| std::cmp::Reverse(cost(item))));
    (0..items.len().min(most)).chain(grown.into_iter().take(most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(function: &str, line: u32, count: u64, instructions: u64) -> LineCost {
        LineCost { function: function.into(), file: "/src/a.c".into(), line, count, instructions }
    }

    fn complete(lines: impl Iterator<Item = LineCost>) -> Attribution {
        let mut lines: Vec<LineCost> = lines.collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.instructions));
        Attribution::complete(SourceCosts { lines, functions: Vec::new() })
    }

    #[test]
    fn a_report_holds_the_most_expensive_lines_and_those_that_grew_and_says_what_it_leaves_out() {
        // 1,000 lines, of which the cheapest grows most
        let before = complete((1..=1000).map(|at| line("f", at, 1, 10_000 - u64::from(at))));
        let grown = |at: u32| 10_000 - u64::from(at) + if at == 1000 { 5 } else { 0 };
        let after: Vec<LineCost> = (1..=1000).map(|at| line("f", at, 1, grown(at))).collect();
        let all: u64 = after.iter().map(|line| line.instructions).sum();
        let after = complete(after.into_iter()).against(&before, &[]);
        assert_eq!(after.lines.len(), LINES + 1);
        assert_eq!(after.left_out.lines, 799);
        assert_eq!(after.lines.iter().map(|line| line.instructions).sum::<u64>() + after.left_out.instructions, all);
        let before = before.first_of(&[&after], &[]);
        assert_eq!(before.lines.last().map(|line| line.line), Some(1000), "what it is compared with is kept");
        assert_eq!(before.left_out.lines, 799);
    }

    #[test]
    fn all_lines_of_a_file_that_is_annotated_are_kept() {
        let lines: Vec<LineCost> = (1..=1000).map(|at| line("f", at, 1, 5)).collect();
        let sources = [SourceFile { path: "/src/a.c".into(), ..SourceFile::default() }];
        let all = complete(lines.into_iter()).against(&Attribution::default(), &sources);
        assert_eq!((all.lines.len(), all.left_out), (1000, LeftOut::default()));
    }
}
