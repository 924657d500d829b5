//! Files as programs expect them: the input under a name with an extension, and a working folder of the runs' own.

use crate::common::*;

const SEEDS: &[(&str, &[u8])] = &[("a.json", b"[1, x]"), ("b.json", b"[1, x, xx]")];

fn program() -> PathBuf {
    built("named.c", &["-g", "-O1"], None)
}

/// The program as another compiler builds it.
fn plain(scene: &Scene) -> PathBuf {
    let source = fs::read_to_string(testdata("named.c")).expect("testdata");
    scene.compile_by("cc", "named", &source, &["-O1"])
}

/// Runs a campaign with a program that does `deed` and reads a file.
fn fuzz(scene: &Scene, program: &Path, options: &str, deed: &str) -> Run {
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "out", "--seed", "1", "--max-size", "200"]);
    let options = options.split_whitespace().map(|word| if word == "''" { "" } else { word });
    run(command.args(options).arg("--").arg(program).args([deed, "@@"]))
}

/// Reports of inputs by `replay --json`.
fn replay(scene: &Scene, program: &Path, options: &str, deed: &str, files: &[&str]) -> Vec<Value> {
    let mut command = scene.quagmire(&["replay", "--json", "-n", "3"]);
    command.args(options.split_whitespace()).args(files).arg("--").arg(program).args([deed, "@@"]);
    inputs(&mut command)
}

fn names(scene: &Scene, folder: &str) -> Vec<String> {
    scene.files(folder).into_keys().filter(|name| !name.starts_with('.')).collect()
}

#[test]
fn a_program_that_goes_by_names_is_searched_with_the_extension_of_the_seeds() {
    let scene = Scene::new(SEEDS);
    let ended = fuzz(&scene, &program(), "--execs 6000 -e ''", "-").ended();
    assert!(!ended.stdout.contains("input.json"), "{}", ended.stdout);
    let without = number(&scene.summary()["edges_found"]);
    assert!(names(&scene, "out/queue").iter().all(|name| name.contains("orig_") || !name.ends_with(".json")));
    let ended = fuzz(&scene, &program(), "--execs 6000 --force --relative-to seed --explain 20s", "-").ended();
    assert!(ended.stdout.contains("@@ is a file input.json"), "{}", ended.stdout);
    let summary = scene.summary();
    assert!(number(&summary["edges_found"]) > without && number(&summary["degradations"]) > 0, "{summary:#}");
    let queue = names(&scene, "out/queue");
    assert!(queue.len() > 2 && queue.iter().all(|name| name.ends_with(".json")), "{queue:?}");
    assert!(queue.contains(&"id_000000,orig_a.json".to_owned()), "{queue:?}");
    let found = names(&scene, "out/degradations");
    assert!(!found.is_empty() && found.iter().all(|name| name.ends_with(".json")), "{found:?}");
    // what explains it runs with the same file
    let findings = array(&summary["findings"]);
    let finding = findings.iter().find(|finding| finding["minimized"]["path"].is_string()).expect("a smallest input");
    assert!(finding["minimized"]["path"].as_str().is_some_and(|path| path.ends_with(".json")), "{finding:#}");
    let reproduce = string(&finding["reproduce"]);
    assert!(reproduce.contains(" -e json "), "{reproduce}");
    let again = scene.shell(reproduce).ended();
    assert!(again.stdout.contains("verdict"), "{}", again.stdout);
    // and so does what the user runs by the names of the files alone
    let input = format!("out/degradations/{}", found[0]);
    let reports = replay(&scene, &program(), "", "-", &["seeds/a.json", &input]);
    let instructions = |at: usize| number(&reports[at]["instructions"]);
    assert!(instructions(1) > 2 * instructions(0), "{reports:#?}");
    let reports = replay(&scene, &program(), "-e xml", "-", &["seeds/a.json", &input]);
    assert_eq!(reports[0]["instructions"], reports[1]["instructions"], "refused");
}

