//! The command `quagmire compare`: two builds of a program over the same inputs.

use crate::common::*;

/// Builds `compared.c` with these macros and options.
fn build(options: &[&str]) -> PathBuf {
    let level = if options.iter().any(|option| option.starts_with("-O")) { None } else { Some("-O1") };
    let all: Vec<&str> = ["-g", "-fsanitize=fuzzer"].into_iter().chain(level).chain(options.iter().copied()).collect();
    built("compared.c", &all, None)
}

/// Text of this size, in which nothing repeats for long.
fn letters(size: u32) -> Vec<u8> {
    (0..size).map(|i| b'a' + (i * i % 17) as u8).collect()
}

/// A scene with text of several sizes, and inputs that begin with what some builds cannot take.
fn scene() -> Scene {
    let text = letters(3_000);
    let seeds = [("small", &text[..50]), ("middle", &text[..1_000]), ("large", &text[..]), ("empty", b"")];
    Scene::new(&[&seeds[..], &[("crash", b"!boom".as_slice()), ("hang", b"?wait")]].concat())
}

fn compare(scene: &Scene, options: &[&str], old: Option<&Path>, new: &Path) -> Run {
    let mut command = scene.quagmire(&["compare", "seeds"]);
    command.args(options).arg("--");
    if let Some(old) = old {
        command.arg(old).arg("--and");
    }
    run(command.arg(new))
}

/// The verdict on each input, by its file name.
fn verdicts(result: &Value) -> Vec<(String, String)> {
    let inputs = array(&result["inputs"]).iter();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut all: Vec<_> = inputs.map(|one| (name(string(&one["path"])), string(&one["verdict"]).to_owned())).collect();
    all.sort();
    all
}

/// The record of the input with this file name.
fn input<'a>(result: &'a Value, name: &str) -> &'a Value {
    let inputs = array(&result["inputs"]);
    inputs.iter().find(|one| one["path"].as_str().is_some_and(|path| path.ends_with(name))).expect("it is there")
}

#[test]
fn a_build_and_the_same_again_have_no_difference() {
    let (scene, program) = (scene(), build(&[]));
    let same = compare(&scene, &["--json"], Some(&program), &program).ended();
    let all = verdicts(&same.json());
    assert!(all.len() == 6 && all.iter().all(|(_, verdict)| verdict == "same" || verdict == "time-only"), "{all:?}");
    // the same sources once more, with a function that nobody calls
    let same = compare(&scene, &[], Some(&program), &build(&["-DUNUSED"])).ended();
    assert!(same.stdout.contains("6 inputs: "), "{same:#?}");
    // programs under a fork server are compared as harnesses are
    let program = built("program.c", &["-g", "-O1"], None);
    let same = compare(&scene, &["--json"], Some(&program), &program).succeeded();
    let mut all = verdicts(&same.json()).into_iter();
    assert!(all.all(|(_, verdict)| verdict == "same" || verdict == "time-only"), "{same:#?}");
}

#[test]
fn a_function_that_works_more_is_slower_and_named_and_can_be_tolerated() {
    let _alone = alone();
    // a difference that is clear on a machine with other work; how often a fifth is found is measured by
    // scripts/bench/compare
    let (scene, old, new) = (scene(), build(&[]), build(&["-DROUNDS=80"]));
    let slower = compare(&scene, &["--json", "-o", "result.json"], Some(&old), &new);
    assert_eq!(slower.code, Some(4), "{slower:#?}");
    let found = slower.json();
    let large = input(&found, "large");
    assert_eq!(large["verdict"], "slower", "{large:#}");
    assert_eq!(large["moved"][0]["function"], "weigh", "{large:#}");
    let place = string(&large["moved"][0]["location"]);
    assert!(place.contains("compared.c:"), "{place}");
    let ratio = float(&large["ratio"]);
    assert!((6.0..8.0).contains(&ratio), "{ratio}");
    assert_eq!(input(&found, "empty")["verdict"], "same");
    let written = scene.read("result.json");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), found);
    // faster the other way round
    let faster = compare(&scene, &["--json"], Some(&new), &old);
    assert_eq!(input(&faster.json(), "large")["verdict"], "faster");
    assert_eq!(faster.code, Some(0));
    // known, and accepted for now or until some time ago
    for (expires, code, word) in
        [("2999-12-31", 0, "tolerated until 2999"), ("2020-01-01", 4, "was tolerated until 2020")]
    {
        let list = json!([{ "function": "weigh", "reason": "a better hash", "expires": expires }]);
        scene.write("known.json", list.to_string().as_bytes());
        let tolerated = compare(&scene, &["--tolerated", "known.json"], Some(&old), &new);
        assert_eq!(tolerated.code, Some(code), "{tolerated:#?}");
        assert!(tolerated.stdout.contains(word) && tolerated.stdout.contains("a better hash"), "{tolerated:#?}");
    }
}

