//! Contents of a folder of sources: its build system, harnesses, and files that can be seeds.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use quagmire_base::{
    error::{Error, Result},
    files,
};
use regex::Regex;

use super::BUILD;

/// Files that are looked at, and folders below each other.
const MOST_FILES: usize = 20_000;
const DEEPEST: usize = 6;

/// Size up to which a source is searched, in bytes.
const LARGEST_SOURCE: u64 = 16 << 20;

/// Harnesses that commands are printed for.
const MOST_HARNESSES: usize = 4;

/// Names of folders in which projects keep inputs, the best first.
const SEED_FOLDERS: [&str; 8] = ["seeds", "corpus", "seed_corpus", "testdata", "data", "samples", "examples", "inputs"];

/// Size of a file that can be a seed, in bytes.
const LARGEST_SEED: u64 = 100_000;

/// A build system, in the order in which it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuildSystem {
    CMake,
    Meson,
    Configure,
    Autoconf,
    Make,
    Sources,
}

impl BuildSystem {
    const ALL: [Self; 6] = [Self::CMake, Self::Meson, Self::Configure, Self::Autoconf, Self::Make, Self::Sources];

    /// Name of the file by which it is recognised.
    pub(super) fn marker(self) -> &'static str {
        match self {
            Self::CMake => "CMakeLists.txt",
            Self::Meson => "meson.build",
            Self::Configure => "configure",
            Self::Autoconf => "configure.ac",
            Self::Make => "Makefile",
            Self::Sources => "sources without a build system",
        }
    }

    /// Folder in which it builds.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::CMake | Self::Meson => BUILD,
            Self::Configure | Self::Autoconf | Self::Make | Self::Sources => ".",
        }
    }

    /// Commands that build with the wrapper, libraries statically. If something `is_built` beside the sources, make is told to
    /// forget it.
    pub(super) fn commands(self, is_built: bool) -> Vec<&'static str> {
        let configure = match is_built {
            true => "CC=quagmire-cc CXX=quagmire-c++ ./configure --disable-shared && make clean && make -j2",
            false => "CC=quagmire-cc CXX=quagmire-c++ ./configure --disable-shared && make -j2",
        };
        match self {
            Self::CMake => vec![
                "cmake -S . -B build-quagmire -DCMAKE_C_COMPILER=quagmire-cc -DCMAKE_CXX_COMPILER=quagmire-c++ \\",
                "  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=OFF",
                "cmake --build build-quagmire --parallel 2",
            ],
            Self::Meson => vec![
                "CC=quagmire-cc CXX=quagmire-c++ meson setup build-quagmire --buildtype=debugoptimized --default-library=static",
                "ninja -C build-quagmire",
            ],
            Self::Configure => vec![configure],
            Self::Autoconf => vec!["autoreconf -fi", configure],
            Self::Make if is_built => vec!["make clean && make -j2 CC=quagmire-cc CXX=quagmire-c++"],
            Self::Make => vec!["make -j2 CC=quagmire-cc CXX=quagmire-c++"],
            Self::Sources => Vec::new(),
        }
    }
}

/// Contents of a folder of sources.
#[derive(Debug, Default)]
pub(super) struct Project {
    pub(super) system: Option<BuildSystem>,
    /// Sources in the folder itself that define neither a harness nor a program.
    pub(super) sources: Vec<PathBuf>,
    /// Sources in the folder itself that define a program.
    pub(super) programs: Vec<PathBuf>,
    /// Sources that define `LLVMFuzzerTestOneInput`, the shortest paths first.
    pub(super) harnesses: Vec<PathBuf>,
    /// A folder with small files.
    pub(super) seeds: Option<PathBuf>,
    /// Headers, to look for functions in.
    pub(super) headers: Vec<PathBuf>,
    /// Whether there are sources in C++, and none in C.
    pub(super) is_cxx: bool,
    /// Whether there are objects or libraries, which another compiler may have made.
    pub(super) is_built: bool,
    /// Whether there is a folder `include`.
    pub(super) has_include: bool,
    /// Whether there are a `project.yaml` and a `build.sh` of OSS-Fuzz.
    pub(super) is_oss_fuzz: bool,
    /// Whether there are targets of cargo-fuzz.
    pub(super) has_cargo_fuzz: bool,
}

