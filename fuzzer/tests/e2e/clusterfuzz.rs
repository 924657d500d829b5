//! ClusterFuzz's own libFuzzer engine, on harnesses of quagmire and on the same source with clang's libFuzzer:
//! `scripts/services/clusterfuzz`.

use crate::common::*;

/// A harness as a build for ClusterFuzz has it: with its options and its seed corpus.
struct Build<'a> {
    program: PathBuf,
    options: &'a str,
    seeds: &'a [&'a [u8]],
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Python with the package clusterfuzz; `None` if it may be missing.
fn python() -> Option<PathBuf> {
    let python = project().join("target/tools/clusterfuzz/bin/python");
    if !python.exists() {
        skip("clusterfuzz", "scripts/services/install installs it");
        return None;
    }
    Some(python)
}

/// Results of ClusterFuzz's engine on a build, and the scene with its files.
fn results(python: &Path, build: &Build<'_>) -> (Value, Scene) {
    let scene = Scene::new(&[]);
    let fuzzer = scene.path("build/sample_fuzzer");
    for (at, seed) in build.seeds.iter().enumerate() {
        scene.write(&format!("seeds/{at}"), seed);
    }
    scene.write("build/sample_fuzzer.options", build.options.as_bytes());
    copy_program(&build.program, &fuzzer);
    let archive = "import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[2])";
    let mut command = Command::new("python3");
    run(command.args(["-c", archive]).arg(scene.path("build/sample_fuzzer_seed_corpus")).arg(scene.path("seeds")))
        .ended();
    let mut command = Command::new(python);
    command.arg(project().join("scripts/services/clusterfuzz")).arg(&fuzzer).arg(scene.path("work")).arg("15");
    let ended = run(&mut command).succeeded();
    let found = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("JSON: {ended:#?}"));
    (found, scene)
}

/// Asserts that the testcase is what ClusterFuzz makes of an end of this kind.
fn check_testcase(found: &Value, name: &str, code: i64, crash_type: &str) {
    assert_eq!(found["crashes"].as_array().map(Vec::len), Some(1), "{found:#}");
    let crash = &found["crashes"][0];
    assert_eq!((crash["name"].as_str(), crash["code"].as_i64()), (Some(name), Some(code)), "{found:#}");
    for run in ["fuzzing", "reproducing"] {
        assert_eq!(crash[run]["type"].as_str(), Some(crash_type), "{found:#}");
    }
    assert_eq!(crash["minimized"]["code"].as_i64(), Some(0), "{found:#}");
    assert_eq!(crash["minimized"]["again"].as_i64(), Some(code), "{found:#}");
    // each byte of a slow input may take longer than there is time: ClusterFuzz gives up then
    assert!(crash["cleansed"]["code"].as_i64().is_none_or(|code| code == 0), "{found:#}");
    if crash["cleansed"]["is_written"] == true {
        assert_eq!(crash["cleansed"]["again"].as_i64(), Some(code), "{found:#}");
    }
}

#[test]
fn crashes_timeouts_and_runs_out_of_memory_become_the_same_testcases_as_with_libfuzzer() {
    let _alone = alone();
    let Some(python) = python() else { return };
    let source = "ends_as_libfuzzer.c";
    let clangs = reference(source);
    for (input, options, name, code, crash_type) in [
        ("end!a", "", "crash", 77, "Fatal-signal"),
        ("end!h", "[libfuzzer]\ntimeout = 1\n", "timeout", 70, "Timeout"),
        ("end!m", "[libfuzzer]\nrss_limit_mb = 200\n", "oom", 71, "Out-of-memory"),
    ] {
        let seeds: [&[u8]; 3] = [input.as_bytes(), b"ok", b"okokok"];
        let one = |program: PathBuf| {
            let (found, _scene) = results(&python, &Build { program, options, seeds: &seeds });
            check_testcase(&found, name, code, crash_type);
            assert_eq!(found["given"].as_u64(), Some(3), "{found:#}");
            assert_eq!(found["targets"], json!(["sample_fuzzer"]), "{found:#}");
            found
        };
        // both wait for timeouts most of the time
        let (ours, theirs) = std::thread::scope(|scope| {
            let theirs = scope.spawn(|| one(clangs.clone()));
            (one(harness(source)), theirs.join().expect("libFuzzer's results"))
        });
        let of_stats = "crash_count timeout_count oom_count startup_crash_count bad_instrumentation log_lines_unwanted max_len \
                        timeout_limit";
        let of_stats = of_stats.split(' ').map(|name| format!("/stats/{name}"));
        let others =
            ["/arguments", "/crashes/0/arguments", "/crashes/0/minimized/bytes", "/merged/files", "/timed_out"];
        for pointer in &others.map(str::to_owned).into_iter().chain(of_stats).collect::<Vec<_>>() {
            assert_eq!(ours.pointer(pointer), theirs.pointer(pointer), "{pointer}: {ours:#} {theirs:#}");
        }
        // features are pairs of edges and buckets, of which compilers make different numbers
        assert!(
            ours.pointer("/merged/stats/feature_coverage").is_some_and(|count| count.as_u64() > Some(0)),
            "{ours:#}"
        );
    }
}

#[test]
fn a_session_without_a_finding_has_statistics_and_a_merged_corpus() {
    let _alone = alone();
    let Some(python) = python() else { return };
    let seeds: [&[u8]; 2] = [b"ok", b"okokok"];
    let build = Build { program: harness("sizes.c"), options: "[libfuzzer]\nruns = 2000\n", seeds: &seeds };
    let (found, _scene) = results(&python, &build);
    assert_eq!(found["crashes"], json!([]), "{found:#}");
    let stat = |name: &str| found["stats"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {found:#}"));
    assert_eq!(stat("number_of_executed_units"), 2000, "{found:#}");
    assert!(stat("edges_total") > 0 && stat("edge_coverage") > 0 && stat("peak_rss_mb") > 0, "{found:#}");
    assert_eq!(stat("new_units_added"), found["corpus"].as_u64().unwrap_or(0) - 2, "{found:#}");
    assert!(stat("feature_coverage") >= stat("initial_feature_coverage"), "{found:#}");
}

#[test]
fn a_degradation_becomes_a_testcase_whose_state_is_its_function() {
    let _alone = alone();
    let Some(python) = python() else { return };
    let seeds: [&[u8]; 1] = [&[b'x'; 100]];
    let options = "[libfuzzer]\ndegradations = 1\nmax_len = 2000\nseed = 1\n";
    let (found, _scene) = results(&python, &Build { program: harness("quadratic.c"), options, seeds: &seeds });
    check_testcase(&found, "timeout", 70, "Timeout");
    for run in ["fuzzing", "reproducing"] {
        assert_eq!(found["crashes"][0][run]["state"], json!(["count_pairs"]), "{found:#}");
    }
    assert_eq!(found["stats"]["timeout_count"].as_u64(), Some(1), "{found:#}");
}
