//! Files that fuzzing leaves: inputs by their SHA-1, and artifacts of findings.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf, absolute},
};

use quagmire_base::{
    atomic::write_whole,
    error::{Error, Result},
};
use sha1::{Digest as _, Sha1};

use super::{console::Console, flags::Flags};

/// Name of an input: its SHA-1 in hexadecimal digits.
pub(super) fn name_of(input: &[u8]) -> String {
    Sha1::digest(input).iter().fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// Writes an input into a folder under its name, unless it is there. Returns its path.
pub(super) fn write_input(folder: &Path, input: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name_of(input));
    if !path.exists() {
        write_whole(&path, input)?;
    }
    Ok(path)
}

/// Checks that the folders of artifacts exist, and creates them if `-create_missing_dirs` says so.
///
/// # Errors
/// If one does not exist, or cannot be created.
pub(super) fn check_places(flags: &Flags) -> Result<()> {
    for name in ["artifact_prefix", "exact_artifact_path"] {
        let Some((folder, _)) = flags.text(name).and_then(|path| path.rsplit_once('/')) else { continue };
        let folder = Path::new(if folder.is_empty() { "/" } else { folder });
        if flags.is_on("create_missing_dirs") && !folder.exists() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::other(format!("{} cannot be created: {error}", folder.display())))?;
        }
        if !folder.is_dir() {
            return Err(Error::other(format!(
                "-{name}: the folder {} does not exist: create it, or add -create_missing_dirs=1",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// Where artifacts are written.
#[derive(Clone, Debug)]
pub(super) struct Artifacts {
    prefix: String,
    exact: Option<String>,
    /// Working folder at the start, since the target may change it.
    start: PathBuf,
}

impl Artifacts {
    /// Takes the places from the flags.
    pub(super) fn new(flags: &Flags) -> Self {
        Self {
            prefix: flags.text("artifact_prefix").unwrap_or("./").to_owned(),
            exact: flags.text("exact_artifact_path").map(str::to_owned),
            start: absolute(".").unwrap_or_default(),
        }
    }

    /// Path of the artifact of an input, as it is shown. `kind` is the start of its name, such as `crash-`.
    pub(super) fn path(&self, kind: &str, input: &[u8]) -> String {
        match &self.exact {
            Some(path) => path.clone(),
            None => format!("{}{kind}{}", self.prefix, name_of(input)),
        }
    }

    /// Writes an artifact, and says so in the line that other programs look for. Returns its path.
    pub(super) fn write(&self, kind: &str, input: &[u8], console: &Console) -> Result<PathBuf> {
        self.write_as(&self.path(kind, input), input, console)
    }

    /// Writes an artifact to a path that is given.
    pub(super) fn write_as(&self, shown: &str, input: &[u8], console: &Console) -> Result<PathBuf> {
        let path = self.start.join(shown.trim_start_matches("./"));
        write_whole(&path, input)?;
        console.say(&format!("artifact_prefix='{}'; Test unit written to {shown}", self.prefix));
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_named_by_their_sha1_and_written_once() {
        assert_eq!(name_of(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let folder = tempfile::tempdir().unwrap();
        let path = write_input(folder.path(), b"abc").unwrap();
        let written = path.metadata().unwrap().modified().unwrap();
        assert_eq!(write_input(folder.path(), b"abc").unwrap(), path);
        assert_eq!(path.metadata().unwrap().modified().unwrap(), written);
    }
}
