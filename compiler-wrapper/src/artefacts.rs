//! Files compiled on first use from sources embedded in the wrapper: the pass plugin for the chosen clang, and the
//! objects that executables are linked with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;
use crate::archive::archive;
use crate::cache::{Cache, digest};
use crate::plan::Objects;
use crate::settings::{MutantsKind, PassVariant};
use crate::toolchain::Toolchain;

/// Sources of the pass plugin. The first one is compiled, and includes the others.
const PASS: &[(&str, &str)] = &[
    ("counts.cc", include_str!("../passes/counts.cc")),
    ("certain.h", include_str!("../passes/certain.h")),
    ("compares.h", include_str!("../passes/compares.h")),
    ("library_costs.h", include_str!("../passes/library_costs.h")),
    ("library_functions.h", include_str!("../passes/library_functions.h")),
    ("lines.h", include_str!("../passes/lines.h")),
    ("placement.h", include_str!("../passes/placement.h")),
    ("settings.h", include_str!("../passes/settings.h")),
    ("stack.h", include_str!("../passes/stack.h")),
    ("tokens.h", include_str!("../passes/tokens.h")),
    ("weight.h", include_str!("../passes/weight.h")),
    ("words.h", include_str!("../passes/words.h")),
];
/// Sources of the plugin that makes mutants.
const MUTANTS_PASS: &[(&str, &str)] = &[
    ("mutants.cc", include_str!("../passes/mutants/mutants.cc")),
    ("effects.h", include_str!("../passes/mutants/effects.h")),
    ("equivalents.h", include_str!("../passes/mutants/equivalents.h")),
    ("mutation.h", include_str!("../passes/mutants/mutation.h")),
    ("operators.h", include_str!("../passes/mutants/operators.h")),
    ("places.h", include_str!("../passes/mutants/places.h")),
    ("table.h", include_str!("../passes/mutants/table.h")),
    ("values.h", include_str!("../passes/mutants/values.h")),
];
/// Sources of the plugin that makes performance mutants.
const PERFORMANCE_PASS: &[(&str, &str)] = &[
    ("performance.cc", include_str!("../passes/performance/performance.cc")),
    ("addresses.h", include_str!("../passes/performance/addresses.h")),
    ("bounds.h", include_str!("../passes/performance/bounds.h")),
    ("caches.h", include_str!("../passes/performance/caches.h")),
    ("caching.h", include_str!("../passes/performance/caching.h")),
    ("emitter.h", include_str!("../passes/performance/emitter.h")),
    ("hashes.h", include_str!("../passes/performance/hashes.h")),
    ("hashing.h", include_str!("../passes/performance/hashing.h")),
    ("library_calls.h", include_str!("../passes/performance/library_calls.h")),
    ("library_costs.h", include_str!("../passes/library_costs.h")),
    ("library_functions.h", include_str!("../passes/library_functions.h")),
    ("loops.h", include_str!("../passes/performance/loops.h")),
    ("places.h", include_str!("../passes/mutants/places.h")),
    ("sites.h", include_str!("../passes/performance/sites.h")),
    ("table.h", include_str!("../passes/mutants/table.h")),
    ("variables.h", include_str!("../passes/performance/variables.h")),
    ("weight.h", include_str!("../passes/weight.h")),
];
/// A file of the runtime: its name and its text.
type Source = (&'static str, &'static str);

macro_rules! runtime {
    ($($file:literal),+) => {
        &[$(($file, include_str!(concat!("../runtime/", $file)))),+]
    };
}

const HEADERS: &[Source] = runtime!(
    "active.h",
    "afl.h",
    "closed.h",
    "comparisons.h",
    "counts.h",
    "diversity.h",
    "draws.h",
    "extra.h",
    "generator.h",
    "inprocess.h",
    "layout.h",
    "machine.h",
    "mutants.h",
    "mutator.h",
    "objects.h",
    "opened.h",
    "parts.h",
    "performance.h",
    "quagmire.h",
    "run.h",
    "sancov.h",
    "serve.h",
    "testcase.h",
    "threads.h",
    "widen.h",
    "window.h"
);
/// Linked into every executable.
const RUNTIME: &[Source] =
    runtime!("runtime.c", "objects.c", "comparisons.c", "charges.c", "draws.c", "parts.c", "window.c");
