//! Mutants of a program, read from the table that the pass writes (`compiler-wrapper/passes/mutants/table.h`).

use std::{collections::HashMap, fmt::Write as _};

use quagmire_execution::symbols::demangle;

/// Mutants of a program, and the places in its code that each of them consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub mutants: Vec<Mutant>,
}

/// A small fault in the source, or a place that could be slower. An inline function in several objects, or a template with several arguments, has it in
/// each of its copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mutant {
    /// Name by which `QUAGMIRE_MUTANT` chooses it: the same in each build of a source.
    pub id: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// Name of the function, demangled.
    pub function: String,
    /// Name of the operator.
    pub operator: String,
    /// Source text that changes, as far as the compiler knows it.
    pub was: String,
    /// Source text that it becomes.
    pub became: String,
    /// Amount past which a performance mutant slows something down.
    pub gate: Option<Gate>,
    /// Whether it is run, since its cost cannot be charged.
    pub is_run: bool,
    /// Whether the compiler makes the same code of it as of the original, in all of its copies.
    pub is_equivalent: bool,
    /// Each copy: number of the function, and of the mutant in it.
    pub sites: Vec<(u32, u32)>,
    /// Places of the copies in the bytes of a probing run.
    pub probes: Vec<u32>,
}

/// Amount past which a performance mutant slows something down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gate {
    /// 0, 16, 256 or 4,096.
    pub past: u64,
    /// Unit of the amount: `rounds`, `elements`, `bytes`, `hashes` or `hits`.
    pub unit: String,
}

impl Table {
    /// Reads a table. Lines that make no sense are left out; mutants keep their numbers.
    pub(super) fn read(text: &str) -> Self {
        let mut reader = Reader::default();
        for (function, text) in (0..).zip(text.split('\u{c}').skip(1)) {
            reader.function(function, text);
        }
        for (mutant, sites) in reader.equivalent_sites {
            let mutant = &mut reader.mutants[mutant];
            mutant.is_equivalent = sites == mutant.sites.len();
        }
        Self { mutants: reader.mutants }
    }
}

/// Identity of a mutant: file; line of the table with place, operator and texts; name of the function in the source,
/// without the arguments of templates, since a macro makes several functions in one place; and which of several of them
/// in a function it is.
type Key<'a> = (&'a str, &'a str, &'a str, u32);

#[derive(Default)]
struct Reader<'a> {
    mutants: Vec<Mutant>,
    known: HashMap<Key<'a>, usize>,
    /// Bytes of the functions so far.
    probes: u32,
    /// Number of equivalent copies by mutant.
    equivalent_sites: HashMap<usize, usize>,
}

impl<'a> Reader<'a> {
    fn function(&mut self, function: u32, text: &'a str) {
        let mut lines = text.lines();
        let (symbol, name) = lines.next().and_then(|line| line.split_once('\t')).unwrap_or_default();
        let source = if name.starts_with("operator<") { name } else { name.split('<').next().unwrap_or_default() };
        // names of C++ functions say which of several they are
        let name = if symbol.starts_with("_Z") { demangle(symbol) } else { name.to_owned() };
        let mut seen: HashMap<(&str, &str), u32> = HashMap::new();
        let mut numbers = Vec::new();
        let (mut file, mut number) = ("", 0);
        for line in lines {
            if let Some(equivalents) = line.strip_prefix('~') {
                self.keep_equivalents(&numbers, equivalents);
                continue;
            }
            if let Some(path) = line.strip_prefix('=') {
                file = path;
                continue;
            }
            // a macro makes several of the same kind in one place
            let copy = seen.entry((file, line)).or_default();
            *copy += 1;
            let site = (function, number);
            match self.known.get(&(file, line, source, *copy)) {
                Some(&known) => {
                    self.mutants[known].sites.push(site);
                    self.mutants[known].probes.push(self.probes);
                    numbers.push(Some(known));
                }
                None => {
                    let id = id(file, source, line, *copy);
                    if let Some(mutant) = mutant(id, file, line, &name, site, self.probes) {
                        self.known.insert((file, line, source, *copy), self.mutants.len());
                        numbers.push(Some(self.mutants.len()));
                        self.mutants.push(mutant);
                    } else {
                        numbers.push(None);
                    }
                }
            }
            number += 1;
            self.probes += 1;
        }
    }

    /// Notes which mutants of a function are equivalent: those of which all copies so far are. `numbers` are the mutants by their
    /// number in the function.
    fn keep_equivalents(&mut self, numbers: &[Option<usize>], equivalents: &str) {
        for number in equivalents.split(',').filter_map(|number| number.parse::<usize>().ok()) {
            if let Some(&Some(mutant)) = numbers.get(number) {
                self.equivalent_sites.entry(mutant).and_modify(|sites| *sites += 1).or_insert(1);
            }
        }
    }
}

