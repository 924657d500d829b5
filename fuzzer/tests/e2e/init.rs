//! `quagmire init`: the harness that it writes is built and runs, and what it prints fuzzes it, typed as it is.

use crate::common::*;

fn init(folder: &Path, arguments: &[&str]) -> Run {
    run(Command::new(binaries().join("quagmire")).arg("init").args(arguments).current_dir(folder))
}

/// Copies projects of `testdata/init` into one folder of the scene.
fn project(scene: &Scene, parts: &[&str]) -> PathBuf {
    let folder = scene.path(parts.last().expect("a project"));
    fs::create_dir_all(&folder).expect("created");
    for part in parts {
        run(Command::new("cp").arg("-rT").arg(testdata("init").join(part)).arg(&folder)).ended();
    }
    folder
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
    let folder = project(&scene, &["a header"]);
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
    let folder = project(&scene, &["config"]);
    // one that makes an object
    let header = fs::read_to_string(folder.join("config.h")).expect("a header");
    let header = header.replace("void tree_free", "struct tree *tree_new(void);\nvoid tree_free");
    fs::write(folder.join("config.h"), header).expect("written");
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
    let folder = project(&scene, &["config"]);
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
    let broken = project(&scene, &["broken"]);
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
    let folder = project(&scene, &["doc"]);
    for arguments in [&[][..], &["doc.h"]] {
        let printed = init(&folder, arguments).ended().stdout;
        let seeds = if arguments.is_empty() { "1 file of examples/ (*.doc)" } else { "1 file kept from before" };
        assert!(printed.contains("doc_parse(const char *text, size_t n)") && printed.contains(seeds), "{printed}");
        fuzzes(&folder, &printed);
    }
    // one that is defined in the program's own source, which a harness includes
    let alone = project(&scene, &["alone"]);
    assert!(harness(&alone, "count").contains("#include \"alone.c\""));
}

#[test]
fn a_library_is_built_by_what_is_printed_or_by_init() {
    let scene = Scene::new(&[]);
    let folder = project(&scene, &["words"]);
    let first = init(&folder, &["--function", "parse_words"]).ended().stdout;
    assert!(first.contains("generated.h' file not found; the build makes it"), "{first}");
    assert!(first.contains("make -j2 CC=quagmire-cc"), "{first}");
    // ends with the command that is to be typed then
    let then = shell(&folder, &first).succeeded();
    assert!(then.stdout.contains("# built and run: "), "{then:?}");

    let scene = Scene::new(&[]);
    let folder = project(&scene, &["words"]);
    fuzzes(&folder, &init(&folder, &["--build"]).succeeded().stdout);
    assert!(script(&folder, "parse_words").contains("-name '*.a'"));
}

#[test]
fn what_has_to_be_built_first_is_said_and_the_harness_compiles() {
    let scene = Scene::new(&[]);
    // the source needs what only the build knows
    let folder = project(&scene, &["unbuilt"]);
    let printed = init(&folder, &["--function", "parse_it"]).ended().stdout;
    assert!(printed.contains("it compiles; it was not linked"), "{printed}");
    assert!(printed.contains("sh ./configure.sh && make"), "{printed}");
    assert!(folder.join("fuzz-quagmire/parse_it/harness.o").is_file());
    fuzzes(&folder, &printed);
    let again = init(&folder, &["--function", "parse_it"]).ended().stdout;
    assert!(again.contains("# built and run: "), "{again}");
}

#[test]
fn old_c_gets_the_option_that_lets_it_pass() {
    let scene = Scene::new(&[]);
    let folder = project(&scene, &["old"]);
    let printed = init(&folder, &["--function", "old_parse"]).ended().stdout;
    let is_let_pass = script(&folder, "old_parse").contains("-Wno-incompatible-function-pointer-types");
    assert_eq!(is_let_pass, printed.contains("old C that this clang refuses"), "{printed}");
    built_and_fuzzes(&folder, &printed);
}