const IN_PROCESS: &[Source] = runtime!(
    "inprocess.c",
    "mutator.c",
    "extra.c",
    "closed.c",
    "sancov.c",
    "sancov_unused.c",
    "widen.c",
    "sancov_comparisons.c",
    "strings.c"
);
/// `serve.c` is the last: the stack of its signal handlers comes after all other variables.
const SERVE: &[Source] = runtime!(
    "run.c",
    "counts.c",
    "active.c",
    "afl.c",
    "diversity.c",
    "testcase.c",
    "generator.c",
    "loop.c",
    "opened.c",
    "sancov_refused.c",
    "serve.c"
);
/// Linked into programs with mutants, instead of `SERVE`.
const MUTANTS: &[Source] = runtime!("mutants.c", "mutants_named.c");
const MUTANTS_SERVE: &[Source] = runtime!("mutants_serve.c");
/// The same where another fuzzer runs them.
const MUTANTS_FOREIGN: &[Source] = runtime!("mutants_foreign.c");
/// Artefacts that mutants of one kind need.
const FAULTS: &[Source] = runtime!("faults.c");
const PERFORMANCE: &[Source] = runtime!("performance.c");
const DRIVER: &[Source] = runtime!("driver.c");
const MAIN: &[Source] = runtime!("main.c");
const HEAP: &[Source] = runtime!("heap.c");
/// Archive of `main.c`, so that a program may have its own `main`.
const MAIN_ARCHIVE: &str = "libquagmire-main.a";
const SCRIPT: &str = include_str!("../runtime/counts.ld");

// LLVM's own flags name an older standard up to LLVM 15
const PLUGIN_FLAGS: &[&str] = &["-shared", "-fPIC", "-O2", "-fno-rtti", "-fno-exceptions"];
// keeps clang from turning the allocator's code into calls of another allocator
const RUNTIME_FLAGS: &[&str] = &["-O2", "-g0", "-fPIC", "-fno-sanitize=all", "-fno-builtin", "-c"];

/// Environment variables that would make clang write files into the user's build, or change its command line.
const UNWANTED_VARIABLES: &[&str] =
    &["CCC_OVERRIDE_OPTIONS", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CC_PRINT_HEADERS", "CC_PRINT_OPTIONS"];

/// Headers for generators, found before clang's: their paths below the folder, and their text. The first is the one that
/// `QUAGMIRE_DRAWS=include` includes.
const INCLUDE: &[(&str, &str)] = &[
    ("fuzzer/FuzzedDataProvider.h", include_str!("../include/fuzzer/FuzzedDataProvider.h")),
    ("quagmire/draws.h", include_str!("../include/quagmire/draws.h")),
    ("quagmire/draw_hooks.h", include_str!("../include/quagmire/draw_hooks.h")),
    ("quagmire/observe.h", include_str!("../include/quagmire/observe.h")),
];

/// The one of them that the runtime includes.
const HOOKS: [Source; 1] = [("draw_hooks.h", INCLUDE[2].1)];

/// Path of FuzzedDataProvider.h, two folders below the one with the headers for generators.
pub(crate) fn provider(cache: &Cache) -> Result<PathBuf, Error> {
    let key = digest(INCLUDE.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]));
    cache.file(&format!("include-{key}"), INCLUDE[0].0, |folder| {
        INCLUDE.iter().try_for_each(|(name, text)| {
            let file = folder.join(name);
            let above = file.parent().unwrap_or(folder);
            let written = std::fs::create_dir_all(above).and_then(|()| std::fs::write(&file, text));
            written.map_err(|error| Error::Cache { path: file, problem: error.to_string() })
        })
    })
}

/// Path of the linker script that gives counts pages of their own.
pub fn script(cache: &Cache) -> Result<PathBuf, Error> {
    let key = digest([SCRIPT.as_bytes()]);
    cache.file(&format!("script-{key}"), "counts.ld", |folder| {
        let file = folder.join("counts.ld");
        std::fs::write(&file, SCRIPT).map_err(|error| Error::Cache { path: file, problem: error.to_string() })
    })
}

