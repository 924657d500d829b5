//! Choice of the rules of a campaign, and their labels in its files.

use std::fs;

use crate::common::{Scene, ended, harness, wait_until};

/// Labels in `summary.json`, with the number of applications of each.
fn rules(scene: &Scene) -> Vec<(String, u64)> {
    let summary = scene.summary();
    let rules = summary["rules"].as_array().expect("rules").iter();
    let rule = |rule: &serde_json::Value| {
        (rule["label"].as_str().expect("a label").to_owned(), rule["applied"].as_u64().expect("a count"))
    };
    rules.map(rule).collect()
}

fn labels(scene: &Scene) -> String {
    let labels: Vec<String> = rules(scene).into_iter().map(|(label, _)| label).collect();
    labels.join(" ")
}

#[test]
fn custom_rules_are_applied_and_appear_by_label() {
    let scene = Scene::new(&[("greeting", b"hello world, hello")]);
    scene.write("rules.yaml", b"hello: hello hello\n(\\\\w+), (\\\\w+): \\\\2, \\\\1\nnever: matches\n");
    scene
        .fuzz(
            &harness("quadratic.c"),
            "--max-size 200 --regex-rules rules.yaml --rules R --execs 500 --seed 1 --no-confirm",
        )
        .ended();
    let applied = rules(&scene);
    assert_eq!(
        labels(&scene),
        "R.1 R.2 R.3 havoc splice tokens custom custom-crossover single deterministic mask trim comparisons regenerate \
         splice-part delete-part repeat-part nest-part shuffle-parts change-values equal-values different-values"
    );
    assert!(applied[0].1 > 0 && applied[1].1 > 0, "{applied:?}");
    // masks and trimming find out what matters, and are no mutations
    assert!(applied[2..10].iter().all(|(_, applied)| *applied == 0), "{applied:?}");
    assert_eq!(scene.summary()["rules"][1]["name"], r"(\w+), (\w+) -> \2, \1");
    assert!(scene.files("out/queue").keys().any(|name| name.contains("op_R.1")));
}

/// The rules belong to the campaign: every worker has those of the first.
#[test]
fn the_file_of_rules_is_read_once() {
    let scene = Scene::new(&[("abort", b"plain")]);
    let file = scene.write("rules.yaml", b"plain: abort\n");
    let harness = harness("ends.c");
    let mut command = scene.campaign(&harness, "--regex-rules rules.yaml --max-size 200 --execs 3000 --seed 1");
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn();
    let child = child.expect("it starts");
    wait_until("the campaign runs", || scene.path("out/queue").exists().then_some(()));
    fs::remove_file(file).expect("removed");
    ended(child).ended();
    assert_eq!(scene.summary()["executions"], 3000);
    assert!(scene.summary()["faults"].as_u64() > Some(0));
}

#[test]
fn markup_gets_the_rules_for_attributes_and_tags() {
    let scene = Scene::new(&[("doc", b"<?xml version='1.0'?><a b='1'><c/></a>")]);
    scene.fuzz(&harness("quadratic.c"), "--max-size 200 --execs 300 --seed 1 --no-confirm").ended();
    let used = labels(&scene);
    assert!(used.starts_with("T.1 ") && used.contains(" T.15 D.1 D.2 D.3 D.4 V.1 V.2 V.3 V.4 havoc"), "{used}");
}

#[test]
fn seeds_of_another_type_are_named_in_a_warning() {
    let scene = Scene::new(&[("a", b"some text"), ("b", b"\0\x01\x02"), ("c", b"more text")]);
    let run = scene.fuzz(&harness("quadratic.c"), "--max-size 200 --execs 50 --seed 1").ended();
    let warning = "1 of 3 seeds is not text: seeds/b (binary); used as well, with the rules for text";
    assert!(run.stdout.contains(warning) && scene.log().contains(warning), "{run:#?}");
    assert!(scene.files("out/queue").into_values().any(|bytes| bytes == b"\0\x01\x02"));
}
