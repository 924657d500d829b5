//! Command lines of libFuzzer that name what is not there, or what makes no sense, beside clang's own libFuzzer.

use crate::common::*;

const SOURCE: &str = "ends_as_libfuzzer.c";

fn scene() -> Scene {
    let scene = Scene::new(&[("good", b"ok"), ("other", b"a")]);
    scene.write("bad", b"end!asecret");
    fs::create_dir(scene.path("out")).expect("created");
    scene
}

fn call(scene: &Scene, harness: &Path, arguments: &str) -> Run {
    run(Command::new(harness).args(arguments.split_whitespace()).current_dir(scene.path("")))
}

#[test]
fn what_is_missing_or_makes_no_sense_ends_with_libfuzzers_exit_code_and_files() {
    let _alone = alone();
    for (arguments, code, line) in [
        ("-runs=10 bad seeds", 1, "Not a directory: bad; exiting"),
        ("-merge=1 out", 0, "Merge requires two or more corpus dirs"),
        ("-merge=1 out nowhere", 1, "No such file or directory: nowhere; exiting"),
        ("-merge=1 nowhere seeds", 1, "No such file or directory: nowhere; exiting"),
        ("-merge=1 -merge_control_file=nodir/control out seeds", 1, "cannot write nodir/control"),
        ("-runs=0 nofile", 1, "No such file or directory: nofile"),
        ("-dict=nowhere -runs=10 seeds", 1, "-dict=nowhere: "),
        ("-seed_inputs=@nolist -runs=10 seeds", 1, "-seed_inputs=@nolist: "),
        ("-seed_inputs=bad,seeds/good -runs=10 out", 77, "Test unit written to ./crash-"),
        ("-seed_inputs=seeds/good,seeds/other -runs=2 out", 0, "seed corpus: files: 2 min: 1b max: 2b"),
        ("-artifact_prefix=nodir/ -runs=10 seeds", 1, "-artifact_prefix: the folder nodir does not exist"),
        ("-artifact_prefix=nodir/ bad", 1, "-artifact_prefix: the folder nodir does not exist"),
        ("-minimize_crash=1 -runs=10", 1, "should be given one input file"),
        ("-minimize_crash=1 -runs=10 bad bad", 1, "should be given one input file"),
        ("-minimize_crash=1 -runs=10 seeds/good", 1, "ERROR: the input seeds/good did not crash"),
        ("-cleanse_crash=1 bad", 1, "should be given one input file and -exact_artifact_path"),
        ("-cleanse_crash=1 -exact_artifact_path=clean seeds/good", 0, "ERROR: the input seeds/good did not crash"),
        ("-cleanse_crash=1 -exact_artifact_path=clean bad", 0, "Test unit written to clean"),
    ] {
        let [(ours, our_files), (theirs, their_files)] = [harness(SOURCE), reference(SOURCE)].map(|harness| {
            let scene = scene();
            (call(&scene, &harness, arguments), [scene.files(""), scene.files("out"), scene.files("seeds")])
        });
        assert_eq!((ours.code, theirs.code), (Some(code), Some(code)), "{arguments}: {ours:#?} {theirs:#?}");
        assert_eq!(our_files, their_files, "{arguments}: {ours:#?}");
        assert!(ours.stderr.contains(line), "{arguments}: {ours:#?}");
    }
}

#[test]
fn numbers_below_nothing_are_refused_and_flags_without_effect_are_told() {
    let scene = scene();
    for flag in ["-max_len=-5", "-jobs=-1", "-fork=-2"] {
        call(&scene, &harness(SOURCE), &format!("{flag} -runs=10 seeds")).refused(1, &[flag, "less than nothing"]);
    }
    let told = call(&scene, &harness(SOURCE), "-stop_file=x -runs=10 -entropic=1 seeds");
    assert!(told.code == Some(0) && told.stderr.contains("INFO: -stop_file has no effect\n"), "{told:#?}");
    assert!(!told.stderr.contains("-entropic"), "its default: {told:#?}");
}

#[test]
fn a_control_file_of_another_corpus_is_no_obstacle() {
    let scene = scene();
    scene.write("control", b"2\n0\n/nowhere/a\n/nowhere/b\nSTARTED 0 3\nFT 0 1 2\nCOV 0 1\n");
    let merged = call(&scene, &harness(SOURCE), "-merge=1 -merge_control_file=control out seeds").succeeded();
    assert!(merged.stderr.contains("MERGE-OUTER: starting merge from scratch"), "{merged:#?}");
    assert_eq!(scene.files("out").len(), 2, "{merged:#?}");
}

#[test]
fn a_corpus_that_goes_away_or_is_read_only_does_not_end_fuzzing() {
    let _alone = alone();
    let scene = scene();
    let log = fs::File::create(scene.path("log")).expect("created");
    let mut command = Command::new(harness(SOURCE));
    command.args(["-max_total_time=3", "out", "seeds"]).current_dir(scene.path("")).stdout(Stdio::null()).stderr(log);
    let mut child = command.spawn().expect("it starts");
    let text = || scene.read("log");
    wait_until("the seeds were run", || text().contains("\tINITED ").then_some(()));
    // it may write an input in the meantime
    wait_until("the corpus is removed", || fs::remove_dir_all(scene.path("out")).ok());
    scene.write("seeds/added", b"qqqqqqq");
    fs::remove_file(scene.path("seeds/good")).expect("removed");
    let code = wait_until("it ends", || child.try_wait().expect("a child")).code();
    assert_eq!(code, Some(0), "{}", text());
    assert!(text().matches("WARNING: new inputs are not kept: ").count() <= 1, "once: {}", text());
    if is_root() {
        return; // to whom no folder is read-only
    }
    fs::create_dir(scene.path("closed")).expect("created");
    run(Command::new("chmod").arg("555").arg(scene.path("closed"))).ended();
    let fuzzed = call(&scene, &harness(SOURCE), "-runs=500 closed seeds");
    assert!(fuzzed.code == Some(0) && fuzzed.stderr.contains("WARNING: new inputs are not kept: "), "{fuzzed:#?}");
}
