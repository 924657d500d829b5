//! Properties of clang's options, in particular which take the next argument as their value: a value must not be
//! taken for an input or an option (`-o -c`, `-MF a.c`, `-Xlinker -r`).
//!
//! The table was made by passing every option that clang 14 and 19 complete (`--autocomplete=-`) to `clang -###` with
//! a file name after it, and checking whether clang treated that as an input.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Whether this option, in exactly this spelling, takes the next argument.
pub(crate) fn takes_value(option: &str) -> bool {
    TAKES_VALUE.binary_search(&option).is_ok()
        || option.starts_with("-Xarch_")
        || option.starts_with("-Xopenmp-target=")
}

/// Whether this option makes clang print information about itself and exit, whatever else the command line contains.
pub(crate) fn only_prints(option: &str) -> bool {
    let bare = option.strip_prefix("--").or(option.strip_prefix('-')).unwrap_or(option);
    bare.starts_with("print-")
        || (option.starts_with("--autocomplete="))
        || matches!(bare, "version" | "help" | "help-hidden" | "dumpversion" | "dumpmachine" | "dumpspecs")
}

/// Whether this option chooses the compile target, and so which runtime object fits.
pub(crate) fn chooses_compile_target(option: &str) -> bool {
    matches!(option, "-m32" | "-m64" | "-mx32" | "-target" | "--sysroot" | "-isysroot" | "-gcc-toolchain")
        || ["--target=", "--sysroot=", "--gcc-toolchain=", "-mabi=", "-mfloat-abi="]
            .iter()
            .any(|o| option.starts_with(o))
}

/// The flags that choose the compile target, with absolute paths instead of those relative to the working folder.
pub(crate) fn with_absolute_paths(flags: &[OsString]) -> Vec<OsString> {
    let absolute = |path: &OsStr| std::path::absolute(path).map_or_else(|_| path.to_owned(), PathBuf::into_os_string);
    let mut is_path = false;
    let mut one = |flag: &OsString| {
        let text = flag.to_string_lossy();
        if std::mem::replace(&mut is_path, ["--sysroot", "-isysroot", "-gcc-toolchain"].contains(&&*text)) {
            return absolute(flag);
        }
        let joined = ["--sysroot=", "--gcc-toolchain="].into_iter().find(|option| text.starts_with(option));
        joined.map_or_else(
            || flag.clone(),
            |option| {
                let path = absolute(OsStr::from_bytes(&flag.as_bytes()[option.len()..]));
                [OsStr::new(option), &path].into_iter().collect()
            },
        )
    };
    flags.iter().map(&mut one).collect()
}

/// Options that take the next argument as their value; sorted for the binary search.
#[rustfmt::skip]
const TAKES_VALUE: &[&str] = &[
    "--CLASSPATH", "--analyzer-output", "--assert", "--bootclasspath", "--classpath", "--config",
    "--define-macro", "--dyld-prefix", "--encoding", "--extdirs", "--for-linker", "--force-link", "--imacros",
    "--include", "--include-directory", "--include-directory-after", "--include-prefix", "--include-with-prefix",
    "--include-with-prefix-after", "--include-with-prefix-before", "--language", "--library-directory",
    "--no-system-header-prefix", "--output", "--param", "--prefix", "--resource", "--rtlib",
    "--serialize-diagnostics", "--specs", "--std", "--stdlib", "--sysroot", "--system-header-prefix",
    "--undefine-macro", "--vfsoverlay", "-A", "-B", "-D", "-F", "-G", "-I", "-L", "-MF", "-MJ", "-MQ", "-MT",
    "-T", "-Tbss", "-Tdata", "-Ttext", "-U", "-V", "-Xanalyzer", "-Xarch_device", "-Xarch_host", "-Xassembler",
    "-Xclang", "-Xcuda-fatbinary", "-Xcuda-ptxas", "-Xlinker", "-Xoffload-linker", "-Xopenmp-target",
    "-Xpreprocessor", "-arch", "-arcmt-migrate-report-output", "-b", "-bundle_loader", "-ccc-arcmt-migrate",
    "-ccc-gcc-name", "-ccc-install-dir", "-ccc-objcmt-migrate", "-compatibility_version", "-current_version",
    "-cxx-isystem", "-darwin-target-variant", "-darwin-target-variant-triple", "-dependency-dot",
    "-dependency-file", "-dsym-dir", "-dumpdir", "-e", "-exported_symbols_list", "-fdebug-compilation-dir",
    "-fexperimental-openacc-macro-override", "-filelist", "-fmodules-user-build-path", "-fnew-alignment",
    "-force_load", "-framework", "-ftrapv-handler", "-fxray-instruction-threshold", "-gen-cdb-fragment-path",
    "-hlsl-entry", "-iapinotes-modules", "-idirafter", "-iframework", "-iframeworkwithsysroot", "-imacros",
    "-imultilib", "-include", "-include-pch", "-init", "-install_name", "-iprefix", "-iquote", "-isysroot",
    "-isystem", "-isystem-after", "-ivfsoverlay", "-iwithprefix", "-iwithprefixbefore", "-iwithsysroot", "-l",
    "-mllvm", "-mmlir", "-module-dependency-dir", "-mthread-model", "-o", "-object-file-name", "-resource-dir",
    "-rpath", "-serialize-diagnostics", "-specs", "-stdlib++-isystem", "-target", "-u", "-undefined",
    "-validator-version", "-vfsoverlay", "-weak_framework", "-weak_library", "-working-directory", "-x", "-z",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_compile_target_are_absolute_and_the_rest_is_as_it_was() {
        let here = std::env::current_dir().unwrap().into_os_string().into_string().unwrap();
        let flags =
            ["-m32", "--sysroot=root", "-isysroot", "root", "--sysroot=/", "-target", "root"].map(OsString::from);
        let expected = format!("-m32 --sysroot={here}/root -isysroot {here}/root --sysroot=/ -target root");
        assert_eq!(with_absolute_paths(&flags).join(OsStr::new(" ")), OsString::from(expected));
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(TAKES_VALUE.is_sorted());
    }

    #[test]
    fn joined_forms_take_no_further_argument() {
        for option in ["-ofile", "-Iinclude", "-DX=1", "-lm", "-Wl,-r", "-c", "-MD", "-MMD", "--param=x=1", "-xc"] {
            assert!(!takes_value(option), "{option}");
        }
        for option in
            ["-o", "-I", "-D", "-x", "-MF", "-MT", "-Xlinker", "-Xarch_host", "-include", "-target", "--param"]
        {
            assert!(takes_value(option), "{option}");
        }
    }
}
