//! Mutants of a program, read from the table that the pass writes (`compiler-wrapper/passes/mutants/table.h`).

use std::collections::HashMap;

use quagmire_execution::symbols::demangle;
use quagmire_results::score_file::Mutant;

/// A mutant, and the places in the code that it consists of: an inline function in several objects, or a template with several
/// arguments, has it in each of its copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub mutant: Mutant,
    /// Each copy: number of the function, and of the mutant in it.
    pub sites: Vec<(u32, u32)>,
    /// Number of copies of which the compiler makes the same code as of the original.
    equivalent_sites: usize,
    /// Places of the copies in the bytes of a probing run.
    pub probes: Vec<u32>,
}

impl Listed {
    /// Whether the compiler makes the same code of it as of the original, in all of its copies.
    pub(super) fn is_equivalent(&self) -> bool {
        self.equivalent_sites == self.sites.len()
    }
}

/// Reads a table. Lines that make no sense are left out; mutants keep their numbers.
pub(super) fn read(text: &str) -> Vec<Listed> {
    let mut reader = Reader::default();
    for (function, text) in (0..).zip(text.split('\u{c}').skip(1)) {
        reader.function(function, text);
    }
    reader.mutants
}

/// Identity of a mutant: file; line of the table with place, operator and texts; name of the function in the source,
/// without the arguments of templates, since a macro makes several functions in one place; and which of several of them
/// in a function it is.
type Key<'a> = (&'a str, &'a str, &'a str, u32);

#[derive(Default)]
struct Reader<'a> {
    mutants: Vec<Listed>,
    known: HashMap<Key<'a>, usize>,
    /// Bytes of the functions so far.
    probes: u32,
}

impl<'a> Reader<'a> {
    fn function(&mut self, function: u32, text: &'a str) {
        let mut lines = text.lines();
        let (symbol, name) = lines.next().and_then(|line| line.split_once('\t')).unwrap_or_default();
        let source = if name.starts_with("operator<") { name } else { name.split('<').next().unwrap_or_default() };
        // names of C++ functions say which of several they are
        let name = if symbol.starts_with("_Z") { demangle(symbol) } else { name.to_owned() };
        let mut seen: HashMap<(&str, &str), u32> = HashMap::new();
        // mutants by their number in the function
        let mut numbers: Vec<Option<usize>> = Vec::new();
        let mut file = "";
        for line in lines {
            if let Some(equivalents) = line.strip_prefix('~') {
                let equivalents = equivalents.split(',').filter_map(|number| number.parse::<usize>().ok());
                for mutant in equivalents.filter_map(|number| *numbers.get(number)?) {
                    self.mutants[mutant].equivalent_sites += 1;
                }
            } else if let Some(path) = line.strip_prefix('=') {
                file = path;
            } else {
                // a macro makes several of the same kind in one place
                let copy = seen.entry((file, line)).or_default();
                *copy += 1;
                let mutant = self.mutant((file, line, source, *copy), &name);
                if let Some(mutant) = mutant {
                    self.mutants[mutant].sites.push((function, numbers.len() as u32));
                    self.mutants[mutant].probes.push(self.probes);
                }
                numbers.push(mutant);
                self.probes += 1;
            }
        }
    }

    /// Number of a mutant, which is added if it is not known; `None` if its line makes no sense.
    fn mutant(&mut self, key: Key<'a>, function: &str) -> Option<usize> {
        if let Some(&known) = self.known.get(&key) {
            return Some(known);
        }
        self.mutants.push(Listed { mutant: mutant(key, function)?, ..Listed::default() });
        self.known.insert(key, self.mutants.len() - 1);
        Some(self.mutants.len() - 1)
    }
}

fn mutant((file, line, source, copy): Key, function: &str) -> Option<Mutant> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let [line_number, column] = [next()?.parse().ok()?, next()?.parse().ok()?];
    let [operator, was, became] = [next()?, next()?, next()?].map(str::to_owned);
    let gate = next().and_then(|past| Some((past.parse().ok()?, next()?.to_owned())));
    let (gate, gate_unit) = gate.unzip();
    Some(Mutant {
        id: id(file, source, line, copy),
        file: file.to_owned(),
        line: line_number,
        column,
        function: function.to_owned(),
        operator,
        was,
        became,
        gate,
        gate_unit,
        is_run: next() == Some("run"),
    })
}

