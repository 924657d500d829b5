//! Functions and lines whose instructions moved between two builds, by name: numbers of edges differ between builds.

use std::collections::BTreeMap;

use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::lines::{LineCost, SourceCosts};
use quagmire_results::comparison::MovedFunction;

/// Whether two costs differ in what a run executes.
pub(super) fn differs(one: &Cost, other: &Cost) -> bool {
    [Resource::Instructions, Resource::Edges, Resource::HottestEdge].into_iter().any(|each| one[each] != other[each])
}

/// Whether a function costs more than it did.
pub(super) fn has_grown(one: &MovedFunction) -> bool {
    one.new_instructions > one.old_instructions
}

/// Functions whose instructions differ, those that grew most first.
pub(super) fn between(old: &SourceCosts, new: &SourceCosts) -> Vec<MovedFunction> {
    let mut amounts: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (build, costs) in [old, new].into_iter().enumerate() {
        costs.functions.iter().for_each(|one| amounts.entry(&one.function).or_default()[build] = one.instructions);
    }
    let is_moved = |(_, [before, now]): &(&str, [u64; 2])| before != now;
    let moved = amounts.into_iter().filter(is_moved).map(|(name, [before, now])| function(name, before, now, old, new));
    let mut moved: Vec<MovedFunction> = moved.collect();
    let growth = |one: &MovedFunction| i128::from(one.new_instructions) - i128::from(one.old_instructions);
    moved.sort_by_key(|one| std::cmp::Reverse(growth(one)));
    moved
}

fn function(name: &str, before: u64, now: u64, old: &SourceCosts, new: &SourceCosts) -> MovedFunction {
    let lines = |costs: &SourceCosts| -> Vec<LineCost> {
        let mut lines: Vec<LineCost> =
            costs.lines.iter().filter(|line| line.function == name && line.line > 0).cloned().collect();
        lines.sort_by(|a, b| a.key().cmp(&b.key()));
        lines
    };
    let (was, is) = (lines(old), lines(new));
    let mut moved = MovedFunction {
        function: name.to_owned(),
        old_instructions: before,
        new_instructions: now,
        ..MovedFunction::default()
    };
    // other lines may have moved it in the file: the n-th line of the function is the n-th line
    let line_before = |number: usize| was.get(number).filter(|_| was.len() == is.len());
    let pairs = is.iter().enumerate().map(|(number, line)| (line_before(number), line));
    let growth = |(was, is): &(Option<&LineCost>, &LineCost)| {
        i128::from(is.instructions) - i128::from(was.map_or(0, |was| was.instructions))
    };
    if let Some((was, is)) = pairs.max_by_key(growth) {
        moved.location = Some(format!("{}:{}", is.file, is.line));
        moved.old_count = was.map(|was| was.count);
        moved.new_count = is.count;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::lines::FunctionCost;

    fn costs(lines: &[(&str, u32, u64)]) -> SourceCosts {
        let mut functions: BTreeMap<&str, u64> = BTreeMap::new();
        lines.iter().for_each(|(name, _, count)| *functions.entry(name).or_default() += 2 * count);
        SourceCosts {
            lines: lines
                .iter()
                .map(|&(function, line, count)| LineCost {
                    function: function.into(),
                    file: "a.c".into(),
                    line,
                    count,
                    instructions: 2 * count,
                })
                .collect(),
            functions: functions
                .into_iter()
                .map(|(function, instructions)| FunctionCost {
                    function: function.into(),
                    instructions,
                    ..FunctionCost::default()
                })
                .collect(),
        }
    }

    #[test]
    fn the_line_that_grew_is_found_though_a_line_was_added_above_the_function() {
        let old = costs(&[("f", 3, 100), ("f", 4, 10), ("g", 9, 7), ("h", 12, 5)]);
        let new = costs(&[("f", 5, 100), ("f", 6, 40), ("g", 11, 7), ("k", 14, 1)]);
        let moved = between(&old, &new);
        let names: Vec<&str> = moved.iter().map(|one| one.function.as_str()).collect();
        assert_eq!(names, ["f", "k", "h"]);
        assert_eq!(moved[0].location.as_deref(), Some("a.c:6"));
        assert_eq!((moved[0].old_count, moved[0].new_count), (Some(10), 40));
        assert_eq!((moved[0].old_instructions, moved[0].new_instructions), (220, 280));
        assert!(has_grown(&moved[0]) && !has_grown(&moved[2]));
    }
}
