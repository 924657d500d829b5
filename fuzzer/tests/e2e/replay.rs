//! The command `quagmire replay`: costs of inputs, as text and as JSON.

use crate::common::*;

#[test]
fn instructions_are_the_same_in_two_hundred_runs() {
    let scene = Scene::new(&[("a", b"hello world, hello"), ("c/d", b"xxx"), ("b", b"xx")]);
    let inputs = scene.replay(&harness("quadratic.c"), "-n 200", &[Path::new("seeds")]);
    let paths: Vec<&str> = inputs.iter().map(|input| string(&input["path"])).collect();
    assert_eq!(paths, ["seeds/a", "seeds/b", "seeds/c/d"], "a folder is replayed in order");
    let input = &inputs[0];
    assert_eq!(input["status"], "returned");
    assert_eq!(input["bytes"], 18);
    assert_eq!(array(&input["seconds"]).len(), 200);
    let range = &input["instructions_range"];
    assert_eq!((&range[0], &range[1]), (&input["instructions"], &input["instructions"]));
    // 18 times 18 comparisons; a loop that tests at its end goes back once less than it runs
    assert!([18 * 17, 18 * 18].contains(&number(&input["hottest_edge"])), "{input:#}");
    assert_eq!(input["functions"][0]["function"], "count_pairs");
}

#[test]
fn what_depends_on_addresses_costs_the_same_in_each_process() {
    let scene = Scene::new(&[("a", b"x")]);
    let costs = || number(&scene.replay(&harness("addresses.c"), "-n 1", &[Path::new("seeds/a")])[0]["instructions"]);
    let first = costs();
    assert!(first > 100, "{first}");
    assert_eq!((first, first, first), (costs(), costs(), costs()));
}

#[test]
fn two_inputs_are_compared() {
    let scene = Scene::new(&[("a", &[b'x'; 20]), ("b", &[b'x'; 40])]);
    let inputs = scene.replay(&harness("quadratic.c"), "", &[Path::new("seeds/a"), Path::new("seeds/b")]);
    assert_eq!(inputs[0]["instructions_ratio"], 1.0);
    assert_eq!(inputs[0]["time_ratio"], 1.0);
    let ratio = float(&inputs[1]["instructions_ratio"]);
    assert!((3.5..4.5).contains(&ratio), "{ratio}");
    for key in ["time_ratio", "time_ratio_low", "time_ratio_high"] {
        assert!(inputs[1][key].is_f64(), "{key}: {:#}", inputs[1]);
    }
    // the same through -i, and in words
    let text = scene.ask("replay -i seeds/a seeds/b", &harness("quadratic.c")).ended().stdout;
    assert!(text.starts_with("seeds/a  20 bytes\n") && text.contains("\nseeds/b  40 bytes\n"), "{text}");
    assert!(text.contains("x the first") && text.contains("count_pairs  at "), "{text}");
}

#[test]
fn inputs_that_end_early_are_reported_with_their_status_beside_the_others() {
    let ends = [
        ("abort", "crashed", "SIGABRT"),
        ("null", "crashed", "SIGSEGV"),
        ("exit", "exited", "exit code 3"),
        ("loop", "hung", ""),
        ("kill", "killed", ""),
        ("exit_group", "killed", ""),
        ("hog", "out-of-memory", ""),
    ];
    let mut seeds: Vec<(&str, &[u8])> = ends.iter().map(|end| (end.0, end.0.as_bytes())).collect();
    seeds.push(("a_plain_one", b"hello"));
    let scene = Scene::new(&seeds);
    let mut paths = vec![scene.path("seeds/a_plain_one")];
    paths.extend(ends.iter().map(|end| scene.path("seeds").join(end.0)));
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let inputs = scene.replay(&harness("ends.c"), "-n 2 --hang-timeout 1500ms --memory-limit 64MiB", &paths);
    assert_eq!(inputs[0]["status"], "returned");
    for (input, (name, status, detail)) in inputs[1..].iter().zip(ends) {
        assert_eq!(input["status"], status, "{name}");
        assert!(input["detail"].as_str().unwrap_or("").contains(detail), "{name}: {input:#}");
        for key in ["verdict", "severity", "p_value", "explanation"] {
            assert!(input[key].is_null(), "{name}: {key}: {input:#}");
        }
        assert!(input["no_verdict"].as_str().is_some_and(|why| why.starts_with("the run ")), "{name}: {input:#}");
    }
    let text = scene.ask("replay -n 1 seeds/abort", &harness("ends.c")).ended().stdout;
    assert!(text.contains("status        crashed (SIGABRT)"), "{text}");
}

