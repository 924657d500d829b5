//! The command `quagmire mine`: grammars from examples and a program that accepts or rejects.

use crate::common::*;

const EXAMPLES: [(&str, &[u8]); 6] = [
    ("a", b"1 + 2"),
    ("b", b"f(x, y1) * (3 - 4.5)"),
    ("c", b"-a / (g(1) + 22)"),
    ("d", b"h(-1,2,zz)^2"),
    ("e", b"((7))"),
    ("f", b"10*b-c"),
];

#[test]
fn a_grammar_of_arithmetic_is_mined_in_process_and_describes_other_inputs() {
    let scene = Scene::new(&EXAMPLES);
    scene.write("other/a", b"(1 + f(g(2.25 ^ x), -3)) * 4");
    scene.write("other/b", b"k / 12 - (((y)))");
    let arithmetic = built("formats.c", &["-g", "-O1", "-fsanitize=fuzzer", "-DFORMAT=ARITHMETIC"], None);
    let mined = scene.ask("mine seeds -o grammar.json --check other", &arithmetic).succeeded();
    assert!(mined.stderr.contains("recall 1.000: 2 of 2 files"), "{mined:#?}");
    let grammar = scene.read("grammar.json");
    let grammar: Value = serde_json::from_str(&grammar).expect("JSON");
    assert!(grammar["<start>"].is_array(), "{grammar:#}");
}

#[test]
fn programs_that_accept_everything_or_nothing_are_refused_in_one_line() {
    let scene = Scene::new(&EXAMPLES);
    scene.ask("mine seeds -o grammar.json", &harness("quadratic.c")).refused(3, &["accepts everything", "-1"]);
    scene.ask("mine seeds -o grammar.json", &harness("rejects.c")).refused(3, &["accepts none of 6 examples"]);
    assert!(!scene.path("grammar.json").exists());
}
