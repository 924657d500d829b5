//! Harnesses of a build for OSS-Fuzz, with the engine where clang's fuzzer runtime is, called as the scripts of its
//! base-runner call them.

use std::sync::OnceLock;

use regex::Regex;

use crate::common::*;

const CLANG: &str = "clang-19";

/// Flags of the base-builder by sanitizer.
const ADDRESS: &[&str] = &["-fsanitize=address", "-fsanitize-address-use-after-scope", "-fsanitize=fuzzer-no-link"];
const UNDEFINED: &[&str] = &[
    "-fsanitize=array-bounds,bool,null,shift",
    "-fno-sanitize-recover=array-bounds,null",
    "-fsanitize=fuzzer-no-link",
];
const COVERAGE: &[&str] = &["-fprofile-instr-generate", "-fcoverage-mapping", "-pthread"];

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/oss-fuzz/install")
}

/// A copy of clang's folder of libraries, in which the engine is the fuzzer runtime.
fn resources() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let own = run(Command::new(CLANG).arg("-print-resource-dir")).ended().stdout;
        let own = Path::new(own.trim()).canonicalize().expect("clang's folder");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clang-with-quagmire");
        run(Command::new("rm").arg("-rf").arg(&copy)).ended();
        run(Command::new("cp").arg("-rs").arg(own).arg(&copy)).ended();
        run(Command::new(script()).arg(binaries().join("libquagmire_engine.a")).arg(&copy)).ended();
        copy
    })
}

/// Builds a harness into `out/` as a project's build.sh does.
fn build(scene: &Scene, source: &str, flags: &[&str]) -> PathBuf {
    let (object, program) = (scene.path("harness.o"), scene.path("out/sample_fuzzer"));
    fs::create_dir_all(scene.path("out")).expect("created");
    let clang = || {
        let mut command = Command::new(CLANG);
        command.arg("-resource-dir").arg(resources()).args(["-O1", "-gline-tables-only"]).args(flags);
        command
    };
    run(clang().arg("-c").arg(testdata(source)).arg("-o").arg(&object)).ended();
    run(clang().arg("-fsanitize=fuzzer").arg(&object).arg("-o").arg(&program)).ended();
    program
}

/// Runs a command line in `out/`, with `OUT` for that folder, as run_fuzzer does.
fn shell(scene: &Scene, line: &str) -> Run {
    let out = scene.path("out");
    let line = line.replace("OUT", &out.to_string_lossy()).replace("SCENE", &scene.path("").to_string_lossy());
    run(Command::new("bash").args(["-c", &line]).current_dir(out))
}

#[test]
fn bad_build_check_takes_harnesses_of_every_sanitizer() {
    let loaded =
        Regex::new(r"INFO: Loaded \d+ module.*\(.*(counters|guards)\):\s+(\d+)").expect("as in bad_build_check");
    for flags in [ADDRESS, UNDEFINED] {
        let scene = Scene::new(&[]);
        let harness = build(&scene, "ends_as_libfuzzer.c", flags);
        for line in ["OUT/sample_fuzzer -- -seed=1337 -runs=4", "OUT/sample_fuzzer --  -seed=1337 -runs=4 < /dev/null"]
        {
            let checked = shell(&scene, line).succeeded();
            assert!(checked.stderr.contains("Done 4 runs"), "{checked:#?}");
            assert!(!checked.stderr.contains("ERROR: no interesting inputs were found"), "{checked:#?}");
            let edges = loaded.captures(&checked.stderr).and_then(|found| found[2].parse::<u32>().ok());
            assert!(edges.is_some_and(|edges| edges > 0), "{checked:#?}");
        }
        // how targets are told from other files
        let bytes = fs::read(harness).expect("a harness");
        assert!(bytes.windows(22).any(|window| window == b"LLVMFuzzerTestOneInput") && bytes.starts_with(b"\x7fELF"));
    }
    // calls of sanitizers are counted: the engine has none that it needs
    let archive = binaries().join("libquagmire_engine.a");
    let symbols = run(Command::new("nm").arg("-u").arg(archive)).ended().stdout;
    let of_sanitizers = Regex::new(r"(?m)^ +U __(a|m|t|ub|df)san_.*$").expect("a pattern");
    assert_eq!(of_sanitizers.find_iter(&symbols).count(), 0, "{:?}", of_sanitizers.find(&symbols));
}

