//! Parsing of compiler command lines into what the wrapper adds to them. Pure: nothing is looked up or started here.
//!
//! # Why libafl_cc's `ClangWrapper` is not used
//!
//! libafl_cc 0.16.1 wraps clang for fuzzers, and rewrites commands where a drop-in compiler must not:
//!
//! - It drops flags of the user: `-Wl,-z,defs`, `-Wl,--no-undefined`, `-print-prog-name=ld`, and in `filter` every
//!   `-Werror`, so that configure probes which rely on a failure succeed. It moves `-o FILE` to the front.
//! - It always adds `-g` and `-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1` (only `-O3` can be turned off).
//! - `-fsanitize=fuzzer` is known only when it stands alone: not in `fuzzer,address`, not before
//!   `-fno-sanitize=fuzzer`.
//! - A link is whatever has no `-c`, `-S`, `-E` or `-shared`: `-M`, `-MM`, `-fsyntax-only`, `-r`, `--version` and a
//!   command without input get the link's arguments too. What it adds comes last, after a `--` as well.
//! - Response files are not read, an empty command line is an error, and arguments have to be UTF-8.
//! - `run` waits for a child instead of becoming clang, prints each command with `dbg!` unless silenced, and a clang
//!   that died of a signal has no exit code.
//! - `add_pass` takes its own passes only (a closed enum), compiled for the LLVM that was found when libafl_cc was,
//!   while quagmire chooses among LLVM 14 to 22 when it runs.
//!
//! The list of link arguments, which remains useful, is ten lines in [`BuildPlan::command`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::response::{self, Expanded, Read};
use crate::scan::{FUZZING_MACRO, Linked, Phase, Scan};
use crate::settings::{MutantsKind, PassVariant, Settings};
use crate::{exported, hints, macros};

/// Driver of clang, by language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// `clang`
    #[default]
    C,
    /// `clang++`
    Cxx,
}

/// Kinds of executables, by what they are linked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// The runtime: counts and fork server.
    Runtime,
    /// The runtime object and the in-process engine with its `main` (`-fsanitize=fuzzer`).
    Engine,
    /// The runtime with the fork server, and a `main` that calls the harness (`-fsanitize=fuzzer` with
    /// `QUAGMIRE_DRIVER=1`).
    Driver,
    /// The runtime with the fork server of `quagmire mutants`, and for harnesses a `main`.
    Mutants {
        kind: MutantsKind,
        /// Whether it is a harness (`-fsanitize=fuzzer`).
        harness: bool,
    },
}

impl Link {
    /// Whether `main` calls a harness.
    fn is_harness(self) -> bool {
        !matches!(self, Link::Runtime | Link::Mutants { harness: false, .. })
    }

    /// Symbols that only this kind of executable exports.
    fn exported(self) -> &'static str {
        match self {
            Link::Engine => exported::SANCOV,
            Link::Mutants { kind: MutantsKind::Faults, .. } => exported::MUTANTS,
            Link::Mutants { kind: MutantsKind::Performance, .. } => exported::PERFORMANCE,
            Link::Runtime | Link::Driver => "",
        }
    }
}

/// Linker of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linker {
    /// It can load the plugin, and optimises objects of `-flto` whether or not the command says so, too.
    Lld,
    /// It cannot.
    Other,
}

/// A parsed command line, and what the wrapper adds to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildPlan {
    /// Driver to start.
    pub language: Language,
    /// Whether the command generates code that the pass plugin instruments.
    pub instrument: bool,
    /// Variant of the plugin.
    pub pass: PassVariant,
    /// Whether an LLVM may be newer than those that were tried.
    pub untested_llvm: bool,
    /// The mutants that the plugin makes, instead of counting.
    pub mutants: Option<MutantsKind>,
    /// Whether the linker optimises what the command compiles or links: the plugin then runs there, after all inlining.
    pub lto: bool,
    /// The linker that the command calls, if any, to link or to merge objects (`-r`).
    pub linker: Option<Linker>,
    /// The kind of executable that the command links, if any.
    pub link: Option<Link>,
    /// Files that the command links and does not compile; `None` if it links nothing, or nobody wants to know of code without
    /// counts.
    pub linked: Option<Linked>,
    /// Whether it compiles something of what it links.
    pub compiles: bool,
    /// Whether it is linked statically.
    pub is_static: bool,
    /// Whether the counts of the linked object get pages of their own, so that a fork server can share them.
    pub pages: bool,
    /// Whether a sanitizer brings its own allocator, so that the heap-counting one is left out.
    pub sanitizer_allocates: bool,
    /// Whether to define `FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION`.
    pub fuzzing_mode: bool,
    /// Whether the command preprocesses something, so that it gets AFL's macros and the headers for generators.
    pub macros: bool,
    /// Whether the compiler of another fuzzer brings AFL's macros, coverage and `main`.
    pub foreign: bool,
    /// Option that links the C++ library; `None` if the command links no libraries by itself.
    pub cxx_library: Option<&'static str>,
    /// Whether FuzzedDataProvider.h is included first.
    pub includes_provider: bool,
    /// The user's flags that choose the compile target, which the runtime is compiled for as well.
    pub compile_target: Vec<OsString>,
    /// The user's arguments, without `fuzzer` among the sanitizers.
    arguments: Vec<OsString>,
    /// Number of arguments before `--`.
    before_inputs_only: usize,
    /// The `-x` in effect where the wrapper's objects are inserted.
    language_in_effect: Option<OsString>,
}