impl Project {
    /// Looks at a folder; all paths are relative to it.
    ///
    /// # Errors
    /// If it cannot be read, or there is nothing in it that can be built.
    pub(super) fn look_at(folder: &Path) -> Result<Self> {
        let refused = |why: &dyn std::fmt::Display| Error::usage(format!("{}: {why}", folder.display()));
        fs::read_dir(folder).map_err(|error| refused(&error))?;
        let mut found = Files::default();
        found.walk(folder, Path::new(""), 0);
        found.all.sort_by_key(|path| (path.components().count(), path.clone()));
        let has = |name: &str| folder.join(name).is_file();
        let mut project = Self {
            is_built: found
                .all
                .iter()
                .any(|path| path.extension().is_some_and(|ending| ending == "o" || ending == "a")),
            has_include: folder.join("include").is_dir(),
            is_oss_fuzz: has("project.yaml") && has("build.sh"),
            has_cargo_fuzz: has("fuzz/Cargo.toml"),
            seeds: found.seeds(folder),
            ..Self::default()
        };
        let mut has_c = false;
        for path in &found.all {
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            let (is_c, is_cxx) = (is_c(path), ["cc", "cpp", "cxx"].contains(&&*ending));
            if ["h", "hh", "hpp"].contains(&&*ending) {
                project.headers.push(path.clone());
            }
            if !is_c && !is_cxx {
                continue;
            }
            has_c |= is_c;
            project.is_cxx |= is_cxx;
            let (in_folder, wanted) = (path.components().count() == 1, project.harnesses.len() < MOST_HARNESSES);
            if !in_folder && !wanted {
                continue;
            }
            let text = files::read(&folder.join(path), LARGEST_SOURCE).unwrap_or_default();
            match (is_harness(&text), in_folder) {
                (true, _) if wanted => project.harnesses.push(path.clone()),
                (false, true) if has_main(&text) => project.programs.push(path.clone()),
                (false, true) => project.sources.push(path.clone()),
                _ => {}
            }
        }
        project.is_cxx &= !has_c;
        project.system = BuildSystem::ALL.into_iter().find(|system| match system {
            BuildSystem::Sources => {
                project.harnesses.is_empty() && !(project.programs.is_empty() && project.sources.is_empty())
            }
            BuildSystem::Make => has("Makefile") || has("makefile") || has("GNUmakefile"),
            BuildSystem::Autoconf => has("configure.ac") || has("configure.in"),
            system => has(system.marker()),
        });
        if project.system.is_none() && project.harnesses.is_empty() && !project.is_oss_fuzz && !project.has_cargo_fuzz {
            return Err(refused(
                &"nothing to build is known here (CMake, Meson, autotools, Makefile, cargo-fuzz, C or C++ sources): start \
                  in the folder of the sources, or name it",
            ));
        }
        Ok(project)
    }

    /// Folders in which the headers are that a source names, without the project's own.
    pub(super) fn include_folders(&self, folder: &Path, source: &Path) -> Vec<PathBuf> {
        let text = files::read(&folder.join(source), LARGEST_SOURCE).unwrap_or_default();
        let mut folders = Vec::new();
        if self.has_include {
            folders.push(PathBuf::from("include"));
        }
        for name in String::from_utf8_lossy(&text).lines().filter_map(included) {
            let Some(header) = self.headers.iter().find(|header| header.ends_with(name)) else { continue };
            let found = header.ancestors().nth(Path::new(name).components().count()).unwrap_or(Path::new(""));
            if !found.as_os_str().is_empty() && !folders.iter().any(|known| known == found) {
                folders.push(found.to_owned());
            }
        }
        folders
    }
}

/// Whether a source is in C, by its name.
pub(super) fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "c")
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

/// Whether a source defines a program.
fn has_main(source: &[u8]) -> bool {
    static MAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)^\s*(?:extern\s+"C"\s+)?(?:[A-Za-z_][\w\s]*\s)?main\s*\("#).expect("a pattern")
    });
    MAIN.is_match(&without_comments(source))
}

/// Regular files below a folder, without what builds and version control leave there.
#[derive(Default)]
struct Files {
    all: Vec<PathBuf>,
}

impl Files {
    fn walk(&mut self, root: &Path, below: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(root.join(below)) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if self.all.len() >= MOST_FILES || text.starts_with('.') {
                continue;
            }
            if kind.is_file() {
                self.all.push(below.join(&name));
            } else if kind.is_dir() && depth < DEEPEST && text != "target" && text != "node_modules" && text != BUILD {
                self.walk(root, &below.join(&name), depth + 1);
            }
        }
    }

    /// A folder whose name says that it holds inputs, with at least one small file.
    fn seeds(&self, root: &Path) -> Option<PathBuf> {
        let is_small =
            |path: &Path| fs::metadata(root.join(path)).is_ok_and(|about| (1..=LARGEST_SEED).contains(&about.len()));
        let is_source = |path: &Path| {
            let ends = path
                .extension()
                .is_some_and(|ending| ["c", "h", "cc", "cpp", "am", "build"].iter().any(|known| ending == *known));
            ends || path.file_name().is_some_and(|name| name == "CMakeLists.txt")
        };
        SEED_FOLDERS.iter().find_map(|name| {
            let inside =
                |path: &&PathBuf| path.parent().and_then(Path::file_name).is_some_and(|folder| folder == *name);
            let file = self.all.iter().filter(inside).find(|path| !is_source(path) && is_small(path))?;
            file.parent().map(Path::to_owned)
        })
    }
}
