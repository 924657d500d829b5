//! Harnesses whose objects other compilers have compiled with SanitizerCoverage.

use crate::common::*;

/// Line of the loop in `testdata/sancov.c`.
const LOOP: u64 = 15;
/// Line of its entry.
const ENTRY: u64 = 14;

/// Clang's options for each source of counts, with its name in JSON.
const GUARDS: &str = "-fsanitize-coverage=trace-pc-guard,pc-table";
const GUARDS_ALONE: &str = "-fsanitize-coverage=trace-pc-guard";
const COUNTERS: &str = "-fsanitize=fuzzer-no-link";
const COUNTERS_ALONE: &str = "-fsanitize-coverage=inline-8bit-counters,pc-table";
const FLAGS: &str = "-fsanitize-coverage=inline-bool-flag,pc-table";

/// Compiles a file of `testdata` with another compiler.
#[track_caller]
pub(crate) fn object(scene: &Scene, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let path = scene.path(&format!("{source}-{}.o", options.concat().replace(['/', '='], "-")));
    let mut command = Command::new(compiler);
    run(command.args(["-g", "-O0", "-c"]).args(options).arg(testdata(source)).arg("-o").arg(&path)).ended();
    path
}

/// Links a harness with the wrapper.
#[track_caller]
pub(crate) fn linked(scene: &Scene, name: &str, objects: &[&Path], options: &[&str]) -> PathBuf {
    let path = scene.path(name);
    let mut command = compiler("linked.c", None);
    run(command.args(objects).args(["-g", "-O1", "-fsanitize=fuzzer"]).args(options).arg("-o").arg(&path)).ended();
    path
}

/// Compiles `testdata/sancov.c` with clang and these options, and links a harness of it.
fn harness(scene: &Scene, option: &str) -> PathBuf {
    let object = object(scene, "clang", "sancov.c", &[option]);
    linked(scene, &option[option.len() - 8..], &[&object], &[])
}

/// Report on the files of `seeds/`, in order of their names.
#[track_caller]
fn report(scene: &Scene, harness: &Path) -> Value {
    let mut command = scene.quagmire(&["replay", "--json", "-n", "2", "seeds", "--"]);
    let library = scene.path("library.so");
    run(command.arg(harness).env("SANCOV_LIBRARY", library)).ended().json()
}

fn cost(report: &Value, input: usize, resource: &str) -> u64 {
    number(&report["inputs"][input]["costs"][resource])
}

/// Executions of a line of `work`.
fn executed(report: &Value, input: usize, line: u64) -> u64 {
    executions(&report["inputs"][input], "work", line)
}

fn functions(report: &Value, input: usize) -> Vec<&str> {
    let functions = array(&report["inputs"][input]["functions"]);
    functions.iter().map(|function| string(&function["function"])).collect()
}

#[test]
fn counts_of_guards_and_counters_are_those_of_a_callback_that_shares_nothing_with_ours() {
    let long = [&b"q"[..], &[b'-'; 999]].concat();
    let scene = Scene::new(&[("1", b"a-a"), ("2", &long), ("3", b"ww-"), ("4", b"")]);
    for (llvm, level) in llvms().into_iter().flat_map(|llvm| [(llvm, "-O0"), (llvm, "-O2")]) {
        let clang = format!("clang-{llvm}");
        let guards = object(&scene, &clang, "sancov.c", &[level, GUARDS_ALONE]);
        let oracle = scene.path("oracle");
        run(Command::new(&clang).arg(testdata("sancov_oracle.c")).arg(guards).arg("-ldl").arg("-o").arg(&oracle))
            .ended();
        for (option, instrumentation) in
            [(GUARDS, "sancov-guards"), (GUARDS_ALONE, "sancov-guards"), (COUNTERS_ALONE, "sancov-widened")]
        {
            let object = object(&scene, &clang, "sancov.c", &[level, option]);
            let report = report(&scene, &linked(&scene, "second-opinion", &[&object], &[]));
            assert_eq!(report["instrumentation"], instrumentation);
            for input in 0..4 {
                let told = run(Command::new(&oracle).arg(scene.path(&format!("seeds/{}", input + 1)))).ended().stdout;
                let costs = ["edges", "hottest-edge"].map(|resource| cost(&report, input, resource));
                let hit = number(&report["inputs"][input]["edges_hit"]);
                assert_eq!(format!("{hit} {} {}\n", costs[0], costs[1]), told, "{clang} {level} {option} {report:#}");
                assert_eq!(number(&report["inputs"][input]["instructions"]), costs[0]);
            }
        }
    }
}