/// Paths of the files that a plan can need; those that it does not need stay empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// The pass plugin.
    pub plugin: PathBuf,
    /// The same, if the linker has to load it.
    pub linker_plugin: PathBuf,
    /// Objects linked into executables.
    pub objects: Objects,
    /// The linker script that gives counts pages of their own.
    pub script: PathBuf,
    /// The engine's archive.
    pub engine: PathBuf,
    /// FuzzedDataProvider.h, two folders below the one with the headers for generators.
    pub provider: PathBuf,
}

/// Parts of the runtime, by what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Registration of instrumented objects, and progress of comparisons: in every executable, since objects compiled with
    /// `QUAGMIRE_COMPARES=1` may be linked or loaded.
    Always,
    InProcess,
    /// Fork server of other programs.
    Serve,
    /// Tables of mutants.
    Mutants,
    /// Fork server of programs with mutants.
    MutantsServe,
    /// Instead of it where another fuzzer runs them.
    MutantsForeign,
    Faults,
    Performance,
    /// Calls harnesses under the fork server.
    Driver,
    /// The archive with `main` of harnesses, unless they have their own.
    Main,
    /// Allocator that counts heap use.
    Heap,
}

/// Paths of the objects of each part.
pub(crate) type Objects = BTreeMap<Part, Vec<PathBuf>>;

impl BuildPlan {
    /// The arguments for clang.
    pub(crate) fn command(&self, pieces: &Pieces) -> Vec<OsString> {
        let (before, after) = self.arguments.split_at(self.before_inputs_only);
        let mut command = Vec::with_capacity(self.arguments.len() + 16);
        // at the front, so that a dangling `-o` at the end still causes clang's own message
        if self.fuzzing_mode {
            command.push(format!("-D{FUZZING_MACRO}=1").into());
        }
        if self.macros && !self.foreign {
            command.extend(macros::AFL.map(|(name, text)| format!("-D{name}={text}").into()));
        }
        if let Some(folder) = pieces.provider.ancestors().nth(2) {
            // before clang's own headers, behind those of the user
            command.extend(["-isystem".into(), folder.into()]);
            if self.includes_provider {
                command.extend(["-include".into(), pieces.provider.clone().into()]);
            }
        }
        if self.instrument && self.mutants.is_some() {
            // mutants have places in the source; an option of the user's comes later
            command.push("-g".into());
        }
        if self.instrument {
            command.push(joined("-fpass-plugin=", &pieces.plugin));
        }
        if pieces.linker_plugin != Path::new("") {
            command.extend(["-Xlinker".into(), joined("--load-pass-plugin=", &pieces.linker_plugin)]);
        }
        if self.pages {
            // before a script of the user's: bfd does not find .data in one that it has read already. In a list of -Wl, the path
            // must not have a comma
            let script = ["-Xlinker".into(), "-T".into(), "-Xlinker".into(), pieces.script.clone().into()];
            command.extend::<[OsString; 4]>(script);
        }
        command.extend_from_slice(before);
        if let Some(link) = self.link {
            if self.language_in_effect.is_some() {
                command.extend(["-x", "none"].map(OsString::from));
            }
            let objects = self.parts(link).into_iter().flat_map(|part| pieces.objects.get(&part)).flatten();
            command.extend(objects.map(OsString::from));
            if link == Link::Engine {
                command.push(pieces.engine.clone().into());
            }
            if link.is_harness() {
                // libFuzzer precedes the user's archives and so links a harness that is in one: do the same
                command
                    .extend(["-Wl,-u,LLVMFuzzerTestOneInput", "-lpthread", "-ldl", "-lm", "-lrt"].map(OsString::from));
                // so that a harness in C links libraries in C++, as with libFuzzer
                if let Some(library) = self.cxx_library.filter(|_| self.language == Language::C) {
                    command.extend(["-Wl,--push-state,--as-needed", library, "-Wl,--pop-state"].map(OsString::from));
                }
            }
            // instrumented libraries opened at run time need these; bfd, gold, lld and mold know the option
            let exported = exported::ALWAYS.split_whitespace().chain(link.exported().split_whitespace());
            command.extend(exported.map(|name| format!("-Wl,--export-dynamic-symbol={name}").into()));
            if let Some(language) = self.language_in_effect.as_ref().filter(|_| after.len() > 1) {
                command.extend([OsString::from("-x"), language.clone()]);
            }
        }
        command.extend_from_slice(after);
        command
    }

