//! Programs that are run as they are (`--uninstrumented`): what they cost, what is said of those that misbehave, and that
//! nothing of them is left behind.

use crate::common::*;

const SEEDS: &[(&str, &[u8])] = &[("a", b"abcdefgh\n")];

/// A program whose time grows with the square of the number of `x` in its input, in milliseconds or so, and whose
/// memory by 16 MiB with each `m`.
const SLOW: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **arguments) {
  FILE *input = count > 1 ? fopen(arguments[1], "r") : stdin;
  unsigned long work = 0, pages = 0;
  for (int c; (c = getc(input)) != EOF;) work += c == 'x', pages += c == 'm';
  for (volatile unsigned long i = 0; i < work * work * 600000; i++) {}
  for (unsigned long i = 0; i < pages && i < 8; i++) memset(malloc(16 << 20), 1, 16 << 20);
  return 0;
}
"#;

fn shell(scene: &Scene, verb: &str, options: &str, script: &str) -> Run {
    let mut command = scene.quagmire(&[verb, "--uninstrumented"]);
    command.args(options.split_whitespace()).args(["--", "sh", "-c", script, "sh", "@@"]);
    run(&mut command)
}

const FUZZ: &str = "-i seeds -o out --seed 1";

#[test]
fn time_and_memory_of_all_processes_are_measured() {
    let scene = Scene::new(&[("a", b"a"), ("b", b"xxxxxxxx"), ("c", b"mm")]);
    let program = scene.compile_by("cc", "slow", SLOW, &["-O1"]);
    // by name, as standard input, and by a shell and a child
    let by_shell = ["sh", "-c", "\"$0\" \"$1\" & wait", program.to_str().expect("text"), "@@"];
    for command in [&by_shell[3..], &by_shell[3..4], &by_shell] {
        let words = ["replay", "--json", "-n", "3", "--uninstrumented", "seeds/a", "seeds/b", "seeds/c", "--"];
        let report = run(scene.quagmire(&words).args(command)).ended().json();
        assert_eq!(report["instrumentation"], "uninstrumented");
        let cost = |input: usize, resource: &str| number(&report["inputs"][input]["costs"][resource]);
        assert!(cost(1, "time") > 4 * cost(0, "time"), "{command:?}: {report:#}");
        assert!(cost(2, "resident") > cost(0, "resident") + (30 << 20), "{command:?}: {report:#}");
        assert!(cost(0, "resident") < 12 << 20, "that of quagmire itself does not count: {report:#}");
        assert_eq!(report["inputs"][0]["costs"].as_object().expect("costs").len(), 3, "cycles, time, resident");
    }
}

#[test]
fn a_slow_input_is_found_confirmed_and_reproduced() {
    // the search goes by the clock
    let _alone = alone();
    let scene = Scene::new(&[("a", b"axbxc\n")]);
    let program = scene.compile_by("cc", "slow", SLOW, &["-O1"]);
    // the clock of a busy machine changes what the search keeps: each use of the rule is a degradation
    scene.write("rules", b"'[a-c]': 'xxx'\n");
    let options = "--uninstrumented --seed 1 --execs 300 --max-size 20 --regex-rules rules --rules R";
    let mut command = scene.campaign(&program, options);
    command.arg("@@");
    let campaign = run(&mut command).ended();
    assert!(!campaign.stdout.contains("edge") && campaign.stdout.contains("the time"), "{}", campaign.stdout);
    let summary = scene.summary();
    assert_eq!(summary["target"]["engine"], "processes");
    assert_eq!(summary["target"]["instrumentation"], "uninstrumented");
    assert_eq!((&summary["steer"], &summary["repeatable"]), (&"time".into(), &false.into()));
    assert!(summary["target"]["edges"].is_null() && summary["baseline"]["instructions"].is_null());
    let measured: Vec<_> = array(&summary["costs"]).iter().map(|one| one["resource"].clone()).collect();
    assert_eq!(measured, ["cycles", "time", "resident"]);
    assert!(number(&summary["degradations"]) > 0, "{summary:#}");
    let finding = &summary["findings"][0];
    assert!(finding["instructions_ratio"].is_null() && finding["time_ratio_low"].as_f64() >= Some(2.0), "{finding:#}");
    let reproduce = string(&finding["reproduce"]);
    assert!(reproduce.starts_with("quagmire replay --uninstrumented "), "{reproduce}");
    assert!(scene.shell(reproduce).ended().stdout.contains("CPU time"));
    let report = scene.read("out/report.html");
    assert!(report.contains("a process for each run") && report.contains("run without instrumentation"));
    assert!(!scene.files("out/diffs").is_empty());
}

