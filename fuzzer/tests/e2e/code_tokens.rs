//! Tests of the tokens of the code: keywords are found without a dictionary, and the campaign says which.

use crate::common::*;

const SEED: [(&str, &[u8]); 1] = [("plain", b"an ordinary text of forty bytes or so")];
// comparisons lead to the keywords as well
const OPTIONS: &str = "--execs 20000 --seed 3 --max-size 64 --no-confirm --rules T,havoc,splice,tokens";

/// Numbers of keywords, one behind the other, that entries begin with.
fn spelt(scene: &Scene) -> usize {
    let keywords: [&[u8]; 3] = [b"<!ENTITY", b"<!ENTITY\"SYSTEM\"", b"<!ENTITY\"SYSTEM\"[NDATA]>"];
    let entries = scene.files("out/queue");
    keywords.iter().filter(|start| entries.values().any(|bytes| bytes.starts_with(start))).count()
}

fn works(program: &Path) {
    let scene = Scene::new(&SEED);
    let end = scene.fuzz(program, OPTIONS).ended();
    assert!(end.stdout.contains("Tokens that paid, of ") && end.stdout.contains("\"<!ENTITY\" ("), "{}", end.stdout);
    let same = Scene::new(&SEED);
    same.fuzz(program, OPTIONS).ended();
    assert_eq!(scene.files("out/queue"), same.files("out/queue"), "it is repeatable");
    let summary = scene.summary();
    assert_eq!(spelt(&scene), 3, "{}", summary["dictionary"]);
    let useful = array(&summary["dictionary"]["useful"]);
    let has = |token: &str| useful.iter().any(|of| of["token"] == token && of["entries"].as_u64() > Some(0));
    assert!(has("<!ENTITY") && has("\\\"SYSTEM\\\"") && has("[NDATA]>"), "{useful:?}");

    let without = Scene::new(&SEED);
    without.fuzz(program, &format!("{OPTIONS} --no-auto-dict")).ended();
    assert_eq!(spelt(&without), 0);
    assert_eq!(without.summary()["dictionary"], Value::Null);

    // what it recommends is a dictionary
    fs::copy(scene.path("out/recommended.dict"), without.path("tokens.dict")).expect("copied");
    without.fuzz(program, &format!("{OPTIONS} --no-auto-dict --force -x tokens.dict")).ended();
    assert_eq!(spelt(&without), 3, "{}", without.summary()["dictionary"]);
}

#[test]
fn keywords_are_found_without_a_dictionary() {
    works(&harness("nested_keywords.c"));
    works(&built("nested_keywords.c", &["-g", "-O1", "-DPROGRAM"], None));
}
