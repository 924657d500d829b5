//! The commands `quagmire mutants score` and `compare`: mutants whose fate is known.

use crate::common::*;

/// Builds a file of `tests/testdata` with mutants of this kind, as a program in the scratch folder.
pub(crate) fn built_as(
    scene: &Scene,
    source: &str,
    options: &[&str],
    llvm: Option<u32>,
    name: &str,
    mutants: &str,
) -> PathBuf {
    let program = scene.path(name);
    let mut command = compiler(source, llvm);
    command.current_dir(scene.path("")).env("QUAGMIRE_MUTANTS", mutants).arg(testdata(source));
    run(command.args(options).arg("-o").arg(&program)).ended();
    program
}

fn build(scene: &Scene, source: &str, options: &[&str], llvm: Option<u32>) -> PathBuf {
    built_as(scene, source, options, llvm, "program", "1")
}

/// A scene with inputs for the harness of `mutants.c` and `mutants_other.c`, which it has as `program`: values of both
/// orders, and one that is rejected.
fn scene(level: &str, llvm: Option<u32>) -> Scene {
    let scene = Scene::new(&[("a", b"ab"), ("b", b"ba"), ("c", b"aa"), ("d", b"a\x03"), ("r", b"rr")]);
    let other = testdata("mutants_other.c").into_os_string().into_string().expect("text");
    build(&scene, "mutants.c", &[&other, level, "-fsanitize=fuzzer"], llvm);
    scene
}

pub(crate) fn score(scene: &Scene, options: &[&str], program: &[&str]) -> Run {
    run(&mut scene.quagmire(&[&["mutants", "score"], options, &["--"], program].concat()))
}

/// The result of a score that is no error.
pub(crate) fn scored(scene: &Scene, options: &[&str], program: &[&str]) -> Value {
    score(scene, &[options, &["--json"]].concat(), program).succeeded().json()
}

/// Number of the line of a file of `tests/testdata` that contains a word.
pub(crate) fn line(source: &str, word: &str) -> u64 {
    let text = fs::read_to_string(testdata(source)).expect("testdata");
    let found =
        text.lines().position(|line| line.contains(&format!("/* {word} */")) || line.ends_with(&format!("// {word}")));
    found.unwrap_or_else(|| panic!("no line of {source} is {word}")) as u64 + 1
}

/// Fates of the mutants in the line of a source that contains a word: operator, texts, and the state or the way of the
/// kill.
fn fates<'a>(score: &'a Value, source: &str, word: &str) -> Vec<(&'a str, String, &'a str)> {
    let wanted = line(source, word);
    let is_there = |mutant: &&Value| {
        mutant["line"] == wanted && mutant["file"].as_str().is_some_and(|file| file.ends_with(&format!("/{source}")))
    };
    let mutants = array(&score["mutants"]).iter().filter(is_there);
    let fate = |mutant: &'a Value| {
        let end = if mutant["killed"].is_null() { &mutant["state"] } else { &mutant["killed"]["by"] };
        (
            string(&mutant["operator"]),
            format!("{} -> {}", string(&mutant["was"]), string(&mutant["became"])),
            string(end),
        )
    };
    mutants.map(fate).collect()
}

/// Fate of one mutant.
#[track_caller]
fn fate(score: &Value, source: &str, word: &str, change: &str) -> String {
    let all = fates(score, source, word);
    let found: Vec<_> = all.iter().filter(|(_, text, _)| text == change).collect();
    assert_eq!(found.len(), 1, "{change} in {all:#?}");
    found[0].2.to_owned()
}

