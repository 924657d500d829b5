//! Files of others: a campaign takes inputs from them and nothing else, whatever they are
//! (`docs/src/threat-model.md`).

use std::{ffi::OsStr, fs, fs::File, os::unix::ffi::OsStrExt, os::unix::fs::symlink};

use rustix::{fs::CWD, fs::Mode, fs::mkfifoat};

use crate::{common::*, opened::plugin};

const SEED: &[(&str, &[u8])] = &[("text", b"some text without any keyword in it\n")];

const PRIVATE: &[u8] = b"<!MASK> my private key";

fn pipe(path: &Path) {
    mkfifoat(CWD, path, Mode::RWXU).expect("a pipe");
}

/// Creates siblings in `meeting/`, each with one entry and something that no campaign has; returns their names.
fn siblings(scene: &Scene) -> Vec<&'static str> {
    scene.write("private", PRIVATE);
    let queue = |name: &str| {
        scene.write(&format!("meeting/{name}/queue/id:000000,orig:x"), name.as_bytes());
        scene.path(&format!("meeting/{name}/queue"))
    };
    pipe(&queue("pipe").join("id:000001,src:000000"));
    queue("pipe-of-hits");
    pipe(&scene.path("meeting/pipe-of-hits/.hits"));
    queue("large-hits");
    File::create(scene.path("meeting/large-hits/.hits")).and_then(|file| file.set_len(100 << 30)).expect("sparse");
    symlink(scene.path("private"), queue("link").join("id:000001,src:000000")).expect("a link");
    fs::create_dir(queue("folder").join("id:000001,src:000000")).expect("a folder");
    fs::create_dir(scene.path("elsewhere")).expect("a folder");
    fs::write(scene.path("elsewhere/id:000000,orig:x"), PRIVATE).expect("written");
    fs::create_dir(scene.path("meeting/linked-queue")).expect("a folder");
    symlink(scene.path("elsewhere"), scene.path("meeting/linked-queue/queue")).expect("a link");
    vec!["pipe", "pipe-of-hits", "large-hits", "link", "folder", "linked-queue"]
}

#[test]
fn siblings_that_misbehave_are_named_once_and_left_out() {
    let scene = Scene::new(SEED);
    let names = siblings(&scene);
    // these do no harm: an input that is too large, a number that is none, a name that a terminal would obey
    scene.write("meeting/good/queue/id:000000,orig:x", b"an input of the good one");
    let large = scene.path("meeting/good/queue/id:000001,src:000000");
    File::create(large).and_then(|file| file.set_len(100 << 30)).expect("sparse");
    scene.write(&format!("meeting/good/queue/id:{},src:000000", u64::MAX), b"x");
    scene.write(&format!("meeting/me/queue/id:{}", u64::MAX), b"x");
    scene.write("meeting/me/.quagmire", b"");
    scene.write("meeting/\x1b]0;x\x07/queue/id:000000", b"y");
    let options = "--max-size 200 --no-confirm --execs 3000 --seed 1 --sync meeting --name me";
    let ended = scene.fuzz(&harness("keyword.c"), options).ended();
    let log = scene.log();
    for name in names {
        assert_eq!(log.matches(&format!(" {name} is left out of this session: ")).count(), 1, "{name}: {log}");
    }
    assert!(!log.contains(" good is left out") && !log.contains("cannot be shared"), "{log}");
    for text in [&log, &ended.stdout] {
        assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
    }
    for folder in ["out/queue", "out/faults", "meeting/me/queue"] {
        assert!(scene.files(folder).values().all(|bytes| bytes != PRIVATE), "{folder}");
    }
    assert!(scene.files("meeting/me/queue").keys().any(|name| name.starts_with("id:000000,")), "publishing goes on");
}

