//! libFuzzer's command line, beside clang's own libFuzzer on the same source.

use crate::common::*;

/// The harness of most tests.
fn ours() -> PathBuf {
    harness("ends_as_libfuzzer.c")
}

/// Runs a harness in the scene with these arguments, as a child of a shell. To the limit of clang's libFuzzer counts the peak
/// of memory that the kernel has for a process, and that of the parent survives fork and exec.
fn call(scene: &Scene, harness: &Path, arguments: &str) -> Run {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#""$@"; exit $?"#, "sh"]).arg(harness).args(arguments.split_whitespace());
    run(shell.current_dir(scene.path("")))
}

/// Runs both harnesses on copies of one scene, and returns what they did: quagmire's first.
fn both(files: &[(&str, &[u8])], arguments: &str) -> [(Run, Scene); 2] {
    [ours(), reference("ends_as_libfuzzer.c")].map(|harness| {
        let scene = Scene::new(files);
        fs::create_dir(scene.path("out")).expect("created");
        (call(&scene, &harness, arguments), scene)
    })
}

/// The line of an error, without the number of the process, and that of the summary.
fn errors(run: &Run) -> Vec<&str> {
    let lines = run.stderr.lines().filter(|line| line.contains("ERROR: libFuzzer") || line.starts_with("SUMMARY"));
    // how much memory was used, and at what time it is noticed, differs
    lines
        .map(|line| line.split_once("== ").map_or(line, |(_, line)| line))
        .map(|line| line.split(['(', '1', '2']).next().unwrap_or(line))
        .collect()
}

/// Names of the files in a folder that are no seeds.
fn found(scene: &Scene, folder: &str) -> Vec<String> {
    scene.files(folder).into_keys().filter(|name| !name.starts_with("libfuzzer-")).collect()
}

#[test]
fn a_file_ends_the_process_as_it_does_with_libfuzzer() {
    let _alone = alone();
    for (input, code, limits) in [
        ("end!a", 77, ""),
        ("end!x", 77, ""),
        ("end!h", 70, "-timeout=1"),
        ("end!m", 71, "-rss_limit_mb=200"),
        ("end!a", 5, "-error_exitcode=5"),
        ("end!h", 6, "-timeout=1 -timeout_exitcode=6"),
        ("ok", 0, "-timeout=25 -rss_limit_mb=2560"),
    ] {
        let [(our, our_scene), (their, _)] =
            both(&[("input", input.as_bytes())], &format!("{limits} -runs=3 seeds/input"));
        assert_eq!((our.code, their.code), (Some(code), Some(code)), "{input} {limits}: {our:#?} {their:#?}");
        assert_eq!(errors(&our), errors(&their), "{input}: {our:#?}");
        assert!(our.stderr.contains("Running: seeds/input"), "{our:#?}");
        assert_eq!(our.stderr.contains("Executed seeds/input in "), code == 0, "{our:#?}");
        if code != 0 && input != "end!m" {
            assert!(our.stderr.contains(" in LLVMFuzzerTestOneInput "), "a stack trace: {our:#?}");
        }
        assert!(found(&our_scene, "").is_empty(), "a file that is run leaves no artifact");
    }
}

#[test]
fn fuzzing_ends_after_exactly_the_runs_asked_for_and_prints_their_number() {
    for runs in [2, 3, 100] {
        let arguments = format!("-runs={runs} -seed=1 -print_final_stats=1 out seeds");
        let [(our, our_scene), (their, _)] = both(&[("one", b"ok"), ("two", b"a")], &arguments);
        assert_eq!((our.code, their.code), (Some(0), Some(0)), "{our:#?}");
        assert!(our.stderr.contains(&format!("\nDone {runs} runs in ")), "{our:#?}");
        assert!(our.stderr.contains(&format!("stat::number_of_executed_units: {runs}\n")), "{our:#?}");
        for line in [
            "\tINITED cov: ",
            "\tDONE   cov: ",
            "INFO:        0 files found in out",
            "INFO: seed corpus: files: 2 min: 1b max: 2b total: 3b rss: ",
            "stat::peak_rss_mb:              ",
            "INFO: -max_len is not provided; libFuzzer will not generate inputs larger than 4096 bytes",
        ] {
            assert!(our.stderr.contains(line) && their.stderr.contains(line), "{line}: {our:#?} {their:#?}");
        }
        let added = our_scene.files("out");
        let lines = our.stderr.lines().filter(|line| line.contains("\tNEW    cov: ")).count();
        assert!(lines == added.len() && (runs < 100 || lines > 0), "{our:#?} {added:?}");
        assert!(our.stdout.is_empty(), "everything is on standard error: {our:#?}");
    }
    // without runs, the corpus only is run
    let [(our, scene), (their, _)] = both(&[("one", b"ok"), ("two", b"a")], "-runs=0 out seeds");
    assert_eq!((our.code, their.code), (Some(0), Some(0)), "{our:#?}");
    assert!(our.stderr.contains("Done 2 runs in ") && scene.files("out").is_empty(), "{our:#?}");
}

