//! Mistakes of users: each is refused with one line that names the problem and the remedy, and no file is lost.

use std::{os::unix::fs::PermissionsExt, os::unix::process::CommandExt, process};

use crate::common::*;

const USAGE: i32 = 2;
const ERROR: i32 = 1;
const TARGET: i32 = 3;

/// Runs a command, and asserts that it is refused with these words and leaves all files as they were.
#[track_caller]
fn refused(scene: &Scene, command: &mut Command, code: i32, words: &[&str]) -> Run {
    let before = scene.everything();
    let run = run(command);
    run.refused(code, words);
    let after = scene.everything();
    for (path, bytes) in &before {
        assert_eq!(after.get(path), Some(bytes), "{}", path.display());
    }
    run
}

#[track_caller]
fn campaign_refused(scene: &Scene, options: &str, code: i32, words: &[&str]) {
    refused(scene, &mut scene.campaign(&harness("quadratic.c"), options), code, words);
    assert!(!scene.path("out/summary.json").exists());
}

/// Makes the command run without root's right to read and write everything.
fn respecting_permissions(command: &mut Command) {
    const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
    const CAP_DAC_READ_SEARCH: libc::c_ulong = 2;
    // SAFETY: async-signal-safe calls. Whoever is not root has none of these rights, and may not drop them either.
    unsafe {
        command.pre_exec(|| {
            for right in [CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH] {
                libc::prctl(libc::PR_CAPBSET_DROP, right, 0, 0, 0);
            }
            Ok(())
        });
    }
}

#[test]
fn seeds_that_are_not_there_or_cannot_be_read_are_named() {
    let scene = Scene::new(&[]);
    let quadratic = harness("quadratic.c");
    for (seeds, words) in [("no/such", ["no/such", "does not exist"]), ("seeds", ["no seeds in seeds", "-i"])] {
        let mut command = scene.quagmire(&["fuzz", "-i", seeds, "-o", "out", "--execs", "10", "--"]);
        refused(&scene, command.arg(&quadratic), USAGE, &words);
    }
    let scene = Scene::new(GREETING);
    campaign_refused(&scene, "--workloads-filter nothing", USAGE, &["no seeds left", "--workloads-filter"]);
    campaign_refused(&scene, "--workloads-filter (", USAGE, &["--workloads-filter", "regular expression"]);
    fs::set_permissions(scene.path("seeds/greeting"), fs::Permissions::from_mode(0o000)).expect("changed");
    let mut command = scene.campaign(&quadratic, "--execs 10");
    respecting_permissions(&mut command);
    refused(&scene, &mut command, USAGE, &["seeds/greeting", "permission denied", "readable"]);
}

#[test]
fn programs_that_cannot_be_fuzzed_are_told_apart() {
    let scene = Scene::new(GREETING);
    let make = |name: &str, mode: u32, bytes: &[u8]| {
        let path = scene.write(name, bytes);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
    };
    make("script", 0o755, b"#!/bin/sh\nexit 0\n");
    make("notes.txt", 0o644, b"not a program");
    make("empty", 0o755, b"");
    make("truncated", 0o755, &fs::read(harness("quadratic.c")).expect("a harness")[..5000]);
    fs::create_dir(scene.path("folder")).expect("created");
    run(Command::new("cc").arg(testdata("plain.c")).arg("-o").arg(scene.path("plain"))).ended();
    let object = scene.compile("plain.o", "plain.c", &["-c"], &[]);
    run(Command::new("cc").arg(object).arg("-o").arg(scene.path("instrumented"))).ended();
    for (program, words) in [
        ("./nothing", &["./nothing", "does not exist"][..]),
        ("folder", &["folder", "is a folder"]),
        ("./notes.txt", &["./notes.txt", "not executable", "chmod +x"]),
        ("./script", &["./script", "not a compiled program", "quagmire-cc"]),
        ("./empty", &["./empty", "not a compiled program"]),
        ("./truncated", &["./truncated"]),
        ("./plain", &["./plain", "quagmire-cc", "the book, Programs without a harness"]),
        ("./instrumented", &["./instrumented", "no fork server", "link it with"]),
    ] {
        let mut fuzz = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "out", "--execs", "10", "--", program]);
        refused(&scene, &mut fuzz, TARGET, words);
        let mut replay = scene.quagmire(&["replay", "seeds/greeting", "--", program]);
        refused(&scene, &mut replay, TARGET, words);
    }
    assert!(!scene.path("out").exists());
}

