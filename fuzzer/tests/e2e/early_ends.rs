//! Runs that end early: the campaign survives each, and saves its input once with the reason.

use crate::common::{Scene, built, harness};

/// Runs a campaign with one seed that returns and one that ends early.
fn end_by(seed: &str, harness: &std::path::Path, options: &str) -> Scene {
    let scene = Scene::new(&[("a_plain_one", b"hello"), ("the_end", seed.as_bytes())]);
    // tokens and comparisons would lead to the other ends
    scene.fuzz(harness, &format!("--execs 400 --seed 1 --no-auto-dict --rules T,havoc {options}")).ended();
    assert_eq!(scene.summary()["executions"], 400, "{seed}");
    assert!(scene.files("out/queue").contains_key("id_000000,orig_a_plain_one"), "{seed}");
    scene
}

#[track_caller]
fn saved_once(scene: &Scene, folder: &str, seed: &str, reason: &str) {
    for other in ["faults", "hangs"] {
        let files = scene.files(&format!("out/{other}"));
        let count = scene.summary()[other].as_u64().expect("a count");
        assert_eq!((files.len(), count), if other == folder { (1, 1) } else { (0, 0) }, "{seed}: {files:?}");
    }
    let (name, bytes) = scene.files(&format!("out/{folder}")).pop_first().expect("one");
    assert_eq!(bytes, seed.as_bytes());
    let line = format!("{reason}: {folder}/{name}");
    // after the time of day
    let messages: Vec<String> =
        scene.log().lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect();
    assert_eq!(messages.iter().filter(|message| **message == line).count(), 1, "{seed}: {messages:#?}");
}

#[track_caller]
fn is_a_fault(seed: &str, options: &str, reason: &str) {
    saved_once(&end_by(seed, &harness("ends.c"), options), "faults", seed, reason);
}

#[test]
fn abort_is_a_fault() {
    is_a_fault("abort", "", "SIGABRT");
}

#[test]
fn a_null_dereference_is_a_fault() {
    is_a_fault("null", "", "SIGSEGV");
}

#[test]
fn a_division_by_zero_is_a_fault() {
    is_a_fault("divide", "", "SIGFPE");
}

#[test]
fn a_stack_overflow_is_a_fault() {
    is_a_fault("stack", "", "SIGSEGV");
}

#[test]
fn a_trap_is_a_fault() {
    is_a_fault("trap", "", "SIGILL");
}

#[test]
fn exit_is_a_fault() {
    is_a_fault("exit", "", "exit code 3");
}

#[test]
fn _exit_is_a_fault() {
    is_a_fault("_exit", "", "exit code 4");
}

#[test]
fn quick_exit_is_a_fault() {
    is_a_fault("quick_exit", "", "exit code 5");
}

#[test]
fn a_raw_exit_group_is_a_fault() {
    is_a_fault("exit_group", "", "process ended: exit code 6");
}

#[test]
fn killing_oneself_is_a_fault() {
    is_a_fault("kill", "", "process ended: SIGKILL");
}

#[test]
fn a_crash_in_another_thread_is_a_fault() {
    is_a_fault("thread", "", "SIGSEGV");
}

#[test]
fn taking_all_memory_is_a_fault() {
    is_a_fault("hog", "--memory-limit 64MiB", "out of memory");
}

#[test]
fn an_infinite_loop_is_a_hang() {
    let scene = end_by("loop", &harness("ends.c"), "--hang-timeout 1s");
    saved_once(&scene, "hangs", "loop", "hang");
}

#[test]
fn an_exception_that_nobody_catches_is_a_fault() {
    saved_once(&end_by("throw", &harness("throws.cc"), ""), "faults", "throw", "SIGABRT");
}

