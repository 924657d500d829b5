//! Mutators of the harness's own: they are operators beside the others, under the same guard as a run.

use crate::common::*;

/// The harness of `custom_mutator.c` whose mutator does this besides.
fn doing(how: &str) -> PathBuf {
    harness_with("custom_mutator.c", &[&format!("-DHOW={how}")])
}

/// A record of `custom_mutator.c`: the checksum of a text, and the text.
fn record(text: &[u8]) -> Vec<u8> {
    let sum = text.iter().fold(2_166_136_261_u32, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(16_777_619));
    [&sum.to_le_bytes(), text].concat()
}

fn is_record(bytes: &[u8]) -> bool {
    bytes.len() >= 4 && record(&bytes[4..]) == bytes
}

fn two_records() -> Scene {
    Scene::new(&[("a", &record(b"hello")), ("b", &record(b"words"))])
}

/// Runs a campaign over a harness of `custom_mutator.c` with these options.
fn fuzz(scene: &Scene, how: &str, options: &str) -> Run {
    scene.fuzz(&doing(how), &format!("--execs 3000 --seed 1 --max-size 60 --no-confirm {options}"))
}

/// Number of runs of mutants that each operator has taken part in.
fn applied(scene: &Scene) -> BTreeMap<String, u64> {
    let summary = scene.summary();
    let rules = array(&summary["rules"]).iter();
    rules.map(|rule| (string(&rule["label"]).to_owned(), number(&rule["applied"]))).collect()
}

/// Entries that were made by the operators of the harness's own only.
fn own_entries(scene: &Scene) -> Vec<Vec<u8>> {
    let is_own = |name: &str| {
        let operators = name.split("op_").nth(1).map(|rest| rest.split(',').next().unwrap_or_default());
        operators.is_some_and(|operators| operators.split('+').all(|one| one.starts_with("custom")))
    };
    scene.files("out/queue").into_iter().filter(|(name, _)| is_own(name)).map(|(_, bytes)| bytes).collect()
}

#[test]
fn they_are_operators_of_their_own_beside_the_others_and_a_selection_leaves_the_others_out() {
    let (all, only, without) = (two_records(), two_records(), two_records());
    fuzz(&all, "RECORDS", "").ended();
    let counts = applied(&all);
    for operator in ["custom", "custom-crossover", "havoc", "splice"] {
        assert!(counts[operator] > 0, "{operator}: {counts:?}");
    }
    let own = own_entries(&all);
    assert!(own.len() >= 5 && own.iter().all(|bytes| is_record(bytes)), "{own:?}");

    fuzz(&only, "RECORDS", "--rules custom").ended();
    let used: Vec<String> = applied(&only).into_iter().filter(|(_, count)| *count > 0).map(|(name, _)| name).collect();
    assert!(used.iter().all(|name| ["custom", "mask", "trim"].contains(&name.as_str())), "{used:?}");
    assert!(own_entries(&only).len() >= 5);
    // no bytes that a rule or havoc has changed have a checksum that is right
    fuzz(&without, "RECORDS", "--rules T,havoc,splice").ended();
    let records = |scene: &Scene| scene.files("out/queue").values().filter(|bytes| is_record(bytes)).count();
    assert!(records(&only) >= 7 && records(&without) == 2, "{} and {}", records(&only), records(&without));

    let none = two_records();
    none.fuzz(&harness("quadratic.c"), "--rules custom").refused(2, &["--rules custom", "LLVMFuzzerCustomMutator"]);
    assert!(!none.path("out").exists());
}

#[test]
fn what_they_write_is_run_as_it_is_and_what_they_execute_counts_for_no_run() {
    let scene = two_records();
    fuzz(&scene, "PATTERN", "--rules custom").ended();
    let own = own_entries(&scene);
    assert!(own.iter().all(|bytes| bytes.starts_with(b"pattern") && bytes.len() == 8), "{own:?}");
    assert!(applied(&scene)["custom"] > 1000);

    let scene = two_records();
    fuzz(&scene, "COUNTED", "--rules custom").ended();
    assert!(applied(&scene)["custom"] > 1000);
    // a call of that mutator executes more instructions than any input of this size
    for name in scene.files("out/queue").keys() {
        let cost = name.split("cost_").nth(1).and_then(|rest| rest.split(',').next());
        let ratio: f64 = cost.map_or(1.0, |ratio| ratio.parse().expect("a ratio"));
        assert!(ratio < 500.0, "{name}");
    }
}

