//! `quagmire init`: the harness that it writes is built and runs, and what it prints fuzzes it, typed as it is.

use crate::common::*;

const WORDS_H: &str = include_str!("../testdata/init/words.h");
const CONFIG_H: &str = include_str!("../testdata/init/config.h");
const CONFIG_C: &str = include_str!("../testdata/init/config.c");
const LISTS_H: &str = include_str!("../testdata/init/lists.h");
const LISTS: &str = include_str!("../testdata/init/lists.c");

fn init(folder: &Path, arguments: &[&str]) -> Run {
    run(Command::new(binaries().join("quagmire")).arg("init").args(arguments).current_dir(folder))
}

/// Writes files into a folder of the scene.
fn project(scene: &Scene, name: &str, files: &[(&str, &str)]) -> PathBuf {
    for (file, text) in files {
        scene.write(&format!("{name}/{file}"), text.as_bytes());
    }
    scene.path(name)
}

/// Asserts that a harness was built and run and that what was printed fuzzes it, typed as it is.
#[track_caller]
fn built_and_fuzzes(folder: &Path, printed: &str) {
    assert!(printed.contains("# built and run: "), "{printed}");
    fuzzes(folder, printed);
}

/// The script that builds the harness for a function.
fn script(folder: &Path, function: &str) -> String {
    fs::read_to_string(folder.join("fuzz-quagmire").join(function).join("build")).expect("a script")
}

/// Types what has been printed, with a short campaign in the place of a long one, and asserts that it has run.
fn fuzzes(folder: &Path, printed: &str) {
    let short = printed.replace("quagmire fuzz ", "quagmire fuzz --execs 200 --seed 1 --no-confirm --quiet --force ");
    assert!(short.contains("--execs 200"), "no command that fuzzes: {printed}");
    shell(folder, &short).succeeded();
    let fuzz = &printed[printed.find("quagmire fuzz ").expect("found above")..];
    let out = fuzz.split(" -o ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an output folder");
    let summary = fs::read_to_string(folder.join(out).join("summary.json")).expect("a summary");
    assert!(summary.contains("\"executions\": 200"), "{summary}");
}

/// Writes a harness for a function, asserts that it was built and run, fuzzes it, and returns its text.
fn harness(folder: &Path, function: &str) -> String {
    let printed = init(folder, &["--function", function]).ended().stdout;
    built_and_fuzzes(folder, &printed);
    let source = printed.split_whitespace().nth(1).expect("a path");
    fs::read_to_string(folder.join(source)).expect("a harness")
}

#[test]
fn functions_and_methods_of_cxx_are_called_by_their_full_names() {
    let scene = Scene::new(&[]);
    let folder = project(&scene, "a header", &[("words.h", WORDS_H), ("tests/one.txt", "an ordinary line\n")]);
    for (name, call) in [
        ("words::of_string", "words::of_string(text, static_cast<words::Mode>(0))"),
        ("of_view", "words::of_view(text)"),
        ("of_bytes", "words::of_bytes(bytes)"),
        ("of_stream", "words::of_stream(stream)"),
        ("of_range", "words::of_range(first, last)"),
        ("Counter::count", ".count(text)"),
        ("Counter::once", "words::Counter::once(text)"),
        ("Calculator::Eval", ".Eval()"),
    ] {
        let text = harness(&folder, name);
        assert!(text.contains(call), "{name}: {text}");
    }
    assert!(!folder.join("fuzz-quagmire/words-of_view/harness.c").exists(), "C++ in a file of C");
}

