//! Custom mutators of AFL++: libraries whose functions are the operator `custom`, in process and under the fork server.

use crate::common::*;

/// A text behind the sum of its bytes, as `afl_mutator.c` keeps it.
fn record(text: &[u8]) -> Vec<u8> {
    [&[text.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte))], text].concat()
}

fn is_record(bytes: &[u8]) -> bool {
    bytes.is_empty() || record(&bytes[1..]) == bytes
}

/// A campaign over `program` with the library that does this.
fn fuzz(scene: &Scene, program: &Path, how: &str, options: &str) -> Run {
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O1", &format!("-D{how}")]).arg(testdata("afl_mutator.c"));
    run(command.arg("-o").arg(scene.path("mutator.so"))).succeeded();
    let always = "--execs 2000 --seed 1 --max-size 40 --no-confirm --no-mask --experiment no-trim";
    let mut command = scene.campaign(program, &format!("{always} --custom-mutator mutator.so {options}"));
    run(command.env("TOLD", scene.path("told")))
}

fn two_records() -> Scene {
    Scene::new(&[("a", &record(b"hello world")), ("b", &record(b"a lazy dog"))])
}

/// The harness of `quadratic.c` in process, and under the fork server.
fn programs(scene: &Scene) -> [PathBuf; 2] {
    let options = ["-g", "-O1", "-fsanitize=fuzzer"];
    [harness("quadratic.c"), scene.compile("driver", "quadratic.c", &options, &[("QUAGMIRE_DRIVER", "1")])]
}

#[test]
fn their_mutants_are_those_of_custom_and_the_seed_decides_all() {
    for how in ["FINE", "HAVOC"] {
        let built = two_records();
        let [first, second] = programs(&built).map(|program| {
            let scene = two_records();
            fuzz(&scene, &program, how, "--rules custom").succeeded();
            let entries = scene.files("out/queue");
            assert!(entries.len() > 3 && entries.values().all(|bytes| is_record(bytes)), "{how}: {entries:?}");
            // each entry beside the seeds, with its parent
            let told = scene.read("told");
            assert_eq!(told.lines().count(), entries.len() - 2, "{told}");
            let names_two = |line: &str| line.split(" from ").all(|name| entries.contains_key(name));
            assert!(told.lines().all(names_two), "{told}");
            entries
        });
        assert_eq!(first, second, "{how}");
    }
}

#[test]
fn what_all_operators_make_is_processed_before_it_runs_and_kept_like_that() {
    let scene = two_records();
    fuzz(&scene, &harness("quadratic.c"), "POST_ONLY", "--rules T,havoc,splice").succeeded();
    let entries = scene.files("out/queue");
    assert!(entries.len() > 3 && entries.values().all(|bytes| is_record(bytes)), "{entries:?}");
}

#[test]
fn one_that_wants_no_mutants_of_any_entry_is_not_called() {
    let scene = two_records();
    fuzz(&scene, &harness("quadratic.c"), "OFF", "--rules custom,havoc").succeeded();
    let rules = scene.summary()["rules"].clone();
    let applied =
        |label: &str| array(&rules).iter().find(|rule| rule["label"] == label).map(|rule| number(&rule["applied"]));
    assert_eq!(applied("custom"), Some(0), "{rules:#}");
    assert!(applied("havoc") > Some(1000), "{rules:#}");
}

#[test]
fn one_that_crashes_exits_or_hangs_ends_the_campaign_and_is_named() {
    let built = two_records();
    for program in programs(&built) {
        for (how, said) in [
            ("ENDS=*nowhere=1", "ends the process (SIGSEGV)"),
            ("ENDS=exit(7)", "ends the process (exit code 7)"),
            ("ENDS=for(;;)", "does not return"),
        ] {
            let scene = two_records();
            fuzz(&scene, &program, how, "--hang-timeout 0.1").refused(3, &["--custom-mutator", said, "--resume"]);
            assert_eq!(scene.files("out/faults").len() + scene.files("out/hangs").len(), 0, "the target did not fail");
            fuzz(&scene, &program, "FINE", "--resume").succeeded();
            assert!(number(&scene.summary()["executions"]) >= 2000, "{how}");
        }
    }
}

#[test]
fn files_that_are_no_libraries_of_that_kind_are_refused_before_anything_is_written() {
    let scene = two_records();
    let program = harness("quadratic.c");
    fuzz(&scene, &program, "REFUSES", "").refused(3, &["mutator.so", "afl_custom_init"]);
    fuzz(&scene, &program, "TRANSLATES", "--force").refused(2, &["afl_custom_post_process", "checksums"]);
    fs::remove_dir_all(scene.path("out")).expect("it was written");
    scene.write("text.so", b"no library");
    let empty = "int nothing;";
    scene.compile_by("cc", "empty.so", empty, &["-shared", "-fPIC"]);
    let useless = "int data; void *afl_custom_init(void *state, unsigned seed) { return &data; }";
    scene.compile_by("cc", "useless.so", useless, &["-shared", "-fPIC"]);
    for (file, said) in [
        ("missing.so", "there is no such file"),
        ("text.so", "cannot be loaded"),
        ("empty.so", "not in Python"),
        ("useless.so", "nothing to call"),
    ] {
        scene.fuzz(&program, &format!("--custom-mutator {file}")).refused(2, &[file, said]);
    }
    let mut command = scene.campaign(&program, "");
    run(command.env("AFL_CUSTOM_MUTATOR_LIBRARY", "text.so;empty.so")).refused(2, &["text.so"]);
    assert!(!scene.path("out").exists());
}

#[test]
fn the_examples_of_afl_run_under_its_own_variable() {
    if !has_program("afl-clang-fast", "afl++") {
        return;
    }
    let scene = two_records();
    let examples = "home=$(dirname \"$(command -v afl-clang-fast)\")
        for name in simple_example elf_header_mutator; do
          cc -w -O1 -shared -fPIC -I\"$home/include\" \"$home/custom_mutators/examples/$name.c\" -o $name.so
        done";
    scene.shell(examples).succeeded();
    let mut command =
        scene.campaign(&harness("quadratic.c"), "--execs 2000 --seed 1 --max-size 60 --rules custom --no-confirm");
    run(command.env("AFL_CUSTOM_MUTATOR_LIBRARY", "simple_example.so;elf_header_mutator.so")).succeeded();
    let made = scene.files("out/queue").into_keys().filter(|name| name.contains("op_custom")).count();
    assert!(made > 3, "{:?}", scene.files("out/queue").keys());
}
