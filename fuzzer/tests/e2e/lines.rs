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
    let sum = |list: &Value| -> u64 { array(&list).iter().map(|l| number(&l["instructions"])).sum() };
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
