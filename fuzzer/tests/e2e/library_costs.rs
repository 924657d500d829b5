//! Costs of the C library's functions, which are instructions of their callers.

use crate::common::*;

const SMALL: u64 = 1600;
const LARGE: u64 = 16_000;

const SOURCE: &str = "library_costs.c";

/// Builds a harness in the scene, with this value of `QUAGMIRE_LIBRARY_COSTS` and way of counting.
fn built(scene: &Scene, source: &str, options: &[&str], llvm: u32, costs: &str, counting: &str) -> PathBuf {
    let program = scene.path(&format!("program-{costs}-{counting}"));
    let mut command = compiler(source, Some(llvm));
    command.env("QUAGMIRE_LIBRARY_COSTS", costs).env("QUAGMIRE_COUNTING", counting);
    command.args(options).args(["-g", "-fsanitize=fuzzer", "-o"]).arg(&program).arg(testdata(source));
    run(&mut command).ended();
    program
}

/// Instructions of each function.
fn functions(input: &Value) -> BTreeMap<String, u64> {
    let all = array(&input["functions"]).iter();
    all.map(|f| (string(&f["function"]).to_owned(), number(&f["instructions"]))).collect()
}

/// How much more a function costs with the large input than with the small one.
fn charges() -> BTreeMap<&'static str, u64> {
    let per = |bytes: u64| (LARGE - SMALL) / bytes;
    let sorted = |n: u64| 8 * n * u64::from(u64::BITS - n.leading_zeros());
    let sixteenths =
        ["memcpy", "memmove", "memset", "memchr", "memcmp", "strlen", "strchr", "strrchr", "strcmp", "strncmp"];
    let mut all: BTreeMap<_, _> =
        sixteenths.into_iter().chain(["strcpy", "strcat"]).map(|name| (name, per(16))).collect();
    all.extend([("strcasecmp", per(8)), ("strstr", per(8)), ("calloc", per(8)), ("strspn", per(4))]);
    all.extend([("memmem", 4 * (LARGE - SMALL)), ("qsort", sorted(LARGE) - sorted(SMALL))]);
    all.extend([("other", 0), ("short", 0), ("constant", 0)]);
    all
}

fn scene() -> Scene {
    let text = |size: u64| b"abcdefgh".repeat(size as usize / 8);
    Scene::new(&[("1", &text(SMALL)), ("2", &text(LARGE))])
}

#[test]
fn calls_of_the_c_library_cost_their_callers_what_their_lengths_say() {
    let scene = scene();
    let inputs = [scene.path("seeds/1"), scene.path("seeds/2")];
    let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
    for llvm in llvms() {
        for level in ["-O0", "-O2"] {
            for counting in ["shared", "every-block"] {
                let what = format!("{level}, {counting}, LLVM {llvm}");
                let options = [level, "-fno-builtin-strcat"];
                let with = scene.replay(&built(&scene, SOURCE, &options, llvm, "1", counting), "-n 1", &inputs);
                let without = scene.replay(&built(&scene, SOURCE, &options, llvm, "0", counting), "-n 1", &inputs);
                let [small, large] = [&with[0], &with[1]].map(functions);
                for (name, charge) in charges() {
                    let function = format!("call_{name}");
                    assert_eq!(large[&function] - small[&function], charge, "{what}: {function}");
                }
                for (with, without) in with.iter().zip(&without) {
                    // charges are no edges, and executions of lines stay as they are
                    for same in ["edges", "edges_hit", "hottest_edge"] {
                        assert_eq!(with[same], without[same], "{what}: {same}");
                    }
                    assert_eq!(with["costs"]["lines"], without["costs"]["lines"], "{what}");
                    let lines: u64 = array(&with["lines"]).iter().map(|line| number(&line["instructions"])).sum();
                    let left_out = number(&with["lines_left_out"]["instructions"]);
                    assert_eq!(lines + left_out, number(&with["instructions"]), "{what}");
                }
                let [small, large] = [&without[0], &without[1]].map(functions);
                let others = |all: BTreeMap<String, u64>| all.into_iter().filter(|(name, _)| name.starts_with("call_"));
                assert!(others(small).eq(others(large)), "{what}: without costs, the length changes nothing");
            }
        }
    }
}

#[test]
fn a_call_with_a_length_that_makes_no_sense_is_charged_a_limited_amount() {
    let scene = scene();
    let input = scene.write("huge", b"!");
    for llvm in llvms() {
        let harness = built(&scene, SOURCE, &["-O1"], llvm, "1", "shared");
        let input = &scene.replay(&harness, "-n 1", &[&input])[0];
        let instructions = number(&input["instructions"]);
        assert_eq!(input["status"], "crashed", "{input:#}");
        assert!((1 << 28..1 << 29).contains(&instructions), "{instructions}");
    }
}

#[test]
fn work_that_is_quadratic_in_the_c_library_is_quadratic_in_instructions() {
    let words = |number: usize| b"w ".repeat(number);
    let scene = Scene::new(&[("1", &words(2000)), ("2", &words(4000))]);
    let inputs = [scene.path("seeds/1"), scene.path("seeds/2")];
    let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
    for llvm in llvms() {
        let ratio = |costs| {
            let harness = built(&scene, "joined_words.c", &["-O2"], llvm, costs, "shared");
            let runs = scene.replay(&harness, "-n 1", &inputs);
            number(&runs[1]["instructions"]) as f64 / number(&runs[0]["instructions"]) as f64
        };
        let (without, with) = (ratio("0"), ratio("1"));
        assert!(without < 2.1 && with > 3.2, "LLVM {llvm}: {without} and {with}");
    }
}