#[test]
fn functions_and_lines_follow_from_the_pc_table_also_of_runs_that_crash_and_without_one_edges_have_numbers() {
    let scene =
        Scene::new(&[("1", b"a-a"), ("2", b"q---------"), ("3", b"-"), ("4", b"a"), ("5", b"aac"), ("6", b"a")]);
    for option in [GUARDS, COUNTERS] {
        let report = report(&scene, &harness(&scene, option));
        assert_eq!((executed(&report, 0, LOOP), executed(&report, 1, LOOP)), (6, 10), "{option}: {report:#}");
        assert!(functions(&report, 1).contains(&"work") && !functions(&report, 2).contains(&"work"), "{report:#}");
        // what crashes leaves nothing for the next one
        assert_eq!(report["inputs"][4]["status"], "crashed", "{report:#}");
        assert_eq!([3, 4, 5].map(|input| executed(&report, input, LOOP)), [3, 6, 3], "{option}: {report:#}");
    }
    let report = report(&scene, &harness(&scene, GUARDS_ALONE));
    assert!(functions(&report, 1).iter().all(|name| name.starts_with("edge ")), "{report:#}");
}

#[test]
fn counters_that_stay_at_eight_bits_wrap_around_and_an_entry_that_wrapped_to_zero_is_not_lost() {
    let scene = Scene::new(&[("1", b"a-a"), ("2", b"w"), ("3", b"a-a")]);
    // no instruction has the address of a counter
    let object = object(&scene, "clang", "sancov.c", &[COUNTERS, "-mcmodel=large"]);
    let harness = linked(&scene, "large", &[&object], &[]);
    let report = report(&scene, &harness);
    assert_eq!(report["instrumentation"], "sancov-counters");
    // its body is executed 511 times
    assert_eq!((executed(&report, 1, ENTRY), cost(&report, 1, "hottest-edge")), (256, 256), "{report:#}");
    assert_eq!(report["inputs"][0]["costs"]["edges"], report["inputs"][2]["costs"]["edges"]);
    let shown = scene.ask("replay -n 1 seeds", &harness);
    assert_eq!(
        (shown.code, shown.stderr.matches("some have eight bits and wrap around").count()),
        (Some(0), 1),
        "{shown:#?}"
    );
    assert!(!shown.stdout.contains("instructions"), "{shown:#?}");
    assert_eq!(scene.fuzz(&harness, "--execs 300 --seed 1").code, Some(0));
    assert_eq!(scene.summary()["target"]["instrumentation"], "sancov-counters");
    let page = scene.read("out/report.html");
    assert!(page.contains("some have eight bits and wrap around"));
}

#[test]
fn edges_of_gcc_are_counted_by_their_address() {
    let scene = Scene::new(&[("1", b"a-a"), ("2", b"q---------")]);
    if !has_program("gcc", "gcc") {
        return;
    }
    let object = object(&scene, "gcc", "sancov.c", &["-fsanitize-coverage=trace-pc,trace-cmp"]);
    let report = report(&scene, &linked(&scene, "gcc", &[&object], &[]));
    assert_eq!(report["instrumentation"], "sancov-pcs");
    // its body, which gcc has a block of its own for
    assert_eq!((executed(&report, 0, LOOP + 1), executed(&report, 1, LOOP + 1)), (6, 10), "{report:#}");
    assert!(functions(&report, 1).contains(&"work"), "{report:#}");
}