#[test]
fn run_fuzzer_fuzzes_with_options_dictionary_and_corpus_and_reproduces() {
    // sanitizers keep their allocator beside the engine
    let scene = Scene::new(&[]);
    build(&scene, "overflow.c", ADDRESS);
    scene.write("corpus/long", b"!bang");
    let found = shell(&scene, "OUT/sample_fuzzer -- -runs=1000 -artifact_prefix=SCENE/ SCENE/corpus < /dev/null");
    assert!(found.stderr.contains("ERROR: AddressSanitizer: heap-buffer-overflow"), "{found:#?}");

    let scene = Scene::new(&[("good", b"ok")]);
    build(&scene, "ends_as_libfuzzer.c", ADDRESS);
    scene.write("out/sample_fuzzer.dict", b"\"end!\"\n");
    scene.write("corpus/crash", b"end!a");
    let fuzzed = shell(
        &scene,
        "OUT/sample_fuzzer -- -rss_limit_mb=2560 -timeout=25 -artifact_prefix=SCENE/ -runs=5000 SCENE/corpus \
         -max_len=100 -dict=sample_fuzzer.dict < /dev/null",
    );
    assert!(fuzzed.code.is_some_and(|code| code != 0), "{fuzzed:#?}");
    assert!(fuzzed.stderr.contains("Dictionary: 1 entries"), "{fuzzed:#?}");
    let (artifact, bytes) =
        scene.files("").into_iter().find(|(name, _)| name.starts_with("crash-")).expect("an artifact");
    assert_eq!(bytes, b"end!a");
    let again = shell(
        &scene,
        &format!("OUT/sample_fuzzer -- -rss_limit_mb=2560 -timeout=25 -runs=100 SCENE/{artifact} < /dev/null"),
    );
    assert_eq!(again.code, fuzzed.code, "{again:#?}");
    assert!(again.stderr.contains("ERROR: AddressSanitizer: ABRT"), "{again:#?}");

    shell(&scene, "OUT/sample_fuzzer -- -rss_limit_mb=2560 -timeout=25 -runs=100 SCENE/seeds/good < /dev/null")
        .succeeded();
}

#[test]
fn a_coverage_build_without_counters_merges_and_writes_its_profile() {
    let scene = Scene::new(&[]);
    build(&scene, "ends_as_libfuzzer.c", COVERAGE);
    for (name, bytes) in [("a", "end!a"), ("b", "end!b"), ("c", "ok")] {
        scene.write(&format!("corpus/{name}"), bytes.as_bytes());
    }
    let merged = shell(
        &scene,
        "mkdir dummy && LLVM_PROFILE_FILE=SCENE/sample.%1m.profraw timeout 1h OUT/sample_fuzzer -merge=1 -timeout=100 dummy \
         SCENE/corpus",
    ).succeeded();
    assert!(scene.files("out/dummy").is_empty(), "{merged:#?}");
    let profile = scene.files("").into_keys().find(|name| name.ends_with(".profraw")).expect("a profile");
    let line = format!(
        "llvm-profdata-19 merge -sparse SCENE/{profile} -o SCENE/profile && \
         llvm-cov-19 export -summary-only -instr-profile=SCENE/profile -object=OUT/sample_fuzzer"
    );
    let covered = shell(&scene, &line).ended().stdout;
    let covered: Value = serde_json::from_str(&covered).expect("JSON");
    let lines = &covered["data"][0]["totals"]["lines"];
    assert!(lines["covered"].as_u64() > Some(5), "{covered:#}");
}

#[test]
fn the_script_that_installs_the_engine_says_what_it_misses() {
    let scene = Scene::new(&[]);
    let nothing = run(Command::new(script()).arg(scene.path("libquagmire_engine.a")));
    assert!(nothing.code == Some(1) && nothing.stderr.contains("run scripts/build first"), "{nothing:#?}");
    let archive = binaries().join("libquagmire_engine.a");
    let empty = run(Command::new(script()).arg(archive).arg(scene.path("seeds")));
    assert!(empty.code == Some(1) && empty.stderr.contains("no fuzzer runtime of clang"), "{empty:#?}");
}
