//! Programs built with AFL++'s compilers: of the version that `scripts/afl` builds, and of Debian's, whose protocol is older.

use crate::common::*;

/// Warning that is shown once for each such program.
const WARNING: &str = "bucketed edges and time only; build it with quagmire-cc";

/// Builds a file of `testdata` with AFL++ in the folder of the scene; `None` where AFL++ may be missing.
#[track_caller]
fn built_by_afl(scene: &Scene, source: &str, options: &[&str]) -> Option<PathBuf> {
    built_by("afl-clang-fast", scene, source, options)
}

#[track_caller]
fn built_by(compiler: &str, scene: &Scene, source: &str, options: &[&str]) -> Option<PathBuf> {
    if !has_program(compiler, "afl++") {
        return None;
    }
    let program = scene.path("program");
    let mut command = Command::new(compiler);
    command.env("AFL_QUIET", "1").arg("-O1").args(options).arg(testdata(source)).arg("-o").arg(&program);
    run(&mut command).succeeded();
    Some(program)
}

const BUILDS: [&str; 3] = ["-DPLAIN", "-DDEFERRED", "-DPERSISTENT"];

fn replay(scene: &Scene, program: &Path, options: &[&str], arguments: &[&str]) -> Run {
    let mut command = scene.quagmire(&["replay", "--hang-timeout", "1s", "--memory-limit", "64MiB", "-n", "3"]);
    run(command.args(options).arg("seeds").arg("--").arg(program).args(arguments))
}

fn inputs(scene: &Scene, program: &Path, arguments: &[&str]) -> Vec<Value> {
    let report = replay(scene, program, &["--json"], arguments).ended().json();
    assert_eq!(report["instrumentation"], "afl");
    array(&report["inputs"]).clone()
}

/// Asserts the status of each input, and the detail, if this is the only one.
fn ends(scene: &Scene, program: &Path, arguments: &[&str], ends: &[(&str, &str, &str)]) {
    for (bytes, status, detail) in ends {
        scene.write("seeds/one", bytes.as_bytes());
        let input = &inputs(scene, program, arguments)[0];
        let told = (string(&input["status"]), input["detail"].as_str().unwrap_or_default());
        assert_eq!(told, (*status, *detail), "{bytes} {arguments:?}: {input:#}");
        assert!(number(&input["edges_hit"]) >= 5, "{bytes}: {input:#}");
    }
}

/// Number of System V segments that these processes have created.
fn segments(processes: &BTreeSet<u32>) -> usize {
    let table = fs::read_to_string("/proc/sysvipc/shm").expect("a table");
    let maker = |line: &str| line.split_whitespace().nth(4)?.parse::<u32>().ok();
    table.lines().filter_map(maker).filter(|maker| processes.contains(maker)).count()
}

fn below(process: u32) -> BTreeSet<u32> {
    let mut all = BTreeSet::from([process]);
    let mut open = vec![process];
    while let Some(next) = open.pop() {
        let new: Vec<u32> = children(next).into_iter().filter(|child| all.insert(*child)).collect();
        open.extend(new);
    }
    all
}

#[test]
fn inputs_that_go_further_hit_more_edges_and_a_campaign_goes_deeper_than_its_seed() {
    // the first is that of PATH
    for (compiler, build) in
        ["afl-clang-fast", "/usr/bin/afl-clang-fast"].into_iter().flat_map(|it| BUILDS.map(|build| (it, build)))
    {
        let scene = Scene::new(&[("1", b"x..."), ("2", b"q..."), ("3", b"qu.."), ("4", b"qua.")]);
        let Some(program) = built_by(compiler, &scene, "deeper.c", &[build]) else { return };
        let inputs = inputs(&scene, &program, &[]);
        let hit: Vec<u64> = inputs.iter().map(|input| number(&input["edges_hit"])).collect();
        assert!(hit[0] > 0 && hit.is_sorted_by(|a, b| a < b), "{build}: {hit:?}");
        for input in &inputs {
            assert_eq!(input["instructions_range"][0], input["instructions_range"][1], "{build}: {input:#}");
            let costs: Vec<&String> = input["costs"].as_object().expect("costs").keys().collect();
            assert_eq!(costs, ["cycles", "edges", "hottest-edge", "time"]);
            let function = string(&input["functions"][0]["function"]);
            assert!(function.starts_with("edge ") && function.ends_with(" of AFL's map"), "{function}");
        }
        for deeper in ["2", "3", "4"] {
            fs::remove_file(scene.path("seeds").join(deeper)).expect("removed");
        }
        scene.fuzz(&program, "--execs 10000 --seed 1 --max-size 8").succeeded();
        assert!(number(&scene.summary()["edges_found"]) > hit[0], "{build}: {:#}", scene.summary());
        assert!(scene.files("out/queue").values().any(|bytes| bytes.starts_with(b"q")), "{build}");
    }
}