#[test]
fn mutants_are_killed_and_survive_as_the_source_says() {
    for llvm in llvms() {
        for level in ["-O0", "-O2"] {
            let scene = scene(level, Some(llvm));
            let score = scored(&scene, &["seeds"], &["./program"]);
            assert_eq!((number(&score["inputs"]), &score["left_out"]), (5, &json!([])), "{llvm} {level}");
            for (word, change, expected) in [
                // equal values are infected, and the same
                ("equivalent moved", "< -> <=", "survived"),
                ("equivalent moved", "< -> >=", "output"),
                ("not called", "* -> /", "not-reached"),
                ("noted", "+ -> -", "output"),
                ("noted", "assignment -> nothing", "output"),
                ("endless", "- -> +", "hang"),
                ("endless", "2 -> 0", "hang"),
                ("endless", "2 -> 1", "output"),
                ("picked", "3 -> 1", "output"),
                ("aborts", "!= 0 -> == 0", "signal"),
                ("never infected", "255 -> 0", "output"),
                ("never infected", "255 -> -1", "not-infected"),
            ] {
                assert_eq!(fate(&score, "mutants.c", word, change), expected, "{llvm} {level}: {word}");
            }
            assert!(fates(&score, "mutants.c", "not called").iter().all(|(_, _, end)| *end == "not-reached"));
            // an inline function of both files is one mutant, which shows through both
            assert_eq!(fate(&score, "mutants.h", "twice", "+ -> -"), "output");
            assert_eq!(fate(&score, "mutants_other.c", "even", "== -> !="), "output");
            // sums are those of the list
            let list = array(&score["mutants"]);
            let killed = list.iter().filter(|mutant| mutant["state"] == "killed").count() as u64;
            let sums = ["killed", "mutants"].map(|key| number(&score["all"][key]));
            assert_eq!(sums, [killed, list.len() as u64]);
        }
    }
}

#[test]
fn inputs_that_only_reach_a_mutant_kill_none_and_few_inputs_kill_what_all_of_them_kill() {
    let scene = scene("-O2", None);
    let all = scored(&scene, &["seeds", "-o", "score"], &["./program"]);
    let mutants = array(&all["mutants"]);
    let many = scored(&scene, &["seeds", "--reached"], &["./program"]);
    let killed =
        |score: &Value| array(&score["mutants"]).iter().map(|one| one["state"] == "killed").collect::<Vec<_>>();
    assert_eq!(killed(&all), killed(&many));
    assert!(number(&all["runs"]) < number(&many["runs"]), "{} {}", all["runs"], many["runs"]);

    // the score has a page, alerts and test cases
    let survivors = mutants.iter().filter(|mutant| mutant["state"] == "survived").count();
    run(&mut scene.quagmire(&["report", "score"])).ended();
    let page = scene.read("score/score.html");
    assert_eq!(page.matches("<div class=\"survivor\">").count(), survivors);
    assert!(page.contains("/* equivalent moved */"), "survivors stand beside their source");
    let export = |format: &str| run(&mut scene.quagmire(&["report", "score", "--format", format])).ended();
    let sarif = export("sarif").json();
    let results = array(&sarif["runs"][0]["results"]);
    assert_eq!(results.iter().filter(|result| result["ruleId"] == "mutant-survived").count(), survivors);
    let junit = export("junit").stdout;
    assert_eq!(junit.matches("<testcase ").count(), mutants.len() + 1, "one is the command");
    assert_eq!(junit.matches("<failure ").count(), survivors);

    // one more than once, under another content: bytes behind the third are not looked at
    scene.write("seeds/long", b"ab________________________");
    let distill = ["distill", "seeds", "-o", "small", "--for", "mutants", "--json", "--", "./program"];
    let made = run(&mut scene.quagmire(&distill)).ended().json();
    assert_eq!(made["killed"], all["all"]["killed"]);
    let small = scored(&scene, &["small"], &["./program"]);
    assert_eq!(small["all"]["killed"], all["all"]["killed"], "nothing is lost");
    let files = scene.files("small").len();
    assert!(files == array(&made["corpus"]).len() && files < 6, "{made:#}");
    run(&mut scene.quagmire(&distill)).refused(1, &["small holds files already"]);
}

#[test]
fn a_program_is_scored_by_its_output_and_its_exit_status() {
    for arguments in [&["./program"][..], &["./program", "@@"]] {
        let scene = Scene::new(&[("digits", b"a1b22"), ("edges", b"/0:9"), ("none", b"abc")]);
        build(&scene, "mutants_program.c", &["-O1"], None);
        let score = scored(&scene, &["seeds"], arguments);
        let fate = |word: &str, change: &str| fate(&score, "mutants_program.c", word, change);
        assert_eq!(fate("digit", ">= -> >"), "output", "{arguments:?}");
        assert_eq!(fate("digit", "<= -> <"), "output");
        assert_eq!(fate("status", "== -> !="), "status");
        assert!(number(&score["killed_by"]["status"]) > 0 && number(&score["killed_by"]["output"]) > 0, "{score:#}");
    }
}