#[test]
fn a_finding_ends_fuzzing_with_an_artifact_a_report_and_the_exit_code() {
    let _alone = alone();
    for (input, code, kind) in
        [("end!a", 77, "crash-"), ("end!x", 77, "crash-"), ("end!h", 70, "timeout-"), ("end!m", 71, "oom-")]
    {
        let timeout = if input == "end!h" { 1 } else { 60 };
        let arguments = format!("-timeout={timeout} -rss_limit_mb=200 -artifact_prefix=found- -runs=1000 out seeds");
        let [(our, our_scene), (their, their_scene)] = both(&[("input", input.as_bytes())], &arguments);
        assert_eq!((our.code, their.code), (Some(code), Some(code)), "{input}: {our:#?} {their:#?}");
        let files = |scene: &Scene| -> BTreeMap<_, _> {
            scene.files("").into_iter().filter(|(name, _)| name.starts_with("found-")).collect()
        };
        let artifacts = files(&our_scene);
        assert_eq!(artifacts, files(&their_scene), "{input}: {our:#?}");
        let (name, bytes) = artifacts.iter().next().expect("an artifact");
        assert!(name.starts_with(&format!("found-{kind}")) && bytes == input.as_bytes(), "{name}");
        let line = format!("artifact_prefix='found-'; Test unit written to {name}");
        assert!(our.stderr.contains(&line) && their.stderr.contains(&line), "{our:#?}");
        assert_eq!(errors(&our), errors(&their), "{our:#?}");
    }
}

#[test]
fn forked_fuzzing_goes_on_after_crashes_that_are_ignored() {
    let scene = Scene::new(&[("bad", b"end!a"), ("good", b"ok")]);
    let run =
        call(&scene, &ours(), "-fork=1 -ignore_crashes=1 -close_fd_mask=3 -runs=200 -exact_artifact_path=bad seeds")
            .succeeded();
    assert!(run.stderr.contains("Done 200 runs in ") && scene.files("")["bad"].ends_with(b"a"), "{run:#?}");
}

#[test]
fn an_interruption_ends_fuzzing_with_its_own_exit_code_and_new_files_are_read() {
    let _alone = alone();
    let scene = Scene::new(&[("good", b"ok")]);
    let mut command = Command::new(ours());
    command.args(["-reload=1", "seeds"]).current_dir(scene.path("")).stdout(Stdio::piped());
    let log = fs::File::create(scene.path("log")).expect("created");
    let mut child = command.stderr(log).spawn().expect("it starts");
    let text = || scene.read("log");
    wait_until("the seeds were run", || text().contains("\tINITED ").then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(50));
    scene.write("seeds/added", b"qqq");
    wait_until("the folder was read again", || text().contains("\tRELOAD ").then_some(()));
    signal(child.id(), libc::SIGTERM);
    let code = wait_until("it ends", || child.try_wait().expect("a child"));
    assert_eq!(code.code(), Some(72), "{}", text());
}

