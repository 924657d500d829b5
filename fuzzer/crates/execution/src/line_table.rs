//! Parser of the source line tables that the pass writes (format: `compiler-wrapper/passes/lines.h`).

use std::{borrow::Cow, collections::BTreeSet, ffi::CStr};

use super::{
    abi::{RawLines, RawSourceFunction},
    program::Function,
    sums::Sums,
    symbols::is_of_library,
};

/// The source lines of one function, and the counts that they follow from.
#[derive(Debug)]
pub(crate) struct LineTable {
    sources: Vec<SourceFunction>,
    instances: Vec<Instance>,
    /// For each count of the function, counters first and then sums: the lines that it stands for.
    groups: Vec<Vec<GroupLine>>,
    /// For each charge, the line of the call.
    charged: Vec<Vec<GroupLine>>,
    /// The parts of each sum.
    sums: Vec<Vec<usize>>,
}

/// A source function in a file, by mangled name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceFunction {
    /// Path of the file as the compiler knew it, usually absolute.
    pub file: &'static CStr,
    /// Linkage name of the function; its plain name if it has none.
    pub function: &'static CStr,
}

/// One occurrence of a source function in the code of the function: itself, or one inlining.
#[derive(Debug)]
struct Instance {
    source: usize,
    /// Index of the instance that it was inlined into, which is smaller than its own.
    into: Option<usize>,
}

/// Instructions of a line that one execution of a group of equally often executed blocks stands for.
#[derive(Clone, Copy, Debug)]
struct GroupLine {
    instance: usize,
    line: u32,
    weight: u64,
}

/// Executions of one line in one instance of a source function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Executed {
    /// The source function that the line was written in. Occurs several times if it was inlined several times.
    pub source: SourceFunction,
    /// The function that the line's cost is attributed to: the innermost one outside of standard libraries that it was
    /// inlined into, or else the function of the table itself.
    pub owner: SourceFunction,
    /// Line number; 0 for code made up by the compiler.
    pub line: u32,
    /// Largest count of any block with instructions of the line.
    pub count: u64,
    /// Executed instructions of the line.
    pub instructions: u64,
}

impl LineTable {
    /// Reads the table of a function; `None` without debug information, or if the table is damaged.
    pub(crate) fn read(function: &Function) -> Option<Self> {
        let table = function.lines()?.as_ptr().cast_const();
        // SAFETY: the pass wrote the sources and then the numbers behind the start of the table, in a section that is
        // loaded as long as the function.
        let (sources, numbers) = unsafe {
            let RawLines { sources, bytes } = table.read();
            let raw = std::slice::from_raw_parts(table.add(1).cast::<RawSourceFunction>(), sources as usize);
            let numbers = raw.as_ptr_range().end.cast::<u8>();
            (raw, std::slice::from_raw_parts(numbers, bytes as usize))
        };
        // SAFETY: the pass wrote how far from the table each text is; texts are not written to, and objects whose
        // functions ran are not unloaded before they were looked at.
        let text = |distance: i32| unsafe { CStr::from_ptr(table.byte_offset(distance as isize).cast()) };
        let sources =
            sources.iter().map(|p| SourceFunction { file: text(p.file), function: text(p.function) }).collect();
        Self::parse(sources, function.sums(), function.charges as usize, Numbers { bytes: numbers })
    }

    /// Makes the table of a function of which nothing but the places of its edges is known, entry first: for each the
    /// functions that it is in, the innermost first, and its line. `None` if there is not one.
    pub(crate) fn of_places(edges: &[Vec<(SourceFunction, u32)>]) -> Option<Self> {
        let (mut sources, mut instances, mut groups) = (Vec::new(), Vec::<Instance>::new(), Vec::new());
        for frames in edges {
            let mut into = None;
            for (source, _) in frames.iter().rev() {
                let index = sources.iter().position(|known| known == source).unwrap_or_else(|| {
                    sources.push(*source);
                    sources.len() - 1
                });
                let known = instances.iter().position(|instance| instance.source == index && instance.into == into);
                into = known.or_else(|| {
                    instances.push(Instance { source: index, into });
                    Some(instances.len() - 1)
                });
            }
            let line = frames.first().map_or(0, |(_, line)| *line);
            groups.push(into.map(|instance| GroupLine { instance, line, weight: 1 }).into_iter().collect());
        }
        (!instances.is_empty()).then_some(Self { sources, instances, groups, charged: Vec::new(), sums: Vec::new() })
    }

