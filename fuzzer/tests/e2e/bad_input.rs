//! Mistakes of users: each is refused with one line that names the problem and the remedy, and no file is lost.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, process};

use crate::common::{
    Run, Scene, alone, built, compiler, ended, harness, is_root, number, run, signal, skip, testdata, wait_until,
};

const USAGE: i32 = 2;
const ERROR: i32 = 1;
const TARGET: i32 = 3;
const SEED: &[(&str, &[u8])] = &[("greeting", b"hello world, hello")];

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

/// Command `quagmire fuzz` with these seeds.
fn from_seeds(scene: &Scene, seeds: &str) -> Command {
    let mut command = scene.quagmire(&["fuzz", "-i", seeds, "-o", "out", "--execs", "10", "--"]);
    command.arg(harness("quadratic.c"));
    command
}

#[test]
fn seeds_that_are_not_there_are_named() {
    let scene = Scene::new(&[]);
    refused(&scene, &mut from_seeds(&scene, "no/such"), USAGE, &["no/such", "does not exist"]);
    refused(&scene, &mut from_seeds(&scene, "seeds"), USAGE, &["no seeds in seeds", "-i"]);
    assert!(!scene.path("out").exists());
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
fn a_seed_that_cannot_be_read_is_named() {
    let scene = Scene::new(SEED);
    fs::set_permissions(scene.path("seeds/greeting"), fs::Permissions::from_mode(0o000)).expect("changed");
    let mut command = scene.campaign(&harness("quadratic.c"), "--execs 10");
    respecting_permissions(&mut command);
    refused(&scene, &mut command, USAGE, &["seeds/greeting", "permission denied", "readable"]);
}

#[test]
fn a_filter_that_leaves_no_seed_says_so() {
    let scene = Scene::new(SEED);
    campaign_refused(&scene, "--workloads-filter nothing", USAGE, &["no seeds left", "--workloads-filter"]);
    campaign_refused(&scene, "--workloads-filter (", USAGE, &["--workloads-filter", "regular expression"]);
}

#[test]
fn programs_that_cannot_be_fuzzed_are_told_apart() {
    let scene = Scene::new(SEED);
    let make = |name: &str, mode: u32, bytes: &[u8]| {
        let path = scene.write(name, bytes);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
    };
    make("script", 0o755, b"#!/bin/sh\nexit 0\n");
    make("notes.txt", 0o644, b"not a program");
    make("empty", 0o755, b"");
    make("truncated", 0o755, &fs::read(harness("quadratic.c")).expect("a harness")[..5000]);
    fs::create_dir(scene.path("folder")).expect("created");
    let plain = Command::new("cc").arg(testdata("plain.c")).arg("-o").arg(scene.path("plain")).status();
    assert!(plain.expect("a compiler").success());
    let compiled =
        run(compiler("plain.c", None).args(["-c", "-o"]).arg(scene.path("plain.o")).arg(testdata("plain.c")));
    compiled.ended();
    let linked = Command::new("cc").arg(scene.path("plain.o")).arg("-o").arg(scene.path("instrumented")).status();
    assert!(linked.expect("a linker").success());
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
fn a_harness_takes_no_arguments() {
    let scene = Scene::new(SEED);
    let mut command = scene.campaign(&harness("quadratic.c"), "--execs 10");
    refused(&scene, command.arg("-x"), USAGE, &["takes no arguments"]);
}

#[test]
fn options_that_are_missing_are_named() {
    let scene = Scene::new(SEED);
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
}

#[test]
fn options_that_do_not_exist_are_refused_in_one_line() {
    let scene = Scene::new(SEED);
    campaign_refused(&scene, "--tiem 3", USAGE, &["--tiem"]);
}

#[test]
fn numbers_and_words_that_make_no_sense_are_named_with_their_option() {
    let scene = Scene::new(SEED);
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
    let inputs = |repeats: &str| {
        let mut command = scene.quagmire(&["replay", "seeds/greeting", &format!("--repeats={repeats}"), "--"]);
        command.arg(harness("quadratic.c"));
        command
    };
    for repeats in ["0", "-1", "many", "99999999999"] {
        refused(&scene, &mut inputs(repeats), USAGE, &["-n"]);
    }
    assert!(!scene.path("out").exists());
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let scene = Scene::new(SEED);
    campaign_refused(&scene, "--resume --force", USAGE, &["--resume", "--force"]);
    campaign_refused(&scene, "--max-size 100 --max-size-ratio 2", USAGE, &["--max-size", "cannot be used with"]);
    campaign_refused(&scene, "--max-size 5", USAGE, &["--max-size 5", "18"]);
}

#[test]
fn dictionaries_that_cannot_be_used_are_named() {
    let scene = Scene::new(SEED);
    scene.write("bad", b"this is not a dictionary\n");
    for name in ["missing", "bad"] {
        campaign_refused(&scene, &format!("-x {name}"), USAGE, &["--dict", name]);
    }
}

#[test]
fn dictionaries_that_are_no_text_are_named() {
    let scene = Scene::new(SEED);
    scene.write("binary", b"\xff\xfe\x00");
    for name in ["binary", "seeds"] {
        campaign_refused(&scene, &format!("-x {name}"), USAGE, &["--dict", name]);
    }
}

#[test]
fn files_of_rules_that_cannot_be_used_are_named_with_line_and_pattern() {
    let scene = Scene::new(SEED);
    for (name, text, words) in [
        ("list", &b"- a: b"[..], &["list:1", "not a mapping", "pattern: replacement"][..]),
        ("pattern", b"a: b\n(c: d", &["pattern:2", "`(c`", "correct it"]),
        ("group", b"a: b\n\n(c): \\2", &["group:3", "`(c)`", "group 2"]),
        ("yaml", b"'a", &["yaml:1", "not YAML"]),
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
    campaign_refused(&scene, "--rules R.1", USAGE, &["--rules", "R.1", "T.1-T.15"]);
}

#[test]
fn a_seed_that_crashes_is_set_aside_and_the_campaign_goes_on() {
    let scene = Scene::new(&[("abort", b"abort"), ("plain", b"hello")]);
    let run = scene.fuzz(&harness("ends.c"), "--execs 300 --seed 1 --rules T,havoc").ended();
    assert!(run.stdout.contains("the seed seeds/abort crashes the target (SIGABRT"), "{run:#?}");
    assert_eq!(scene.files("out/faults").into_values().collect::<Vec<_>>(), [b"abort"]);
    assert_eq!(scene.summary()["executions"], 300);
}

#[test]
fn a_seed_that_hangs_is_set_aside_and_the_campaign_goes_on() {
    let scene = Scene::new(&[("plain", b"hello"), ("the_loop", b"loop")]);
    let run = scene.fuzz(&harness("ends.c"), "--execs 300 --seed 1 --hang-timeout 1s").ended();
    assert!(run.stdout.contains("the seed seeds/the_loop runs into the hang timeout"), "{run:#?}");
    assert_eq!(scene.files("out/hangs").into_values().collect::<Vec<_>>(), [b"loop"]);
    assert!(scene.path("out/hangs/id_000000,orig_the_loop").exists(), "{:?}", scene.files("out/hangs"));
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

    let scene = Scene::new(&[("a", b"no"), ("b", b"not")]);
    refused(
        &scene,
        &mut scene.campaign(&harness("rejects.c"), "--execs 9"),
        TARGET,
        &["none of the 2 seeds", "rejected"],
    );

    let scene = Scene::new(&[("a", b"no")]);
    let mut command = scene.campaign(&harness("rejects.c"), "--execs 9");
    refused(&scene, &mut command, TARGET, &["the seed cannot be used", "rejected"]);
}

#[test]
fn a_target_that_ends_before_its_first_run_is_given_up() {
    let scene = Scene::new(SEED);
    let harness = harness("initialize_ends.c");
    let words = ["before the first run", "LLVMFuzzerInitialize"];
    refused(&scene, &mut scene.campaign(&harness, "--execs 10"), TARGET, &words);
    let mut replay = scene.quagmire(&["replay", "seeds/greeting", "--"]);
    refused(&scene, replay.arg(&harness), TARGET, &[]);
}

#[test]
fn output_folders_that_hold_something_are_left_alone() {
    let scene = Scene::new(SEED);
    scene.write("out/thesis.tex", b"years of work");
    for options in ["", "--force", "--resume"] {
        campaign_refused(&scene, &format!("--execs 10 {options}"), ERROR, &["out", "not a campaign's", "-o"]);
    }
    let scene = Scene::new(SEED);
    let harness = harness("quadratic.c");
    scene.fuzz(&harness, "--execs 300 --seed 1 --max-size 100").ended();
    let mut again = scene.campaign(&harness, "--execs 300 --seed 1");
    refused(&scene, &mut again, ERROR, &["out holds a campaign", "--resume", "--force"]);
}

#[test]
fn there_is_nothing_to_resume_in_a_new_folder() {
    let scene = Scene::new(SEED);
    campaign_refused(&scene, "--resume", ERROR, &["out", "no campaign to resume", "--resume"]);
    assert!(!scene.path("out").exists());
}

#[test]
fn a_folder_below_a_file_cannot_be_written() {
    let scene = Scene::new(SEED);
    let harness = harness("quadratic.c");
    for (output, word) in [("seeds/greeting/out", "seeds/greeting/out"), ("seeds/greeting", "is not a folder")] {
        let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", output, "--execs", "10", "--"]);
        refused(&scene, command.arg(&harness), ERROR, &[word, "-o"]);
    }
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "/proc/out", "--execs", "10", "--"]);
    refused(&scene, command.arg(&harness), ERROR, &["/proc/out"]);
}

#[test]
fn a_folder_in_use_is_refused_with_the_number_of_the_process() {
    let scene = Scene::new(SEED);
    let harness = harness("quadratic.c");
    let mut first = scene.campaign(&harness, "--seed 1 --max-size 100 --time 1h");
    let first = first.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_until("the campaign runs", || scene.path("out/queue/id_000000,orig_greeting").exists().then_some(()));
    let number = first.id().to_string();
    for options in ["", "--resume", "--force"] {
        let second = run(&mut scene.campaign(&harness, &format!("--execs 10 {options}")));
        second.refused(ERROR, &["out is in use by another campaign", &number]);
    }
    signal(first.id(), libc::SIGINT);
    ended(first).ended();
}

/// Remedy for tests that mount a small file system.
const MOUNTS: &str = "run the tests as root, in a container that may mount file systems";

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
fn a_disk_that_is_full_from_the_start_is_named() {
    let scene = Scene::new(SEED);
    let disk = scene.path("disk");
    let Some(_disk) = SmallDisk::mounted(&disk, "size=64k") else { return };
    let _ = fs::write(disk.join("ballast"), vec![1; 1 << 20]);
    let ballast = fs::read(disk.join("ballast")).expect("what fitted");
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "disk/out", "--execs", "100", "--seed", "1", "--"]);
    run(command.arg(harness("quadratic.c"))).refused(ERROR, &["cannot write ", "disk/out", "the disk is full"]);
    assert_eq!(fs::read(disk.join("ballast")).expect("still there"), ballast);
}

