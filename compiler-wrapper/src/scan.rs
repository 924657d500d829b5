//! One reading of a command line: what its options say about phases, inputs, linking and sanitizers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::inputs::InputKind;
use crate::options;
use crate::response::Expanded;

pub(crate) const FUZZING_MACRO: &str = "FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION";

/// Phases of compilation, of which a command runs all up to one. Clang decides by rank, not by order: `-c -E`
/// preprocesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Print,
    Preprocess,
    Check,
    Backend,
    Assemble,
    #[default]
    Link,
}

impl Phase {
    fn ended_by(option: &str) -> Option<Phase> {
        Some(match option {
            "-E" | "--preprocess" | "-M" | "--dependencies" | "-MM" | "--user-dependencies" => Phase::Preprocess,
            "--driver-mode=cpp" => Phase::Preprocess,
            "-fsyntax-only" | "--analyze" | "-emit-ast" | "--precompile" | "-verify-pch" | "-module-file-info" => {
                Phase::Check
            }
            "-rewrite-objc" | "-rewrite-legacy-objc" | "--migrate" | "-extract-api" | "--extract-api" => Phase::Check,
            "-emit-interface-stubs" => Phase::Check,
            "-S" | "--assemble" => Phase::Backend,
            "-c" | "--compile" => Phase::Assemble,
            _ if options::only_prints(option) => Phase::Print,
            _ => return None,
        })
    }
}

/// Files and libraries that a link takes its code from, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linked {
    /// Objects, archives and libraries, named by their paths.
    pub files: Vec<OsString>,
    /// Values of `-l`.
    pub libraries: Vec<OsString>,
    /// Values of `-L`.
    pub folders: Vec<OsString>,
    /// Whether all members of archives are linked (`--whole-archive`).
    pub whole_archives: bool,
}

/// Findings of one pass over the expanded arguments.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) last_phase: Phase,
    pub(crate) inputs: Vec<InputKind>,
    pub(crate) linked: Linked,
    /// `-shared`, for the driver or the linker.
    pub(crate) shared: bool,
    /// `-r`, for the driver or the linker.
    pub(crate) relocatable: bool,
    /// Whether the linker accepts a script that inserts into its default one. gold and mold do not.
    pub(crate) takes_scripts: bool,
    /// `-static` or `-static-pie`.
    pub(crate) is_static: bool,
    /// Whether the linker is lld.
    pub(crate) lld: bool,
    /// Whether link-time optimisation is on.
    pub(crate) lto: bool,
    /// Option that links the C++ library; `None` if clang is to link no libraries by itself.
    pub(crate) cxx_library: Option<&'static str>,
    /// Whether the last option lacks its value, which clang reports.
    pub(crate) dangling: bool,
    pub(crate) engine: bool,
    pub(crate) sanitizer_allocates: bool,
    pub(crate) defines_fuzzing_macro: bool,
    pub(crate) compile_target: Vec<OsString>,
    /// The index of `--`.
    pub(crate) separator: Option<usize>,
    pub(crate) language: Option<OsString>,
    /// Arguments to replace: index, and what remains of the argument, if anything.
    pub(crate) rewritten: Vec<(usize, Option<OsString>)>,
}

impl Scan {
    pub(crate) fn of(expanded: &[Expanded]) -> Scan {
        let mut scan = Scan { takes_scripts: true, cxx_library: Some("-lstdc++"), ..Scan::default() };
        let mut index = 0;
        while let Some(Expanded { argument, .. }) = expanded.get(index) {
            let text = argument.to_string_lossy();
            if scan.separator.is_some() || text == "-" || !text.starts_with('-') {
                scan.input(argument, &text);
            } else if text == "--" {
                scan.separator = Some(index);
            } else {
                let value =
                    options::takes_value(&text).then(|| expanded.get(index + 1).map(|e| e.argument.as_os_str()));
                scan.option(index, argument, &text, value.flatten());
                if let Some(found) = value {
                    scan.dangling = found.is_none();
                    index += 1;
                }
            }
            index += 1;
        }
        scan
    }

    /// Whether the command generates code from sources.
    pub(crate) fn compiles(&self) -> bool {
        self.last_phase >= Phase::Backend && self.inputs.iter().any(|kind| kind.is_instrumented())
    }

    /// Whether the command links anything, or merges objects (`-r`).
    pub(crate) fn calls_linker(&self) -> bool {
        // a library is input enough to link
        let has_input = !self.linked.libraries.is_empty() || self.inputs.iter().any(|kind| *kind != InputKind::Header);
        self.last_phase == Phase::Link && !self.dangling && has_input
    }

    /// Whether the command links an executable or a shared library.
    pub(crate) fn links(&self) -> bool {
        self.calls_linker() && !self.relocatable
    }

    /// Whether the command links an executable.
    pub(crate) fn links_executable(&self) -> bool {
        self.links() && !self.shared
    }

    fn input(&mut self, argument: &OsStr, path: &str) {
        let named = self.language.as_ref().and_then(|x| InputKind::of_language(&x.to_string_lossy()));
        let kind = named.unwrap_or_else(|| InputKind::of_path(path));
        if kind == InputKind::Object {
            self.linked.files.push(argument.to_owned());
        }
        self.inputs.push(kind);
    }