#[test]
fn edges_of_rust_are_counted_without_cargo_fuzz() {
    let scene = Scene::new(&[("1", b"qq"), ("2", b"q-"), ("3", b"--")]);
    let library = scene.path("libwork.a");
    let options = "--edition 2024 -g -O -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                   -Cllvm-args=-sanitizer-coverage-trace-pc-guard -Cllvm-args=-sanitizer-coverage-pc-table";
    let mut compile = Command::new("rustc");
    run(compile.args(options.split_whitespace()).arg(testdata("work.rs")).arg("-o").arg(&library)).ended();
    let report = report(&scene, &linked(&scene, "rust", &[&library], &[]));
    assert_eq!(report["instrumentation"], "sancov-guards");
    // a loop of so many rounds goes back once less
    let hottest = [0, 1, 2].map(|input| cost(&report, input, "hottest-edge"));
    assert_eq!(hottest, [599, 299, 1], "{report:#}");
    let work = array(&report["inputs"][0]["functions"]).iter().find(|function| function["function"] == "work::work");
    assert!(string(&work.expect("a function of Rust")["location"]).contains("work.rs:"), "{report:#}");
}

#[test]
fn a_harness_of_the_pass_with_a_library_of_guards_counts_both_and_says_so() {
    let scene = Scene::new(&[("1", b"q---------")]);
    let object = object(&scene, "clang", "sancov.c", &[GUARDS]);
    let source = scene.write(
        "wrapper.c",
        b"int work(unsigned);\nint once;\nint LLVMFuzzerTestOneInput(const char *data, unsigned long size) {\n  for \
          (unsigned long i = 0; i < size; i++) once += data[i];\n  work((unsigned)size);\n  return 0;\n}\n",
    );
    let renamed = scene.path("renamed.o");
    let mut command = Command::new("objcopy");
    run(command.args(["--redefine-sym", "LLVMFuzzerTestOneInput=unused"]).arg(object).arg(&renamed)).ended();
    let harness = linked(&scene, "mixed", &[&source, &renamed], &[]);
    let report = report(&scene, &harness);
    assert_eq!(report["instrumentation"], "mixed");
    assert_eq!((executed(&report, 0, LOOP), cost(&report, 0, "hottest-edge")), (10, 10), "{report:#}");
    assert!(functions(&report, 0).contains(&"LLVMFuzzerTestOneInput"), "{report:#}");
    assert!(cost(&report, 0, "instructions") > cost(&report, 0, "edges"), "{report:#}");
    let shown = scene.ask("replay -n 1 seeds", &harness);
    assert_eq!(shown.stderr.lines().count(), 1, "{shown:#?}");
    for word in ["instructions in 1 functions", "edges in 3 (exact)", "the sum of both"] {
        assert!(shown.stderr.contains(word), "no `{word}` in {shown:#?}");
    }
}

#[test]
fn libraries_that_runs_open_and_close_are_counted() {
    let scene = Scene::new(&[("1", b"o"), ("2", b"-"), ("3", b"o-o")]);
    for (option, of_harness) in [(GUARDS, GUARDS), (COUNTERS, COUNTERS), (COUNTERS, GUARDS), (GUARDS_ALONE, GUARDS)] {
        let object = object(&scene, "clang", "sancov_library.c", &["-fPIC", option]);
        // without clang's runtime: what the library needs is in the harness
        let mut command = Command::new("clang");
        run(command.args(["-shared", "-Wl,-z,now", "-o"]).arg(scene.path("library.so")).arg(object)).ended();
        let report = report(&scene, &harness(&scene, of_harness));
        if option != GUARDS_ALONE {
            let ran = [0, 1, 2].map(|input| functions(&report, input).contains(&"in_library"));
            assert_eq!(ran, [true, false, true], "{option}: {report:#}");
        }
        let edges = [0, 1, 2].map(|input| cost(&report, input, "edges"));
        assert!(edges[0] >= edges[1] + 7 && edges[2] >= edges[0] + 7, "{option}: {edges:?}");
        for input in array(&report["inputs"]) {
            assert_eq!(input["instructions_range"][0], input["instructions_range"][1], "{option}: {input:#}");
        }
    }
}