#[test]
fn exceptions_fly_through_mutated_code_and_templates_are_one_mutant() {
    for llvm in llvms() {
        let scene = Scene::new(&[("small", b"3"), ("large", b"42"), ("thrown", b"4x"), ("empty", b"")]);
        build(&scene, "mutants.cc", &["-O2", "-fsanitize=fuzzer"], Some(llvm));
        let score = scored(&scene, &["seeds"], &["./program"]);
        assert_eq!(number(&score["inputs"]), 4, "{}", score["left_out"]);
        let fate = |word: &str, change: &str| fate(&score, "mutants.cc", word, change);
        assert_eq!(fate("thrown", "> -> <="), "output", "{llvm}");
        assert_eq!(fate("ten", "* -> /"), "output");
        assert_eq!(fate("ten", "digit() -> 0"), "output");
        assert_eq!(fate("leaves", "assignment -> nothing"), "output");
        // of int and of double
        assert!(
            fates(&score, "mutants.cc", "template")
                .iter()
                .any(|(_, change, end)| change == "< -> >=" && *end == "output")
        );
    }
}

#[test]
fn unstable_inputs_are_left_out_and_named() {
    let scene = Scene::new(&[("good", b"a"), ("strange", b"u")]);
    build(&scene, "mutants_unstable.c", &["-O1", "-fsanitize=fuzzer"], None);
    let result = scored(&scene, &["seeds"], &["./program"]);
    assert_eq!(number(&result["inputs"]), 1);
    assert_eq!(result["left_out"], json!([{"path": "seeds/strange", "reason": "unstable"}]));
    assert_eq!(fate(&result, "mutants_unstable.c", "unstable", "== -> !="), "output");
    let text = score(&scene, &["seeds"], &["./program"]).ended().stdout;
    assert!(text.contains("left out: seeds/strange (not the same in each run)"), "{text}");
    score(&scene, &["seeds/strange"], &["./program"])
        .refused(3, &["seeds/strange", "not the same in each run", "repeatable"]);
}

#[test]
fn mutants_that_reach_beyond_their_process_are_contained() {
    let _alone = alone();
    let scene = Scene::new(&[("good", b"a")]);
    build(&scene, "mutants_rude.c", &["-O1", "-fsanitize=fuzzer"], None);
    let score = scored(&scene, &["seeds", "--hang-timeout", "500ms", "-j", "1"], &["./program"]);
    let ends = |word: &str| fate(&score, "mutants_rude.c", word, "!= 0 -> == 0");
    assert_eq!(["kills", "sleeps", "forks"].map(ends), ["signal", "hang", "survived"]);
    // the limit of time or that of the file, whichever comes first
    assert!(["signal", "hang"].contains(&ends("writes").as_str()), "{score:#}");
    assert_eq!(score["is_incomplete"], false);
    let ended_server = array(&score["mutants"])
        .iter()
        .filter(|mutant| mutant["killed"]["detail"].as_str().is_some_and(|detail| detail.contains("ended its server")));
    assert!(ended_server.count() > 0, "{score:#}");
    // what the run that forks has left behind
    let program = scene.path("program").canonicalize().expect("it exists");
    wait_until("no process is left", || processes(&program).is_empty().then_some(()));
}

#[test]
fn sizes_are_off_by_one_where_a_sanitizer_sees_it() {
    let scene = Scene::new(&[("good", b"abc")]);
    build(&scene, "mutants_sizes.c", &["-O1", "-fsanitize=fuzzer,address"], None);
    let score = scored(&scene, &["seeds"], &["./program"]);
    assert_eq!(fate(&score, "mutants_sizes.c", "allocated", "size -> size - 1"), "signal");
    assert_eq!(fate(&score, "mutants_sizes.c", "copied", "size -> size + 1"), "signal");
    let plain = Scene::new(&[("good", b"abc")]);
    build(&plain, "mutants_sizes.c", &["-O1", "-fsanitize=fuzzer"], None);
    let score = scored(&plain, &["seeds"], &["./program"]);
    assert!(
        fates(&score, "mutants_sizes.c", "allocated").iter().all(|(operator, _, _)| *operator != "size-off-by-one")
    );
}

