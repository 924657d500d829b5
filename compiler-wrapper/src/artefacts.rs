//! Files compiled on first use from sources embedded in the wrapper: the pass plugin for the chosen clang, and the
//! objects that executables are linked with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use include_dir::{Dir, include_dir};

use crate::Error;
use crate::archive::archive;
use crate::cache::{Cache, digest, stamp};
use crate::plan::{Objects, Part};
use crate::settings::{MutantsKind, PassVariant};
use crate::toolchain::Toolchain;

/// Sources of the plugins: the file that is compiled for each includes others.
static PASSES: Dir = include_dir!("$CARGO_MANIFEST_DIR/passes");
static RUNTIME: Dir = include_dir!("$CARGO_MANIFEST_DIR/runtime");
/// Headers for generators, found before clang's.
static INCLUDE: Dir = include_dir!("$CARGO_MANIFEST_DIR/include");

/// The one of them that `QUAGMIRE_DRAWS=include` includes, and the one that the runtime does.
const PROVIDER: &str = "fuzzer/FuzzedDataProvider.h";
const HOOKS: &str = "quagmire/draw_hooks.h";

/// The files of each part, in the order in which they are linked. `serve` is the last of its part: the stack of its signal
/// handlers comes after all other variables.
const UNITS: [(Part, &str); 11] = [
    (Part::Always, "runtime objects comparisons hashes charges draws parts window"),
    (Part::InProcess, "inprocess mutator extra closed sancov sancov_unused widen sancov_comparisons strings"),
    (Part::Serve, "run counts active afl diversity testcase generator loop opened sancov_refused serve"),
    (Part::Mutants, "mutants mutants_named"),
    (Part::MutantsServe, "mutants_serve"),
    (Part::MutantsForeign, "mutants_foreign"),
    (Part::Faults, "faults"),
    (Part::Performance, "performance"),
    (Part::Driver, "driver"),
    (Part::Main, "main"),
    (Part::Heap, "heap"),
];

/// Functions of the engine that the runtime calls.
const ENTRIES: [&str; 2] = ["quagmire_engine_main", "quagmire_engine_mutate"];

/// Archive of `main.c`, so that a program may have its own `main`.
const MAIN_ARCHIVE: &str = "libquagmire-main.a";
const SCRIPT: &str = "counts.ld";
/// File name of the engine.
pub const ENGINE: &str = "libquagmire.a";

// LLVM's own flags name an older standard up to LLVM 15
const PLUGIN_FLAGS: &[&str] = &["-shared", "-fPIC", "-O2", "-fno-rtti", "-fno-exceptions"];
// keeps clang from turning the allocator's code into calls of another allocator
const RUNTIME_FLAGS: &[&str] = &["-O2", "-g0", "-fPIC", "-fno-sanitize=all", "-fno-builtin", "-c"];

