//! Costs of two runs by function and line, for flame graphs: of a new build beside the old one, or of a larger input beside a
//! smaller one.
//!
//! The counts know no call stacks: a function's cost is that of its own lines. So the tree has two levels below its
//! root, functions and their lines; inlined code belongs to the function that it was written in.

use std::{cmp::Reverse, collections::BTreeMap};

use quagmire_execution::lines::LineCost;

use crate::comparison::{ComparedInput, MovedFunction, RunFigures};
use quagmire_cost::resource::Resource;

/// Part of a cost, and its parts. What its parts do not add up to is its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostTree {
    /// Name: a function, or `file:line`.
    pub name: String,
    /// Amount of the first run, or of the old build.
    pub before: u64,
    /// Amount of the second run, or of the new build.
    pub after: u64,
    /// Parts, the largest after first.
    pub parts: Vec<Self>,
}

impl CostTree {
    /// Costs by function and line of two runs.
    pub fn of_lines(name: &str, before: &[LineCost], after: &[LineCost]) -> Self {
        let mut functions: BTreeMap<&str, BTreeMap<String, (u64, u64)>> = BTreeMap::new();
        let place = |line: &LineCost| match line.file.is_empty() || line.line == 0 {
            true => String::new(),
            false => format!("{}:{}", line.file, line.line),
        };
        let instructions = before.iter().map(|line| (line, line.instructions, 0));
        for (line, before, after) in instructions.chain(after.iter().map(|line| (line, 0, line.instructions))) {
            let sums = functions.entry(&line.function).or_default().entry(place(line)).or_default();
            *sums = (sums.0.saturating_add(before), sums.1.saturating_add(after));
        }
        Self::of_functions(name, functions)
    }

    /// Instructions of both builds of a comparison by function, of those that moved. The rest is the root's own. `None`
    /// if none moved, or the instructions of a build are not known.
    pub fn of_compared(input: &ComparedInput) -> Option<Self> {
        let whole = |run: &Option<RunFigures>| run.as_ref()?.costs.get(&Resource::Instructions).copied();
        let (before, after) = (whole(&input.old)?, whole(&input.new)?);
        let part = |moved: &MovedFunction| Self {
            name: moved.function.clone(),
            before: moved.old_instructions,
            after: moved.new_instructions,
            parts: Vec::new(),
        };
        let parts = sorted(input.moved.iter().map(part).collect());
        (!parts.is_empty()).then(|| Self { name: "all".into(), before, after, parts })
    }

    /// Tree of sums by function and place; an empty place is the function's own.
    fn of_functions(name: &str, functions: BTreeMap<&str, BTreeMap<String, (u64, u64)>>) -> Self {
        let function = |(name, places): (&str, BTreeMap<String, (u64, u64)>)| {
            let sum = |amount: fn(&(u64, u64)) -> u64| places.values().map(amount).fold(0, u64::saturating_add);
            let (before, after) = (sum(|both| both.0), sum(|both| both.1));
            let line = |(name, (before, after))| Self { name, before, after, parts: Vec::new() };
            let lines = places.into_iter().filter(|(name, _)| !name.is_empty()).map(line).collect();
            Self { name: name.to_owned(), before, after, parts: sorted(lines) }
        };
        let parts = sorted(functions.into_iter().map(function).collect());
        let sum = |amount: fn(&Self) -> u64| parts.iter().map(amount).fold(0, u64::saturating_add);
        Self { name: name.to_owned(), before: sum(|part| part.before), after: sum(|part| part.after), parts }
    }
}

fn sorted(mut parts: Vec<CostTree>) -> Vec<CostTree> {
    parts.sort_by_key(|part| (Reverse(part.after), Reverse(part.before)));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    fn line(function: &str, line: u32, instructions: u64) -> LineCost {
        let file = if line > 0 { "a.c" } else { "" };
        LineCost { function: function.into(), file: file.into(), line, count: 1, instructions }
    }

    #[test]
    fn lines_add_up_to_functions_and_functions_to_the_whole() {
        let before = [line("f", 1, 10), line("f", 2, 20), line("gone", 9, 5)];
        let after = [line("f", 2, 200), line("f", 0, 3), line("g", 7, 50), line("f", 2, 1)];
        let tree = CostTree::of_lines("all", &before, &after);
        let told = |tree: &CostTree| (tree.name.clone(), tree.before, tree.after);
        assert_eq!(told(&tree), ("all".to_owned(), 35, 254));
        let functions: Vec<_> = tree.parts.iter().map(told).collect();
        assert_eq!(functions, [("f".to_owned(), 30, 204), ("g".to_owned(), 0, 50), ("gone".to_owned(), 5, 0)]);
        let lines: Vec<_> = tree.parts[0].parts.iter().map(told).collect();
        assert_eq!(lines, [("a.c:2".to_owned(), 20, 201), ("a.c:1".to_owned(), 10, 0)]);
    }
}
