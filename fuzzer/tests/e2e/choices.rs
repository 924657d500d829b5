//! Choices: campaigns with grammars, and over harnesses that draw.

use crate::common::*;

/// Runs a campaign over `nested_lists.c` by its grammar, without seeds.
fn by_grammar(scene: &Scene, options: &str) -> Run {
    let grammar = testdata("nested_lists.json");
    with_grammar(scene, &grammar, &format!("--execs 4000 --seed 1 --max-size 2000 {options}"))
}

fn with_grammar(scene: &Scene, grammar: &Path, options: &str) -> Run {
    let mut command = scene.quagmire(&["fuzz", "-o", "out", "--grammar"]);
    command.arg(grammar).args(options.split_whitespace()).arg("--").arg(harness("nested_lists.c"));
    run(&mut command)
}

/// Operators that made the entries of a queue.
fn operators(scene: &Scene) -> Vec<String> {
    let queue = scene.files("out/queue");
    let of = |name: &String| name.split("op_").nth(1).map(|rest| rest.split(',').next().unwrap_or("").to_owned());
    queue.keys().filter_map(of).flat_map(|all| all.split('+').map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn a_grammar_makes_the_first_inputs_and_mutants_part_by_part() {
    let [scene, same, zest] = [(); 3].map(|()| Scene::new(&[]));
    for (scene, options) in [(&scene, ""), (&same, ""), (&zest, "--choices zest")] {
        by_grammar(scene, &format!("--no-confirm {options}")).ended();
    }
    // they repeat by their seed
    assert_eq!(scene.files("out/queue"), same.files("out/queue"));
    assert_ne!(scene.files("out/queue"), zest.files("out/queue"));
    let seeds = scene.files("out/queue").into_keys().filter(|name| name.contains("orig_generated")).count();
    assert_eq!(seeds, 32);
    let operators = operators(&scene);
    for operator in ["splice-part", "repeat-part", "nest-part"] {
        assert!(operators.iter().any(|one| one == operator), "{operator}: {operators:?}");
    }
}

#[test]
fn what_is_quadratic_in_the_depth_is_found_by_nesting_and_the_finding_shows_its_parts() {
    let scene = Scene::new(&[]);
    by_grammar(&scene, "--threshold 3 --rules splice-part,repeat-part,nest-part").ended();
    let summary = scene.summary();
    let findings = array(&summary["findings"]);
    let nested = findings.iter().find(|finding| finding["parts"].to_string().contains("nested"));
    let finding = nested.unwrap_or_else(|| panic!("no nested finding: {findings:#?}"));
    assert!(string(&finding["hot_function"]).contains("compare"), "{finding:#}");
}

#[test]
fn seeds_that_the_grammar_does_not_describe_are_bytes_and_are_counted() {
    let scene = Scene::new(&[("a", b"(a (b c))"), ("b", b"(a"), ("c", b"<html>")]);
    let run =
        with_grammar(&scene, &testdata("nested_lists.json"), "-i seeds --execs 500 --seed 1 --no-confirm").ended();
    assert!(run.stdout.contains("does not describe 2 of 3 seeds"), "{run:#?}");
}

#[test]
fn a_grammar_that_cannot_be_used_is_refused_with_its_line() {
    let scene = Scene::new(&[]);
    for (text, words) in [
        ("{\n\"<start>\": [[\"a\", \"<b>\"]]\n}", "<b>"),
        ("{\n\"<start>\": [[\"a\" \"b\"]]\n}", ":2:"),
        ("{\"<start>\": [[\"(\", \"<start>\", \")\"]]}", "<start>"),
        ("", "empty"),
    ] {
        let grammar = scene.write("grammar.json", text.as_bytes());
        with_grammar(&scene, &grammar, "--execs 100").refused(2, &["grammar.json", words]);
    }
    with_grammar(&scene, Path::new("missing.json"), "--execs 100").refused(2, &["missing.json"]);
    let grammar = testdata("nested_lists.json");
    with_grammar(&scene, &grammar, "--execs 100 --choices some").refused(2, &["--choices", "simple", "zest"]);
}

/// Edges that campaigns over `drawn_calls.cc` find, in all.
fn edges_of_drawn_calls(options: &str) -> u64 {
    let of_one = |seed: u64| {
        let scene = Scene::new(&[("a", b"hello"), ("b", &[1; 40])]);
        let options = format!("--execs 12000 --seed {seed} --max-size 400 --no-confirm {options}");
        scene.fuzz(&harness("drawn_calls.cc"), &options).ended();
        number(&scene.summary()["edges_found"])
    };
    (1..=3).map(of_one).sum()
}

#[test]
fn draws_that_are_seen_lead_further_than_bytes() {
    let (seen, unseen) = (edges_of_drawn_calls(""), edges_of_drawn_calls("--choices off"));
    assert!(seen > unseen, "{seen} edges by draws, {unseen} by bytes");
}

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