#[test]
fn they_may_call_llvmfuzzermutate_for_parts_and_the_seed_decides_all() {
    let campaign = || {
        let scene = two_records();
        fuzz(&scene, "NESTED", "").ended();
        (applied(&scene), scene.files("out/queue"))
    };
    let first = campaign();
    assert!(first.0["custom"] > 500, "{:?}", first.0);
    assert_eq!(first, campaign());
}

#[test]
fn one_that_crashes_or_exits_whenever_it_is_called_ends_the_campaign_with_a_reason() {
    for (how, what) in [("CRASHES", "SIGSEGV"), ("EXITS", "exited with code 7")] {
        let scene = two_records();
        let ended = fuzz(&scene, how, "");
        ended.refused(3, &["the harness's own mutator fails more often than it works", what, "--rules"]);
        assert_eq!(scene.files("out/faults").len(), 0, "the target did not fail");
        // what the message says to do
        fuzz(&scene, how, "--resume --rules T,havoc").ended();
        assert!(number(&scene.summary()["executions"]) >= 3000);
    }
    // who writes behind the room for mutants crashes
    fuzz(&two_records(), "OVERFLOWS", "").refused(3, &["crashed (SIGSEGV)"]);
}

#[test]
fn one_that_fails_at_times_is_reported_once_and_the_campaign_continues() {
    for (how, options, said, least) in [
        ("CRASHES_AT_TIMES", "--execs 3000", Some("the harness's own mutator crashed (SIGSEGV)"), 500),
        ("TOO_LONG", "--execs 3000", Some("returns more bytes than its max_size"), 400),
        ("HANGS", "--execs 300 --rules custom --hang-timeout 0.1", Some("the harness's own mutator hung"), 0),
        ("NOTHING", "--execs 3000", None, 0),
    ] {
        let scene = two_records();
        scene.fuzz(&doing(how), &format!("--seed 1 --max-size 60 --no-confirm {options}")).ended();
        let log = scene.log();
        assert!(said.is_none_or(|said| log.matches(said).count() == 1), "{how}: {log}");
        let custom = applied(&scene)["custom"];
        assert!(custom > least || least == 0 && (how == "HANGS" || custom == 0), "{how}: {custom}");
        let summary = scene.summary();
        let executions = options.split(' ').nth(1).and_then(|number| number.parse().ok());
        assert_eq!(summary["executions"].as_u64(), executions, "{how}");
        assert_eq!([&summary["faults"], &summary["hangs"]], [0, 0], "{how}");
        assert!(scene.files("out/queue").values().all(|bytes| bytes.len() <= 60), "{how}");
    }
}

#[test]
fn under_the_fork_server_nobody_calls_them_and_they_link() {
    let scene = two_records();
    let options = ["-g", "-O1", "-fsanitize=fuzzer"];
    let program = scene.compile("driver", "custom_mutator.c", &options, &[("QUAGMIRE_DRIVER", "1")]);
    scene.fuzz(&program, "--rules custom").refused(2, &["QUAGMIRE_DRIVER"]);
    scene.fuzz(&program, "--execs 500 --seed 1 --max-size 60 --no-confirm").ended();
    assert_eq!(applied(&scene)["custom"], 0);
}

#[test]
fn a_program_with_a_main_of_its_own_hands_its_function_and_arguments_over() {
    let scene = Scene::new(&[("one", b"banana")]);
    let program = harness("run_driver.c");
    scene.fuzz(&program, "--execs 300 --seed 1 --max-size 30 --no-confirm").ended();
    assert_eq!((&scene.summary()["executions"], &scene.summary()["faults"]), (&300.into(), &0.into()));
}

