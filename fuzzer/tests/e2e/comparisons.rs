//! Targets that show their comparisons, by our pass or by SanitizerCoverage's callbacks: operands that the input holds are
//! replaced by those that they were compared with.

use crate::{common::*, sancov::linked, sancov::object};

/// Clang's options for an object that shows its comparisons, and for one that does not.
const COUNTERS: &str = "-fsanitize=fuzzer-no-link";
const SHOWN: &str = "-fsanitize-coverage=trace-pc-guard,pc-table,trace-cmp";
const HIDDEN: &str = "-fsanitize-coverage=trace-pc-guard,pc-table";

/// Cases of `testdata/comparisons.c` that a replacement gets behind.
const CASES: [&str; 8] =
    ["MAGIC", "BIG_ENDIAN_MAGIC", "KEYWORD", "SWITCH", "WIDENED", "MEMORY", "DIGITS", "HEXADECIMAL"];

const SEED: &[u8] = b"text: words and 1234 numbers <in> a row.";

/// Builds a case of `testdata/comparisons.c` with these options of the compiler.
fn case(scene: &Scene, compiler: &str, name: &str, options: &[&str]) -> PathBuf {
    let case = format!("-DCASE={name}");
    let object = object(scene, compiler, "comparisons.c", &[&[case.as_str(), "-O1", "-fno-builtin"], options].concat());
    linked(scene, &format!("{name}-{compiler}"), &[&object], &[])
}

/// Executions until a campaign has found the crash, if it has.
fn executions_to_crash(scene: &Scene, harness: &Path, options: &str) -> Option<u64> {
    scene.fuzz(harness, &format!("{options} --force --no-plotting --no-confirm --max-size 80")).succeeded();
    let summary = scene.summary();
    let faults = array(&summary["findings"]).iter().filter(|f| f["kind"] == "fault");
    faults.map(|fault| number(&fault["executions"])).min()
}

/// Mutants that the stage has made.
fn replaced(summary: &Value) -> u64 {
    let rules = array(&summary["rules"]);
    number(&rules.iter().find(|rule| rule["label"] == "comparisons").expect("a label")["applied"])
}

#[test]
fn what_was_compared_takes_the_place_of_what_the_input_holds_in_objects_of_clang_of_gcc_and_of_sanitizers() {
    let scene = Scene::new(&[("seed", SEED)]);
    let mut all: Vec<_> = CASES.map(|name| (name, case(&scene, "clang", name, &[COUNTERS]))).into();
    if has_program("gcc", "gcc") {
        let options = ["-fsanitize-coverage=trace-pc,trace-cmp"];
        all.extend(["MAGIC", "SWITCH", "KEYWORD", "FLOAT"].map(|name| (name, case(&scene, "gcc", name, &options))));
    }
    let options = ["-DCASE=KEYWORD", "-O1", "-fsanitize=fuzzer-no-link,address"];
    let object = object(&scene, "clang", "comparisons.c", &options);
    all.push(("sanitized", linked(&scene, "sanitized", &[&object], &["-fsanitize=address"])));
    for (name, harness) in all {
        let took = executions_to_crash(&scene, &harness, "--execs 4000 --seed 1");
        assert!(took.is_some(), "{name}: {:#}", scene.summary());
        let replaced = replaced(&scene.summary());
        assert!((1..4000).contains(&replaced), "{name}: {replaced}");
    }
}

#[test]
fn objects_of_quagmire_cc_show_magic_numbers_and_strings_and_all_others_if_they_were_asked_to() {
    let scene = Scene::new(&[("seed", SEED)]);
    for name in CASES {
        let [all, telling] = ["1", "0"].map(|compares| {
            let options = ["-g", "-O1", "-fsanitize=fuzzer", &format!("-DCASE={name}")];
            scene.compile(&format!("{name}-{compares}"), "comparisons.c", &options, &[("QUAGMIRE_COMPARES", compares)])
        });
        let options = "--execs 4000 --seed 3 --no-auto-dict";
        let is_telling = name != "WIDENED";
        for (harness, is_found) in [(all, true), (telling, is_telling)] {
            assert_eq!(
                executions_to_crash(&scene, &harness, options).is_some(),
                is_found,
                "{name}: {:#}",
                scene.summary()
            );
            assert_eq!(replaced(&scene.summary()) > 0, is_found, "{name}");
            let without = format!("{options} --rules T,havoc");
            assert_eq!(executions_to_crash(&scene, &harness, &without), None, "{name}");
        }
    }
}