#[test]
fn there_is_no_verdict_where_a_run_did_not_return() {
    let scene = Scene::new(&[("a", b"plain"), ("b", b"loop"), ("c", b"again")]);
    let replayed = |arguments: &[&str]| {
        let all = [&["replay", "-n", "2", "--hang-timeout", "500ms"], arguments, &["--"]].concat();
        run(scene.quagmire(&all).arg(harness("ends.c"))).ended().stdout
    };
    for (arguments, reason) in [
        (&["seeds/a", "seeds/b"][..], "the run hung"),
        (&["seeds/b", "seeds/a"], "the run of the first input hung"),
        // with --against-all, the last input is judged against those that returned
        (&["--against-all", "seeds/a", "seeds/c", "seeds/b"], "the run hung"),
    ] {
        let text = replayed(arguments);
        let verdicts: Vec<&str> = text.lines().filter(|line| line.starts_with("  verdict")).collect();
        assert_eq!(verdicts, [format!("  verdict       none: {reason}")]);
    }
    let text = replayed(&["--against-all", "seeds/b", "seeds/c", "seeds/a"]);
    let others: Vec<&str> = text.lines().filter(|line| line.starts_with("  against")).collect();
    assert!(matches!(others[..], [one] if one.starts_with("  against       seeds/c: ")), "{text}");
}

#[test]
fn a_count_beyond_32_bits_is_exact() {
    const ITERATIONS: u64 = 5_000_000_000;
    let scene = Scene::new(&[("a", b"x")]);
    let inputs = scene.replay(&harness("long_loop.c"), "-n 1 --hang-timeout 100s", &[Path::new("seeds/a")]);
    let hottest = number(&inputs[0]["hottest_edge"]);
    // a loop that tests at its end goes back once less than it runs
    assert!((ITERATIONS - 1..=ITERATIONS + 1).contains(&hottest), "{hottest}");
    assert!(number(&inputs[0]["edges"]) >= ITERATIONS, "{:#}", inputs[0]);
    let range = &inputs[0]["instructions_range"];
    assert_eq!(range[0], range[1]);
    let line = &inputs[0]["lines"][0];
    assert!((ITERATIONS - 1..=ITERATIONS + 1).contains(&number(&line["count"])), "{line:#}");
    let lines = array(&inputs[0]["lines"]);
    let sum: u64 = lines.iter().map(|line| number(&line["instructions"])).sum();
    assert_eq!(sum, number(&inputs[0]["instructions"]));
}

#[test]
fn a_verdict_comes_with_its_reasons() {
    let _alone = alone();
    let scene = Scene::new(&[("a", &[b'x'; 20]), ("b", &[b'x'; 2000])]);
    let inputs = [Path::new("seeds/a"), Path::new("seeds/b")];
    let [first, second] = &scene.replay(&harness("quadratic.c"), "", &inputs)[..] else { panic!("two inputs") };
    assert!(first["verdict"].is_null() && first["explanation"].is_null(), "{first:#}");
    assert_eq!((&second["verdict"], &second["severity"]), (&"degradation".into(), &"critical".into()));
    assert!(float(&second["p_value"]) < 0.05);
    let why = string(&second["explanation"]);
    assert!(why.contains("x the time of the first [") && why.ends_with("runs"), "{why}");
    for input in [first, second] {
        assert_eq!(number(&input["rounds"]) as usize, array(&input["seconds"]).len());
    }
    // and the other way round
    let swapped = scene.replay(&harness("quadratic.c"), "--budget 1s", &[inputs[1], inputs[0]]);
    assert_eq!(swapped[1]["verdict"], "optimisation");
    let text = scene.ask("replay seeds/a seeds/b", &harness("quadratic.c")).ended().stdout;
    assert!(text.contains("\n  verdict       degradation, critical"), "{text}");
}

#[test]
fn files_of_the_same_content_cost_the_same_whatever_their_times_say() {
    let bytes: &[u8] = &[b'x'; 300];
    let scene = Scene::new(&[("a", bytes), ("b", bytes), ("c", bytes)]);
    let report = scene.ask("replay --json seeds", &harness("quadratic.c")).ended().json();
    let inputs = array(&report["inputs"]);
    for input in &inputs[1..] {
        // what the verdict is hangs on the machine: scripts/bench/judgement has how often it is wrong
        assert!(input["verdict"].is_string(), "{input:#}");
        assert_eq!(input["instructions_ratio"], 1.0);
        for cost in ["instructions", "edges", "hottest-edge", "heap", "heap-total", "stack", "lines"] {
            assert_eq!(input["costs"][cost], inputs[0]["costs"][cost], "{cost}: {input:#}");
        }
    }
    // hardware counters are in the report, or the reason why not, and nobody is warned
    let counters = &inputs[0]["counters"];
    if report["no_counters"].is_null() {
        assert!(number(&counters["hw-instructions"]) > 0 && number(&counters["hw-cycles"]) > 0, "{report:#}");
    } else {
        assert!(report["no_counters"].is_string() && counters.is_null(), "{report:#}");
    }
}

#[test]
fn a_run_that_blocks_signals_is_ended_from_outside() {
    let scene = Scene::new(&[("a", b"plain"), ("b", b"block")]);
    // longer than a plain run can take on a busy machine
    let options = "-n 2 --hang-timeout 2s";
    let inputs = scene.replay(&harness("rude.c"), options, &["seeds/a", "seeds/b"].map(Path::new));
    assert_eq!((&inputs[0]["status"], &inputs[1]["status"]), (&"returned".into(), &"hung".into()));
    assert!(string(&inputs[1]["detail"]).contains("blocks signals"), "{:#}", inputs[1]);
    assert!(inputs[1]["verdict"].is_null());
}