/// Path of the pass plugin for this clang, in this variant. Each variant is a file of its own, so that a command shows
/// which one it uses.
pub(crate) fn plugin(cache: &Cache, toolchain: &Toolchain, pass: PassVariant) -> Result<PathBuf, Error> {
    let compares = pass.compares.then_some("-DQUAGMIRE_COMPARES=1");
    let every_block = pass.every_block.then_some("-DQUAGMIRE_EVERY_BLOCK=1");
    let no_library_costs = (!pass.library_costs).then_some("-DQUAGMIRE_NO_LIBRARY_COSTS=1");
    let own: Vec<&str> = [compares, every_block, no_library_costs].into_iter().flatten().collect();
    compiled_plugin(cache, toolchain, &Plugin { file: "quagmire-counts.so", sources: PASS, options: &own })
}

/// Path of the plugin that makes mutants of a kind, for this clang.
pub(crate) fn mutants_plugin(cache: &Cache, toolchain: &Toolchain, kind: MutantsKind) -> Result<PathBuf, Error> {
    let (file, sources) = match kind {
        MutantsKind::Faults => ("quagmire-mutants.so", MUTANTS_PASS),
        MutantsKind::Performance => ("quagmire-performance.so", PERFORMANCE_PASS),
    };
    compiled_plugin(cache, toolchain, &Plugin { file, sources, options: &[] })
}

/// A plugin for clang: its file, its sources, of which the first is compiled, and options of its own.
struct Plugin<'a> {
    file: &'static str,
    sources: &'a [(&'a str, &'a str)],
    options: &'a [&'a str],
}

fn compiled_plugin(cache: &Cache, toolchain: &Toolchain, plugin: &Plugin) -> Result<PathBuf, Error> {
    // an option may be wrong for one clang only: its LLVM's flags come last
    let theirs = toolchain.cxxflags.iter().map(String::as_str);
    let flags: Vec<&str> = PLUGIN_FLAGS.iter().copied().chain(plugin.options.iter().copied()).chain(theirs).collect();
    let sources = plugin.sources.iter().map(|(_, text)| *text);
    let key = digest(
        [toolchain.identity.as_str()].into_iter().chain(sources).chain(flags.iter().copied()).map(str::as_bytes),
    );
    cache.file(&format!("plugin-{}-{key}", toolchain.major), plugin.file, |folder| {
        let mut command = Command::new(&toolchain.clangxx);
        command.args(&flags).arg(plugin.sources[0].0).args(["-o", plugin.file]);
        compile(command, "the pass plugin", toolchain, folder, plugin.sources)
    })
}

/// Paths of the objects for this clang and for the compile target chosen by the user's flags.
pub(crate) fn objects(cache: &Cache, toolchain: &Toolchain, compile_target: &[OsString]) -> Result<Objects, Error> {
    let units: Vec<Source> =
        [RUNTIME, IN_PROCESS, SERVE, MUTANTS, MUTANTS_SERVE, MUTANTS_FOREIGN, FAULTS, PERFORMANCE, DRIVER, MAIN, HEAP]
            .concat();
    let sources = [HEADERS, &HOOKS, &units].concat();
    let key = digest(
        [toolchain.identity.as_bytes()]
            .into_iter()
            .chain(sources.iter().map(|(_, text)| text.as_bytes()))
            .chain(RUNTIME_FLAGS.iter().map(|flag| flag.as_bytes()))
            .chain(compile_target.iter().map(|flag| flag.as_encoded_bytes())),
    );
    let first = object_name(units[0].0);
    let first = cache.file(&format!("objects-{}-{key}", toolchain.major), &first, |folder| {
        for (source, _) in &units {
            let mut command = Command::new(&toolchain.clang);
            command.args(compile_target).args(RUNTIME_FLAGS).args([source, "-o", &object_name(source)]);
            compile(command, "the runtime", toolchain, folder, &sources)?;
        }
        let (object, file) = (folder.join(object_name(MAIN[0].0)), folder.join(MAIN_ARCHIVE));
        let written =
            std::fs::read(object).and_then(|object| std::fs::write(&file, archive("main.o", &object, "main")));
        written.map_err(|error| Error::Cache { path: file, problem: error.to_string() })
    })?;
    let built = |units: &[Source]| units.iter().map(|(source, _)| first.with_file_name(object_name(source))).collect();
    Ok(Objects {
        runtime: built(RUNTIME),
        in_process: built(IN_PROCESS),
        serve: built(SERVE),
        mutants: built(MUTANTS),
        faults: built(FAULTS),
        performance: built(PERFORMANCE),
        mutants_serve: built(MUTANTS_SERVE),
        mutants_foreign: built(MUTANTS_FOREIGN),
        driver: built(DRIVER),
        heap: built(HEAP),
        main: vec![first.with_file_name(MAIN_ARCHIVE)],
    })
}

