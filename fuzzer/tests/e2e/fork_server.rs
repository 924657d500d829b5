//! Programs without a harness, run under the fork server.

use std::{path::PathBuf, process::Command};

use crate::common::{Scene, binaries, built, compiler, copy_program, number, processes, run, skip};
use serde_json::Value;

/// Builds `testdata/program.c`: a loop over the bytes of the input, and then an action that the first byte selects.
fn program() -> PathBuf {
    built("program.c", &["-g", "-O0"], None)
}

/// Reports of all seeds by `replay --json`, each measured by itself. `@@` in `arguments` is the input.
fn replayed(scene: &Scene, seeds: &[&str], program: &PathBuf, arguments: &[&str]) -> Vec<Value> {
    let mut command =
        scene.quagmire(&["replay", "--json", "-n", "1", "--hang-timeout", "1s", "--memory-limit", "64MiB"]);
    let run = run(command.args(seeds).arg("--").arg(program).args(arguments)).ended();
    let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
    report["inputs"].as_array().expect("inputs").clone()
}

/// Number of executions of the line of the loop.
fn rounds(input: &Value) -> u64 {
    let lines = input["lines"].as_array().expect("lines").iter();
    lines.filter(|line| line["line"] == 13).map(|line| number(&line["count"])).max().unwrap_or(0)
}

#[test]
fn counts_are_exact_by_standard_input_and_by_file() {
    let text = [b'x'; 100];
    let scene = Scene::new(&[("a", b"x"), ("b", &text)]);
    for arguments in [&[][..], &["@@"], &["@@", "more"]] {
        let inputs = replayed(&scene, &["seeds/a", "seeds/b"], &program(), arguments);
        // ten more for the block
        assert_eq!([rounds(&inputs[0]), rounds(&inputs[1])], [11, 110], "{arguments:?}: {inputs:#?}");
        assert_eq!(number(&inputs[1]["costs"]["heap-total"]) - number(&inputs[0]["costs"]["heap-total"]), 0);
        assert!(
            number(&inputs[0]["costs"]["heap"]) >= 1000 && number(&inputs[0]["costs"]["stack"]) > 4096,
            "{inputs:#?}"
        );
        assert_eq!(inputs[0]["functions"][0]["function"], "round_and_round");
    }
}

#[test]
fn a_run_is_counted_to_its_end_however_it_ends() {
    let scene = Scene::new(&[]);
    let ends = [
        ("0", "crashed", "SIGSEGV"),
        ("1", "crashed", "SIGABRT"),
        ("2", "hung", ""),
        ("3", "hung", ""),
        ("4", "returned", ""),
        ("5", "returned", ""),
        ("6", "crashed", "SIGKILL"),
        ("7", "returned", ""),
        ("8", "out-of-memory", ""),
        ("9", "returned", ""),
        (":", "hung", ""),
    ];
    for (first, status, detail) in ends {
        scene.write("seeds/one", format!("{first}{}", "x".repeat(49)).as_bytes());
        let input = &replayed(&scene, &["seeds/one"], &program(), &["@@"])[0];
        assert_eq!((&input["status"], input["detail"].as_str().unwrap_or("")), (&status.into(), detail), "{first}");
        let least = if first == "2" { 1000 } else { 60 };
        assert!(rounds(input) >= least && (first == "2" || rounds(input) == least), "{first}: {input:#}");
        assert!(number(&input["costs"]["heap"]) >= 1000, "{first}: {input:#}");
        // nobody hears of a process that kills itself
        assert_eq!(number(&input["costs"]["stack"]) > 4096, first != "6", "{first}: {input:#}");
    }
}

#[test]
fn a_campaign_finds_what_there_is_and_leaves_nothing_behind() {
    let scene = Scene::new(&[("a", b"hello")]);
    // a file of its own, so that its processes are known
    let own = scene.path("program");
    copy_program(&program(), &own);
    let options = "--execs 4000 --seed 1 --max-size 1000 --hang-timeout 500ms --memory-limit 100MiB --relative-to seed";
    let mut command = scene.campaign(&own, options);
    let ended = run(command.arg("@@"));
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let summary = scene.summary();
    assert_eq!(summary["target"]["engine"], "fork-server");
    assert!(number(&summary["executions"]) >= 4000, "{summary:#}");
    assert!(summary["worst"]["instructions_ratio"].as_f64().expect("a ratio") > 40.0, "{summary:#}");
    let faults = summary["findings"].as_array().expect("findings").iter().find(|finding| finding["kind"] == "fault");
    let reproduce = faults.expect("a fault")["reproduce"].as_str().expect("a command");
    assert!(reproduce.starts_with("quagmire replay ") && reproduce.ends_with(" @@"), "{reproduce}");
    let path = format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap_or_default());
    let again = run(Command::new("sh").args(["-c", reproduce]).current_dir(scene.path("")).env("PATH", path));
    assert!(again.code == Some(0) && again.stdout.contains("SIG"), "{again:#?}");
    assert_eq!(processes(&own), [0_u32; 0]);
}