    fn option(&mut self, index: usize, argument: &OsStr, text: &str, value: Option<&OsStr>) {
        if let Some(phase) = Phase::ended_by(text) {
            self.last_phase = self.last_phase.min(phase);
        }
        if options::chooses_compile_target(text) {
            self.compile_target.extend([Some(argument), value].into_iter().flatten().map(OsStr::to_owned));
        }
        match (text, value) {
            ("-l", Some(name)) => self.linked.libraries.push(name.to_owned()),
            ("-L", Some(folder)) => self.linked.folders.push(folder.to_owned()),
            _ => self.library_option(argument.as_bytes()),
        }
        let value = value.map(|v| v.to_string_lossy());
        let value = value.as_deref();
        match text {
            "-shared" | "--shared" | "-r" => self.linker_option(text),
            "-Xlinker" => self.linker_option(value.unwrap_or_default()),
            "-x" | "--language" => self.language(value),
            "-D" | "--define-macro" => self.macro_definition(value.unwrap_or_default()),
            "-static" | "--static" | "-static-pie" => self.is_static = true,
            "-flto" => self.lto = true,
            "-fno-lto" => self.lto = false,
            "-stdlib=libc++" => self.cxx_library = self.cxx_library.and(Some("-lc++")),
            "-nostdlib" | "-nodefaultlibs" | "-nostdlib++" => self.cxx_library = None,
            _ if text.starts_with("-flto=") => self.lto = true,
            _ => {}
        }
        if let Some(rest) = text.strip_prefix("-Wl,") {
            rest.split(',').for_each(|option| self.linker_option(option));
        } else if let Some(language) = text.strip_prefix("--language=") {
            self.language(Some(language));
        } else if let Some(list) = text.strip_prefix("-fsanitize=") {
            self.sanitizers(index, list);
        } else if text.starts_with("-fsanitize-coverage") {
            // the pass counts what the wrapper compiles: it would count twice
            self.rewritten.push((index, None));
        } else if let Some(linker) = text.strip_prefix("-fuse-ld=").or(text.strip_prefix("--ld-path=")) {
            self.takes_scripts = !["gold", "mold"].iter().any(|name| linker.ends_with(name));
            let name = linker.rsplit('/').next().unwrap_or(linker);
            self.lld = name == "lld" || name.starts_with("ld.lld") || name.starts_with("lld-");
        } else if let Some(list) = text.strip_prefix("-fno-sanitize=") {
            self.engine &= !list.split(',').any(|name| matches!(name, "fuzzer" | "all"));
            self.sanitizer_allocates &= !list.split(',').any(|name| name == "all" || has_allocator(name));
        } else if let Some(definition) = text.strip_prefix("-D") {
            self.macro_definition(definition);
        } else if let Some(language) = text.strip_prefix("-x").filter(|language| !language.is_empty()) {
            self.language(Some(language));
        }
    }

    fn library_option(&mut self, option: &[u8]) {
        match option {
            [b'-', b'l', name @ ..] if !name.is_empty() => {
                self.linked.libraries.push(OsStr::from_bytes(name).to_owned());
            }
            [b'-', b'L', folder @ ..] if !folder.is_empty() => {
                self.linked.folders.push(OsStr::from_bytes(folder).to_owned());
            }
            _ => {}
        }
    }

    /// Leaves everything that belongs to a fuzzer to clang: its `main` and its coverage are another's.
    pub(crate) fn leave_fuzzer(&mut self) {
        self.rewritten.clear();
        self.engine = false;
    }

    fn linker_option(&mut self, option: &str) {
        self.shared |= matches!(option, "-shared" | "--shared" | "-Bshareable");
        self.linked.whole_archives |= matches!(option, "--whole-archive" | "-whole-archive");
        self.relocatable |= matches!(option, "-r" | "--relocatable" | "-relocatable");
    }

    fn language(&mut self, language: Option<&str>) {
        self.language = language.filter(|name| *name != "none").map(OsString::from);
    }

    fn macro_definition(&mut self, definition: &str) {
        self.defines_fuzzing_macro |= definition.split('=').next() == Some(FUZZING_MACRO);
    }

    fn sanitizers(&mut self, index: usize, list: &str) {
        let kept: Vec<&str> = list.split(',').filter(|name| !matches!(*name, "fuzzer" | "fuzzer-no-link")).collect();
        self.engine |= list.split(',').any(|name| name == "fuzzer");
        self.sanitizer_allocates |= list.split(',').any(has_allocator);
        if kept.len() < list.split(',').count() {
            let left = (!kept.is_empty()).then(|| format!("-fsanitize={}", kept.join(",")).into());
            self.rewritten.push((index, left));
        }
    }
}

/// Whether a sanitizer's runtime replaces `malloc`.
fn has_allocator(sanitizer: &str) -> bool {
    matches!(sanitizer, "address" | "hwaddress" | "memory" | "thread" | "leak" | "scudo")
}
