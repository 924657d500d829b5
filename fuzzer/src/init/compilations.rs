//! The commands by which CMake or Meson compiles each source.

use std::path::{Path, PathBuf};

use quagmire_base::files;
use serde::Deserialize;

use super::{BUILD, paths::is_c};

/// Size up to which the file with the commands is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Contents of `compile_commands.json`, as far as the interface of the project depends on them.
#[derive(Debug, Default)]
pub(super) struct Compilations(Vec<Compilation>);

#[derive(Debug)]
struct Compilation {
    /// Path below the project's.
    file: PathBuf,
    flags: Vec<String>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl Compilations {
    /// Reads the commands of a build, if there are any.
    pub(super) fn of(root: &Path) -> Self {
        let text = files::read(&root.join(BUILD).join("compile_commands.json"), LARGEST).unwrap_or_default();
        let entries: Vec<Entry> = serde_json::from_slice(&text).unwrap_or_default();
        Self(entries.into_iter().filter_map(|entry| Compilation::of(root, entry)).collect())
    }

    /// The options for a file: those of the source with its name, or of one that shares most folders with it.
    pub(super) fn flags(&self, file: &Path, is_cxx: bool) -> Vec<String> {
        let nearness = |one: &&Compilation| {
            let shared = one.file.components().zip(file.components()).take_while(|(a, b)| a == b).count();
            (is_c(&one.file) != is_cxx, one.file.file_stem() == file.file_stem(), shared)
        };
        let Some(nearest) = self.0.iter().max_by_key(nearness) else { return Vec::new() };
        let is_other = is_c(&nearest.file) == is_cxx;
        // a standard of C is none of C++
        nearest.flags.iter().filter(|flag| !(is_other && flag.starts_with("-std="))).cloned().collect()
    }
}

impl Compilation {
    fn of(root: &Path, entry: Entry) -> Option<Self> {
        let words = entry.arguments.or_else(|| shlex::split(&entry.command?))?;
        let absolute = |path: &str| entry.directory.join(path).display().to_string();
        let mut flags = Vec::new();
        let mut rest = words.into_iter().skip(1);
        while let Some(word) = rest.next() {
            let takes_folder = ["-I", "-isystem", "-iquote", "-include"].into_iter().find(|one| word.starts_with(one));
            let is_define = word.starts_with("-D") || word.starts_with("-U");
            if let Some(option) = takes_folder {
                let value = if word == option { rest.next()? } else { word[option.len()..].to_owned() };
                flags.extend(match option {
                    "-I" => vec![format!("-I{}", absolute(&value))],
                    _ => vec![option.to_owned(), absolute(&value)],
                });
            } else if is_define && word.len() == 2 {
                flags.push(word + &rest.next()?);
            } else if is_define || word.starts_with("-std=") || word == "-pthread" {
                flags.push(word);
            }
        }
        let file = entry.directory.join(entry.file);
        Some(Self { file: file.strip_prefix(root).unwrap_or(&file).to_owned(), flags })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_nearest_source_in_the_same_language() {
        let folder = tempfile::tempdir().expect("a folder");
        let build = folder.path().join(BUILD);
        std::fs::create_dir_all(&build).expect("created");
        let root = folder.path().display();
        let text = serde_json::json!([
            {"directory": build, "file": format!("{root}/src/a.c"),
             "command": format!("cc -DAPI='extern int' -D OTHER -I../include -O2 -std=c99 -o a.o -c {root}/src/a.c")},
            {"directory": build, "file": "../tests/b.cc", "arguments": ["c++", "-I", "x", "-std=c++17", "-c", "b.cc"]},
        ]);
        std::fs::write(build.join("compile_commands.json"), text.to_string()).expect("written");
        let known = Compilations::of(folder.path());
        let include = build.join("../include").display().to_string();
        assert_eq!(
            known.flags(Path::new("src/a.h"), false),
            ["-DAPI=extern int", "-DOTHER", &format!("-I{include}"), "-std=c99"]
        );
        assert_eq!(known.flags(Path::new("src/a.h"), true)[1..], ["-std=c++17"]);
        assert!(Compilations::default().flags(Path::new("a.h"), false).is_empty());
    }
}