#[test]
fn a_disk_that_cannot_be_written_is_named() {
    let scene = Scene::new(SEED);
    let disk = scene.path("disk");
    let Some(_disk) = SmallDisk::mounted(&disk, "ro") else { return };
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "disk/out", "--execs", "100", "--"]);
    refused(&scene, command.arg(harness("quadratic.c")), ERROR, &["disk/out", "-o"]);
}

#[test]
fn a_full_dev_shm_does_not_matter() {
    let _alone = alone();
    const SKIPPED: i32 = 77;
    // with a mount namespace of its own, and no byte left
    let script = "mount -t tmpfs -o size=4k quagmire-test /dev/shm && head -c 4096 /dev/zero >/dev/shm/full &&
        ! echo more >/dev/shm/more 2>/dev/null && exec \"$@\"; exit 77";
    for program in [harness("quadratic.c"), built("program.c", &["-g", "-O0"], None)] {
        let scene = Scene::new(SEED);
        let cores = if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) { "-j 2" } else { "" };
        let options = format!("{cores} --execs 200 --seed 1 --max-size 100 --no-confirm --sync meeting --name me");
        let campaign = scene.campaign(&program, &options);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script, "sh"]).arg(campaign.get_program()).args(campaign.get_args());
        let run = run(command.current_dir(scene.path("")));
        if !is_root() || run.code == Some(SKIPPED) || run.stderr.contains("unshare failed") {
            skip("mounts", MOUNTS);
            return;
        }
        run.ended();
        assert!(number(&scene.summary()["executions"]) >= 200);
    }
}

#[test]
fn a_program_that_does_not_look_at_its_input_is_noticed() {
    let program = built("usage.c", &["-g", "-O1"], None);
    let scene = Scene::new(SEED);
    scene.fuzz(&program, "--execs 100").refused(TARGET, &["reads nothing of its standard input", "`@@`"]);
    for (arguments, words) in [(&["@@"][..], None), (&["@@", "x"], Some("other arguments"))] {
        let scene = Scene::new(SEED);
        let run = run(scene.campaign(&program, "--execs 100 --seed 1 --no-confirm").args(arguments)).ended();
        let notice = run.stdout.contains("the program does the same whatever its input is");
        assert_eq!(notice, words.is_some(), "{arguments:?}: {}", run.stdout);
        assert!(words.is_none_or(|words| run.stdout.contains(words)), "{arguments:?}: {}", run.stdout);
    }
}