#[test]
fn objects_are_made_and_freed_and_files_are_in_memory() {
    let scene = Scene::new(&[]);
    let header = CONFIG_H.replace("void tree_free", "struct tree *tree_new(void);\nvoid tree_free");
    let folder = project(
        &scene,
        "config",
        &[
            ("config.h", &header),
            ("config.c", CONFIG_C),
            ("tests/a.conf", "a = (b)\nc\n"),
            ("tests/b.conf", "long = $x\n"),
        ],
    );
    for (name, words) in [
        (
            "config_read_string",
            &["config_init(&object);", "config_read_string(&object, text)", "config_destroy(&object);"][..],
        ),
        ("config_read", &["config_init(&object);", "fmemopen(", "config_read(&object, file)", "fclose(file);"]),
        ("config_read_file", &["config_read_file(&object, path_of(data, size))"]),
        ("config_read_fd", &["config_read_fd(&object, descriptor", "close(descriptor"]),
        ("tree_parse", &["made = tree_parse((const char *)data, size);", "tree_free(made);"]),
        ("tree_visit", &["tree_new();", "tree_visit(object, (const void *)data, size, nothing", "tree_free(object);"]),
        ("config_expand", &["made = config_expand(text);", "free(made);"]),
    ] {
        let text = harness(&folder, name);
        for word in words {
            assert!(text.contains(word), "{name}: no {word} in {text}");
        }
    }
    let seeds = fs::read_dir(folder.join("fuzz-quagmire/tree_parse/seeds")).expect("seeds").count();
    assert_eq!(seeds, 2, "the project's own test files");
}

#[test]
fn what_cannot_be_called_is_refused_with_the_reason_and_a_template() {
    let scene = Scene::new(&[]);
    let seeds = [("tests/a.conf", "a = (b)\nc\n"), ("tests/b.conf", "a = $x\n")];
    let folder = project(&scene, "refused", &[&[("config.h", CONFIG_H), ("config.c", CONFIG_C)], &seeds[..]].concat());
    init(&folder, &["--function", "handle_parse"]).refused(3, &["struct handle *", "makes one", "harness.c"]);
    // the user fills it in, and types the same again
    let path = folder.join("fuzz-quagmire/handle_parse/harness.c");
    let template = fs::read_to_string(&path).expect("a template");
    let call = "static char handle;\n  char text[2] = {0, 0};\n  for (size_t i = 0; i < size; i++) {\n    text[0] = (char)data[i];\n    \
                handle_parse((struct handle *)&handle, text);\n  }";
    let filled: Vec<&str> = template.lines().filter(|line| !line.starts_with("#error")).collect();
    fs::write(&path, filled.join("\n").replace("handle_parse(/* data, size */);", call)).expect("written");
    let printed = init(&folder, &["--function", "handle_parse"]).ended().stdout;
    assert!(printed.contains("# built and run: "), "{printed}");

    init(&folder, &["--function", "config_ignore"])
        .refused(3, &["config_ignore", "ignores its input", "config_ignore/seeds"]);
    init(&folder, &["--function", "nowhere"]).refused(2, &["nowhere", "no header or source"]);
    init(&folder, &["--function", "a b"]).refused(2, &["a b"]);
    init(&folder, &["no/such/folder"]).refused(2, &["no/such/folder"]);
    let broken = project(
        &scene,
        "broken",
        &[("b.h", "#include \"c.h\"\n#include <not/here.h>\nint parse(const char *s);\n"), ("c.h", "")],
    );
    init(&broken, &["--function", "parse"]).refused(3, &["not/here.h", "not found", "CPATH"]);
    let mut without_clang = Command::new(binaries().join("quagmire"));
    without_clang.args(["init", "--function", "config_expand"]).env("QUAGMIRE_LLVM_CONFIG", "/no/llvm-config");
    run(without_clang.current_dir(&folder)).refused(1, &["/no/llvm-config", "quagmire doctor"]);
    let empty = scene.path("empty");
    fs::create_dir(&empty).expect("created");
    init(&empty, &[]).refused(2, &["nothing to build", "CMake"]);
}

#[test]
fn the_function_that_promises_most_is_taken_if_none_is_named() {
    let scene = Scene::new(&[]);
    let header = "#include <stddef.h>\nsize_t doc_length(const char *text);\nint doc_parse(const char *text, size_t n);\nvoid doc_free(void *p);\n";
    let source = "#include \"doc.h\"\n#include <string.h>\nsize_t doc_length(const char *t) { return strlen(t); }\n\
                  int doc_parse(const char *t, size_t n) { int k = 0; for (size_t i = 0; i < n; i++) k += t[i] == '<'; return k; }\n\
                  void doc_free(void *p) { (void)p; }\n";
    let main = "#include \"doc.h\"\nint main(int n, char **words) { return doc_parse(words[0], n > 0); }\n";
    let folder = project(
        &scene,
        "doc",
        &[("doc.h", header), ("doc.c", source), ("main.c", main), ("examples/a.doc", "<a> <b>\n")],
    );
    for arguments in [&[][..], &["doc.h"]] {
        let printed = init(&folder, arguments).ended().stdout;
        let seeds = if arguments.is_empty() { "1 file of examples/ (*.doc)" } else { "1 file kept from before" };
        assert!(printed.contains("doc_parse(const char *text, size_t n)") && printed.contains(seeds), "{printed}");
        fuzzes(&folder, &printed);
    }
    // one that is defined in the program's own source, which a harness includes
    let program = "#include <string.h>\nstatic int count(const char *text) {\n  int k = 0;\n  while (*text)\n    k += *text++ == 'x';\n  return k;\n}\n\
                   int main(int n, char **words) { return n > 1 ? count(words[1]) : 0; }\n";
    let alone = project(&scene, "alone", &[("alone.c", program)]);
    assert!(harness(&alone, "count").contains("#include \"alone.c\""));
}

