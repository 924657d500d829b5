//! Libraries that programs open at run time, under the fork server.

use crate::common::*;

/// Line of the body of the loop in `testdata/plugin.c`.
const LOOP: u64 = 36;

/// Builds `testdata/plugins.c` in the folder of the scene.
fn program(scene: &Scene, name: &str, options: &[&str]) -> PathBuf {
    scene.compile(name, "plugins.c", &[&["-g", "-O0", "-rdynamic"], options].concat(), &[])
}

/// Builds a library beside the program, which it opens for the byte `name`.
pub(crate) fn plugin(scene: &Scene, name: &str, option: &str) {
    let options = ["-g", "-O0", "-pthread", "-fPIC", "-shared", option];
    scene.compile(&format!("plugin-{name}.so"), "plugin.c", &options, &[]);
}

fn ran(input: &Value, function: &str) -> bool {
    array(&input["functions"]).iter().any(|entry| entry["function"] == function)
}

fn replayed(scene: &Scene, program: &Path, options: &str, names: &[&str]) -> Vec<Value> {
    let files: Vec<PathBuf> = names.iter().map(|name| Path::new("seeds").join(name)).collect();
    scene.replay(program, options, &files.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

#[test]
fn libraries_are_counted_from_the_first_run_that_opens_them() {
    let long = [&b"a"[..], &[b'-'; 99]].concat();
    let all: [(&str, &[u8]); 6] =
        [("none", b"/"), ("a", &long), ("closed", b"ac"), ("b", b"bx-------"), ("crash", b"ax!"), ("both", b"b------")];
    let scene = Scene::new(&all);
    plugin(&scene, "a", "-DPLAIN");
    plugin(&scene, "b", "-DPLAIN");
    for (name, options) in [("once", &[][..]), ("loop", &["-DLOOP"])] {
        let program = program(&scene, name, options);
        let names = ["none", "a", "closed", "b", "both", "a"];
        for options in ["-n 1", "-n 3"] {
            let inputs = replayed(&scene, &program, options, &names[..5]);
            let counts: Vec<u64> = inputs.iter().map(|input| executions(input, "work", LOOP)).collect();
            assert_eq!(counts, [0, 100, 2, 9, 7], "{name} {options}: {inputs:#?}");
            assert_eq!(
                inputs.iter().map(|input| ran(input, "deeper")).collect::<Vec<_>>(),
                [false, false, false, true, false]
            );
            for input in &inputs {
                assert_eq!(input["status"], "returned", "{name}: {input:#}");
                assert_eq!(input["instructions_range"][0], input["instructions_range"][1], "{name}: {input:#}");
            }
            let again = replayed(&scene, &program, options, &["both", "b", "closed", "a", "none"]);
            for (one, other) in inputs.iter().zip(again.iter().rev()).skip(1).take(2) {
                assert_eq!(one["instructions"], other["instructions"], "{name}: {one:#} {other:#}");
            }
        }
        let crash = &replayed(&scene, &program, "-n 1", &["crash"])[0];
        assert_eq!((&crash["status"], executions(crash, "work", LOOP)), (&"crashed".into(), 3), "{name}: {crash:#}");
        assert!(ran(crash, "deeper"), "{name}: {crash:#}");
    }
}

#[test]
fn a_campaign_finds_what_is_in_a_library() {
    let scene = Scene::new(&[("a", b"a----"), ("none", b"/")]);
    plugin(&scene, "a", "-DPLAIN");
    let program = program(&scene, "program", &[]);
    scene.fuzz(&program, "--execs 20000 --seed 8 --max-size 500 --relative-to seed").succeeded();
    let summary = scene.summary();
    assert!(float(&summary["worst"]["instructions_ratio"]) > 10.0, "{summary:#}");
    let found = |name: &String| {
        let file = Path::new("out/queue").join(name);
        ran(&scene.replay(&program, "-n 1", &[&file])[0], "deeper")
    };
    let files = scene.files("out/queue");
    let candidates = files.iter().filter(|(name, bytes)| !name.starts_with('.') && bytes.starts_with(b"ax"));
    assert!(candidates.map(|(name, _)| name).any(found), "{:?}", files.keys());
}

#[test]
fn what_cannot_be_opened_before_main_does_no_harm() {
    let names = ["missing", "aborts", "exits", "waits", "thread", "copy"];
    let inputs: [&[u8]; 6] = [b"z---", b"A---", b"E---", b"W---", b"T---", b"t---"];
    let scene = Scene::new(&names.into_iter().zip(inputs).collect::<Vec<_>>());
    plugin(&scene, "a", "-DPLAIN");
    for (name, option) in [
        ("A", "-DBEFORE_MAIN=abort()"),
        ("E", "-DBEFORE_MAIN=exit(0)"),
        ("W", "-DBEFORE_MAIN=wait_for_ever(NULL)"),
        ("T", "-DALWAYS=start_thread()"),
    ] {
        plugin(&scene, name, option);
    }
    for (name, options) in [("once", &[][..]), ("loop", &["-DLOOP"])] {
        let program = program(&scene, name, options);
        for input in replayed(&scene, &program, "-n 2", &names) {
            assert_eq!(input["status"], "returned", "{name}: {input:#}");
            assert!(ran(&input, "look") && !ran(&input, "work"), "{name}: {input:#}");
        }
        scene.fuzz(&program, "--execs 300 --seed 1 --max-size 10 --force").succeeded();
        let summary = scene.summary();
        assert_eq!(array(&summary["findings"]).len(), 0, "{summary:#}");
    }
}

#[test]
fn a_resumed_campaign_has_the_libraries_at_once() {
    let scene = Scene::new(&[("1", b"/"), ("2", b"b----"), ("3", b"a----")]);
    plugin(&scene, "a", "-DPLAIN");
    plugin(&scene, "b", "-DPLAIN");
    let program = program(&scene, "program", &[]);
    let edges = |options: &str| {
        scene.fuzz(&program, options).succeeded();
        number(&scene.summary()["target"]["edges"])
    };
    let all = edges("--execs 300 --seed 1 --max-size 10");
    // neither the first run nor this one opens both
    assert_eq!(edges("--execs 1 --seed 1 --max-size 10 --resume"), all);
}
