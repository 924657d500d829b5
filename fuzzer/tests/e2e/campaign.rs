//! Whole campaigns of a given number of executions: their files, output, entries and findings.

use std::process::Command;

use crate::common::{Scene, alone, built, copy_program, harness, number, run};
use serde_json::Value;

const SEED: &[(&str, &[u8])] = &[("greeting", b"hello world, hello")];

/// Fields of a file name in `queue/` and similar folders.
fn fields(name: &str) -> Vec<(&str, &str)> {
    name.split(',')
        .map(|field| field.split_once('_').unwrap_or_else(|| panic!("no field: {field} in {name}")))
        .collect()
}

#[test]
fn a_campaign_leaves_a_complete_output_folder() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 3000 --seed 1 --max-size 400").ended();
    for folder in ["queue", "degradations", "faults", "hangs", "logs"] {
        assert!(scene.path("out").join(folder).is_dir(), "{folder}");
    }
    for file in [
        "summary.json",
        "fuzzer_stats",
        "plot_data",
        "logs/coverage_plot_data.txt",
        "logs/degradation_plot_data.txt",
        "logs/results_data.txt",
        "logs/quagmire.log",
    ] {
        assert!(scene.path("out").join(file).is_file(), "{file}");
    }
    for (number, (name, _)) in scene.files("out/queue").iter().enumerate() {
        let fields = fields(name);
        assert_eq!(fields[0], ("id", format!("{number:06}").as_str()), "{name}");
        for (key, value) in &fields[1..] {
            match *key {
                "src" => assert!(value.parse::<usize>().expect("a number") < number, "{name}"),
                "cost" | "bysize" => assert!(value.parse::<f64>().expect("a ratio") >= 0.0, "{name}"),
                "op" | "orig" => assert!(!value.is_empty(), "{name}"),
                _ => panic!("{key} in {name}"),
            }
        }
    }
    assert_eq!(scene.files("out/queue")["id_000000,orig_greeting"], b"hello world, hello");
}

#[test]
fn the_summary_has_all_its_keys_and_agrees_with_the_folder() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 3000 --seed 7 --max-size 400").ended();
    let summary = scene.summary();
    let has = |value: &Value, keys: &str| {
        for key in keys.split_whitespace() {
            assert!(value.get(key).is_some(), "no {key} in {value:#}");
        }
    };
    has(
        &summary,
        "version command seed started seconds stopped_by executions executions_per_second target edges_found baseline \
         worst degradations faults hangs rules findings",
    );
    has(&summary["target"], "program engine edges");
    has(&summary["baseline"], "instructions seconds bytes");
    has(&summary["worst"], "path bytes instructions_ratio time_ratio");
    has(&summary["rules"][0], "label name applied coverage_increases degradations");
    has(
        &summary["findings"][0],
        "kind path bytes parent rules instructions_ratio time_ratio time_ratio_low time_ratio_high hot_function \
         hot_location reproduce",
    );
    assert_eq!(summary["seed"], 7);
    assert_eq!(summary["stopped_by"], "execs");
    assert_eq!(summary["executions"], 3000);
    assert_eq!(summary["target"]["engine"], "in-process");
    assert_eq!(summary["baseline"]["bytes"], 18);
    let command: Vec<&str> = summary["command"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(command[1..5], ["fuzz", "-i", "seeds", "-o"]);
    assert_eq!(command.last(), summary["target"]["program"].as_str().as_ref());
    assert!(number(&summary["edges_found"]) <= number(&summary["target"]["edges"]));
    assert!(number(&summary["edges_found"]) > 0);

    let findings = summary["findings"].as_array().expect("a list");
    for (kind, count, folder) in
        [("degradation", "degradations", "degradations"), ("fault", "faults", "faults"), ("hang", "hangs", "hangs")]
    {
        let of_kind = findings.iter().filter(|finding| finding["kind"] == kind).count();
        let files = scene.files(&format!("out/{folder}")).len();
        assert_eq!((of_kind, files), (number(&summary[count]) as usize, of_kind), "{kind}");
    }
    let mut paths: Vec<&str> = findings.iter().filter_map(|finding| finding["path"].as_str()).collect();
    paths.push(summary["worst"]["path"].as_str().expect("a path"));
    for path in paths {
        assert!(scene.path("out").join(path).is_file(), "{path}");
    }
    // each mutant has at least one rule, and seeds and the first run of the baseline have none
    let applied: u64 = summary["rules"].as_array().expect("a list").iter().map(|rule| number(&rule["applied"])).sum();
    assert!(applied >= 2900, "{applied}");
    let improved = summary["rules"].as_array().expect("a list").iter();
    let improved: u64 = improved.map(|rule| number(&rule["coverage_increases"])).sum();
    assert!(improved >= scene.files("out/queue").len() as u64 - 1, "{improved}");
}

