//! Targets that change the process that they share with the engine: the campaign continues.

use crate::common::{Scene, harness, run, with_signals};

/// Without comparisons, which would lead to other rude things.
const OPTIONS: &str = "--execs 400 --seed 1 --max-size 30 --rules T,havoc";

/// Runs a campaign whose second seed makes the target do this, and asserts that it continues.
fn goes_on(rudeness: &str) -> Scene {
    let scene = Scene::new(&[("a_plain_one", b"hello"), ("rude", rudeness.as_bytes())]);
    scene.fuzz(&harness("rude.c"), OPTIONS).ended();
    assert_eq!((&scene.summary()["executions"], &scene.summary()["stopped_by"]), (&400.into(), &"execs".into()));
    scene
}

#[test]
fn a_target_may_close_its_standard_streams() {
    goes_on("fclose");
}

#[test]
fn a_target_may_ignore_signals() {
    goes_on("ignore");
}

#[test]
fn a_signal_that_nobody_handles_is_a_fault() {
    let scene = goes_on("alarm");
    assert_eq!(scene.files("out/faults").into_values().collect::<Vec<_>>(), [b"alarm"]);
}

#[test]
fn a_target_may_change_its_working_folder() {
    goes_on("chdir");
}

#[test]
fn a_target_that_terminates_itself_does_not_end_the_campaign() {
    goes_on("terminate");
    goes_on("interrupt");
}

#[test]
fn nor_if_the_signal_was_ignored_when_it_started() {
    let scene = Scene::new(&[("a_plain_one", b"hello"), ("rude", b"interrupt")]);
    let mut command = scene.campaign(&harness("rude.c"), OPTIONS);
    with_signals(&mut command, libc::SIG_IGN);
    run(&mut command).ended();
    assert_eq!(scene.files("out/faults").into_values().collect::<Vec<_>>(), [b"interrupt"]);
}

#[test]
fn a_target_may_fork() {
    let scene = goes_on("fork");
    assert_eq!(scene.files("out/faults").len(), 0);
}
