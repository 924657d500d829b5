//! Counts of the instrumentation, in programs whose counts are known.

use std::path::{Path, PathBuf};

use crate::common::{Scene, built, compiler, llvms, number, run, testdata};
use serde_json::Value;

fn sized(shape: u8, n: u32) -> Vec<u8> {
    let mut input = vec![shape];
    input.extend(n.to_le_bytes());
    input
}

/// Asserts that a shape of `counts.c` costs linearly: run with n, 2n and 3n, every amount grows by the same. The body
/// is executed `per_n` times for each n. The hottest edge may be executed less often, since loops go back once less
/// than they run, are unrolled, and blocks that always run together share a counter; the instructions may not.
#[track_caller]
fn grows_linearly(shape: u8, n: u32, per_n: u64) {
    for llvm in llvms() {
        for level in ["-O0", "-O1", "-O2"] {
            let harness = built("counts.c", &["-g", level, "-fsanitize=fuzzer"], Some(llvm));
            let inputs: Vec<Vec<u8>> = (1..4).map(|times| sized(shape, times * n)).collect();
            let scene = Scene::new(&[("1", &inputs[0]), ("2", &inputs[1]), ("3", &inputs[2])]);
            let costs = scene.replay(&harness, "-n 2", &["seeds/1", "seeds/2", "seeds/3"].map(Path::new));
            for key in ["instructions", "edges", "hottest_edge"] {
                let [one, two, three] = [0, 1, 2].map(|at: usize| number(&costs[at][key]));
                assert!(one < two && two - one == three - two, "{key} {level} LLVM {llvm}: {one} {two} {three}");
            }
            let [one, two] = [0, 1].map(|at: usize| number(&costs[at]["hottest_edge"]));
            let n = u64::from(n);
            assert!((n..=per_n * n).contains(&(two - one)), "hottest {level} LLVM {llvm}: {one} {two}");
            let [one, two] = [0, 1].map(|at: usize| number(&costs[at]["instructions"]));
            assert!(two - one >= per_n * n, "instructions {level} LLVM {llvm}: {one} {two}");
        }
    }
}

#[test]
fn a_loop_is_counted_once_an_iteration() {
    grows_linearly(b'l', 1000, 1);
}

#[test]
fn nested_loops_multiply() {
    // the condition of the inner loop is looked at once more than its body runs
    grows_linearly(b'n', 100, 8);
}

#[test]
fn the_cases_of_a_switch_are_counted() {
    grows_linearly(b's', 100, 4);
}

#[test]
fn returns_by_longjmp_are_counted() {
    grows_linearly(b'j', 100, 1);
}

#[test]
fn recursion_is_counted() {
    grows_linearly(b'r', 100, 1);
}

/// Builds an instrumented shared library in the folder of the scene.
fn library(scene: &Scene) -> PathBuf {
    let path = scene.path("liblibrary.so");
    let mut command = compiler("library.c", None);
    let output = command.args(["-g", "-O1", "-fPIC", "-shared"]).arg(testdata("library.c")).arg("-o").arg(&path);
    let output = output.output().expect("quagmire-cc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

fn the_library_is_counted(costs: &[Value]) {
    for (cost, size) in costs.iter().zip([10_000, 20_000]) {
        assert_eq!(cost["status"], "returned", "{cost:#}");
        let hottest = number(&cost["hottest_edge"]);
        assert!((size - 1..=size + 1).contains(&hottest), "{hottest} {size}");
    }
}

#[test]
fn a_shared_library_that_is_linked_is_counted() {
    let scene = Scene::new(&[("1", &[b'x'; 10]), ("2", &[b'x'; 20])]);
    let library = library(&scene);
    let harness = scene.path("links");
    let mut command = compiler("links.c", None);
    command.args(["-g", "-O1", "-fsanitize=fuzzer"]).arg(testdata("links.c")).arg(&library).arg("-o").arg(&harness);
    run(&mut command).ended();
    let costs = scene.replay(&harness, "", &["seeds/1", "seeds/2"].map(Path::new));
    the_library_is_counted(&costs);
    assert_eq!(costs[0]["functions"][0]["function"], "library_loop");
}

/// Builds a harness that opens that library in its first run.
fn opening(scene: &Scene) -> PathBuf {
    let library = library(scene);
    let harness = scene.path("opens");
    let mut command = compiler("opens.c", None);
    command.args(["-g", "-O1", "-fsanitize=fuzzer"]).arg(format!("-DLIBRARY=\"{}\"", library.display()));
    command.arg(testdata("opens.c")).arg("-o").arg(&harness);
    run(&mut command).ended();
    harness
}

#[test]
fn a_shared_library_that_is_opened_at_run_time_is_counted() {
    let scene = Scene::new(&[("1", &[b'x'; 10]), ("2", &[b'x'; 20])]);
    let harness = opening(&scene);
    the_library_is_counted(&scene.replay(&harness, "", &["seeds/1", "seeds/2"].map(Path::new)));
    scene.fuzz(&harness, "--execs 2000 --seed 1 --max-size 100 --relative-to seed").ended();
    assert!(scene.summary()["worst"]["instructions_ratio"].as_f64().expect("a ratio") > 1.5, "{:#}", scene.summary());
}

#[test]
fn functions_of_a_library_that_is_opened_at_run_time_are_named() {
    let scene = Scene::new(&[("1", &[b'x'; 10])]);
    let costs = scene.replay(&opening(&scene), "", &[Path::new("seeds/1")]);
    assert_eq!(costs[0]["functions"][0]["function"], "library_loop");
    let line = &costs[0]["lines"][0];
    assert!(line["file"].as_str().is_some_and(|file| file.ends_with("/library.c")), "{line:#}");
}
