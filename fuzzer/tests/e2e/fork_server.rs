//! Programs without a harness, run under the fork server.

use crate::common::*;

/// Builds `testdata/program.c`: a loop over the bytes of the input, and then an action that the first byte selects.
fn program() -> PathBuf {
    built("program.c", &["-g", "-O0"], None)
}

/// Reports of all seeds by `replay --json`, each measured by itself. `@@` in `arguments` is the input.
fn replayed(scene: &Scene, seeds: &[&str], program: &PathBuf, arguments: &[&str]) -> Vec<Value> {
    let mut command =
        scene.quagmire(&["replay", "--json", "-n", "1", "--hang-timeout", "1s", "--memory-limit", "64MiB"]);
    inputs(command.args(seeds).arg("--").arg(program).args(arguments))
}

/// Number of executions of the line of the loop.
fn rounds(input: &Value) -> u64 {
    executions(input, "", 13)
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
        assert!(number(&inputs[0]["costs"]["heap"]) >= 1000, "{inputs:#?}");
        assert!(number(&inputs[0]["costs"]["stack"]) > 4096, "{inputs:#?}");
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
    run(command.arg("@@")).succeeded();
    let summary = scene.summary();
    assert_eq!(summary["target"]["engine"], "fork-server");
    assert!(number(&summary["executions"]) >= 4000, "{summary:#}");
    assert!(float(&summary["worst"]["instructions_ratio"]) > 40.0, "{summary:#}");
    let faults = array(&summary["findings"]).iter().find(|finding| finding["kind"] == "fault");
    let reproduce = string(&faults.expect("a fault")["reproduce"]);
    assert!(reproduce.starts_with("quagmire replay ") && reproduce.ends_with(" @@"), "{reproduce}");
    let again = scene.shell(reproduce);
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
        let counts = (executions(input, "part", 4), executions(input, "main", 4));
        assert_eq!(counts, (7, 8), "{linker}: {input:#}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_a_remedy() {
    let scene = Scene::new(&[("a", b"x")]);
    let wrapper = binaries().join("quagmire-cc");
    let early = "#include <stdlib.h>\n__attribute__((constructor(101))) static void early(void) { exit(7); }\nint main(void) { return 0; }\n";
    for (compiler, source, words) in [
        ("cc", "int main(void) { return 0; }\n", ["no edge counts in", "CC=quagmire-cc"]),
        (wrapper.to_str().expect("text"), early, ["ended before its main (exit code 7)", "by hand"]),
    ] {
        let program = scene.compile_by(compiler, "refused", source, &[]);
        scene.fuzz(&program, "--execs 10 --force").refused(3, &words);
        assert!(!scene.path("out/summary.json").exists());
    }
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
    let _ = fs::remove_dir_all(scene.path("out"));
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
    let segments = || fs::read_to_string("/proc/sysvipc/shm").expect("segments").matches(" 12345 ").count();
    let scene = Scene::new(&[("a", b"aa")]);
    let before = segments();
    scene.fuzz(&built("segments.c", &["-g", "-O1"], None), "--execs 300 --seed 1 --no-confirm").ended();
    assert_eq!(segments(), before);
}