/// Environment variables that would make clang write files into the user's build, or change its command line.
const UNWANTED_VARIABLES: &[&str] =
    &["CCC_OVERRIDE_OPTIONS", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CC_PRINT_HEADERS", "CC_PRINT_OPTIONS"];

/// A file of a folder in the wrapper: its path there, and its text.
type Source = (&'static Path, &'static [u8]);

/// All files of a folder, sorted.
fn sources(folder: &'static Dir) -> Vec<Source> {
    let mut all: Vec<Source> = folder.files().map(|file| (file.path(), file.contents())).collect();
    all.extend(folder.dirs().flat_map(sources));
    all.sort_unstable();
    all
}

/// Path of a file in a folder of the cache that has all of these files.
fn stored(cache: &Cache, kind: &str, sources: &[Source], file: &str) -> Result<PathBuf, Error> {
    let key = digest(sources.iter().flat_map(|(path, text)| [path.as_os_str().as_encoded_bytes(), text]));
    cache.file(&format!("{kind}-{key}"), file, |folder| {
        sources.iter().try_for_each(|(path, text)| {
            let file = folder.join(path);
            let above = file.parent().unwrap_or(folder);
            let written = std::fs::create_dir_all(above).and_then(|()| std::fs::write(&file, text));
            written.map_err(|error| Error::Cache { path: file, problem: error.to_string() })
        })
    })
}

/// Path of FuzzedDataProvider.h, two folders below the one with the headers for generators.
pub(crate) fn provider(cache: &Cache) -> Result<PathBuf, Error> {
    stored(cache, "include", &sources(&INCLUDE), PROVIDER)
}

/// Path of the linker script that gives counts pages of their own.
pub fn script(cache: &Cache) -> Result<PathBuf, Error> {
    let script: Vec<Source> = sources(&RUNTIME).into_iter().filter(|(path, _)| *path == Path::new(SCRIPT)).collect();
    stored(cache, "script", &script, SCRIPT)
}

/// Path of the pass plugin for this clang, in this variant. Each variant is a file of its own, so that a command shows
/// which one it uses.
pub(crate) fn plugin(cache: &Cache, toolchain: &Toolchain, pass: PassVariant) -> Result<PathBuf, Error> {
    let compares = pass.compares.then_some("-DQUAGMIRE_COMPARES=1");
    let every_block = pass.every_block.then_some("-DQUAGMIRE_EVERY_BLOCK=1");
    let no_library_costs = (!pass.library_costs).then_some("-DQUAGMIRE_NO_LIBRARY_COSTS=1");
    let own: Vec<&str> = [compares, every_block, no_library_costs].into_iter().flatten().collect();
    compiled_plugin(cache, toolchain, "counts", &own)
}

/// Path of the plugin that makes mutants of a kind, for this clang.
pub(crate) fn mutants_plugin(cache: &Cache, toolchain: &Toolchain, kind: MutantsKind) -> Result<PathBuf, Error> {
    let name = match kind {
        MutantsKind::Faults => "mutants",
        MutantsKind::Performance => "performance",
    };
    compiled_plugin(cache, toolchain, name, &[])
}

/// Path of the plugin that is compiled from `NAME.cc`, with options of its own.
fn compiled_plugin(cache: &Cache, toolchain: &Toolchain, name: &str, options: &[&str]) -> Result<PathBuf, Error> {
    let sources = sources(&PASSES);
    // an option may be wrong for one clang only: its LLVM's flags come last
    let theirs = toolchain.cxxflags.iter().map(String::as_str);
    let flags: Vec<&str> = PLUGIN_FLAGS.iter().chain(options).copied().chain(theirs).collect();
    let about = [toolchain.identity.as_str(), name].into_iter().chain(flags.iter().copied()).map(str::as_bytes);
    let key = digest(about.chain(sources.iter().map(|(_, text)| *text)));
    let file = format!("quagmire-{name}.so");
    cache.file(&format!("plugin-{}-{key}", toolchain.major), &file, |folder| {
        let mut command = Command::new(&toolchain.clangxx);
        command.args(&flags).arg(format!("{name}.cc")).args(["-o", &file]);
        compile(command, "the pass plugin", toolchain, folder, &sources)
    })
}

/// Paths of the objects for this clang and for the compile target chosen by the user's flags.
pub(crate) fn objects(cache: &Cache, toolchain: &Toolchain, compile_target: &[OsString]) -> Result<Objects, Error> {
    let units = || UNITS.iter().flat_map(|(_, units)| units.split(' '));
    let mut sources = sources(&RUNTIME);
    sources.extend(INCLUDE.get_file(HOOKS).map(|hooks| (hooks.path(), hooks.contents())));
    let about = [toolchain.identity.as_bytes()].into_iter().chain(sources.iter().map(|(_, text)| *text));
    let flags = RUNTIME_FLAGS.iter().map(|flag| flag.as_bytes());
    let key = digest(about.chain(flags).chain(compile_target.iter().map(|flag| flag.as_encoded_bytes())));
    let first = cache.file(&format!("objects-{}-{key}", toolchain.major), &object_name("runtime"), |folder| {
        for unit in units() {
            let mut command = Command::new(&toolchain.clang);
            command.args(compile_target).args(RUNTIME_FLAGS);
            command.args([&format!("{unit}.c"), "-o", &object_name(unit)]);
            compile(command, "the runtime", toolchain, folder, &sources)?;
        }
        let (object, file) = (folder.join(object_name("main")), folder.join(MAIN_ARCHIVE));
        let written =
            std::fs::read(object).and_then(|object| std::fs::write(&file, archive("main.o", &object, "main")));
        written.map_err(|error| Error::Cache { path: file, problem: error.to_string() })
    })?;
    let built = |(part, units): &(Part, &str)| {
        let name = |unit| if *part == Part::Main { MAIN_ARCHIVE.into() } else { object_name(unit) };
        (*part, units.split(' ').map(|unit| first.with_file_name(name(unit))).collect())
    };
    Ok(UNITS.iter().map(built).collect())
}

/// Name of the object that a file of the runtime is compiled to.
fn object_name(unit: &str) -> String {
    format!("quagmire-{unit}.o")
}

/// Path of the in-process engine: `QUAGMIRE_ENGINE`, or else `libquagmire.a` next to the wrapper, in `../lib/quagmire`
/// relative to it, or where `quagmire setup` has built it.
pub fn engine(
    named: Option<OsString>,
    executable: Option<PathBuf>,
    of_user: Option<PathBuf>,
) -> Result<PathBuf, Error> {
    let mut tried = Vec::new();
    if let Some(named) = named {
        tried.push(PathBuf::from(named));
    } else {
        if let Some(folder) = executable.as_deref().and_then(Path::parent) {
            tried.push(folder.join(ENGINE));
            tried.extend(folder.parent().map(|above| above.join("lib/quagmire").join(ENGINE)));
        }
        tried.extend(of_user);
    }
    tried.iter().find(|path| path.is_file()).cloned().ok_or(Error::NoEngine { tried })
}

/// Path at which `quagmire setup` builds the engine of this version: below `$XDG_DATA_HOME` or `$HOME/.local/share`; `None`
/// if neither is an absolute path.
pub fn engine_of_user(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("quagmire").join(env!("CARGO_PKG_VERSION")).join(ENGINE))
}