#[test]
fn a_score_is_resumed_where_its_log_ends_and_only_there() {
    let scene = scene("-O1", None);
    score(&scene, &["seeds", "-o", "out"], &["./program"]).ended();
    // which of several inputs is the cheapest, and so the first, depends on the clock
    let states = || -> Vec<Value> {
        array(&scene.json("out/score.json")["mutants"]).iter().map(|mutant| mutant["state"].clone()).collect()
    };
    let whole = states();
    let log = scene.read("out/mutants.jsonl");
    let lines: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
    // half of it, and a line that was being written
    let half = lines[..lines.len() / 2].join("\n") + "\n" + &lines[lines.len() / 2][..9];
    scene.write("out/mutants.jsonl", half.as_bytes());
    score(&scene, &["seeds", "-o", "out"], &["./program"]).refused(2, &["out holds a score", "--resume"]);
    score(&scene, &["seeds", "-o", "out", "--resume"], &["./program"]).ended();
    assert_eq!(states(), whole);
    let again = scene.read("out/mutants.jsonl");
    assert!(again.starts_with(&half), "what is known is not run again");
    scene.write("seeds/more", b"zz");
    let resumed = |options: &[&str]| score(&scene, &[options, &["-o", "out", "--resume"]].concat(), &["./program"]);
    resumed(&["seeds"]).refused(2, &["other inputs", "another folder"]);
    fs::remove_file(scene.path("seeds/more")).expect("removed");
    let other = testdata("mutants_other.c").into_os_string().into_string().expect("text");
    resumed(&["seeds", "--inputs-per-mutant", "3"]).refused(2, &["--inputs-per-mutant", "another folder"]);
    build(&scene, "mutants.c", &[&other, "-O2", "-fsanitize=fuzzer"], None);
    resumed(&["seeds"]).refused(2, &["another build", "another folder"]);
}

#[test]
fn a_score_that_is_stopped_keeps_what_it_knows() {
    let scene = Scene::new(&[("a", b"a"), ("b", b"bb")]);
    build(&scene, "mutants_slow.c", &["-O1", "-fsanitize=fuzzer"], None);
    let words = ["mutants", "score", "seeds", "-o", "out", "-j", "1", "--", "./program"];
    let child = start(&mut scene.quagmire(&words));
    let log = scene.path("out/mutants.jsonl");
    let lines =
        || fs::read_to_string(&log).map_or(0, |text| text.lines().filter(|line| line.contains("\"runs\"")).count());
    wait_until("some mutants are done", || (lines() >= 3).then_some(()));
    let stopped = interrupted(child);
    assert_eq!(stopped.code, Some(1), "{stopped:#?}");
    assert!(stopped.stderr.contains("stopped by a signal after"), "{stopped:#?}");
    assert!(stopped.stderr.contains("--resume -o out"), "{stopped:#?}");
    let part = scene.json("out/score.json");
    assert_eq!(part["is_incomplete"], true);
    run(&mut scene.quagmire(&["mutants", "compare", "out", "out"])).refused(2, &["stopped", "--resume"]);
    score(&scene, &["seeds", "-o", "out", "--resume"], &["./program"]).ended();
    let all = scene.json("out/score.json");
    assert_eq!(all["is_incomplete"], false);
    assert!(number(&all["all"]["killed"]) >= number(&part["all"]["killed"]));
}

#[test]
fn results_are_compared_by_what_they_kill() {
    let scene = scene("-O1", None);
    for (folder, input) in [("one", "seeds/a"), ("other", "seeds/r"), ("all", "seeds")] {
        score(&scene, &[input, "-o", folder], &["./program"]).ended();
    }
    let compare = |words: &[&str]| run(&mut scene.quagmire(&[&["mutants", "compare"], words].concat()));
    let json = |words: &[&str]| -> Value { serde_json::from_str(&compare(words).ended().stdout).expect("JSON") };
    let two = json(&["--json", "one", "other/score.json"]);
    assert_eq!(number(&two["groups"][1]["killed"]), 0, "a rejected input runs nothing: {two:#}");
    assert_eq!(two["pairs"][0]["only_a"], two["groups"][0]["killed"]);
    assert!(two["pairs"][0]["mcnemar"].as_f64().is_some_and(|p| p < 0.01), "{two:#}");
    let groups = json(&["--json", "--", "one", "other", "--and", "all"]);
    assert_eq!((&groups["pairs"][0]["a12"], &groups["pairs"][0]["only_a"]), (&Value::from(0.0), &Value::from(0)));
    let text = compare(&["one", "other", "all"]).ended().stdout;
    assert!(text.contains("A and B: only A") && text.contains("McNemar p = 0.000"), "{text}");
    build(&scene, "mutants_program.c", &["-O1"], None);
    score(&scene, &["seeds", "-o", "foreign"], &["./program"]).ended();
    compare(&["one", "foreign"]).refused(2, &["another program", "same build"]);
    compare(&["one"]).refused(2, &["name two"]);
    compare(&["one", "seeds/a"]).refused(2, &["seeds/a", "score again"]);
    compare(&["one", "nowhere"]).refused(2, &["nowhere", "mutants score -o"]);
}