#[test]
fn what_such_a_program_takes_itself_it_gets_again_where_inputs_are_measured_and_in_what_is_printed() {
    let scene = Scene::new(&[("one", b"banana bread is made of bananas")]);
    let fuzz = |options: &str| {
        let mut command = Command::new(harness("run_driver.c"));
        command.args(["--test", "--", "-i", "seeds", "-o", "out"]).current_dir(scene.path(""));
        run(command.args(options.split_whitespace()))
    };
    fuzz("--execs 5000 --seed 1 --max-size 3000").succeeded();
    let summary = scene.summary();
    assert!(number(&summary["degradations"]) > 0, "{summary:#}");
    let command = string(&array(&summary["findings"])[0]["reproduce"]);
    assert!(command.contains("--test -- replay "), "{command}");
    let shown = scene.shell(&format!("{command} 2>&1")).stdout;
    assert!(shown.contains("verdict") && shown.contains("[ OK ]"), "{shown}");
}

#[test]
fn counters_of_the_harness_are_edges() {
    let scene = Scene::new(&[("one", b"abc")]);
    scene.fuzz(&harness("extra_counters.c"), "--execs 3000 --seed 1 --max-size 3 --no-confirm").ended();
    // the function has 2 edges, and each value of a byte a counter
    let found = number(&scene.summary()["edges_found"]);
    assert!((100..=260).contains(&found), "{found}");
    let edges = |bytes: &[u8]| {
        let path = scene.write("other", bytes);
        number(&scene.replay(&harness("extra_counters.c"), "", &[&path])[0]["edges_hit"])
    };
    // both ways through the function have three edges
    assert_eq!((edges(b"xyz"), edges(b"xy")), (4, 3));
}

/// Flags of libprotobuf-mutator for a compiler; `None` if it is not installed.
fn libprotobuf_mutator() -> Option<Vec<String>> {
    if !has_program("protoc", "protobuf") || !has_program("pkg-config", "pkg-config") {
        return None;
    }
    let asked = run(Command::new("pkg-config").args(["--cflags", "--libs", "libprotobuf-mutator", "protobuf"]));
    if asked.code != Some(0) {
        skip("libprotobuf-mutator", "install libprotobuf-mutator-dev, where the release has it");
        return None;
    }
    Some(asked.stdout.split_whitespace().map(str::to_owned).collect())
}

/// Whether protoc can read a text as a Document.
fn is_document(text: &[u8]) -> bool {
    let mut protoc = Command::new("protoc");
    protoc.arg("--proto_path").arg(testdata("")).args(["--encode=Document", "document.proto"]);
    let mut child =
        protoc.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("protoc starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), text).expect("it reads");
    child.wait().expect("it ends").success()
}

#[test]
fn libprotobuf_mutator_keeps_messages_whole_as_bytes_do_not() {
    let Some(flags) = libprotobuf_mutator() else { return };
    let source = tempfile::tempdir().expect("a folder");
    let generated = format!("--cpp_out={}", source.path().display());
    run(Command::new("protoc").arg("--proto_path").arg(testdata("")).args([&generated, "document.proto"])).ended();
    let program = source.path().join("document");
    let mut command = Command::new(binaries().join("quagmire-c++"));
    command
        .args(["-std=c++17", "-g", "-O1", "-fsanitize=fuzzer", "-I"])
        .arg(source.path())
        .arg(testdata("document.cc"));
    command.arg(source.path().join("document.pb.cc")).args(&flags).arg("-o").arg(&program);
    run(&mut command).succeeded();

    let document = b"items { key: \"a\" number: 7 } items { key: \"b\" children { key: \"c\" } }";
    let campaign = |rules: &str| {
        let scene = Scene::new(&[("document", document)]);
        scene.fuzz(&program, &format!("--execs 4000 --seed 1 --max-size 400 --no-confirm {rules}")).ended();
        scene.files("out/queue")
    };
    let by_bytes = campaign("--rules T,havoc,splice");
    let documents = by_bytes.values().filter(|bytes| is_document(bytes)).count();
    assert!(documents * 2 < by_bytes.len(), "{documents} of {}", by_bytes.len());
    let entries = campaign("--rules custom,custom-crossover --no-mask --experiment no-trim");
    assert!(entries.len() > 10, "{}", entries.len());
    for (name, bytes) in entries {
        assert!(is_document(&bytes), "{name}: {}", String::from_utf8_lossy(&bytes));
    }
}