/// Name of the object that a source of the runtime is compiled to.
fn object_name(source: &str) -> String {
    format!("quagmire-{}.o", source.trim_end_matches(".c"))
}

/// Path of the in-process engine: `QUAGMIRE_ENGINE`, or else `libquagmire.a` next to the wrapper or in
/// `../lib/quagmire` relative to it.
pub fn engine(named: Option<OsString>, executable: Option<PathBuf>) -> Result<PathBuf, Error> {
    let mut tried = Vec::new();
    if let Some(named) = named.filter(|value| !value.is_empty()) {
        tried.push(PathBuf::from(named));
    } else if let Some(folder) = executable.as_deref().and_then(Path::parent) {
        tried.push(folder.join("libquagmire.a"));
        tried.extend(folder.parent().map(|above| above.join("lib/quagmire/libquagmire.a")));
    }
    tried.iter().find(|path| path.is_file()).cloned().ok_or(Error::NoEngine { tried })
}

/// Runs a compile command in `folder`, in which the sources are stored while it runs.
fn compile(
    mut command: Command,
    what: &'static str,
    toolchain: &Toolchain,
    folder: &Path,
    sources: &[(&str, &str)],
) -> Result<(), Error> {
    let clang = PathBuf::from(command.get_program());
    let failed = |messages| Error::Build { what, clang, messages, major: toolchain.major };
    for name in UNWANTED_VARIABLES {
        command.env_remove(name);
    }
    let written = sources.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text));
    match written.and_then(|()| command.current_dir(folder).stdin(Stdio::null()).output()) {
        Ok(output) if output.status.success() => {}
        Ok(output) => return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => return Err(failed(error.to_string())),
    }
    for (name, _) in sources {
        // the cache keeps only what is used later
        let _ = std::fs::remove_file(folder.join(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_of_the_engine_has_the_units_of_a_harness() {
        let script = include_str!("../../scripts/engine-archive");
        let units = script.lines().find_map(|line| line.strip_prefix("for unit in ")?.strip_suffix("; do")).unwrap();
        let built: Vec<&str> = units.split(' ').collect();
        let linked = [RUNTIME, IN_PROCESS, MAIN, HEAP].concat();
        let linked: Vec<&str> = linked.iter().map(|(source, _)| source.trim_end_matches(".c")).collect();
        assert_eq!(built, linked);
    }

    #[test]
    fn the_engine_is_looked_for_beside_the_wrapper_and_in_lib() {
        let scratch = tempfile::tempdir().unwrap();
        let wrapper = scratch.path().join("bin/quagmire-cc");
        let error = engine(None, Some(wrapper.clone())).unwrap_err().to_string();
        assert!(error.contains("bin/libquagmire.a") && error.contains("run scripts/build"), "{error}");
        let archive = scratch.path().join("lib/quagmire/libquagmire.a");
        std::fs::create_dir_all(archive.parent().unwrap()).unwrap();
        std::fs::write(&archive, "").unwrap();
        assert_eq!(engine(None, Some(wrapper.clone())), Ok(archive));
        assert!(engine(Some("/nowhere/libquagmire.a".into()), Some(wrapper)).is_err(), "a named one is not replaced");
    }
}