#[test]
fn where_there_is_no_terminal_plain_lines_are_printed() {
    let scene = Scene::new(SEED);
    let run = scene.fuzz(&harness("quadratic.c"), "--execs 1000 --seed 1 --max-size 400").ended();
    assert!(!run.stdout.contains(['\x1b', '\r']), "{run:#?}");
    assert!(run.stdout.lines().any(|line| line.contains("1,000 execs")), "{run:#?}");
    assert!(run.stdout.contains("out/summary.json"), "{run:#?}");
}

#[test]
fn quiet_prints_nothing_but_the_end() {
    let scene = Scene::new(SEED);
    let run = scene.fuzz(&harness("quadratic.c"), "--execs 1000 --seed 1 --quiet --max-size 400").ended();
    assert!(run.stdout.lines().next().is_some_and(|line| line.contains("(all executions done)")), "{run:#?}");
    assert!(!run.stdout.contains(" execs ("), "{run:#?}");
}

#[test]
fn the_same_seed_number_gives_the_same_queue_and_another_one_another() {
    let harness = harness("quadratic.c");
    let queue = |seed: u32| {
        let scene = Scene::new(SEED);
        scene.fuzz(&harness, &format!("--execs 3000 --seed {seed} --max-size 400")).ended();
        scene.files("out/queue")
    };
    let first = queue(5);
    assert!(first.len() > 3, "{first:?}");
    assert_eq!(first, queue(5));
    assert_ne!(first, queue(6));
}

#[test]
fn the_same_seed_number_gives_the_same_findings_through_restarts() {
    let harness = built("odd.c", &["-O1", "-fsanitize=fuzzer", "-DEND=abort()"], None);
    let findings = || {
        let scene = Scene::new(&[("even", b"ab")]);
        scene.fuzz(&harness, "--execs 600 --seed 4").ended();
        (scene.files("out/queue"), scene.files("out/faults"))
    };
    assert_eq!(findings(), findings());
}

#[test]
fn a_rejected_input_is_never_kept() {
    let scene = Scene::new(&[("taken", b"yes"), ("rejected", b"no")]);
    scene.fuzz(&harness("rejects.c"), "--execs 5000 --seed 1").ended();
    let queue = scene.files("out/queue");
    assert!(queue.len() > 1, "{queue:?}");
    for (name, bytes) in queue {
        assert_eq!(bytes.first(), Some(&b'y'), "{name}");
    }
    assert_eq!(scene.files("out/faults").len() + scene.files("out/hangs").len(), 0);
    assert!(scene.log().contains("the seed seeds/rejected is rejected (-1)"), "{}", scene.log());
}

#[test]
fn a_quadratic_function_is_confirmed_as_a_degradation_and_named() {
    let _alone = alone();
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 5000 --seed 3 --max-size 1000").ended();
    let summary = scene.summary();
    let findings = summary["findings"].as_array().expect("a list");
    assert!(!findings.is_empty(), "{summary:#}");
    for finding in findings {
        assert_eq!(finding["kind"], "degradation");
        assert_eq!(finding["hot_function"], "count_pairs");
        let location = finding["hot_location"].as_str().expect("built with -g");
        assert!(location.contains("quadratic.c:"), "{location}");
        let ratio = |key: &str| finding[key].as_f64().expect("a number");
        assert!(ratio("instructions_ratio") >= 2.0, "{finding:#}");
        assert!(ratio("time_ratio_low") <= ratio("time_ratio"), "{finding:#}");
        assert!(ratio("time_ratio") <= ratio("time_ratio_high"), "{finding:#}");
        assert!(ratio("time_ratio_low") > 1.0, "{finding:#}");
        let path = finding["path"].as_str().expect("a path");
        assert!(path.starts_with("degradations/") && scene.path("out").join(path).is_file(), "{path}");
        // where the user typed the campaign's command, this one works as well
        let command = finding["reproduce"].as_str().expect("a command");
        let run = run(Command::new("sh").args(["-c", command]).current_dir(scene.path(""))).ended();
        assert!(run.stdout.contains(path) && run.stdout.contains("count_pairs"), "{command}: {run:#?}");
    }
}

#[test]
fn without_confirmation_slow_inputs_are_only_in_the_queue() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 3000 --seed 1 --max-size 400 --no-confirm").ended();
    assert_eq!(scene.files("out/degradations").len(), 0);
    assert!(scene.summary()["worst"]["instructions_ratio"].as_f64().unwrap() > 2.0);
}

