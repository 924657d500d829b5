//! Contents of a folder of sources: its build system, harnesses, headers and programs.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use quagmire_base::{
    error::{Error, Result},
    files,
};
use regex::Regex;

use super::{
    BUILD, OWN,
    compilations::Compilations,
    paths::{has_ending, is_aside, is_c, is_header, is_source},
    systems::BuildSystem,
};

/// Files that are looked at, and folders below each other.
const MOST_FILES: usize = 20_000;
const DEEPEST: usize = 6;

/// Size up to which a source is searched, in bytes.
const LARGEST_SOURCE: u64 = 16 << 20;

/// Most headers that one includes for itself; one that includes more collects them for users.
const MOST_FOR_ITSELF: usize = 6;

/// Harnesses that commands are printed for.
const MOST_HARNESSES: usize = 4;

/// Contents of a folder of sources; all paths are relative to it.
#[derive(Debug, Default)]
pub(super) struct Project {
    /// The folder, as an absolute path without links.
    pub(super) root: PathBuf,
    /// Its build systems: the one that has built with the wrapper first, else the most usual.
    pub(super) systems: Vec<BuildSystem>,
    pub(super) compilations: Compilations,
    /// All files, those in few folders first.
    pub(super) all: Vec<PathBuf>,
    /// Sources that define neither a harness nor a program, and are no tests.
    pub(super) sources: Vec<PathBuf>,
    /// Sources that define a program, and are no tests or examples.
    pub(super) programs: Vec<PathBuf>,
    /// Sources that define `LLVMFuzzerTestOneInput`, the shortest paths first.
    pub(super) harnesses: Vec<PathBuf>,
    pub(super) headers: Vec<PathBuf>,
    /// Whether there are sources in C, and in C++.
    pub(super) has_c: bool,
    pub(super) has_cxx: bool,
    /// Whether there are objects or libraries, which another compiler may have made.
    pub(super) is_built: bool,
    /// Whether there are a `project.yaml` and a `build.sh` of OSS-Fuzz.
    pub(super) is_oss_fuzz: bool,
}

impl Project {
    pub(super) fn look_at(folder: &Path) -> Result<Self> {
        let refused = |why: &dyn std::fmt::Display| Error::usage(format!("{}: {why}", folder.display()));
        fs::read_dir(folder).map_err(|error| refused(&error))?;
        let root = folder.canonicalize().map_err(|error| refused(&error))?;
        let mut all = Vec::new();
        walk(&root, Path::new(""), 0, &mut all);
        all.sort_by_key(|path| (path.components().count(), path.clone()));
        let has = |name: &str| root.join(name).is_file();
        let mut project = Self {
            is_built: all.iter().any(|path| has_ending(path, &["o", "a"]) && !path.starts_with(BUILD)),
            is_oss_fuzz: has("project.yaml") && has("build.sh"),
            ..Self::default()
        };
        for path in &all {
            if is_header(path) {
                project.headers.push(path.clone());
            }
            // a build system compiles trials of its own there
            if !is_source(path) || path.starts_with(BUILD) {
                continue;
            }
            project.has_c |= is_c(path) && !is_aside(path);
            project.has_cxx |= !is_c(path) && !is_aside(path);
            let text = files::read(&root.join(path), LARGEST_SOURCE).unwrap_or_default();
            if is_harness(&text) {
                project.harnesses.push(path.clone());
            } else if has_main(&text) {
                project.programs.extend((!is_aside(path)).then(|| path.clone()));
            } else if !is_aside(path) {
                project.sources.push(path.clone());
            }
        }
        project.harnesses.truncate(MOST_HARNESSES);
        // all sources in one, beside the sources
        let single: Vec<PathBuf> =
            project.sources.iter().filter(|path| includes_sources(&root, path)).cloned().collect();
        project.sources.retain(|path| !single.contains(path));
        project.all = all;
        project.systems = BuildSystem::all(&root, &project.all);
        project.compilations = Compilations::of(&root);
        project.root = root;
        if let Some(at) = project.systems.iter().position(|system| project.is_counted(system.folder())) {
            project.systems.swap(0, at);
        }
        Ok(project)
    }

