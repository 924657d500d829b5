//! Generators in front of programs: shared objects with one function, which the fork server opens.

use std::{
    io::ErrorKind,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use object::{Object, ObjectKind, ObjectSymbol};

use super::{input::Input, launch::cannot};
use crate::abi::{PATH_BYTES, Served};
use quagmire_base::error::{Error, Result};

/// Function that a generator has (`quagmire/draws.h`).
const FUNCTION: &str = "qgm_generate";

/// Checks the file of a generator, and returns its absolute path.
///
/// # Errors
/// A usage error that names the remedy, if the file is no shared object with `qgm_generate`.
pub fn checked(path: &Path) -> Result<PathBuf> {
    let refused = |what: String| Error::usage(format!("--generator {}: {what}", path.display()));
    let data = std::fs::read(path).map_err(|error| {
        refused(match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("it cannot be read: {error}"),
        })
    })?;
    let file = object::File::parse(&*data).ok().filter(|file| file.kind() == ObjectKind::Dynamic);
    let file = file.ok_or_else(|| {
        refused("it is no shared object: build one with quagmire-cc -shared -fPIC (the book, Generators)".to_owned())
    })?;
    let is_function = |name: object::Result<&str>| name == Ok(FUNCTION);
    if !file.dynamic_symbols().any(|symbol| symbol.is_definition() && is_function(symbol.name())) {
        return Err(refused(format!(
            "it does not define {FUNCTION}, as quagmire/draws.h declares it: in C++, include that"
        )));
    }
    let absolute = std::path::absolute(path).map_err(|error| refused(error.to_string()))?;
    if absolute.as_os_str().len() >= PATH_BYTES {
        return Err(refused("its path is too long".to_owned()));
    }
    Ok(absolute)
}

/// Stores the path of the generator for the server that is about to start.
pub(super) fn name(served: &mut Served, path: &Path) {
    let path = path.as_os_str().as_bytes();
    let length = path.len().min(PATH_BYTES - 1);
    served.generator[..length].copy_from_slice(&path[..length]);
}

/// The reason that the server has left, in one line.
pub(super) fn reason(served: &Served) -> String {
    let text = served.generator.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).replace(char::is_control, " ")
}

/// Makes memory for the inputs that the generator gets.
///
/// # Errors
/// If there is none.
pub(super) fn choices() -> Result<Input> {
    let mut choices = Input::new(false).map_err(cannot("make memory for inputs"))?;
    choices.map().map_err(cannot("map memory for inputs"))?;
    Ok(choices)
}
