//! Choice of clang: the one that belongs to the chosen llvm-config.
//!
//! llvm-config and `clang --version` take tens of milliseconds, so their output is remembered in the cache folder
//! until the programs change.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cache::{self, Cache};
use crate::versions::{NEWEST, OLDEST, OLDEST_WITH_LTO};
use crate::{Error, Language};

/// A clang, and the LLVM that its plugins are compiled with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// Major version of LLVM.
    pub major: u32,
    /// Path of the C driver.
    pub clang: PathBuf,
    /// Path of the C++ driver.
    pub clangxx: PathBuf,
    /// Whether the lld beside clang is its own, and can load plugins.
    pub lld: bool,
    /// First line of `clang --version`: full version with the distribution's revision.
    pub identity: String,
    /// `llvm-config --cxxflags` without warning flags.
    pub cxxflags: Vec<String>,
}

impl Toolchain {
    pub(crate) fn driver(&self, language: Language) -> &Path {
        match language {
            Language::C => &self.clang,
            Language::Cxx => &self.clangxx,
        }
    }
}

/// Finds the toolchain by `QUAGMIRE_LLVM_CONFIG`, then `LLVM_CONFIG`, then the newest supported `llvm-config-N` on
/// `PATH`, then `llvm-config`. `untested` ones may be newer than all that are supported.
///
/// # Errors
/// If none is installed, supported and complete, or a named one cannot be used.
pub(crate) fn find(
    cache: &Cache,
    untested: bool,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Toolchain, Error> {
    let newest = if untested { u32::MAX } else { NEWEST };
    let search = Search { cache, path: variable("PATH").unwrap_or_default(), newest };
    for name in ["QUAGMIRE_LLVM_CONFIG", "LLVM_CONFIG"] {
        if let Some(value) = variable(name).filter(|value| !value.is_empty()) {
            return search.named(name, &value);
        }
    }
    let numbered = (OLDEST..=NEWEST).rev().map(|major| format!("llvm-config-{major}"));
    let names = numbered.chain(["llvm-config".into()]);
    let mut unsupported = None;
    for llvm_config in names.filter_map(|name| search.program(OsStr::new(&name))) {
        match search.toolchain(&llvm_config) {
            Ok(toolchain) => return Ok(toolchain),
            Err(Unusable::Version(version)) => unsupported = Some(Error::UnsupportedVersion { llvm_config, version }),
            Err(_) => {}
        }
    }
    Err(unsupported.unwrap_or(Error::NoToolchain))
}

/// Why an llvm-config does not lead to a toolchain.
enum Unusable {
    Silent,
    Version(String),
    NoHeaders(PathBuf),
    NoClang(u32),
}

struct Search<'a> {
    cache: &'a Cache,
    path: OsString,
    newest: u32,
}

impl Search<'_> {
    fn named(&self, variable: &'static str, value: &OsStr) -> Result<Toolchain, Error> {
        let problem = match self.program(value).ok_or(None).and_then(|path| self.toolchain(&path).map_err(Some)) {
            Ok(toolchain) => return Ok(toolchain),
            Err(None) => "there is no such program".into(),
            Err(Some(Unusable::Silent)) => "it does not answer as llvm-config does".into(),
            Err(Some(Unusable::Version(found))) => format!("it is of LLVM {found}"),
            Err(Some(Unusable::NoHeaders(folder))) => format!("LLVM's headers are not in {}", folder.display()),
            Err(Some(Unusable::NoClang(major))) => format!("no clang {major} belongs to it (package clang-{major})"),
        };
        Err(Error::UnusableLlvmConfig { variable, value: value.to_string_lossy().into_owned(), problem })
    }

    fn toolchain(&self, llvm_config: &Path) -> Result<Toolchain, Unusable> {
        let said =
            self.ask(llvm_config, &["--version", "--bindir", "--includedir", "--cxxflags"]).ok_or(Unusable::Silent)?;
        let mut lines = said.lines();
        let mut line = || lines.next().unwrap_or_default().trim();
        let (version, bindir, includedir, cxxflags) = (line(), line(), line(), line());
        let major = major(version).ok_or(Unusable::Silent)?;
        if !(OLDEST..=self.newest).contains(&major) {
            return Err(Unusable::Version(version.into()));
        }
        // one that is where it was in LLVM 14
        if !Path::new(includedir).join("llvm/Passes/PassBuilder.h").is_file() {
            return Err(Unusable::NoHeaders(includedir.into()));
        }
        let driver = |name: &str| {
            let beside = Path::new(bindir).join(name);
            if is_program(&beside) { Some(beside) } else { self.program(OsStr::new(&format!("{name}-{major}"))) }
        };
        let (clang, clangxx) = driver("clang").zip(driver("clang++")).ok_or(Unusable::NoClang(major))?;
        let identity = self.ask(&clang, &["--version"]).ok_or(Unusable::NoClang(major))?;
        let identity = identity.lines().next().unwrap_or_default().to_owned();
        if identity.split_once("clang version ").and_then(|(_, version)| self::major(version)) != Some(major) {
            return Err(Unusable::NoClang(major));
        }
        let about_warnings = |flag: &&str| flag.starts_with("-W") || flag.starts_with("-pedantic") || *flag == "-w";
        let cxxflags = cxxflags.split_whitespace().filter(|flag| !about_warnings(flag)).map(String::from).collect();
        let lld = major >= OLDEST_WITH_LTO && is_program(&clang.with_file_name("ld.lld"));
        Ok(Toolchain { major, clang, clangxx, lld, identity, cxxflags })
    }

    /// Output of a program for these arguments, remembered until the program changes; `None` if it fails.
    fn ask(&self, program: &Path, arguments: &[&str]) -> Option<String> {
        let stamp = cache::stamp(program)?;
        let asked = arguments.iter().map(|argument| argument.as_bytes());
        let name = cache::digest([program.as_os_str().as_encoded_bytes(), stamp.as_bytes()].into_iter().chain(asked));
        let name = format!("said-{name}");
        if let Some(said) = self.cache.recall(&name) {
            return Some(said);
        }
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let said = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
        // empty output may be a temporary failure
        if !said.trim().is_empty() {
            self.cache.remember(&name, &said);
        }
        Some(said)
    }

    /// Finds a program by its path, or by its name on `PATH`.
    fn program(&self, name: &OsStr) -> Option<PathBuf> {
        if name.as_encoded_bytes().contains(&b'/') {
            return std::path::absolute(name).ok().filter(|path| is_program(path));
        }
        std::env::split_paths(&self.path).map(|folder| folder.join(name)).find(|path| is_program(path))
    }
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
