//! Options that steer the search, and the worst input that it reports.

use quagmire_mutators::{BUILT_IN, Rule};

use crate::common::*;

/// Number of applications of each rule that was applied.
fn applied(summary: &Value) -> Vec<(String, u64)> {
    let rules = array(&summary["rules"]).iter();
    rules
        .map(|rule| (string(&rule["label"]).to_owned(), number(&rule["applied"])))
        .filter(|(label, applied)| *applied > 0 && !["mask", "trim"].contains(&label.as_str()))
        .collect()
}

/// Work of an input, as the harness itself counts it.
fn work(scene: &Scene, harness: &Path, input: &Path) -> u64 {
    let file = scene.path("replayed");
    let _ = fs::remove_file(&file);
    let mut replay = scene.quagmire(&["replay", "-n", "1"]);
    run(replay.env("REMEMBERS", &file).arg(input).arg("--").arg(harness)).ended();
    largest(&file)
}

fn largest(file: &Path) -> u64 {
    u64::from_le_bytes(fs::read(file).expect("written by the harness").try_into().expect("8 bytes"))
}

#[test]
fn the_worst_that_is_reported_is_the_worst_of_all_that_was_run() {
    for options in ["--seed 4", "--seed 2 --parents intervals", "--seed 3 --experiment no-edge-maxima --rules havoc"] {
        let scene = Scene::new(GREETING);
        let harness = harness("remembers.c");
        let mut campaign =
            scene.campaign(&harness, &format!("--execs 20000 --max-size 60 --relative-to seed --explain 0 {options}"));
        run(campaign.env("REMEMBERS", scene.path("largest"))).ended();
        let summary = scene.summary();
        let worst = scene.path("out").join(string(&summary["worst"]["path"]));
        assert_eq!(work(&scene, &harness, &worst), largest(&scene.path("largest")), "{options}");
        // and the distribution over all runs ends with it
        let ratio = float(&summary["worst"]["instructions_ratio"]);
        let costs = array(&summary["costs"]);
        let instructions = costs.iter().find(|cost| cost["resource"] == "instructions").expect("instructions");
        let expected = number(&instructions["max"]) as f64 / number(&summary["baseline"]["instructions"]) as f64;
        assert!((ratio - expected).abs() < 1e-9, "{options}: {ratio} against {expected}");
    }
}

#[test]
fn every_run_that_returned_is_in_the_distributions() {
    let scene = Scene::new(GREETING);
    scene.fuzz(&harness("quadratic.c"), "--execs 2000 --seed 1 --max-size 200 --no-confirm").ended();
    let summary = scene.summary();
    for cost in array(&summary["costs"]) {
        // the seed's first run is not a mutant's
        assert_eq!(number(&cost["count"]) + 1, number(&summary["executions"]), "{cost}");
        let counted: u64 = array(&cost["histogram"]).iter().map(|bin| number(&bin[1])).sum();
        assert_eq!(counted, number(&cost["count"]), "{cost}");
        let percentiles: Vec<u64> =
            ["min", "p50", "p90", "p99", "p999", "max"].iter().map(|key| number(&cost[key])).collect();
        assert!(percentiles.is_sorted(), "{cost}");
    }
}

#[test]
fn each_strategy_searches_and_repeats_itself() {
    for strategy in ["unitary", "proportional", "probabilistic", "mixed"] {
        let campaign = || {
            let scene = Scene::new(GREETING);
            let options = format!("--execs 5000 --seed 5 --max-size 200 --no-confirm --mutations-per-rule {strategy}");
            scene.fuzz(&harness("quadratic.c"), &options).ended();
            (applied(&scene.summary()), scene.files("out/queue"))
        };
        let first = campaign();
        let rules = BUILT_IN.iter().map(|rule| rule.label()).filter(|label| !label.starts_with('D'));
        let is_applied = |name: &&str| first.0.iter().any(|(other, _)| other == name);
        let missing: Vec<&str> = rules.chain(["havoc", "single", "splice"]).filter(|name| !is_applied(name)).collect();
        assert!(missing.is_empty(), "{missing:?} of {:?}", first.0);
        assert_eq!(first, campaign(), "{strategy}");
    }
}

#[test]
fn rules_are_exactly_those_that_were_asked_for() {
    for (asked, expected) in [
        ("T.1,B.6", vec!["T.1", "B.6"]),
        ("havoc", vec!["havoc"]),
        ("T.4,havoc,deterministic", vec!["T.4", "havoc", "deterministic"]),
    ] {
        let scene = Scene::new(GREETING);
        let options = format!("--execs 3000 --seed 1 --max-size 200 --no-confirm --rules {asked}");
        scene.fuzz(&harness("keyword.c"), &options).ended();
        let labels: Vec<String> = applied(&scene.summary()).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, expected);
    }
}

#[test]
fn phases_alternate_as_their_limits_say() {
    // if the coverage phase is skipped, every mutant is measured: each takes three runs, and havoc once or more
    let scene = Scene::new(GREETING);
    let options = "--execs 3000 --seed 1 --max-size 200 --no-confirm --skip-coverage-testing --rules havoc";
    scene.fuzz(&harness("quadratic.c"), options).ended();
    let summary = scene.summary();
    assert!(summary["executions"] == 3000 && applied(&summary)[0].1 < 3000, "{summary:#}");

    let scene = Scene::new(GREETING);
    let options = "--execs 4000 --seed 1 --max-size 300 --no-confirm --interesting-files-limit 1 --exec-limit 10";
    scene.fuzz(&harness("quadratic.c"), options).ended();
    let log = scene.read("out/logs/phases_data.txt");
    let known = ["seeds", "coverage", "performance", "search"];
    let mut end = 0.0;
    for line in log.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        assert!(known.contains(&fields[2]), "{line}");
        let (from, to): (f64, f64) = (fields[0].parse().expect("a time"), fields[1].parse().expect("a time"));
        assert!(end <= from + 1e-9 && from <= to, "{log}");
        end = to;
    }
}
