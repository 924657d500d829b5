//! Libraries that a harness opens and closes in each run.

use crate::common::*;

/// Creates a scene with the library of `testdata/reopened.c`, and a copy of it for children that inherit the
/// environment.
fn scene(seeds: &[(&str, &[u8])]) -> (Scene, PathBuf) {
    let scene = Scene::new(seeds);
    let library = scene.compile("reopened.so", "reopened.c", &["-g", "-O1", "-fPIC", "-shared"], &[]);
    fs::copy(&library, scene.path("reopened.so.copy")).expect("a copy");
    (scene, library)
}

fn in_process() -> PathBuf {
    harness("reopens.c")
}

/// Builds the same harness without the engine.
fn under_a_fork_server(scene: &Scene) -> PathBuf {
    scene.compile("driver", "reopens.c", &["-g", "-O1", "-fsanitize=fuzzer"], &[("QUAGMIRE_DRIVER", "1")])
}

/// Reports of these inputs, measured one after the other.
fn replayed(scene: &Scene, library: &Path, program: &Path, names: &[&str]) -> Vec<Value> {
    let mut command = scene.quagmire(&["replay", "--json", "-n", "2"]);
    command.args(names.iter().map(|name| Path::new("seeds").join(name))).arg("--").arg(program);
    inputs(command.env("QUAGMIRE_TEST_LIBRARY", library))
}

/// Number of executions of the library's loop.
fn steps(input: &Value) -> u64 {
    let lines = array(&input["lines"]).iter();
    lines.filter(|line| line["function"] == "step").map(|line| number(&line["count"])).max().unwrap_or(0)
}

#[test]
fn counts_of_a_library_that_was_closed_in_the_run_are_not_lost() {
    let all: [(&str, &[u8]); 5] =
        [("1", b"1aaa"), ("2", b"3aaaa"), ("3", b"0aaa"), ("both", b"maa"), ("long", b"2Laa")];
    let (scene, library) = scene(&all);
    for program in [in_process(), under_a_fork_server(&scene)] {
        let inputs = replayed(&scene, &library, &program, &["1", "2", "3", "both", "1"]);
        assert_eq!(inputs.iter().map(steps).collect::<Vec<_>>(), [3, 12, 0, 4, 3], "{inputs:#?}");
        for input in &inputs {
            assert_eq!(input["status"], "returned", "{input:#}");
            assert_eq!(input["instructions_range"][0], input["instructions_range"][1], "{input:#}");
        }
        assert_eq!(inputs[0]["instructions"], inputs[4]["instructions"], "{inputs:#?}");
    }
    // a tick in such a run reads what is there
    let inputs = replayed(&scene, &library, &in_process(), &["1", "long", "1"]);
    assert_eq!(inputs.iter().map(steps).collect::<Vec<_>>(), [3, 400_000_006, 3], "{inputs:#?}");
}

#[test]
fn a_library_that_is_opened_in_every_run_has_the_same_edges_each_time() {
    let (scene, library) = scene(&[("1", b"1aaa"), ("2", b"3aaaa"), ("both", b"maa")]);
    let edges = |program: &Path, executions: &str| {
        let options = format!("--execs {executions} --seed 1 --max-size 30 --no-confirm --no-plotting --force");
        let mut command = scene.campaign(program, &options);
        run(command.env("QUAGMIRE_TEST_LIBRARY", &library)).ended();
        number(&scene.summary()["target"]["edges"])
    };
    for program in [in_process(), under_a_fork_server(&scene)] {
        // a worker that started afresh may not have seen two of them at one time
        let (seeds, later) = (edges(&program, "3"), edges(&program, "2000"));
        assert!(later <= seeds, "{seeds} edges, and then {later}");
    }
    assert!(!scene.log().contains("not counted"), "{}", scene.log());
}

#[test]
fn libraries_without_a_place_are_said() {
    let scene = Scene::new(&[("seed", b"a")]);
    let folder = scene.path("many");
    fs::create_dir(&folder).expect("a folder");
    scene.compile("many/0.so", "reopened.c", &["-O1", "-fPIC", "-shared", "-Wl,--build-id=none"], &[]);
    for number in 1..270 {
        fs::copy(folder.join("0.so"), folder.join(format!("{number}.so"))).expect("a copy");
    }
    let program = harness("opens_many.c");
    let mut command = scene.campaign(&program, "--execs 50 --seed 1 --max-size 9 --no-confirm --no-plotting");
    run(command.env("QUAGMIRE_TEST_LIBRARIES", &folder)).succeeded();
    let said = scene.log().lines().filter(|line| line.contains("the others are not counted")).count();
    assert_eq!(said, 1, "{}", scene.log());
    let mut command = scene.quagmire(&["replay", "seeds/seed", "--"]);
    let ended = run(command.arg(&program).env("QUAGMIRE_TEST_LIBRARIES", &folder));
    assert_eq!(ended.stderr.matches("the others are not counted").count(), 1, "{ended:#?}");
}
