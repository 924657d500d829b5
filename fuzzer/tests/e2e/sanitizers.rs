//! Harnesses that are also built with a sanitizer.

use crate::common::*;

#[test]
fn address_sanitizer_reports_of_seeds_and_mutants_become_faults() {
    let harness = harness_with("overflow.c", &["-fsanitize=address"]);
    let scene = Scene::new(&[("plain", b"  "), ("overflow", b"!hello")]);
    scene.fuzz(&harness, "--execs 1500 --seed 1 --max-size 16").ended();
    assert_eq!(scene.summary()["executions"], 1500);
    let faults = scene.files("out/faults");
    assert!(faults.values().any(|bytes| bytes == b"!hello"), "{faults:?}");
    assert!(scene.log().contains("sanitizer report: faults/"), "{}", scene.log());
    let scene = Scene::new(&[("plain", b"  ")]);
    scene.fuzz(&harness, "--execs 1500 --seed 1 --max-size 16").ended();
    let faults = scene.files("out/faults");
    assert!(!faults.is_empty() && faults.values().all(|bytes| bytes[0] == b'!'), "{faults:?}");
}

#[test]
fn undefined_behaviour_sanitizer_builds_and_runs() {
    let harness = built("quadratic.c", &["-g", "-O1", "-fsanitize=fuzzer,undefined"], None);
    let scene = Scene::new(&[("plain", b"hello")]);
    scene.fuzz(&harness, "--execs 2000 --seed 1 --max-size 100").ended();
    assert_eq!(scene.summary()["executions"], 2000);
}

#[test]
fn memory_sanitizer_takes_what_the_engine_has_written_for_initialised() {
    let scene = Scene::new(&[("record", b"text")]);
    let harness = scene.path("harness");
    let mut command = Command::new(binaries().join("quagmire-cc"));
    command.args(["-g", "-O1", "-fsanitize=fuzzer", "-fsanitize=memory"]).arg(testdata("custom_mutator.c"));
    run(command.arg("-o").arg(&harness)).ended();
    // havoc, rules and the harness's own mutator and crossover
    scene.fuzz(&harness, "--execs 2000 --seed 1 --no-confirm").succeeded();
    assert_eq!(scene.summary()["faults"], 0, "{}", scene.log());
}
