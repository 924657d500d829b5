//! Crates of Rust: targets of cargo-fuzz, which scripts/cargo-fuzz builds with quagmire.

use std::{
    fs,
    path::{Path, PathBuf},
};

use regex::Regex;

/// Crates with targets of cargo-fuzz that are looked for.
const MOST: usize = 8;

/// Lines to print for a folder with a crate or a workspace of Rust; none if it is no such folder.
pub(super) fn lines(root: &Path, all: &[PathBuf], seeds: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    let fuzzed: Vec<&PathBuf> = all
        .iter()
        .filter(|path| path.ends_with("Cargo.toml"))
        .filter(|path| {
            fs::read_to_string(root.join(path))
                .is_ok_and(|text| text.contains("cargo-fuzz = true") || text.contains("libfuzzer-sys"))
        })
        .take(MOST)
        .collect();
    if manifest.is_empty() && fuzzed.is_empty() {
        return Vec::new();
    }
    let kind = if manifest.contains("[workspace]") { "a workspace of cargo" } else { "a crate of Rust" };
    let mut lines = vec![format!("# {kind}: quagmire fuzzes targets of cargo-fuzz (chapter \"Targets in Rust\")")];
    if fuzzed.is_empty() {
        lines.push("# there are none yet: write one in fuzz/fuzz_targets, and type `quagmire init` again".into());
        lines.push("cargo install cargo-fuzz && cargo fuzz init".into());
        return lines;
    }
    for path in fuzzed {
        let folder = path.parent().unwrap_or(Path::new(""));
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        let place =
            if folder == Path::new("fuzz") { String::new() } else { format!("--fuzz-dir {} ", super::shown(folder)) };
        for target in targets(&text) {
            lines.push(format!("scripts/cargo-fuzz fuzz {place}{target} -i {seeds} -o out-{target}"));
        }
    }
    lines.push("# scripts/cargo-fuzz is in quagmire's checkout".into());
    lines
}

/// Names of the programs of a manifest.
fn targets(manifest: &str) -> Vec<String> {
    let name = Regex::new(r#"(?s)\[\[bin\]\][^\[]*?name\s*=\s*"([^"]+)""#).expect("a pattern");
    name.captures_iter(manifest).map(|found| found[1].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_named() {
        let manifest = "[package]\nname = \"x-fuzz\"\n[[bin]]\nname = \"parse\"\npath = \"a.rs\"\n[[bin]]\npath = \"b.rs\"\nname = \"print\"\n";
        assert_eq!(targets(manifest), ["parse", "print"]);
    }
}