#[test]
fn all_ends_in_one_campaign_are_told_apart() {
    let ends = ["abort", "null", "divide", "stack", "trap", "exit", "_exit", "quick_exit", "exit_group", "kill"];
    let mut seeds: Vec<(&str, &[u8])> = ends.iter().map(|end| (*end, end.as_bytes())).collect();
    seeds.push(("loop", b"loop"));
    seeds.push(("a_plain_one", b"hello"));
    let scene = Scene::new(&seeds);
    scene.fuzz(&harness("ends.c"), "--execs 400 --seed 1 --no-auto-dict --rules T,havoc --hang-timeout 1s").ended();
    let faults: Vec<Vec<u8>> = scene.files("out/faults").into_values().collect();
    for end in ends {
        assert_eq!(faults.iter().filter(|bytes| *bytes == end.as_bytes()).count(), 1, "{end}");
    }
    assert_eq!(scene.files("out/hangs").into_values().collect::<Vec<_>>(), [b"loop"]);
    assert_eq!(scene.summary()["executions"], 400);
}

/// Runs a campaign in which half of all mutants end early in the same way, and asserts that it saves one fault from
/// many workers.
#[track_caller]
fn often(end: &str, options: &str, folder: &str) {
    let scene = Scene::new(&[("even", b"ab")]);
    let harness = built("odd.c", &["-O1", "-fsanitize=fuzzer", &format!("-DEND={end}")], None);
    scene.fuzz(&harness, &format!("--execs 600 --seed 1 {options}")).ended();
    assert_eq!(scene.summary()["executions"], 600);
    let files = scene.files(&format!("out/{folder}"));
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files.values().all(|bytes| bytes.len() % 2 == 1));
}

#[test]
fn a_crash_that_half_of_all_mutants_reach_is_saved_once() {
    often("abort()", "", "faults");
}

#[test]
fn an_exit_that_half_of_all_mutants_reach_is_saved_once() {
    often("exit(0)", "", "faults");
}

#[test]
fn a_hang_that_mutants_reach_again_and_again_is_saved_once() {
    let scene = Scene::new(&[("even", b"ab")]);
    let harness = built("odd.c", &["-O1", "-fsanitize=fuzzer", "-DEND=for(volatile int on=1;on;)"], None);
    scene.fuzz(&harness, "--execs 40 --seed 1 --hang-timeout 500ms").ended();
    assert_eq!(scene.summary()["executions"], 40);
    assert_eq!(scene.files("out/hangs").len(), 1);
}

#[test]
fn a_first_seed_that_hangs_is_a_hang() {
    let scene = Scene::new(&[("a", b"loop"), ("b", b"hello")]);
    scene.fuzz(&harness("ends.c"), "--execs 400 --seed 1 --no-auto-dict --rules T,havoc --hang-timeout 1s").ended();
    saved_once(&scene, "hangs", "loop", "hang");
}

#[test]
fn a_first_seed_that_crashes_is_a_fault_with_its_reason() {
    let scene = Scene::new(&[("a", b"null"), ("b", b"hello")]);
    scene.fuzz(&harness("ends.c"), "--execs 400 --seed 1 --no-auto-dict --rules T,havoc").ended();
    saved_once(&scene, "faults", "null", "SIGSEGV");
}

#[test]
fn a_kill_that_half_of_all_mutants_reach_does_not_flood_the_folder() {
    let scene = Scene::new(&[("even", b"ab")]);
    let harness = built("odd.c", &["-O1", "-fsanitize=fuzzer", "-DEND=kill(getpid(),SIGKILL)"], None);
    scene.fuzz(&harness, "--execs 200 --seed 1").ended();
    assert_eq!(scene.summary()["executions"], 200);
    let faults = scene.files("out/faults");
    assert!(faults.len() < 10, "{}", faults.len());
}

#[test]
fn a_campaign_whose_workers_die_before_the_first_tick_ends_when_its_time_is_up() {
    let scene = Scene::new(&[("even", b"ab")]);
    let harness = built("odd.c", &["-O1", "-fsanitize=fuzzer", "-DEND=abort()"], None);
    scene.fuzz(&harness, "--time 2s --seed 1 --max-size 9").ended();
    assert_eq!(scene.summary()["stopped_by"], "time");
}
