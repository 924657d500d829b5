//! Merging, minimizing and cleansing under libFuzzer's command line.

use crate::common::*;

fn call(scene: &Scene, arguments: &str) -> Run {
    let mut command = Command::new(harness("ends_as_libfuzzer.c"));
    run(command.args(arguments.split_whitespace()).current_dir(scene.path("")))
}

/// The line about what a merge has added.
fn added(run: &Run) -> &str {
    let line = run.stderr.lines().find(|line| line.contains("new coverage edges"));
    line.unwrap_or_else(|| panic!("no such line: {run:#?}"))
}

#[test]
fn a_merge_adds_what_executes_more_and_survives_what_crashes() {
    let scene =
        Scene::new(&[("crash", b"end!a"), ("long", b"okokok"), ("short", b"ok"), ("tiny", b"a"), ("exit", b"end!x")]);
    fs::create_dir(scene.path("out")).expect("created");
    let merged = call(&scene, "-merge=1 -merge_control_file=control out seeds").succeeded();
    let files: Vec<_> = scene.files("out").into_values().collect();
    assert!(
        files.contains(&b"a".to_vec()) && files.contains(&b"ok".to_vec()) && files.len() == 3,
        "{files:?} {merged:#?}"
    );
    assert!(added(&merged).starts_with("MERGE-OUTER: 3 new files with "), "{merged:#?}");
    for (name, bytes) in scene.files("out") {
        let named = run(Command::new("sha1sum").arg(scene.path("out").join(&name))).ended().stdout;
        assert!(named.starts_with(&name), "{bytes:?}");
    }

    // the first folder has more files now: a merge of its own, which knows the other files
    let again = call(&scene, "-merge=1 -merge_control_file=control out seeds");
    assert!(again.code == Some(0) && again.stderr.contains("control file ok, 5 files total"), "{again:#?}");
    assert!(added(&again).starts_with("MERGE-OUTER: 0 new files with 0 new features added; 0 new"), "{again:#?}");

    let once_more = call(&scene, "-merge=1 -merge_control_file=control out seeds");
    assert!(once_more.stderr.contains("nothing to do, merge has been completed before"), "{once_more:#?}");

    scene.write("more/input", b"h?");
    scene.write("control", b"nonsense");
    let other = call(&scene, "-merge=1 -merge_control_file=control out seeds more");
    assert!(other.code == Some(0) && other.stderr.contains("bad control file, will overwrite it"), "{other:#?}");
}

#[test]
fn names_of_files_and_folders_may_have_any_bytes() {
    let scene = Scene::new(&[]);
    for name in ["new\nline", "fol\nder/x"] {
        scene.write(&format!("in/{name}"), name.as_bytes());
    }
    fs::create_dir(scene.path("out")).expect("created");
    let merged = call(&scene, "-merge=1 -merge_control_file=control out in").succeeded();
    assert_eq!(scene.files("out").len(), 2, "{merged:#?}");
    let again = call(&scene, "-merge=1 -merge_control_file=control out in");
    assert!(again.stderr.contains("control file ok, 2 files total"), "{again:#?}");
}

#[test]
fn a_crash_is_minimized_within_the_runs_and_keeps_its_kind() {
    let input = b"end!abcdefghijklmnopqrstuvwxyz";
    let scene = Scene::new(&[("crash", input), ("good", b"ok")]);
    let small = call(&scene, "-minimize_crash=1 -runs=200 -exact_artifact_path=small seeds/crash").succeeded();
    assert_eq!(scene.files("")["small"], b"end!a", "{small:#?}");
    let none = call(&scene, "-minimize_crash=1 -runs=1 -exact_artifact_path=same seeds/crash");
    assert!(none.code == Some(0) && scene.files("")["same"] == input, "{none:#?}");
    let good = call(&scene, "-minimize_crash=1 -runs=10 seeds/good");
    assert!(good.code == Some(1) && good.stderr.contains("ERROR: the input seeds/good did not crash"), "{good:#?}");
}

#[test]
fn a_crash_is_cleansed_of_bytes_that_do_not_matter() {
    let scene = Scene::new(&[("crash", b"end!asecret")]);
    call(&scene, "-cleanse_crash=1 -exact_artifact_path=clean seeds/crash").succeeded();
    assert_eq!(scene.files("")["clean"], b"end!a      ");
    let nowhere = call(&scene, "-cleanse_crash=1 seeds/crash");
    assert!(nowhere.code == Some(1) && nowhere.stderr.contains("-exact_artifact_path"), "{nowhere:#?}");
    assert!(Path::new(&scene.path("seeds/crash")).exists());
}
