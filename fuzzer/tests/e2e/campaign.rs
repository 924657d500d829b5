//! Whole campaigns of a given number of executions: their files, output, entries and findings.

use crate::common::*;

#[test]
fn a_campaign_leaves_a_complete_output_folder() {
    let (scene, printed) = finished();
    for folder in ["queue", "degradations", "faults", "hangs", "logs"] {
        assert!(scene.path("out").join(folder).is_dir(), "{folder}");
    }
    let logs = "coverage_plot_data.txt degradation_plot_data.txt results_data.txt quagmire.log".split(' ');
    let logs = logs.map(|name| format!("logs/{name}"));
    for file in ["summary.json", "fuzzer_stats", "plot_data"].map(str::to_owned).into_iter().chain(logs) {
        assert!(scene.path("out").join(&file).is_file(), "{file}");
    }
    for (number, (name, _)) in scene.files("out/queue").iter().enumerate() {
        let fields: Vec<(&str, &str)> = name.split(',').map(|field| field.split_once('_').expect("a field")).collect();
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
    // plain lines where there is no terminal
    assert!(!printed.contains(['\x1b', '\r']) && printed.contains("out/summary.json"), "{printed}");
    assert!(printed.lines().any(|line| line.contains(" execs (")), "{printed}");
}

#[test]
fn the_summary_has_all_its_keys_and_agrees_with_the_folder() {
    let (scene, _) = finished();
    let summary = scene.summary();
    for (value, keys) in [
        (
            &summary,
            "version command seed started seconds stopped_by executions executions_per_second target edges_found baseline \
             worst degradations faults hangs rules findings",
        ),
        (&summary["target"], "program engine edges"),
        (&summary["baseline"], "instructions seconds bytes"),
        (&summary["worst"], "path bytes instructions_ratio time_ratio"),
        (&summary["rules"][0], "label name applied coverage_increases degradations"),
        (
            &summary["findings"][0],
            "kind path bytes parent rules instructions_ratio time_ratio time_ratio_low time_ratio_high hot_function \
             hot_location reproduce",
        ),
    ] {
        for key in keys.split_whitespace() {
            assert!(value.get(key).is_some(), "no {key} in {value:#}");
        }
    }
    assert_eq!([&summary["seed"], &summary["executions"], &summary["baseline"]["bytes"]], [3, 5000, 18]);
    assert_eq!([&summary["stopped_by"], &summary["target"]["engine"]], ["execs", "in-process"]);
    let command: Vec<&str> = array(&summary["command"]).iter().filter_map(Value::as_str).collect();
    assert_eq!(command[1..5], ["fuzz", "-i", "seeds", "-o"]);
    assert_eq!(command.last(), summary["target"]["program"].as_str().as_ref());
    assert!((1..=number(&summary["target"]["edges"])).contains(&number(&summary["edges_found"])));

    let findings = array(&summary["findings"]);
    for (kind, folder) in [("degradation", "degradations"), ("fault", "faults"), ("hang", "hangs")] {
        let of_kind = findings.iter().filter(|finding| finding["kind"] == kind).count();
        let files = scene.files(&format!("out/{folder}")).len();
        assert_eq!((of_kind, files), (number(&summary[folder]) as usize, of_kind), "{kind}");
    }
    for path in findings.iter().chain([&summary["worst"]]).map(|one| string(&one["path"])) {
        assert!(scene.path("out").join(path).is_file(), "{path}");
    }
    // each mutant has at least one rule, and seeds and the first run of the baseline have none
    let sum = |key: &str| array(&summary["rules"]).iter().map(|rule| number(&rule[key])).sum::<u64>();
    assert!(sum("applied") >= 4900, "{summary:#}");
    assert!(sum("coverage_increases") >= scene.files("out/queue").len() as u64 - 1, "{summary:#}");
}

#[test]
fn the_same_seed_number_gives_the_same_queue_also_in_a_harness_by_itself_and_another_one_another() {
    let harness = harness("quadratic.c");
    let campaign = |options: &str| {
        let scene = Scene::new(GREETING);
        let end = scene.fuzz(&harness, &format!("--execs 3000 --max-size 400 {options}")).ended();
        (scene, end.stdout)
    };
    let (first, printed) = campaign("--seed 5 --quiet");
    assert!(printed.lines().next().is_some_and(|line| line.contains("(all executions done)")), "{printed}");
    assert!(!printed.contains(" execs ("), "quiet prints nothing but the end: {printed}");
    let queue = first.files("out/queue");
    assert!(queue.len() > 3, "{queue:?}");
    // without confirmation, slow inputs are in the queue only
    let (other, _) = campaign("--seed 6 --no-confirm");
    assert_ne!(queue, other.files("out/queue"));
    assert!(other.files("out/degradations").is_empty());
    assert!(float(&other.summary()["worst"]["instructions_ratio"]) > 2.0);

    let scene = Scene::new(GREETING);
    let by_itself =
        |words: &str| run(Command::new(&harness).args(words.split(' ')).current_dir(scene.path(""))).ended();
    by_itself("-i seeds -o out --execs 3000 --seed 5 --max-size 400");
    assert_eq!(queue, scene.files("out/queue"));
    assert!(by_itself("seeds/greeting").stdout.contains("count_pairs"));
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
    let (scene, _) = finished();
    let summary = scene.summary();
    let findings = array(&summary["findings"]);
    assert!(!findings.is_empty(), "{summary:#}");
    for finding in findings {
        assert_eq!(finding["kind"], "degradation");
        assert_eq!(finding["hot_function"], "count_pairs");
        let location = string(&finding["hot_location"]);
        assert!(location.contains("quadratic.c:"), "{location}");
        let ratio = |key: &str| float(&finding[key]);
        assert!(ratio("instructions_ratio") >= 2.0, "{finding:#}");
        assert!(ratio("time_ratio_low") <= ratio("time_ratio"), "{finding:#}");
        assert!(ratio("time_ratio") <= ratio("time_ratio_high"), "{finding:#}");
        assert!(ratio("time_ratio_low") > 1.0, "{finding:#}");
        let path = string(&finding["path"]);
        assert!(path.starts_with("degradations/") && scene.path("out").join(path).is_file(), "{path}");
        // where the user typed the campaign's command, this one works as well
        let command = string(&finding["reproduce"]);
        let run = run(Command::new("sh").args(["-c", command]).current_dir(scene.path(""))).ended();
        assert!(run.stdout.contains(path) && run.stdout.contains("count_pairs"), "{command}: {run:#?}");
    }
}

#[test]
fn names_with_blanks_and_quotes_are_reproduced() {
    let _alone = alone();
    let scene = Scene::new(&[("it's a seed; rm -rf $HOME", b"hello world, hello")]);
    let odd = scene.path("my 'harness'");
    copy_program(&harness("quadratic.c"), &odd);
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "my \"out\"", "--execs", "3000", "--seed", "1"]);
    run(command.args(["--max-size", "400", "--"]).arg(&odd)).ended();
    let text = scene.read("my \"out\"/summary.json");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    let command = string(&summary["findings"][0]["reproduce"]);
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
    let contents: BTreeSet<_> = queue.values().collect();
    assert!(queue.len() > 10, "{} entries", queue.len());
    assert_eq!(contents.len(), queue.len());
}

