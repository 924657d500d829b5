//! `quagmire init`: what it prints builds and fuzzes, typed as it is.

use std::{fs, path::Path, process::Command};

use crate::common::{Run, Scene, binaries, has_program, run};

/// Runs lines of the shell in a folder, with quagmire and its compilers on the path.
fn shell(folder: &Path, lines: &str) -> Run {
    let path = format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap_or_default());
    run(Command::new("sh").args(["-euc", lines]).current_dir(folder).env("PATH", path))
}

fn init(folder: &Path, arguments: &[&str]) -> Run {
    run(Command::new(binaries().join("quagmire")).arg("init").args(arguments).current_dir(folder))
}

#[test]
fn printed_commands_build_with_each_build_system() {
    for (system, needs) in [("cmake", "cmake"), ("meson", "ninja"), ("autoconf", "libtoolize")] {
        if !has_program(needs, needs) {
            continue;
        }
        let scene = Scene::new(&[]);
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/tests/testdata").join(system);
        let folder = scene.path("project");
        run(Command::new("cp").arg("-r").arg(from).arg(&folder)).ended();
        let printed = init(&folder, &[]).ended().stdout;
        let (build, _) = printed.split_once("# a program").expect("commands for a program");
        let built = shell(&folder, build);
        assert_eq!(built.code, Some(0), "{system}: {built:?}");
        let find =
            "find . -type f -perm -1 ! -name '*.so*' -exec nm {} \\; 2>/dev/null | grep -c ' __quagmire_register$'";
        let counted = shell(&folder, find).stdout;
        assert_ne!(counted.trim(), "0", "{system}: no program that counts: {printed}");
    }
}

#[test]
fn a_function_of_a_library_is_fuzzed_by_what_is_printed() {
    let scene = Scene::new(&[]);
    let folder = scene.path("a library");
    fs::create_dir_all(folder.join("seeds")).expect("created");
    fs::write(folder.join("seeds/one"), "an ordinary line").expect("written");
    fs::write(
        folder.join("words.h"),
        "#include <stddef.h>\nint count_words(const char *text,\n  size_t length, int flags);\n",
    )
    .expect("written");
    let source = "#include \"words.h\"\nint count_words(const char *t, size_t n, int f) {\n  int k = f;\n  for (size_t i = 0; i < n; i++)\n    k += t[i] == ' ';\n  return k;\n}\n";
    fs::write(folder.join("words.c"), source).expect("written");
    let make = "libwords.a: words.o\n\tar rcs $@ $^\nwords.o: words.c\n\t$(CC) -O2 -g -c $<\n";
    fs::write(folder.join("Makefile"), make).expect("written");

    let printed = init(&folder, &["--function", "count_words"]).ended().stdout;
    let harness = fs::read_to_string(folder.join("count_words_harness.c")).expect("a harness");
    assert!(harness.contains("count_words((const char *)data, size, 0);"), "{harness}");
    let short = printed.replace("--max-size 4000", "--max-size 100 --execs 300 --seed 1 --no-confirm --quiet");
    let done = shell(&folder, &short);
    assert_eq!(done.code, Some(0), "{printed}: {done:?}");
    let summary = fs::read_to_string(folder.join("out-count_words_harness/summary.json")).expect("a summary");
    assert!(summary.contains("\"executions\": 300"), "{summary}");

    // it is the user's by now
    init(&folder, &["--function", "count_words"]).refused(1, &["count_words_harness.c", "exists"]);
    init(&folder, &["--function", "nowhere"]).refused(2, &["nowhere", "header"]);
    init(&folder, &["--function", "a b"]).refused(2, &["a b"]);
    init(&folder, &["no/such/folder"]).refused(2, &["no/such/folder"]);
    let empty = scene.path("empty");
    fs::create_dir(&empty).expect("created");
    init(&empty, &[]).refused(2, &["nothing to build", "CMake"]);
}

#[test]
fn a_function_of_sources_without_a_build_system_is_fuzzed_by_what_is_printed() {
    let scene = Scene::new(&[]);
    let folder = scene.path("sources");
    fs::create_dir_all(folder.join("seeds")).expect("created");
    for (name, text) in [
        ("seeds/one", "an ordinary line"),
        (
            "count.h",
            "#include <stddef.h>\n/* as count(text); */\nint count(const char *s /* text */, size_t n /* bytes */); // words\n",
        ),
        (
            "count.c",
            "#include \"count.h\"\nint more(int);\nint count(const char *s, size_t n) { return n ? more(s[0] == ' ') : 0; }\n",
        ),
        ("more.c", "int more(int k) { return k + 1; }\n"),
        ("main.c", "#include \"count.h\"\nint main(int n, char **words) { return count(words[0], n); }\n"),
    ] {
        fs::write(folder.join(name), text).expect("written");
    }
    let printed = init(&folder, &["--function", "count"]).ended().stdout;
    let harness = fs::read_to_string(folder.join("count_harness.c")).expect("a harness");
    assert!(harness.contains("count((const char *)data, size);"), "{harness}");
    // and once more, with the harness as part of the sources
    for printed in [printed, init(&folder, &[]).ended().stdout] {
        let short =
            printed.replace("--max-size 4000", "--max-size 100 --execs 300 --seed 1 --no-confirm --quiet --force");
        let done = shell(&folder, &short);
        assert_eq!(done.code, Some(0), "{printed}: {done:?}");
        let summary = fs::read_to_string(folder.join("out-count_harness/summary.json")).expect("a summary");
        assert!(summary.contains("\"executions\": 300"), "{summary}");
    }
}