#[test]
fn a_harness_with_the_engine_of_another_version_is_to_be_built_again() {
    let scene = Scene::new(GREETING);
    let own = concat!("quagmire engine ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
    let mut bytes = fs::read(harness("quadratic.c")).expect("a harness");
    let marks: Vec<usize> =
        bytes.windows(own.len()).enumerate().filter(|(_, text)| *text == own).map(|it| it.0).collect();
    assert!(!marks.is_empty());
    for (name, text, words) in [
        ("older", &b"quagmire engine 0"[..], "linked with quagmire 0."),
        ("newer", b"quagmire engine 9", "linked with quagmire 9."),
        ("unknown", b"quagmire motor", "linked with another engine"),
    ] {
        for mark in &marks {
            bytes[*mark..mark + text.len()].copy_from_slice(text);
            // whatever this version is, it is another one
            bytes[mark + own.len() - 2] = b'x';
        }
        let old = scene.write(name, &bytes);
        fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).expect("changed");
        let words = ["build it again", words];
        for command in ["fuzz -i seeds -o out", "replay seeds", "growth seeds/greeting", "compare seeds"] {
            let command: Vec<&str> = command.split(' ').collect();
            let mut command = scene.quagmire(&command);
            command.arg("--").arg(&old);
            if command.get_args().any(|word| word == "compare") {
                command.arg("--and").arg(harness("quadratic.c"));
            }
            refused(&scene, &mut command, TARGET, &words);
        }
    }
    assert!(!scene.path("out").exists());
}

#[test]
fn options_that_are_missing_do_not_exist_or_contradict_each_other_are_named() {
    let scene = Scene::new(GREETING);
    let harness = harness("quadratic.c");
    let harness = harness.to_str().expect("text");
    for (arguments, words) in [
        (&["fuzz", "-o", "out", "--", harness][..], &["no seeds", "-i"][..]),
        (&["fuzz", "-i", "seeds", "--", harness], &["no output folder", "-o"]),
        (&["fuzz", "-i", "seeds", "-o", "out"], &["no program", "-- PROGRAM"]),
        (&["replay", "--", harness], &["no inputs"]),
        (&["replay", "seeds/greeting"], &["no program", "-- PROGRAM"]),
        (&["replay", "no/such", "--", harness], &["no/such"]),
    ] {
        refused(&scene, &mut scene.quagmire(arguments), USAGE, words);
    }
    campaign_refused(&scene, "--tiem 3", USAGE, &["--tiem"]);
    campaign_refused(&scene, "--resume --force", USAGE, &["--resume", "--force"]);
    campaign_refused(&scene, "--max-size 100 --max-size-ratio 2", USAGE, &["--max-size", "cannot be used with"]);
    campaign_refused(&scene, "--max-size 5", USAGE, &["--max-size 5", "18"]);
    let mut command = scene.campaign(Path::new(harness), "--execs 10");
    refused(&scene, command.arg("-x"), USAGE, &["takes no arguments"]);
}

#[test]
fn numbers_and_words_that_make_no_sense_are_named_with_their_option() {
    let scene = Scene::new(GREETING);
    for (option, values) in [
        ("--time", &["soon", "-1", "0", "1h30m", "inf", "1e999", "99999999999d"][..]),
        ("--execs", &["many", "-1", "0", "1.5", "99999999999999999999999"]),
        ("--hang-timeout", &["never", "0", "1ms", "-5s"]),
        ("--memory-limit", &["lots", "-1", "1MiB", "99999999999TiB"]),
        ("--threshold", &["high", "1", "0", "-2", "nan", "inf"]),
        ("--max-size", &["big", "0", "-1", "99999999999TiB"]),
        ("--max-size-increase", &["big", "-1"]),
        ("--max-size-ratio", &["big", "0.5", "nan", "inf", "-1"]),
        ("--seed", &["random", "-1", "1.5", "99999999999999999999999"]),
        ("--cost", &["money", "instructions;time"]),
        ("--input-type", &["pdf"]),
        ("--color", &["sometimes"]),
        ("--rules", &["T.999", "nonsense", "T.1,,"]),
    ] {
        for value in values {
            let option_and_value = format!("{option}={value}");
            campaign_refused(&scene, &option_and_value, USAGE, &[option]);
        }
    }
    for repeats in ["0", "-1", "many", "99999999999"] {
        let mut command = scene.quagmire(&["replay", "seeds/greeting", &format!("--repeats={repeats}"), "--"]);
        refused(&scene, command.arg(harness("quadratic.c")), USAGE, &["-n"]);
    }
    assert!(!scene.path("out").exists());
}

#[test]
fn dictionaries_that_cannot_be_used_are_named() {
    let scene = Scene::new(GREETING);
    scene.write("bad", b"this is not a dictionary\n");
    scene.write("binary", b"\xff\xfe\x00");
    for name in ["missing", "bad", "binary", "seeds"] {
        campaign_refused(&scene, &format!("-x {name}"), USAGE, &["--dict", name]);
    }
}

