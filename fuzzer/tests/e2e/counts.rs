//! Counts of the instrumentation, in programs whose counts are known.

use crate::common::*;

fn sized(shape: u8, n: u32) -> Vec<u8> {
    let mut input = vec![shape];
    input.extend(n.to_le_bytes());
    input
}

#[test]
fn loops_switches_recursion_and_jumps_are_counted_once_an_iteration() {
    // letter of a shape of `counts.c`, n, and how often its body is executed for each n; the condition of the inner loop is
    // looked at once more than its body runs
    let shapes = [(b'l', 1000, 1), (b'n', 100, 8), (b's', 100, 4), (b'j', 100, 1), (b'r', 100, 1)];
    for (llvm, level) in llvms().into_iter().flat_map(|llvm| ["-O0", "-O1", "-O2"].map(|level| (llvm, level))) {
        let harness = built("counts.c", &["-g", level, "-fsanitize=fuzzer"], Some(llvm));
        let scene = Scene::new(&[]);
        let sizes = shapes.iter().flat_map(|(shape, n, _)| (1..4).map(move |times| sized(*shape, times * n)));
        let files: Vec<PathBuf> = sizes.zip(10..).map(|(bytes, at)| scene.write(&format!("{at}"), &bytes)).collect();
        let costs = scene.replay(&harness, "-n 2", &files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        for ((shape, n, per_n), costs) in shapes.iter().zip(costs.chunks(3)) {
            let what = format!("{} {level} LLVM {llvm}", char::from(*shape));
            let of = |key: &str| [0, 1, 2].map(|at: usize| number(&costs[at][key]));
            // run with n, 2n and 3n, every amount grows by the same
            for key in ["instructions", "edges", "hottest_edge"] {
                let [one, two, three] = of(key);
                assert!(one < two && two - one == three - two, "{key} {what}: {one} {two} {three}");
            }
            // the hottest edge may be executed less often than the body, since loops go back once less than they run, are
            // unrolled, and blocks that always run together share a counter; the instructions may not
            let n = u64::from(*n);
            let [one, two, _] = of("hottest_edge");
            assert!((n..=per_n * n).contains(&(two - one)), "hottest {what}: {one} {two}");
            let [one, two, _] = of("instructions");
            assert!(two - one >= per_n * n, "instructions {what}: {one} {two}");
        }
    }
}

/// Builds a harness with an instrumented shared library, and asserts that the library's loop is counted and named.
fn the_library_is_counted(scene: &Scene, source: &str) -> PathBuf {
    let library = scene.compile("liblibrary.so", "library.c", &["-g", "-O1", "-fPIC", "-shared"], &[]);
    let library = library.to_str().expect("text");
    let (opened, linked) = (format!("-DLIBRARY=\"{library}\""), if source == "links.c" { library } else { "-g" });
    let harness = scene.compile("harness", source, &["-g", "-O1", "-fsanitize=fuzzer", &opened, linked], &[]);
    let costs = scene.replay(&harness, "", &["seeds/1", "seeds/2"].map(Path::new));
    for (cost, size) in costs.iter().zip([10_000, 20_000]) {
        assert_eq!(cost["status"], "returned", "{cost:#}");
        let hottest = number(&cost["hottest_edge"]);
        assert!((size - 1..=size + 1).contains(&hottest), "{hottest} {size}");
        assert_eq!(cost["functions"][0]["function"], "library_loop");
        assert!(string(&cost["lines"][0]["file"]).ends_with("/library.c"), "{:#}", cost["lines"]);
    }
    harness
}

#[test]
fn shared_libraries_that_are_linked_or_opened_at_run_time_are_counted_and_their_functions_named() {
    let scene = Scene::new(&[("1", &[b'x'; 10]), ("2", &[b'x'; 20])]);
    the_library_is_counted(&scene, "links.c");
    let harness = the_library_is_counted(&scene, "opens.c");
    scene.fuzz(&harness, "--execs 2000 --seed 1 --max-size 100 --relative-to seed").ended();
    assert!(float(&scene.summary()["worst"]["instructions_ratio"]) > 1.5, "{:#}", scene.summary());
}