#[test]
fn a_mark_that_leads_elsewhere_is_refused_and_what_it_leads_to_is_untouched() {
    for (file, arguments) in [("meeting/me/.quagmire", "--sync meeting --name me"), ("out/.lock", "--resume")] {
        let scene = Scene::new(SEED);
        let victim = scene.write("thesis.tex", b"years of work");
        scene.write("out/summary.json", b"{}");
        fs::create_dir(scene.path("out/queue")).expect("created");
        fs::create_dir_all(scene.path(file).parent().expect("a folder")).expect("created");
        symlink(&victim, scene.path(file)).expect("a link");
        let out = if file.starts_with("out") { "out" } else { "other" };
        let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", out, "--execs", "10"]);
        command.args(arguments.split(' ')).arg("--").arg(harness("quadratic.c"));
        run(&mut command).refused(1, &["is no lock: it is a symbolic link"]);
        assert_eq!(fs::read(&victim).expect("a file"), b"years of work");
    }
    // nor are logs written that lead elsewhere
    let (scene, _) = finished();
    let victim = scene.write("thesis.tex", b"years of work");
    fs::remove_file(scene.path("out/logs/quagmire.log")).expect("removed");
    symlink(&victim, scene.path("out/logs/quagmire.log")).expect("a link");
    let resumed = scene.fuzz(&harness("quadratic.c"), "--no-confirm --execs 50 --resume");
    resumed.refused(1, &["quagmire.log: it is a symbolic link"]);
    assert_eq!(fs::read(&victim).expect("a file"), b"years of work");
}

#[test]
fn libraries_that_only_the_checkpoint_names_are_not_opened() {
    let scene = Scene::new(&[("1", b"/"), ("2", b"b----"), ("3", b"a----")]);
    plugin(&scene, "a", "-DPLAIN");
    plugin(&scene, "b", "-DPLAIN");
    let mark = scene.path("executed");
    let program = scene.compile("program", "plugins.c", &["-g", "-O0", "-rdynamic"], &[]);
    let options = "--execs 300 --seed 1 --max-size 10";
    scene.fuzz(&program, options).ended();
    // later than the campaign, which might open it by a mutant
    plugin(&scene, "Q", &format!("-DALWAYS=symlink(\"/\",\"{}\")", mark.display()));
    // without a change, the state is used, with both of them
    let ended = scene.fuzz(&program, "--execs 1 --max-size 10 --resume").ended();
    assert!(!ended.stdout.contains("cannot be used"), "{ended:#?}");
    // in the bytes themselves
    let (head, contents) = (16, scene.files("out")[".checkpoint"].clone());
    let (known, forged) = (b"/plugin-b.so\0", b"/plugin-Q.so\0");
    let places: Vec<usize> =
        (head..contents.len() - known.len()).filter(|&at| contents[at..].starts_with(known)).collect();
    assert!(!places.is_empty(), "the checkpoint names the libraries that runs have opened");
    let mut bytes = contents;
    places.into_iter().for_each(|at| bytes[at..at + forged.len()].copy_from_slice(forged));
    let checksum = crc32fast::hash(&bytes[head..]);
    bytes[head - 4..head].copy_from_slice(&checksum.to_le_bytes());
    scene.write("out/.checkpoint", &bytes);
    let ended = scene.fuzz(&program, "--execs 1 --max-size 10 --resume").ended();
    assert!(ended.stdout.contains("cannot be used (it names libraries that the program does not open)"), "{ended:#?}");
    assert!(!mark.exists(), "the library was executed");
}

#[test]
fn the_command_that_reproduces_a_finding_can_be_pasted_whatever_names_are_in_it() {
    let scene = Scene::new(&[("crash", b"abort"), ("seed", b"x")]);
    let name = OsStr::from_bytes(b"o\xffu t'\n\x1b[2J");
    let program = scene.path("").join(OsStr::from_bytes(b"har\xfeness"));
    copy_program(&harness("ends.c"), &program);
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o"]);
    command.arg(name).args(["--max-size", "5", "--execs", "10", "--no-confirm", "--seed", "1", "--"]);
    let ended = run(command.arg(&program)).succeeded();
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'), "{ended:#?}");
    let summary = fs::read_to_string(scene.path("").join(name).join("summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    let findings = array(&summary["findings"]);
    let stored = string(&findings.first().expect("a finding")["reproduce"]);
    let printed =
        ended.stdout.lines().find_map(|line| line.trim().strip_prefix("reproduce")).expect("a command").trim();
    for command in [stored, printed] {
        let output = Command::new("bash").args(["-c", command]).current_dir(scene.path("")).output().expect("bash");
        assert!(output.status.success(), "{command}: {output:?}");
        assert!(!output.stdout.contains(&0x1b), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("instructions"), "{output:?}");
    }
}