#[test]
fn a_campaign_finds_the_slow_input_and_names_its_function() {
    let scene = Scene::new(&[("1", b"a--------------")]);
    let harness = harness(&scene, GUARDS);
    let ended = scene.fuzz(&harness, "--execs 5000 --seed 1 --max-size 4096").succeeded();
    let summary = scene.summary();
    assert_eq!(summary["target"]["instrumentation"], "sancov-guards");
    let findings = array(&summary["findings"]);
    let slow = findings.iter().find(|finding| finding["hot_function"] == "work").expect("a slow input");
    assert!(slow["hot_location"].as_str().is_some_and(|place| place.contains("sancov.c:")), "{slow:#}");
    assert!(ended.stdout.contains("spent in     work, ") && !ended.stdout.contains("instructions"), "{ended:#?}");
}

#[test]
fn a_pc_table_that_does_not_match_is_said_once_and_edges_are_counted_without_it() {
    let scene = Scene::new(&[("1", b"a-a"), ("2", b"q---------")]);
    let object = object(&scene, "clang", "sancov_odd.c", &[]);
    let harness = linked(&scene, "odd", &[&object], &[]);
    let report = report(&scene, &harness);
    assert_eq!((cost(&report, 0, "edges"), cost(&report, 1, "edges")), (3, 10), "{report:#}");
    let shown = scene.ask("replay -n 1 seeds", &harness);
    assert_eq!((shown.code, shown.stderr.matches("PC table").count()), (Some(0), 1), "{shown:#?}");
}

#[test]
fn flags_count_whether_an_edge_ran_and_say_so() {
    let scene = Scene::new(&[("1", b"a-a"), ("2", b"q---------"), ("3", b"-"), ("4", b"a-a")]);
    let harness = harness(&scene, FLAGS);
    let report = report(&scene, &harness);
    assert_eq!(report["instrumentation"], "sancov-flags");
    assert_eq!([0, 1, 2].map(|input| executed(&report, input, LOOP)), [1, 1, 0], "{report:#}");
    assert_eq!([0, 1, 2, 3].map(|input| cost(&report, input, "hottest-edge")), [1; 4], "{report:#}");
    assert_eq!(report["inputs"][0]["costs"]["edges"], report["inputs"][3]["costs"]["edges"]);
    let shown = scene.ask("replay -n 1 seeds", &harness);
    assert_eq!((shown.code, shown.stderr.matches("not how often").count()), (Some(0), 1), "{shown:#?}");
    // clang's own counters are more exact than its flags, and guards than both
    let both = "-fsanitize-coverage=inline-8bit-counters,inline-bool-flag,pc-table";
    for (options, name) in [(both, "sancov-widened"), (&format!("{both},trace-pc-guard"), "sancov-guards")] {
        let object = object(&scene, "clang", "sancov.c", &[options]);
        let report = self::report(&scene, &linked(&scene, name, &[&object], &[]));
        assert_eq!((report["instrumentation"].as_str(), executed(&report, 1, LOOP)), (Some(name), 10), "{report:#}");
    }
}