fn mutant(id: String, file: &str, line: &str, function: &str, site: (u32, u32), probe: u32) -> Option<Mutant> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    Some(Mutant {
        id,
        line: next()?.parse().ok()?,
        column: next()?.parse().ok()?,
        operator: next()?.to_owned(),
        was: next()?.to_owned(),
        became: next()?.to_owned(),
        gate: next().and_then(|past| Some(Gate { past: past.parse().ok()?, unit: next()?.to_owned() })),
        file: file.to_owned(),
        is_run: next() == Some("run"),
        function: function.to_owned(),
        is_equivalent: false,
        sites: vec![site],
        probes: vec![probe],
    })
}

/// ID of a mutant, as `compiler-wrapper/runtime/mutants_named.c` computes it.
fn id(file: &str, source: &str, line: &str, copy: u32) -> String {
    let name = file.rsplit('/').next().unwrap_or_default();
    let text = format!("{name}\t{source}\t{line}\t{copy}");
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let mut id = String::new();
    let _ = write!(id, "{:012x}", hash >> 16);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_an_inline_function_are_one_mutant_and_two_of_a_macro_are_two() {
        let text = "\u{c}_Z1bIcEvi\tb<char>\n=/x.h\n3\t4\tarithmetic\t+\t-\n3\t4\tarithmetic\t+\t-\n=/x.c\n9\t1\tconstant\t1\t0\n\
                    \u{c}_Z1bIiEvi\tb<int>\n=/x.h\n3\t4\tarithmetic\t+\t-\nnonsense\n5\t6\tshift\t<<\t>>\n";
        let table = Table::read(text);
        let found: Vec<_> = table.mutants.iter().map(|m| (&*m.file, m.line, &*m.function, &*m.sites)).collect();
        let expected = [
            ("/x.h", 3, "void b<char>(int)", &[(0, 0), (1, 0)][..]),
            ("/x.h", 3, "void b<char>(int)", &[(0, 1)]),
            ("/x.c", 9, "void b<char>(int)", &[(0, 2)]),
            ("/x.h", 5, "void b<int>(int)", &[(1, 2)]),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            table.mutants.iter().map(|m| m.probes.clone()).collect::<Vec<_>>(),
            [vec![0, 3], vec![1], vec![2], vec![5]]
        );
    }

    #[test]
    fn an_id_is_that_of_the_source_wherever_that_lies() {
        let of = |folder: &str, before: &str| {
            let text = format!("{before}\u{c}f\tf\n={folder}x.c\n7\t1\tloop-squared\tloop\tsquared\t256\trounds\n");
            Table::read(&text).mutants.pop().expect("a mutant")
        };
        let (here, there) = (of("/a/", ""), of("", "\u{c}g\tg\n=/y.c\n7\t1\tshift\t<<\t>>\n"));
        assert_eq!((&*here.id, &*there.id), ("9b1a5671fe09", "9b1a5671fe09"));
        assert_eq!((here.gate, here.is_run), (Some(Gate { past: 256, unit: "rounds".into() }), false));
        assert_ne!(id("x.c", "f", "7\t1\tshift\t<<\t>>", 1), id("x.c", "f", "7\t1\tshift\t<<\t>>", 2));
    }

    #[test]
    fn a_line_says_whether_a_mutant_is_run() {
        let line = "7\t0\thash-degraded\thash()\tit returns 0\t16\thashes";
        let of = |end: &str| Table::read(&format!("\u{c}f\tf\n=/x.c\n{line}{end}\n")).mutants.remove(0).is_run;
        assert_eq!([of(""), of("\trun")], [false, true]);
    }

    #[test]
    fn a_mutant_is_equivalent_if_all_of_its_copies_are() {
        let lines = "=/x.h\n3\t4\tconstant\t0\t1\n3\t9\tconstant\t0\t1\n";
        let text = format!("\u{c}f\tf\n{lines}~0,1\n\u{c}f\tf\n{lines}~1,7\n\u{c}g\tg\n=/y.c\n1\t1\tshift\t<<\t>>\n");
        let table = Table::read(&text);
        assert_eq!(table.mutants.iter().map(|one| one.is_equivalent).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(table.mutants[2].probes, [4]);
    }

    #[test]
    fn functions_that_one_macro_makes_have_mutants_of_their_own() {
        let text = "\u{c}f\tf\n=/x.c\n7\t1\tshift\t<<\t>>\n\u{c}g\tg\n=/x.c\n7\t1\tshift\t<<\t>>\n";
        let functions: Vec<String> = Table::read(text).mutants.into_iter().map(|mutant| mutant.function).collect();
        assert_eq!(functions, ["f", "g"]);
    }
}
