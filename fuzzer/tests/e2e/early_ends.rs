//! Runs that end early: the campaign survives each, and saves its input once with the reason.

use crate::common::*;

// tokens and comparisons would lead to other ends
const OPTIONS: &str = "--execs 400 --seed 1 --no-auto-dict --rules T,havoc --hang-timeout 1s";

/// Seeds that end early in `ends.c`, with the reasons that the log has.
const ENDS: [(&str, &str); 12] = [
    ("abort", "SIGABRT"),
    ("null", "SIGSEGV"),
    ("divide", "SIGFPE"),
    ("stack", "SIGSEGV"),
    ("trap", "SIGILL"),
    ("exit", "exit code 3"),
    ("_exit", "exit code 4"),
    ("quick_exit", "exit code 5"),
    ("exit_group", "process ended: exit code 6"),
    ("kill", "process ended: SIGKILL"),
    ("thread", "SIGSEGV"),
    ("loop", "hang"),
];

/// Asserts that a campaign from seeds that end early, and one that returns, has saved each once with its reason, and nothing
/// else.
#[track_caller]
fn saves_once(harness: &Path, ends: &[(&str, &str)], options: &str) {
    let mut seeds: Vec<(&str, &[u8])> = ends.iter().map(|(seed, _)| (*seed, seed.as_bytes())).collect();
    seeds.push(("plain", b"hello"));
    let scene = Scene::new(&seeds);
    scene.fuzz(harness, &format!("{OPTIONS} {options}")).ended();
    let summary = scene.summary();
    assert_eq!(summary["executions"], 400, "{ends:?}");
    assert!(scene.files("out/queue").values().any(|bytes| bytes == b"hello"), "{ends:?}");
    let log = scene.log();
    // after the time of day
    let messages: Vec<&str> = log.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    let mut all = Vec::new();
    for folder in ["faults", "hangs"] {
        let files = scene.files(&format!("out/{folder}"));
        assert_eq!(number(&summary[folder]), files.len() as u64, "{ends:?}");
        all.extend(files.into_iter().map(|(name, bytes)| (format!("{folder}/{name}"), bytes)));
    }
    assert_eq!(all.len(), ends.len(), "{all:?}");
    for (seed, reason) in ends {
        let saved: Vec<_> = all.iter().filter(|(_, bytes)| bytes == seed.as_bytes()).collect();
        assert_eq!(saved.len(), 1, "{seed}: {all:?}");
        assert_eq!(saved[0].0.starts_with("hangs/"), *reason == "hang", "{seed}");
        let line = format!("{reason}: {}", saved[0].0);
        assert_eq!(messages.iter().filter(|message| **message == line).count(), 1, "{seed}: {messages:#?}");
    }
}

#[test]
fn all_ends_in_one_campaign_are_told_apart() {
    saves_once(&harness("ends.c"), &ENDS, "");
    saves_once(&harness("ends.c"), &[("hog", "out of memory")], "--memory-limit 64MiB");
    saves_once(&harness("throws.cc"), &[("throw", "SIGABRT")], "");
}

#[test]
fn each_end_in_a_campaign_of_its_own_is_the_only_one_also_if_its_seed_is_the_first() {
    for end in [("null", "SIGSEGV"), ("loop", "hang"), ("exit", "exit code 3"), ("kill", "process ended: SIGKILL")] {
        saves_once(&harness("ends.c"), &[end], "");
    }
}

#[test]
fn an_end_that_half_of_all_mutants_reach_is_saved_once() {
    for (end, executions, folder, most) in [
        ("abort()", 600, "faults", 1),
        ("exit(0)", 600, "faults", 1),
        ("for(volatile int on=1;on;)", 40, "hangs", 1),
        // nobody sees where a process was that kills itself
        ("kill(getpid(),SIGKILL)", 200, "faults", 9),
    ] {
        let scene = Scene::new(&[("even", b"ab")]);
        let harness = built("odd.c", &["-O1", "-fsanitize=fuzzer", &format!("-DEND={end}")], None);
        scene.fuzz(&harness, &format!("--execs {executions} --seed 1 --hang-timeout 500ms")).ended();
        assert_eq!(scene.summary()["executions"], executions, "{end}");
        let files = scene.files(&format!("out/{folder}"));
        assert!((1..=most).contains(&files.len()), "{end}: {files:?}");
        assert!(files.values().all(|bytes| bytes.len() % 2 == 1), "{end}: {files:?}");
    }
}

#[test]
fn a_campaign_whose_workers_die_before_the_first_tick_ends_when_its_time_is_up() {
    let scene = Scene::new(&[("even", b"ab")]);
    let harness = built("odd.c", &["-O1", "-fsanitize=fuzzer", "-DEND=abort()"], None);
    scene.fuzz(&harness, "--time 1s --seed 1 --max-size 9").ended();
    assert_eq!(scene.summary()["stopped_by"], "time");
}
