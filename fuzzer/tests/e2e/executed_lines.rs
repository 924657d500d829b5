//! The cost `lines`: executed source lines, each as often as it is.

use crate::common::*;

const INPUT: &[u8] = b"abc b  a xyz  cabd\0qq aab  cc";

/// A `main` that calls the harness with the file in its argument.
const MAIN: &[u8] = b"#include <stdint.h>
#include <stdio.h>
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
int main(int argc, char **argv) {
  static uint8_t bytes[4096];
  FILE *file = argc > 1 ? fopen(argv[1], \"rb\") : 0;
  if (!file) return 1;
  LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, sizeof bytes, file));
  return 0;
}
";

/// Counts of each line of a C file, by gcov.
fn counted_by_gcov(scene: &Scene, source: &Path, input: &Path) -> BTreeMap<u64, u64> {
    let main = scene.write("main.c", MAIN);
    let folder = scene.path("");
    let here = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(&folder);
        command
    };
    run(here("gcc").args(["-O0", "--coverage", "-c"]).arg(source).args(["-o", "counted.o"])).ended();
    run(here("gcc").args(["--coverage", "counted.o"]).arg(main).args(["-o", "counted"])).ended();
    run(here("./counted").arg(input)).ended();
    let said = run(here("gcov").args(["--json-format", "--stdout", "counted.gcda"])).ended().stdout;
    let report: Value = serde_json::from_str(&said).expect("JSON");
    let file = array(&report["files"]).iter().find(|file| file["file"] == source.to_str().unwrap());
    let lines = array(&file.expect("the source")["lines"]).iter();
    lines.map(|line| (number(&line["line_number"]), number(&line["count"]))).collect()
}

#[test]
fn lines_are_executed_as_often_as_gcov_says() {
    let scene = Scene::new(&[("a", INPUT)]);
    let source = testdata("oracle.c");
    let theirs = counted_by_gcov(&scene, &source, &scene.path("seeds/a"));
    let text = fs::read_to_string(&source).expect("testdata");
    let text: Vec<&str> = text.lines().map(str::trim).collect();
    for llvm in llvms() {
        let harness = built("oracle.c", &["-g", "-O0", "-fsanitize=fuzzer"], Some(llvm));
        let input = &scene.replay(&harness, "-n 1", &[Path::new("seeds/a")])[0];
        let lines = array(&input["lines"]).iter().filter(|line| number(&line["line"]) > 0);
        let ours: BTreeMap<u64, u64> = lines.map(|line| (number(&line["line"]), number(&line["count"]))).collect();
        assert_eq!(ours.values().sum::<u64>(), number(&input["costs"]["lines"]), "LLVM {llvm}");
        let in_both = ours.iter().filter_map(|(line, count)| Some((line, count, theirs.get(line)?)));
        let differences: Vec<_> = in_both.clone().filter(|(_, ours, theirs)| ours != theirs).collect();
        assert!(differences.is_empty(), "LLVM {llvm}: (line, ours, gcov's) {differences:?}");
        assert!(in_both.count() >= 30, "LLVM {llvm}: {ours:?}");
        // clang has instructions where a block of the source ends or begins, gcc has some where a function or a case
        // begins
        for (&line, _) in ours.iter().filter(|(line, _)| !theirs.contains_key(line)) {
            let text = text[line as usize - 1];
            assert!(text.starts_with('}') || text == "do {", "LLVM {llvm}: only we count line {line}: {text}");
        }
        for (&line, _) in theirs.iter().filter(|(line, count)| **count > 0 && !ours.contains_key(line)) {
            let text = text[line as usize - 1];
            let begins = text.starts_with("case ") || text == "default:" || text.ends_with(") {");
            assert!(begins, "LLVM {llvm}: only gcov counts line {line}: {text}");
        }
    }
}

