//! Places in sources, with paths relative to the project's folder.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use quagmire_base::files;
use serde::Serialize;

/// Place in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Path of the file: relative to the project's folder, with `/` between its parts, or absolute if it lies elsewhere.
    pub file: String,
    /// Line number from 1; `None` if only the file is known.
    pub line: Option<u32>,
    /// Length of the line in characters, if the file could be read.
    #[serde(skip)]
    pub columns: Option<u32>,
    /// Function, demangled.
    pub function: Option<String>,
}

impl Place {
    /// Whether the file lies in the project's folder.
    pub fn is_inside(&self) -> bool {
        !Path::new(&self.file).is_absolute() && !self.file.starts_with("../")
    }
}

/// Place where the cost grew, with its share of the growth.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Step {
    /// The place.
    pub place: Place,
    /// Description in one sentence, with figures.
    pub message: String,
    /// Share of the growth, 0 to 1.
    pub share: f64,
}

/// Folder of the project whose sources are named: its files have relative paths.
#[derive(Debug, Default)]
pub struct SourceRoot {
    /// Spellings of the folder: as given, and with links resolved.
    folders: Vec<PathBuf>,
    /// Lengths of the lines of files that were looked at.
    lines: HashMap<String, Vec<u32>>,
}

impl SourceRoot {
    /// Project in this folder, which need not exist here.
    pub fn new(folder: &Path) -> Self {
        let mut folders = vec![folder.to_owned()];
        folders.extend(folder.canonicalize());
        folders.dedup();
        Self { folders, lines: HashMap::new() }
    }

    /// Project around the working folder: the nearest folder from there upwards that holds `.git`, or else the working
    /// folder.
    pub fn here() -> Self {
        let Ok(here) = std::env::current_dir() else { return Self::default() };
        let root = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here);
        Self::new(root)
    }

    /// Place of a line by the path that the debug information has.
    pub fn place(&mut self, file: &str, line: Option<u32>, function: Option<&str>) -> Place {
        let path = Path::new(file);
        let inside = self.folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
        let relative = inside.unwrap_or(path).to_string_lossy().into_owned();
        let line = line.filter(|&line| line > 0);
        let columns = line.and_then(|line| {
            let lengths = self.lines.entry(relative.clone()).or_insert_with(|| match self.folders.first() {
                Some(folder) if !Path::new(&relative).is_absolute() => lengths(&folder.join(&relative)),
                _ => Vec::new(),
            });
            lengths.get(line as usize - 1).copied()
        });
        Place { file: relative, line, columns, function: function.map(str::to_owned) }
    }
}

/// Lengths of the lines of a file; empty if it cannot be read.
fn lengths(path: &Path) -> Vec<u32> {
    let text = files::read_named(path, files::LARGEST_TEXT).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().map(|line| line.chars().count() as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_project_have_relative_paths_and_others_stay_absolute() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a.c"), "int x;\n\tfór (;;)\n").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        for root in [folder.path(), &link] {
            let mut root = SourceRoot::new(root);
            let absolute = folder.path().canonicalize().unwrap().join("src/a.c");
            let place = root.place(absolute.to_str().unwrap(), Some(2), Some("f"));
            assert_eq!((place.file.as_str(), place.line, place.columns), ("src/a.c", Some(2), Some(9)));
            assert!(place.is_inside());
            assert_eq!(root.place("src/a.c", Some(3), None).columns, None, "behind its end");
            let system = root.place("/usr/include/regex", Some(0), None);
            assert_eq!((system.file.as_str(), system.line), ("/usr/include/regex", None));
            assert!(!system.is_inside());
        }
    }

    #[test]
    fn a_folder_that_is_not_here_counts_by_its_name() {
        let mut root = SourceRoot::new(Path::new("/src/project"));
        assert_eq!(root.place("/src/project/a/b.c", Some(1), None).file, "a/b.c");
        assert_eq!(root.place("/src/projector/b.c", Some(1), None).file, "/src/projector/b.c");
        assert_eq!(SourceRoot::default().place("b.c", Some(1), None).file, "b.c");
    }
}
