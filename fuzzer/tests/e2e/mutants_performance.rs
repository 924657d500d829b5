//! Performance mutants: what they would cost is known, and spent where one is chosen.

use std::{
    fs,
    io::Read,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use serde_json::Value;

use crate::common::{Run, Scene, alone, compiler, llvms, number, run, skip, testdata};

pub(crate) const GATES: [u64; 4] = [0, 16, 256, 4096];
const SOURCE: &str = "mutants_performance.c";

/// Builds a file of `tests/testdata` with performance mutants, as `program` in the scratch folder.
pub(crate) fn build(scene: &Scene, source: &str, options: &[&str], llvm: Option<u32>) -> PathBuf {
    built_as(scene, source, options, llvm, "program", "performance")
}

pub(crate) fn built_as(
    scene: &Scene,
    source: &str,
    options: &[&str],
    llvm: Option<u32>,
    name: &str,
    mutants: &str,
) -> PathBuf {
    let program = scene.path(name);
    let mut command: Command = compiler(source, llvm);
    command.env("QUAGMIRE_MUTANTS", mutants).arg(testdata(source)).args(options).arg("-o").arg(&program);
    run(&mut command).ended();
    program
}

fn score(scene: &Scene, options: &[&str]) -> Run {
    run(&mut scene.quagmire(&[&["mutants", "score"], options, &["--", "./program"]].concat()))
}

pub(crate) fn scored(scene: &Scene, options: &[&str]) -> Value {
    let run = score(scene, &[options, &["--json"]].concat());
    assert_eq!(run.code, Some(0), "{run:#?}");
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// The score of one input with these contents.
pub(crate) fn scored_one(scene: &Scene, input: &str) -> Value {
    scene.write("one/input", input.as_bytes());
    scored(scene, &["one"])
}

/// Number of the line of a source that contains a word as a comment.
fn line(source: &str, word: &str) -> u64 {
    let text = fs::read_to_string(testdata(source)).expect("testdata");
    let found =
        text.lines().position(|line| line.contains(&format!("/* {word} */")) || line.ends_with(&format!("// {word}")));
    found.unwrap_or_else(|| panic!("no line of {source} is {word}")) as u64 + 1
}

/// A mutant of the line with a word, with each gate.
fn site<'a>(list: &'a Value, source: &str, word: &str, operator: &str) -> [&'a Value; 4] {
    site_that(list, source, word, operator, "")
}

/// The mutant of a line that becomes something with these words, with each gate.
pub(crate) fn site_that<'a>(list: &'a Value, source: &str, word: &str, operator: &str, became: &str) -> [&'a Value; 4] {
    let wanted = line(source, word);
    let all = list["mutants"].as_array().expect("mutants");
    GATES.map(|gate| {
        let is_it = |one: &&Value| {
            let does = one["became"].as_str().is_some_and(|text| text.contains(became));
            does && one["line"] == wanted && one["operator"] == operator && one["gate"] == gate
        };
        let found: Vec<_> = all.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{operator} past {gate} in line {wanted}: {list:#}");
        found[0]
    })
}

/// Instructions that the mutants of a line would add, with each gate.
fn added(score: &Value, word: &str, operator: &str) -> [u64; 4] {
    site(score, SOURCE, word, operator).map(|one| one["worst_added"].as_u64().unwrap_or(0))
}

/// Sums past each gate, if round i of n costs i more and a round costs 1.
fn squares(n: u64) -> [u64; 4] {
    GATES.map(|gate| (1..=n).filter(|round| *round > gate).map(|round| round - 1).sum())
}

fn times(numbers: [u64; 4], factor: u64) -> [u64; 4] {
    numbers.map(|number| number * factor)
}

/// A number where the amount is past a gate, and 0 elsewhere.
fn past(amount: u64, cost: u64) -> [u64; 4] {
    GATES.map(|gate| if amount > gate { cost } else { 0 })
}

#[test]
fn costs_are_those_of_the_formulas() {
    for llvm in llvms() {
        for level in ["-O0", "-O2"] {
            let scene = Scene::new(&[]);
            build(&scene, SOURCE, &[level], Some(llvm));
            // what a round costs, from loops of two rounds
            let two = scored_one(&scene, "n 2 3");
            let (outer, inner) = (added(&two, "outer", "loop-squared")[0], added(&two, "inner", "loop-squared")[0]);
            // two times the rounds 1 and 2 of three
            assert!(outer > 3 && inner % 6 == 0, "{llvm} {level}: {outer} {inner}");
            let round = inner / 6;
            for n in [1, 16, 17, 300, 5000] {
                let score = scored_one(&scene, &format!("n {n} 3"));
                assert_eq!(added(&score, "outer", "loop-squared"), times(squares(n), outer), "{llvm} {level} {n}");
                assert_eq!(added(&score, "inner", "loop-squared"), times(squares(3), n * round), "{llvm} {level} {n}");
            }
            let score = scored_one(&scene, "n 2 5000");
            assert_eq!(added(&score, "inner", "loop-squared"), times(squares(5000), 2 * round), "{llvm} {level}");

            let unneeded = |n: u64, wanted: u64| {
                let score = scored_one(&scene, &format!("s {n} {wanted}"));
                (n - wanted - 1, added(&score, "search", "early-exit-removed"))
            };
            let ((few, of_few), (many, of_many)) = (unneeded(20, 9), unneeded(6000, 9));
            assert_eq!(of_few[0] * many, of_many[0] * few, "{llvm} {level}");
            assert_eq!((of_few, of_many), (past(few, of_few[0]), past(many, of_many[0])), "{llvm} {level}");
            assert_eq!(unneeded(20, 19).1, [0; 4], "it leaves in the last round");

            for n in [10, 20, 1000] {
                let score = scored_one(&scene, &format!("q {n} 0"));
                assert_eq!(added(&score, "qsort", "library-call-downgraded"), past(n, 4 * n * n));
                assert_eq!(added(&score, "bsearch", "library-call-downgraded"), past(n, 8 * n));
                let score = scored_one(&scene, &format!("t {n} 0"));
                assert_eq!(added(&score, "strchr", "library-call-downgraded"), past(n, 4 * n));
                assert_eq!(added(&score, "strstr", "library-call-downgraded"), past(n, 8 * n));
                let strlen = 9 + n / 16;
                let rounds = GATES.map(|gate| n.saturating_sub(gate) * strlen);
                assert_eq!(added(&score, "strlen", "call-unhoisted"), rounds, "{llvm} {level}");
                assert_eq!(added(&score, "skip", "early-exit-removed"), [0; 4], "it reaches its bound");
            }
            let copied = added(&scored_one(&scene, "t 100000 0"), "realloc", "realloc-copies")[3];
            // malloc may have rounded up
            assert!((6250..6300).contains(&copied), "{llvm} {level}: {copied}");
        }
    }
}

/// Runs a program by itself, with a mutant if one is named. Returns its exit code, its output, and its CPU time.
pub(crate) fn by_hand(program: &Path, input: &Path, mutant: Option<&str>) -> (Option<i32>, String, Duration) {
    let mut command = Command::new(program);
    command.arg(input).env_remove("QUAGMIRE_MUTANT").stdin(Stdio::null()).stdout(Stdio::piped());
    if let Some(id) = mutant {
        command.env("QUAGMIRE_MUTANT", id);
    }
    let mut child = command.spawn().expect("it starts");
    let mut output = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut output).expect("text");
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both are written by the call, and the child is this process's.
    let usage = unsafe {
        assert_eq!(libc::wait4(child.id() as i32, &raw mut status, 0, usage.as_mut_ptr()), child.id() as i32);
        usage.assume_init()
    };
    // there is nothing left to wait for
    let _ = child.wait();
    let time = usage.ru_utime;
    let used = Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64);
    (std::process::ExitStatus::from_raw(status).code(), output, used)
}