#[test]
fn lines_of_a_pc_table_are_a_cost_annotate_sources_and_are_goals_of_masks() {
    let scene = Scene::new(&[("1", b"a-a-")]);
    let slow = scene.write("slow", b"q---------");
    for option in [GUARDS, COUNTERS] {
        let harness = harness(&scene, option);
        let lines = array(&scene.replay(&harness, "-n 1", &[&slow])[0]["lines"]).clone();
        let counts: u64 = lines.iter().filter(|line| line["line"] != 0).map(|line| number(&line["count"])).sum();
        scene.fuzz(&harness, "--cost lines --execs 300 --seed 1 --force --no-confirm").succeeded();
        let costs = array(&scene.summary()["costs"]).clone();
        let executed = costs.iter().find(|cost| cost["resource"] == "lines").expect("lines are counted");
        assert!(number(&executed["max"]) > number(&executed["baseline"]), "{executed:#}");
        assert!(counts > 10, "{lines:#?}");

        let source = testdata("sancov.c");
        let mut annotate = scene.quagmire(&["replay", "-n", "1", "--annotate"]);
        let shown = run(annotate.arg(&source).args(["seeds/1", "slow", "--"]).arg(&harness));
        let of_loop = shown.stdout.lines().find(|line| line.contains("for (unsigned i = 0; i < rounds"));
        assert!(of_loop.is_some_and(|line| line.contains(" 6 ") && line.contains(" 10 ")), "{shown:#?}");

        let place = format!("sancov.c:{LOOP}");
        let mut mask = scene.quagmire(&["replay", "--mask", "--branch", &place, "seeds/1", "--"]);
        let shown = run(mask.arg(&harness));
        assert!(shown.code == Some(0) && shown.stdout.contains(&place), "{shown:#?}");
    }
}

#[test]
fn what_sanitizer_coverage_does_not_tell_is_refused_with_the_remedy() {
    let scene = Scene::new(&[("1", b"a")]);
    let alone = harness(&scene, GUARDS_ALONE);
    scene.fuzz(&alone, "--cost lines --execs 10 --quiet").refused(3, &["--cost lines", "-g", "pc-table"]);
    let refused = scene.ask("replay -n 1 --annotate sancov.c seeds/1", &alone);
    assert!(refused.code == Some(3) && refused.stderr.contains("PC table"), "{refused:#?}");
    if has_program("gcc", "gcc") {
        let object = object(&scene, "gcc", "sancov.c", &["-fsanitize-coverage=trace-pc"]);
        scene
            .fuzz(&linked(&scene, "gcc", &[&object], &[]), "--cost lines --execs 10")
            .refused(2, &["--cost lines", "SanitizerCoverage", "edges", "stack"]);
    }
    let plain = object(&scene, "clang", "sancov.c", &["-O0"]);
    let plain = linked(&scene, "plain", &[&plain], &[]);
    scene.fuzz(&plain, "--execs 10").refused(3, &["not one edge count", "quagmire-cc", "fuzzer-no-link"]);
}

#[test]
fn objects_of_sanitizer_coverage_are_refused_under_the_fork_server_with_the_remedy() {
    let scene = Scene::new(&[("1", b"a")]);
    for option in [COUNTERS, "-fsanitize-coverage=trace-pc-guard", "-fsanitize-coverage=inline-bool-flag,trace-cmp"] {
        let object = object(&scene, "clang", "sancov.c", &[option]);
        let harness = scene.path("driven");
        let mut link = Command::new(binaries().join("quagmire-cc"));
        link.env("QUAGMIRE_DRIVER", "1").arg(object).args(["-fsanitize=fuzzer", "-o"]).arg(&harness);
        run(&mut link).ended();
        let refused = scene.fuzz(&harness, "--execs 10 --force");
        refused.refused(3, &["SanitizerCoverage", "quagmire-cc", "QUAGMIRE_DRIVER"]);
        // by itself it does what it does
        assert_eq!(run(Command::new(&harness).arg(scene.path("seeds/1"))).code, Some(0));
    }
}

#[test]
fn objects_of_another_llvm_are_counted_alike() {
    let scene = Scene::new(&[("1", b"q---------")]);
    for compiler in ["clang-14", "clang"] {
        if !has_program(compiler, "llvm-14") {
            continue;
        }
        let object = object(&scene, compiler, "sancov.c", &[COUNTERS]);
        let harness = linked(&scene, compiler, &[&object], &[]);
        let report = scene.replay(&harness, "-n 1", &[&scene.path("seeds/1")]).swap_remove(0);
        assert_eq!(number(&report["costs"]["hottest-edge"]), 10, "{compiler}: {report:#}");
    }
}