#[test]
fn linear_work_made_quadratic_is_a_law_that_is_worse() {
    let _alone = alone();
    // what is asked of it takes minutes on a busy machine for more than that
    let (scene, old, new) = (Scene::new(&[("large", &letters(1_500))]), build(&[]), build(&["-DQUADRATIC"]));
    let worse = compare(&scene, &["--json"], Some(&old), &new);
    assert_eq!(worse.code, Some(4), "{worse:#?}");
    let found = worse.json();
    let large = input(&found, "large");
    assert_eq!(large["verdict"], "law-worse", "{large:#}");
    let exponents = [&large["law"]["old_exponent"], &large["law"]["new_exponent"]].map(float);
    assert!((0.9..1.1).contains(&exponents[0]) && (1.8..2.1).contains(&exponents[1]), "{exponents:?}");
    assert_eq!(found["verdicts"][0]["verdict"], "law-worse");
}

#[test]
fn a_law_that_is_worse_shows_over_the_sizes_of_a_corpus_where_nothing_can_be_repeated() {
    let _alone = alone();
    let scene = Scene::new(&[]);
    for size in [150_u16, 300, 500, 900, 1_600, 2_800, 5_000, 9_000] {
        let mut input: Vec<u8> = size.to_le_bytes().to_vec();
        input.extend((2..u32::from(size)).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8));
        scene.write(&format!("seeds/{size}"), &input);
    }
    let (old, new) = (build(&["-DLENGTH"]), build(&["-DLENGTH", "-DQUADRATIC"]));
    let worse = compare(&scene, &["--json"], Some(&old), &new);
    assert_eq!(worse.code, Some(4), "{worse:#?}");
    let found = worse.json();
    let large = input(&found, "9000");
    assert_eq!((&large["verdict"], &large["law"]["function"]), (&json!("law-worse"), &json!("distinct")), "{large:#}");
    let reason = string(&large["reason"]);
    assert!(reason.contains("in the bytes of the inputs, and as n^"), "{reason}");
}

#[test]
fn crashes_and_hangs_that_are_new_are_regressions_and_those_that_are_gone_are_fixed() {
    let scene = scene();
    let (plain, crashes, hangs) = (build(&[]), build(&["-DCRASHES"]), build(&["-DHANGS"]));
    for (old, new, name, code, verdict) in [
        (&plain, &crashes, "crash", 4, "new-crash"),
        (&plain, &hangs, "hang", 4, "new-hang"),
        (&crashes, &plain, "crash", 0, "fixed"),
        (&crashes, &crashes, "crash", 0, "same"),
    ] {
        let run = compare(&scene, &["--json", "--hang-timeout", "300ms"], Some(old), new);
        assert_eq!((run.code, &input(&run.json(), name)["verdict"]), (Some(code), &json!(verdict)), "{run:#?}");
    }
}

#[test]
fn nothing_is_said_of_inputs_whose_runs_differ() {
    let (scene, plain, unstable) = (scene(), build(&[]), build(&["-DUNSTABLE"]));
    let found = compare(&scene, &["--json"], Some(&unstable), &plain).succeeded();
    assert!(verdicts(&found.json()).iter().all(|(_, verdict)| verdict == "unstable"), "{found:#?}");
    assert_eq!(compare(&scene, &["--strict"], Some(&unstable), &plain).code, Some(5));
}

#[test]
fn builds_with_other_flags_are_refused_unless_forced() {
    let (scene, old, new) = (scene(), build(&["-O1"]), build(&["-O2"]));
    compare(&scene, &[], Some(&old), &new).refused(2, &["-O1", "-O2", "--force"]);
    let forced = compare(&scene, &["--force"], Some(&old), &new);
    assert!(forced.code != Some(2) && forced.stdout.contains("6 inputs"), "{forced:#?}");
    let sanitized = build(&["-O1", "-fsanitize=undefined"]);
    compare(&scene, &[], Some(&old), &sanitized).refused(2, &["undefined", "--force"]);
}

#[test]
fn a_baseline_stands_for_the_old_build_of_the_same_program() {
    let (scene, old, new) = (scene(), build(&[]), build(&["-DROUNDS=12"]));
    // a baseline is of a program, whose builds have one name
    for (build, folder) in [(&old, "old"), (&new, "new")] {
        fs::create_dir(scene.path(folder)).expect("created");
        copy_program(build, &scene.path(&format!("{folder}/compared")));
    }
    let of = |options: &[&str], build: &str| compare(&scene, options, None, &scene.path(build));
    let kept = ["--baseline", "costs.json"];
    let updated = of(&[&kept[..], &["--update"]].concat(), "old/compared").succeeded();
    assert!(updated.stderr.contains("costs.json: 6 inputs"), "{updated:#?}");
    let text = scene.read("costs.json");
    let folder = scene.path("old").display().to_string();
    assert!(text.contains("-O1") && !text.contains(&folder), "{text}");
    assert_eq!(of(&kept, "old/compared").code, Some(0));
    let slower = of(&[&kept[..], &["--json"]].concat(), "new/compared");
    assert_eq!(slower.code, Some(4), "{slower:#?}");
    let found = slower.json();
    assert_eq!(input(&found, "large")["verdict"], "slower");
    assert_eq!(input(&found, "large")["moved"][0]["function"], "weigh");
    let again = of(&[&kept[..], &["--update"]].concat(), "new/compared");
    assert!(again.stderr.contains("0 added, 5 changed, 0 removed"), "{again:#?}");
    assert_eq!(of(&kept, "new/compared").code, Some(0));
    // another program, another version, half a file, none
    compare(&scene, &kept, None, &new).refused(2, &["costs.json is of `compared`", "--update"]);
    scene.write("costs.json", text.replace("\"quagmire\": \"", "\"quagmire\": \"0.0.").as_bytes());
    of(&kept, "old/compared").refused(2, &["written by quagmire 0.0.", "--update"]);
    scene.write("costs.json", &text.as_bytes()[..text.len() / 2]);
    of(&kept, "old/compared").refused(2, &["not whole", "--update"]);
    of(&["--baseline", "none.json"], "old/compared").refused(2, &["none.json", "--update"]);
}

