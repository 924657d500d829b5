//! AFL++'s macros in targets, and AFL++'s tools on programs built with quagmire-cc.

use crate::common::*;

/// Builds `testdata/deeper.c` with the macro `defined`, or as a plain program if it is empty.
fn program(defined: &str) -> PathBuf {
    let define = if defined.is_empty() { "-DPLAIN".to_owned() } else { format!("-D{defined}") };
    built("deeper.c", &["-g", "-O1", &define], None)
}

const BUILDS: [&str; 3] = ["", "DEFERRED", "PERSISTENT"];

/// Whether AFL++ is installed; if not, skips the test.
#[track_caller]
fn has_afl() -> bool {
    has_program("afl-showmap", "afl++")
}

/// Runs a tool of AFL++ on a program in the folder of a scene.
fn tool(scene: &Scene, name: &str, arguments: &[&str], program: &PathBuf) -> Run {
    let mut command = Command::new(name);
    let settings = "QUIET NO_UI NO_AFFINITY SKIP_CPUFREQ I_DONT_CARE_ABOUT_MISSING_CRASHES ALLOW_TMP IMPORT_FIRST";
    for setting in settings.split(' ') {
        command.env(format!("AFL_{setting}"), "1");
    }
    run(command.current_dir(scene.path("")).args(arguments).arg("--").arg(program))
}

fn replayed(scene: &Scene, program: &PathBuf, options: &[&str]) -> Vec<Value> {
    let mut command = scene.quagmire(&["replay", "--json", "--hang-timeout", "1s"]);
    inputs(command.args(options).arg("seeds").arg("--").arg(program))
}

#[test]
fn each_round_of_a_loop_is_counted_by_itself_and_what_comes_before_a_late_start_is_not() {
    let scene = Scene::new(&[("a", b"x"), ("b", &[b'x'; 100]), ("c", b"quad")]);
    let inputs = replayed(&scene, &program("PERSISTENT"), &["-n", "10"]);
    let instructions = |input: &Value| number(&input["instructions"]);
    for input in &inputs {
        // as often as one likes, and from one process to the next
        assert_eq!(input["instructions_range"][0], input["instructions_range"][1], "{input:#}");
    }
    assert!(instructions(&inputs[1]) > instructions(&inputs[0]), "{inputs:#?}");
    assert!(instructions(&inputs[1]) < 5000, "what comes before the loop is not counted: {inputs:#?}");
    let entered = |name: &str| array(&inputs[2]["functions"]).iter().any(|f| f["function"] == name);
    assert!(entered("main") && entered("look") && !entered("prepare"), "{:#}", inputs[2]);
    let first = |build| instructions(&replayed(&scene, &program(build), &["-n", "2"])[0]);
    assert!(first("") > 5000 && first("DEFERRED") < 5000);
}

#[test]
fn rounds_that_crash_or_hang_are_told_and_the_next_one_is_run() {
    for build in BUILDS {
        let scene = Scene::new(&[]);
        for (input, status) in [("qua!", "crashed"), ("qua?", "hung"), ("quad", "returned")] {
            scene.write("seeds/one", input.as_bytes());
            let input = &replayed(&scene, &program(build), &["-n", "2"])[0];
            assert_eq!(input["status"], status, "{build}: {input:#}");
            assert!(number(&input["edges_hit"]) >= 5, "{build}: {input:#}");
        }
        scene.write("seeds/one", b"quad");
        let ended = scene.fuzz(&program(build), "--execs 3000 --seed 1 --max-size 100 --hang-timeout 100ms");
        assert_eq!(ended.code, Some(0), "{build}: {ended:#?}");
        assert!(number(&scene.summary()["executions"]) >= 3000, "{build}: {:#}", scene.summary());
    }
}

#[test]
fn a_harness_can_be_run_by_the_fork_server() {
    let scene = Scene::new(&[("a", b"quad"), ("b", b"no")]);
    let options = ["-g", "-O1", "-DHARNESS", "-fsanitize=fuzzer"];
    let program = scene.compile("program", "deeper.c", &options, &[("QUAGMIRE_DRIVER", "1")]);
    let inputs = replayed(&scene, &program, &["-n", "2"]);
    assert_eq!([&inputs[0]["status"], &inputs[1]["status"]], ["returned", "rejected"]);
    // by hand
    run(Command::new(&program).arg(scene.path("seeds/a"))).ended();
    assert_eq!(scene.fuzz(&program, "--execs 2000 --seed 1").code, Some(0));
    assert_eq!(scene.summary()["target"]["engine"], "fork-server");
}

