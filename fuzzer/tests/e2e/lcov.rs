//! `replay --lcov`: how often all inputs together execute each line, as lcov and genhtml read it.

use crate::common::*;

/// Executions by line in a tracefile of one interesting file, and calls by function.
fn read(text: &str, file: &str) -> (BTreeMap<u64, u64>, BTreeMap<String, u64>) {
    let record = text.split("end_of_record").find(|record| record.contains(&format!("{file}\n"))).expect("the file");
    let pairs = |key: &str| -> Vec<(String, String)> {
        let rows = record.lines().filter_map(|line| line.strip_prefix(key)?.split_once(','));
        rows.map(|(first, second)| (first.to_owned(), second.to_owned())).collect()
    };
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let lines = pairs("DA:").iter().map(|(line, count)| (number(line), number(count))).collect();
    let calls = pairs("FNDA:").into_iter().map(|(count, name)| (name, number(&count))).collect();
    (lines, calls)
}

#[test]
fn lines_of_all_inputs_are_added_up() {
    let scene = Scene::new(&[("a", &[b'x'; 10]), ("b", &[b'x'; 200]), ("c", &[b'x'; 200])]);
    let harness = built("lines.c", &["-g", "-O0", "-fsanitize=fuzzer"], None);
    let end = scene.ask("replay --lcov all.info seeds", &harness).ended();
    assert!(end.stdout.contains("3 inputs: ") && end.stdout.contains("\nall.info\n"), "{end:#?}");
    let (lines, calls) = read(&scene.read("all.info"), "/testdata/lines.c");
    let sizes: [u64; 3] = [10, 200, 200];
    let sum = |count: fn(u64) -> u64| sizes.into_iter().map(count).sum::<u64>();
    for (line, count) in [
        (8, sum(|n| n + 1)),
        (13, sum(|n| n)),
        (14, sum(|n| n * (n + 1) / 2)),
        (15, sum(|n| n * (n - 1) / 2)),
        (22, 0),
        (27, 3),
    ] {
        assert_eq!(lines.get(&line), Some(&count), "line {line} of {lines:?}");
    }
    assert_eq!(calls.get("triangle"), Some(&3), "{calls:?}");
    assert_eq!(calls.get("square"), Some(&sum(|n| n + 1)), "{calls:?}");
    assert_eq!(calls.get("never"), Some(&0), "{calls:?}");
    // runs that end early count up to their end, and the others go on
    let scene = Scene::new(&[("abort", b"abort"), ("exit", b"exit"), ("fine", b"fine")]);
    let harness = built("ends.c", &["-g", "-O0", "-fsanitize=fuzzer"], None);
    scene.ask("replay --lcov all.info seeds", &harness).ended();
    let (_, calls) = read(&scene.read("all.info"), "/testdata/ends.c");
    assert_eq!(calls.get("LLVMFuzzerTestOneInput"), Some(&3), "{calls:?}");
}

#[test]
fn lcov_and_genhtml_count_what_was_written() {
    if !has_program("genhtml", "lcov") {
        return;
    }
    let scene = Scene::new(&[("text", b"The quick brown fox"), ("more", &[b'l'; 100])]);
    let harness = built("lines.cc", &["-g", "-O2", "-fsanitize=fuzzer"], None);
    scene.ask("replay --lcov all.info seeds", &harness).ended();
    let text = scene.read("all.info");
    let sum = |key: &str| -> u64 { text.lines().filter_map(|line| line.strip_prefix(key)?.parse::<u64>().ok()).sum() };
    let command = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        run(command.args(arguments).arg("all.info").current_dir(scene.path(""))).ended().stdout
    };
    let told = command("lcov", &["--summary"]) + &command("genhtml", &["--ignore-errors", "source", "-o", "html"]);
    for counted in
        [format!("({} of {} lines)", sum("LH:"), sum("LF:")), format!("({} of {} functions)", sum("FNH:"), sum("FNF:"))]
    {
        assert!(sum("LH:") > 10 && told.contains(&counted), "no {counted} in {told}");
    }
    assert!(scene.path("html/index.html").is_file());
}

#[test]
fn a_program_without_lines_is_refused_with_the_remedy() {
    let scene = Scene::new(&[("a", b"a")]);
    let harness = built("lines.c", &["-O1", "-fsanitize=fuzzer"], None);
    scene.ask("replay --lcov all.info seeds", &harness).refused(3, &["--lcov", "without -g"]);
    let mut command = scene.quagmire(&["replay", "--lcov", "nowhere/all.info", "seeds", "--"]);
    let harness = built("lines.c", &["-g", "-O0", "-fsanitize=fuzzer"], None);
    run(command.arg(&harness)).refused(1, &["nowhere"]);
    assert!(!scene.path("all.info").exists());
}
