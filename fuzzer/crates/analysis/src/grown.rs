//! Growth of an input's cost over another one's, by source line and function.

use std::collections::BTreeMap;

use super::report::InputReport;
use quagmire_results::growth::{Grown, Growth};

const FUNCTIONS: usize = 20;
const LINES: usize = 50;

/// Places where `input` executes more instructions than `first`, which was measured together with it. Shares are of
/// the net growth; if other places shrank, of the gross growth.
pub fn growth(first: &InputReport, input: &InputReport) -> Growth {
    let net = input.instructions.saturating_sub(first.instructions);
    let before: BTreeMap<_, _> = first.lines.iter().map(|line| (line.key(), line)).collect();
    let lines = input.lines.iter().map(|line| {
        let first = before.get(&line.key());
        let known = !line.file.is_empty();
        Grown {
            function: line.function.clone(),
            file: known.then(|| line.file.clone()),
            line: known.then_some(line.line),
            count: line.count,
            first_count: first.map_or(0, |f| f.count),
            instructions: line.instructions,
            first_instructions: first.map_or(0, |f| f.instructions),
            share: 0.0,
        }
    });
    let before: BTreeMap<&str, _> = first.functions.iter().map(|f| (f.function.as_str(), f)).collect();
    let functions = input.functions.iter().map(|function| {
        let first = before.get(&*function.function);
        Grown {
            function: function.function.clone(),
            file: function.location.as_deref().and_then(|l| l.rsplit_once(':')).map(|(file, _)| file.to_owned()),
            line: None,
            count: function.count,
            first_count: first.map_or(0, |f| f.count),
            instructions: function.instructions,
            first_instructions: first.map_or(0, |f| f.instructions),
            share: 0.0,
        }
    });
    Growth { functions: most(functions, net, FUNCTIONS), lines: most(lines, net, LINES) }
}

fn most(all: impl Iterator<Item = Grown>, net: u64, most: usize) -> Vec<Grown> {
    let growth = |grown: &Grown| grown.instructions.saturating_sub(grown.first_instructions);
    let mut all: Vec<Grown> = all.filter(|grown| growth(grown) > 0).collect();
    let whole = net.max(all.iter().map(growth).sum()).max(1);
    all.sort_by_key(|grown| std::cmp::Reverse(growth(grown)));
    all.truncate(most);
    for grown in &mut all {
        grown.share = growth(grown) as f64 / whole as f64;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FunctionReport;
    use quagmire_execution::lines::LineCost;
    use quagmire_results::growth::table;

    fn input(instructions: u64, lines: &[(&str, u32, u64, u64)]) -> InputReport {
        let line = |&(function, line, count, instructions): &(&str, u32, u64, u64)| LineCost {
            function: function.into(),
            file: "/usr/include/c++/12/bits/regex_executor.tcc".into(),
            line,
            count,
            instructions,
        };
        InputReport { instructions, lines: lines.iter().map(line).collect(), ..InputReport::default() }
    }

    #[test]
    fn shares_are_of_the_growth_and_what_did_not_grow_is_left_out() {
        let first = input(100, &[("f", 1, 10, 60), ("f", 2, 10, 40)]);
        let second = input(1_000, &[("g", 7, 80, 800), ("f", 1, 20, 160), ("f", 2, 10, 40)]);
        let growth = growth(&first, &second);
        let shown: Vec<_> = growth.lines.iter().map(|l| (&*l.function, l.line, l.first_count, l.count)).collect();
        assert_eq!(shown, [("g", Some(7), 0, 80), ("f", Some(1), 10, 20)]);
        assert!((growth.lines[0].share - 800.0 / 900.0).abs() < 1e-9, "{growth:?}");
        assert!((growth.lines.iter().map(|l| l.share).sum::<f64>() - 1.0).abs() < 1e-9, "{growth:?}");
    }

    #[test]
    fn an_input_that_costs_less_as_a_whole_has_shares_of_what_grew() {
        let growth = growth(&input(1_000, &[("f", 1, 1, 1_000)]), &input(500, &[("g", 1, 1, 500)]));
        assert_eq!(growth.lines[0].share, 1.0);
    }

    #[test]
    fn functions_grow_as_lines_do() {
        let function = |instructions, count| FunctionReport {
            function: "f".into(),
            location: Some("/src/a:b.c:7".into()),
            count,
            instructions,
            share: 1.0,
        };
        let report = |f: FunctionReport| InputReport {
            instructions: f.instructions,
            functions: vec![f],
            ..InputReport::default()
        };
        let growth = growth(&report(function(10, 1)), &report(function(30, 3)));
        assert_eq!((growth.functions[0].file.as_deref(), growth.functions[0].line), (Some("/src/a:b.c"), None));
        assert_eq!((growth.functions[0].first_count, growth.functions[0].count), (1, 3));
        assert_eq!(growth.functions[0].share, 1.0);
    }

    #[test]
    fn the_table_fits_its_columns() {
        let name = "std::__detail::_Executor<char const*, std::allocator<char> >::_M_dfs(int)";
        let first = input(100, &[("main", 12, 1_234, 100)]);
        let second =
            input(9_000_000, &[(name, 508, 99_860_075, 8_000_000), ("main", 12, 2_000, 999_000), (name, 0, 1, 1_000)]);
        let growth = growth(&first, &second);
        for columns in [80, 120] {
            let table = table(&growth, columns);
            assert!(table.lines().all(|line| line.chars().count() <= columns), "{table}");
            insta::assert_snapshot!(format!("growth_in_{columns}_columns"), table);
        }
        assert_eq!(table(&Growth::default(), 80), "");
    }
}