#[test]
fn whatever_a_run_does_to_its_file_the_next_one_has_it_again() {
    let scene = Scene::new(&[("a.json", b"x"), ("b.json", &[b'x'; 100]), ("c.json", &[b'x'; 30])]);
    let inputs = ["seeds/a.json", "seeds/b.json", "seeds/c.json"];
    let instructions = |deed: &str| -> Vec<u64> {
        let reports = replay(&scene, &program(), "", deed, &inputs);
        reports.iter().map(|input| number(&input["instructions"])).collect()
    };
    let usual = instructions("-");
    for deed in ["d", "r", "o", "b"] {
        let costs = instructions(deed);
        let more = costs[0] - usual[0];
        assert!(costs.iter().zip(&usual).all(|(cost, usual)| cost - usual == more), "{deed}: {costs:?}, {usual:?}");
    }
    for deed in ["d", "r", "o", "b"] {
        fuzz(&scene, &program(), "--execs 1000 --no-confirm --force", deed).ended();
        let summary = scene.summary();
        assert_eq!((number(&summary["faults"]), number(&summary["hangs"])), (0, 0), "{deed}: {summary:#}");
    }
    let plain = plain(&scene);
    for deed in ["d", "b"] {
        fuzz(&scene, &plain, "--uninstrumented --execs 60 --no-confirm --force", deed).ended();
        let summary = scene.summary();
        assert_eq!(number(&summary["faults"]), 0, "{deed}: {summary:#}");
    }
}

#[test]
fn runs_with_a_folder_of_their_own_litter_nothing() {
    let scene = Scene::new(SEEDS);
    // named relative to the folder of the user, as programs are
    copy_program(&program(), &scene.path("program"));
    let before = scene.everything().len();
    for options in ["-j 1 --execs 1000", "-e '' --execs 1000"] {
        fuzz(&scene, Path::new("./program"), &format!("{options} --scratch --force"), "w").ended();
        let summary = scene.summary();
        assert_eq!(number(&summary["faults"]), 0, "{summary:#}");
        fs::remove_dir_all(scene.path("out")).expect("removed");
        let _ = fs::remove_dir_all(scene.path("out.old"));
        assert_eq!(scene.everything().len(), before);
    }
    let plain = plain(&scene);
    fuzz(&scene, &plain, "--uninstrumented --scratch --execs 60 --no-confirm --force", "w").ended();
    assert_eq!(number(&scene.summary()["faults"]), 0);
    // what it says of those that have none
    let ended = fuzz(&scene, &program(), "--execs 100 --no-confirm --force", "l").ended();
    assert!(ended.stdout.contains("new in this folder") && ended.stdout.contains("litter"), "{}", ended.stdout);
    assert!(ended.stdout.contains("--scratch"), "{}", ended.stdout);
    fs::remove_file(scene.path("litter")).expect("there");
    let ended = fuzz(&scene, &program(), "--execs 100 --no-confirm --force --scratch", "l").ended();
    assert!(!ended.stdout.contains("new in this folder"), "{}", ended.stdout);
    assert!(!scene.path("litter").exists());
    scene.write("conf", b"");
    let mut command = scene.quagmire(&["replay", "--scratch", "seeds/a.json", "--"]);
    let run = run(command.arg(program()).args(["conf", "@@"]));
    assert!(run.code == Some(0) && run.stderr.contains("does not find conf"), "{run:#?}");
}

#[test]
fn files_of_a_campaign_are_gone_when_it_is() {
    let scene = Scene::new(SEEDS);
    let told = scene.path("told");
    let deed = told.to_str().expect("text").to_owned();
    let folder = || -> Option<PathBuf> {
        let path = PathBuf::from(fs::read_to_string(&told).ok()?);
        Some(path.parent()?.parent()?.to_owned())
    };
    for ends in [false, true] {
        let _ = fs::remove_file(&told);
        if ends {
            fuzz(&scene, &program(), "--execs 300 --force -j 1", &deed).ended();
        } else {
            let mut child = start_silently(scene.campaign(&program(), "--time 1h").args([&deed, "@@"]));
            wait_until("a run told a path that is there", || folder().filter(|folder| folder.is_dir()));
            child.kill().expect("killed");
            child.wait().expect("ended");
        }
        // runs of a campaign that was killed may go on for a moment
        let last = wait_until("the folder is gone", || folder().filter(|folder| !folder.exists()));
        assert!(last.file_name().is_some_and(|name| name.to_string_lossy().starts_with("quagmire-")), "{last:?}");
    }
}