#[test]
fn huge_pages_are_asked_for_where_inputs_are_searched_and_not_where_they_are_measured() {
    let settings = |own: Option<&str>| {
        let scene = Scene::new(GREETING);
        let mut campaign = scene.campaign(&harness("tunables.c"), "--execs 500 --seed 1 --max-size 100");
        campaign.env("SETTINGS", scene.path("settings")).env_remove("GLIBC_TUNABLES");
        run(campaign.envs(own.map(|own| ("GLIBC_TUNABLES", own)))).ended();
        let text = scene.read("settings");
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
    let scene = Scene::new(GREETING);
    let mut command = scene.campaign(&harness("noisy_once.c"), "--seed 1 --max-size 300 --execs 3000 --explain 0");
    let run = run(command.env("MARKER", scene.path("marker"))).ended();
    assert!(scene.path("marker").exists(), "{run:#?}");
    let log = String::from_utf8(scene.files("out/logs")["quagmire.log"].clone()).expect("text");
    assert!(log.contains("not confirmed"), "{log}");
    assert_eq!(number(&scene.summary()["degradations"]), scene.files("out/degradations").len() as u64);
    assert!(number(&scene.summary()["degradations"]) > 0, "{log}");
    assert_eq!(scene.summary()["unconfirmed"], json!([]), "{log}");
}
