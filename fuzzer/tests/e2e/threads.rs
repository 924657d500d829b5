//! Threads of the target that continue after the run that started them.

use crate::common::*;

const SAID: &str = "threads of the program go on after their run";

/// Statuses of these inputs, replayed one after the other in one process, and the output on standard error.
fn replayed(scene: &Scene, program: &Path, names: &[&str]) -> (Vec<Value>, String) {
    let mut command = scene.quagmire(&["replay", "--json", "-n", "1"]);
    let ended =
        run(command.args(names.iter().map(|name| Path::new("seeds").join(name))).arg("--").arg(program)).succeeded();
    let report = ended.json();
    (array(&report["inputs"]).clone(), ended.stderr)
}

#[test]
fn a_thread_that_leaves_just_as_its_run_ends_puts_no_blame_on_the_next_input() {
    let scene = Scene::new(&[("late", b"l"), ("next", b"g")]);
    let (inputs, said) = replayed(&scene, &harness("threads.c"), &["late", "next"]);
    for input in &inputs {
        assert_eq!(input["status"], "returned", "{inputs:#?}");
    }
    assert!(said.contains(SAID), "{said}");
    // one that is joined is nothing to speak of
    let scene = Scene::new(&[("1", b"joined"), ("2", b"nn")]);
    assert_eq!(replayed(&scene, &harness("threads.c"), &["1", "2"]).1, "");
}

#[test]
fn counts_of_a_thread_that_outlives_its_run_belong_to_no_later_run() {
    // the spinning thread counts in whatever is run in its process
    let scene = Scene::new(&[("1", b"spin"), ("2", b"nn"), ("3", b"nnnn")]);

    run(&mut scene.campaign(&harness("threads.c"), "--execs 30 --seed 1 --no-confirm --no-plotting")).succeeded();
    assert_eq!(scene.log().lines().filter(|line| line.contains(SAID)).count(), 1, "{}", scene.log());
    let (alone, said) = replayed(&scene, &harness("threads.c"), &["3"]);
    assert!(said.is_empty(), "{said}");
    assert_eq!(scene.summary()["baseline"]["instructions"], alone[0]["instructions"], "{:#}", scene.summary());
}

#[test]
fn under_the_fork_server_a_thread_ends_with_its_run() {
    let scene = Scene::new(&[("late", b"l"), ("spin", b"spin"), ("none", b"nn")]);
    let options = ["-g", "-O1", "-fsanitize=fuzzer"];
    let program = scene.compile("driver", "threads.c", &options, &[("QUAGMIRE_DRIVER", "1")]);
    let ended = scene.ask("replay --json -n 3 seeds/none seeds/spin seeds/none", &program).ended();
    let report = ended.json();
    let plain = [&report["inputs"][0], &report["inputs"][2]];
    assert_eq!(plain[0]["instructions"], plain[1]["instructions"], "{report:#}");
    for input in plain {
        assert_eq!(input["instructions_range"][0], input["instructions_range"][1], "{report:#}");
    }
}
