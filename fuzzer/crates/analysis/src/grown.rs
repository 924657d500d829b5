//! Growth of an input's cost over another one's, by source line and function.

use std::collections::BTreeMap;

use super::report::InputReport;
use quagmire_results::growth::{CONTEXT, Grown, Growth, LEAST_OWN, LineCount};

const FUNCTIONS: usize = 20;
const LINES: usize = 50;

/// Number of hot lines whose surroundings are counted.
const HOT_LINES: usize = 3;

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
        let location = function.location.as_deref().and_then(|location| location.rsplit_once(':'));
        Grown {
            function: function.function.clone(),
            file: location.map(|(file, _)| file.to_owned()),
            line: location.and_then(|(_, line)| line.parse().ok()),
            count: function.count,
            first_count: first.map_or(0, |f| f.count),
            instructions: function.instructions,
            first_instructions: first.map_or(0, |f| f.instructions),
            share: 0.0,
        }
    });
    let all: Vec<Grown> = functions.collect();
    let caller = only_own(&all).cloned();
    let mut functions = most(all.into_iter(), net, FUNCTIONS);
    if functions.iter().all(|grown| !is_own(grown)) {
        functions.extend(caller);
    }
    for function in functions.iter_mut().filter(|grown| is_own(grown) && grown.share < LEAST_OWN) {
        // which of its lines calls what is slow is not known: where it begins
        let own = input.lines.iter().filter(|line| {
            line.line > 0 && line.function == function.function && Some(&line.file) == function.file.as_ref()
        });
        function.line = own.map(|line| line.line).min().or(function.line);
    }
    Growth { functions, lines: most(lines, net, LINES), around: Vec::new() }
}

/// Whether a place is known to be the program's own.
fn is_own(grown: &Grown) -> bool {
    grown.file.is_some() && !grown.is_of_library()
}

/// The program's own function, if there is a single one: it has all libraries do their work, whether it grew or not.
fn only_own(functions: &[Grown]) -> Option<&Grown> {
    let mut own = functions.iter().filter(|grown| is_own(grown));
    own.next().filter(|_| own.next().is_none())
}

/// Executions of the lines around the hottest ones of a growth, by `input` and by an ordinary one that was measured together
/// with it.
pub fn around(growth: &Growth, ordinary: &InputReport, input: &InputReport) -> Vec<LineCount> {
    let counts = |of: &InputReport| {
        let mut counts: BTreeMap<(String, u32), u64> = BTreeMap::new();
        for line in of.lines.iter().filter(|line| line.line > 0) {
            let sum = counts.entry((line.file.clone(), line.line)).or_default();
            *sum = sum.saturating_add(line.count);
        }
        counts
    };
    let (before, after) = (counts(ordinary), counts(input));
    let count = |counts: &BTreeMap<_, u64>, of: &InputReport, place: &(String, u32)| {
        // reports leave out what costs least
        counts.get(place).copied().or_else(|| (of.lines_left_out.lines == 0).then_some(0))
    };
    let mut around = Vec::new();
    for hot in growth.hot_lines(HOT_LINES) {
        let (Some(file), Some(line)) = (&hot.file, hot.line) else { continue };
        for line in line.saturating_sub(CONTEXT)..=line.saturating_add(CONTEXT) {
            let place = (file.clone(), line);
            let is_code = before.contains_key(&place) || after.contains_key(&place);
            if let Some(executed) = count(&after, input, &place).filter(|_| is_code) {
                let ordinary_count = count(&before, ordinary, &place);
                around.push(LineCount { file: place.0, line, count: executed, ordinary_count });
            }
        }
    }
    around
}