#[test]
fn bad_command_lines_get_one_line_and_libfuzzers_exit_code() {
    let scene = Scene::new(&[("good", b"ok")]);
    scene.write("wrong.dict", b"\"a\"\nb\n");
    for (arguments, code, line) in [
        ("-runs=abc seeds", 1, "quagmire: -runs=abc: not a whole number"),
        ("-runs=1 -dict=wrong.dict seeds", 1, "ParseDictionaryFile: error in line 2"),
        ("-- -bogus=1 -runs=1 seeds", 0, "WARNING: unrecognized flag '-bogus=1'; use -help=1 to list all flags"),
        ("-help=1", 0, "Flags: (strictly in form -flag=value)"),
    ] {
        let run = call(&scene, &ours(), arguments);
        assert!(run.code == Some(code) && run.stderr.contains(line), "{arguments}: {run:#?}");
    }
    // one option of quagmire, and the command line is quagmire's
    call(&scene, &ours(), "-i seeds -o out -runs=10").refused(2, &["--execs 10"]);
}

#[test]
fn jobs_write_their_output_to_files_of_their_own() {
    let scene = Scene::new(&[("good", b"ok")]);
    let run = call(&scene, &ours(), "-jobs=2 -workers=1 -runs=10 seeds").succeeded();
    for job in 0..2 {
        let log = scene.read(&format!("fuzz-{job}.log"));
        assert!(log.contains("Done 10 runs in ") && run.stderr.contains(&log), "{run:#?}");
    }
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
    let merged = call(&scene, &ours(), "-merge=1 -merge_control_file=control out seeds").succeeded();
    let files: Vec<_> = scene.files("out").into_values().collect();
    assert!(files.contains(&b"a".to_vec()), "{files:?} {merged:#?}");
    assert!(files.contains(&b"ok".to_vec()) && files.len() == 3, "{files:?} {merged:#?}");
    assert!(added(&merged).starts_with("MERGE-OUTER: 3 new files with "), "{merged:#?}");
    for (name, bytes) in scene.files("out") {
        let named = run(Command::new("sha1sum").arg(scene.path("out").join(&name))).ended().stdout;
        assert!(named.starts_with(&name), "{bytes:?}");
    }

    // the first folder has more files now: a merge of its own, which knows the other files
    let again = call(&scene, &ours(), "-merge=1 -merge_control_file=control out seeds");
    assert!(again.code == Some(0) && again.stderr.contains("control file ok, 5 files total"), "{again:#?}");
    assert!(added(&again).starts_with("MERGE-OUTER: 0 new files with 0 new features added; 0 new"), "{again:#?}");

    let once_more = call(&scene, &ours(), "-merge=1 -merge_control_file=control out seeds");
    assert!(once_more.stderr.contains("nothing to do, merge has been completed before"), "{once_more:#?}");

    scene.write("more/input", b"h?");
    scene.write("control", b"nonsense");
    let other = call(&scene, &ours(), "-merge=1 -merge_control_file=control out seeds more");
    assert!(other.code == Some(0) && other.stderr.contains("bad control file, will overwrite it"), "{other:#?}");
}

#[test]
fn names_of_files_and_folders_may_have_any_bytes() {
    let scene = Scene::new(&[]);
    for name in ["new\nline", "fol\nder/x"] {
        scene.write(&format!("in/{name}"), name.as_bytes());
    }
    fs::create_dir(scene.path("out")).expect("created");
    let merged = call(&scene, &ours(), "-merge=1 -merge_control_file=control out in").succeeded();
    assert_eq!(scene.files("out").len(), 2, "{merged:#?}");
    let again = call(&scene, &ours(), "-merge=1 -merge_control_file=control out in");
    assert!(again.stderr.contains("control file ok, 2 files total"), "{again:#?}");
}

#[test]
fn a_crash_is_minimized_within_the_runs_and_keeps_its_kind() {
    let input = b"end!abcdefghijklmnopqrstuvwxyz";
    let scene = Scene::new(&[("crash", input), ("good", b"ok")]);
    let small = call(&scene, &ours(), "-minimize_crash=1 -runs=200 -exact_artifact_path=small seeds/crash").succeeded();
    assert_eq!(scene.files("")["small"], b"end!a", "{small:#?}");
    let none = call(&scene, &ours(), "-minimize_crash=1 -runs=1 -exact_artifact_path=same seeds/crash");
    assert!(none.code == Some(0) && scene.files("")["same"] == input, "{none:#?}");
}

