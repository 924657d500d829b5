//! Errors of the wrapper before clang takes over, each with its remedy.

use std::fmt;
use std::path::PathBuf;

use crate::versions::{NEWEST, OLDEST, OLDEST_WITH_LTO};

/// Why the wrapper could not start clang. Displayed as one line that starts with `quagmire-cc:` and ends with the
/// remedy.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// No LLVM of a supported version is installed with its clang and headers.
    NoToolchain,
    /// The llvm-config named by an environment variable cannot be used.
    UnusableLlvmConfig {
        /// Name of the environment variable.
        variable: &'static str,
        /// Value of the environment variable.
        value: String,
        /// Reason why it cannot be used.
        problem: String,
    },
    /// The only llvm-config found is of an unsupported version.
    UnsupportedVersion {
        llvm_config: PathBuf,
        /// Version that it reports.
        version: String,
    },
    /// No folder for the compiled plugin and runtime is writable.
    NoCache {
        /// The folders that were tried.
        tried: Vec<PathBuf>,
    },
    /// Reading or writing the cache folder failed.
    Cache {
        /// Path of the file or folder.
        path: PathBuf,
        /// The system's error message.
        problem: String,
    },
    /// The file of commands could not be written.
    Log {
        path: PathBuf,
        /// The system's error message.
        problem: String,
    },
    /// Clang could not compile the pass plugin or the runtime.
    Build {
        /// Name of the part that was compiled.
        what: &'static str,
        /// Path of the compiler.
        clang: PathBuf,
        /// Messages of the compiler.
        messages: String,
        /// Major version of its LLVM.
        major: u32,
    },
    /// An environment variable has an unknown value.
    UnknownValue {
        /// Name of the environment variable.
        variable: &'static str,
        /// Value of the environment variable.
        value: String,
        /// The values that it can have, as text.
        known: &'static str,
    },
    /// `QUAGMIRE_DRIVER=foreign` is set, and `QUAGMIRE_MUTANTS` is not.
    ForeignDriver,
    /// Link-time optimisation is not supported with this LLVM, whose linker cannot load passes.
    LtoVersion {
        /// Major version of LLVM.
        major: u32,
    },
    /// Link-time optimisation is requested with a linker other than lld.
    LtoLinker,
    /// A harness with the engine is to be linked statically.
    StaticHarness,
    /// The engine for in-process harnesses is missing.
    NoEngine {
        /// The paths that were tried.
        tried: Vec<PathBuf>,
    },
    /// The engine is for another machine than what is linked.
    OtherMachine { archive: PathBuf, is: String, wanted: String },
    /// Clang could not be started.
    Exec {
        /// Path of the compiler.
        clang: PathBuf,
        /// The system's error message.
        problem: String,
    },
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Build { messages, .. } if !messages.is_empty() => writeln!(f, "{}", messages.trim_end())?,
            _ => {}
        }
        f.write_str("quagmire-cc: ")?;
        match self {
            Error::NoToolchain => write!(
                f,
                "no clang {OLDEST} to {NEWEST} with its LLVM headers found: install clang and llvm-dev (Fedora: llvm-devel, Arch: \
                 llvm), or name an llvm-config with QUAGMIRE_LLVM_CONFIG"
            ),
            Error::UnusableLlvmConfig { variable, value, problem } => write!(
                f,
                "{variable}={value}: {problem}: name an llvm-config of LLVM {OLDEST} to {NEWEST}, or unset {variable}"
            ),
            Error::UnsupportedVersion { llvm_config, version } => write!(
                f,
                "{} is of LLVM {version}, and {OLDEST} to {NEWEST} are supported: install clang-{NEWEST} and \
                 llvm-{NEWEST}-dev (scripts/install-deps does), name an llvm-config with QUAGMIRE_LLVM_CONFIG, or try a newer \
                 one with QUAGMIRE_LLVM_UNTESTED=1",
                llvm_config.display()
            ),
            Error::NoCache { tried } => write!(
                f,
                "no folder for the compiled pass plugin and runtime can be used (tried {}): name one with \
                 QUAGMIRE_CACHE that you own and nobody else can write to",
                list(tried)
            ),
            Error::Log { path, problem } => {
                write!(f, "{}: {problem}: name a file that can be written with QUAGMIRE_DEBUG", path.display())
            }
            Error::Cache { path, problem } => {
                write!(f, "{}: {problem}: remove it, or name another cache folder with QUAGMIRE_CACHE", path.display())
            }
            Error::Build { what, clang, major, .. } => write!(
                f,
                "{} cannot compile {what} (its messages are above): install clang-{major} and llvm-{major}-dev, or \
                 name another llvm-config with QUAGMIRE_LLVM_CONFIG",
                clang.display()
            ),
            Error::UnknownValue { variable, value, known } => {
                write!(f, "{variable}={value}: it can be {known}: set it to that, or unset it")
            }
            Error::ForeignDriver => write!(
                f,
                "QUAGMIRE_DRIVER=foreign: it is for programs with mutants: set QUAGMIRE_MUTANTS, too, or unset it"
            ),
            Error::LtoVersion { major } => write!(
                f,
                "-flto needs LLVM {OLDEST_WITH_LTO} or newer, and this is LLVM {major}: name another llvm-config with \
                 QUAGMIRE_LLVM_CONFIG, or build without -flto"
            ),
            Error::LtoLinker => write!(
                f,
                "-flto needs lld, which loads the pass that counts: add -fuse-ld=lld (package lld-N), or build without \
                 -flto"
            ),
            Error::StaticHarness => write!(
                f,
                "-static: a harness with the engine needs the shared C library: leave -static out, or link it for the fork \
                 server with QUAGMIRE_DRIVER=1"
            ),
            Error::NoEngine { tried } => write!(
                f,
                "-fsanitize=fuzzer needs the engine libquagmire.a (tried {}): run quagmire setup, which builds it (in a \
                 checkout: scripts/build), or name it with QUAGMIRE_ENGINE",
                list(tried)
            ),
            Error::OtherMachine { archive, is, wanted } => write!(
                f,
                "the engine {} is for {is}, and this link for {wanted}: build quagmire for {wanted}, and name its libquagmire.a \
                 with QUAGMIRE_ENGINE",
                archive.display()
            ),
            Error::Exec { clang, problem } => write!(
                f,
                "cannot start {}: {problem}: reinstall it, or name another llvm-config with QUAGMIRE_LLVM_CONFIG",
                clang.display()
            ),
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_toolchain_names_the_packages() {
        assert_eq!(
            Error::NoToolchain.to_string(),
            "quagmire-cc: no clang 14 to 22 with its LLVM headers found: install clang and llvm-dev (Fedora: llvm-devel, Arch: \
             llvm), or name an llvm-config with QUAGMIRE_LLVM_CONFIG"
        );
    }

    #[test]
    fn a_failed_build_shows_the_messages_and_then_one_line() {
        let error = Error::Build {
            what: "the pass plugin",
            clang: "/usr/bin/clang++".into(),
            messages: "counts.cc:1: error\n".into(),
            major: 19,
        };
        let lines = error.to_string();
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert!(lines.lines().nth(1).is_some_and(|line| line.starts_with("quagmire-cc: /usr/bin/clang++ cannot")));
    }
}
