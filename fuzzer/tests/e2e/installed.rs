//! `scripts/install`, `scripts/deb`, `quagmire setup` and `quagmire doctor`: what is installed works without the checkout.

use std::os::unix::fs::PermissionsExt;

use crate::common::*;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the checkout")
}

fn script(name: &str) -> Command {
    let mut command = Command::new(checkout().join("scripts").join(name));
    // the binaries that the other tests use stay as they are
    command.arg("--no-build");
    command
}

/// Runs a script of the shell in the scratch folder, where the checkout is an empty folder; nothing if this system cannot
/// do that.
fn without_checkout(scene: &Scene, lines: &str) -> Option<Run> {
    let hidden = "mount -t tmpfs none \"$1\" && test -z \"$(ls -A \"$1\")\" || exit 99; shift; exec sh -euc \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", hidden, "sh"]).arg(checkout()).arg(lines);
    command.current_dir(scene.path("")).env("QUAGMIRE_CACHE", scene.path("cache"));
    for variable in ["QUAGMIRE_BIN", "QUAGMIRE_ENGINE", "QUAGMIRE_PROGRAM", "QUAGMIRE_COMMAND"] {
        command.env_remove(variable);
    }
    let run = run(&mut command);
    if run.code == Some(99) || run.stderr.contains("unshare failed") {
        skip("mount", "user namespaces, or root, let a test hide the checkout");
        return None;
    }
    Some(run)
}

/// Builds a harness and a program with what is in `bin`, and fuzzes both.
fn works(scene: &Scene, bin: &str) {
    fs::copy(testdata("quadratic.c"), scene.path("harness.c")).expect("copied");
    scene.write(
        "program.c",
        b"#include <stdio.h>\nint main(void) { int c, n = 0; while ((c = getchar()) == 'a') n++; return n == 7; }\n",
    );
    let lines = format!(
        "PATH=\"{bin}:$PATH\"
        quagmire-cc -g -O1 -fsanitize=fuzzer harness.c -o harness
        quagmire fuzz -i seeds -o out --execs 3000 --seed 1 --max-size 100 --no-confirm --quiet -- ./harness
        quagmire-cc -g -O1 program.c -o program
        quagmire fuzz -i seeds -o out-program --execs 300 --seed 1 --quiet -- ./program
        quagmire doctor --json > doctor.json"
    );
    let Some(run) = without_checkout(scene, &lines) else { return };
    run.ended();
    assert_eq!(scene.summary()["executions"], 3000);
    assert!(scene.files("out/queue").len() > 3);
    let looks: Value = serde_json::from_slice(&scene.files("")["doctor.json"]).expect("JSON");
    let state = |what: &str| array(&looks).iter().find(|look| look["what"] == what).map(|look| &look["state"]);
    assert_eq!((state("compiler"), state("engine")), (Some(&"ok".into()), Some(&"ok".into())), "{looks}");
}

#[test]
fn an_installed_copy_works_without_the_checkout() {
    let scene = Scene::new(&[("plain", b"hello")]);
    let prefix = scene.path("a prefix");
    let done = run(script("install").arg("--prefix").arg(&prefix)).ended();
    assert!(done.stdout.contains("export PATH="), "{done:?}");
    works(&scene, "$PWD/a prefix/bin");
    let page = fs::read_to_string(prefix.join("share/man/man1/quagmire-fuzz.1")).expect("a page");
    assert!(page.starts_with(".ie") && page.contains("\\-\\-max\\-size"), "{page}");
    // what messages name
    let shared = prefix.join("share/quagmire");
    for file in
        ["docs/src/getting-started.md", "corpus/grammars/json.json", "scripts/ci/slowness", "scripts/install-deps"]
    {
        assert!(shared.join(file).is_file(), "{file}");
    }
    let cargo_fuzz = run(Command::new(shared.join("scripts/cargo-fuzz")).arg("fuzz").env_remove("QUAGMIRE_BIN"));
    assert!(!cargo_fuzz.stderr.contains("no libquagmire_engine.a"), "{cargo_fuzz:?}");
    run(Command::new("bash").arg("-n").arg(prefix.join("share/bash-completion/completions/quagmire"))).ended();
    // what the completions of bash offer
    let ask =
        ". \"$1\"; COMP_WORDS=(quagmire min); COMP_CWORD=1; _quagmire quagmire min quagmire; echo \"${COMPREPLY[*]}\"";
    let offered = run(Command::new("bash")
        .args(["-c", ask, "bash"])
        .arg(prefix.join("share/bash-completion/completions/quagmire")));
    assert_eq!(offered.ended().stdout, "minimize mine\n");
}

#[test]
fn a_package_for_debian_is_what_is_installed() {
    let scene = Scene::new(&[("plain", b"hello")]);
    let package = scene.path("quagmire.deb");
    run(script("deb").arg(&package)).ended();
    let field = |name: &str| run(Command::new("dpkg-deb").arg("-f").arg(&package).arg(name)).ended().stdout;
    assert_eq!(field("Package"), "quagmire\n");
    assert!(field("Version").starts_with(env!("CARGO_PKG_VERSION")));
    assert!(field("Depends").contains("clang"), "{}", field("Depends"));
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(scene.path("root"))).ended();
    works(&scene, "$PWD/root/usr/bin");
}

