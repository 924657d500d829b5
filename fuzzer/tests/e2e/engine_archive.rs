//! `libquagmire_engine.a`, which stands in for clang's fuzzer runtime in builds that quagmire-cc does not link.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Scene, binaries, compiler, run, testdata};

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
    let usual = crate::common::harness("quadratic.c");
    scene.fuzz(&usual, "--execs 2000 --seed 1 --max-size 100 --no-confirm").ended();
    assert_eq!(queues[0], scene.files("out/queue"), "the same engine, linked by quagmire-cc");
}

#[test]
fn the_archive_is_one_object_without_symbols_of_rust() {
    let names = |command: &mut Command| -> BTreeSet<String> {
        run(command).ended().stdout.lines().filter_map(|line| line.split(' ').next_back()).map(str::to_owned).collect()
    };
    let members = names(Command::new("ar").arg("t").arg(archive()));
    assert_eq!(members.len(), 1, "{members:?}");
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/runtime/engine.symbols");
    let list = std::fs::read_to_string(list).expect("the list of symbols");
    let listed: BTreeSet<String> = list.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    let mut symbols = names(Command::new("nm").args(["--defined-only", "-g"]).arg(archive()));
    symbols.retain(|symbol| !symbol.is_empty() && !symbol.ends_with(".o:"));
    assert_eq!(symbols, listed);
}
