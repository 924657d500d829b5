//! Second opinion on grammars: parsers and generators of Python.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use libafl_bolts::rands::StdRand;
use quagmire_choices::grammar::{Grammar, Limits};

fn grammar(name: &str) -> Grammar {
    Grammar::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)).expect("a grammar")
}

/// Returns the output of a program in Python for an input.
fn python(program: &str, input: &[u8]) -> String {
    let mut command = Command::new("python3");
    command.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("python3, which scripts/install-deps installs");
    child.stdin.take().expect("a pipe").write_all(input).expect("a program that reads");
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("a text")
}

/// Generated inputs, each with its length in a line before it.
fn generated(grammar: &Grammar) -> Vec<u8> {
    let mut rand = StdRand::with_seed(11);
    let mut all = Vec::new();
    for number in 0..1000 {
        let limits = Limits { size: 1 + number * 4, depth: 1 + number / 50 };
        let input = grammar.generate(&mut rand, &limits).bytes;
        all.extend(format!("{}\n", input.len()).into_bytes());
        all.extend(input);
    }
    all
}

/// Reads what [`generated`] writes, and gives each input to `parse`.
const READ: &str = "
import sys
sys.setrecursionlimit(100000)
source, parsed = sys.stdin.buffer, 0
while line := source.readline():
    text = source.read(int(line))
    parse(text)
    parsed += 1
print(parsed)
";

#[test]
fn python_parses_what_is_generated() {
    let json = format!("import json\nparse = json.loads\n{READ}");
    assert_eq!(python(&json, &generated(&grammar("json.json"))), "1000\n");
    let xml = format!("import xml.etree.ElementTree\nparse = xml.etree.ElementTree.fromstring\n{READ}");
    assert_eq!(python(&xml, &generated(&grammar("xml.json"))), "1000\n");
}

#[test]
fn what_python_writes_is_parsed() {
    let program = "
import json, random
source = random.Random(5)
def text():
    return ''.join(source.choice('abcxyzAZ019 -_.,:/[]{}\"\\\\\\n') for _ in range(source.randrange(9)))
def value(depth):
    kind = source.randrange(7 if depth else 5)
    if kind == 0: return source.choice([True, False, None])
    if kind == 1: return source.randrange(-10**6, 10**6)
    if kind == 2: return source.uniform(-1, 1) * 10 ** source.randrange(-30, 30)
    if kind in (3, 4): return text()
    if kind == 5: return [value(depth - 1) for _ in range(source.randrange(6))]
    return {text(): value(depth - 1) for _ in range(source.randrange(6))}
for number in range(500):
    one = json.dumps(value(5), indent=source.choice([None, 1]), separators=source.choice([None, (',', ':')]))
    print(one, end='\\0')
";
    let grammar = grammar("json.json");
    let written = python(program, b"");
    let texts: Vec<&str> = written.split_terminator('\0').collect();
    assert_eq!(texts.len(), 500);
    for text in texts {
        let tree = grammar.parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
        assert!(tree.is_sound() && tree.bytes == text.as_bytes());
        // what is cut off is no JSON, unless a number is left
        let cut = &text[..text.len() - 1];
        assert!(text.starts_with(|c: char| c.is_ascii_digit() || c == '-') || grammar.parse(cut.as_bytes()).is_none());
    }
}
