//! Set-ups in which a campaign finds nothing for a reason, and says so.

use crate::common::*;

/// Writes a source and builds it with these options.
fn compiled(scene: &Scene, mut compiler: Command, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let file = scene.write(&format!("{name}.c"), source.as_bytes());
    let program = scene.path(name);
    run(compiler.arg(file).args(options).arg("-o").arg(&program)).succeeded();
    program
}

#[test]
fn a_library_of_another_compiler_is_named_by_the_link_and_by_the_campaign() {
    let scene = Scene::new(GREETING);
    let library = "int library(const unsigned char *d, unsigned long n) { int sum = 0; for (unsigned long i = 0; i < n; i++) \
                   sum += d[i] * n; return sum & 0; }";
    let object = compiled(&scene, Command::new("cc"), "library.o", library, &["-O1", "-c"]);
    let file = scene.write(
        "harness.c",
        b"int library(const unsigned char *, unsigned long);\nint LLVMFuzzerTestOneInput(const unsigned char *d, unsigned \
          long n) { return library(d, n); }\n",
    );
    let harness = scene.path("harness");
    let mut link = compiler("harness.c", None);
    link.env_remove("QUAGMIRE_WARN_UNCOUNTED").arg(file).arg(&object).args(["-fsanitize=fuzzer", "-o"]).arg(&harness);
    let linked = run(&mut link).succeeded();
    assert!(linked.stderr.lines().count() == 1 && linked.stderr.contains("no counts in "), "{linked:#?}");
    assert!(linked.stderr.contains("library.o") && linked.stderr.contains("CC=quagmire-cc"), "{linked:#?}");
    let run = scene.fuzz(&harness, "--execs 1000").ended();
    let warning = "runs execute the same edge, whatever the input: build the library that reads it with CC=quagmire-cc";
    assert!(run.stdout.contains(warning) && run.stdout.contains("0 degradations in counted code"), "{run:#?}");
    let summary = scene.summary();
    assert!(summary["unseen"]["warning"].as_str().is_some_and(|said| said.contains(warning)), "{summary:#}");
    let page = scene.read("out/report.html");
    assert!(page.contains("This holds for counted code only"));
}

#[test]
fn a_counted_harness_is_not_warned_of() {
    let (scene, printed) = finished();
    assert!(!printed.contains("whatever the input"), "{printed}");
    assert_eq!(scene.summary()["unseen"]["warning"], Value::Null);
}

#[test]
fn what_was_not_measured_is_unconfirmed_and_not_only_large() {
    let scene = Scene::new(GREETING);
    let run = scene.fuzz(&harness("quadratic.c"), "--execs 5000 --seed 1 --max-size 2000 --no-confirm").ended();
    let summary = scene.summary();
    let unconfirmed = array(&summary["unconfirmed"]);
    assert!(!unconfirmed.is_empty() && run.stdout.contains(" unconfirmed"), "{summary:#}");
    assert!(unconfirmed[0]["ratio"].as_f64() >= Some(2.0), "{unconfirmed:#?}");
    assert_eq!(unconfirmed[0]["why"], "not-measured");
    assert!(scene.path("out").join(string(&unconfirmed[0]["path"])).is_file());
    for large in array(&summary["large_inputs"]) {
        assert!(large["instructions_ratio_by_size"].as_f64() < Some(2.0), "{large:#}");
    }
}

#[test]
fn seeds_that_all_crash_are_one_line_and_do_not_block_the_next_campaign() {
    let crash = "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { if (n > 0 && d[0] == 'c') \
                 *(volatile int *)0 = 1; return 0; }";
    let seeds: Vec<(String, &[u8])> = (0..5).map(|seed| (format!("seed{seed}"), b"crash".as_slice())).collect();
    let seeds: Vec<(&str, &[u8])> = seeds.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let scene = Scene::new(&seeds);
    for (name, bytes) in [("a", b"cab"), ("b", b"cba")] {
        scene.write(&format!("seeds/{name}"), bytes);
    }
    let options = ["-g", "-O1", "-fsanitize=fuzzer"];
    let program = compiled(&scene, compiler("crash.c", None), "crash", crash, &options);
    let failed = scene.fuzz(&program, "--execs 10");
    failed.refused(3, &["seeds can be used", "SIGSEGV", "LLVMFuzzerTestOneInput", "crash.c:1", "replay"]);
    assert!(!failed.stdout.contains("crashes the target"), "{failed:#?}");
    for name in ["a", "b", "seed0", "seed1", "seed2", "seed3", "seed4"] {
        fs::remove_file(scene.path("seeds").join(name)).expect("removed");
    }
    scene.write("seeds/good", b"good");
    scene.fuzz(&program, "--execs 10").ended();
}

#[test]
fn a_first_run_that_initialises_something_is_no_hang() {
    let lazy = "#include <time.h>\nstatic int is_ready; static double now(void) { struct timespec t; \
                clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }\nint \
                LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { double begin = now(); while (!is_ready \
                && now() - begin < 1.5) ; is_ready = 1; return n > 0 && d[0] == 'x' ? 0 : 0; }";
    let scene = Scene::new(GREETING);
    let program = compiled(&scene, compiler("lazy.c", None), "lazy", lazy, &["-g", "-O1", "-fsanitize=fuzzer"]);
    scene.fuzz(&program, "--execs 50 --hang-timeout 1s").ended();
    let summary = scene.summary();
    assert_eq!((number(&summary["hangs"]), number(&summary["entries"])), (0, 1), "{summary:#}");
}

#[test]
fn programs_that_open_or_map_their_standard_input_read_it() {
    let opens = "#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\nint main(int argc, char **argv) { if (argc > \
                 1) return *(char *)mmap(0, 1, PROT_READ, MAP_PRIVATE, 0, 0) == 'x'; char c; int file = \
                 open(\"/dev/stdin\", O_RDONLY); return read(file, &c, 1) == 1 && c == 'x'; }";
    let scene = Scene::new(GREETING);
    let program = compiled(&scene, compiler("opens.c", None), "opens", opens, &["-g", "-O1"]);
    scene.fuzz(&program, "--execs 20").ended();
    run(scene.campaign(&program, "--execs 20 --force").arg("map")).ended();
}
