//! Searches that follow a measured resource (`--steer`). How slow the inputs are that they find is a matter of clocks, which
//! is not tested here.

use crate::common::*;

const SEEDS: &[(&str, &[u8])] = &[("one", b"abcdefghijklmnop"), ("two", b"aabbccddeeffgghh")];

/// Builds the harness whose work is done by an object that was compiled without the wrapper.
fn harness(scene: &Scene) -> PathBuf {
    let helper = scene.path("helper.o");
    run(Command::new("cc").args(["-O1", "-c"]).arg(testdata("uninstrumented_helper.c")).arg("-o").arg(&helper)).ended();
    scene.compile("harness", "uninstrumented_main.c", &["helper.o", "-g", "-O1", "-fsanitize=fuzzer"], &[])
}

#[test]
fn entries_are_run_five_times_and_the_campaign_says_that_it_does_not_repeat() {
    let scene = Scene::new(SEEDS);
    let campaign =
        scene.fuzz(&harness(&scene), "--steer time --execs 3000 --seed 1 --max-size 500 --no-confirm").ended();
    assert!(campaign.stdout.contains("--steer time: ") && campaign.stdout.contains("--seed does not repeat it"));
    let summary = scene.summary();
    assert_eq!((&summary["steer"], &summary["repeatable"]), (&"time".into(), &false.into()));
    let (executions, entries) = (number(&summary["executions"]), number(&summary["entries"]));
    assert_eq!(executions, 3000, "repeated runs are executions");
    // the campaign may end while the last one is repeated
    assert!(executions >= 5 * (entries - 1) + 2, "{entries} entries");
    assert!(scene.log().contains("noise of time"), "{}", scene.log());
}

#[test]
fn seeds_are_repeated_where_time_is_followed_and_only_there() {
    let counted = |options: &str| {
        let scene = Scene::new(SEEDS);
        scene.fuzz(&harness(&scene), &format!("--execs 10 --seed 1 --no-confirm {options}")).ended();
        let summary = scene.summary();
        let mutants = number(&summary["costs"][0]["count"]);
        (number(&summary["executions"]), mutants, summary["steer"].clone(), summary["repeatable"].clone())
    };
    assert_eq!(counted("--steer time"), (10, 0, "time".into(), false.into()));
    assert_eq!(counted(""), (10, 8, "instructions".into(), true.into()));
}

#[test]
fn cycles_need_hardware_counters_and_are_not_followed_under_the_fork_server() {
    let scene = Scene::new(SEEDS);
    let program = built("segments.c", &["-g", "-O1"], None);
    scene.fuzz(&program, "--steer cycles --execs 50").refused(2, &["--steer cycles", "write --steer time"]);
    assert!(!scene.path("out").exists(), "nothing is written");
    scene.fuzz(&program, "--steer time --execs 50 --no-confirm").ended();
    assert_eq!((&scene.summary()["steer"], number(&scene.summary()["executions"])), (&"time".into(), 50));
    let scene = Scene::new(SEEDS);
    let campaign = scene.fuzz(&harness(&scene), "--steer cycles --execs 100 --no-confirm");
    if campaign.code == Some(0) {
        assert_eq!(scene.summary()["steer"], "cycles");
    } else {
        campaign.refused(2, &["--steer cycles", "no hardware counters", "write --steer time"]);
        assert!(!scene.path("out").exists(), "nothing is written");
    }
}

#[test]
fn a_campaign_goes_on_with_what_it_followed() {
    let scene = Scene::new(SEEDS);
    let harness = harness(&scene);
    scene.fuzz(&harness, "--steer time --execs 200 --no-confirm").ended();
    let other = scene.fuzz(&harness, "--steer instructions --execs 100 --no-confirm --resume");
    other.refused(2, &["--steer time", "another folder"]);
    scene.fuzz(&harness, "--execs 100 --no-confirm --resume").ended();
    assert_eq!(number(&scene.summary()["executions"]), 300);
}
