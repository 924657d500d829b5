//! Output folders whose files and state do not agree: after a process was killed, or files were damaged between sessions.

use crate::common::*;

const SEEDS: &[(&str, &[u8])] = &[("greeting", b"hello world, hello"), ("abort", b"abort"), ("null", b"null")];

/// Names and contents of the files in a folder, without hidden ones.
fn shown(scene: &Scene, folder: &str) -> BTreeMap<String, Vec<u8>> {
    scene.files(folder).into_iter().filter(|(name, _)| !name.starts_with('.')).collect()
}

/// Checks that the summary holds what the folder holds.
#[track_caller]
fn agrees(scene: &Scene) {
    let summary = scene.summary();
    let findings = array(&summary["findings"]);
    for (kind, folder) in [("degradation", "degradations"), ("fault", "faults"), ("hang", "hangs")] {
        let path = |finding: &&Value| finding["kind"] == kind;
        let mut told: Vec<(String, u64)> = findings
            .iter()
            .filter(path)
            .map(|finding| (string(&finding["path"]).to_owned(), number(&finding["bytes"])))
            .collect();
        told.sort();
        let files = shown(scene, &format!("out/{folder}"));
        let files: Vec<(String, u64)> =
            files.into_iter().map(|(name, bytes)| (format!("{folder}/{name}"), bytes.len() as u64)).collect();
        assert_eq!(told, files, "{kind}");
        assert_eq!(number(&summary[folder]), files.len() as u64, "{kind}");
    }
    assert_eq!(number(&summary["entries"]), shown(scene, "out/queue").len() as u64);
}

#[test]
fn degradations_outlive_the_worker_that_found_them() {
    let scene = Scene::new(&SEEDS[..1]);
    let campaign = start(&mut scene.campaign(&harness("quadratic.c"), "--seed 1 --max-size 200 --time 1h"));
    // the file of a finding is there before the line of the journal
    let journal = || fs::read_to_string(scene.path("out/logs/findings.jsonl")).unwrap_or_default();
    let found = || journal().contains("\"verdict\":\"");
    let first = worker(&campaign, &[]);
    wait_until("a degradation in the journal", || found().then_some(()));
    signal(first, libc::SIGKILL);
    worker(&campaign, &[first]);
    let before = shown(&scene, "out/degradations");
    interrupted(campaign).ended();
    let after = shown(&scene, "out/degradations");
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
    agrees(&scene);
    let summary = scene.summary();
    let degradation = array(&summary["findings"]).iter().find(|one| one["kind"] == "degradation");
    assert!(degradation.expect("one")["verdict"].is_string(), "the journal knows its verdict");
}

#[test]
fn damaged_files_are_restored_or_left_out_with_a_line_for_each() {
    let scene = Scene::new(SEEDS);
    let harness = harness("ends.c");
    scene.fuzz(&harness, "--execs 3000 --seed 1 --max-size 100 --explain 0").ended();
    agrees(&scene);
    let (queue, faults) = (shown(&scene, "out/queue"), shown(&scene, "out/faults"));
    let seed = queue.keys().find(|name| name.contains("orig")).expect("a seed");
    let of = |seed: &str| faults.keys().find(|name| name.contains(seed)).expect("a fault");
    let (given, gone) = (of("orig_abort"), of("orig_null"));
    fs::remove_file(scene.path("out/queue").join(seed)).expect("removed");
    scene.write("out/logs/queue_data.txt", b"\0\0\0\0");
    scene.write("out/logs/findings.jsonl", b"");
    scene.write(&format!("out/faults/{given}"), b"nothing");
    fs::remove_file(scene.path("out/faults").join(gone)).expect("removed");
    fs::remove_file(scene.path("seeds/null")).expect("removed");
    let run = scene.fuzz(&harness, "--execs 1 --seed 2 --max-size 100 --explain 0 --resume");
    let lines = |words: &str| run.stdout.lines().filter(|line| line.contains(words)).count();
    assert_eq!(lines(&format!("queue/{seed} is missing: restored")), 1, "{run:#?}");
    assert_eq!(lines(&format!("faults/{given} has changed: restored")), 1, "{run:#?}");
    assert_eq!(lines(&format!("faults/{gone} is missing, and nothing else holds it: left out")), 1, "{run:#?}");
    assert_eq!(lines("logs/queue_data.txt is damaged: written anew"), 1, "{run:#?}");
    assert_eq!(lines("logs/findings.jsonl"), 1, "{run:#?}");
    agrees(&scene);
    let now = shown(&scene, "out/queue");
    assert!(queue.iter().all(|(name, bytes)| now.get(name) == Some(bytes)), "{run:#?}");
    let rows = scene.read("out/logs/queue_data.txt");
    assert!(queue.keys().all(|name| rows.contains(name)), "{rows}");
    run.ended();
}

#[test]
fn a_checkpoint_that_cannot_be_used_costs_the_state_and_no_entry() {
    let other = Scene::new(&SEEDS[..1]);
    let harness = harness("quadratic.c");
    other.fuzz(&harness, "--execs 500 --seed 9 --max-size 200 --explain 0").ended();
    let foreign = other.files("out")[".checkpoint"].clone();
    let damaged = "it is damaged): the campaign goes on with the seeds and all files in queue/";
    for (checkpoint, said) in
        [(None, damaged), (Some(&b"nonsense"[..]), ""), (Some(b""), ""), (Some(&foreign), "it is of another campaign")]
    {
        let (scene, _) = finished();
        let (before, queue) = (scene.summary(), shown(&scene, "out/queue"));
        let mut bytes = scene.files("out")[".checkpoint"].clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        scene.write("out/.checkpoint", checkpoint.unwrap_or(&bytes));
        let resume = || scene.fuzz(&harness, "--execs 500 --seed 2 --explain 0 --resume").ended();
        let run = resume();
        assert_eq!(run.stdout.matches(&format!("the saved state cannot be used ({said}")).count(), 1, "{run:#?}");
        agrees(&scene);
        let now: Vec<Vec<u8>> = shown(&scene, "out/queue").into_values().collect();
        assert!(queue.values().all(|bytes| now.contains(bytes)), "{said}");
        assert!(!scene.path("out/queue/.import").exists());
        assert!(number(&scene.summary()["edges_found"]) >= number(&before["edges_found"]));
        assert!(!resume().stdout.contains("cannot be used"), "{said}");
    }
}