#[test]
fn campaigns_that_go_on_and_shared_finds_keep_the_extension() {
    let scene = Scene::new(&[("a", b"[1, x]")]);
    fuzz(&scene, &program(), "--execs 500 --no-confirm -e json", "-").ended();
    fuzz(&scene, &program(), "--execs 2000 --no-confirm --resume", "-").ended();
    let queue = names(&scene, "out/queue");
    assert!(queue[0] == "id_000000,orig_a.json" && queue.iter().all(|name| name.ends_with(".json")), "{queue:?}");
    assert!(number(&scene.summary()["executions"]) >= 2500);

    let scene = Scene::new(SEEDS);
    let share = |name: &str, execs: u32| {
        let options = ["--sync", "meeting", "--name", name, "--no-confirm", "--max-size", "200", "--seed", "1"];
        let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", &format!("out-{name}")]);
        command.args(options).args(["--execs", &execs.to_string(), "--"]).arg(program()).args(["-", "@@"]);
        run(&mut command).ended();
    };
    share("one", 6000);
    let published = names(&scene, "meeting/one/queue");
    assert!(published.len() > 2 && published.iter().all(|name| name.starts_with("id:") && name.ends_with(".json")));
    assert_eq!(published.len(), names(&scene, "out-one/queue").len());
    // as AFL++ writes them with -e
    scene.write("meeting/afl/queue/id:000000,time:0,execs:0,orig:a.json", SEEDS[0].1);
    scene.write("meeting/afl/queue/id:000001,src:000000,time:9,execs:9,op:havoc,rep:2,+cov.json", &[b'x'; 190]);
    share("two", 10);
    let queue = names(&scene, "out-two/queue");
    assert!(queue.iter().any(|name| name.contains(",sync_afl,src_000000,")), "{queue:?}");
    assert!(queue.iter().any(|name| name.contains(",sync_one,")) && queue.iter().all(|name| name.ends_with(".json")));
    let report = run(&mut scene.quagmire(&["report", "out-two", "--no-plotting"])).ended();
    assert!(report.stdout.contains("report.html"), "{}", report.stdout);
}

#[test]
fn afl_fuzz_takes_and_gives_inputs_with_an_extension() {
    if !has_program("afl-fuzz", "afl++") {
        return;
    }
    let _alone = alone();
    let scene = Scene::new(SEEDS);
    let ours = "--sync meeting --name ours --no-confirm --max-size 200 --seed 1";
    run(scene.campaign(&program(), &format!("{ours} --execs 6000")).args(["-", "@@"])).ended();
    let mut afl = Command::new("afl-fuzz");
    afl.args(["-M", "afl", "-D", "-e", "json", "-i", "seeds", "-o", "meeting", "-E", "6000", "-m", "none", "--"]);
    afl.arg(program()).args(["-", "@@"]).current_dir(scene.path(""));
    for name in ["IMPORT_FIRST", "NO_UI", "SKIP_CPUFREQ", "I_DONT_CARE_ABOUT_MISSING_CRASHES", "NO_AFFINITY"] {
        afl.env(format!("AFL_{name}"), "1");
    }
    run(&mut afl).succeeded();
    // the number after the last one that it has looked at
    let looked = fs::read(scene.path("meeting/afl/.synced/ours")).expect("it has looked");
    let looked = u32::from_ne_bytes(looked[..4].try_into().expect("a number"));
    assert_eq!(looked as usize, names(&scene, "meeting/ours/queue").len());
    run(scene.campaign(&program(), &format!("{ours} --execs 10 --resume")).args(["-", "@@"])).ended();
    let queue = names(&scene, "out/queue");
    assert!(queue.iter().all(|name| name.ends_with(".json")), "{queue:?}");
}

