//! Source files of a program, by its debug information.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use quagmire_base::error::{Error, Result};
use quagmire_base::files;

/// A requested source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path in the debug information.
    pub path: String,
    /// Numbers of lines with code, ascending.
    pub lines: Vec<u32>,
}

/// Error of a program that knows no source lines, and the remedy.
pub(crate) const WITHOUT_LINES: &str = "the program was built without -g and knows no source lines; build it again with -g, and \
                                        with a PC table where SanitizerCoverage counts";

/// Maximum number of paths listed in an error.
const CANDIDATES: usize = 6;

/// Finds the file that `wanted` names among all `files` of the debug information: the same file, or one whose path
/// ends with it (or vice versa, if the build shortened its paths). `option` is the option that named it, for errors.
///
/// # Errors
/// A usage error with the closest paths if none or several match; a target error without debug information.
pub(crate) fn find(files: &BTreeMap<String, Vec<u32>>, wanted: &Path, option: &str) -> Result<SourceFile> {
    let name = wanted.display();
    if files.is_empty() {
        return Err(Error::target(format!("{option} {name}: {WITHOUT_LINES}")));
    }
    let found = |path: &String| SourceFile { path: path.clone(), lines: files[path].clone() };
    if let Ok(real) = wanted.canonicalize() {
        let same =
            |path: &&String| Path::new(path).file_name() == real.file_name() && same_file(Path::new(path), &real);
        if let Some(path) = files.keys().find(same) {
            return Ok(found(path));
        }
    }
    let fitting = fitting(files, wanted);
    match fitting.as_slice() {
        [path] => Ok(found(path)),
        [] => Err(Error::usage(format!(
            "{option} {name}: no source file of the program has this path: give one of {}",
            listed(&closest(files, wanted))
        ))),
        _ => Err(Error::usage(format!(
            "{option} {name} could be several source files: give more of the path: {}",
            listed(&fitting)
        ))),
    }
}

/// Paths among `files` that end with `wanted`, or that it ends with.
pub(crate) fn fitting<'a>(files: &'a BTreeMap<String, Vec<u32>>, wanted: &Path) -> Vec<&'a String> {
    let wanted_parts = parts(wanted);
    let fits = |path: &&String| {
        let parts = parts(Path::new(path));
        !wanted_parts.is_empty() && (parts.ends_with(&wanted_parts) || wanted_parts.ends_with(&parts))
    };
    files.keys().filter(fits).collect()
}

fn same_file(path: &Path, real: &Path) -> bool {
    path.is_absolute() && path.canonicalize().is_ok_and(|path| path == real)
}

/// Components of a path without root, `.` and `..`.
fn parts(path: &Path) -> Vec<Component<'_>> {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

/// The paths closest to `wanted`: those with the same name, or else the same stem, or else all; files with most code
/// first, since the user's own files have more of it than headers.
fn closest<'a>(files: &'a BTreeMap<String, Vec<u32>>, wanted: &Path) -> Vec<&'a String> {
    let distance = |path: &&String| {
        let path = Path::new(path);
        match (path.file_name() == wanted.file_name(), path.file_stem() == wanted.file_stem()) {
            (true, _) => 0,
            (_, true) => 1,
            _ => 2,
        }
    };
    let nearest = files.keys().map(|path| distance(&path)).min().unwrap_or(2);
    let mut paths: Vec<&String> = files.keys().filter(|path| distance(path) == nearest).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(files[*path].len()));
    paths
}

fn listed(paths: &[&String]) -> String {
    let shown: Vec<&str> = paths.iter().take(CANDIDATES).map(|path| path.as_str()).collect();
    let more = paths.len().saturating_sub(CANDIDATES);
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// Reads the text of a source file: of `wanted` if that exists, or else of the path in the debug information.
///
/// # Errors
/// If neither can be read.
pub(crate) fn read(wanted: &Path, file: &SourceFile) -> Result<Vec<String>> {
    let known = PathBuf::from(&file.path);
    let read = |path: &Path| files::read_named(path, files::LARGEST_TEXT);
    let bytes = read(wanted).or_else(|error| read(&known).map_err(|_| error)).map_err(|error| {
        let both = if wanted == known { String::new() } else { format!(", nor {}", known.display()) };
        Error::other(format!(
            "cannot read {}{both} ({error}): give --annotate the path where the source is now",
            wanted.display()
        ))
    })?;
    Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_base::error::ExitCode;

    fn files(paths: &[&str]) -> BTreeMap<String, Vec<u32>> {
        paths.iter().enumerate().map(|(at, path)| ((*path).to_owned(), (0..=at as u32).collect())).collect()
    }

    fn found(paths: &[&str], wanted: &str) -> String {
        find(&files(paths), Path::new(wanted), "--annotate").map_or_else(|error| error.message, |file| file.path)
    }

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        let paths = ["/build/lib/parse.c", "/build/tool/parse.c", "/usr/include/parse.h", "src/short.c"];
        assert_eq!(found(&paths, "lib/parse.c"), "/build/lib/parse.c");
        assert_eq!(found(&paths, "./tool/parse.c"), "/build/tool/parse.c");
        assert_eq!(found(&paths, "/build/lib/parse.c"), "/build/lib/parse.c");
        assert_eq!(found(&paths, "../parse.h"), "/usr/include/parse.h");
        assert_eq!(found(&paths, "/moved/src/short.c"), "src/short.c");
    }

    #[test]
    fn a_file_that_is_not_clear_is_refused_with_the_candidates() {
        let paths = ["/a/parse.c", "/b/parse.c", "/b/xparse.c", "/b/other.c"];
        let text = found(&paths, "parse.c");
        assert!(
            text.contains("several") && text.contains("/a/parse.c, /b/parse.c") && !text.contains("xparse"),
            "{text}"
        );
        let text = found(&paths, "c/parse.c");
        assert!(text.contains("no source file") && text.ends_with("give one of /b/parse.c, /a/parse.c"), "{text}");
        let text = found(&paths, "other.cc");
        assert!(text.ends_with("give one of /b/other.c"), "{text}");
        assert_eq!(find(&files(&paths), Path::new("x"), "--annotate").unwrap_err().code, ExitCode::Usage);
    }

    #[test]
    fn a_program_without_debug_information_says_so() {
        let error = find(&BTreeMap::new(), Path::new("a.c"), "--annotate").unwrap_err();
        assert_eq!(error.code, ExitCode::Target);
        assert!(error.message.contains("without -g"), "{error}");
    }
}
