//! `quagmire mutants bench`: campaigns of several fuzzers, and the mutants that each kills.

use std::os::unix::fs::PermissionsExt;

use crate::common::*;

const SOURCE: &str = "mutants_performance.c";

/// Script of a fuzzer that copies the seeds, and adds an input with these contents; the time is over when it ends.
fn script(scene: &Scene, name: &str, input: &str) -> String {
    let text = format!(
        "#!/bin/sh\nset -e\necho run >> calls-{name}\nmkdir \"$2/found\"\ncp \"$1\"/* \"$2/found\"\n\
         printf %s '{input}' > \"$2/found/more\"\nsleep \"$3\"\necho found\necho \"executions: $4\"\n"
    );
    let path = scene.write(&format!("{name}.sh"), text.as_bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made executable");
    format!("{name}=./{name}.sh")
}

/// A scene with a seed, and `mutants`, a program with performance mutants.
fn scene() -> Scene {
    let scene = Scene::new(&[("small", b"n 2 2")]);
    build(&scene, "mutants", &testdata(SOURCE), Some("performance"), &[]);
    scene
}

fn build(scene: &Scene, name: &str, source: &Path, mutants: Option<&str>, options: &[&str]) {
    let variables: Vec<_> = mutants.iter().map(|mutants| ("QUAGMIRE_MUTANTS", *mutants)).collect();
    scene.compile(name, source.to_str().expect("text"), &[&["-O1"], options].concat(), &variables);
}

fn bench(scene: &Scene, options: &[&str]) -> Run {
    run(&mut scene
        .quagmire(&[&["mutants", "bench", "-i", "seeds", "-o", "out"], options, &["--", "./mutants"]].concat()))
}

fn result(scene: &Scene) -> Value {
    scene.json("out/bench.json")
}

fn calls(scene: &Scene, name: &str) -> usize {
    fs::read_to_string(scene.path(&format!("calls-{name}"))).map_or(0, |text| text.lines().count())
}

#[test]
fn fuzzers_are_ranked_by_what_their_campaigns_kill_beyond_the_seeds() {
    let scene = scene();
    let (weak, strong) = (script(&scene, "weak", "n 30 2"), script(&scene, "strong", "n 9000 2"));
    let options = ["--time", "1s", "--runs", "2", "--script", &weak, "--script", &strong];
    let first = bench(&scene, &options).succeeded();
    assert!(first.stderr.contains("strong 2: 1 s, 2 executions, 2 inputs: "), "{first:#?}");
    let names: Vec<&str> = first.stdout.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(names.iter().filter(|name| ["strong", "weak"].contains(name)).collect::<Vec<_>>(), [&"strong", &"weak"]);
    let result = result(&scene);
    let fuzzer = |place: usize| &result["fuzzers"][place];
    assert_eq!((&fuzzer(0)["name"], &fuzzer(1)["name"]), (&"strong".into(), &"weak".into()));
    assert_eq!((number(&fuzzer(0)["rank"]), number(&fuzzer(1)["rank"])), (1, 2));
    // thirty rounds pass the first gate, nine thousand all of them
    assert!(fuzzer(0)["gates"]["4096"].as_f64().is_some_and(|number| number > 0.0), "{result:#}");
    assert!(fuzzer(1)["gates"]["16"].as_f64().is_some_and(|number| number > 0.0), "{result:#}");
    assert!(fuzzer(1)["gates"]["256"].is_null(), "{result:#}");
    // nothing that the score of the same inputs does not have
    let scored = run(&mut scene.quagmire(&["mutants", "score", "out/strong-1/found", "--json", "--", "./mutants"]));
    let scored = scored.json();
    let killed = number(&scored["all"]["killed"]) - number(&result["killed_by_seeds"]);
    assert_eq!(fuzzer(0)["killed"].as_f64(), Some(killed as f64));
    for campaign in array(&fuzzer(0)["campaigns"]) {
        for kill in array(&campaign["killed"]) {
            assert!(kill["seconds"].as_f64().is_some_and(|seconds| seconds < 1.0), "{kill:#}");
        }
        assert!(campaign["command"].as_str().is_some_and(|command| command.contains("strong.sh")), "{campaign:#}");
    }
    assert_eq!(fuzzer(1)["a12"], 1.0);
    // finished campaigns are not made again, and another bench is not gone on with
    bench(&scene, &options).refused(2, &["out holds a bench", "--resume"]);
    let more = ["--resume", "--time", "1s", "--runs", "3", "--script", &weak, "--script", &strong, "--json"];
    let more = bench(&scene, &more);
    assert_eq!((more.code, calls(&scene, "weak"), calls(&scene, "strong")), (Some(0), 3, 3), "{more:#?}");
    let more = more.json();
    assert_eq!(more["fuzzers"][0]["campaigns"].as_array().map(Vec::len), Some(3));
    let other = |options: &[&str]| bench(&scene, &[options, &["--resume", "--script", &weak]].concat());
    other(&["--time", "2s"]).refused(2, &["another --time", "another folder"]);
    other(&["--time", "1s", "--max-size", "9"]).refused(2, &["another --max-size", "another folder"]);
    scene.write("seeds/other", b"n 3 3");
    other(&["--time", "1s"]).refused(2, &["other seeds", "another folder"]);
}

#[test]
fn quagmire_afl_and_libfuzzer_are_run_by_their_names() {
    if !has_program("afl-clang-fast", "afl++") || !has_program("clang-19", "llvm-19") {
        return;
    }
    let scene = Scene::new(&[("seed", b"<a><b></b></a>")]);
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../harnesses/nested-xml/harness.c");
    build(&scene, "mutants", &source, Some("performance"), &["-fsanitize=fuzzer"]);
    build(&scene, "ours", &source, None, &["-fsanitize=fuzzer"]);
    let others = [("afl-clang-fast", "afl"), ("clang-19", "libfuzzer")];
    for (clang, name) in others {
        let mut command = Command::new(clang);
        command.args(["-O1", "-g", "-fsanitize=fuzzer"]).arg(&source).arg("-o").arg(scene.path(name));
        let built = run(command.env("AFL_QUIET", "1"));
        if built.stderr.contains("libclang_rt.fuzzer") {
            return skip("libclang-rt", "install the runtimes of clang (libclang-rt-N-dev)");
        }
        assert_eq!(built.code, Some(0), "{built:#?}");
    }
    let fuzzers = ["quagmire=./ours", "perffuzz=./ours", "afl=./afl", "libfuzzer=./libfuzzer"];
    let named: Vec<&str> = fuzzers.iter().flat_map(|one| ["--fuzzer", one]).collect();
    bench(&scene, &[&["--time", "4s", "--runs", "1", "-j", "2"], named.as_slice()].concat()).succeeded();
    let result = result(&scene);
    let standings = array(&result["fuzzers"]);
    assert_eq!(standings.len(), 4);
    for one in standings {
        let campaign = &one["campaigns"][0];
        assert!(number(&campaign["executions"]) > 0 && number(&campaign["inputs"]) > 0, "{one:#}");
        assert_eq!(campaign["end"], "in-time", "{one:#}");
    }
    assert!(standings[0]["killed"].as_f64().is_some_and(|killed| killed > 0.0), "{result:#}");
}

#[test]
fn faults_are_killed_without_a_time() {
    let scene = Scene::new(&[("small", b"a")]);
    build(&scene, "mutants", &testdata("mutants_program.c"), Some("1"), &[]);
    let script = script(&scene, "digits", "a1b22");
    let ran = bench(&scene, &["--time", "1s", "--runs", "1", "--script", &script]).succeeded();
    let result = result(&scene);
    assert_eq!(result["is_performance"], false);
    assert!(result["fuzzers"][0]["killed"].as_f64().is_some_and(|killed| killed > 0.0), "{result:#}");
    assert!(result["fuzzers"][0]["campaigns"][0]["killed"][0]["seconds"].is_null());
    assert!(!ran.stdout.contains("x100"), "{ran:#?}");
}

#[test]
fn a_bench_that_is_stopped_keeps_its_finished_campaigns() {
    let scene = scene();
    let script = script(&scene, "slow", "n 30 2");
    let words = ["mutants", "bench", "-i", "seeds", "-o", "out", "--time", "2s", "--runs", "3", "--script", &script];
    let mut command = scene.quagmire(&[&words[..], &["--", "./mutants"]].concat());
    let child = start(&mut command);
    wait_until("a second campaign has begun", || (calls(&scene, "slow") >= 2).then_some(()));
    bench(&scene, &["--time", "2s", "--resume", "--script", &script]).refused(2, &["in use"]);
    let stopped = interrupted(child);
    assert_eq!(stopped.code, Some(1), "{stopped:#?}");
    assert!(
        stopped.stderr.contains("stopped by a signal after 1 finished campaign: go on with --resume"),
        "{stopped:#?}"
    );
    assert!(scene.path("out/slow-1.json").exists() && !scene.path("out/slow-2.json").exists());
    let resumed = bench(&scene, &["--time", "2s", "--runs", "2", "--resume", "--script", &script]);
    assert_eq!((resumed.code, calls(&scene, "slow")), (Some(0), 3), "{resumed:#?}");
}

#[test]
fn mistakes_are_refused_in_one_line() {
    let scene = scene();
    let script = script(&scene, "one", "n 30 2");
    let short = ["--time", "1s", "--runs", "1"];
    let with = |options: &[&str]| bench(&scene, &[&short, options].concat());
    bench(&scene, &[]).refused(2, &["no fuzzer", "--fuzzer quagmire=./HARNESS"]);
    with(&["--fuzzer", "honggfuzz=./x"]).refused(2, &["libfuzzer; others are run by --script honggfuzz=FILE"]);
    with(&["--script", &script, "--script", &script]).refused(2, &["one is named twice"]);
    with(&["--fuzzer", "quagmire=./nothing"]).refused(3, &["./nothing of quagmire"]);
    with(&["--fuzzer", "quagmire=./mutants"]).refused(3, &["./mutants of quagmire has mutants", "QUAGMIRE_MUTANTS"]);
    with(&["--script", &script, "--max-size", "2"]).refused(2, &["seeds/small", "--max-size 2"]);
    let kept = scene.write("used/one-1/mine", b"of the user");
    let words = ["mutants", "bench", "-i", "seeds", "-o", "used", "--script", &script, "--", "./mutants"];
    run(&mut scene.quagmire(&words)).refused(2, &["used is not empty", "another folder"]);
    assert_eq!(fs::read(kept).expect("still there"), b"of the user");
    scene.write("fails.sh", b"#!/bin/sh\necho no such luck >&2\nexit 7\n");
    with(&["--script", "fails=./fails.sh"]).refused(3, &["./fails.sh of fails is no executable file"]);
    fs::set_permissions(scene.path("fails.sh"), fs::Permissions::from_mode(0o755)).expect("made executable");
    with(&["--script", "fails=./fails.sh"]).refused(3, &["fails has failed: no such luck", "out/fails-1/log"]);
    let words = ["mutants", "bench", "-i", "seeds", "-o", "other", "--script", &script, "--", "/bin/true"];
    run(&mut scene.quagmire(&words)).refused(3, &["/bin/true: build it with"]);
}
