//! The command `quagmire distill`: the smallest corpus that keeps everything.

use crate::common::*;

/// Inputs for `diverse.c`: the name of each, and its bytes. The last one crashes.
const INPUTS: [(&str, &[u8]); 9] = [
    ("a", b"y"),
    ("b", b"y1"),
    ("c", b"yy1"),
    ("d", b"yyyyyyyy11111111"),
    ("e", b"n"),
    ("f", b"n?????????????????"),
    ("g", b"y1"),
    ("h", b"?"),
    ("i", b"a!!a"),
];

fn scene() -> Scene {
    let scene = Scene::new(&[]);
    for (name, bytes) in INPUTS {
        scene.write(&format!("all/{name}"), bytes);
    }
    scene
}

fn distill(scene: &Scene, options: &[&str], program: &Path) -> Run {
    run(scene.quagmire(&[&["distill"], options, &["--"]].concat()).arg(program))
}

/// Report of `quagmire distill --json`.
#[track_caller]
fn report(scene: &Scene, options: &[&str], program: &Path) -> Value {
    let run = distill(scene, &[&["--json"], options].concat(), program).ended();
    run.json()
}

/// Paths of a report's lists, with the reason if they have one.
fn listed<'a>(report: &'a Value, list: &str) -> Vec<(&'a str, &'a str)> {
    let reason = |one: &'a Value| one["reason"].as_str().unwrap_or_default();
    array(&report[list]).iter().map(|one| (string(&one["path"]), reason(one))).collect()
}

#[test]
fn a_corpus_for_coverage_keeps_all_buckets_and_says_what_became_of_every_input() {
    let (scene, harness) = (scene(), harness("diverse.c"));
    let all = report(&scene, &["all", "-o", "small"], &harness);
    assert_eq!(number(&all["all"]["inputs"]), 7, "{all:#}");
    let left_out = listed(&all, "left_out");
    assert!(left_out.contains(&("all/g", "duplicate")) && left_out.contains(&("all/i", "ended-early")), "{all:#}");
    let subsumed = left_out.iter().filter(|(_, reason)| *reason == "subsumed").count() as u64;
    assert_eq!(subsumed + number(&all["kept"]["inputs"]), 7);
    assert!(subsumed > 0 && number(&all["lower_bound"]) <= number(&all["weight"]), "{all:#}");
    // names and contents are those of the inputs
    let files = scene.files("small");
    assert_eq!(files.len() as u64, number(&all["kept"]["inputs"]));
    for (name, bytes) in &files {
        assert_eq!(*bytes, fs::read(scene.path("all").join(name)).expect("the input of that name"));
    }
    // the corpus has all features of the inputs, and none of its inputs can be missed
    let again = report(&scene, &["small", "-o", "smaller"], &harness);
    assert_eq!(again["features"], all["features"]);
    assert_eq!(scene.files("smaller"), files);
    for left in files.keys() {
        let rest: Vec<String> = files.keys().filter(|name| *name != left).map(|name| format!("small/{name}")).collect();
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let without = report(&scene, &[&rest, &["-o", &*format!("without-{left}")][..]].concat(), &harness);
        assert!(number(&without["features"]) < number(&all["features"]), "without {left}");
    }
}

#[test]
fn a_corpus_for_cost_loses_no_maximum() {
    let (scene, harness) = (scene(), harness("diverse.c"));
    let all = report(&scene, &["all", "-o", "small", "--for", "cost"], &harness);
    assert!(number(&all["kept"]["inputs"]) < 7, "{all:#}");
    let maxima = |folder: &str| {
        let inputs = scene.replay(&harness, "-n 1", &[Path::new(folder)]);
        let returned: Vec<&Value> = inputs.iter().filter(|input| input["status"] == "returned").collect();
        let most = |resource: &str| returned.iter().map(|input| number(&input["costs"][resource])).max();
        ["instructions", "edges", "hottest-edge", "stack", "heap"].map(most)
    };
    assert_eq!(maxima("small"), maxima("all"));
    let again = report(&scene, &["small", "-o", "smaller", "--for", "cost"], &harness);
    assert_eq!(again["features"], all["features"]);
}

