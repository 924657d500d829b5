//! Campaigns on several cores: clients share their finds, and nothing is lost when one is killed.

use std::sync::MutexGuard;

use crate::common::*;

/// Lock on the machine's cores, if there are at least two; if not, skips the test.
#[track_caller]
fn two_cores() -> Option<MutexGuard<'static, ()>> {
    let two = std::thread::available_parallelism().is_ok_and(|cores| cores.get() >= 2);
    if !two {
        skip("two-cores", "these tests need a machine with two cores");
    }
    two.then(alone)
}

fn contents(files: BTreeMap<String, Vec<u8>>) -> BTreeSet<Vec<u8>> {
    files.into_values().collect()
}

fn descendants(process: u32) -> Vec<u32> {
    children(process).into_iter().flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

fn started(scene: &Scene, options: &str) -> Child {
    let child = start(&mut scene.campaign(&harness("quadratic.c"), options));
    wait_until("both clients keep something", || {
        let kept = |folder: &str| fs::read_dir(scene.path(folder)).map_or(0, Iterator::count);
        (kept("out/queue") > 3 && kept("out/clients/client-1/queue") > 3).then_some(())
    });
    child
}

#[test]
fn clients_divide_the_executions_and_share_what_they_find() {
    let Some(_alone) = two_cores() else { return };
    let scene = Scene::new(&[("text", b"some text without any keyword in it\n")]);
    // the worst input is the one with the largest cost: each client has ordinary sizes of its own
    let options = "-j 2 --seed 1 --max-size 200 --execs 400001 --no-confirm --relative-to seed";
    scene.fuzz(&harness("keyword.c"), options).ended();
    let summary = scene.summary();
    assert_eq!(summary["stopped_by"], "execs");
    let clients = array(&summary["clients"]);
    let executions: Vec<u64> = clients.iter().map(|client| number(&client["executions"])).collect();
    assert_eq!(executions.iter().sum::<u64>(), number(&summary["executions"]));
    assert!(executions.len() == 2 && executions.iter().all(|&part| part >= 200_001), "{executions:?}");
    // executions are counted by whoever makes them, and their costs are those of both
    let costs = number(&summary["costs"][0]["count"]);
    assert!(costs > executions[0].max(executions[1]), "{costs} of {executions:?}");
    assert!(costs <= number(&summary["executions"]), "{costs} of {executions:?}");
    // what another client has found has its name, and a parent here
    let queue = scene.files("out/queue");
    let foreign = queue.keys().filter(|name| name.contains(",sync_client-1,src_")).count();
    assert_eq!(foreign as u64, number(&summary["foreign"]));
    assert!(foreign > 0);
    let other = scene.json("out/clients/client-1/summary.json");
    assert!(number(&summary["edges_found"]) >= number(&other["edges_found"]));
    assert!(summary["worst"]["instructions_ratio"].as_f64() >= other["worst"]["instructions_ratio"].as_f64());
    // they do not do the same work twice
    let own = |folder: &str| -> BTreeSet<Vec<u8>> {
        let files = scene.files(folder).into_iter();
        files.filter(|(name, _)| !name.contains("sync_") && !name.contains("orig_")).map(|(_, bytes)| bytes).collect()
    };
    let (one, another) = (own("out/queue"), own("out/clients/client-1/queue"));
    assert!(one.intersection(&another).count() < one.len().min(another.len()) / 2);
}

#[test]
fn faults_of_all_clients_are_in_the_output_folder() {
    let Some(_alone) = two_cores() else { return };
    let scene = Scene::new(&[("text", b"some text <!MASK? in it")]);
    scene.fuzz(&harness("keyword.c"), "-j 2 --seed 3 --max-size 100 --execs 200000 --no-confirm").ended();
    let summary = scene.summary();
    assert!(number(&summary["faults"]) > 0);
    let all = contents(scene.files("out/faults"));
    assert_eq!(all.len() as u64, number(&summary["faults"]));
}

#[test]
fn killed_clients_are_started_again_and_nothing_is_lost() {
    let Some(_alone) = two_cores() else { return };
    let scene = Scene::new(GREETING);
    let campaign = started(&scene, "-j 2 --seed 1 --max-size 200 --time 1h --no-confirm");
    let mut killed = Vec::new();
    for turn in 0..4 {
        let all = wait_until("all processes are there", || {
            let all = descendants(campaign.id());
            // a worker of the first client, and the second client with its worker
            (all.len() >= 3).then_some(all)
        });
        let victim = all[turn % all.len()];
        killed.push(victim);
        // it may have ended meanwhile
        // SAFETY: a process below the one that this test started.
        unsafe { libc::kill(victim as i32, libc::SIGKILL) };
        wait_for_end("it has gone", &[victim]);
    }
    wait_until("another worker and another client", || {
        let all = descendants(campaign.id());
        (all.len() >= 3 && all.iter().all(|process| !killed.contains(process))).then_some(())
    });
    let before = ["out/queue", "out/clients/client-1/queue"].map(|folder| contents(scene.files(folder)));
    let executions = |scene: &Scene| number(&scene.summary()["executions"]);
    let so_far = wait_until("a summary", || scene.path("out/summary.json").is_file().then(|| executions(&scene)));
    wait_until("executions go on", || (executions(&scene) > so_far).then_some(()));
    let processes = descendants(campaign.id());
    interrupted(campaign).ended();
    assert_eq!(scene.summary()["stopped_by"], "signal");
    let after = ["out/queue", "out/clients/client-1/queue"].map(|folder| contents(scene.files(folder)));
    assert!(before[0].is_subset(&after[0]) && before[1].is_subset(&after[1]));
    assert!(processes.into_iter().all(|process| !is_alive(process)));
}

#[test]
fn a_campaign_whose_first_process_is_killed_ends_and_can_be_resumed() {
    let Some(_alone) = two_cores() else { return };
    let scene = Scene::new(GREETING);
    let options = "-j 2 --seed 1 --max-size 200 --no-confirm";
    let mut campaign = started(&scene, &format!("{options} --time 1h"));
    let processes = descendants(campaign.id());
    campaign.kill().expect("killed");
    campaign.wait().expect("ended");
    wait_for_end("its processes end", &processes);
    let queues = || ["out/queue", "out/clients/client-1/queue"].map(|folder| contents(scene.files(folder)));
    let before = queues();
    scene.fuzz(&harness("quadratic.c"), &format!("{options} --execs 2000 --resume")).ended();
    let of = |folder: &str| number(&scene.json(&format!("{folder}/summary.json"))["executions"]);
    assert!(of("out") >= 2000 && of("out/clients/client-1") >= 1000);
    assert!(before.iter().zip(queues()).all(|(before, now)| before.is_subset(&now)));
}

#[test]
fn cores_that_are_not_there_are_refused() {
    let scene = Scene::new(GREETING);
    let refusals = [("--cores 0-99999", "no list of cores"), ("-j 10000", "may use"), ("--cores 9999", "core 9999")];
    for (options, word) in refusals {
        scene.fuzz(&harness("quadratic.c"), options).refused(2, &[word]);
    }
    assert!(!scene.path("out").exists());
}