#[test]
fn files_of_rules_that_cannot_be_used_are_named_with_line_and_pattern() {
    let scene = Scene::new(GREETING);
    for (name, text, words) in [
        ("pattern", &b"a: b\n(c: d"[..], &["pattern:2", "`(c`", "correct it"][..]),
        ("bytes", b"\xff\xfe\x00", &["bytes", "not UTF-8"]),
        ("empty", b"", &["empty", "no rules"]),
    ] {
        scene.write(name, text);
        let words = [&["--regex-rules"], words].concat();
        campaign_refused(&scene, &format!("--regex-rules {name}"), USAGE, &words);
    }
    for name in ["missing", "seeds"] {
        campaign_refused(&scene, &format!("--regex-rules {name}"), USAGE, &["--regex-rules", name]);
    }
    campaign_refused(&scene, "--rules R.1", USAGE, &["--rules", "R.1", "T.1-T."]);
}

#[test]
fn seeds_that_crash_or_hang_are_set_aside_and_the_campaign_goes_on() {
    let scene = Scene::new(&[("abort", b"abort"), ("plain", b"hello"), ("the_loop", b"loop")]);
    let run = scene.fuzz(&harness("ends.c"), "--execs 300 --seed 1 --rules T,havoc --hang-timeout 1s").ended();
    assert!(run.stdout.contains("the seed seeds/abort crashes the target (SIGABRT"), "{run:#?}");
    assert!(run.stdout.contains("the seed seeds/the_loop runs into the hang timeout"), "{run:#?}");
    assert_eq!(scene.files("out/faults").into_values().collect::<Vec<_>>(), [b"abort"]);
    let hangs: Vec<_> = scene.files("out/hangs").into_iter().collect();
    assert_eq!(hangs, [("id_000000,orig_the_loop".to_owned(), b"loop".to_vec())]);
    assert_eq!(scene.summary()["executions"], 300);
}

#[test]
fn a_campaign_without_one_usable_seed_is_given_up() {
    let scene = Scene::new(&[("abort", b"abort"), ("exit", b"exit"), ("kill", b"kill"), ("null", b"null")]);
    let mut command = scene.campaign(&harness("ends.c"), "--execs 300");
    refused(&scene, &mut command, TARGET, &["none of the 4 seeds can be used", "faults/"]);
    let names: Vec<String> = scene.files("out/faults").into_keys().collect();
    for seed in ["abort", "exit", "kill", "null"] {
        assert!(names.iter().any(|name| name.ends_with(&format!(",orig_{seed}"))), "{seed}: {names:?}");
    }
    assert_eq!(names.len(), 4);

    let seeds: [(&str, &[u8]); 2] = [("a", b"no"), ("b", b"not")];
    for (seeds, words) in [(&seeds[..], "none of the 2 seeds"), (&seeds[..1], "the seed cannot be used")] {
        let scene = Scene::new(seeds);
        let mut command = scene.campaign(&harness("rejects.c"), "--execs 9");
        refused(&scene, &mut command, TARGET, &[words, "rejected"]);
    }
}

#[test]
fn a_target_that_ends_before_its_first_run_is_given_up() {
    let scene = Scene::new(GREETING);
    let harness = harness("initialize_ends.c");
    let words = ["before the first run", "LLVMFuzzerInitialize"];
    refused(&scene, &mut scene.campaign(&harness, "--execs 10"), TARGET, &words);
    let mut replay = scene.quagmire(&["replay", "seeds/greeting", "--"]);
    refused(&scene, replay.arg(&harness), TARGET, &[]);
}

#[test]
fn output_folders_that_hold_something_are_left_alone() {
    let scene = Scene::new(GREETING);
    scene.write("out/thesis.tex", b"years of work");
    for options in ["", "--force", "--resume"] {
        campaign_refused(&scene, &format!("--execs 10 {options}"), ERROR, &["out", "not a campaign's", "-o"]);
    }
    let scene = Scene::new(GREETING);
    let harness = harness("quadratic.c");
    scene.fuzz(&harness, "--execs 300 --seed 1 --max-size 100").ended();
    let mut again = scene.campaign(&harness, "--execs 300 --seed 1");
    refused(&scene, &mut again, ERROR, &["out holds a campaign", "--resume", "--force"]);
}

#[test]
fn folders_that_hold_no_campaign_or_cannot_be_written_are_named() {
    let scene = Scene::new(GREETING);
    campaign_refused(&scene, "--resume", ERROR, &["out", "no campaign to resume", "--resume"]);
    assert!(!scene.path("out").exists());
    for (output, words) in [
        ("seeds/greeting/out", &["seeds/greeting/out", "-o"][..]),
        ("seeds/greeting", &["is not a folder", "-o"]),
        ("/proc/out", &["/proc/out"]),
    ] {
        let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", output, "--execs", "10", "--"]);
        refused(&scene, command.arg(harness("quadratic.c")), ERROR, words);
    }
}

