//! `libquagmire_engine.a`, which stands in for clang's fuzzer runtime in builds that quagmire-cc does not link.

use crate::common::*;

/// Libraries that the engine needs.
const LIBRARIES: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lrt"];

fn archive() -> PathBuf {
    binaries().join("libquagmire_engine.a")
}

/// Compiles a harness of `tests/testdata` with quagmire-cc, and links it with plain clang and the archive.
fn linked_by_clang(scene: &Scene, source: &str, sanitizer: Option<&str>) -> PathBuf {
    let flag = sanitizer.map(|sanitizer| format!("-fsanitize={sanitizer}"));
    let (object, program) = (scene.path("harness.o"), scene.path("harness"));
    let mut compile = compiler(source, None);
    run(compile.args(["-g", "-O1", "-c"]).args(&flag).arg(testdata(source)).arg("-o").arg(&object)).ended();
    let mut link = Command::new("clang-19");
    run(link.args(&flag).arg(&object).arg(archive()).args(LIBRARIES).arg("-o").arg(&program)).ended();
    program
}

#[test]
fn plain_clang_links_a_harness_with_one_archive_and_every_sanitizer() {
    let mut queues = Vec::new();
    for sanitizer in [None, Some("address"), Some("undefined"), Some("memory")] {
        let scene = Scene::new(&[("plain", b"hello")]);
        let harness = linked_by_clang(&scene, "quadratic.c", sanitizer);
        scene.fuzz(&harness, "--execs 2000 --seed 1 --max-size 100 --no-confirm").ended();
        let summary = scene.summary();
        assert_eq!(summary["executions"], 2000, "{sanitizer:?}");
        let worst = scene.files("out/queue").len();
        assert!(worst > 3, "{sanitizer:?}: {worst} entries");
        queues.push(scene.files("out/queue"));
    }
    let scene = Scene::new(&[("plain", b"hello")]);
    let usual = harness("quadratic.c");
    scene.fuzz(&usual, "--execs 2000 --seed 1 --max-size 100 --no-confirm").ended();
    assert_eq!(queues[0], scene.files("out/queue"), "the same engine, linked by quagmire-cc");
}

#[test]
fn the_archive_is_one_object_beside_main_without_symbols_of_rust() {
    let lines = |command: &mut Command| run(command).ended().stdout.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(Command::new("ar").arg("t").arg(archive())), ["main.o", "quagmire_engine.o"]);
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/runtime/engine.symbols");
    let list = fs::read_to_string(list).expect("the list of symbols");
    let patterns: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).chain(["main"]).collect();
    let is_listed = |symbol: &str| {
        patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => symbol.starts_with(start),
            None => symbol == *pattern,
        })
    };
    let symbols = lines(Command::new("nm").args(["--defined-only", "-g", "-A"]).arg(archive()));
    let symbols: Vec<&str> = symbols.iter().filter_map(|line| line.split(' ').next_back()).collect();
    let others: Vec<_> = symbols.iter().filter(|symbol| !is_listed(symbol)).collect();
    assert!(symbols.contains(&"__sanitizer_cov_trace_pc_guard") && others.is_empty(), "{others:?}");
}

#[test]
fn a_harness_of_the_archive_that_exits_ends_its_run_only() {
    let scene = Scene::new(&[("ends", b"end!x"), ("plain", b"hello")]);
    let harness = linked_by_clang(&scene, "ends_as_libfuzzer.c", None);
    scene.fuzz(&harness, "--execs 200 --seed 1 --no-confirm");
    assert_eq!(scene.summary()["executions"], 200);
    assert!(scene.files("out/faults").contains_key("id_000000,orig_ends"), "{:?}", scene.files("out/faults").keys());
    let ran = run(Command::new(&harness).args(["-runs=1", "seeds/ends"]).current_dir(scene.path("")));
    assert!(ran.code == Some(77) && ran.stderr.contains("fuzz target exited"), "{ran:#?}");
}
