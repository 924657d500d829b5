//! `quagmire setup`: what an installation by `cargo install` lacks, since cargo installs neither libraries nor a binary with
//! a plus in its name.

use std::{
    env,
    ffi::OsString,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{self, Stdio},
};

use clap::Parser;
use quagmire_analysis::command::{Command, EXIT_CODES_ALONE};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
};
use quagmire_cc::artefacts::{ENGINE, engine, engine_of_user};

/// Manifest of a crate that makes a static library of the engine of this version, as `quagmire-engine` does in a checkout.
const MANIFEST: &str = concat!(
    "[package]\nname = \"quagmire-engine\"\nversion = \"0.0.0\"\nedition = \"2024\"\nrust-version = \"",
    env!("CARGO_PKG_RUST_VERSION"),
    "\"\n\n[workspace]\n\n[lib]\nname = \"quagmire\"\npath = \"lib.rs\"\ncrate-type = [\"staticlib\"]\n\n\
     [dependencies]\ncommands = { package = \"quagmire\", version = \"=",
    env!("CARGO_PKG_VERSION"),
    "\" }\n"
);

/// Source of that crate.
const SOURCE: &str = "pub use commands::engine::{quagmire_engine_main, quagmire_engine_mutate};\n";

/// Remedy where cargo cannot build the engine.
const OTHERWISE: &str = "take libquagmire.a from a release of this version, and name it with QUAGMIRE_ENGINE";

/// Build what `cargo install` leaves out, once: the engine of harnesses, and quagmire-c++
///
/// The engine is built by cargo from the crates of this version, for which it needs the network, and put into
/// $XDG_DATA_HOME/quagmire or ~/.local/share/quagmire, where quagmire-cc finds it. What is there already is left alone.
#[derive(Debug, Parser)]
#[command(name = "setup", after_help = EXIT_CODES_ALONE)]
pub(super) struct Setup {}

impl Command for Setup {
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        Some(run())
    }
}

fn run() -> Result<ExitCode> {
    let own = env::current_exe().map_err(|error| Error::other(format!("cannot find where quagmire is: {error}")))?;
    if let Some(made) = link(&own)? {
        plain::print(&format!("quagmire-c++: {}\n", made.display()), Form::Lines)?;
    }
    let named = env::var_os("QUAGMIRE_ENGINE").filter(|name| !name.is_empty());
    let of_user = engine_of_user(|name| env::var_os(name));
    let path = match engine(named, Some(own), of_user.clone()) {
        Ok(path) => path,
        Err(_) => {
            let missing = "no folder for the engine: set HOME or XDG_DATA_HOME to an absolute path";
            build(&of_user.ok_or_else(|| Error::other(missing))?)?
        }
    };
    plain::print(&format!("engine: {}\n", path.display()), Form::Lines)?;
    Ok(ExitCode::Ended)
}

/// Links quagmire-c++ to the quagmire-cxx beside this binary. Returns the link if there was none.
fn link(own: &Path) -> Result<Option<PathBuf>> {
    let link = own.with_file_name("quagmire-c++");
    if !own.with_file_name("quagmire-cxx").is_file() {
        return Ok(None);
    }
    match symlink("quagmire-cxx", &link) {
        Ok(()) => Ok(Some(link)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(Error::other(format!(
            "cannot make {}: {error}: run quagmire setup as a user who can write there, or link it to quagmire-cxx by hand",
            link.display()
        ))),
    }
}

/// Builds the engine by cargo, and puts it at this path. A build that is interrupted goes on where it was.
fn build(path: &Path) -> Result<PathBuf> {
    let (folder, work) = match path.parent().and_then(|folder| Some((folder, folder.parent()?.join("build")))) {
        Some(folders) => folders,
        None => return Err(Error::other(format!("{} is in no folder", path.display()))),
    };
    let unwritten = |at: &Path| {
        let at = at.display().to_string();
        move |error: io::Error| {
            Error::other(format!("{at}: {error}: make room or rights there, or set XDG_DATA_HOME to another folder"))
        }
    };
    fs::create_dir_all(&work).map_err(unwritten(&work))?;
    for (name, text) in [("Cargo.toml", MANIFEST), ("lib.rs", SOURCE)] {
        fs::write(work.join(name), text).map_err(unwritten(&work))?;
    }
    fetch(&work)?;
    plain::print("engine: building it, which takes some minutes\n", Form::Lines)?;
    let status = cargo(&work, &["build", "--release", "--offline"]).stdout(Stdio::null()).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(Error::other(format!(
            "cargo cannot build the engine (its messages are above): repair that and run quagmire setup again, or {OTHERWISE}"
        )));
    }
    let made = work.join("target/release").join(ENGINE);
    fs::create_dir_all(folder).and_then(|()| fs::rename(&made, path)).map_err(unwritten(path))?;
    // a gigabyte that nobody needs again
    let _ = fs::remove_dir_all(&work);
    Ok(path.to_owned())
}

/// Fetches the sources, so that a missing network is told in one line.
fn fetch(work: &Path) -> Result<()> {
    let output = cargo(work, &["fetch", "--quiet"]).stdin(Stdio::null()).output().map_err(|error| {
        let oldest = env!("CARGO_PKG_RUST_VERSION");
        Error::other(format!(
            "cannot start cargo, which builds the engine ({error}): install Rust {oldest} or newer (https://rustup.rs), or \
             {OTHERWISE}"
        ))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let why =
        lines.iter().find(|line| line.starts_with("error")).or(lines.last()).copied().unwrap_or("it says nothing");
    Err(Error::other(format!(
        "cargo cannot fetch quagmire {} ({}): run quagmire setup where crates.io can be reached, or {OTHERWISE}",
        env!("CARGO_PKG_VERSION"),
        why.trim_start_matches("error: ")
    )))
}

/// A command of cargo in the folder of the crate, whatever the folders, target and toolchain of the user's project are.
fn cargo(work: &Path, arguments: &[&str]) -> process::Command {
    let mut command = process::Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.args(arguments).current_dir(work).env("CARGO_TARGET_DIR", work.join("target"));
    for variable in ["CARGO_BUILD_TARGET", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"] {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_that_of_a_checkout() {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/src/lib.rs");
        assert!(fs::read_to_string(checkout).expect("a checkout").ends_with(SOURCE));
        assert!(MANIFEST.contains(concat!("\"=", env!("CARGO_PKG_VERSION"), "\"")), "{MANIFEST}");
    }

    #[test]
    fn the_cpp_compiler_is_linked_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().join("quagmire");
        assert_eq!(link(&own), Ok(None), "a package brings its own");
        fs::write(folder.path().join("quagmire-cxx"), "").expect("written");
        let made = folder.path().join("quagmire-c++");
        assert_eq!(link(&own), Ok(Some(made.clone())));
        assert_eq!(fs::read_link(made).expect("a link"), Path::new("quagmire-cxx"));
        assert_eq!(link(&own), Ok(None));
    }
}