#[test]
fn what_is_as_small_as_possible_can_be_chosen_and_is_said() {
    let (scene, harness) = (scene(), harness("diverse.c"));
    let mut sums = Vec::new();
    for (weight, sum) in [("inputs", "inputs"), ("size", "bytes"), ("cost", "cost")] {
        let one = report(&scene, &["all", "-o", weight, "--weight", weight], &harness);
        assert_eq!((one["weighed_by"].as_str(), &one["weight"]), (Some(weight), &one["kept"][sum]));
        sums.push(["inputs", "bytes", "cost"].map(|sum| number(&one["kept"][sum])));
    }
    for (smallest, weight) in (0..).zip(&sums) {
        assert!(sums.iter().all(|other| weight[smallest] <= other[smallest]), "{sums:?}");
    }
    let text = distill(&scene, &["all", "-o", "text", "--verbose"], &harness).ended().stdout;
    for words in ["kept by", "at least", "all/g: has the contents of all/b", "subsumed by all/", "ended early", "text"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn inputs_of_the_same_name_are_both_kept_and_unstable_and_rejected_ones_are_named() {
    let scene = scene();
    scene.write("one/x", b"y");
    scene.write("two/x", b"?");
    report(&scene, &["one", "two", "-o", "both"], &harness("diverse.c"));
    assert_eq!(scene.files("both").into_keys().collect::<Vec<_>>(), ["x", "x.2"]);
    let run = distill(&scene, &["all/a", "all/b", "-o", "small"], &harness("unstable.c")).succeeded();
    assert!(run.stderr.contains("all/") && run.stderr.contains("is unstable"), "{run:#?}");
    let found = report(&scene, &["all/a", "all/b", "all/e", "-o", "accepted"], &harness("rejects.c"));
    assert!(listed(&found, "left_out").contains(&("all/e", "rejected")), "{found:#}");
}

#[test]
fn mistakes_are_refused_in_one_line_and_no_file_is_lost() {
    let (scene, diverse) = (scene(), harness("diverse.c"));
    scene.write("full/mine", b"keep me");
    fs::create_dir(scene.path("empty")).expect("created");
    let before = scene.everything();
    for (options, code, words) in [
        ("all -o full", 1, &["full", "empty it"][..]),
        ("all -o full/mine", 1, &["full/mine"]),
        ("all", 2, &["-o"]),
        ("-o new", 2, &["no inputs"]),
        ("empty -o new", 2, &["no inputs in empty"]),
        ("missing -o new", 2, &["missing", "does not exist"]),
        ("all -o new --for fun", 2, &["'fun' for '--for", "coverage, cost, mutants"]),
        ("all -o new --weight gold", 2, &["'gold' for '--weight", "cost, size, inputs"]),
        ("all/i -o new", 1, &["none of 1 input", "ended early"]),
    ] {
        distill(&scene, &options.split(' ').collect::<Vec<_>>(), &diverse).refused(code, words);
        assert_eq!(scene.everything(), before, "{options:?}");
        assert!(!scene.path("new").exists());
    }
}

#[test]
fn an_interrupt_leaves_the_corpus_of_the_inputs_so_far() {
    let scene = Scene::new(&[]);
    // a millisecond a byte
    for at in 0..400 {
        scene.write(&format!("all/{at:03}"), &[at as u8; 50]);
    }
    let slow = harness("slow.c");
    let child = start(scene.quagmire(&["distill", "--json", "all", "-o", "small", "--"]).arg(&slow));
    let is_harness = || fs::read_link(format!("/proc/{}/exe", child.id())).is_ok_and(|program| program == slow);
    wait_until("it runs inputs", || (is_harness() && !children(child.id()).is_empty()).then_some(()));
    let run = interrupted(child);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stderr.contains("stopped by a signal after"), "{run:#?}");
    let report = run.json();
    assert!(number(&report["not_examined"]) > 0, "{report:#}");
    assert_eq!(scene.files("small").len() as u64, number(&report["kept"]["inputs"]));
}

#[test]
fn what_is_set_up_once_belongs_to_no_input() {
    let (scene, harness) = (Scene::new(&[]), harness("sets_up.c"));
    // the first run of a process is made twice, so another input has to come before
    for (name, bytes) in [("1", "b"), ("2", "a1"), ("3", "a12"), ("4", "a123")] {
        scene.write(&format!("all/{name}"), bytes.as_bytes());
    }
    for purpose in ["coverage", "cost"] {
        let small = format!("small-{purpose}");
        let all = report(&scene, &["all", "--for", purpose, "-o", &small], &harness);
        assert!(listed(&all, "corpus").iter().all(|(path, _)| *path != "all/2"), "{all:#}");
        // alone, a run of the corpus does all that it was kept for
        let again = report(&scene, &[&small, "--for", purpose, "-o", &format!("again-{purpose}")], &harness);
        assert_eq!(again["features"], all["features"], "{purpose}");
    }
}
