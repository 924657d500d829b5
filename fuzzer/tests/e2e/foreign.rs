//! Objects that somebody else has built, in ways that do not fit.

use crate::{common::*, sancov::linked, sancov::object};

const COUNTERS: &str = "-fsanitize=fuzzer-no-link";

#[test]
fn objects_of_sanitizer_coverage_are_refused_under_the_fork_server_with_the_remedy() {
    let scene = Scene::new(&[("1", b"a")]);
    for option in [COUNTERS, "-fsanitize-coverage=trace-pc-guard", "-fsanitize-coverage=inline-bool-flag,trace-cmp"] {
        let object = object(&scene, "clang", "sancov.c", &[option]);
        let harness = scene.path("driven");
        let mut link = Command::new(binaries().join("quagmire-cc"));
        link.env("QUAGMIRE_DRIVER", "1").arg(object).args(["-fsanitize=fuzzer", "-o"]).arg(&harness);
        run(&mut link).ended();
        let refused = scene.fuzz(&harness, "--execs 10 --force");
        refused.refused(3, &["SanitizerCoverage", "quagmire-cc", "QUAGMIRE_DRIVER"]);
        // by itself it does what it does
        assert_eq!(run(Command::new(&harness).arg(scene.path("seeds/1"))).code, Some(0));
    }
}

#[test]
fn objects_of_another_llvm_are_counted_alike() {
    let scene = Scene::new(&[("1", b"q---------")]);
    for compiler in ["clang-14", "clang"] {
        if !has_program(compiler, "llvm-14") {
            continue;
        }
        let object = object(&scene, compiler, "sancov.c", &[COUNTERS]);
        let harness = linked(&scene, compiler, &[&object], &[]);
        let report = scene.replay(&harness, "-n 1", &[&scene.path("seeds/1")]).swap_remove(0);
        assert_eq!(number(&report["costs"]["hottest-edge"]), 10, "{compiler}: {report:#}");
    }
}

#[test]
fn objects_that_lack_a_harness_or_the_runtime_of_afl_do_not_link_and_the_message_names_what_is_missing() {
    let scene = Scene::new(&[]);
    let fails = |object: &Path, missing: &str| {
        let mut link = Command::new(binaries().join("quagmire-cc"));
        let ended = run(link.arg(object).args(["-fsanitize=fuzzer", "-o"]).arg(scene.path("harness")));
        assert!(ended.code == Some(1) && ended.stderr.contains(missing), "{ended:#?}");
    };
    fails(&object(&scene, "clang", "sancov_library.c", &[COUNTERS]), "LLVMFuzzerTestOneInput");
    if has_program("afl-clang-fast", "afl++") {
        let object = scene.path("afl.o");
        let mut compile = Command::new("afl-clang-fast");
        assert_eq!(run(compile.arg("-c").arg(testdata("sancov.c")).arg("-o").arg(&object)).code, Some(0));
        fails(&object, "__afl_");
    }
}

#[test]
fn the_engine_twice_in_a_link_is_one_engine() {
    let scene = Scene::new(&[("1", b"a")]);
    let (object, engine) = (object(&scene, "clang", "sancov.c", &[COUNTERS]), binaries().join("libquagmire_engine.a"));
    let harness = scene.path("twice");
    let mut link = Command::new("clang++");
    link.arg(object).args([&engine, &engine]).args(["-lpthread", "-ldl", "-lm", "-lrt", "-o"]).arg(&harness);
    run(&mut link).ended();
    let ended = run(Command::new(&harness).arg("-runs=1").arg(scene.path("seeds")));
    assert!(ended.code == Some(0) && ended.stderr.contains("Loaded 1 modules"), "{ended:#?}");
}

#[test]
fn a_pc_table_that_comes_before_its_guards_is_theirs() {
    let scene = Scene::new(&[("1", b"a-a"), ("2", b"q---------")]);
    let object = object(&scene, "clang", "sancov_early.c", &[]);
    let harness = linked(&scene, "early", &[&object], &[]);
    let inputs = scene.replay(&harness, "-n 1", &[&scene.path("seeds/1"), &scene.path("seeds/2")]);
    for (input, edges) in inputs.iter().zip([4, 11]) {
        assert_eq!(number(&input["costs"]["edges"]), edges, "{input:#}");
        assert_eq!(input["functions"][0]["function"], "LLVMFuzzerTestOneInput", "{input:#}");
    }
}