#[test]
fn a_library_is_built_by_what_is_printed_or_by_init() {
    let scene = Scene::new(&[]);
    let header = "#include \"generated.h\"\nint parse_words(const char *text, SIZE n);\n";
    let source = "#include \"../include/words.h\"\nint parse_words(const char *t, SIZE n) { int k = 0; for (SIZE i = 0; i < n; i++) k += t[i] == ' '; return k; }\n";
    let make = "libwords.a: words.o\n\tar rcs $@ $^\nwords.o: src/words.c include/generated.h\n\t$(CC) -O2 -g -c $<\n\
                include/generated.h: include/generated.h.in\n\tcp $< $@\nclean:\n\trm -f *.o *.a\n";
    let files = [
        ("include/words.h", header),
        ("src/words.c", source),
        ("Makefile", make),
        ("include/generated.h.in", "#define SIZE unsigned long\n"),
    ];
    let folder = project(&scene, "by hand", &files);
    let first = init(&folder, &["--function", "parse_words"]).ended().stdout;
    assert!(
        first.contains("generated.h' file not found; the build makes it") && first.contains("make -j2 CC=quagmire-cc"),
        "{first}"
    );
    // ends with the command that is to be typed then
    let then = shell(&folder, &first).succeeded();
    assert!(then.stdout.contains("# built and run: "), "{then:?}");

    let folder = project(&scene, "by init", &files);
    fuzzes(&folder, &init(&folder, &["--build"]).succeeded().stdout);
    assert!(script(&folder, "parse_words").contains("-name '*.a'"));
}

#[test]
fn what_has_to_be_built_first_is_said_and_the_harness_compiles() {
    let scene = Scene::new(&[]);
    // the source needs what only the build knows
    let source = "#ifndef BUILT\n#error \"by make\"\n#endif\nint parse_it(const char *t) { int k = 0; while (*t) k += *t++ == ' '; return k; }\n";
    let folder = project(
        &scene,
        "unbuilt",
        &[
            ("it.h", "int parse_it(const char *text);\n"),
            ("it.c", source),
            (
                "configure.sh",
                "#!/bin/sh\necho \"CC = $CC -DBUILT\" > Makefile\nprintf 'libit.a: it.o\\n\\tar rcs $@ $^\\n' >> Makefile\n",
            ),
        ],
    );
    let printed = init(&folder, &["--function", "parse_it"]).ended().stdout;
    assert!(
        printed.contains("it compiles; it was not linked") && printed.contains("sh ./configure.sh && make"),
        "{printed}"
    );
    assert!(folder.join("fuzz-quagmire/parse_it/harness.o").is_file());
    fuzzes(&folder, &printed);
    let again = init(&folder, &["--function", "parse_it"]).ended().stdout;
    assert!(again.contains("# built and run: "), "{again}");
}

#[test]
fn old_c_gets_the_option_that_lets_it_pass() {
    let scene = Scene::new(&[]);
    let source = "#include \"old.h\"\nstatic int one(char *a) { return a[0]; }\n\
                  int old_parse(const char *t) { int (*f)(void *) = one; int k = 0; while (*t) k += f((void *)t++); return k; }\n";
    let folder = project(&scene, "old", &[("old.h", "int old_parse(const char *text);\n"), ("old.c", source)]);
    let printed = init(&folder, &["--function", "old_parse"]).ended().stdout;
    let is_let_pass = script(&folder, "old_parse").contains("-Wno-incompatible-function-pointer-types");
    assert_eq!(is_let_pass, printed.contains("old C that this clang refuses"), "{printed}");
    built_and_fuzzes(&folder, &printed);
}

