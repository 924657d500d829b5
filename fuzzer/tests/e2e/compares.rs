//! Harnesses built with `QUAGMIRE_COMPARES=1`: the search uses the progress of comparisons, and costs ignore it.

use crate::common::*;

/// Builds `keywords.c` in the folder of the scene, with or without progress of comparisons.
fn keywords(scene: &Scene, compares: bool) -> PathBuf {
    let (name, value) = if compares { ("shows", "1") } else { ("hides", "0") };
    scene.compile(name, "keywords.c", &["-g", "-O2", "-fsanitize=fuzzer"], &[("QUAGMIRE_COMPARES", value)])
}

#[test]
fn a_keyword_a_number_and_a_switch_are_found_byte_by_byte() {
    let scene = Scene::new(&[("text", b"an ordinary text of 30 letters")]);
    let (shows, hides) = (keywords(&scene, true), keywords(&scene, false));
    // most seeds need half of that; without progress, fifty million are not enough
    let options = "--execs 3000000 --seed 4 --max-size 30 --rules T,havoc --no-auto-dict --no-plotting --no-confirm";

    scene.fuzz(&shows, options).ended();
    let with = scene.summary();
    assert_eq!(with["edges_found"], with["target"]["edges"], "{with:#}");
    // the keyword's bytes, and all but one of the number's and of each case's
    assert_eq!(with["target"]["progress_slots"], 14 + 3 + 3 * 3, "{with:#}");
    assert!(number(&with["progress_found"]) > 15, "{with:#}");
    let worst = |summary: &Value| float(&summary["worst"]["instructions_ratio"]);
    assert!(worst(&with) > 10.0, "the work behind the keyword: {with:#}");

    scene.fuzz(&hides, &format!("{options} --force")).ended();
    let without = scene.summary();
    assert_eq!(without["target"]["edges"], with["target"]["edges"], "progress is no edge");
    assert!(number(&without["edges_found"]) < 5 && worst(&without) < 10.0, "{without:#}");
    for value in [&without["progress_found"], &without["target"]["progress_slots"]] {
        assert!(value.is_null(), "left out: {without:#}");
    }
}

#[test]
fn a_campaign_with_progress_goes_on() {
    let scene = Scene::new(&[("text", b"an ordinary text of 30 letters")]);
    let harness = keywords(&scene, true);
    scene.fuzz(&harness, "--execs 300000 --seed 1 --max-size 30").ended();
    let before = number(&scene.summary()["progress_found"]);
    assert!(before > 0);
    scene.fuzz(&harness, "--execs 1000 --seed 1 --max-size 30 --resume").ended();
    assert!(number(&scene.summary()["progress_found"]) >= before);
}

#[test]
fn replay_shows_the_same_costs_and_places_with_and_without_progress() {
    let inputs: [(&str, &[u8]); 3] = [
        ("none", b"an ordinary text of 30 letters"),
        ("some", b"quagmire-magicRIF-BODY"),
        ("all", b"quagmire-magicRIFFBODY--------"),
    ];
    let scene = Scene::new(&inputs);
    let reports = [true, false].map(|compares| {
        let harness = keywords(&scene, compares);
        scene.replay(&harness, "-n 1", &["seeds/none", "seeds/some", "seeds/all"].map(Path::new))
    });
    for (with, without) in reports[0].iter().zip(&reports[1]) {
        for key in ["instructions", "edges", "hottest_edge", "edges_hit", "lines", "functions"] {
            assert_eq!(with[key], without[key], "{key}");
        }
    }
}