    fn parse(sources: Vec<SourceFunction>, sums: Sums<'_>, charges: usize, mut numbers: Numbers<'_>) -> Option<Self> {
        let mut known = 0;
        let instances = numbers.list(|n| {
            let (source, into) = (n.index(sources.len())?, n.index(known + 1)?);
            known += 1;
            Some(Instance { source, into: into.checked_sub(1) })
        })?;
        let mut line = 0i64;
        let mut groups = numbers.list(|n| {
            n.list(|n| {
                let instance = n.index(instances.len())?;
                line = line.checked_add(n.signed()?)?;
                Some(GroupLine { instance, line: line.try_into().ok()?, weight: n.unsigned()? })
            })
        })?;
        let charged = groups.split_off(groups.len().checked_sub(charges)?);
        let sums: Vec<Vec<usize>> =
            sums.iter().map(|(_, parts)| parts.iter().map(|&part| part.into()).collect()).collect();
        let counters = groups.len().checked_sub(sums.len())?;
        let is_known = |(at, parts): (usize, &Vec<usize>)| parts.iter().all(|&part| part < counters + at);
        sums.iter().enumerate().all(is_known).then_some(Self { sources, instances, groups, charged, sums })
    }

    /// Executions of all lines in all instances, including those that were not executed, by the counts of the
    /// function's edges (entry first) and its charges.
    pub(crate) fn executed(&self, edges: &[u64], charges: &[u64]) -> Vec<Executed> {
        let counts = self.complete(edges);
        let owners: Vec<SourceFunction> = (0..self.instances.len()).map(|instance| self.owner(instance)).collect();
        let mut all: Vec<(usize, Executed)> = Vec::new();
        // a charge adds to the instructions of a line, and not to its executions
        let charged = self.charged.iter().zip(charges).map(|(group, &charge)| (group, 0, charge));
        let counted = self.groups.iter().zip(counts).map(|(group, count)| (group, count, count));
        for (group, count, weighed) in counted.chain(charged) {
            all.extend(group.iter().map(|l| {
                let source = self.sources[self.instances[l.instance].source];
                let instructions = weighed.saturating_mul(l.weight);
                let owner = owners[l.instance];
                (l.instance, Executed { source, owner, line: l.line, count, instructions })
            }));
        }
        all.sort_by_key(|(instance, e)| (*instance, e.line));
        all.dedup_by(|(instance, e), (before, kept)| {
            let same = instance == before && e.line == kept.line;
            if same {
                kept.count = kept.count.max(e.count);
                kept.instructions = kept.instructions.saturating_add(e.instructions);
            }
            same
        });
        all.into_iter().map(|(_, executed)| executed).collect()
    }

    /// Number of executed source lines, each counted as often as it was executed, by the counts of the function's
    /// edges (entry first): the sum of [`Executed::count`] over [`Self::executed`] without line 0.
    pub(crate) fn executed_lines(&self, edges: &[u64]) -> u64 {
        let counts = self.complete(edges);
        let mut all: Vec<(usize, u32, u64)> = Vec::new();
        for (group, count) in self.groups.iter().zip(counts) {
            all.extend(group.iter().filter(|l| l.line > 0).map(|l| (l.instance, l.line, count)));
        }
        all.sort_unstable();
        let copies = all.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
        copies.filter_map(|copy| copy.last()).fold(0, |sum, copy| sum.saturating_add(copy.2))
    }

