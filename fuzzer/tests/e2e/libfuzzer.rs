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
}

#[test]
fn the_corpus_only_is_run_without_runs() {
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
        ("-runs=1 nowhere", 1, "No such file or directory: nowhere; exiting"),
        ("-runs=1 -dict=wrong.dict seeds", 1, "ParseDictionaryFile: error in line 2"),
        ("-runs=1 -dict=nowhere seeds", 1, "quagmire: -dict=nowhere: "),
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
fn a_degradation_is_a_slow_unit_with_its_finding_beside() {
    let _alone = alone();
    let scene = Scene::new(&[("seed", &[b'x'; 100])]);
    let run = call(&scene, &harness("quadratic.c"), "-runs=300 -seed=1 -max_len=1000 -artifact_prefix=found- seeds")
        .succeeded();
    let files = scene.files("");
    let (name, bytes) = files.iter().find(|(name, _)| name.starts_with("found-slow-unit-")).expect("a slow unit");
    assert!(run.stderr.contains(&format!("Test unit written to {name}\n")), "{run:#?}");
    let finding: Value = serde_json::from_slice(&files[&format!("{name}.json")]).expect("JSON");
    assert_eq!((finding["kind"].as_str(), finding["bytes"].as_u64()), (Some("degradation"), Some(bytes.len() as u64)));
    assert_eq!(finding["hot_function"], "count_pairs", "{finding:#}");
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
