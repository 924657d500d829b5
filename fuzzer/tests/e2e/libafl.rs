//! Fuzzers on LibAFL: the example with a compiler of its own, and a harness that libafl_cc's wrapper has compiled.

use crate::common::*;

/// Folder of the example.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/examples/libafl")
}

/// Path of a program of the example, which is built beside quagmire's.
fn program(name: &str) -> PathBuf {
    let path = binaries().join(name);
    assert!(path.exists(), "{} is not there: run scripts/build --all-targets first", path.display());
    path
}

/// Compiles and links the example's target.
#[track_caller]
fn harness(scene: &Scene, compiler: &str, options: &[&str]) -> PathBuf {
    let harness = scene.path("harness");
    let mut command = Command::new(program(compiler));
    run(command.arg(example().join("target.c")).args(options).arg("-o").arg(&harness)).ended();
    harness
}

/// The amounts of instructions that the example's fuzzer has printed.
fn instructions(run: &Run) -> Vec<u64> {
    let amounts = run.stdout.lines().filter_map(|line| line.strip_suffix(" instructions")?.parse().ok());
    amounts.collect()
}

#[test]
fn the_example_compiles_a_target_and_its_own_fuzzer_finds_the_slow_branch() {
    let scene = Scene::new(&[("seed", b"seed")]);
    let harness = harness(&scene, "example-cc", &["-fsanitize=fuzzer"]);
    let fuzz = || run(Command::new(&harness).arg(scene.path("seeds")).arg("20000")).ended();
    let amounts = instructions(&fuzz());
    let (first, last) = (amounts.first().expect("the seed"), amounts.last().expect("the seed"));
    assert!(*first < 100 && *last > 100_000, "{amounts:?}");
    assert_eq!(amounts, instructions(&fuzz()), "counts are exact, and crashes end runs only");
    let other = run(Command::new(&harness).arg("seeds"));
    assert_eq!((other.code, other.stderr.as_str()), (Some(1), "example: usage: SEEDS EXECUTIONS\n"));
}

#[test]
fn configurations_of_libafl_are_outputs_of_their_own() {
    let scene = Scene::new(&[("seed", b"seed")]);
    let object = scene.path("target.o");
    let mut compile = Command::new(program("example-cc"));
    compile.args(["--libafl-configurations", "asan,coverage", "-c"]).arg(example().join("target.c"));
    run(compile.arg("-o").arg(&object)).ended();
    let has =
        |object: &str, symbol: &str| run(Command::new("nm").arg(scene.path(object))).ended().stdout.contains(symbol);
    for (object, is_sanitized) in [("target.o", false), ("target.coverage.o", false), ("target.asan.o", true)] {
        assert_eq!((has(object, "__asan_init"), has(object, "__quagmire_register")), (is_sanitized, true), "{object}");
    }
    let mut refused = Command::new(program("example-cc"));
    let refused = run(refused.args(["--libafl-configurations", "cmplog", "-c", "a.c", "-o", "a.o"]));
    assert!(refused.code == Some(1) && refused.stderr.contains("no second build for operands"), "{refused:#?}");
}

#[test]
fn a_harness_of_libafls_own_wrapper_is_fuzzed() {
    let scene = Scene::new(&[("seed", b"seed")]);
    let harness = harness(&scene, "pcguard-cc", &[]);
    scene.fuzz(&harness, "--execs 10000 --seed 1");
    let summary = scene.summary();
    assert_eq!(summary["target"]["instrumentation"], "sancov-guards");
    let findings = array(&summary["findings"]);
    let is_slow = |finding: &&Value| finding["hot_function"] == "work";
    let slow = findings.iter().find(is_slow).unwrap_or_else(|| panic!("no slow input: {summary:#}"));
    assert!(slow["hot_location"].as_str().is_some_and(|place| place.contains("target.c:")), "{slow:#}");
}