#[test]
fn a_program_that_a_build_makes_is_named_after_it() {
    let scene = Scene::new(&[]);
    let lines = "#include <stdio.h>\nint main(int n, char **v) { FILE *f = n > 1 ? fopen(v[1], \"rb\") : stdin; int c, k = 0;\n\
                 while (f && (c = getc(f)) != EOF) k += c == '\\n'; return k > 1000; }\n";
    let make =
        "CC = cc\nall: bin/lines\nbin/lines: lines.c\n\tmkdir -p bin && $(CC) lines.c -o $@\nclean:\n\trm -rf bin\n";
    let folder =
        project(&scene, "lines", &[("lines.c", lines), ("Makefile", make), ("tests/one.txt", "an ordinary line\n")]);
    let first = init(&folder, &[]).ended().stdout;
    assert!(first.contains("# then again") && !first.contains("quagmire fuzz"), "{first}");
    let second = shell(&folder, &first).succeeded();
    let printed = &second.stdout[second.stdout.rfind("# seeds").expect("seeds")..];
    assert!(printed.contains(" -- ./bin/lines @@\n"), "{printed}");
    fuzzes(&folder, printed);
}

#[test]
fn crates_of_rust_name_their_targets() {
    let scene = Scene::new(&[]);
    let fuzz = "[package]\nname = \"x-fuzz\"\n[package.metadata]\ncargo-fuzz = true\n[[bin]]\nname = \"decode\"\npath = \"fuzz_targets/decode.rs\"\n";
    let workspace = project(
        &scene,
        "workspace",
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"one\"]\n"),
            ("one/Cargo.toml", "[package]\n"),
            ("one/fuzz/Cargo.toml", fuzz),
        ],
    );
    let printed = init(&workspace, &[]).ended().stdout;
    assert!(printed.contains("scripts/cargo-fuzz fuzz --fuzz-dir one/fuzz decode -i "), "{printed}");
    let plain =
        project(&scene, "plain", &[("Cargo.toml", "[package]\nname = \"x\"\n"), ("src/main.rs", "fn main() {}\n")]);
    let plain = init(&plain, &[]).ended().stdout;
    assert!(plain.contains("cargo fuzz init"), "{plain}");
    for text in [printed, plain] {
        assert!(!text.contains("PROGRAM") && !text.contains("TARGET"), "{text}");
    }
}

#[test]
fn harnesses_of_the_project_are_built_and_run_and_those_of_campaigns_are_not() {
    let scene = Scene::new(&[]);
    let harness = "#include \"../sum.h\"\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { sum(data, size); return 0; }\n";
    let folder = project(
        &scene,
        "with a harness",
        &[
            ("sum.h", "#include <stddef.h>\nint sum(const void *data, size_t n);\n"),
            (
                "sum.c",
                "#include \"sum.h\"\nint sum(const void *d, size_t n) { int k = 0; while (n--) k += ((const char *)d)[n] == 'a'; return k; }\n",
            ),
            ("fuzz/fuzz_sum.c", harness),
            ("slowness/copy.c", harness),
            ("slowness/summary.json", "{}"),
            ("slowness/degradations/one", "a"),
            ("corpus/one", "an ordinary line\n"),
        ],
    );
    let printed = init(&folder, &[]).ended().stdout;
    assert!(
        printed.contains("# the project's harness fuzz/fuzz_sum.c") && printed.contains("1 file of corpus/"),
        "{printed}"
    );
    assert!(!printed.contains("slowness"), "{printed}");
    fuzzes(&folder, &printed);
}

