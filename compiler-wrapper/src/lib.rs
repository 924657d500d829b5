//! Compiler wrapper behind `quagmire-cc` and `quagmire-c++`: runs clang with quagmire's pass plugin, and links the
//! runtime into every executable.
//!
//! A command is processed in one direction: [`plan::parse`] parses it (pure), [`toolchain::find`] chooses the clang,
//! [`artefacts`] builds what that clang needs on first use, and [`run::run`] replaces this process with clang.

mod archive;
pub mod artefacts;
pub mod cache;
mod error;
mod exported;
mod hints;
pub mod inputs;
#[cfg(feature = "libafl_cc")]
mod libafl;
mod macros;
pub mod options;
pub mod plan;
pub mod response;
pub mod run;
mod scan;
pub mod settings;
pub mod toolchain;
mod uncounted;
mod versions;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

pub use error::Error;
#[cfg(feature = "libafl_cc")]
pub use libafl::QuagmireWrapper;
pub use plan::{BuildPlan, Language, parse};
pub use run::run;
pub use settings::Settings;

/// Entry point of both binaries: reads the process's arguments and environment, and executes clang. Returns only on
/// failure, after printing one line to standard error, with exit code 1.
pub fn main(language: Language) -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let language = if name.as_bytes().ends_with(b"++") { Language::Cxx } else { language };
    let arguments: Vec<OsString> = arguments.collect();
    let started = Settings::from_environment(|name| std::env::var_os(name)).and_then(|settings| {
        let plan = parse(arguments, language, settings, &|path| std::fs::read(path).ok());
        run(&plan)
    });
    match started {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{}", plain(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// Escapes control characters of a message, which may contain file names of others.
fn plain(message: &str) -> String {
    let obeyed = |c: &char| c.is_control() && *c != '\n';
    message.chars().fold(String::new(), |mut text, c| {
        if obeyed(&c) {
            text.extend(c.escape_unicode())
        } else {
            text.push(c)
        }
        text
    })
}
