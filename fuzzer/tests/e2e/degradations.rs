//! `-degradations=1` under libFuzzer's command line: degradations fail as timeouts do.

use crate::common::*;

/// A scene with a harness and its ordinary inputs.
fn scene() -> Scene {
    let scene = Scene::new(&[("one", &[b'x'; 100])]);
    copy_program(&harness("quadratic.c"), &scene.path("parser"));
    scene.write("parser_seed_corpus/one", &[b'x'; 100]);
    fs::create_dir(scene.path("out")).expect("created");
    scene
}

fn call(scene: &Scene, arguments: &str) -> Run {
    run(Command::new(scene.path("parser")).args(arguments.split_whitespace()).current_dir(scene.path("")))
}

/// Asserts that the output is that of a timeout in the function that is slow.
#[track_caller]
fn is_reported(run: &Run, code: i32) {
    assert_eq!(run.code, Some(code), "{run:#?}");
    for line in [
        "== ERROR: libFuzzer: timeout: a degradation, ",
        "    #0 0x0 in count_pairs /",
        "SUMMARY: libFuzzer: timeout\n",
    ] {
        assert!(run.stderr.contains(line), "{line}: {run:#?}");
    }
}

#[test]
fn a_degradation_ends_fuzzing_as_a_timeout_and_is_reproduced_by_the_same_check() {
    let _alone = alone();
    let scene = scene();
    let found = call(&scene, "-degradations=1 -seed=1 -max_len=2000 -runs=20000 -artifact_prefix=found- out seeds");
    is_reported(&found, 70);
    let files = scene.files("");
    let (name, bytes) = files.iter().find(|(name, _)| name.starts_with("found-timeout-")).expect("an artifact");
    assert!(found.stderr.contains(&format!("Test unit written to {name}\n")), "{found:#?}");
    assert!(files.contains_key(&format!("{name}.json")), "{:?}", files.keys());
    assert!(!scene.files("out").values().any(|input| input == bytes), "it would end each later session");
    is_reported(&call(&scene, &format!("-degradations=1 -timeout=25 -runs=3 {name}")), 70);
    is_reported(&call(&scene, &format!("-degradations=1 -timeout_exitcode=6 {name}")), 6);
    for good in [format!("-runs=1 {name}"), "-degradations=1 -runs=1 seeds/one".to_owned()] {
        assert_eq!(call(&scene, &good).code, Some(0), "{good}");
    }

    fs::create_dir(scene.path("merged")).expect("created");
    scene.write("all/slow", bytes);
    let merged = call(&scene, "-merge=1 -degradations=1 merged all seeds");
    assert!(merged.code == Some(0) && merged.stderr.contains("left out, since it is a degradation"), "{merged:#?}");
    assert!(!scene.files("merged").values().any(|input| input == bytes), "{merged:#?}");
}

#[test]
fn a_degradation_stays_one_when_it_is_minimized() {
    let _alone = alone();
    let scene = scene();
    // what is left after two attempts is far enough from the threshold to be timed on a machine with other work
    scene.write("slow", &[b'y'; 8000]);
    let minimized =
        call(&scene, "-minimize_crash=1 -degradations=1 -runs=2 -exact_artifact_path=small slow").succeeded();
    assert!(scene.files("")["small"].len() < 8000, "{minimized:#?}");
    is_reported(&call(&scene, "-degradations=1 -runs=1 small"), 70);
    let ordinary = call(&scene, "-minimize_crash=1 -degradations=1 -runs=10 seeds/one");
    assert!(ordinary.code == Some(1) && ordinary.stderr.contains("did not crash"), "{ordinary:#?}");
}

#[test]
fn forked_fuzzing_goes_on_after_degradations() {
    let _alone = alone();
    let scene = scene();
    let run = call(&scene, "-fork=1 -ignore_timeouts=1 -degradations=1 -seed=1 -max_len=2000 -runs=300 out seeds")
        .succeeded();
    assert!(run.stderr.contains("Test unit written to ./timeout-") && run.stderr.contains("Done 300 runs"), "{run:#?}");
}

#[test]
fn without_ordinary_inputs_the_flag_says_that_it_has_no_effect() {
    let scene = scene();
    fs::remove_dir_all(scene.path("parser_seed_corpus")).expect("removed");
    for arguments in ["-degradations=1 -runs=10 out seeds", "-degradations=1 -runs=1 seeds/one"] {
        let run = call(&scene, arguments);
        let warnings: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("WARNING: ")).collect();
        assert!(run.code == Some(0) && warnings.len() == 1, "{run:#?}");
        assert!(
            warnings[0].contains("-degradations=1 has no effect") && warnings[0].contains("parser_seed_corpus.zip")
        );
    }
    scene.write("parser_seed_corpus.zip", b"no archive");
    call(&scene, "-verbosity=0 -degradations=1 -runs=1 seeds/one")
        .refused(1, &["parser_seed_corpus.zip", "make it anew"]);
}
