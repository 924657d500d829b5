//! Kinds of files, told by their names.

use std::path::Path;

/// Whether a path is one of tests, examples, documents or packaging, and no part of the library.
pub(super) fn is_aside(path: &Path) -> bool {
    const FOLDERS: &str = "test tests testing unittest unittests example examples sample samples demo demos doc docs debian bench \
         benchmark benchmarks fuzz fuzzing fuzzer contrib win32 windows msvc vcnet cmake t third_party \
         third-party thirdparty 3rdparty 3rd_party extern external externals vendor vendored deps dependencies \
         submodules subprojects";
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    let is_test = path.file_stem().is_some_and(|stem| {
        let stem = stem.to_string_lossy();
        stem.starts_with("test_") || stem.ends_with("_test") || stem == "test" || stem.ends_with("_unittest")
    });
    is_test || folders.any(|part| FOLDERS.split(' ').any(|name| part.as_os_str().eq_ignore_ascii_case(name)))
}

/// Whether a file has one of these endings.
pub(super) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one))
}

pub(super) fn is_header(path: &Path) -> bool {
    has_ending(path, &["h", "hh", "hpp", "hxx", "h++"])
}

/// Whether a file is a source and no header.
pub(super) fn is_source(path: &Path) -> bool {
    has_ending(path, &["c", "cc", "cpp", "cxx"])
}

/// Whether a source is in C, by its name.
pub(super) fn is_c(path: &Path) -> bool {
    has_ending(path, &["c"])
}
