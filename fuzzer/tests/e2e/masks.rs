//! Rare branches, masks and shadow runs in whole campaigns.

use crate::common::*;

const SEED: &[(&str, &[u8])] = &[("plain", b"some text without any keyword in it")];

fn has_keyword(scene: &Scene) -> bool {
    scene.files("out/queue").values().any(|bytes| bytes.windows(7).any(|window| window == b"<!MASK>"))
}

#[test]
fn a_keyword_is_found_byte_by_byte_and_a_crash_beside_it_does_not_end_the_search() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("keyword.c"), "--execs 300000 --seed 1 --max-size 200 --focus coverage --no-confirm").ended();
    assert!(has_keyword(&scene));
    let summary = scene.summary();
    assert!(number(&summary["faults"]) > 0, "{:#}", summary["findings"]);
    let masks = &summary["masks"];
    let of = |key: &str| number(&masks[key]);
    assert!(of("computed") > 5 && of("executions") > 100 && of("trimming") > 10, "{masks:#}");
    assert!(of("hits") * 2 > of("mutants") && of("mutants") > 10_000, "{masks:#}");
    assert!(number(&summary["rare"]["cutoff"]).is_power_of_two(), "{:#}", summary["rare"]);
}

#[test]
fn masks_can_be_left_out() {
    let scene = Scene::new(GREETING);
    let left_out = "--no-mask --experiment no-trim --experiment no-bootstrap";
    scene.fuzz(&harness("keyword.c"), &format!("--execs 5000 --seed 1 --max-size 200 --no-confirm {left_out}")).ended();
    let summary = scene.summary();
    for key in ["computed", "bytes", "executions", "trimming", "mutants"] {
        assert_eq!(number(&summary["masks"][key]), 0, "{key}");
    }
    assert_eq!(number(&summary["rare"]["bootstraps"]), 0);
}

#[test]
fn a_campaign_with_masks_repeats_itself_and_goes_on() {
    let campaign = |scene: &Scene, options: &str| {
        scene.fuzz(&harness("keyword.c"), &format!("--seed 3 --max-size 200 --no-confirm {options}")).ended();
        scene.files("out/queue")
    };
    let (one, another) = (Scene::new(SEED), Scene::new(SEED));
    assert_eq!(campaign(&one, "--execs 20000"), campaign(&another, "--execs 20000"));
    let before = number(&one.summary()["masks"]["executions"]);
    campaign(&one, "--execs 20000 --resume");
    assert!(number(&one.summary()["masks"]["executions"]) >= before);
    assert_eq!(number(&one.summary()["executions"]), 40_000);
}

#[test]
fn shadows_show_what_a_mask_is_good_for() {
    let scene = Scene::new(SEED);
    let options = "--execs 100000 --seed 1 --no-auto-dict --max-size 200 --experiment shadow-mask --no-confirm";
    scene.fuzz(&harness("keyword.c"), options).ended();
    let summary = scene.summary();
    let rows = array(&summary["shadow"]);
    let row = rows.iter().find(|row| row["goal"] == "branch" && row["stage"] == "havoc").expect("a row");
    let share = |kind: &str| {
        number(&row[format!("{kind}_hits").as_str()]) as f64 / number(&row[format!("{kind}_mutants").as_str()]) as f64
    };
    assert!(share("masked") > 1.2 * share("plain"), "{row:#}");
    scene
        .fuzz(&harness("keyword.c"), "--no-mask --experiment shadow-mask")
        .refused(2, &["--no-mask", "--experiment shadow-mask", "leave one of them out"]);
}

#[test]
fn no_probe_is_kept_that_is_larger_than_inputs_may_be() {
    let full = [&b"<slow><slower><slowest>"[..], &[b'.'; 77]].concat();
    let scene = Scene::new(&[("full", &full)]);
    let options = "--execs 20000 --seed 1 --max-size 100 --focus cost --no-confirm --rules havoc --experiment no-trim";
    scene.fuzz(&harness("fragile.c"), options).ended();
    assert!(number(&scene.summary()["masks"]["executions"]) > 100);
    for (name, bytes) in scene.files("out/queue") {
        assert!(bytes.len() <= 100, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn trimming_keeps_what_the_target_accepts() {
    let scene = Scene::new(&[("long", b"<some text without any keyword in it, and more")]);
    scene.fuzz(&harness("too_short.c"), "--execs 10000 --seed 2 --max-size 64 --focus coverage --no-confirm").ended();
    let masks = &scene.summary()["masks"];
    let of = |key: &str| number(&masks[key]);
    assert!(of("trimming") > 10 && of("bytes") >= 32 * of("computed"), "{masks:#}");
}
