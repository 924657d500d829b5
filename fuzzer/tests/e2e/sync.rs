//! Campaigns that share finds over a sync folder.

use crate::common::*;

const SEED: &[(&str, &[u8])] = &[("text", b"some text without any keyword in it\n")];

/// Command for a campaign in `out-NAME` that shares over the folder `meeting`.
fn campaign(scene: &Scene, name: &str, harness: &Path, options: &str) -> Command {
    let output = format!("out-{name}");
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", &output, "--sync", "meeting", "--name", name]);
    command.args(options.split_whitespace()).arg("--").arg(harness);
    command
}

fn summary(scene: &Scene, name: &str) -> Value {
    scene.json(&format!("out-{name}/summary.json"))
}

#[test]
fn each_campaign_has_what_the_other_has_found() {
    let scene = Scene::new(SEED);
    let options = "--max-size 200 --no-confirm --execs";
    let program = harness("keyword.c");
    // the shorter one leaves something to the other
    run(&mut campaign(&scene, "one", &program, &format!("{options} 1000 --seed 1"))).ended();
    // with names that afl-fuzz reads
    let published = scene.files("meeting/one/queue");
    assert_eq!(published.len(), scene.files("out-one/queue").len());
    assert!(published.keys().all(|name| name.starts_with("id:")), "{published:?}");
    assert!(scene.path("meeting/one/fuzzer_stats").is_file());
    run(&mut campaign(&scene, "two", &program, &format!("{options} 20000 --seed 3"))).ended();
    let (one, two) = (summary(&scene, "one"), summary(&scene, "two"));
    assert!(number(&two["foreign"]) > 0);
    assert!(scene.files("out-two/queue").keys().any(|name| name.contains(",sync_one,src_")));
    assert!(number(&two["edges_found"]) >= number(&one["edges_found"]));
    // the worst one is that of the largest ratio for its size
    let worst = |summary: &Value| float(&summary["worst"]["instructions_ratio_by_size"]);
    assert!(worst(&two) >= worst(&one), "{two:#} {one:#}");
    // and the first one, when it goes on; each import is run once
    let resumed = |execs: &str| {
        run(&mut campaign(&scene, "one", &program, &format!("--max-size 200 --no-confirm --resume --execs {execs}")))
            .ended();
        number(&summary(&scene, "one")["foreign"])
    };
    let before = scene.files("out-one")[".checkpoint"].clone();
    let foreign = resumed("20000");
    assert!(foreign > 0);
    assert_eq!(resumed("1"), foreign);
    let published = scene.files("meeting/one/queue");
    assert_eq!(published.len(), scene.files("out-one/queue").len(), "nothing twice");
    // what it took in after its checkpoint is read back from files, and is not its own
    scene.write("out-one/.checkpoint", &before);
    assert!(resumed("2000") >= foreign);
    let stats = scene.read("out-one/fuzzer_stats");
    let of = |key: &str| {
        let line = stats.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key));
        line.and_then(|line| line.split(':').nth(1)?.trim().parse::<u64>().ok()).expect("a number")
    };
    assert!(of("corpus_imported") > 0, "{stats}");
    assert!(of("corpus_found") + of("corpus_imported") < of("corpus_count"), "{stats}");
}

#[test]
fn inputs_of_afl_are_taken_in_as_they_come() {
    let scene = Scene::new(SEED);
    let file = |number: u32| format!("meeting/afl/queue/id:{number:06},src:000000,time:5,execs:9,op:havoc,rep:2,+cov");
    scene.write("meeting/afl/queue/id:000000,time:0,execs:0,orig:text", SEED[0].1);
    scene.write(&file(1), b"text with a <!MA in it");
    scene.write("meeting/afl/queue/.state/x", b"");
    scene.write("meeting/afl/fuzzer_stats", b"");
    // no rule of T.1 finds a keyword
    let options = "--max-size 200 --no-confirm --time 1h --seed 1 --rules T.1";
    let child = start(&mut campaign(&scene, "me", &harness("keyword.c"), options));
    let has = |bytes: &[u8]| {
        scene.path("out-me/queue").is_dir() && scene.files("out-me/queue").into_values().any(|kept| kept == bytes)
    };
    wait_until("it is here", || has(b"text with a <!MA in it").then_some(()));
    // half of a file at first, and when that was read, all of it
    scene.write(&file(2), b"text with a <!MAS.. ");
    wait_until("half of it is here", || has(b"text with a <!MAS.. ").then_some(()));
    scene.write(&file(2), b"text with a <!MAS.. and <!MASK> in it");
    wait_until("all of it is here", || has(b"text with a <!MAS.. and <!MASK> in it").then_some(()));
    interrupted(child).ended();
}

#[test]
fn hit_counts_of_another_build_are_not_taken_in() {
    let scene = Scene::new(SEED);
    let options = "--max-size 200 --no-confirm --execs 20000 --seed";
    let build = |options: &[&str]| built("keyword.c", &[&["-g", "-fsanitize=fuzzer"], options].concat(), None);
    run(&mut campaign(&scene, "one", &build(&["-O1"]), &format!("{options} 1"))).ended();
    run(&mut campaign(&scene, "two", &build(&["-O0"]), &format!("{options} 2"))).ended();
    let log = scene.read("out-two/logs/quagmire.log");
    assert_eq!(log.matches("one fuzzes another build of the program").count(), 1, "{log}");
    assert!(number(&summary(&scene, "two")["foreign"]) > 0);
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let scene = Scene::new(SEED);
    let program = harness("quadratic.c");
    scene.write("meeting/afl/queue/id:000000,orig:x", b"x");
    run(&mut campaign(&scene, "afl", &program, "--execs 10")).refused(1, &["something else", "--name"]);
    assert!(!scene.path("out-afl").exists(), "nothing to be resumed or forced away");
    let mut first = start_silently(&mut campaign(&scene, "me", &program, "--time 1h --seed 1"));
    wait_until("it has its place", || scene.path("meeting/me/fuzzer_stats").is_file().then_some(()));
    scene
        .ask("fuzz -i seeds -o other --sync meeting --name me", &program)
        .refused(1, &["campaign that is running", "--name"]);
    first.kill().expect("killed");
    first.wait().expect("ended");
}