#[test]
fn folders_that_cannot_be_installed_to_are_refused_and_doctor_says_what_is_missing() {
    let scene = Scene::new(&[]);
    scene.write("file", b"");
    let refused = run(script("install").arg("--prefix").arg(scene.path("file/below")));
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.stderr.contains("no right to write") && refused.stderr.contains("--prefix"), "{refused:?}");
    for wrong in [&["--prefix"][..], &["--prefix", ""], &["--prefux", "x"]] {
        let refused = run(script("install").args(wrong).current_dir(scene.path("")));
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
    }
    let folder = scene.path("empty");
    fs::create_dir(&folder).expect("created");
    let sick =
        run(scene.quagmire(&["doctor"]).env("PATH", &folder).env("QUAGMIRE_LLVM_CONFIG", "/nowhere/llvm-config"));
    assert_eq!(sick.code, Some(1), "{sick:?}");
    assert!(sick.stdout.contains("MISSING  compiler"), "{sick:?}");
    sick.refused(1, &["compiler", "engine"]);
    let well = run(&mut scene.quagmire(&["doctor"])).ended();
    assert!(well.stdout.starts_with("ok       compiler"), "{well:?}");
}

#[test]
fn what_cargo_does_not_install_is_set_up_once() {
    let scene = Scene::new(&[]);
    for folder in ["bin", "tools", "none"] {
        fs::create_dir(scene.path(folder)).expect("created");
    }
    for name in ["quagmire", "quagmire-cc", "quagmire-cxx"] {
        copy_program(&binaries().join(name), &scene.path("bin").join(name));
    }
    let with_cargo = |script: &str| {
        let cargo = scene.write("tools/cargo", format!("#!/bin/sh\n{script}\n").as_bytes());
        fs::set_permissions(cargo, fs::Permissions::from_mode(0o755)).expect("changed");
    };
    let setup = |tools: &str| {
        let mut command = Command::new(scene.path("bin/quagmire"));
        command.arg("setup").current_dir(scene.path("")).env("XDG_DATA_HOME", scene.path("data"));
        command.env("PATH", format!("{}:/usr/bin:/bin", scene.path(tools).display()));
        run(command.env_remove("QUAGMIRE_ENGINE").env_remove("CARGO"))
    };
    let link = || fs::read_link(scene.path("bin/quagmire-c++")).expect("a link");
    with_cargo("echo 'error: no network' >&2; echo more >&2; exit 101");
    setup("tools").refused(1, &["cannot fetch", "(no network)", "crates.io", "QUAGMIRE_ENGINE"]);
    assert_eq!(link(), Path::new("quagmire-cxx"));
    with_cargo("test $1 = fetch || exit 101");
    setup("tools").refused(1, &["messages are above", "quagmire setup again"]);
    with_cargo(
        "test $1 = fetch || { mkdir -p target/release && cat Cargo.toml lib.rs > target/release/libquagmire.a; }",
    );
    let done = setup("tools").ended();
    let made = scene.path("data/quagmire").join(env!("CARGO_PKG_VERSION")).join("libquagmire.a");
    assert!(done.stdout.contains(&format!("engine: {}", made.display())), "{done:?}");
    assert!(fs::read_to_string(&made).expect("the engine").contains(concat!("\"=", env!("CARGO_PKG_VERSION"), "\"")));
    assert_eq!(fs::read_dir(scene.path("data/quagmire")).expect("a folder").count(), 1, "what was built is removed");
    with_cargo("exit 1");
    assert_eq!(setup("tools").ended().stdout.lines().count(), 1, "it is there");
    // the compiler finds it, or says what builds it
    let compile = || {
        let mut command = Command::new(scene.path("bin/quagmire-cc"));
        command.args(["-###", "-fsanitize=fuzzer"]).arg(testdata("quadratic.c")).current_dir(scene.path(""));
        run(command.env("XDG_DATA_HOME", scene.path("data")).env_remove("QUAGMIRE_ENGINE"))
    };
    assert_eq!(compile().code, Some(0));
    fs::remove_file(&made).expect("removed");
    assert!(compile().stderr.contains("run quagmire setup"));
    if !Path::new("/usr/bin/cargo").exists() {
        setup("none").refused(1, &["cannot start cargo", "install Rust"]);
    }
}

#[test]
fn commands_of_quagmire_print_their_completions_and_write_their_pages() {
    let scene = Scene::new(&[]);
    for shell in ["bash", "zsh", "fish"] {
        let printed = run(&mut scene.quagmire(&["completions", shell])).ended();
        assert!(printed.stdout.contains("minimize"), "{shell}");
    }
    run(&mut scene.quagmire(&["completions", "csh"])).refused(2, &["bash, zsh, fish"]);
    scene.write("taken", b"");
    run(&mut scene.quagmire(&["man", "taken"])).refused(1, &["taken"]);
    run(&mut scene.quagmire(&["man", "pages"])).ended();
    let pages = scene.files("pages");
    assert!(pages.len() > 12 && pages.contains_key("quagmire-mutants-score.1"), "{:?}", pages.keys());
}