fn most(all: impl Iterator<Item = Grown>, net: u64, most: usize) -> Vec<Grown> {
    let growth = |grown: &Grown| grown.instructions.saturating_sub(grown.first_instructions);
    let mut all: Vec<Grown> = all.filter(|grown| growth(grown) > 0).collect();
    let whole = net.max(all.iter().map(growth).sum()).max(1);
    all.sort_by_key(|grown| std::cmp::Reverse(growth(grown)));
    // the program's own place is named first, however far behind a library's it comes
    let own = all.iter().position(is_own).filter(|&at| at >= most).map(|at| all[at].clone());
    all.truncate(most);
    all.extend(own);
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
    fn the_lines_around_the_hottest_one_have_the_counts_of_an_ordinary_input() {
        let ordinary = input(100, &[("f", 9, 1, 1), ("f", 10, 30, 60), ("g", 10, 5, 5), ("f", 13, 1, 1)]);
        let slow = input(9_000, &[("f", 10, 4_000, 8_000), ("f", 11, 90, 90), ("g", 10, 6, 6), ("f", 13, 1, 1)]);
        let growth = growth(&ordinary, &slow);
        let told = |counts: Vec<LineCount>| -> Vec<_> {
            counts.into_iter().map(|of| (of.line, of.ordinary_count, of.count)).collect()
        };
        let expected = [(9, Some(1), 0), (10, Some(35), 4_006), (11, Some(0), 90)];
        assert_eq!(told(around(&growth, &ordinary, &slow)), expected);
        // what a report left out is not known
        let mut reduced = ordinary.clone();
        reduced.lines_left_out.lines = 7;
        assert_eq!(told(around(&growth, &reduced, &slow))[2], (11, None, 90));
    }

    #[test]
    fn a_function_that_has_a_library_do_its_work_is_named_by_where_it_begins() {
        let library = "/usr/include/c++/12/bits/regex_executor.tcc";
        let mut slow = input(1_000_000, &[("std::f", 512, 9, 999_000), ("trim", 6, 1, 1), ("trim", 7, 1, 9)]);
        slow.lines.iter_mut().filter(|line| line.function == "trim").for_each(|line| line.file = "/src/trim.cc".into());
        let function = |name: &str, location: String, instructions| FunctionReport {
            function: name.into(),
            location: Some(location),
            count: 1,
            instructions,
            share: 0.0,
        };
        let trim = function("trim", "/src/trim.cc:7".to_owned(), 10);
        slow.functions = vec![function("std::f", format!("{library}:512"), 999_000), trim];
        let growth = growth(&input(0, &[]), &slow);
        assert_eq!(growth.place().expect("a place").location.as_deref(), Some("/src/trim.cc:6"));
    }

    #[test]
    fn the_hottest_line_of_the_program_is_kept_behind_many_of_a_library() {
        let mut slow = input(10_000, &[]);
        let line = |at: u32| LineCost {
            function: "std::f".into(),
            file: "/usr/include/c++/12/bits/regex_executor.tcc".into(),
            line: at,
            count: 1,
            instructions: 1_000 - u64::from(at),
        };
        slow.lines = (1..200).map(line).collect();
        let own = |at| LineCost {
            function: "trim".into(),
            file: "/src/trim.cc".into(),
            count: 2,
            instructions: 2,
            ..line(at)
        };
        slow.lines.extend([own(17), own(18)]);
        let growth = growth(&input(0, &[]), &slow);
        assert_eq!((growth.lines.len(), growth.lines.last().unwrap().line), (LINES + 1, Some(17)));
        assert_eq!(growth.place().unwrap().location.as_deref(), Some("/src/trim.cc:17"));
    }

    #[test]
    fn a_single_function_of_the_program_is_named_though_its_own_lines_did_not_grow() {
        let function = |name: &str, file: &str, instructions| FunctionReport {
            function: name.into(),
            location: Some(format!("{file}:7")),
            count: 1,
            instructions,
            share: 0.0,
        };
        let report = |of_library, own: &[&str]| {
            let mut report = input(of_library, &[("std::f", 5, 1, of_library)]);
            report.functions = vec![function("std::f", "/usr/include/c++/12/regex", of_library)];
            report.functions.extend(own.iter().map(|name| function(name, "/src/trim.cc", 30)));
            report
        };
        let named = |own: &[&str]| {
            let growth = growth(&report(100, own), &report(9_000, own));
            growth.place().map(|place| place.function.to_owned())
        };
        assert_eq!(named(&["trim"]).as_deref(), Some("trim"));
        // one of two may have nothing to do with it
        assert_eq!(named(&["trim", "parse"]).as_deref(), Some("std::f"));
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
        assert_eq!(growth.functions[0].location().as_deref(), Some("/src/a:b.c:7"));
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
