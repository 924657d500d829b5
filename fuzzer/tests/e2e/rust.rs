//! Targets of cargo-fuzz (`harnesses/rust`), as `scripts/cargo-fuzz` builds and runs them.

use crate::common::*;

/// Folder of the project.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it exists")
}

/// Folder in which targets are built.
fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust")
}

/// Command `scripts/cargo-fuzz COMMAND` for a target of `harnesses/rust`.
fn script(command: &str, target: &str) -> Command {
    let mut script = Command::new(project().join("scripts/cargo-fuzz"));
    script.env("QUAGMIRE_BIN", binaries()).env("CARGO_TARGET_DIR", target_folder());
    script.args([command, "--fuzz-dir"]).arg(project().join("harnesses/rust")).arg(target);
    script
}

/// Builds the targets, and returns the path of one; `None` if cargo-fuzz may be missing.
#[track_caller]
fn built(target: &str) -> Option<PathBuf> {
    static BUILT: LazyLock<bool> = LazyLock::new(|| {
        let path = std::env::var("PATH").expect("a path");
        let path = format!("{path}:{}", project().join("target/tools/bin").display());
        if run(Command::new("cargo").args(["fuzz", "--version"]).env("PATH", path)).code != Some(0) {
            return false;
        }
        for target in ["json5", "markdown", "ends"] {
            assert!(script("fuzz", target).arg("--help").status().expect("it starts").success(), "{target}");
        }
        true
    });
    if !*BUILT {
        skip("cargo-fuzz", "scripts/install-deps --test installs it");
        return None;
    }
    let version = run(Command::new("rustc").arg("-vV")).ended().stdout;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    Some(target_folder().join(host).join("release").join(target))
}

fn seed(name: &str) -> Vec<u8> {
    fs::read(project().join("corpus").join(name)).expect("a seed")
}

#[test]
fn one_command_fuzzes_a_crate_and_names_the_slow_function_with_its_line() {
    let scene = Scene::new(&[("document.json5", &seed("rust-json5/document.json5"))]);
    let Some(_) = built("json5") else { return };
    // a third of all seeds take more than 20,000 executions
    let mut fuzz = script("fuzz", "json5");
    fuzz.args("-i seeds -o out --execs 60000 --seed 1 --max-size 4000".split(' ')).current_dir(scene.path("."));
    let fuzzed = run(&mut fuzz).succeeded();
    assert!(fuzzed.stderr.contains("counts are exact") && !fuzzed.stderr.contains("build it with"), "{fuzzed:#?}");
    let summary = scene.summary();
    assert_eq!(
        (number(&summary["executions"]), &summary["target"]["instrumentation"]),
        (60000, &"sancov-widened".into())
    );
    let findings = array(&summary["findings"]);
    let is_slow = |finding: &&Value| finding["hot_function"] == "json5::error::Position::from_offset";
    let slow = findings.iter().find(is_slow).unwrap_or_else(|| panic!("no slow input: {summary:#}"));
    assert!(slow["hot_location"].as_str().is_some_and(|place| place.contains("/json5-1.3.7/src/")), "{slow:#}");
}

#[test]
fn costs_of_a_crate_repeat_and_its_functions_have_readable_names_and_lines() {
    let page = seed("rust-markdown/page.md");
    let scene = Scene::new(&[("1", &page), ("2", &page.repeat(3)), ("3", &page)]);
    let Some(markdown) = built("markdown") else { return };
    let inputs = ["1", "2", "3"].map(|name| scene.path(&format!("seeds/{name}")));
    let inputs = scene.replay(&markdown, "-n 3", &inputs.each_ref().map(PathBuf::as_path));
    let edges = [0, 1, 2].map(|input: usize| number(&inputs[input]["costs"]["edges"]));
    assert!(edges[0] == edges[2] && edges[1] > 2 * edges[0], "{edges:?}");
    for input in &inputs {
        assert_eq!(input["instructions_range"][0], input["instructions_range"][1], "{input:#}");
    }
    let functions = array(&inputs[0]["functions"]);
    let text = |function: &Value, key: &str| function[key].as_str().unwrap_or_default().to_owned();
    let of_crate = functions.iter().filter(|function| text(function, "function").starts_with("pulldown_cmark::"));
    let mut of_crate = of_crate.map(|function| text(function, "location"));
    assert!(of_crate.any(|place| place.contains("/pulldown-cmark-0.13.6/src/")), "{functions:#?}");
    assert!(!functions.iter().any(|function| text(function, "function").starts_with("_R")), "{functions:#?}");
}

#[test]
fn panics_overflows_of_the_stack_aborts_and_exits_are_crashes() {
    let ends: [(&str, &[u8], &str); 5] = [
        ("panic", b"p", "panicked at"),
        ("index", b"i", "index out of bounds"),
        ("overflow", b"o", "deadly signal"),
        ("abort", b"a", "deadly signal"),
        ("exit", b"e", "fuzz target exited"),
    ];
    let mut scene = Scene::new(&[("fine", b"fine")]);
    let Some(target) = built("ends") else { return };
    for (name, bytes, message) in ends {
        let input = scene.write(&format!("inputs/{name}"), bytes);
        let ran = run(Command::new(&target).arg("-runs=1").arg(input));
        assert!(ran.code == Some(77) && ran.stderr.contains(message), "{name}: {ran:#?}");
    }
    scene = Scene::new(&ends.map(|(name, bytes, _)| (name, bytes)));
    scene.write("seeds/fine", b"fine");
    scene.fuzz(&target, "--execs 100 --seed 1 --no-confirm").succeeded();
    let faults = scene.files("out/faults");
    for (name, ..) in ends {
        assert!(faults.keys().any(|file| file.ends_with(&format!(",orig_{name}"))), "{name}: {:?}", faults.keys());
    }
}

#[test]
fn cargo_fuzz_run_takes_flags_of_libfuzzer_as_ever() {
    let scene = Scene::new(&[("fine", b"fine"), ("good", b"good")]);
    let Some(_) = built("ends") else { return };
    // debug assertions are on, so that it is built once more
    assert!(script("build", "ends").status().expect("it starts").success());
    let ran = run(script("run", "ends").arg(scene.path("seeds")).args(["--", "-runs=0"]));
    assert!(ran.code == Some(0) && ran.stderr.contains("Done 2 runs"), "{ran:#?}");
    let unknown = run(&mut Command::new(project().join("scripts/cargo-fuzz")));
    assert!(unknown.code == Some(2) && unknown.stderr.contains("fuzz, run, build"), "{unknown:#?}");
}