#[test]
fn a_program_that_a_build_makes_is_named_after_it() {
    let scene = Scene::new(&[]);
    let folder = project(&scene, &["lines"]);
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
    let workspace = project(&scene, &["workspace"]);
    let printed = init(&workspace, &[]).ended().stdout;
    assert!(printed.contains("scripts/cargo-fuzz fuzz --fuzz-dir one/fuzz decode -i "), "{printed}");
    let plain = project(&scene, &["plain"]);
    let plain = init(&plain, &[]).ended().stdout;
    assert!(plain.contains("cargo fuzz init"), "{plain}");
    for text in [printed, plain] {
        assert!(!text.contains("PROGRAM") && !text.contains("TARGET"), "{text}");
    }
}

#[test]
fn harnesses_of_the_project_are_built_and_run_and_those_of_campaigns_are_not() {
    let scene = Scene::new(&[]);
    let folder = project(&scene, &["with a harness"]);
    let printed = init(&folder, &[]).ended().stdout;
    assert!(printed.contains("# the project's harness fuzz/fuzz_sum.c"), "{printed}");
    assert!(printed.contains("1 file of corpus/"), "{printed}");
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
    let bazel = project(&scene, &["bazel"]);
    let printed = init(&bazel, &[]).ended().stdout;
    assert!(printed.contains("bazel build --repo_env=CC="), "{printed}");
}

#[test]
fn a_harness_of_the_project_that_ignores_its_input_gives_way_to_a_function() {
    let scene = Scene::new(&[]);
    let folder = project(&scene, &["lists", "idle"]);
    let printed = init(&folder, &[]).ended().stdout;
    assert!(printed.contains("the project's harness fuzz/idle.c: runs are all alike"), "{printed}");
    assert!(printed.contains("gives its input to lists_parse("), "{printed}");
    fuzzes(&folder, &printed);
    // and if there is nothing else, that is said with what to do
    let scene = Scene::new(&[]);
    let alone = project(&scene, &["idle"]);
    init(&alone, &[]).refused(3, &["fuzz/idle.c", "runs are all alike", "--function"]);
}

#[test]
fn programs_read_a_file_or_their_standard_input() {
    let scene = Scene::new(&[]);
    let lists = fs::read_to_string(testdata("init/lists/lists.c")).expect("testdata");
    let lists = lists.replace("int lists_parse", "static int lists_parse");
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
        scene.write(&format!("{name}/lists.c"), main(read).as_bytes());
        scene.write(&format!("{name}/tests/one.txt"), b"(a, (b, c))\n");
        let folder = scene.path(name);
        let printed = init(&folder, &[]).ended().stdout;
        assert!(printed.contains(words), "{name}: {printed}");
        fuzzes(&folder, &printed);
    }
    let deaf = project(&scene, &["deaf"]);
    init(&deaf, &[]).refused(3, &["deaf executes", "does not depend on the 1 seed"]);
}

#[test]
fn builds_that_fail_are_tried_in_other_ways() {
    let scene = Scene::new(&[]);
    for (name, said) in [
        ("order", "make CC=quagmire-cc"),
        ("another system", "make -j2 CC=quagmire-cc"),
        ("warnings", "-Wno-error"),
        ("below", "(cd project/gnu && CC=quagmire-cc"),
    ] {
        let folder = project(&scene, &["lists", name]);
        let built = init(&folder, &["--build"]).succeeded();
        assert!(built.stderr.contains(said) && !built.stdout.contains("compiled here"), "{name}: {built:?}");
        built_and_fuzzes(&folder, &built.stdout);
    }
    let fails = project(&scene, &["lists", "fails"]);
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
    let folder = project(&scene, &["database"]);
    fs::copy(testdata("init/lists/lists.c"), folder.join("deep/er/lists.c")).expect("copied");
    let printed = init(&folder, &["--build"]).stdout;
    assert!(script(&folder, "lists_parse").contains("-DNEEDED"), "{printed}");
    built_and_fuzzes(&folder, &printed);
}

#[test]
fn the_input_comes_through_the_object_that_a_function_works_on() {
    let scene = Scene::new(&[]);
    let folder = project(&scene, &["feed"]);
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