/// ID of a mutant, as `compiler-wrapper/runtime/mutants_named.c` computes it.
fn id(file: &str, source: &str, line: &str, copy: u32) -> String {
    let name = file.rsplit('/').next().unwrap_or_default();
    let text = format!("{name}\t{source}\t{line}\t{copy}");
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{:012x}", hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_an_inline_function_are_one_mutant_and_two_of_a_macro_are_two() {
        let text = "\u{c}_Z1bIcEvi\tb<char>\n=/x.h\n3\t4\tarithmetic\t+\t-\n3\t4\tarithmetic\t+\t-\n=/x.c\n9\t1\tconstant\t1\t0\n\
                    \u{c}_Z1bIiEvi\tb<int>\n=/x.h\n3\t4\tarithmetic\t+\t-\nnonsense\n5\t6\tshift\t<<\t>>\n";
        let table = read(text);
        let found: Vec<_> =
            table.iter().map(|m| (&*m.mutant.file, m.mutant.line, &*m.mutant.function, &*m.sites)).collect();
        let expected = [
            ("/x.h", 3, "void b<char>(int)", &[(0, 0), (1, 0)][..]),
            ("/x.h", 3, "void b<char>(int)", &[(0, 1)]),
            ("/x.c", 9, "void b<char>(int)", &[(0, 2)]),
            ("/x.h", 5, "void b<int>(int)", &[(1, 2)]),
        ];
        assert_eq!(found, expected);
        assert_eq!(table.iter().map(|m| m.probes.clone()).collect::<Vec<_>>(), [vec![0, 3], vec![1], vec![2], vec![5]]);
    }

    #[test]
    fn an_id_is_that_of_the_source_wherever_that_lies() {
        let of = |folder: &str, before: &str| {
            let text = format!("{before}\u{c}f\tf\n={folder}x.c\n7\t1\tloop-squared\tloop\tsquared\t256\trounds\n");
            read(&text).pop().expect("a mutant").mutant
        };
        let (here, there) = (of("/a/", ""), of("", "\u{c}g\tg\n=/y.c\n7\t1\tshift\t<<\t>>\n"));
        assert_eq!((&*here.id, &*there.id), ("9b1a5671fe09", "9b1a5671fe09"));
        assert_eq!((here.gate, here.gate_unit.as_deref(), here.is_run), (Some(256), Some("rounds"), false));
        assert_ne!(id("x.c", "f", "7\t1\tshift\t<<\t>>", 1), id("x.c", "f", "7\t1\tshift\t<<\t>>", 2));
    }

    #[test]
    fn a_line_says_whether_a_mutant_is_run() {
        let line = "7\t0\thash-degraded\thash()\tit returns 0\t16\thashes";
        let of = |end: &str| read(&format!("\u{c}f\tf\n=/x.c\n{line}{end}\n")).remove(0).mutant.is_run;
        assert_eq!([of(""), of("\trun")], [false, true]);
    }

    #[test]
    fn a_mutant_is_equivalent_if_all_of_its_copies_are() {
        let lines = "=/x.h\n3\t4\tconstant\t0\t1\n3\t9\tconstant\t0\t1\n";
        let text = format!("\u{c}f\tf\n{lines}~0,1\n\u{c}f\tf\n{lines}~1,7\n\u{c}g\tg\n=/y.c\n1\t1\tshift\t<<\t>>\n");
        let table = read(&text);
        assert_eq!(table.iter().map(Listed::is_equivalent).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(table[2].probes, [4]);
    }

    #[test]
    fn functions_that_one_macro_makes_have_mutants_of_their_own() {
        let text = "\u{c}f\tf\n=/x.c\n7\t1\tshift\t<<\t>>\n\u{c}g\tg\n=/x.c\n7\t1\tshift\t<<\t>>\n";
        let functions: Vec<String> = read(text).into_iter().map(|one| one.mutant.function).collect();
        assert_eq!(functions, ["f", "g"]);
    }
}
