//! A new corpus as a folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    atomic::unwritable,
    error::{Error, Result},
    files::{Folder, FreeNames},
};

/// Folder for a new corpus, whose files keep their names.
#[derive(Debug)]
pub struct CorpusFolder {
    path: PathBuf,
    names: FreeNames,
}

impl CorpusFolder {
    /// Checks that a folder is empty, or does not exist.
    ///
    /// # Errors
    /// If it holds files, or is something else.
    pub fn check(path: &Path) -> Result<()> {
        if fs::symlink_metadata(path).is_err()
            || Folder::named(path).is_empty().map_err(|error| unwritable(path, &error))?
        {
            return Ok(());
        }
        let shown = path.display();
        Err(Error::other(format!("{shown} holds files already: choose another folder with -o, or empty it")))
    }

    /// Makes the folder; it may exist if it is empty.
    pub fn create(path: &Path) -> Result<Self> {
        Self::check(path)?;
        fs::create_dir_all(path).map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), names: FreeNames::default() })
    }

    /// Writes an input that was read from `path`. Returns the name of its file.
    pub fn write(&mut self, path: &Path, input: &[u8]) -> Result<String> {
        let name = self.names.of(path);
        let folder = Folder::named(&self.path);
        folder.write_whole(&name, input).map_err(|error| unwritable(&self.path.join(&name), &error))?;
        Ok(name)
    }
}