#[test]
fn a_crash_is_cleansed_of_bytes_that_do_not_matter() {
    let scene = Scene::new(&[("crash", b"end!asecret")]);
    call(&scene, &ours(), "-cleanse_crash=1 -exact_artifact_path=clean seeds/crash").succeeded();
    assert_eq!(scene.files("")["clean"], b"end!a      ");
}

/// A scene with two good inputs, one that crashes, and an output folder.
fn bad_and_good() -> Scene {
    let scene = Scene::new(&[("good", b"ok"), ("other", b"a")]);
    scene.write("bad", b"end!asecret");
    fs::create_dir(scene.path("out")).expect("created");
    scene
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
        let [(ours, our_files), (theirs, their_files)] = [ours(), reference("ends_as_libfuzzer.c")].map(|harness| {
            let scene = bad_and_good();
            (call(&scene, &harness, arguments), [scene.files(""), scene.files("out"), scene.files("seeds")])
        });
        assert_eq!((ours.code, theirs.code), (Some(code), Some(code)), "{arguments}: {ours:#?} {theirs:#?}");
        assert_eq!(our_files, their_files, "{arguments}: {ours:#?}");
        assert!(ours.stderr.contains(line), "{arguments}: {ours:#?}");
    }
}

#[test]
fn numbers_below_nothing_are_refused_and_flags_without_effect_are_told() {
    let scene = bad_and_good();
    call(&scene, &ours(), "-jobs=-1 -runs=10 seeds").refused(1, &["-jobs=-1", "less than nothing"]);
    let told = call(&scene, &ours(), "-stop_file=x -runs=10 -entropic=1 seeds");
    assert!(told.code == Some(0) && told.stderr.contains("INFO: -stop_file has no effect\n"), "{told:#?}");
    assert!(!told.stderr.contains("-entropic"), "its default: {told:#?}");
}

#[test]
fn a_control_file_of_another_corpus_is_no_obstacle() {
    let scene = bad_and_good();
    scene.write("control", b"2\n0\n/nowhere/a\n/nowhere/b\nSTARTED 0 3\nFT 0 1 2\nCOV 0 1\n");
    let merged = call(&scene, &ours(), "-merge=1 -merge_control_file=control out seeds").succeeded();
    assert!(merged.stderr.contains("MERGE-OUTER: starting merge from scratch"), "{merged:#?}");
    assert_eq!(scene.files("out").len(), 2, "{merged:#?}");
}

#[test]
fn a_corpus_that_goes_away_or_is_read_only_does_not_end_fuzzing() {
    let _alone = alone();
    let scene = bad_and_good();
    let log = fs::File::create(scene.path("log")).expect("created");
    let mut command = Command::new(ours());
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
    let fuzzed = call(&scene, &ours(), "-runs=500 closed seeds");
    assert!(fuzzed.code == Some(0) && fuzzed.stderr.contains("WARNING: new inputs are not kept: "), "{fuzzed:#?}");
}

