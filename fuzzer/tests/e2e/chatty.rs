//! Measuring processes that write more than a pipe holds, or whose pipes other processes hold as well.

use crate::common::*;

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
