//! The program of a command that is run as it is, found as a shell finds it.

use std::{
    ffi::{OsStr, OsString},
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use crate::recognise::check_file;
use quagmire_base::error::{Error, Result};

/// Returns the path of a program: as it is if it has a slash, otherwise in the folders of `PATH`.
///
/// # Errors
/// A target error if there is no such program, or its file is not executable.
pub fn program(name: &OsStr) -> Result<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        let path = Path::new(name);
        return check_file(path).map(|()| path.to_owned());
    }
    in_folders(name, &std::env::var_os("PATH").unwrap_or_default()).ok_or_else(|| {
        let shown = Path::new(name).display();
        let is_here = Path::new(name).is_file();
        let remedy = if is_here { format!("write ./{shown}") } else { "name it by its path, or install it".to_owned() };
        Error::target(format!("there is no program {shown} in the folders of PATH: {remedy}"))
    })
}

fn in_folders(name: &OsStr, folders: &OsString) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(folders).map(|folder| folder.join(name)).find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_first_folder_that_has_one() {
        let folders = OsString::from("/nowhere:/bin:/usr/bin");
        assert_eq!(in_folders(OsStr::new("sh"), &folders), Some("/bin/sh".into()));
        assert_eq!(in_folders(OsStr::new("no such program"), &folders), None);
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_the_remedy() {
        let refused = |name: &str| program(OsStr::new(name)).expect_err("no program").message;
        assert!(refused("no-such-program").contains("no-such-program in the folders of PATH: name it by its path"));
        assert!(refused("Cargo.toml").ends_with("write ./Cargo.toml"));
        assert!(refused("./Cargo.toml").contains("is not executable"));
        assert!(refused("/bin").contains("is a folder"));
        assert!(refused("./no-such-program").contains("does not exist"));
    }
}