/// A scene with a harness and its ordinary inputs.
fn parser() -> Scene {
    let scene = Scene::new(&[("one", &[b'x'; 100])]);
    copy_program(&harness("quadratic.c"), &scene.path("parser"));
    scene.write("parser_seed_corpus/one", &[b'x'; 100]);
    fs::create_dir(scene.path("out")).expect("created");
    scene
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
fn a_degradation_is_a_slow_unit_or_ends_fuzzing_as_a_timeout_that_the_same_check_reproduces() {
    let _alone = alone();
    let scene = parser();
    let parser = scene.path("parser");
    let run = call(&scene, &parser, "-runs=300 -seed=1 -max_len=1000 -artifact_prefix=kept- seeds").succeeded();
    let files = scene.files("");
    let (name, bytes) = files.iter().find(|(name, _)| name.starts_with("kept-slow-unit-")).expect("a slow unit");
    assert!(run.stderr.contains(&format!("Test unit written to {name}\n")), "{run:#?}");
    let finding = scene.json(&format!("{name}.json"));
    assert_eq!((&finding["kind"], number(&finding["bytes"])), (&"degradation".into(), bytes.len() as u64));
    assert_eq!(finding["hot_function"], "count_pairs", "{finding:#}");

    let found = call(
        &scene,
        &scene.path("parser"),
        "-degradations=1 -seed=1 -max_len=2000 -runs=20000 -artifact_prefix=found- out seeds",
    );
    is_reported(&found, 70);
    let files = scene.files("");
    let (name, bytes) = files.iter().find(|(name, _)| name.starts_with("found-timeout-")).expect("an artifact");
    assert!(found.stderr.contains(&format!("Test unit written to {name}\n")), "{found:#?}");
    assert!(files.contains_key(&format!("{name}.json")), "{:?}", files.keys());
    assert!(!scene.files("out").values().any(|input| input == bytes), "it would end each later session");
    is_reported(&call(&scene, &scene.path("parser"), &format!("-degradations=1 -timeout=25 -runs=3 {name}")), 70);
    is_reported(&call(&scene, &scene.path("parser"), &format!("-degradations=1 -timeout_exitcode=6 {name}")), 6);
    for good in [format!("-runs=1 {name}"), "-degradations=1 -runs=1 seeds/one".to_owned()] {
        assert_eq!(call(&scene, &scene.path("parser"), &good).code, Some(0), "{good}");
    }

    fs::create_dir(scene.path("merged")).expect("created");
    scene.write("all/slow", bytes);
    let merged = call(&scene, &scene.path("parser"), "-merge=1 -degradations=1 merged all seeds");
    assert!(merged.code == Some(0) && merged.stderr.contains("left out, since it is a degradation"), "{merged:#?}");
    assert!(!scene.files("merged").values().any(|input| input == bytes), "{merged:#?}");
}

#[test]
fn a_degradation_stays_one_when_it_is_minimized() {
    let _alone = alone();
    let scene = parser();
    // what is left after two attempts is far enough from the threshold to be timed on a machine with other work
    scene.write("slow", &[b'y'; 8000]);
    let minimized = call(
        &scene,
        &scene.path("parser"),
        "-minimize_crash=1 -degradations=1 -runs=2 -exact_artifact_path=small slow",
    )
    .succeeded();
    assert!(scene.files("")["small"].len() < 8000, "{minimized:#?}");
    is_reported(&call(&scene, &scene.path("parser"), "-degradations=1 -runs=1 small"), 70);
    let ordinary = call(&scene, &scene.path("parser"), "-minimize_crash=1 -degradations=1 -runs=10 seeds/one");
    assert!(ordinary.code == Some(1) && ordinary.stderr.contains("did not crash"), "{ordinary:#?}");
}

#[test]
fn forked_fuzzing_goes_on_after_degradations() {
    let _alone = alone();
    let scene = parser();
    let run = call(
        &scene,
        &scene.path("parser"),
        "-fork=1 -ignore_timeouts=1 -degradations=1 -seed=1 -max_len=2000 -runs=300 out seeds",
    )
    .succeeded();
    assert!(run.stderr.contains("Test unit written to ./timeout-") && run.stderr.contains("Done 300 runs"), "{run:#?}");
}

#[test]
fn without_ordinary_inputs_the_flag_says_that_it_has_no_effect() {
    let scene = parser();
    fs::remove_dir_all(scene.path("parser_seed_corpus")).expect("removed");
    for arguments in ["-degradations=1 -runs=10 out seeds", "-degradations=1 -runs=1 seeds/one"] {
        let run = call(&scene, &scene.path("parser"), arguments);
        let warnings: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("WARNING: ")).collect();
        assert!(run.code == Some(0) && warnings.len() == 1, "{run:#?}");
        assert!(
            warnings[0].contains("-degradations=1 has no effect") && warnings[0].contains("parser_seed_corpus.zip")
        );
    }
    scene.write("parser_seed_corpus.zip", b"no archive");
    call(&scene, &scene.path("parser"), "-verbosity=0 -degradations=1 -runs=1 seeds/one")
        .refused(1, &["parser_seed_corpus.zip", "make it anew"]);
}