#[test]
fn memory_is_followed_if_asked_for() {
    let scene = Scene::new(&[("a", b"abc\n")]);
    let program = scene.compile_by("cc", "slow", SLOW, &["-O1"]);
    scene.write("tokens", b"token=\"m\"\n");
    let options = "--uninstrumented --cost resident --execs 300 --max-size 12 --seed 1 -x tokens";
    scene.fuzz(&program, options).ended();
    let summary = scene.summary();
    assert_eq!(summary["steer"], "resident");
    assert!(number(&summary["degradations"]) > 0, "{summary:#}");
    let costs = array(&summary["findings"][0]["costs"]).clone();
    let resident = costs.iter().find(|cost| cost["resource"] == "resident").expect("measured");
    assert!(number(&resident["amount"]) > 2 * number(&resident["baseline"]), "{resident:#}");
}

#[test]
fn without_the_option_the_error_names_it() {
    let scene = Scene::new(SEEDS);
    let program = scene.compile_by("cc", "slow", SLOW, &["-O1"]);
    scene.fuzz(&program, "--execs 9").refused(3, &["no edge counts", "quagmire-cc", "--uninstrumented"]);
    let script = scene.write("script", b"#!/bin/sh\ncat\n");
    run(Command::new("chmod").arg("+x").arg(&script)).ended();
    scene.fuzz(&script, "--execs 9").refused(3, &["not a compiled program", "--uninstrumented"]);
    scene.fuzz(&program, "--execs 9 --cost resident --uninstrumented --time 0").refused(2, &["--time 0"]);
}

#[test]
fn commands_that_cannot_be_run_are_refused_and_nothing_is_written() {
    let scene = Scene::new(SEEDS);
    let text = scene.write("text", b"no program\n");
    let lost = scene.write("lost", b"#!/no/such/interpreter\n");
    run(Command::new("chmod").arg("+x").arg(&text).arg(&lost)).ended();
    scene.write("plain", b"text");
    let cases: [(&str, &[&str]); 6] = [
        ("no-such-program", &["no-such-program", "PATH"]),
        ("./no-such-program", &["./no-such-program does not exist"]),
        ("./plain", &["not executable", "chmod +x"]),
        ("./seeds", &["is a folder"]),
        ("./text", &["neither a compiled program nor a script", "name its interpreter"]),
        ("./lost", &["cannot start ./lost", "interpreter"]),
    ];
    for (program, words) in cases {
        for verb in [&["fuzz", "-i", "seeds", "-o", "out"][..], &["replay", "seeds/a"]] {
            let mut command = scene.quagmire(verb);
            run(command.args(["--uninstrumented", "--", program])).refused(3, words);
        }
        if !["./text", "./lost"].contains(&program) {
            assert!(!scene.path("out").exists(), "{program}");
        }
        let _ = fs::remove_dir_all(scene.path("out"));
    }
}

#[test]
fn options_that_need_counts_are_refused() {
    let scene = Scene::new(SEEDS);
    let cases: [(&str, &[&str]); 6] = [
        ("--cost instructions,heap", &["--cost heap", "time or resident"]),
        ("--valid-if-reached main", &["--valid-if-reached", "leave out one"]),
        ("--diversity", &["--diversity", "leave out one"]),
        ("--skip-coverage-testing", &["--skip-coverage-testing", "leave out one"]),
        ("--generator seeds/a", &["--uninstrumented and --generator"]),
        ("--steer cycles", &["--steer cycles", "--steer time"]),
    ];
    for (option, words) in cases {
        shell(&scene, "fuzz", &format!("{FUZZ} {option}"), "cat").refused(2, words);
        assert!(!scene.path("out").exists(), "{option}");
    }
    let counted = harness("quadratic.c");
    scene.fuzz(&counted, "--cost resident").refused(2, &["--cost resident", "--uninstrumented"]);
    run(Command::new(&counted).args(["replay", "--uninstrumented", "seeds/a"])).refused(2, &["leave it out"]);
    // a program with counts is run as it is, with a warning
    let program = built("plain.c", &["-O1"], None);
    let replayed = scene.ask("replay -n 1 --uninstrumented seeds/a", &program).succeeded();
    assert!(replayed.stderr.contains("is instrumented"), "{replayed:#?}");
    assert!(replayed.stdout.contains("CPU time") && !replayed.stdout.contains("instructions"), "{replayed:#?}");
}

