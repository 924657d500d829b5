//! Reports of source lines, in programs whose counts are known.

use crate::common::*;

/// Lines of an input in a report.
fn lines(input: &Value) -> &Vec<Value> {
    array(&input["lines"])
}

/// Lines of one function of an input in a report.
fn of<'a>(input: &'a Value, function: &str) -> Vec<&'a Value> {
    lines(input).iter().filter(|line| line["function"] == function).collect()
}

/// Asserts that the instructions of lines and of functions add up to those of the run.
#[track_caller]
fn add_up(what: &str, input: &Value) {
    let sum = |list: &Value| -> u64 { array(list).iter().map(|l| number(&l["instructions"])).sum() };
    let all = number(&input["instructions"]);
    let left_out = &input["lines_left_out"];
    assert_eq!(sum(&input["lines"]) + number(&left_out["instructions"]), all, "{what}: {left_out}");
    assert!(all > 0 && sum(&input["functions"]) <= all, "{what}");
}

#[test]
fn the_instructions_of_all_lines_are_those_of_the_run() {
    let text = b"The quick brown fox jumps over the lazy dog. ".repeat(20);
    let shapes = [b"l\x64\0\0\0", b"n\x64\0\0\0", b"s\x64\0\0\0", b"j\x64\0\0\0", b"r\x64\0\0\0"];
    let mut seeds: Vec<(&str, &[u8])> = vec![("text", &text), ("abort", b"abort"), ("exit", b"exit")];
    seeds.extend(["1", "2", "3", "4", "5"].into_iter().zip(shapes.map(|shape| shape.as_slice())));
    let scene = Scene::new(&seeds);
    let all = ["-O0", "-O2"]
        .into_iter()
        .flat_map(|level| ["lines.c", "lines.cc", "counts.c", "ends.c"].map(|source| (source, vec!["-g", level])));
    // collected sections, and a sanitized program
    let sections = vec!["-g", "-O1", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"];
    let linked = [("lines.cc", sections), ("lines.cc", vec!["-g", "-O1", "-fsanitize=address"])];
    let fewer_names = [("lines.cc", vec!["-gline-tables-only", "-O2"]), ("lines.cc", vec!["-O2"])];
    let all: Vec<(&str, Vec<&str>)> = all.chain(fewer_names).chain(linked).collect();
    for llvm in llvms() {
        for (source, options) in &all {
            let what = format!("{source} {options:?} LLVM {llvm}");
            let harness = built(source, &[options.as_slice(), &["-fsanitize=fuzzer"]].concat(), Some(llvm));
            let expected = options.iter().any(|option| option.starts_with("-g"));
            for input in scene.replay(&harness, "-n 1", &[Path::new("seeds")]) {
                add_up(&what, &input);
                let known = |line: &Value| line["file"].as_str().is_some_and(|file| !file.is_empty());
                assert!(lines(&input).iter().all(|line| known(line) == expected), "{what}: {input:#}");
            }
        }
    }
}

/// Counts by line number in the output of `--annotate`, one for each column.
fn annotated(run: Run) -> Vec<(usize, Vec<u64>)> {
    let text = run.ended().stdout;
    let mut rows = text.lines().skip_while(|row| !row.trim_end().ends_with("share   line"));
    let columns = rows.next().expect("a header").split_whitespace().count() - 2;
    let row = |row: &str| {
        let words: Vec<String> = row.split_whitespace().map(|word| word.replace(',', "")).collect();
        let counts: Vec<u64> = words.iter().take(columns).filter_map(|word| word.parse().ok()).collect();
        // behind the counts: `>` if it is hot, the share and `%` if it was executed
        let rest = words.iter().skip(columns).position(|word| word == "%").map_or(columns, |at| columns + at + 1);
        Some((words.get(rest)?.parse().ok()?, counts))
    };
    rows.filter_map(row).filter(|(_, counts): &(usize, Vec<u64>)| counts.len() == columns).collect()
}

/// Lines of `lines.c` with code, and their counts for an input of n bytes.
fn expected(n: u64) -> Vec<(usize, u64)> {
    vec![
        (8, n + 1),
        (12, n + 1),
        (13, n),
        (14, n * (n + 1) / 2),
        (15, n * (n - 1) / 2),
        (16, n),
        (17, n / 2),
        (22, 0),
        (27, 1),
        (28, 1),
        (29, 1),
    ]
}

#[test]
fn an_annotated_source_shows_how_often_each_line_was_executed() {
    let scene = Scene::new(&[("a", &[b'x'; 10]), ("b", &[b'x'; 200])]);
    let commented: Vec<usize> = expected(1).iter().map(|&(line, _)| line).collect();
    for llvm in llvms() {
        let harness = built("lines.c", &["-g", "-O0", "-fsanitize=fuzzer"], Some(llvm));
        let annotate = |inputs: &[&str]| {
            let mut command = scene.quagmire(&["replay", "--annotate", "testdata/lines.c"]);
            let rows = annotated(run(command.args(inputs).arg("--").arg(&harness)));
            // the ends of blocks have code as well
            rows.into_iter().filter(|(line, _)| commented.contains(line)).collect::<Vec<_>>()
        };
        let (few, many) = (expected(10), expected(200));
        let both: Vec<_> = few.iter().zip(&many).map(|(a, b)| (a.0, vec![a.1, b.1])).collect();
        assert_eq!(annotate(&["seeds/a", "seeds/b"]), both, "LLVM {llvm}");
        let one: Vec<_> = few.iter().map(|&(line, count)| (line, vec![count])).collect();
        assert_eq!(annotate(&["seeds/a"]), one, "LLVM {llvm}");
    }
    // with a context, it has its hot lines only
    let harness = built("lines.c", &["-g", "-O0", "-fsanitize=fuzzer"], None);
    for (context, expected) in [("0", &[14, 15][..]), ("1", &[13, 14, 15, 16])] {
        let shown = scene.ask(&format!("replay --annotate lines.c --context {context} seeds/b"), &harness);
        assert_eq!(annotated(shown).into_iter().map(|(line, _)| line).collect::<Vec<_>>(), expected);
    }
    scene.ask("replay --context 2 seeds/a", Path::new("x")).refused(2, &["--annotate"]);
}

#[test]
fn a_harness_annotates_by_itself_and_json_has_all_lines_of_the_file() {
    let scene = Scene::new(&[("a", &[b'x'; 10])]);
    let harness = built("lines.c", &["-g", "-O0", "-fsanitize=fuzzer"], None);
    let mut command = Command::new(&harness);
    let text = run(command.args(["replay", "--annotate", "lines.c"]).arg(scene.path("seeds/a"))).ended().stdout;
    assert!(text.contains("   8    return x * x; // n + 1\n"), "{text}");
    assert!(!text.contains('\x1b'), "no colours but on a terminal: {text:?}");
    let mut command = scene.quagmire(&["replay", "--json", "--annotate", "lines.c", "seeds/a", "--"]);
    let report: Value = serde_json::from_str(&run(command.arg(&harness)).ended().stdout).expect("JSON");
    let file = &report["annotated"][0];
    assert!(file["path"].as_str().is_some_and(|path| path.ends_with("/testdata/lines.c")), "{file:#}");
    let with_code: Vec<u64> = array(&file["lines"]).iter().map(number).collect();
    assert!(expected(1).iter().all(|&(line, _)| with_code.contains(&(line as u64))), "{file:#}");
    assert_eq!(report["inputs"][0]["lines_left_out"]["lines"], 0);
}

#[test]
fn an_inlined_function_is_found_where_it_was_written() {
    let scene = Scene::new(&[("a", &[b'x'; 100])]);
    for llvm in llvms() {
        let harness = built("lines.c", &["-g", "-O2", "-fsanitize=fuzzer"], Some(llvm));
        let input = &scene.replay(&harness, "-n 1", &[Path::new("seeds/a")])[0];
        let square = of(input, "square");
        assert_eq!(square.len(), 1, "LLVM {llvm}: {input:#}");
        // two copies: in the loop, and at the end
        assert_eq!((&square[0]["line"], &square[0]["count"]), (&8.into(), &101.into()), "LLVM {llvm}");
        let functions = array(&input["functions"]);
        assert!(functions.iter().any(|f| f["function"] == "square"), "LLVM {llvm}: {input:#}");
    }
}

#[test]
fn names_are_demangled_and_inlined_code_of_system_headers_is_their_users() {
    let scene = Scene::new(&[("a", &[b'x'; 300])]);
    let harness = built("lines.cc", &["-g", "-O2", "-fsanitize=fuzzer"], None);
    let input = &scene.replay(&harness, "-n 1", &[Path::new("seeds/a")])[0];
    let add = of(input, "shapes::Set<long>::add(long)");
    let compared = add.iter().find(|line| line["line"] == 17).expect("the comparison");
    // each value is compared with all before it
    assert_eq!(number(&compared["count"]), 300 * 299 / 2, "{input:#}");
    let system = |f: &&Value| f["location"].as_str().is_some_and(|location| location.contains("stl_vector.h"));
    let hottest = &input["functions"][0];
    assert!(hottest["function"] == "shapes::Set<long>::add(long)" && !system(&hottest), "{input:#}");
    assert!(string(&hottest["location"]).contains("/lines.cc:"), "{hottest:#}");
}

#[test]
fn without_debug_information_there_are_edges_of_symbols_and_nothing_to_annotate() {
    let scene = Scene::new(&[("a", &[b'x'; 20])]);
    let harness = built("lines.c", &["-O1", "-fsanitize=fuzzer"], None);
    let input = &scene.replay(&harness, "-n 1", &[Path::new("seeds/a")])[0];
    assert_eq!(input["functions"][0]["function"], "triangle", "{input:#}");
    assert!(input["functions"][0]["location"].is_null(), "{input:#}");
    let is_edge = |line: &Value| {
        let number = line["function"].as_str().and_then(|name| name.split_once('#'));
        number.is_some_and(|(_, number)| number.parse::<u32>().is_ok())
    };
    assert!(!lines(input).is_empty() && lines(input).iter().all(is_edge), "{input:#}");
    scene.ask("replay --annotate lines.c seeds/a", &harness).refused(3, &["lines.c", "without -g", "build it again"]);
}

#[test]
fn a_file_that_is_not_clear_is_refused() {
    let scene = Scene::new(&[("a", b"x")]);
    scene.write("one/twin.c", b"int one(int x) { return x + 1; }\n");
    scene.write("two/twin.c", b"int two(int x) { return x + 2; }\n");
    let both = b"int one(int), two(int);\nint LLVMFuzzerTestOneInput(const char *d, long n) { return !one(two(n)); }\n";
    scene.write("both.c", both);
    let mut command = compiler("both.c", None);
    let sources = ["one/twin.c", "two/twin.c", "both.c"].map(|name| scene.path(name));
    run(command.args(["-g", "-fsanitize=fuzzer"]).args(sources).arg("-o").arg(scene.path("twins"))).ended();
    let annotate = |file: &str| {
        let twins = scene.path("twins");
        run(scene.quagmire(&["replay", "--annotate", file, "seeds/a", "--"]).arg(twins))
    };
    annotate("twin.c").refused(2, &["twin.c", "several", "one/twin.c, ", "two/twin.c"]);
    annotate("three/twin.c").refused(2, &["no source file", "one/twin.c", "two/twin.c"]);
    annotate("triplet.c").refused(2, &["no source file", "both.c"]);
    assert_eq!(annotated(annotate("two/twin.c")), [(1, vec![1])]);
}

#[test]
fn the_table_shows_where_it_grew() {
    let scene = Scene::new(&[("a", &[b'x'; 10]), ("b", &[b'x'; 200])]);
    let harness = built("lines.c", &["-g", "-O0", "-fsanitize=fuzzer"], None);
    let text = scene.ask("replay seeds/a seeds/b", &harness).ended().stdout;
    let grew = text.split_once("  where it grew against the first\n").expect("a table").1;
    // how wide the places are depends on where the sources stand
    let is_the_sum = |row: &str| {
        let words: Vec<&str> = row.split_whitespace().collect();
        words[2..5] == ["55", "->", "20,100"] && words[5].ends_with("/lines.c:14") && words[6..] == ["triangle"]
    };
    assert!(grew.lines().skip(1).any(is_the_sum), "{text}");
    assert!(text.lines().filter(|row| !row.contains(" at ")).all(|row| row.chars().count() <= 100), "{text}");
}

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