#[test]
fn build_systems_are_recognised_and_what_is_printed_builds() {
    for (system, needs) in [("cmake", "cmake"), ("meson", "ninja"), ("autoconf", "libtoolize")] {
        if !has_program(needs, needs) {
            continue;
        }
        let scene = Scene::new(&[]);
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/tests/testdata").join(system);
        let folder = scene.path("project");
        run(Command::new("cp").arg("-r").arg(from).arg(&folder)).ended();
        let printed = init(&folder, &[]).ended().stdout;
        let build = printed.split("# build with the wrapper").nth(1).expect("commands that build");
        let build = build.lines().skip(1).take_while(|line| !line.starts_with('#') && !line.starts_with("sh "));
        shell(&folder, &build.collect::<Vec<_>>().join("\n")).succeeded();
        let find =
            "find . -type f -perm -1 ! -name '*.so*' -exec nm {} \\; 2>/dev/null | grep -c ' __quagmire_register$'";
        let counted = shell(&folder, find).stdout;
        assert_ne!(counted.trim(), "0", "{system}: no program that counts: {printed}");
    }
    let scene = Scene::new(&[]);
    let program = ("main.c", "int main(void) { return 0; }\n");
    let bazel = project(&scene, "bazel", &[program, ("MODULE.bazel", ""), ("BUILD.bazel", "")]);
    let printed = init(&bazel, &[]).ended().stdout;
    assert!(printed.contains("bazel build --repo_env=CC="), "{printed}");
}

#[test]
fn a_harness_of_the_project_that_ignores_its_input_gives_way_to_a_function() {
    let scene = Scene::new(&[]);
    let harness = "#include <stdint.h>\n#include <stddef.h>\nint LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { (void)data; (void)size; return 0; }\n";
    let files = [("lists.h", LISTS_H), ("lists.c", LISTS), ("fuzz/idle.c", harness), ("corpus/one", "(a, (b, c))\n")];
    let folder = project(&scene, "idle harness", &files);
    let printed = init(&folder, &[]).ended().stdout;
    assert!(printed.contains("the project's harness fuzz/idle.c: runs are all alike"), "{printed}");
    assert!(printed.contains("gives its input to lists_parse("), "{printed}");
    fuzzes(&folder, &printed);
    // and if there is nothing else, that is said with what to do
    let alone = project(&scene, "nothing but it", &[("fuzz/idle.c", harness), ("corpus/one", "(a)\n")]);
    init(&alone, &[]).refused(3, &["fuzz/idle.c", "runs are all alike", "--function"]);
}

#[test]
fn programs_read_a_file_or_their_standard_input() {
    let scene = Scene::new(&[]);
    let lists = LISTS.replace("int lists_parse", "static int lists_parse");
    let main = |read: &str| {
        format!(
            "#include <stdio.h>\n{lists}\nint main(int n, char **words) {{\n  char text[4096];\n  FILE *from = {read};\n  \
                 (void)n; (void)words;\n  return from ? lists_parse(text, fread(text, 1, sizeof text, from)) > 99 : 1;\n}}\n"
        )
    };
    for (name, read, words) in [
        ("of a file", "n > 1 ? fopen(words[1], \"rb\") : 0", " -- ./lists @@\n"),
        ("of stdin", "stdin", " -- ./lists\n"),
    ] {
        let folder = project(&scene, name, &[("lists.c", &main(read)), ("tests/one.txt", "(a, (b, c))\n")]);
        let printed = init(&folder, &[]).ended().stdout;
        assert!(printed.contains(words), "{name}: {printed}");
        fuzzes(&folder, &printed);
    }
    let deaf = project(&scene, "deaf", &[("deaf.c", "int main(void) { return 0; }\n"), ("tests/one.txt", "(a)\n")]);
    init(&deaf, &[]).refused(3, &["deaf executes", "does not depend on the 1 seed"]);
}