    /// Parts of the runtime that an executable is linked with, in their order.
    fn parts(&self, link: Link) -> Vec<Part> {
        let mut parts = vec![Part::Always];
        match link {
            Link::Engine => parts.push(Part::InProcess),
            Link::Mutants { kind, .. } => {
                let of_kind = if kind == MutantsKind::Faults { Part::Faults } else { Part::Performance };
                let serve = if self.foreign { Part::MutantsForeign } else { Part::MutantsServe };
                parts.extend([of_kind, Part::Mutants, serve]);
            }
            Link::Runtime | Link::Driver => parts.push(Part::Serve),
        }
        parts.extend((!self.sanitizer_allocates && self.mutants.is_none()).then_some(Part::Heap));
        parts.extend((link.is_harness() && link != Link::Engine).then_some(Part::Driver));
        parts.extend(link.is_harness().then_some(Part::Main));
        parts
    }

    /// The hint for a link that has failed.
    pub(crate) fn hint(&self) -> Option<String> {
        hints::after_failure(&self.arguments, self.link?.is_harness())
    }
}

/// Parses a command line (without the program's name). `read` reads response files.
pub fn parse(arguments: Vec<OsString>, language: Language, settings: Settings, read: Read) -> BuildPlan {
    let first = arguments.first().map_or(b"".as_slice(), |a| a.as_bytes());
    // clang's internal tools have their own command lines
    if settings.plain || first.starts_with(b"-cc1") {
        return BuildPlan { language, before_inputs_only: arguments.len(), arguments, ..BuildPlan::default() };
    }
    let expanded = response::expand(&arguments, read);
    let mut scan = Scan::of(&expanded);
    if settings.foreign_driver {
        scan.leave_fuzzer();
    }
    let (arguments, before_inputs_only) = rebuild(&arguments, &expanded, &scan);

    let preprocesses = scan.last_phase > Phase::Print && scan.inputs.iter().any(|kind| kind.is_preprocessed_by_clang());
    let links = scan.links();
    let kind = match (settings.mutants, scan.engine) {
        (Some(kind), harness) => Link::Mutants { kind, harness },
        (None, false) => Link::Runtime,
        (None, true) if settings.driver => Link::Driver,
        (None, true) => Link::Engine,
    };
    let link = scan.links_executable().then_some(kind);
    let has_code = scan.compiles();
    let linker = scan.calls_linker().then_some(if scan.lld { Linker::Lld } else { Linker::Other });
    // mutants are made before anything is optimised
    let lto = scan.lto && settings.mutants.is_none() && (linker.is_some() || has_code);
    BuildPlan {
        language,
        instrument: has_code && !lto,
        pass: settings.pass,
        untested_llvm: settings.untested_llvm,
        mutants: settings.mutants,
        lto,
        linker,
        link,
        linked: (links && settings.mutants.is_none() && !settings.ignores_uncounted).then_some(scan.linked),
        compiles: has_code,
        is_static: scan.is_static,
        pages: links && scan.takes_scripts && link != Some(Link::Engine) && settings.mutants.is_none(),
        sanitizer_allocates: scan.sanitizer_allocates,
        fuzzing_mode: settings.fuzzing_mode && preprocesses && !scan.defines_fuzzing_macro,
        macros: preprocesses,
        foreign: settings.foreign_driver,
        cxx_library: scan.cxx_library,
        includes_provider: settings.includes_provider && preprocesses,
        compile_target: scan.compile_target,
        arguments,
        before_inputs_only,
        language_in_effect: scan.language,
    }
}

/// Rebuilds the arguments for clang, and counts those before `--`. A response file is kept, unless it contains `--`
/// or something to change: then its contents replace it.
fn rebuild(arguments: &[OsString], expanded: &[Expanded], scan: &Scan) -> (Vec<OsString>, usize) {
    let opened: Vec<usize> = scan
        .rewritten
        .iter()
        .map(|(index, _)| *index)
        .chain(scan.separator)
        .map(|index| expanded[index].origin)
        .collect();

    let mut rebuilt = Vec::with_capacity(arguments.len());
    let mut before_inputs_only = None;
    let mut index = 0;
    // an empty response file has no items here, and is dropped
    for one_typed in expanded.chunk_by(|a, b| a.origin == b.origin) {
        let origin = one_typed[0].origin;
        if !opened.contains(&origin) {
            // unchanged response files are kept
            rebuilt.push(arguments[origin].clone());
            index += one_typed.len();
            continue;
        }
        for inner in one_typed {
            if scan.separator == Some(index) {
                before_inputs_only = Some(rebuilt.len());
            }
            match scan.rewritten.iter().find(|(rewritten, _)| *rewritten == index) {
                Some((_, left)) => rebuilt.extend(left.clone()),
                None => rebuilt.push(inner.argument.clone()),
            }
            index += 1;
        }
    }
    let before_inputs_only = before_inputs_only.unwrap_or(rebuilt.len());
    (rebuilt, before_inputs_only)
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

#[cfg(test)]
mod tests;