#[test]
fn a_folder_in_use_is_refused_with_the_number_of_the_process() {
    let scene = Scene::new(GREETING);
    let harness = harness("quadratic.c");
    let first = start(&mut scene.campaign(&harness, "--seed 1 --max-size 100 --time 1h"));
    wait_until("the campaign runs", || scene.path("out/queue/id_000000,orig_greeting").exists().then_some(()));
    let number = first.id().to_string();
    for options in ["", "--resume", "--force"] {
        let second = run(&mut scene.campaign(&harness, &format!("--execs 10 {options}")));
        second.refused(ERROR, &["out is in use by another campaign", &number]);
    }
    interrupted(first).ended();
}

/// A mounted file system of a given size, unmounted when the test ends.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    #[track_caller]
    fn mounted(at: &'a Path, options: &str) -> Option<Self> {
        fs::create_dir_all(at).expect("created");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "quagmire-test"]).arg(at).stderr(Stdio::null());
        let mounted = is_root() && mount.status().is_ok_and(|status| status.success());
        if !mounted {
            skip("mounts", MOUNTS);
        }
        mounted.then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _: Result<process::ExitStatus, _> = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_ends_a_campaign_with_one_line_and_keeps_what_is_there() {
    // inputs grow with what they cost, until they are larger than the disk
    let scene = Scene::new(&[("greeting", b"yes, hello world, hello\n")]);
    let disk = scene.path("disk");
    let Some(_disk) = SmallDisk::mounted(&disk, "size=256k") else { return };
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "disk/out", "--time", "100s", "--seed", "1"]);
    let run = run(command.args(["--max-size", "1MB", "--"]).arg(harness("rejects.c")));
    run.refused(ERROR, &["cannot write ", "disk/out/", "the disk is full", "--resume"]);
    let queue = scene.files("disk/out/queue");
    assert_eq!(queue["id_000000,orig_greeting"], b"yes, hello world, hello\n");
    assert!(!queue.keys().any(|name| name.starts_with(".unfinished")), "{queue:?}");
}

#[test]
fn a_disk_that_is_full_from_the_start_or_cannot_be_written_is_named() {
    let scene = Scene::new(GREETING);
    let [full, closed] = ["full", "closed"].map(|name| scene.path(name));
    let Some(_full) = SmallDisk::mounted(&full, "size=64k") else { return };
    let Some(_closed) = SmallDisk::mounted(&closed, "ro") else { return };
    let _ = fs::write(full.join("ballast"), vec![1; 1 << 20]);
    for (output, words) in
        [("full/out", &["cannot write ", "full/out", "the disk is full"][..]), ("closed/out", &["closed/out", "-o"])]
    {
        let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", output, "--execs", "100", "--seed", "1", "--"]);
        refused(&scene, command.arg(harness("quadratic.c")), ERROR, words);
    }
}

#[test]
fn a_full_dev_shm_does_not_matter() {
    let _alone = alone();
    for program in [harness("quadratic.c"), built("program.c", &["-g", "-O0"], None)] {
        let scene = Scene::new(GREETING);
        let cores = if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) { "-j 2" } else { "" };
        let options = format!("{cores} --execs 200 --seed 1 --max-size 100 --no-confirm --sync meeting --name me");
        let Some(run) = with_full_dev_shm(&scene.campaign(&program, &options), &[]) else { return };
        run.ended();
        assert!(number(&scene.summary()["executions"]) >= 200);
    }
}

#[test]
fn a_program_that_does_not_look_at_its_input_is_noticed() {
    let program = built("usage.c", &["-g", "-O1"], None);
    let scene = Scene::new(GREETING);
    let plain = scene.path("plain");
    run(Command::new("cc").arg(testdata("usage.c")).arg("-o").arg(&plain)).ended();
    for (program, option) in [(&program, ""), (&plain, "--uninstrumented")] {
        let refused = scene.fuzz(program, &format!("--execs 50 {option}"));
        refused.refused(TARGET, &["reads nothing of its standard input", "`@@`"]);
    }
    for (arguments, words) in [(&["@@"][..], None), (&["@@", "x"], Some("other arguments"))] {
        let scene = Scene::new(GREETING);
        let run = run(scene.campaign(&program, "--execs 100 --seed 1 --no-confirm").args(arguments)).ended();
        let notice = run.stdout.contains("the program does the same whatever its input is");
        assert_eq!(notice, words.is_some(), "{arguments:?}: {}", run.stdout);
        assert!(words.is_none_or(|words| run.stdout.contains(words)), "{arguments:?}: {}", run.stdout);
    }
}
