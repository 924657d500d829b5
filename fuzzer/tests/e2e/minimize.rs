//! `quagmire minimize`: small inputs with the same cause, and what it does with those that have none.

use crate::common::*;

/// Report of `quagmire minimize --json`.
#[track_caller]
fn minimize(scene: &Scene, options: &[&str]) -> Value {
    minimize_of("growing.c", scene, options)
}

#[track_caller]
fn minimize_of(source: &str, scene: &Scene, options: &[&str]) -> Value {
    let arguments = [&["minimize", "--json"], options, &["--"]].concat();
    let run = run(scene.quagmire(&arguments).arg(harness(source))).succeeded();
    run.json()
}

fn file(scene: &Scene, name: &str) -> Vec<u8> {
    fs::read(scene.path(name)).expect("a file")
}

#[test]
fn a_quadratic_input_shrinks_to_what_exceeds_an_ordinary_one_of_its_size() {
    let scene = Scene::new(&[]);
    scene.write("slow", format!("q{} and more [ that does not matter", "[".repeat(4_000)).as_bytes());
    scene.write("seeds/one", b"kseed with some text");
    scene.write("seeds/two", b"xseed with [some] text");
    let report = minimize(&scene, &["slow", "-i", "seeds", "-o", "small"]);
    let small = file(&scene, "small");
    assert_eq!(number(&report["bytes"]), small.len() as u64);
    assert!(small.len() * 20 <= 4_000 && small.starts_with(b"q["), "{report:#}");
    assert_eq!(report["function"], "compare_pairs");
    assert!(report["cosine"].as_f64().is_some_and(|cosine| cosine >= 0.9), "{report:#}");
    assert!(report["ratio"].as_f64() >= report["ratio_wanted"].as_f64(), "{report:#}");
    assert!(number(&report["executions"]) <= 2_000, "{report:#}");
    let generator = string(&report["generator"]);
    let made = Command::new("sh").args(["-c", generator]).output().expect("a shell");
    assert_eq!(made.stdout, small, "{generator}");
}

#[test]
fn records_are_removed_with_the_fields_that_tell_of_them() {
    let scene = Scene::new(&[]);
    for (name, input) in relation_fields() {
        scene.write(name, &input);
        let report = minimize_of("relation_fields.c", &scene, &[name, "-o", "small"]);
        assert!(number(&report["bytes"]) * 5 < input.len() as u64, "{name}: {report:#}");
        assert_eq!(report["function"], "compare_pairs", "{name}: {report:#}");
    }
}

#[test]
fn a_hang_keeps_its_place() {
    let scene = Scene::new(&[]);
    scene.write("hangs", format!("h{}{}", "x".repeat(500), "[".repeat(2_100)).as_bytes());
    let report = minimize(&scene, &["hangs", "--hang-timeout", "50ms", "-o", "small"]);
    assert_eq!((&report["status"], number(&report["bytes"])), (&"hung".into(), 2_002), "{report:#}");
}

#[test]
fn an_input_of_which_all_is_needed_is_written_as_it_is_beside_it_or_in_the_folder_of_its_campaign() {
    let scene = Scene::new(&[]);
    scene.write("nothing", b"k");
    let report = minimize(&scene, &["nothing", "--execs", "1"]);
    assert_eq!(file(&scene, "nothing.min"), b"k");
    assert_eq!(report["stopped"], "executions", "{report:#}");
    for file in ["out/summary.json", "out/queue/id_000000,orig_a"] {
        scene.write(file, b"{}");
    }
    scene.write("out/degradations/id_000001,src_000000,cost_9.0", b"k");
    minimize(&scene, &["out/degradations/id_000001,src_000000,cost_9.0", "--execs", "1"]);
    let files: Vec<String> = scene.files("out/degradations").into_keys().collect();
    assert_eq!(files, ["id_000001,src_000000,cost_9.0"], "growth takes what begins with id_000001 here");
    assert_eq!(file(&scene, "out/minimized/id_000001,src_000000,cost_9.0"), b"k");
}

#[test]
fn command_lines_without_sense_are_refused_in_one_line() {
    let scene = Scene::new(&[]);
    scene.write("slow", b"q[[[");
    for (options, said) in [
        (&[][..], "no input to minimize"),
        (&["slow", "--execs", "0"][..], "--execs 0"),
        (&["slow", "--budget", "0"][..], "--budget 0"),
        (&["slow", "--cause", "none"][..], "write one of same, any"),
        (&["slow", "--cost", "time"][..], "--cost time: inputs cannot be minimized by it"),
    ] {
        let run = run(scene.quagmire(&[&["minimize"], options, &["--"]].concat()).arg(harness("growing.c")));
        assert!(run.code == Some(2) && run.stderr.contains(said), "{run:#?}");
    }
}
