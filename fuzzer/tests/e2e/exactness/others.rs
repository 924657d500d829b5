//! Counts of other tools, which share no code with quagmire: clang's profile (llvm-cov) and gcc's (gcov).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Counts of functions by name, and of the lines of one source by number.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) functions: BTreeMap<String, u64>,
    pub(crate) lines: BTreeMap<u64, u64>,
}

/// Runs a shell command in a folder, asserts that it succeeds, and returns its output.
#[track_caller]
pub(crate) fn output(folder: &Path, command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().expect("a shell");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Counts of clang's profile for a program that takes no input.
pub(crate) fn clang(folder: &Path, llvm: u32, flags: &str, source: &str) -> Counts {
    output(folder, &format!("clang-{llvm} {flags} -fprofile-instr-generate -fcoverage-mapping {source} -o by-clang"));
    output(folder, "LLVM_PROFILE_FILE=clang.raw ./by-clang");
    output(folder, &format!("llvm-profdata-{llvm} merge clang.raw -o clang.profile"));
    let export = format!("llvm-cov-{llvm} export -format=lcov by-clang -instr-profile=clang.profile");
    let mut counts = Counts::default();
    let mut is_source = false;
    for line in output(folder, &export).lines() {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        match (key, value.split_once(',')) {
            ("SF", _) => is_source = value.ends_with(&format!("/{source}")),
            // static ones have the file before their name
            ("FNDA", Some((count, name))) => {
                let name = name.rsplit(':').next().unwrap_or(name).to_owned();
                counts.functions.insert(name, count.parse().expect("a count"));
            }
            ("DA", Some((line, count))) if is_source => {
                counts.lines.insert(line.parse().expect("a line"), count.parse().expect("a count"));
            }
            _ => {}
        }
    }
    counts
}

/// Counts of gcov for a program that takes no input.
pub(crate) fn gcc(folder: &Path, flags: &str, source: &str) -> Counts {
    output(folder, &format!("gcc {flags} --coverage {source} -o by-gcc && ./by-gcc"));
    let stem = source.split('.').next().expect("a name");
    let report = output(folder, &format!("gcov --json-format --stdout by-gcc-{stem}.gcda"));
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let mut counts = Counts::default();
    for file in report["files"].as_array().expect("files") {
        for function in file["functions"].as_array().expect("functions") {
            let name = function["name"].as_str().expect("a name").to_owned();
            counts.functions.insert(name, function["execution_count"].as_u64().expect("a count"));
        }
        for line in file["lines"].as_array().expect("lines").iter().filter(|_| file["file"] == source) {
            let count = line["count"].as_u64().expect("a count");
            let known = counts.lines.entry(line["line_number"].as_u64().expect("a line")).or_default();
            *known = count.max(*known);
        }
    }
    counts
}
