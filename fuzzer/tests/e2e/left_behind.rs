//! Processes and files that the target or a killed process leaves: orphans end, and no find is lost.

use std::{time::Duration, time::Instant};

use crate::common::*;

/// Builds `testdata/daemon.c` into a file of its own, by which its processes are recognised.
fn daemon(scene: &Scene, options: &[&str]) -> PathBuf {
    let own = scene.path("program");
    copy_program(&built("daemon.c", options, None), &own);
    own
}

#[test]
fn daemons_of_the_target_end_with_the_campaign_and_with_each_command() {
    for options in [&["-O1", "-DHARNESS", "-fsanitize=fuzzer"][..], &["-O1"]] {
        let scene = Scene::new(&[("a", b"hello"), ("b", b"daemon")]);
        let program = daemon(&scene, options);
        scene.fuzz(&program, "--execs 60 --seed 1 --max-size 8 --no-confirm").ended();
        assert_eq!(processes(&program), [0_u32; 0], "{options:?}");
        for command in ["replay seeds/b", "growth seeds/b", "minimize seeds/b --execs 20", "compare seeds seeds/b"] {
            let words: Vec<&str> = command.split(' ').chain(["--"]).collect();
            let mut command = scene.quagmire(&words);
            command.arg(&program);
            if words[0] == "compare" {
                command.arg("--and").arg(&program);
            }
            run(&mut command);
            assert_eq!(processes(&program), [0_u32; 0], "{words:?} {options:?}");
        }
    }
}

#[test]
fn daemons_of_the_target_are_ended_while_the_campaign_goes_on() {
    let scene = Scene::new(&[("a", b"hello"), ("b", b"daemon")]);
    let program = daemon(&scene, &["-O1"]);
    let options = "--seed 1 --max-size 8 --no-confirm --hang-timeout 100ms --time 1h";
    let campaign = start(&mut scene.campaign(&program, options));
    let first = wait_until("a daemon", || {
        let ours = children(campaign.id());
        processes(&program).into_iter().find(|process| *process != campaign.id() && ours.contains(process))
    });
    wait_until("its end", || (!processes(&program).contains(&first)).then_some(()));
    interrupted(campaign).ended();
    assert_eq!(processes(&program), [0_u32; 0]);
}

#[test]
fn children_of_the_shell_that_became_quagmire_are_left_alone() {
    let scene = Scene::new(&[("a", b"hello"), ("b", b"daemon")]);
    let program = daemon(&scene, &["-O1"]);
    scene
        .shell("sleep 1000 >/dev/null 2>&1 & echo $! >child; exec quagmire fuzz -i seeds -o out --execs 60 --no-confirm -- ./program")
        .ended();
    let child = scene.read("child").trim().parse().expect("a number");
    assert!(is_alive(child));
    signal(child, libc::SIGKILL);
    // what they leave behind would come to quagmire as well: so nothing does
    processes(&program).into_iter().for_each(|daemon| signal(daemon, libc::SIGKILL));
}

#[test]
fn a_daemon_keeps_no_lock() {
    let scene = Scene::new(&[("a", b"hello"), ("b", b"daemon")]);
    let program = daemon(&scene, &["-O1", "-DHARNESS", "-fsanitize=fuzzer"]);
    let options = "--seed 1 --max-size 8 --no-confirm --sync meeting --name one";
    // a daemon has all descriptors: nobody would see the end of a pipe
    let mut campaign = start_silently(&mut scene.campaign(&program, &format!("{options} --time 1h")));
    let process = campaign.id();
    wait_until("a daemon beside the worker", || (children(process).len() > 1).then_some(()));
    signal(process, libc::SIGKILL);
    campaign.wait().expect("ended");
    let left = processes(&program);
    assert!(!left.is_empty());
    wait_until("the worker's end", || {
        let resumed = run(&mut scene.campaign(&program, &format!("{options} --resume --execs 40")));
        (resumed.code == Some(0)).then_some(())
    });
    // and those that the worker made before its end
    let daemons = processes(&program);
    assert!(left.iter().any(|process| daemons.contains(process)), "one has lived on");
    daemons.into_iter().for_each(|daemon| signal(daemon, libc::SIGKILL));
}

/// Files of a queue by their numbers; fails if two have the same number.
fn numbered(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<u64, (String, Vec<u8>)> {
    let mut numbered = BTreeMap::new();
    for (file, bytes) in files.into_iter().filter(|(file, _)| !file.starts_with('.')) {
        let number = file.trim_start_matches("id_").split(',').next().and_then(|id| id.parse().ok()).expect("a number");
        let twice = numbered.insert(number, (file.clone(), bytes));
        assert!(twice.is_none(), "{file} and {twice:?}");
    }
    numbered
}

#[test]
fn what_a_killed_worker_has_kept_keeps_its_number() {
    let scene = Scene::new(&[("text", b"some text without any keyword in it\n")]);
    let options = "--seed 1 --max-size 4000 --time 1h --no-confirm";
    let campaign = start(&mut scene.campaign(&harness("quadratic.c"), options));
    let kept = || numbered(scene.files("out/queue"));
    let is_there = || scene.path("out/queue").is_dir();
    let mut all = wait_until("some inputs", || is_there().then(kept).filter(|kept| kept.len() > 5));
    for _ in 0..3 {
        let first = worker(&campaign, &[]);
        signal(first, libc::SIGKILL);
        let before = kept();
        worker(&campaign, &[first]);
        let enough = Instant::now() + Duration::from_secs(5);
        wait_until("more inputs", || (kept().len() > before.len() + 1 || Instant::now() > enough).then_some(()));
        let after = kept();
        let same = |(number, kept): (&u64, &(String, Vec<u8>))| after.get(number) == Some(kept);
        assert!(all.iter().all(same) && before.iter().all(same), "{before:?} {after:?}");
        all = after;
    }
    interrupted(campaign).ended();
    let after = kept();
    let summary = scene.summary();
    assert_eq!(number(&summary["entries"]), after.len() as u64);
    assert!(summary["stopped_by"] == "signal" && summary["baseline"]["instructions"].is_u64(), "{summary:#}");
    // without a gap
    assert!(after.keys().copied().eq(0..after.len() as u64));
}

#[test]
fn a_program_that_fills_its_standard_error_is_measured_all_the_same() {
    let scene = Scene::new(&[("a", b"aaaa"), ("b", b"bbbbbbb")]);
    let ended = run(&mut scene.campaign(&harness("chatty.c"), "--time 600s --execs 300 --seed 1 --no-plotting"));
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert!(scene.summary()["noise"]["floor"].is_number(), "{:#}", scene.summary()["noise"]);
}

#[test]
fn a_process_that_the_target_leaves_behind_does_not_keep_replay_waiting() {
    let scene = Scene::new(&[("a", b"aaaa"), ("d", b"d")]);
    // of its own: what is left of it is killed below
    let program = scene.path("program");
    copy_program(&harness("chatty.c"), &program);
    let ended = scene.ask("replay -n 1 seeds/d seeds/a", &program);
    for left in processes(&program) {
        signal(left, libc::SIGKILL);
    }
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert!(ended.stdout.contains("seeds/a"), "{}", ended.stdout);
}