pub(crate) fn list(scene: &Scene) -> Value {
    let run = run(&mut scene.quagmire(&["mutants", "list", "--json", "--", "./program"])).ended();
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn a_chosen_mutant_costs_time_and_changes_nothing_else() {
    let _alone = alone();
    for llvm in llvms() {
        let scene = Scene::new(&[]);
        let program = build(&scene, SOURCE, &["-O2"], Some(llvm));
        let plain = built_as(&scene, SOURCE, &["-O2"], Some(llvm), "plain", "");
        let list = list(&scene);
        assert_eq!(list["kind"], "performance");
        for (input, word, operator) in [
            ("n 6000 3", "outer", "loop-squared"),
            ("s 16000000 7000", "search", "early-exit-removed"),
            ("q 20000 0", "qsort", "library-call-downgraded"),
            ("t 100000 0", "strlen", "call-unhoisted"),
        ] {
            let file = scene.write("input", input.as_bytes());
            let (code, output, own) = by_hand(&program, &file, None);
            assert_eq!((code, output.clone()), {
                let (code, output, _) = by_hand(&plain, &file, None);
                (code, output)
            });
            for mutant in site(&list, SOURCE, word, operator) {
                let (burnt_code, burnt_output, burnt) = by_hand(&program, &file, mutant["id"].as_str());
                assert_eq!((burnt_code, &burnt_output), (code, &output), "{llvm} {input} {mutant}");
                assert!(
                    burnt > own.max(Duration::from_millis(2)) * 10,
                    "{llvm} {input} {mutant}: {burnt:?}, own {own:?}"
                );
            }
            // the same mutants with an input that is too small for them
            let small = scene.write("small", format!("{} 20 3", &input[..1]).as_bytes());
            let [_, _, third, _] = site(&list, SOURCE, word, operator);
            let (_, _, burnt) = by_hand(&program, &small, third["id"].as_str());
            assert!(burnt < Duration::from_millis(20), "{llvm} {input}: {burnt:?}");
        }
    }
}

#[test]
fn a_program_ends_in_each_way_as_without_mutants() {
    for level in ["-O0", "-O2"] {
        let scene = Scene::new(&[]);
        let program = build(&scene, SOURCE, &[level], None);
        let plain = built_as(&scene, SOURCE, &[level], None, "plain", "0");
        for input in ["n 3 3", "s 10 7", "s 5 9", "q 30 0", "t 40 0", "x 1 1", "", "n 0 0"] {
            let file = scene.write("input", input.as_bytes());
            let ends = |program: &Path| {
                let (code, output, _) = by_hand(program, &file, None);
                (code, output)
            };
            assert_eq!(ends(&program), ends(&plain), "{level} {input}");
        }
    }
}

#[test]
fn small_inputs_kill_nothing_and_large_ones_do() {
    let scene = Scene::new(&[("nest", b"n 2 2"), ("search", b"s 4 2"), ("sorted", b"q 2 0"), ("texts", b"t 2 0")]);
    build(&scene, SOURCE, &["-O1"], None);
    let small = scored(&scene, &["seeds", "-o", "small"]);
    assert_eq!((number(&small["all"]["killed"]), number(&small["inputs"])), (0, 4), "{small:#}");
    let reached = number(&small["all"]["reached"]);
    for (name, input) in
        [("nest", "n 3000 2000"), ("search", "s 1000000 2"), ("sorted", "q 3000 0"), ("texts", "t 9000 0")]
    {
        scene.write(&format!("large/{name}"), input.as_bytes());
    }
    let large = scored(&scene, &["seeds", "large", "-o", "large-score"]);
    assert_eq!(number(&large["all"]["reached"]), reached);
    let killed = number(&large["all"]["killed"]);
    assert!(killed > 20, "{large:#}");
    let sum = |of: &str| large["ladder"].as_array().expect("rungs").iter().map(|rung| number(&rung[of])).sum::<u64>();
    assert_eq!((sum("killed"), sum("at_2")), (killed, killed));
    assert!(sum("at_10") <= killed && sum("at_100") <= sum("at_10") && sum("at_100") > 0, "{large:#}");
    let outer = site(&large, SOURCE, "outer", "loop-squared")[2];
    assert_eq!((&outer["state"], &outer["killed"]["by"]), (&"killed".into(), &"cost".into()));
    assert_eq!(outer["killed"]["input"], "large/nest");
    assert_eq!(outer["worst_input"], "large/nest");
    // a larger factor kills fewer
    let ten = scored(&scene, &["seeds", "large", "--cost-factor", "10"]);
    assert_eq!(number(&ten["all"]["killed"]), sum("at_10"));
    let compared = run(&mut scene.quagmire(&["mutants", "compare", "--json", "small", "large-score"])).ended();
    let compared: Value = serde_json::from_str(&compared.stdout).expect("JSON");
    assert_eq!(number(&compared["pairs"][0]["only_b"]), killed);
    let text = score(&scene, &["seeds", "large"]).ended().stdout;
    assert!(
        text.contains(&format!("{killed} of ")) && text.contains("loop-squared") && text.contains("x100"),
        "{text}"
    );
}

#[test]
fn the_first_input_that_kills_is_the_oldest_on_request() {
    let scene = Scene::new(&[]);
    build(&scene, SOURCE, &["-O1"], None);
    let start = SystemTime::now() - Duration::from_secs(9000);
    for (name, input, age) in
        [("cheap", "n 100 2", 60), ("late", "n 5000 2", 900), ("early", "n 2000 2", 30), ("first", "n 2 2", 0)]
    {
        let file = scene.write(&format!("found/{name}"), input.as_bytes());
        let file = fs::File::options().write(true).open(file).expect("it is there");
        file.set_modified(start + Duration::from_secs(age)).expect("a time");
    }
    let of = |options: &[&str], gate: usize| {
        let score = scored(&scene, &[&["found"], options].concat());
        let one = site(&score, SOURCE, "outer", "loop-squared")[gate];
        (one["killed"]["input"].as_str().expect("killed").to_owned(), one["first_killed_at"].as_f64())
    };
    assert_eq!(of(&[], 0), ("found/cheap".to_owned(), None));
    assert_eq!(of(&["--in-order", "mtime"], 0), ("found/early".to_owned(), Some(30.0)));
    assert_eq!(of(&["--in-order", "mtime"], 3), ("found/late".to_owned(), Some(900.0)));
}

#[test]
fn exceptions_fly_through_loops_that_charge() {
    for llvm in llvms() {
        for level in ["-O0", "-O2"] {
            let scene = Scene::new(&[]);
            build(&scene, "mutants.cc", &[level, "-fsanitize=fuzzer"], Some(llvm));
            let of = |input: &str| {
                let score = scored_one(&scene, input);
                assert_eq!(number(&score["inputs"]), 1, "{llvm} {level} {input}");
                let all = score["mutants"].as_array().expect("mutants");
                let number = line("mutants.cc", "ten") - 1;
                let squared = all.iter().find(|one| one["line"] == number && one["operator"] == "loop-squared");
                squared.unwrap_or_else(|| panic!("{score:#}"))["worst_added"].as_u64()
            };
            let whole = of("1111111111");
            assert!(whole.is_some_and(|added| added > 100), "{llvm} {level}: {whole:?}");
            assert_eq!(of("1111111111x"), whole, "what was done before the exception counts");
        }
    }
}

#[test]
fn faults_are_listed_and_chosen_by_their_ids_as_well() {
    let scene = Scene::new(&[("digits", b"a1b22")]);
    built_as(&scene, "mutants_program.c", &["-O1"], None, "program", "1");
    let list = list(&scene);
    assert_eq!(list["kind"], "faults");
    let wanted = line("mutants_program.c", "status");
    let all = list["mutants"].as_array().expect("mutants");
    let negated =
        all.iter().find(|one| one["line"] == wanted && one["operator"] == "comparison-negated").expect("a mutant");
    let (input, id) = (scene.path("seeds/digits"), negated["id"].as_str());
    assert_eq!(by_hand(&scene.path("program"), &input, None).0, Some(0));
    assert_eq!(by_hand(&scene.path("program"), &input, id).0, Some(1));
    let text = run(&mut scene.quagmire(&["mutants", "list", "--", "./program"])).ended().stdout;
    assert!(text.lines().any(|line| line.contains(id.expect("an ID")) && line.contains("`==` becomes `!=`")), "{text}");
}

#[test]
fn libfuzzer_runs_a_chosen_mutant_of_a_build_that_it_drives() {
    let scene = Scene::new(&[("input", &[b'a'; 40000])]);
    build(&scene, "mutants.cc", &["-O1", "-fsanitize=fuzzer"], None);
    let listed = list(&scene);
    let number = line("mutants.cc", "ten") - 1;
    let all = listed["mutants"].as_array().expect("mutants");
    let id = all.iter().find(|one| one["line"] == number).expect("a loop")["id"].as_str();
    let mut command = compiler("mutants.cc", None);
    command.envs([("QUAGMIRE_MUTANTS", "performance"), ("QUAGMIRE_DRIVER", "foreign")]);
    let driven = scene.path("driven");
    let linked = run(command.args(["-O1", "-fsanitize=fuzzer"]).arg(testdata("mutants.cc")).arg("-o").arg(&driven));
    if linked.stderr.contains("libclang_rt.fuzzer") {
        return skip("libclang-rt", "install the runtimes of clang (libclang-rt-N-dev)");
    }
    linked.ended();
    let with = |mutant: Option<&str>| {
        let mut command = Command::new(&driven);
        command.arg(scene.path("seeds/input")).env_remove("QUAGMIRE_MUTANT");
        run(command.envs(mutant.map(|id| ("QUAGMIRE_MUTANT", id))))
    };
    for mutant in [None, id] {
        let ran = with(mutant);
        assert!(ran.code == Some(0) && ran.stderr.contains("Executed"), "{ran:#?}");
    }
    with(Some("nothing")).refused(1, &["no such mutant"]);
}

#[test]
fn mistakes_are_refused_in_one_line() {
    let scene = Scene::new(&[("a", b"n 3 3")]);
    let program = build(&scene, SOURCE, &["-O1"], None);
    for wrong in ["nothing", "0123456789ab", ""] {
        let mut by_hand = Command::new(&program);
        run(by_hand.arg("seeds/a").env("QUAGMIRE_MUTANT", wrong)).refused(1, &["no such mutant", "mutants list"]);
    }
    score(&scene, &["seeds", "--cost-factor", "1"]).refused(2, &["--cost-factor 1", "above 1"]);
    score(&scene, &["seeds", "--in-order", "name"]).refused(2, &["--in-order", "'name'", "mtime"]);
    score(&scene, &["seeds", "--reached"]).refused(2, &["--reached", "leave it out"]);
    score(&scene, &["seeds", "-o", "out"]).ended();
    score(&scene, &["seeds", "-o", "out"]).refused(2, &["out holds a score", "--resume"]);
    score(&scene, &["seeds", "-o", "out", "--resume"]).ended();
    run(&mut scene.quagmire(&["mutants", "list"])).refused(2, &["needs a program"]);
    run(&mut scene.quagmire(&["fuzz", "-i", "seeds", "-o", "fuzzed", "--", "./program"]))
        .refused(3, &["QUAGMIRE_MUTANTS=1 or =performance", "`quagmire mutants`"]);
    for (variable, value, words) in
        [("QUAGMIRE_MUTANTS", "speed", "'performance'"), ("QUAGMIRE_DRIVER", "foreign", "QUAGMIRE_MUTANTS, too")]
    {
        let mut wrong = compiler(SOURCE, None);
        let refused = run(wrong.env(variable, value).arg("-c").arg(testdata(SOURCE)));
        assert_eq!(refused.code, Some(1), "{refused:#?}");
        assert!(
            refused.stderr.contains(&format!("{variable}={value}: ")) && refused.stderr.contains(words),
            "{refused:#?}"
        );
    }
    built_as(&scene, "mutants_program.c", &["-O1"], None, "program", "1");
    score(&scene, &["seeds", "--cost-factor", "3"]).refused(2, &["--cost-factor", "performance"]);
    score(&scene, &["seeds", "--in-order", "mtime"]).refused(2, &["--in-order", "performance"]);
}
