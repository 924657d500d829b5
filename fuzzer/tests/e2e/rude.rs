//! Targets that change the process that they share with the engine: the campaign continues.

use crate::common::*;

/// Runs a campaign whose second seed makes the target do this, and returns its faults.
fn faults(rudeness: &str, signals: libc::sighandler_t) -> Vec<Vec<u8>> {
    let scene = Scene::new(&[("a_plain_one", b"hello"), ("rude", rudeness.as_bytes())]);
    // without comparisons, which would lead to other rude things
    let mut command = scene.campaign(&harness("rude.c"), "--execs 400 --seed 1 --max-size 30 --rules T,havoc");
    with_signals(&mut command, signals);
    run(&mut command).ended();
    let summary = scene.summary();
    assert_eq!((&summary["executions"], &summary["stopped_by"]), (&400.into(), &"execs".into()), "{rudeness}");
    scene.files("out/faults").into_values().collect()
}

#[test]
fn a_target_may_close_its_streams_ignore_signals_change_its_folder_and_fork() {
    for rudeness in ["fclose", "ignore", "chdir"] {
        faults(rudeness, libc::SIG_DFL);
    }
    assert!(faults("fork", libc::SIG_DFL).is_empty());
}

#[test]
fn a_signal_that_ends_the_target_is_a_fault_and_does_not_end_the_campaign() {
    assert_eq!(faults("alarm", libc::SIG_DFL), [b"alarm"]);
    for rudeness in ["terminate", "interrupt"] {
        faults(rudeness, libc::SIG_DFL);
    }
    // nor if it was ignored when the campaign started
    assert_eq!(faults("interrupt", libc::SIG_IGN), [b"interrupt"]);
}