#[test]
fn builds_that_fail_are_tried_in_other_ways() {
    let scene = Scene::new(&[]);
    let library = "liblists.a: lists.o\n\tar rcs $@ $^\n";
    for (name, files, said) in [
        // two jobs race for a header
        (
            "order",
            vec![(
                "Makefile",
                "all: liblists.a\nliblists.a: size.h lists.o\n\tar rcs $@ lists.o\nsize.h:\n\tsleep 1\n\techo '#define SIZE 1' > $@\n\
                 lists.o: lists.c\n\t$(CC) -include size.h -g -c $<\n",
            )],
            "make CC=quagmire-cc",
        ),
        (
            "another system",
            vec![("CMakeLists.txt", "message(FATAL_ERROR \"not today\")\n"), ("Makefile", library)],
            "make -j2 CC=quagmire-cc",
        ),
        (
            "warnings",
            vec![("Makefile", &*format!("{library}lists.o: lists.c\n\t$(CC) -g -c $< -Weverything -Werror\n"))],
            "-Wno-error",
        ),
        (
            "below",
            vec![(
                "project/gnu/configure",
                "#!/bin/sh\necho \"CC = $CC\" > Makefile\nprintf 'lists.o: ../../lists.c\\n\\t$(CC) -g -c $<\\n' >> Makefile\n",
            )],
            "(cd project/gnu && CC=quagmire-cc",
        ),
    ] {
        let all = [&files[..], &[("lists.h", LISTS_H), ("lists.c", LISTS), ("tests/one.txt", "(a, b)\n")]].concat();
        let folder = project(&scene, name, &all);
        let built = init(&folder, &["--build"]).succeeded();
        assert!(built.stderr.contains(said) && !built.stdout.contains("compiled here"), "{name}: {built:?}");
        built_and_fuzzes(&folder, &built.stdout);
    }
    let fails = project(&scene, "fails", &[("Makefile", "all:\n\tno-such-tool\n"), ("a.c", LISTS)]);
    let refused = init(&fails, &["--build"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("the build fails: make: no-such-tool: No such file"), "{refused:?}");
}

#[test]
fn options_are_those_of_the_compilation_database() {
    if !has_program("cmake", "cmake") {
        return;
    }
    let scene = Scene::new(&[]);
    let cmake = "cmake_minimum_required(VERSION 3.13)\nproject(lists C)\nadd_library(lists deep/er/lists.c)\n\
                 target_compile_definitions(lists PUBLIC NEEDED)\ntarget_include_directories(lists PUBLIC hidden)\n";
    let header = "#ifndef NEEDED\n#error \"only with the definition\"\n#endif\n#include <stddef.h>\nint lists_parse(const char *text, size_t n);\n";
    let folder = project(
        &scene,
        "database",
        &[
            ("CMakeLists.txt", cmake),
            ("deep/er/lists.h", header),
            ("deep/er/lists.c", LISTS),
            ("tests/one.txt", "(a)\n"),
        ],
    );
    let printed = init(&folder, &["--build"]).stdout;
    assert!(script(&folder, "lists_parse").contains("-DNEEDED"), "{printed}");
    built_and_fuzzes(&folder, &printed);
}

#[test]
fn the_input_comes_through_the_object_that_a_function_works_on() {
    let scene = Scene::new(&[]);
    let header = "int feed_open(const char *path, const void **feed_handle);\nint feed_close(const void *feed_handle);\n\
                  int feed_parse(const void *feed_handle, void *user);\n\
                  struct names;\nstruct names *names_create(char *, int);\nint names_loop(struct names *);\nvoid names_free(struct names *);\n";
    let source = "#include \"feed.h\"\n#include <stdio.h>\n#include <stdlib.h>\nstruct names { FILE *from; };\n\
                  static int lines(FILE *from) { int c, k = 0; while ((c = getc(from)) != EOF) k += c == '\\n'; return k; }\n\
                  int feed_open(const char *path, const void **made) { *made = fopen(path, \"rb\"); return *made != 0; }\n\
                  int feed_close(const void *feed) { return fclose((FILE *)feed); }\n\
                  int feed_parse(const void *feed, void *user) { return user ? -1 : lines((FILE *)feed); }\n\
                  struct names *names_create(char *fname, int flags) {\n  struct names *made = malloc(sizeof *made);\n  \
                  if (flags || !(made->from = fopen(fname, \"r\"))) {\n    free(made);\n    return 0;\n  }\n  return made;\n}\n\
                  int names_loop(struct names *names) { return lines(names->from); }\n\
                  void names_free(struct names *names) { fclose(names->from); free(names); }\n";
    let folder = project(&scene, "feed", &[("feed.h", header), ("feed.c", source), ("tests/one.txt", "a\nb\n")]);
    for (name, words) in [
        ("feed_parse", ["feed_open(path_of(data, size), &object);", "feed_parse(object, NULL)", "feed_close(object);"]),
        ("names_loop", ["names_create((char *)path_of(data, size), 0)", "names_loop(object)", "names_free(object);"]),
    ] {
        let text = harness(&folder, name);
        for word in words {
            assert!(text.contains(word), "{name}: no {word} in {text}");
        }
    }
}