#[test]
fn a_harness_runs_by_itself_as_it_does_under_quagmire() {
    let harness = harness("quadratic.c");
    let under = Scene::new(SEED);
    under.fuzz(&harness, "--execs 2000 --seed 2 --max-size 400").ended();
    let alone = Scene::new(SEED);
    let mut command = Command::new(&harness);
    command.args("-i seeds -o out --execs 2000 --seed 2 --max-size 400".split(' ')).current_dir(alone.path(""));
    run(&mut command).ended();
    assert_eq!(under.files("out/queue"), alone.files("out/queue"));
    let replayed = run(Command::new(&harness).arg("seeds/greeting").current_dir(alone.path(""))).ended();
    assert!(replayed.stdout.contains("count_pairs"), "{replayed:#?}");
}

#[test]
fn names_with_blanks_and_quotes_are_reproduced() {
    let _alone = alone();
    let scene = Scene::new(&[("it's a seed; rm -rf $HOME", b"hello world, hello")]);
    let odd = scene.path("my 'harness'");
    copy_program(&harness("quadratic.c"), &odd);
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "my \"out\"", "--execs", "3000", "--seed", "1"]);
    run(command.args(["--max-size", "400", "--"]).arg(&odd)).ended();
    let text = std::fs::read_to_string(scene.path("my \"out\"/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    let command = summary["findings"][0]["reproduce"].as_str().expect("a finding");
    run(Command::new("sh").args(["-c", command]).current_dir(scene.path(""))).ended();
}

#[test]
fn a_dictionary_gets_a_word_through_a_comparison() {
    let scene = Scene::new(&[("plain", b"ab")]);
    scene.write("words", b"# comment\nword=\"abort\"\n");
    let mut options = scene.campaign(&harness("ends.c"), "--execs 100000 --seed 1 -x words --no-auto-dict");
    run(&mut options).ended();
    assert!(
        scene.files("out/faults").values().any(|bytes| bytes.starts_with(b"abort")),
        "{:?}",
        scene.files("out/faults")
    );
}

#[test]
fn the_same_contents_are_kept_once_also_if_the_target_is_unstable() {
    let scene = Scene::new(&[("seed", b"x")]);
    scene.fuzz(&harness("unstable.c"), "--execs 2000 --seed 1 --max-size 1 --no-confirm").ended();
    let queue = scene.files("out/queue");
    let contents: std::collections::BTreeSet<_> = queue.values().collect();
    assert!(queue.len() > 10, "{} entries", queue.len());
    assert_eq!(contents.len(), queue.len());
}

#[test]
fn huge_pages_are_asked_for_where_inputs_are_searched_and_not_where_they_are_measured() {
    let settings = |own: Option<&str>| {
        let scene = Scene::new(SEED);
        let mut campaign = scene.campaign(&harness("tunables.c"), "--execs 500 --seed 1 --max-size 100");
        campaign.env("SETTINGS", scene.path("settings")).env_remove("GLIBC_TUNABLES");
        run(campaign.envs(own.map(|own| ("GLIBC_TUNABLES", own)))).ended();
        let text = std::fs::read_to_string(scene.path("settings")).expect("written");
        let (measured, searched): (Vec<String>, Vec<String>) =
            text.lines().map(str::to_owned).partition(|line| line.contains(" replay "));
        assert!(!measured.is_empty() && !searched.is_empty(), "{text}");
        (searched, measured)
    };
    let (searched, measured) = settings(None);
    assert!(searched.iter().all(|line| line.ends_with(": glibc.malloc.hugetlb=1")), "{searched:#?}");
    assert!(measured.iter().all(|line| line.ends_with(": none")), "{measured:#?}");
    // what the user has set is left alone
    let own = "glibc.malloc.arena_max=1";
    let (searched, measured) = settings(Some(own));
    assert!(searched.iter().chain(&measured).all(|line| line.ends_with(own)), "{searched:#?} {measured:#?}");
}

#[test]
fn what_a_busy_machine_hides_is_measured_again() {
    let scene = Scene::new(SEED);
    let mut command = scene.campaign(&harness("noisy_once.c"), "--seed 1 --max-size 300 --execs 3000 --explain 0");
    let run = run(command.env("MARKER", scene.path("marker"))).ended();
    assert!(scene.path("marker").exists(), "{run:#?}");
    let log = String::from_utf8(scene.files("out/logs")["quagmire.log"].clone()).expect("text");
    assert!(log.contains("not confirmed"), "{log}");
    assert_eq!(number(&scene.summary()["degradations"]), scene.files("out/degradations").len() as u64);
    assert!(number(&scene.summary()["degradations"]) > 0, "{log}");
    assert_eq!(scene.summary()["unconfirmed"], serde_json::json!([]), "{log}");
}