#[test]
fn builds_are_compared_with_the_extension_of_the_inputs() {
    let scene = Scene::new(SEEDS);
    scene.write("seeds/large.json", &[b'x'; 150]);
    let program = program();
    let compare = |options: &[&str]| {
        let mut command = scene.quagmire(&[&["compare", "--json", "seeds"], options].concat());
        command.arg("--").arg(&program).args(["-", "@@", "--and"]).arg(&program).args(["-", "@@"]);
        let report: Value = serde_json::from_str(&run(&mut command).ended().stdout).expect("JSON");
        report.to_string()
    };
    let instructions = |options: &[&str]| compare(options).matches("\"instructions\"").count();
    assert!(instructions(&[]) > 0);
    assert_ne!(compare(&[]), compare(&["-e", ""]));
    assert!(compare(&["--scratch"]).contains("quagmire replay -e json --scratch "));
}

#[test]
fn extensions_that_cannot_be_are_refused() {
    let scene = Scene::new(SEEDS);
    let long = "x".repeat(201);
    for (extension, target, words) in [
        ("a/b", &["-", "@@"][..], ["-e a/b", "such as json"]),
        (long.as_str(), &["-", "@@"], ["-e xxx", "50 at most"]),
        ("json", &["-"], ["-e json has no effect", "@@"]),
    ] {
        run(scene.campaign(&program(), &format!("--execs 10 -e {extension}")).args(target)).refused(2, &words);
        assert!(!scene.path("out").exists());
    }
    scene
        .ask("fuzz -i seeds -o out --scratch", &harness("quadratic.c"))
        .refused(2, &["--scratch is for programs without a harness"]);
    scene.ask("replay -e json seeds", &harness("quadratic.c")).refused(2, &["-e is for programs without a harness"]);
}

#[test]
fn a_dev_shm_that_is_full_is_said_and_made_up_for() {
    let scene = Scene::new(SEEDS);
    let mut command = scene.quagmire(&["replay", "--json", "-n", "2", "seeds", "--"]);
    command.arg(program()).args(["-", "@@"]);
    fs::create_dir(scene.path("temporary")).expect("a folder");
    let Some(ended) = with_full_dev_shm(&command, &[("TMPDIR", &scene.path("temporary"))]) else { return };
    assert!(ended.code == Some(0) && ended.stderr.contains("/dev/shm cannot be used"), "{ended:#?}");
    assert!(scene.files("temporary").is_empty());
    let ended = with_full_dev_shm(&command, &[("TMPDIR", &scene.path("missing"))]).expect("as before");
    assert!(ended.code == Some(1) && ended.stderr.contains("set TMPDIR"), "{ended:#?}");
}

#[test]
fn a_program_that_lengthens_its_input_leaves_nothing_in_the_next_one() {
    let scene = Scene::new(&[("a", b"xyz"), ("b", b"123")]);
    let source = b"#include <stdio.h>\nint main(int n, char **words) {\n  FILE *file = fopen(words[1], \"r+\");\n  int c = getc(file), all = 0;\n  while (getc(file) != EOF) all++;\n  if (c == 'x') { fseek(file, 0, SEEK_END); for (int i = 0; i < 1000; i++) putc('x', file); }\n  return fclose(file) + all;\n}\n";
    scene.write("lengthens.c", source);
    let program = scene.compile("lengthens", "lengthens.c", &["-O1"], &[]);
    let replay = |inputs: &[&str], options: &[&str]| {
        let mut command = scene.quagmire(&["replay", "--json", "-n", "3"]);
        command.args(options).args(inputs).arg("--").arg(&program).arg("@@");
        let report: Value = serde_json::from_str(&run(&mut command).ended().stdout).expect("JSON");
        report["inputs"].as_array().and_then(|all| all.last()).map(|last| number(&last["instructions"]))
    };
    for options in [&[][..], &["-e", "txt"]] {
        assert_eq!(replay(&["seeds/a", "seeds/b"], options), replay(&["seeds/b"], options), "{options:?}");
    }
}
