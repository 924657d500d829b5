//! Campaigns that are stopped, killed, resumed and replaced: no find is lost.

use crate::common::*;

/// Starts a campaign without an end, and waits until it has kept an entry.
fn started(scene: &Scene, options: &str) -> Child {
    let options = format!("--seed 1 --max-size 200 --time 1h {options}");
    let child = start(&mut scene.campaign(&harness("quadratic.c"), &options));
    wait_until("the campaign keeps something", || (queue_length(scene) > 3).then_some(()));
    child
}

fn queue_length(scene: &Scene) -> usize {
    let entries = fs::read_dir(scene.path("out/queue")).into_iter().flatten().flatten();
    entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count()
}

fn contents(files: BTreeMap<String, Vec<u8>>) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = files.into_values().collect();
    contents.sort();
    contents
}

/// Whether a process has a signal that it has not taken.
fn is_pending(process: u32, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap_or("0");
    u64::from_str_radix(pending.trim(), 16).expect("a mask") & 1 << (signal - 1) != 0
}

#[test]
fn an_interrupt_or_a_request_to_terminate_ends_a_campaign_as_asked() {
    for with in [libc::SIGINT, libc::SIGTERM] {
        let scene = Scene::new(GREETING);
        let campaign = started(&scene, "");
        signal(campaign.id(), with);
        let run = ended(campaign).ended();
        assert!(run.stdout.contains("stopped on request"), "{run:#?}");
        let summary = scene.summary();
        assert!(summary["stopped_by"] == "signal" && number(&summary["executions"]) > 0, "{summary:#}");
        assert!(scene.read("out/report.html").contains("stopped on request"));
        for file in ["fuzzer_stats", "plot_data", ".checkpoint", "logs/coverage_plot_data.txt"] {
            assert!(scene.path("out").join(file).is_file(), "{file}");
        }
        for folder in ["out", "out/queue", "out/degradations"] {
            let unfinished = scene.files(folder).into_keys().find(|name| name.starts_with(".unfinished"));
            assert_eq!(unfinished, None);
        }
    }
}

#[test]
fn an_interrupt_that_comes_twice_at_once_is_one() {
    let scene = Scene::new(GREETING);
    let campaign = started(&scene, "");
    // it cannot end in between
    let worker = worker(&campaign, &[]);
    signal(worker, libc::SIGSTOP);
    // as timeout does: to the process, and to its group
    for _ in 0..2 {
        signal(campaign.id(), libc::SIGINT);
        wait_until("it is taken", || (!is_pending(campaign.id(), libc::SIGINT)).then_some(()));
    }
    signal(worker, libc::SIGCONT);
    ended(campaign).ended();
    assert_eq!(scene.summary()["stopped_by"], "signal");
}

#[test]
fn what_is_ignored_at_the_start_ends_nothing() {
    let scene = Scene::new(&[("a", b"hello")]);
    let mut command = scene.campaign(&harness("quadratic.c"), "--seed 1 --max-size 200 --time 1h --no-confirm");
    with_signals(&mut command, libc::SIG_IGN);
    let mut running = command.stdout(Stdio::null()).spawn().expect("it starts");
    let executions = || scene.path("out/summary.json").exists().then(|| number(&scene.summary()["executions"]));
    let mut before = wait_until("it writes", executions);
    signal(running.id(), libc::SIGHUP);
    signal(running.id(), libc::SIGINT);
    for worker in children(running.id()) {
        signal(worker, libc::SIGHUP);
    }
    // twice: the first may have been on its way
    for _ in 0..2 {
        before = wait_until("it goes on", || executions().filter(|&now| now > before));
    }
    assert!(running.try_wait().expect("a child").is_none());
    signal(running.id(), libc::SIGTERM);
    assert!(running.wait().expect("a child").success());
    assert_eq!(scene.summary()["stopped_by"], "signal");
}

#[test]
fn no_worker_outlives_a_supervisor_that_is_killed() {
    let scene = Scene::new(GREETING);
    let mut campaign = started(&scene, "");
    let worker = worker(&campaign, &[]);
    campaign.kill().expect("killed");
    campaign.wait().expect("a child");
    wait_for_end("the worker is gone", &[worker]);
    // and its folder is free
    let queue = scene.files("out/queue");
    // a confirmation that was just being started may hold the lock a moment longer
    let resumed = wait_until("the folder is free", || {
        let run = scene.fuzz(&harness("quadratic.c"), "--seed 1 --max-size 200 --execs 1000 --resume");
        (!run.stderr.contains("in use by another campaign")).then_some(run)
    });
    resumed.ended();
    let now = contents(scene.files("out/queue"));
    for (name, bytes) in queue.iter().filter(|(name, _)| !name.starts_with('.')) {
        assert!(now.contains(bytes), "{name} is lost");
    }
}

#[test]
fn a_resumed_campaign_goes_on_where_it_was() {
    let (scene, _) = finished();
    let harness = harness("quadratic.c");
    let (before, queue) = (scene.summary(), scene.files("out/queue"));
    let found = scene.files("out/degradations");
    scene.fuzz(&harness, "--execs 2000 --seed 1 --resume").ended();
    let (after, now) = (scene.summary(), scene.files("out/queue"));
    assert_eq!((&before["executions"], &after["executions"]), (&5000.into(), &7000.into()));
    for (name, bytes) in &queue {
        assert_eq!(now.get(name), Some(bytes), "{name}");
    }
    for name in found.keys() {
        assert!(scene.files("out/degradations").contains_key(name), "{name}");
    }
    assert!(array(&after["findings"]).starts_with(array(&before["findings"])));
    assert!(after["seconds"].as_f64() > before["seconds"].as_f64());
    assert_eq!(before["baseline"]["instructions"], after["baseline"]["instructions"]);
}