    /// All lines with code in the function, with repetitions.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (SourceFunction, u32)> {
        let lines = self.groups.iter().flatten().filter(|l| l.line > 0);
        lines.map(|l| (self.sources[self.instances[l.instance].source], l.line))
    }

    /// Edges of the function (entry first) whose counts tell whether a run executed code for which `wanted` holds,
    /// given its source function and line.
    pub(crate) fn edges_of(&self, wanted: impl Fn(SourceFunction, u32) -> bool) -> BTreeSet<usize> {
        self.edges_where(|l| wanted(self.sources[self.instances[l.instance].source], l.line))
    }

    /// Charges of calls in code for which `wanted` holds, given its source function and line.
    pub(crate) fn charges_of(&self, wanted: impl Fn(SourceFunction, u32) -> bool) -> BTreeSet<usize> {
        self.charges_where(|l| wanted(self.sources[self.instances[l.instance].source], l.line))
    }

    /// Edges of the function (entry first) whose counts tell whether a run executed code of these source functions, or code
    /// that was inlined into them; and charges of calls there.
    pub(crate) fn within(&self, wanted: impl Fn(SourceFunction) -> bool) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let is_within = |l: &GroupLine| {
            std::iter::successors(Some(l.instance), |&at| self.instances[at].into)
                .any(|instance| wanted(self.sources[self.instances[instance].source]))
        };
        (self.edges_where(is_within), self.charges_where(is_within))
    }

    fn charges_where(&self, is_wanted: impl Fn(&GroupLine) -> bool) -> BTreeSet<usize> {
        let charged = self.charged.iter().enumerate();
        charged.filter(|(_, group)| group.iter().any(&is_wanted)).map(|(charge, _)| charge).collect()
    }

    fn edges_where(&self, is_wanted: impl Fn(&GroupLine) -> bool) -> BTreeSet<usize> {
        let counters = self.groups.len() - self.sums.len();
        let mut is_part: Vec<bool> = self.groups.iter().map(|group| group.iter().any(&is_wanted)).collect();
        // parts stand before their sums
        for (sum, parts) in self.sums.iter().enumerate().rev() {
            if is_part[counters + sum] {
                parts.iter().for_each(|&part| is_part[part] = true);
            }
        }
        (0..counters).filter(|&edge| is_part[edge]).collect()
    }

    /// All source functions in the table, and for each whether it is the function itself instead of an inlined one.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (SourceFunction, bool)> {
        self.instances.iter().map(|instance| (self.sources[instance.source], instance.into.is_none()))
    }

    fn owner(&self, instance: usize) -> SourceFunction {
        let chain = std::iter::successors(Some(instance), |&at| self.instances[at].into);
        let source = |at: usize| self.sources[self.instances[at].source];
        let own = chain.clone().map(source).find(|source| !is_of_library(&source.file()));
        own.or_else(|| chain.last().map(source)).unwrap_or_else(|| source(instance))
    }

    /// Completes the counts of the counters with those of the sums.
    fn complete(&self, edges: &[u64]) -> Vec<u64> {
        let mut counts = edges.to_vec();
        counts.resize(self.groups.len() - self.sums.len(), 0);
        for parts in &self.sums {
            let sum = parts.iter().fold(0, |all: u64, &part| all.saturating_add(counts[part]));
            counts.push(sum);
        }
        counts
    }
}

impl SourceFunction {
    /// Path of the file as text.
    pub fn file(&self) -> Cow<'static, str> {
        self.file.to_string_lossy()
    }

    /// Name of the function as text, not demangled.
    pub fn function(&self) -> Cow<'static, str> {
        self.function.to_string_lossy()
    }
}

/// Reader of consecutive LEB128 numbers; returns `None` at the end.
struct Numbers<'a> {
    bytes: &'a [u8],
}