/// File of each entry, with its value in a column of `queue_data.txt`.
fn of_queue(scene: &Scene, column: &str) -> Vec<(PathBuf, String)> {
    let log = scene.read("out/logs/queue_data.txt");
    let mut rows = log.lines().map(|row| row.trim_start_matches("# ").split('\t').collect::<Vec<_>>());
    let names = rows.next().expect("a header");
    let at = names.iter().position(|name| *name == column).expect("the column");
    rows.map(|row| (Path::new("out/queue").join(row[2]), row[at].to_owned())).collect()
}

#[test]
fn a_campaign_for_lines_counts_in_each_run_what_replay_counts() {
    let targets = [
        built("oracle.c", &["-g", "-O0", "-fsanitize=fuzzer"], None),
        built("oracle.c", &["-g", "-O2", "-fsanitize=fuzzer"], None),
        built("lines.cc", &["-g", "-O2", "-fsanitize=fuzzer"], None),
        // under the fork server
        built("program.c", &["-g", "-O1"], None),
    ];
    for target in targets {
        let scene = Scene::new(&[("a", INPUT)]);
        scene
            .fuzz(&target, "--execs 300 --seed 1 --max-size 60 --no-confirm --cost lines --hang-timeout 500ms")
            .ended();
        let kept = of_queue(&scene, "lines");
        assert!(kept.len() > 1, "{kept:?}");
        let paths: Vec<&Path> = kept.iter().map(|(path, _)| path.as_path()).collect();
        let replayed = scene.replay(&target, "-n 1", &paths);
        for ((path, lines), input) in kept.iter().zip(&replayed) {
            assert_eq!(*lines, input["costs"]["lines"].to_string(), "{} {}", target.display(), path.display());
        }
        let costs = array(&scene.summary()["costs"]).clone();
        let cost = costs.iter().find(|cost| cost["resource"] == "lines").expect("lines");
        assert_eq!(cost["baseline"], replayed[0]["costs"]["lines"]);
        let most = replayed.iter().map(|input| number(&input["costs"]["lines"])).max();
        assert_eq!(Some(number(&cost["max"])), most, "the most lines are worth an entry");
    }
}

#[test]
fn what_was_not_asked_for_is_not_counted_and_said_to_be_unknown() {
    let scene = Scene::new(&[("a", INPUT)]);
    scene.fuzz(&harness("lines.c"), "--execs 200 --seed 1 --max-size 60 --no-confirm").ended();
    assert!(of_queue(&scene, "lines").iter().all(|(_, lines)| lines == "-"));
    let costs = array(&scene.summary()["costs"]).clone();
    assert!(costs.iter().all(|cost| cost["resource"] != "lines"), "{costs:#?}");
}

#[test]
fn lines_without_debug_information_are_refused_and_some_functions_without_are_said() {
    let scene = Scene::new(&[("a", INPUT)]);
    let without = built("lines.c", &["-O1", "-fsanitize=fuzzer"], None);
    scene.fuzz(&without, "--execs 200 --cost lines").refused(3, &["--cost lines", "debug information", "-g"]);
    let scene = Scene::new(&[("a", INPUT)]);
    let input = &scene.replay(&without, "-n 1", &[Path::new("seeds/a")])[0];
    assert!(input["costs"].get("lines").is_none(), "{input:#}");
    let one = scene.write("one.c", b"int one(int x) { return x + 1; }\n");
    let other = b"int one(int);\nint LLVMFuzzerTestOneInput(const char *d, long n) { return one(n) < 0; }\n";
    let other = scene.write("other.c", other);
    let compile = |options: &[&str], source: &Path| {
        run(compiler("a.c", None).current_dir(scene.path("")).args(options).arg(source)).ended();
    };
    compile(&["-O0", "-c"], &one);
    compile(&["-O0", "-g", "-fsanitize=fuzzer", "one.o", "-o", "both"], &other);
    scene.fuzz(&scene.path("both"), "--execs 20 --no-confirm --cost lines").ended();
    assert!(scene.log().contains("1 of 2 functions has no debug information"), "{}", scene.log());
}