#[test]
fn afl_showmap_sees_who_goes_further_and_needs_no_fork_server() {
    if !has_afl() {
        return;
    }
    let scene = Scene::new(&[("4", b"qua.")]);
    let showmap = ["-c", "afl-showmap -q -o map -- \"$0\" <seeds/4"];
    assert!(run(Command::new("sh").args(showmap).arg(program("")).current_dir(scene.path(""))).code == Some(0));
    assert!(scene.read("map").lines().count() >= 5);
    for build in BUILDS {
        let scene = Scene::new(&[("1", b"x..."), ("2", b"q..."), ("3", b"qu.."), ("4", b"qua."), ("5", b"qua!")]);
        let ended = tool(&scene, "afl-showmap", &["-q", "-i", "seeds", "-o", "maps"], &program(build));
        // there was a crash
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        let again = tool(&scene, "afl-showmap", &["-q", "-i", "seeds", "-o", "again"], &program(build));
        assert!(again.code == Some(2) && scene.files("maps") == scene.files("again"), "{build}: maps differ");
        let entries = |map: &Vec<u8>| map.iter().filter(|byte| **byte == b'\n').count();
        let maps: Vec<Vec<u8>> = scene.files("maps").into_values().collect();
        let sizes: Vec<usize> = maps.iter().map(entries).collect();
        assert!(sizes[0] > 0 && sizes[..4].is_sorted_by(|a, b| a < b), "{build}: {sizes:?}");
        // a crash hides no branch that led to it: neither its own, nor the last one that it shares with the input
        // before
        let edges = |map: usize| -> BTreeSet<Vec<u8>> {
            let map = &maps[map];
            map.split(|byte| *byte == b'\n')
                .filter_map(|line| Some(line.split(|b| *b == b':').next()?.to_vec()))
                .collect()
        };
        assert!(!edges(4).is_subset(&edges(3)), "{build}: {sizes:?}");
        assert!(edges(3).difference(&edges(2)).any(|edge| edges(4).contains(edge)), "{build}: {sizes:?}");
    }
}

#[test]
fn afl_fuzz_finds_new_paths_and_afl_cmin_keeps_one_of_two_equal_inputs() {
    if !has_afl() {
        return;
    }
    for build in BUILDS {
        let scene = Scene::new(&[("a", b"quiz"), ("b", b"quit"), ("c", b"zzzz")]);
        tool(&scene, "afl-cmin", &["-i", "seeds", "-o", "fewer"], &program(build)).succeeded();
        assert_eq!(scene.files("fewer").len(), 2, "{build}: {:?}", scene.files("fewer").keys());
        let arguments = ["-i", "seeds", "-o", "out", "-s", "1", "-E", "3000"];
        tool(&scene, "afl-fuzz", &arguments, &program(build)).succeeded();
        let stats = scene.read("out/default/fuzzer_stats");
        let is = |key: &str| stats.lines().find(|line| line.starts_with(key)).and_then(|line| line.split(": ").nth(1));
        assert!(is("corpus_found").expect("a number").parse::<u64>().expect("a number") > 0, "{build}: {stats}");
        assert_eq!(is("stability"), Some("100.00%"), "{build}: {stats}");
    }
}