    pub(super) fn system(&self) -> Option<&BuildSystem> {
        self.systems.first()
    }

    /// Whether there is anything in C or C++.
    pub(super) fn has_sources(&self) -> bool {
        self.has_c
            || self.has_cxx
            || !self.headers.is_empty()
            || !self.programs.is_empty()
            || !self.harnesses.is_empty()
    }

    /// Whether a file, as clang names it, is the project's.
    pub(super) fn is_own(&self, file: &Path) -> bool {
        file.is_relative() || file.starts_with(&self.root)
    }

    /// The folder to search for headers so that `name` is found, which `includer` includes.
    pub(super) fn folder_of(&self, name: &Path, includer: &Path) -> Option<PathBuf> {
        let near = |path: &Path| {
            let common = path.components().zip(includer.components()).take_while(|(a, b)| a == b).count();
            // the project's own before those of tests and of others
            (is_aside(path), std::cmp::Reverse(common), path.components().count())
        };
        let header = self.all.iter().filter(|path| path.ends_with(name)).min_by_key(|path| near(path))?;
        let folder = header.ancestors().nth(name.components().count())?;
        Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
    }

    /// Whether a header is made by the build: there is a file to make it of.
    pub(super) fn is_generated(&self, name: &Path) -> bool {
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
        let from = [format!("{stem}.y"), format!("{stem}.in.h"), format!("{stem}.h-in"), format!("{stem}.h_in")];
        let is_from = |path: &PathBuf| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            // json.h.in, json.h.cmakein, json.h.meson
            file.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('.')) || from.iter().any(|one| *one == file)
        };
        name.starts_with("config.") || name == "config.h" || self.all.iter().any(is_from)
    }

    /// Text of a file, without comments.
    pub(super) fn text(&self, path: &Path) -> String {
        without_comments(&files::read(&self.root.join(path), LARGEST_SOURCE).unwrap_or_default())
    }

    /// Lines that include headers before `header` is included, in the first source or header that does: it may need them.
    pub(super) fn included_before(&self, header: &Path) -> Vec<String> {
        let name = header.file_name().unwrap_or_default().to_string_lossy();
        let all = self.sources.iter().chain(&self.programs).chain(&self.headers).filter(|path| *path != header);
        for path in all {
            let text = self.text(path);
            let mut before = Vec::new();
            for line in text.lines() {
                match included(line) {
                    Some(found) if Path::new(found).ends_with(&*name) => return before,
                    Some(_) => before.push(line.trim().to_owned()),
                    None => {}
                }
            }
        }
        Vec::new()
    }

    /// Number of the project's headers that a header includes.
    pub(super) fn own_includes(&self, header: &Path) -> usize {
        let text = self.text(header);
        let is_own = |name: &&str| self.headers.iter().any(|path| path.ends_with(name));
        text.lines().filter_map(included).filter(is_own).count()
    }

    /// The header that collects others, this one among them, for users to include.
    pub(super) fn collector_of(&self, header: &Path) -> Option<PathBuf> {
        let collects = |path: &&PathBuf| {
            !is_aside(path)
                && self.text(path).lines().filter_map(included).any(|name| header.ends_with(name))
                && self.own_includes(path) > MOST_FOR_ITSELF
        };
        self.headers.iter().filter(collects).max_by_key(|path| self.own_includes(path)).cloned()
    }

    /// Sources that a header may be the interface of: beside it, beside the source of its name, or in the folder itself.
    pub(super) fn sources_of(&self, header: &Path) -> Vec<PathBuf> {
        let named = self.sources.iter().filter(|path| path.file_stem() == header.file_stem());
        let folders: BTreeSet<_> = named.map(|path| path.parent()).chain([header.parent()]).collect();
        let beside = |path: &&PathBuf| folders.contains(&path.parent()) && *path != header;
        let found: Vec<PathBuf> = self.sources.iter().filter(beside).cloned().collect();
        // or the interface is in a folder, the sources in another
        if found.is_empty() { self.sources.clone() } else { found }
    }

    /// Whether there is an object or library that the wrapper has made.
    pub(super) fn is_counted(&self, build: &str) -> bool {
        let in_folder = |path: &&PathBuf| path.starts_with(BUILD) == (build == BUILD);
        let objects = self.all.iter().filter(|path| has_ending(path, &["o", "a"]) && !path.starts_with(OWN));
        objects.filter(in_folder).take(400).any(|path| {
            let bytes = fs::read(self.root.join(path)).unwrap_or_default();
            memchr::memmem::find(&bytes, b"__quagmire").is_some()
        })
    }
}

