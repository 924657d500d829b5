//! The functions that FuzzBench calls, `scripts/fuzzbench/quagmire/fuzzer.py`, with a stand-in for `fuzzers.utils`.

use std::os::unix::process::CommandExt as _;

use crate::common::*;

/// Functions of FuzzBench's `fuzzers.utils`, as far as quagmire uses them. The benchmark is one file.
const UTILS: &str = r#"
import os, subprocess

def append_flags(variable, flags, env=None):
    os.environ[variable] = ' '.join([os.environ.get(variable, '')] + flags)

def build_benchmark(env=None):
    subprocess.check_call(['bash', '-exc', '$CC $CFLAGS -c $SOURCE -o $OUT/harness.o && '
                           '$CXX $CXXFLAGS $OUT/harness.o $FUZZER_LIB -o $OUT/target'])

def get_dictionary_path(target):
    return target + '.dict' if os.path.exists(target + '.dict') else None
"#;

/// Calls a function of the module in a process of its own.
fn call(scene: &Scene, function: &str) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fuzzbench/quagmire");
    let source = fs::read(folder.join("fuzzer.py")).expect("the module");
    scene.write("fuzzers/__init__.py", b"");
    scene.write("fuzzers/utils.py", UTILS.as_bytes());
    scene.write("fuzzers/quagmire/fuzzer.py", &source);
    let engine: PathBuf = binaries().join("libquagmire_engine.a");
    let code = format!("from fuzzers.quagmire import fuzzer; fuzzer.ENGINE = {engine:?}; fuzzer.{function}");
    let flags = "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -pthread -Wl,--no-as-needed -Wl,-ldl -Wl,-lm \
                 -Wno-unused-command-line-argument -O3";
    let mut command = Command::new("python3");
    command.args(["-c", &code]).current_dir(scene.path("")).envs([("CFLAGS", flags), ("CXXFLAGS", flags)]);
    command.env("OUT", scene.path("")).env("SOURCE", testdata("ends_as_libfuzzer.c"));
    command
}

#[test]
fn a_benchmark_is_built_and_fuzzed_until_it_is_killed() {
    let _alone = alone();
    let scene = Scene::new(&[("crash", b"end!a"), ("good", b"ok")]);
    run(&mut call(&scene, "build()")).succeeded();
    scene.write("target.dict", b"\"end!\"\n");
    fs::create_dir(scene.path("out")).expect("created");
    let log = fs::File::create(scene.path("log")).expect("created");
    let mut fuzzing = call(&scene, "fuzz('seeds', 'out', './target')");
    fuzzing.stdout(Stdio::null()).stderr(log).process_group(0);
    let mut fuzzing = fuzzing.spawn().expect("python3");
    let has_files = |folder: &str| {
        let files = fs::read_dir(scene.path(folder)).into_iter().flatten().flatten();
        files.count() > 0
    };
    wait_until("a crash and a new input are written", || {
        assert!(fuzzing.try_wait().expect("a child").is_none(), "{}", scene.files("").len());
        (has_files("out/crashes") && has_files("out/corpus")).then_some(())
    });
    // as FuzzBench ends a trial
    // SAFETY: the group of a child that was not waited for.
    unsafe { libc::kill(-(fuzzing.id() as i32), libc::SIGKILL) };
    fuzzing.wait().expect("a child");
    assert!(scene.files("out/crashes").keys().all(|name| name.starts_with("crash-")));
    let log = String::from_utf8_lossy(&scene.files("")["log"]).into_owned();
    assert!(log.contains("Dictionary: 1 entries") && !log.contains("unrecognized flag"), "{log}");
}