#[test]
fn objects_that_lack_a_harness_or_the_runtime_of_afl_do_not_link_and_the_message_names_what_is_missing() {
    let scene = Scene::new(&[]);
    let fails = |object: &Path, missing: &str| {
        let mut link = Command::new(binaries().join("quagmire-cc"));
        let ended = run(link.arg(object).args(["-fsanitize=fuzzer", "-o"]).arg(scene.path("harness")));
        assert!(ended.code == Some(1) && ended.stderr.contains(missing), "{ended:#?}");
    };
    fails(&object(&scene, "clang", "sancov_library.c", &[COUNTERS]), "LLVMFuzzerTestOneInput");
    if has_program("afl-clang-fast", "afl++") {
        let object = scene.path("afl.o");
        let mut compile = Command::new("afl-clang-fast");
        assert_eq!(run(compile.arg("-c").arg(testdata("sancov.c")).arg("-o").arg(&object)).code, Some(0));
        fails(&object, "__afl_");
    }
}

#[test]
fn objects_of_zig_are_counted() {
    if !has_program("zig", "zig") {
        return;
    }
    let scene = Scene::new(&[("1", b"aqw"), ("2", &[b'x'; 100]), ("3", &[b'x'; 200])]);
    let zig = |words: &[&str]| {
        // its cache is else in the home folder
        let mut command = Command::new("zig");
        command.args(words).current_dir(scene.path("")).env("ZIG_GLOBAL_CACHE_DIR", scene.path("cache"));
        run(&mut command).succeeded();
    };
    let sources = ["sancov.c", "pairs.zig"].map(|source| testdata(source).display().to_string());
    zig(&["cc", "-g", "-O0", "-fno-sanitize=undefined", COUNTERS_ALONE, "-c", &sources[0], "-o", "c.o"]);
    zig(&["build-obj", "-ffuzz", "-fno-stack-check", "-fPIC", "-OReleaseFast", "-femit-bin=zig.o", &sources[1]]);
    let c = report(&scene, &linked(&scene, "in_c", &[&scene.path("c.o")], &[]));
    assert_eq!((executed(&c, 0, LOOP), cost(&c, 0, "edges") > 500), (3 + 3 + 511, true), "{c:#}");
    let pairs = report(&scene, &linked(&scene, "in_zig", &[&scene.path("zig.o")], &[]));
    for (input, bytes) in [(1, 100), (2, 200)] {
        assert_eq!(cost(&pairs, input, "hottest-edge"), bytes * (bytes - 1) / 2, "{pairs:#}");
    }
    assert!(functions(&pairs, 2)[0].ends_with("pairs"), "{pairs:#}");
}

#[test]
fn the_engine_twice_in_a_link_is_one_engine() {
    let scene = Scene::new(&[("1", b"a")]);
    let (object, engine) = (object(&scene, "clang", "sancov.c", &[COUNTERS]), binaries().join("libquagmire_engine.a"));
    let harness = scene.path("twice");
    let mut link = Command::new("clang++");
    link.arg(object).args([&engine, &engine]).args(["-lpthread", "-ldl", "-lm", "-lrt", "-o"]).arg(&harness);
    run(&mut link).ended();
    let ended = run(Command::new(&harness).arg("-runs=1").arg(scene.path("seeds")));
    assert!(ended.code == Some(0) && ended.stderr.contains("Loaded 1 modules"), "{ended:#?}");
}

#[test]
fn a_pc_table_that_comes_before_its_guards_is_theirs() {
    let scene = Scene::new(&[("1", b"a-a"), ("2", b"q---------")]);
    let object = object(&scene, "clang", "sancov_early.c", &[]);
    let harness = linked(&scene, "early", &[&object], &[]);
    let inputs = scene.replay(&harness, "-n 1", &[&scene.path("seeds/1"), &scene.path("seeds/2")]);
    for (input, edges) in inputs.iter().zip([4, 11]) {
        assert_eq!(number(&input["costs"]["edges"]), edges, "{input:#}");
        assert_eq!(input["functions"][0]["function"], "LLVMFuzzerTestOneInput", "{input:#}");
    }
}