#[test]
fn people_are_told_once_what_is_missing_and_see_no_more_than_there_is() {
    let scene = Scene::new(&[("a", b"quad")]);
    let Some(program) = built_by_afl(&scene, "deeper.c", &[]) else { return };
    let shown = replay(&scene, &program, &[], &[]);
    assert_eq!((shown.code, shown.stderr.matches(WARNING).count()), (Some(0), 1), "{shown:#?}");
    for word in ["instructions", "CPU time", "heap", "stack"] {
        assert!(!shown.stdout.contains(word), "`{word}` in {shown:#?}");
    }
    let masked = scene.ask("replay --mask seeds", &program);
    assert!(masked.stdout.contains(" edges\n") && !masked.stdout.contains("instructions"), "{masked:#?}");
    let ended = scene.fuzz(&program, "--execs 300 --seed 1");
    assert_eq!((ended.code, ended.stderr.matches(WARNING).count()), (Some(0), 1), "{ended:#?}");
    assert!(!ended.stdout.contains("the instructions"), "{ended:#?}");
    let target = &scene.summary()["target"];
    assert_eq!((&target["engine"], &target["instrumentation"]), (&"fork-server".into(), &"afl".into()));
    let page = scene.read("out/report.html");
    assert!(page.contains("built by AFL++"));
}

#[test]
fn ends_are_told_and_the_next_run_is_made() {
    for build in BUILDS {
        let scene = Scene::new(&[]);
        let Some(program) = built_by_afl(&scene, "deeper.c", &[build]) else { return };
        ends(&scene, &program, &[], &[("qua!", "crashed", "SIGABRT"), ("qua?", "hung", ""), ("quad", "returned", "")]);
        scene.write("seeds/one", b"quad");
        scene.write("words", b"\"qua!\"\n\"qua?\"\n");
        // more than one process makes in its loop
        scene.fuzz(&program, "--execs 1500 --seed 1 --max-size 20 --hang-timeout 100ms --dict words").succeeded();
        let summary = scene.summary();
        assert!(number(&summary["executions"]) >= 1500, "{build}: {summary:#}");
        assert!(number(&summary["faults"]) >= 1 && number(&summary["hangs"]) >= 1, "{build}: {summary:#}");
    }
}

#[test]
fn files_memory_limits_and_exits_are_as_with_our_own_server() {
    let scene = Scene::new(&[]);
    let Some(program) = built_by_afl(&scene, "program.c", &["-O0"]) else { return };
    let all = ["0", "3", "4", "8"].map(|first| format!("{first}{}", "x".repeat(49)));
    let told = [("crashed", "SIGSEGV"), ("hung", ""), ("returned", ""), ("out-of-memory", "")];
    let all: Vec<_> = all.iter().zip(told).map(|(bytes, (status, detail))| (bytes.as_str(), status, detail)).collect();
    ends(&scene, &program, &[], &all);
    ends(&scene, &program, &["@@"], &all);
}