#[test]
fn a_library_that_is_linked_is_counted_too() {
    let scene = Scene::new(&[("a", b"xxxxxxx")]);
    scene.write("part.c", b"int part(int n) {\n  int sum = 0;\n  while (n-- > 0)\n    sum += n;\n  return sum;\n}\n");
    scene.write("main.c", b"#include <stdio.h>\nint part(int);\nint main(void) { int n = 0;\n  while (getchar() >= 0) n++;\n  return part(n) == -1; }\n");
    let has = |linker: &&str| {
        let mut plain = Command::new(binaries().join("quagmire-cc"));
        plain.env("QUAGMIRE_NOOPT", "1").current_dir(scene.path("")).arg(format!("-fuse-ld={linker}"));
        let found = run(plain.args(["-shared", "-fPIC", "part.c", "-o", "plain.so"])).code == Some(0);
        if !found {
            skip(linker, "scripts/install-deps --test installs it");
        }
        found
    };
    let linkers: Vec<&str> = ["bfd", "lld"].into_iter().filter(has).collect();
    assert!(linkers.contains(&"bfd"), "gcc brings it");
    for linker in linkers {
        let compiler = |arguments: &[&str]| {
            let mut command = Command::new(binaries().join("quagmire-cc"));
            let fuse = format!("-fuse-ld={linker}");
            run(command.current_dir(scene.path("")).args(["-g", "-O0", &fuse]).args(arguments)).ended();
        };
        compiler(&["-shared", "-fPIC", "part.c", "-o", "libpart.so"]);
        compiler(&["main.c", "-L.", "-lpart", "-Wl,-rpath,$ORIGIN", "-o", "program"]);
        let input = &replayed(&scene, &["seeds/a"], &scene.path("program"), &[])[0];
        let count = |function: &str, line: u64| {
            let lines = input["lines"].as_array().expect("lines").iter();
            let own = lines.filter(|entry| entry["function"] == function && entry["line"] == line);
            own.map(|entry| number(&entry["count"])).max()
        };
        assert_eq!((count("part", 4), count("main", 4)), (Some(7), Some(8)), "{linker}: {input:#}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_a_remedy() {
    let scene = Scene::new(&[("a", b"x")]);
    let refused = |source: &str, text: &[u8], compiler: &str, options: &[&str], words: &[&str]| {
        let source = scene.write(source, text);
        let mut command = Command::new(compiler);
        run(command.args(options).arg(source).arg("-o").arg(scene.path("refused"))).ended();
        let mut command = scene.campaign(&scene.path("refused"), "--execs 10");
        run(&mut command).refused(3, words);
        assert!(!scene.path("out/summary.json").exists());
        let _ = std::fs::remove_dir_all(scene.path("out"));
    };
    let wrapper = binaries().join("quagmire-cc");
    let wrapper = wrapper.to_str().expect("text");
    let main = b"int main(void) { return 0; }\n";
    refused("plain.c", main, "cc", &[], &["no edge counts in", "CC=quagmire-cc"]);
    let early = b"#include <stdlib.h>\n__attribute__((constructor(101))) static void early(void) { exit(7); }\nint main(void) { return 0; }\n";
    refused("early.c", early, wrapper, &[], &["ended before its main (exit code 7)", "by hand"]);
}

#[test]
fn a_program_may_lack_functions_that_it_never_calls_if_it_says_so() {
    let scene = Scene::new(&[("a", b"x")]);
    let library = scene.write("lacks.c", b"void nowhere(void);\nvoid calls_nowhere(void) { nowhere(); }\n");
    let (shared, program) = (scene.path("liblacks.so"), scene.path("program"));
    let mut command = Command::new("cc");
    run(command.args(["-shared", "-fPIC", "-Wl,-z,lazy"]).arg(library).arg("-o").arg(&shared)).ended();
    let main =
        b"#include <stdio.h>\nvoid calls_nowhere(void);\nint main(int all, char **of) { if (getchar() && all > 9) calls_nowhere(); return !of; }\n";
    let main = scene.write("main.c", main);
    let mut command = compiler("main.c", None);
    command.args([main, shared]).args(["-Wl,-z,lazy", "-Wl,--allow-shlib-undefined", "-o"]).arg(&program);
    run(&mut command).ended();
    run(&mut Command::new(&program)).ended();
    // the dynamic linker says a word of its own first
    let refused = run(&mut scene.campaign(&program, "--execs 10"));
    assert!(refused.code == Some(3) && refused.stderr.contains("set LD_BIND_LAZY=1"), "{refused:#?}");
    let _ = std::fs::remove_dir_all(scene.path("out"));
    run(scene.campaign(&program, "--execs 10").env("LD_BIND_LAZY", "1")).ended();
}

#[test]
fn shared_memory_that_the_program_leaves_goes_with_it() {
    let may = Command::new("unshare").args(["--ipc", "true"]).status().is_ok_and(|status| status.success());
    if !may {
        skip("namespaces", "run the tests as root, in a container that may make namespaces");
        return;
    }
    // those of its size: others may come and go meanwhile
    let segments = || std::fs::read_to_string("/proc/sysvipc/shm").expect("segments").matches(" 12345 ").count();
    let scene = Scene::new(&[("a", b"aa")]);
    let before = segments();
    scene.fuzz(&built("segments.c", &["-g", "-O1"], None), "--execs 300 --seed 1 --no-confirm").ended();
    assert_eq!(segments(), before);
}