#[test]
fn a_mutant_that_only_takes_longer_is_killed_if_cost_is_to_kill() {
    let _alone = alone();
    // 16 rounds, and 112 with the mutant; the copy that finds out what is infected is slower, too
    let scene = Scene::new(&[("many", b"@")]);
    build(&scene, "mutants_slower.c", &["-O1", "-fsanitize=fuzzer"], None);
    let of = |options: &[&str]| {
        let score = scored(&scene, &[&["seeds"], options].concat(), &["./program"]);
        let seven_times = fate(&score, "mutants_slower.c", "rounds", "- -> +");
        (seven_times, score)
    };
    assert_eq!(of(&[]).0, "survived");
    assert_eq!(of(&["--slower", "6"]).0, "survived");
    let (by, score) = of(&["--slower", "2"]);
    assert_eq!(by, "cost", "{score:#}");
    assert!(number(&score["killed_by"]["cost"]) > 0, "{score:#}");
    let mutants = array(&score["mutants"]).iter();
    let details: Vec<&str> = mutants.filter_map(|mutant| mutant["killed"]["detail"].as_str()).collect();
    assert!(details.iter().any(|detail| detail.ends_with(" times the CPU time")), "{details:?}");
}

#[test]
fn mistakes_are_refused_in_one_line() {
    let scene = scene("-O1", None);
    for (options, code, words) in [
        (&[][..], 2, &["no inputs to score"][..]),
        (&["missing"], 2, &["missing", "does not exist"]),
        (&["seeds", "-j", "0"], 2, &["-j 0", "from 1"]),
        (&["seeds", "--inputs-per-mutant", "many"], 2, &["--inputs-per-mutant many"]),
        (&["seeds", "--resume"], 2, &["--output"]),
        (&["seeds", "--slower", "1"], 2, &["--slower 1", "above 1"]),
        (&["seeds", "--debug-target"], 2, &["--debug-target", "leave it out"]),
        (&["seeds", "-o", "/proc/nowhere"], 1, &["/proc/nowhere"]),
    ] {
        score(&scene, options, &["./program"]).refused(code, words);
    }
    let plain = harness("diverse.c");
    score(&scene, &["seeds"], &[&plain.display().to_string()]).refused(3, &["has no mutants", "QUAGMIRE_MUTANTS=1"]);
    score(&scene, &["seeds"], &["./nowhere"]).refused(3, &["./nowhere", "does not exist"]);
    // other commands have no use for a program with mutants
    run(&mut scene.quagmire(&["replay", "seeds", "--", "./program"]))
        .refused(3, &["QUAGMIRE_MUTANTS=1", "`quagmire mutants`"]);
    let other = testdata("mutants_other.c").into_os_string().into_string().expect("text");
    build(&scene, "mutants.c", &[&other, "-O1", "-g0", "-fsanitize=fuzzer"], None);
    score(&scene, &["seeds"], &["./program"]).refused(3, &["has no mutants", "without -g0"]);
}

#[test]
fn a_program_with_mutants_can_be_run_by_hand_and_optimised_when_it_is_linked() {
    let scene = Scene::new(&[("digits", b"a1b22"), ("none", b"abc")]);
    build(&scene, "mutants_program.c", &["-O1"], None);
    let by_hand = run(Command::new(scene.path("program")).arg(scene.path("seeds/digits")));
    assert_eq!((by_hand.code, by_hand.stdout.as_str()), (Some(0), "3\n"), "{by_hand:#?}");
    if has_program("ld.lld-19", "lld") {
        build(&scene, "mutants_program.c", &["-O2", "-flto", "-fuse-ld=lld-19"], Some(19));
        let score = scored(&scene, &["seeds"], &["./program"]);
        assert_eq!(fate(&score, "mutants_program.c", "status", "== -> !="), "status");
    }
}