impl Numbers<'_> {
    /// Reads the bits of a number, and how many bits were encoded.
    fn bits(&mut self) -> Option<(u64, u32)> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some((value, shift));
            }
        }
    }

    fn unsigned(&mut self) -> Option<u64> {
        self.bits().map(|(value, _)| value)
    }

    fn signed(&mut self) -> Option<i64> {
        let (value, written) = self.bits()?;
        let unused = 64u32.saturating_sub(written);
        Some((value << unused) as i64 >> unused)
    }

    /// Reads a number below `length`.
    fn index(&mut self, length: usize) -> Option<usize> {
        self.unsigned().map(|index| index as usize).filter(|&index| index < length)
    }

    /// Reads the number of items, and then the items.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.unsigned()?;
        (0..length).map(|_| item(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: SourceFunction = SourceFunction { file: c"/src/a.c", function: c"here" };
    const INLINED: SourceFunction = SourceFunction { file: c"/src/a.h", function: c"inlined" };

    fn executed(source: SourceFunction, line: u32, count: u64, instructions: u64) -> Executed {
        Executed { source, owner: source, line, count, instructions }
    }

    fn table(
        sources: Vec<SourceFunction>,
        instances: Vec<Instance>,
        groups: Vec<Vec<GroupLine>>,
        sums: &[&[usize]],
    ) -> LineTable {
        let charged = Vec::new();
        LineTable { sources, instances, groups, charged, sums: sums.iter().map(|parts| parts.to_vec()).collect() }
    }

    #[test]
    fn counts_without_counters_are_sums_of_sums() {
        let table = table(Vec::new(), Vec::new(), vec![Vec::new(); 5], &[&[1, 2], &[3, 2]]);
        assert_eq!(table.complete(&[1, 10, 100]), [1, 10, 100, 110, 210]);
    }

    #[test]
    fn a_line_is_executed_if_any_counter_is_that_its_blocks_are_the_sums_of() {
        let groups = [1, 7, 8, 6, 5].map(|line| vec![GroupLine { instance: 0, line, weight: 1 }]);
        let instances = vec![Instance { source: 0, into: None }];
        let table = table(vec![HERE], instances, groups.to_vec(), &[&[1, 2], &[3, 2]]);
        let edges = |wanted: u32| table.edges_of(|_, line| line == wanted).into_iter().collect::<Vec<_>>();
        assert_eq!([1, 5, 6, 8, 9].map(edges), [vec![0], vec![1, 2], vec![1, 2], vec![2], vec![]]);
    }

    #[test]
    fn a_function_has_the_edges_of_what_was_inlined_into_it() {
        let line = |instance| vec![GroupLine { instance, line: 1, weight: 1 }];
        let instance = |source, into| Instance { source, into };
        let instances = vec![instance(0, None), instance(1, Some(0)), instance(2, Some(1)), instance(2, Some(0))];
        let innermost = SourceFunction { file: c"/src/a.h", function: c"innermost" };
        let mut table = table(vec![HERE, INLINED, innermost], instances, (0..4).map(line).collect(), &[]);
        table.charged = vec![line(0), line(2)];
        let within = |wanted: SourceFunction| {
            let (edges, charges) = table.within(|source| source == wanted);
            (edges.into_iter().collect::<Vec<_>>(), charges.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(within(INLINED), (vec![1, 2], vec![1]));
        assert_eq!(within(innermost), (vec![2, 3], vec![1]));
        assert_eq!(within(HERE), (vec![0, 1, 2, 3], vec![0, 1]));
        assert_eq!(table.charges_of(|source, _| source == HERE).into_iter().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn copies_of_an_inlined_function_are_kept_apart_and_a_line_has_the_largest_count_of_its_groups() {
        let bytes = [
            3, 0, 0, 1, 1, 1, 1, // three instances: the function, and twice the inlined one
            2, // groups, each with a counter
            3, 0, 10, 2, 1, 0x7b, 1, 2, 0, 1, // 10: 2 instructions; 5 of the first copy: 1; 5 of the second: 1
            2, 0, 5, 1, 2, 0x7b, 5, // 10: 1 instruction; 5 of the second copy: 5
        ];
        let table =
            LineTable::parse(vec![HERE, INLINED], Sums::default(), 0, Numbers { bytes: &bytes }).expect("well-formed");
        let expected = [executed(HERE, 10, 7, 2 * 3 + 7), executed(INLINED, 5, 3, 3), executed(INLINED, 5, 7, 3 + 35)];
        assert_eq!(table.executed(&[3, 7], &[]), expected);
    }

    #[test]
    fn a_charge_adds_instructions_to_its_line_and_no_executions() {
        let bytes = [
            1, 0, 0, // one instance
            3, 1, 0, 7, 2, // line 7: two instructions
            1, 0, 0, 1, 1, 0, 1, 1, // charges: one at line 7, one at line 8
        ];
        let parse = |charges| LineTable::parse(vec![HERE], Sums::default(), charges, Numbers { bytes: &bytes });
        let table = parse(2).expect("well-formed");
        assert_eq!(table.executed(&[3], &[100, 50]), [executed(HERE, 7, 3, 106), executed(HERE, 8, 0, 50)]);
        assert_eq!(table.executed_lines(&[3]), 3);
        assert!(parse(4).is_none());
    }

    #[test]
    fn code_of_system_headers_belongs_to_the_function_that_it_was_inlined_into() {
        let header = |function| SourceFunction { file: c"/usr/include/c++/12/bits/stl_vector.h", function };
        let instance = |source, into| Instance { source, into };
        let table = |sources: Vec<SourceFunction>, instances| table(sources, instances, Vec::new(), &[]);
        // own code, which a header's function was inlined into, and another one into that
        let chain = || vec![instance(0, None), instance(1, Some(0)), instance(2, Some(1)), instance(3, Some(2))];
        let mixed = table(vec![HERE, INLINED, header(c"at"), header(c"size")], chain());
        assert_eq!([0, 1, 2, 3].map(|at| mixed.owner(at)), [HERE, INLINED, INLINED, INLINED]);
        let only_headers = table(vec![header(c"dfs"), header(c"begin"), header(c"at"), header(c"size")], chain());
        assert_eq!(only_headers.owner(3), header(c"dfs"));
    }

    #[test]
    fn a_table_of_places_has_a_line_for_each_edge_and_an_instance_for_each_inlining() {
        let edges = [vec![(HERE, 3)], vec![(INLINED, 7), (HERE, 4)], Vec::new(), vec![(INLINED, 8), (HERE, 4)]];
        let table = LineTable::of_places(&edges).expect("places");
        let owned = |line, count| Executed { owner: INLINED, ..executed(INLINED, line, count, count) };
        assert_eq!(table.executed(&[1, 5, 9, 2], &[]), [executed(HERE, 3, 1, 1), owned(7, 5), owned(8, 2)]);
        assert_eq!(table.executed_lines(&[1, 5, 9, 2]), 8);
        assert!(LineTable::of_places(&[Vec::new()]).is_none());
    }

    #[test]
    fn a_table_that_makes_no_sense_is_none() {
        let a_place_too_many = [1, 1, 0, 0];
        let inlined_into_itself = [1, 0, 1, 0];
        let a_negative_line = [1, 0, 0, 1, 1, 0, 0x7f, 1];
        let cut_off = [1, 0, 0, 1, 1];
        for bytes in [&a_place_too_many[..], &inlined_into_itself, &a_negative_line, &cut_off] {
            assert!(LineTable::parse(vec![HERE], Sums::default(), 0, Numbers { bytes }).is_none(), "{bytes:?}");
        }
        let two_counts = [1, 0, 0, 2, 0, 0];
        for (sums, makes_sense) in [(&[1, 1, 0][..], true), (&[1, 1, 1], false), (&[1, 0, 1, 0, 1, 0], false)] {
            let table = LineTable::parse(vec![HERE], Sums::new(sums), 0, Numbers { bytes: &two_counts });
            assert_eq!(table.is_some(), makes_sense, "{sums:?}");
        }
    }

    #[test]
    fn numbers_are_read_as_llvm_writes_them() {
        let mut numbers = Numbers { bytes: &[0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f, 0xff, 0x00, 5] };
        assert_eq!(numbers.unsigned(), Some(624_485));
        assert_eq!([numbers.signed(), numbers.signed(), numbers.signed()], [Some(-1), Some(-128), Some(127)]);
        assert_eq!(numbers.index(5), None);
        assert_eq!(numbers.unsigned(), None);
    }
}

/// Parsing arbitrary bytes terminates in memory proportional to their number, and the result can be queried.
#[cfg(test)]
mod properties {
    use proptest::prelude::*;

    use super::{LineTable, Numbers, SourceFunction, Sums};

    const SOURCES: [SourceFunction; 2] = [
        SourceFunction { file: c"/src/a.c", function: c"a" },
        SourceFunction { file: c"/usr/include/b.h", function: c"b" },
    ];

    /// Generates bytes; many small ones, which are more often valid tables.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let small = prop_oneof![8 => 0u8..4, 1 => any::<u8>()];
        prop_oneof![prop::collection::vec(any::<u8>(), 0..200), prop::collection::vec(small, 0..200)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_bytes_make_a_table_that_panics(
            bytes in bytes(),
            sources in 0usize..3,
            edges: Vec<u64>,
            sums in prop::collection::vec(0u16..4, 0..20),
            charges in 0usize..3,
        ) {
            let sources = SOURCES[..sources.min(2)].to_vec();
            if let Some(table) = LineTable::parse(sources, Sums::new(&sums), charges, Numbers { bytes: &bytes }) {
                prop_assert!(table.groups.len() + table.instances.len() <= bytes.len());
                let executed = table.executed(&edges, &edges);
                prop_assert!(executed.len() <= bytes.len());
                let _ = table.edges_of(|_, line| line == 1);
                prop_assert!(table.lines().count() <= bytes.len() && table.functions().count() <= bytes.len());
            }
        }

        #[test]
        fn a_length_that_is_not_there_takes_no_memory(length: u64, rest in bytes()) {
            let mut bytes = Vec::new();
            let mut left = length;
            while left > 0x7f {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
            bytes.extend(rest);
            let _ = LineTable::parse(SOURCES.to_vec(), Sums::default(), 0, Numbers { bytes: &bytes });
        }
    }
}