#[test]
fn words_that_code_compares_byte_by_byte_are_found_in_process_and_under_the_fork_server() {
    let scene = Scene::new(&[("seed", b"a written line")]);
    let cases = ["FOLDED_BY_TABLE", "FOLDED_BY_FUNCTION", "COUNTED", "PACKED_TABLE"];
    for (name, is_found) in cases.map(|name| (name, true)).into_iter().chain([("UNREADABLE", false)]) {
        for (kind, level, flag) in [
            ("in-process", "-O1", "-fsanitize=fuzzer"),
            ("in-process", "-O2", "-fsanitize=fuzzer"),
            ("program", "-O2", "-DPROGRAM"),
        ] {
            let options = ["-g", level, flag, &format!("-DCASE={name}")];
            let target = scene.compile(&format!("{name}{level}-{kind}"), "own_words.c", &options, &[]);
            let took = executions_to_crash(&scene, &target, "--execs 20000 --seed 1");
            assert_eq!(took.is_some(), is_found, "{name}, {level}, {kind}: {:#}", scene.summary());
        }
        // neither by chance nor by a token of the code
        let target = scene.path(&format!("{name}-O1-in-process"));
        let took = executions_to_crash(&scene, &target, "--execs 4000 --seed 1 --rules T,havoc,tokens");
        assert_eq!(took, None, "{name}: {:#}", scene.summary());
    }
}

#[test]
fn checksums_are_mended_by_default_in_process_and_under_the_fork_server() {
    let scene = Scene::new(&[("seed", SEED)]);
    let cases = [
        ("CHECKSUM", "--execs 4000", true),
        ("CHECKSUM", "--execs 4000 --rules T,havoc", false),
        ("TWO_CHECKSUMS", "--execs 4000", true),
        ("BEHIND_CHECKSUM", "--execs 40000", true),
    ];
    for (name, options, is_found) in cases {
        for (kind, driver, flag) in [
            ("in-process", "0", "-fsanitize=fuzzer"),
            ("driver", "1", "-fsanitize=fuzzer"),
            ("program", "0", "-DPROGRAM"),
        ] {
            let build = ["-g", "-O1", flag, &format!("-DCASE={name}")];
            let variables = [("QUAGMIRE_DRIVER", driver)];
            let target = scene.compile(&format!("{name}-{kind}"), "comparisons.c", &build, &variables);
            let took = executions_to_crash(&scene, &target, &format!("{options} --seed 1"));
            assert_eq!(took.is_some(), is_found, "{name}, {kind}: {:#}", scene.summary());
        }
    }
}

#[test]
fn checksums_in_a_shared_library_are_mended_too() {
    let scene = Scene::new(&[("seed", SEED)]);
    let options = ["-g", "-O1", "-shared", "-fPIC", "-DCASE=CHECKSUM"];
    let library = scene.compile("library.so", "comparisons.c", &options, &[]);
    let harness = scene.path("harness");
    run(compiler("comparisons.c", None).arg("-fsanitize=fuzzer").arg(&library).arg("-o").arg(&harness)).ended();
    assert!(executions_to_crash(&scene, &harness, "--execs 4000 --seed 1").is_some(), "{:#}", scene.summary());
}

#[test]
fn objects_that_do_not_show_their_comparisons_are_searched_as_if_there_was_no_such_stage() {
    let scene = Scene::new(&[("seed", SEED)]);
    let hides = case(&scene, "clang", "MAGIC", &[HIDDEN]);
    assert_eq!(executions_to_crash(&scene, &hides, "--execs 5000 --seed 1"), None);
    assert_eq!(replaced(&scene.summary()), 0);
    // nor is there one if it is not among the operators
    let shows = case(&scene, "clang", "MAGIC", &[SHOWN]);
    assert_eq!(executions_to_crash(&scene, &shows, "--execs 5000 --seed 1 --rules T,havoc"), None);
    assert_eq!(replaced(&scene.summary()), 0);
    assert!(executions_to_crash(&scene, &shows, "--execs 5000 --seed 1 --rules T,comparisons").is_some());
    // a string without an end is read no further than it can be
    scene.write("seeds/short", b"text of 16 bytes");
    let harness = case(&scene, "clang", "UNTERMINATED", &[COUNTERS]);
    assert_eq!(executions_to_crash(&scene, &harness, "--execs 1000 --seed 1"), None);
}

#[test]
fn a_search_by_comparisons_is_repeated_by_its_seed() {
    let scene = Scene::new(&[("seed", SEED)]);
    let harness = case(&scene, "clang", "KEYWORD", &[SHOWN]);
    let search = || {
        executions_to_crash(&scene, &harness, "--execs 1500 --seed 5");
        scene.files("out/queue")
    };
    assert_eq!(search(), search());
}

#[test]
fn what_the_engine_compares_between_two_runs_is_none_of_the_targets_comparisons() {
    let scene = Scene::new(&[("seed", b"ab")]);
    scene
        .fuzz(&harness("own_comparison.c"), "--execs 3000 --seed 1 --no-auto-dict --no-plotting --no-confirm")
        .succeeded();
    assert_eq!(replaced(&scene.summary()), 0, "{:#}", scene.summary()["rules"]);
}