/// Whether a source includes others that are compiled by themselves.
fn includes_sources(root: &Path, path: &Path) -> bool {
    let text = files::read(&root.join(path), LARGEST_SOURCE).unwrap_or_default();
    let folder = root.join(path.parent().unwrap_or(Path::new("")));
    let names = String::from_utf8_lossy(&text).into_owned();
    let found = names.lines().filter_map(included).filter(|name| is_source(Path::new(name)));
    found.filter(|name| folder.join(name).is_file()).count() > 3
}

/// Name of the header that a line of a source includes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let rest = rest.strip_prefix(['"', '<'])?;
    rest.split(['"', '>']).next()
}

/// The text of a source, with a blank in the place of each comment.
pub(super) fn without_comments(source: &[u8]) -> String {
    static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)/\*.*?\*/|//[^\n]*").expect("a pattern"));
    COMMENT.replace_all(&String::from_utf8_lossy(source), " ").into_owned()
}

/// Whether a source defines a harness. One that only calls it is the `main` of harnesses.
fn is_harness(source: &[u8]) -> bool {
    const NAME: &str = "LLVMFuzzerTestOneInput";
    static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
        let parameters = r"\((?:[^(){};]|\([^()]*\)|\(\([^()]*\)\))*\)";
        Regex::new(&format!(r"{NAME}\s*{parameters}\s*\{{")).expect("a pattern")
    });
    memchr::memmem::find(source, NAME.as_bytes()).is_some() && DEFINITION.is_match(&without_comments(source))
}

/// Whether a source defines a program, also when nobody asks for its tests.
fn has_main(source: &[u8]) -> bool {
    static MAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)^\s*(?:extern\s+"C"\s+)?(?:[A-Za-z_][\w\s]*\s)?main\s*\("#).expect("a pattern")
    });
    MAIN.is_match(&without_trials(&without_comments(source)))
}

/// The text without what `#ifdef TEST` and the like enclose.
fn without_trials(text: &str) -> String {
    const NAMES: [&str; 6] = ["TEST", "MAIN", "DEMO", "STANDALONE", "EXAMPLE", "DEBUG"];
    let (mut kept, mut depth, mut hidden) = (String::new(), 0, None);
    for line in text.lines() {
        let word = line.trim_start().strip_prefix('#').map(str::trim_start).unwrap_or_default();
        if word.starts_with("if") {
            depth += 1;
            if hidden.is_none() && !word.starts_with("ifndef") && NAMES.iter().any(|name| word.contains(name)) {
                hidden = Some(depth);
            }
        } else if word.starts_with("endif") {
            hidden = hidden.filter(|at| *at != depth);
            depth -= 1;
        } else if word.starts_with("el") && hidden == Some(depth) {
            hidden = None;
        }
        if hidden.is_none() {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Whether a folder is what a campaign has written: it has copies of seeds, and is none of the project's.
fn is_of_campaign(folder: &Path) -> bool {
    folder.join("summary.json").is_file() && folder.join("degradations").is_dir()
}

/// Adds the regular files below a folder, without what builds and version control leave there.
fn walk(root: &Path, below: &Path, depth: usize, all: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root.join(below)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let Ok(kind) = entry.file_type() else { continue };
        if all.len() >= MOST_FILES || text.starts_with('.') {
            continue;
        }
        let path = below.join(&name);
        if kind.is_file() {
            all.push(path);
        } else if kind.is_dir()
            && depth < DEEPEST
            && !["target", "node_modules", OWN].contains(&&*text)
            && !is_of_campaign(&root.join(&path))
        {
            walk(root, &path, depth + 1, all);
        }
    }
}
