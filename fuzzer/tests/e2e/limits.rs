//! End of a campaign in each of its phases: it comes in time, and all files are written.

use std::{thread::sleep, time::Duration};

use crate::common::*;

/// Seeds for a target that takes a millisecond for each byte: nearly every phase is long enough to be interrupted.
const SEEDS: &[(&str, &[u8])] = &[("a", b"0123456789"), ("b", b"01234567890123456789"), ("c", b"0123456")];

/// Asserts that the output folder is complete.
#[track_caller]
fn is_complete(scene: &Scene) {
    let summary = scene.summary();
    for finding in array(&summary["findings"]) {
        for key in ["path", "parent"] {
            if let Some(path) = finding[key].as_str() {
                assert!(scene.path("out").join(path).is_file(), "{path}");
            }
        }
    }
    assert_eq!(number(&summary["degradations"]) as usize, scene.files("out/degradations").len());
    for folder in ["out", "out/queue", "out/degradations", "out/faults", "out/hangs"] {
        let unfinished = scene.files(folder).into_keys().find(|name| name.starts_with(".unfinished"));
        assert_eq!(unfinished, None, "{folder}");
    }
    for file in ["fuzzer_stats", "plot_data", ".checkpoint", "report.html", "logs/phases_data.txt"] {
        assert!(scene.path("out").join(file).is_file(), "{file}");
    }
}

/// Runs a campaign of `time` seconds, and asserts that it ends within the timeout of these tests.
#[track_caller]
fn ends_in_time(seeds: &[(&str, &[u8])], time: u32, hang: u32, options: &str) {
    let scene = Scene::new(seeds);
    let options = format!("--seed 1 --time {time}s --hang-timeout {hang}s {options}");
    scene.fuzz(&harness("slow.c"), &options).ended();
    assert_eq!(scene.summary()["stopped_by"], "time");
    is_complete(&scene);
}

#[test]
fn time_that_is_up_among_the_seeds_ends_the_campaign() {
    let bytes = vec![b'x'; 400];
    let names: Vec<String> = (0..30).map(|number| format!("seed{number}")).collect();
    // different contents: equal ones would be one seed
    let contents: Vec<Vec<u8>> = (0..30).map(|number| [bytes.as_slice(), &[number]].concat()).collect();
    let seeds: Vec<(&str, &[u8])> =
        names.iter().zip(&contents).map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    // a seed takes less than a second, and must not be a hang on a machine that does other things too
    ends_in_time(&seeds, 2, 30, "");
}

#[test]
fn time_that_is_up_while_fuzzing_measuring_or_confirming_ends_the_campaign() {
    for options in [
        "--max-size 300 --no-confirm",
        "--max-size 90 --no-confirm --interesting-files-limit 1 --skip-coverage-testing",
        // each confirmation takes seconds, and the worst input is confirmed at the end
        "--max-size 2000",
    ] {
        ends_in_time(SEEDS, 3, 5, options);
    }
}

#[test]
fn a_campaign_that_is_interrupted_at_any_time_leaves_a_complete_folder() {
    for wait in [0, 30, 100, 300, 1000] {
        let scene = Scene::new(SEEDS);
        let campaign = start(&mut scene.campaign(&harness("slow.c"), "--seed 1 --time 1h --max-size 100"));
        wait_until("the campaign has a folder", || scene.path("out/logs/quagmire.log").exists().then_some(()));
        sleep(Duration::from_millis(wait));
        interrupted(campaign).ended();
        assert_eq!(scene.summary()["stopped_by"], "signal");
        is_complete(&scene);
    }
}

#[test]
fn a_campaign_that_is_interrupted_while_confirming_leaves_a_complete_folder_and_no_process() {
    let scene = Scene::new(SEEDS);
    let campaign = start(&mut scene.campaign(&harness("slow.c"), "--seed 1 --time 1h --max-size 2000"));
    let replay = wait_until("something is being confirmed", || {
        let workers = children(campaign.id());
        workers.into_iter().flat_map(children).find(is_replay)
    });
    interrupted(campaign).ended();
    assert_eq!(scene.summary()["stopped_by"], "signal");
    is_complete(&scene);
    assert!(!is_replay(&replay), "the replay process is still there");
}