#[test]
fn a_command_without_an_end_is_a_hang_and_its_whole_process_group_is_killed() {
    let scene = Scene::new(&[("a", b"abc\n"), ("endless", b"endless\n")]);
    let script = "if grep -q endless \"$1\"; then echo $$ >>pids; (echo $PPID; sleep 1000) & sleep 1000; fi";
    let campaign =
        shell(&scene, "fuzz", &format!("{FUZZ} --execs 12 --hang-timeout 500ms --no-confirm"), script).ended();
    assert!(campaign.stdout.contains("runs into the hang timeout"), "{}", campaign.stdout);
    let summary = scene.summary();
    assert!(number(&summary["hangs"]) > 0 && !scene.files("out/hangs").is_empty(), "{summary:#}");
    let pids = scene.read("pids");
    assert!(pids.lines().all(|pid| !is_alive(pid.parse().expect("a number"))), "{pids}");
    let only = Scene::new(&[("endless", b"endless\n")]);
    let refused = shell(&only, "fuzz", &format!("{FUZZ} --execs 12 --hang-timeout 300ms"), script);
    assert!(refused.code == Some(3) && refused.stderr.contains("the seed cannot be used"), "{refused:#?}");
}

#[test]
fn daemons_end_with_their_run() {
    let scene = Scene::new(SEEDS);
    // a session of its own, whose parent is gone
    let script = "setsid sh -c 'echo $$ >>daemons; exec sleep 1000' & sleep 0.1";
    shell(&scene, "replay", "-n 3 seeds/a", script).ended();
    let daemons = scene.read("daemons");
    assert!(daemons.lines().count() >= 3, "{daemons}");
    assert!(daemons.lines().all(|pid| !is_alive(pid.parse().expect("a number"))), "{daemons}");
}

#[test]
fn nothing_is_left_when_quagmire_is_killed() {
    let scene = Scene::new(SEEDS);
    let script = "setsid sh -c 'echo $$ >>running; exec sleep 1000' & echo $$ >>running; sleep 1000";
    let mut command = scene.campaign(Path::new("sh"), "--uninstrumented --hang-timeout 60s");
    let mut campaign = start_silently(command.args(["-c", script]));
    let running = wait_until("it runs", || {
        let running = fs::read_to_string(scene.path("running")).unwrap_or_default();
        (running.lines().count() == 2).then_some(running)
    });
    let workers = children(campaign.id());
    for process in workers.iter().copied().chain([campaign.id()]) {
        signal(process, libc::SIGKILL);
    }
    campaign.wait().expect("killed");
    let running: Vec<u32> = running.lines().map(|pid| pid.parse().expect("a number")).collect();
    wait_for_end("its processes are gone", &running);
}

#[test]
fn exit_codes_are_said_and_crashes_are_faults() {
    for (seeds, options, script, words, faults) in [
        (SEEDS, "--execs 3", "read answer </dev/tty", &["ends with exit code", "no terminal"][..], 0),
        (
            SEEDS,
            "--time 20 --execs 60",
            "echo >>runs; exit $(($(wc -l <runs) % 2))",
            &["unstable: runs of the same seed end with exit code 0 and exit code 1"],
            0,
        ),
        (&[("a", b"abc\n"), ("crash", b"crash\n")], "--execs 5", "grep -q crash \"$1\" && kill -SEGV $$; true", &[], 1),
    ] {
        let scene = Scene::new(seeds);
        let campaign = shell(&scene, "fuzz", &format!("{FUZZ} --no-confirm {options}"), script).ended();
        for word in words {
            assert!(campaign.stdout.contains(word), "{campaign:#?}");
        }
        let summary = scene.summary();
        assert_eq!(number(&summary["faults"]) > 0, faults > 0, "{summary:#}");
        assert!(faults == 0 || summary["findings"][0]["detail"] == "SIGSEGV", "{summary:#}");
    }
}

#[test]
fn a_campaign_whose_script_has_changed_runs_its_inputs_again() {
    let scene = Scene::new(SEEDS);
    scene.write("script", b"cat \"$1\"");
    let resume = |options: &str| {
        let mut command = scene.campaign(Path::new("sh"), &format!("--uninstrumented --seed 1 --no-confirm {options}"));
        run(command.args(["script", "@@"])).ended()
    };
    resume("--execs 20");
    let goes_on = resume("--resume --execs 30");
    assert!(!goes_on.stdout.contains("another command"), "{}", goes_on.stdout);
    scene.write("script", b"wc -c \"$1\" >/dev/null");
    let begins = resume("--resume --execs 40");
    assert!(
        begins.stdout.contains("it is of another command, or the program or its script has changed"),
        "{}",
        begins.stdout
    );
}