#[test]
fn a_resumed_campaign_has_the_options_and_seeds_that_it_had_but_names_no_files() {
    let scene = Scene::new(GREETING);
    scene.write("words.dict", b"\"hello\"\n");
    let harness = harness("quadratic.c");
    scene.fuzz(&harness, "--seed 7 --max-size 150 --threshold 3.5 -x words.dict --no-confirm --execs 300").ended();
    fs::remove_dir_all(scene.path("seeds")).expect("removed");
    for program in [&[][..], &["--max-size-ratio", "2.0"]] {
        let mut command = scene.quagmire(&["fuzz", "--resume", "-o", "out", "--execs", "50"]);
        let resumed = run(command.args(program).arg("--").arg(&harness)).succeeded();
        let told = resumed.stderr.lines().filter(|line| line.contains("resumed without --dict words.dict")).count();
        // the session before had it no more
        assert_eq!(told, usize::from(program.is_empty()), "{resumed:#?}");
        let summary = scene.summary();
        assert_eq!(number(&summary["seed"]), 7);
        let command = array(&summary["command"]);
        assert!(command.contains(&"--threshold=3.5".into()) && command.contains(&"--no-confirm".into()), "{command:?}");
        let limit = if program.is_empty() { 150 } else { 36 };
        assert_eq!(number(&summary["size_limit"]), limit, "{command:?}");
    }
}

#[test]
fn seeds_that_a_session_did_not_come_to_run_in_the_next_one() {
    let names: Vec<String> = (0..200).map(|number| format!("{number:03}")).collect();
    let seeds: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), name.as_bytes())).collect();
    let scene = Scene::new(&seeds);
    let harness = harness("naps.c");
    let child = start(&mut scene.campaign(&harness, "--seed 1 --max-size 10 --no-confirm"));
    wait_until("some seeds have run", || (queue_length(&scene) > 20).then_some(()));
    interrupted(child).ended();
    assert!(queue_length(&scene) < 200, "it was stopped too late");
    scene.fuzz(&harness, "--seed 1 --max-size 10 --no-confirm --execs 1 --resume").ended();
    let queue = contents(scene.files("out/queue"));
    for name in names {
        assert!(queue.contains(&name.clone().into_bytes()), "{name} did not run");
    }
}

#[test]
fn a_candidate_whose_measurement_was_interrupted_is_measured_again() {
    let scene = Scene::new(GREETING);
    let campaign = started(&scene, "");
    wait_until("a candidate is measured", || {
        let workers = children(campaign.id());
        workers.into_iter().flat_map(children).any(|process| is_replay(&process)).then_some(())
    });
    signal(campaign.id(), libc::SIGTERM);
    ended(campaign).ended();
    let of_stop = scene.log();
    let entry = of_stop.rsplit_once("not measured to the end: ").expect("it was stopped too late").1;
    let entry = entry.rsplit_once("queue/").and_then(|(_, name)| name.split(';').next()).expect("its path");
    scene.fuzz(&harness("quadratic.c"), "--seed 1 --max-size 200 --execs 1 --resume").ended();
    let of_resumed = scene.log()[of_stop.len()..].to_owned();
    let summary = scene.summary();
    let is_found = summary["findings"].to_string().contains(entry);
    assert!(is_found || of_resumed.contains(entry), "{entry} was not measured: {of_resumed} {summary:#}");
}

#[test]
fn a_resumed_campaign_with_findings_numbers_new_ones_after_the_old() {
    let scene = Scene::new(&[("abort", b"abort"), ("plain", b"hello")]);
    scene.fuzz(&harness("ends.c"), "--execs 500 --seed 1 --rules T,havoc").ended();
    assert_eq!(scene.files("out/faults").len(), 1);
    fs::remove_file(scene.path("out/.checkpoint")).expect("removed");
    scene.write("seeds/null", b"null"); // without the state, seeds are run again
    scene.fuzz(&harness("ends.c"), "--execs 500 --seed 1 --rules T,havoc --resume").ended();
    let faults = contents(scene.files("out/faults"));
    assert!(faults.contains(&b"abort".to_vec()) && faults.contains(&b"null".to_vec()), "{faults:?}");
    assert_eq!(scene.summary()["faults"], scene.files("out/faults").len());
}

#[test]
fn a_forced_campaign_keeps_the_old_one_and_can_start_from_its_queue() {
    let scene = Scene::new(GREETING);
    let harness = harness("quadratic.c");
    scene.fuzz(&harness, "--execs 1000 --seed 1 --max-size 200").ended();
    let queue = scene.files("out/queue");
    let mut command = scene.quagmire(&["fuzz", "-i", "out/queue", "-o", "out", "--force", "--execs", "500"]);
    run(command.args(["--seed", "1", "--max-size", "200", "--"]).arg(&harness)).ended();
    assert_eq!(scene.files("out.old/queue"), queue);
    let now = contents(scene.files("out/queue"));
    assert!(queue.values().all(|bytes| now.contains(bytes)));
    assert_eq!(scene.summary()["executions"], 500);
}