#[test]
fn nothing_is_left_behind_by_campaigns_that_are_killed() {
    for build in BUILDS {
        let scene = Scene::new(&[("a", b"quad")]);
        let Some(program) = built_by_afl(&scene, "deeper.c", &[build]) else { return };
        let mut campaign = start_silently(&mut scene.campaign(&program, "--time 100s --seed 1"));
        // supervisor, worker, server, child
        let all = wait_until("runs are made", || Some(below(campaign.id())).filter(|all| all.len() >= 4));
        assert!(segments(&all) > 0, "{build}: it shares memory as AFL does");
        let worker = children(campaign.id())[0];
        let below_worker = below(worker);
        signal(worker, libc::SIGKILL);
        wait_for_end("the worker's processes have gone", &Vec::from_iter(below_worker.clone()));
        let all = wait_until("its successor runs", || Some(below(campaign.id())).filter(|all| all.len() >= 4));
        for process in [campaign.id(), children(campaign.id()).first().copied().unwrap_or(campaign.id())] {
            // the worker may have ended with the supervisor
            // SAFETY: a process that this test started.
            unsafe { libc::kill(process as i32, libc::SIGKILL) };
        }
        let _ = campaign.wait();
        wait_for_end("all processes have gone", &Vec::from_iter(all.clone()));
        // a child that was forked after that look holds the memory until it has ended, too
        let makers = all.union(&below_worker).copied().collect();
        wait_until("no segment is left", || (segments(&makers) == 0).then_some(()));
    }
}

#[test]
fn rounds_on_which_a_loop_ends_cost_as_much_as_others() {
    let scene = Scene::new(&[("a", b"qua.")]);
    let Some(program) = built_by_afl(&scene, "deeper.c", &["-DPERSISTENT"]) else { return };
    // twice the rounds of its loop
    let report = scene.ask("replay --json -n 200 seeds", &program).ended().json();
    let range = &report["inputs"][0]["instructions_range"];
    assert_eq!(range[0], range[1], "{report:#}");
}

#[test]
fn the_dictionary_that_the_compiler_has_made_is_used() {
    let scene = Scene::new(&[("plain", b"an ordinary text of forty bytes or so")]);
    let Some(program) = built_by("afl-clang-lto", &scene, "nested_keywords.c", &["-DPROGRAM"]) else { return };
    let keywords = |options: &str| {
        let options = format!("--execs 5000 --seed 3 --max-size 64 --rules T,havoc,splice,tokens --force {options}");
        scene.fuzz(&program, &options).succeeded();
        scene.files("out/queue").values().filter(|bytes| bytes.starts_with(b"<!ENTITY")).count()
    };
    assert_eq!((keywords("") > 0, keywords("--no-auto-dict")), (true, 0), "{:#}", scene.summary());
}

#[test]
fn what_cannot_be_measured_or_run_is_refused() {
    let scene = Scene::new(&[("a", b"quad")]);
    let Some(program) = built_by_afl(&scene, "deeper.c", &[]) else { return };
    scene.fuzz(&program, "--cost stack --execs 10").refused(2, &["--cost stack", "AFL++", "quagmire-cc"]);
    let mark = "const char *mark = \"__AFL_SHM_ID\";\n#include <unistd.h>\n";
    // what it says, with an answer to the first word
    let says = |words: &str| {
        format!(
            "{mark}int main(void) {{ unsigned words[] = {{{words}}}, answer; write(199, words, 4); read(198, &answer, 4); \
             write(199, words + 1, sizeof words - 4); return !mark; }}"
        )
    };
    for (name, source, words) in [
        (
            "none",
            format!("{mark}int main(void) {{ return !mark; }}"),
            &["before AFL++'s fork server", "exit code 0"][..],
        ),
        ("newer", says("0x41464c02"), &["another AFL++", "version 2", "quagmire-cc"]),
        ("optional", says("0x41464c01, 0x11"), &["another AFL++", "options", "0x10", "quagmire-cc"]),
        ("torn", says("0x41464c01, 1"), &["before AFL++'s fork server", "exit code 0"]),
        ("garbled", says("0x41464c01, 1, 64, 7"), &["AFL++'s protocol", "quagmire-cc"]),
        ("vast", says("0x41464c01, 1, 0x7fffffff"), &["more edges", "quagmire-cc"]),
        ("large", says("0xf800018f"), &["more edges", "quagmire-cc"]),
        ("small", says("0xf800088f"), &["shared memory", "error 8"]),
    ] {
        let program = scene.compile_by("cc", name, &source, &[]);
        replay(&scene, &program, &["--json"], &[]).refused(3, words);
    }
}