#[test]
fn afl_tmin_keeps_what_an_input_reaches_and_afl_whatsup_and_afl_plot_read_what_quagmire_writes() {
    if !has_afl() {
        return;
    }
    for build in BUILDS {
        let scene = Scene::new(&[("a", b"quad, and more that does not matter")]);
        tool(&scene, "afl-tmin", &["-e", "-i", "seeds/a", "-o", "small"], &program(build)).succeeded();
        assert!(
            scene.read("small").len() <= 6 && scene.read("small").starts_with("qua"),
            "{build}: {}",
            scene.read("small")
        );
    }
    let scene = Scene::new(&[("a", b"quiz")]);
    let program = program("PERSISTENT");
    let ours = ["--sync", "meeting", "--name", "ours", "--seed", "1", "--max-size", "8", "--no-confirm", "--execs"];
    let ours = |execs: &str| scene.ask(&format!("fuzz -i seeds -o out {} {execs}", ours.join(" ")), &program).ended();
    let theirs = |execs: &str| {
        let arguments = ["-i", "seeds", "-o", "meeting", "-S", "theirs", "-s", "1", "-E", execs];
        tool(&scene, "afl-fuzz", &arguments, &program).succeeded();
    };
    let stats = |of: &str, key: &str| -> u64 {
        let stats = scene.read(&format!("meeting/{of}/fuzzer_stats"));
        let line = stats.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key));
        line.and_then(|line| line.split(':').nth(1)?.trim().parse().ok()).expect("a number")
    };
    ours("300");
    theirs("6000");
    assert!(stats("theirs", "corpus_imported") > 0, "afl-fuzz takes in what quagmire has found");
    scene.write("meeting/theirs/queue/id:000900,src:000000,time:9,execs:9,op:havoc,rep:1,+cov", b"quad");
    let resumed = scene.ask("fuzz -o out --resume --sync meeting --name ours --execs 3000 --no-confirm", &program);
    resumed.ended();
    assert!(stats("ours", "corpus_imported") > 0, "quagmire takes in what afl-fuzz has found");
    assert!(scene.files("out/queue").keys().any(|name| name.contains("sync_theirs")), "it says where that is from");
    let told =
        run(Command::new("afl-whatsup").args(["-s", "-d", "meeting"]).current_dir(scene.path(""))).succeeded().stdout;
    assert!(told.contains("Dead or remote : 2") && told.contains("Total execs : "), "{told}");
    if has_program("gnuplot", "gnuplot") {
        run(Command::new("afl-plot").args(["out", "graphs"]).current_dir(scene.path(""))).succeeded();
        let graphs = ["edges.png", "high_freq.png", "low_freq.png", "exec_speed.png"];
        assert!(graphs.iter().all(|name| scene.path("graphs").join(name).metadata().is_ok_and(|file| file.len() > 0)));
    }
}

#[test]
fn the_diversity_of_what_afl_runs_is_that_of_the_same_inputs() {
    if !has_afl() {
        return;
    }
    let inputs = ["y", "y1", "yy1", "y1y", "n", "n1", "1n", "?????", "?!!y", "n!?", "quad", "qua!", "x", "xxxxxxxxx"];
    let accepting = built("diverse.c", &["-O1", "-DPROGRAM"], None);
    for program in [accepting, program("PERSISTENT"), program("DEFERRED")] {
        let scene = Scene::new(&[]);
        for (at, input) in inputs.iter().enumerate() {
            scene.write(&format!("seeds/{at:02}"), input.as_bytes());
        }
        let file = scene.path("diversity.json");
        let mut command = Command::new("afl-showmap");
        command.env("QUAGMIRE_DIVERSITY", &file).env("AFL_QUIET", "1").current_dir(scene.path(""));
        run(command.args(["-q", "-i", "seeds", "-o", "maps", "--"]).arg(&program));
        // by a process that ends a moment later
        let counted = wait_until("the figures are written", || {
            let counted: Value = serde_json::from_str(&fs::read_to_string(&file).ok()?).expect("JSON");
            (number(&counted["runs"]) == inputs.len() as u64).then_some(counted)
        });
        let run = scene.ask("diversity --json seeds", &program).ended();
        let report = run.json();
        let expected = &report["corpora"][0];
        assert_eq!(counted["trace"], report["trace"]);
        for key in ["valid", "unique_traces", "unique_valid_traces", "is_full"] {
            assert_eq!(counted[key], expected[key], "{key} of {counted} and {expected}");
        }
        for key in ["b0", "b1", "b2"] {
            let [ours, theirs] = [&counted, expected].map(|figures| float(&figures[key]));
            assert!(theirs > 1.0 && (ours - theirs).abs() < 1e-5, "{key} of {counted} and {expected}");
        }
    }
}
