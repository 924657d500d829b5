//! Performance mutants: what they would cost is known, and spent where one is chosen.

use std::{
    os::unix::process::ExitStatusExt,
    time::{Duration, SystemTime},
};

use crate::{
    common::*,
    mutants::{self, built_as, line},
};

pub(crate) const GATES: [u64; 4] = [0, 16, 256, 4096];
const SOURCE: &str = "mutants_performance.c";

/// Builds a file of `tests/testdata` with performance mutants, as `program` in the scratch folder.
pub(crate) fn build(scene: &Scene, source: &str, options: &[&str], llvm: Option<u32>) -> PathBuf {
    built_as(scene, source, options, llvm, "program", "performance")
}

fn score(scene: &Scene, options: &[&str]) -> Run {
    mutants::score(scene, options, &["./program"])
}

pub(crate) fn scored(scene: &Scene, options: &[&str]) -> Value {
    mutants::scored(scene, options, &["./program"])
}

/// The score of one input with these contents.
pub(crate) fn scored_one(scene: &Scene, input: &str) -> Value {
    scene.write("one/input", input.as_bytes());
    scored(scene, &["one"])
}

/// A mutant of the line with a word, with each gate.
fn site<'a>(list: &'a Value, source: &str, word: &str, operator: &str) -> [&'a Value; 4] {
    site_that(list, source, word, operator, "")
}

/// The mutant of a line that becomes something with these words, with each gate.
pub(crate) fn site_that<'a>(list: &'a Value, source: &str, word: &str, operator: &str, became: &str) -> [&'a Value; 4] {
    let wanted = line(source, word);
    let all = array(&list["mutants"]);
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

/// Options that link a program with `burnt.c`, so that a mutant which is chosen counts what it spends.
fn counting(scene: &Scene) -> [String; 2] {
    let object = scene.path("burnt.o");
    run(Command::new("cc").args(["-O1", "-c"]).arg(testdata("burnt.c")).arg("-o").arg(&object)).ended();
    ["-Wl,--wrap=__quagmire_burn".to_owned(), object.into_os_string().into_string().expect("text")]
}

/// Runs a program by itself, with a mutant if one is named. Returns its exit code and its output, and what the mutant has
/// spent if the program counts that.
pub(crate) fn by_hand(program: &Path, input: &Path, mutant: Option<&str>) -> (Option<i32>, String, u64) {
    let burnt = input.with_extension("burnt");
    let mut command = Command::new(program);
    command.arg(input).env_remove("QUAGMIRE_MUTANT").env("BURNT", &burnt);
    let run = run(command.envs(mutant.map(|id| ("QUAGMIRE_MUTANT", id))));
    (run.code, run.stdout, fs::read_to_string(burnt).map_or(0, |text| text.parse().expect("a number")))
}

pub(crate) fn list(scene: &Scene) -> Value {
    let run = run(&mut scene.quagmire(&["mutants", "list", "--json", "--", "./program"])).ended();
    run.json()
}

#[test]
fn a_chosen_mutant_spends_what_it_is_charged_with_and_changes_nothing_else() {
    for llvm in llvms() {
        let scene = Scene::new(&[]);
        let [wrap, burnt] = counting(&scene);
        let program = build(&scene, SOURCE, &["-O2", &wrap, &burnt], Some(llvm));
        let plain = built_as(&scene, SOURCE, &["-O2"], Some(llvm), "plain", "");
        assert_eq!(list(&scene)["kind"], "performance");
        for (input, word, operator) in [
            ("n 6000 3", "outer", "loop-squared"),
            ("s 60000 7", "search", "early-exit-removed"),
            ("q 5000 0", "qsort", "library-call-downgraded"),
            ("t 9000 0", "strlen", "call-unhoisted"),
        ] {
            let file = scene.write("input", input.as_bytes());
            let own = by_hand(&program, &file, None);
            assert_eq!(own, by_hand(&plain, &file, None), "{llvm} {input}: nothing is spent");
            for mutant in site(&scored_one(&scene, input), SOURCE, word, operator) {
                let (code, output, spent) = by_hand(&program, &file, mutant["id"].as_str());
                assert_eq!((code, &output), (own.0, &own.1), "{llvm} {input} {mutant}");
                let charged = number(&mutant["worst_added"]);
                assert!(charged > 10_000 && spent == charged, "{llvm} {input} {mutant}: {spent}");
            }
            // the same mutants with an input that is too small for them
            let small = scene.write("small", format!("{} 20 3", &input[..1]).as_bytes());
            let [_, _, third, _] = site(&list(&scene), SOURCE, word, operator).map(|one| one["id"].clone());
            assert_eq!(by_hand(&program, &small, third.as_str()).2, 0, "{llvm} {input}");
        }
    }
}

#[test]
fn what_a_chosen_mutant_spends_is_time() {
    let scene = Scene::new(&[]);
    let program = build(&scene, SOURCE, &["-O2"], None);
    let list = list(&scene);
    let [mutant, ..] = site(&list, SOURCE, "outer", "loop-squared");
    // 20,000,000,000 instructions and more for two million of its own: the limit of CPU time ends one of them
    let input = scene.write("input", b"n 100000 3");
    for (id, signal) in [(None, None), (mutant["id"].as_str(), Some(libc::SIGXCPU))] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -c 0; ulimit -S -t 1; exec \"$@\"", "sh"]).arg(&program).arg(&input);
        let ended = command.env_remove("QUAGMIRE_MUTANT").envs(id.map(|id| ("QUAGMIRE_MUTANT", id))).output();
        assert_eq!(ended.expect("it starts").status.signal(), signal, "{mutant}");
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
            assert_eq!(by_hand(&program, &file, None), by_hand(&plain, &file, None), "{level} {input}");
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
    let sum = |of: &str| array(&large["ladder"]).iter().map(|rung| number(&rung[of])).sum::<u64>();
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
    let compared = compared.json();
    assert_eq!(number(&compared["pairs"][0]["only_b"]), killed);
    let text = score(&scene, &["seeds", "large"]).ended().stdout;
    assert!(text.contains(&format!("{killed} of ")), "{text}");
    assert!(text.contains("loop-squared") && text.contains("x100"), "{text}");
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
        (string(&one["killed"]["input"]).to_owned(), one["first_killed_at"].as_f64())
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
                let all = array(&score["mutants"]);
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
    let all = array(&list["mutants"]);
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
    let all = array(&listed["mutants"]);
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
    for (options, words) in [
        (&["--cost-factor", "1"][..], ["--cost-factor 1", "above 1"]),
        (&["--in-order", "name"], ["'name' for '--in-order", "mtime"]),
        (&["--reached"], ["--reached", "leave it out"]),
    ] {
        score(&scene, &[&["seeds"], options].concat()).refused(2, &words);
    }
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
        assert!(refused.stderr.contains(&format!("{variable}={value}: ")), "{refused:#?}");
        assert!(refused.stderr.contains(words), "{refused:#?}");
    }
    built_as(&scene, "mutants_program.c", &["-O1"], None, "program", "1");
    score(&scene, &["seeds", "--cost-factor", "3"]).refused(2, &["--cost-factor", "performance"]);
    score(&scene, &["seeds", "--in-order", "mtime"]).refused(2, &["--in-order", "performance"]);
}
