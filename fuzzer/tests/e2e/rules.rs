//! Choice of the rules of a campaign, and their labels in its files.

use quagmire_mutators::{BUILT_IN, Rule};

use crate::common::*;

/// Labels in `summary.json`, with the number of applications of each.
fn rules(scene: &Scene) -> Vec<(String, u64)> {
    let summary = scene.summary();
    let rules = array(&summary["rules"]).iter();
    let rule = |rule: &Value| (string(&rule["label"]).to_owned(), rule["applied"].as_u64().expect("a count"));
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
        "R.1 R.2 R.3 havoc splice tokens custom custom-crossover single deterministic mask trim comparisons growth \
         collisions regenerate splice-part delete-part repeat-part nest-part shuffle-parts change-values equal-values different-values"
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
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it starts");
    wait_until("the campaign runs", || scene.path("out/queue").exists().then_some(()));
    fs::remove_file(file).expect("removed");
    ended(child).ended();
    assert_eq!(scene.summary()["executions"], 3000);
    assert!(scene.summary()["faults"].as_u64() > Some(0));
}

/// Options, text with tags, and numbers at the end: all rules are used, those for text on the text only.
#[test]
fn rules_for_text_leave_the_bytes_around_the_text_as_they_are() {
    let scene = Scene::new(&[("seed", b"\0\x02\0\0<a b='1'>pears\n<c>apples</c></a>\n\x01\0\0\x03")]);
    scene.fuzz(&harness("options_first.c"), "--max-size 400 --execs 3000 --seed 4 --no-confirm --no-mask").ended();
    let used = labels(&scene);
    assert!(BUILT_IN.iter().map(|rule| rule.label()).eq(used.split(' ').take(BUILT_IN.len())), "{used}");
    let rules = rules(&scene);
    let applied = |family: &str| -> u64 {
        rules.iter().filter(|(label, _)| label.starts_with(family)).map(|(_, applied)| applied).sum()
    };
    let [text, tags, varied, binary] = ["T.", "D.", "V.", "B."].map(applied);
    assert!(binary > 0 && tags > 0 && text + varied > 2 * binary, "T {text}, D {tags}, V {varied}, B {binary}");
    let is_for_text = |name: &str| {
        let operators = name.split("op_").nth(1).unwrap_or_default();
        name.contains("src_000000") && operators.split('+').all(|label| label.starts_with(['T', 'V', 'D']))
    };
    let made: Vec<Vec<u8>> =
        scene.files("out/queue").into_iter().filter(|(name, _)| is_for_text(name)).map(|(_, bytes)| bytes).collect();
    assert!(made.len() > 3, "{} entries", made.len());
    assert!(made.iter().all(|bytes| bytes.starts_with(b"\0\x02\0\0") && bytes.ends_with(b"\x01\0\0\x03")), "{made:?}");
}