#[test]
fn a_baseline_has_inputs_that_are_the_first_to_fill_a_table() {
    let scene = Scene::new(&[("a", b"plain"), ("b", b"t"), ("c", b"text")]);
    let updated = compare(&scene, &["--baseline", "costs.json", "--update"], None, &harness("lazy.c"));
    assert!(updated.code == Some(0) && updated.stderr.ends_with("costs.json: 3 inputs\n"), "{updated:#?}");
    assert!(!updated.stderr.contains("left out"), "{updated:#?}");
}

#[test]
fn findings_of_a_campaign_are_run_again() {
    let (scene, slow, fixed) =
        (Scene::new(&[("a", b"aaaa bbbb cccc dddd")]), build(&["-DQUADRATIC", "-DCRASHES"]), build(&[]));
    scene.write("seeds/b", b"!");

    scene.fuzz(&slow, "--execs 4000 --max-size 400 --seed 1 --no-confirm --no-plotting --quiet").succeeded();
    let summary = scene.summary();
    let found = array(&summary["findings"]).len();
    assert!(found > 0, "{summary:#}");
    let again = |program: &Path| scene.ask("compare --json out", program);
    let same = again(&slow).succeeded();
    assert!(verdicts(&same.json()).iter().all(|(_, verdict)| verdict == "same"), "{same:#?}");
    let all = verdicts(&again(&fixed).json());
    assert!(all.len() == found && all.iter().all(|(_, verdict)| verdict == "fixed"), "{all:?}");
    // its queue and findings, with an old build
    let both = run(scene.quagmire(&["compare", "--json", "out", "--"]).arg(&slow).arg("--and").arg(&slow));
    assert!(verdicts(&both.json()).len() as u64 >= summary["entries"].as_u64().expect("a number"), "{both:#?}");
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_line() {
    let (scene, program) = (scene(), build(&[]));
    let text = program.display().to_string();
    fs::create_dir(scene.path("nothing")).expect("created");
    std::os::unix::fs::symlink("/no/such/file", scene.path("link")).expect("a link");
    scene.write("known.json", b"[{");
    let both = ["--", &text, "--and", &text];
    for (arguments, target, code, words) in [
        ("", &both[..], 2, &["no inputs"][..]),
        ("none", &both, 2, &["none does not exist"]),
        ("seeds", &both[..2], 2, &["--and NEW", "--baseline"]),
        ("seeds", &both[..3], 2, &["-- OLD", "--and NEW"]),
        ("seeds --baseline b.json", &both, 2, &["--baseline stands for the old build"]),
        ("seeds", &["--", &text, "--and", "/bin/true"], 3, &["/bin/true"]),
        ("seeds --threshold 1", &both, 2, &["--threshold"]),
        ("nothing", &both, 2, &["nothing"]),
        ("link", &both, 2, &["link"]),
        ("seeds --tolerated known.json", &both, 2, &["known.json", "expires"]),
    ] {
        let all: Vec<&str> = ["compare"].into_iter().chain(arguments.split_whitespace()).collect();
        run(&mut scene.quagmire(&[&all, target].concat())).refused(code, words);
    }
    run(&mut scene.quagmire(&["serve-runs", "--capacity", "9", "--", &text])).refused(2, &["quagmire compare"]);
}

#[test]
fn ctrl_c_prints_what_is_known_and_leaves_no_process() {
    let (scene, hangs) = (scene(), build(&["-DHANGS"]));
    for i in 0..40 {
        scene.write(&format!("seeds/hang{i}"), format!("?{i}").as_bytes());
    }
    let options = ["compare", "--json", "--hang-timeout", "400ms", "-o", "result.json", "seeds", "--"];
    let child = start(scene.quagmire(&options).arg(&hangs).arg("--and").arg(&hangs));
    let servers = wait_until("both builds run", || Some(children(child.id())).filter(|all| all.len() == 2));
    // forty hangs take longer than it needs to see the signal
    let interrupted = interrupted(child);
    assert_eq!(interrupted.code, Some(1), "{interrupted:#?}");
    let found = interrupted.json();
    assert_eq!((&found["is_incomplete"], array(&found["inputs"]).len()), (&json!(true), 46));
    assert!(scene.path("result.json").exists());
    assert!(interrupted.stderr.contains("not complete"), "{interrupted:#?}");
    wait_for_end("nothing is left", &servers);
}