/// Path of an object with what harnesses use of the engine's archive: they are half as large, and linked in a third of the
/// time. The archive itself if this machine's linker cannot make it. There is one for each path of an archive.
pub(crate) fn slim(cache: &Cache, archive: PathBuf) -> Result<PathBuf, Error> {
    let key = digest([archive.as_os_str().as_encoded_bytes()]);
    let name = format!("{}.o", digest([stamp(&archive).unwrap_or_default().as_bytes()]));
    cache.file(&format!("engine-{key}"), &name, |folder| {
        let object = folder.join(&name);
        let succeeds = |command: &mut Command| {
            let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        let mut link = Command::new("ld.bfd");
        link.args(["-r", "--gc-sections", "--strip-debug"]).args(ENTRIES.map(|entry| format!("--undefined={entry}")));
        let mut hide = Command::new("objcopy");
        // the target may be in Rust, too
        hide.args(ENTRIES.map(|entry| format!("--keep-global-symbol={entry}"))).arg("--strip-unneeded");
        // pieces of several, which tools that know bitcode could not read
        hide.args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"]).arg(&object);
        if succeeds(link.arg(&archive).arg("-o").arg(&object)) && succeeds(&mut hide) {
            return Ok(());
        }
        let _ = std::fs::remove_file(&object);
        let linked = std::os::unix::fs::symlink(&archive, &object);
        linked.map_err(|error| Error::Cache { path: object, problem: error.to_string() })
    })
}

/// Runs a compile command in `folder`, in which the sources are stored by their names while it runs.
fn compile(
    mut command: Command,
    what: &'static str,
    toolchain: &Toolchain,
    folder: &Path,
    sources: &[Source],
) -> Result<(), Error> {
    let clang = PathBuf::from(command.get_program());
    let failed = |messages| Error::Build { what, clang, messages, major: toolchain.major };
    for name in UNWANTED_VARIABLES {
        command.env_remove(name);
    }
    let stored = |path: &Path| folder.join(path.file_name().unwrap_or_default());
    let written = sources.iter().try_for_each(|(path, text)| std::fs::write(stored(path), text));
    match written.and_then(|()| command.current_dir(folder).stdin(Stdio::null()).output()) {
        Ok(output) if output.status.success() => {}
        Ok(output) => return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => return Err(failed(error.to_string())),
    }
    for (path, _) in sources {
        // the cache keeps only what is used later
        let _ = std::fs::remove_file(stored(path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_of_the_engine_has_the_units_of_a_harness() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/engine-archive");
        let script = std::fs::read_to_string(script).unwrap();
        let units = script.lines().find_map(|line| line.strip_prefix("for unit in ")?.strip_suffix("; do")).unwrap();
        let linked = [0, 1, 9, 10].map(|part| UNITS[part].1);
        assert_eq!(units, linked.join(" "));
    }

    #[test]
    fn the_engine_is_looked_for_beside_the_wrapper_and_in_lib() {
        let scratch = tempfile::tempdir().unwrap();
        let wrapper = scratch.path().join("bin/quagmire-cc");
        let home = |variable: &str| (variable == "HOME").then(|| scratch.path().into());
        let own = engine_of_user(home).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(own, scratch.path().join(format!(".local/share/quagmire/{version}/libquagmire.a")));
        assert_eq!(engine_of_user(|_| Some("share".into())), None, "relative to what?");
        let engine = |named: Option<&str>| engine(named.map(OsString::from), Some(wrapper.clone()), Some(own.clone()));
        let error = engine(None).unwrap_err().to_string();
        assert!(error.contains("bin/libquagmire.a") && error.contains("run quagmire setup"), "{error}");
        for archive in [&own, &scratch.path().join("lib/quagmire/libquagmire.a")] {
            std::fs::create_dir_all(archive.parent().unwrap()).unwrap();
            std::fs::write(archive, "").unwrap();
            assert_eq!(engine(None).as_ref(), Ok(archive));
        }
        assert!(engine(Some("/nowhere/libquagmire.a")).is_err(), "a named one is not replaced");
    }
}
