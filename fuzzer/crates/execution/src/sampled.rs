//! Where sampled program counters are: in code that is counted, or in code that costs time and no instructions.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use super::{
    program::Program,
    symbols::{SymbolAt, Symbols, demangle},
};

/// Kinds of code that a run can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// It is counted, or what it does is charged to those who call it.
    Counted,
    /// It belongs to the program or a library of its own, and has no counts.
    Uncounted,
    /// A library of the system, which nobody compiles for a campaign.
    System,
    /// The runtime of quagmire or of a sanitizer: no time of the program.
    Runtime,
}

/// Function that a program counter is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SampledFunction {
    /// Kind of its code.
    pub code: Code,
    /// Its demangled name; that of its object if that has no symbols.
    pub name: String,
    /// File name of its object.
    pub object: String,
}

impl SampledFunction {
    /// Whether it is in an object of its own that has no counts, or is a function without them.
    pub fn is_without_counts(&self) -> bool {
        let is_c_library = self.code == Code::Counted && self.name == self.object && self.object.starts_with("libc.");
        matches!(self.code, Code::Uncounted | Code::System) || is_c_library
    }

    /// The function and its object: `parse of libfoo.so`, `libc.so.6`.
    pub fn in_words(&self) -> String {
        if self.name == self.object { self.object.clone() } else { format!("{} of {}", self.name, self.object) }
    }
}

/// Folders whose libraries belong to the system.
const SYSTEM: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/// Beginnings of names in the C library, without underscores, whose costs callers are charged with. See
/// `compiler-wrapper/passes/library_functions.h`.
const CHARGED: [&str; 16] = [
    "mem",
    "str",
    "wmem",
    "wcs",
    "rawmemchr",
    "bcopy",
    "bcmp",
    "bzero",
    "index",
    "rindex",
    "stpcpy",
    "stpncpy",
    "malloc",
    "calloc",
    "realloc",
    "free",
];

/// The same of what only allocators call.
const ALLOCATOR: [&str; 8] =
    ["int_malloc", "int_free", "libc_free", "int_realloc", "sysmalloc", "systrim", "unlink_chunk", "tcache_"];

/// The same of functions that begin like one of them and are not charged.
const NOT_CHARGED: [&str; 7] = ["strto", "strf", "strp", "strcoll", "strxfrm", "wcsto", "strv"];

/// Beginnings of names of runtimes that are linked into programs.
const RUNTIMES: [&str; 9] = [
    "__quagmire",
    "quagmire_",
    "LLVMFuzzer",
    "__asan",
    "__ubsan",
    "__msan",
    "__sanitizer",
    "__interceptor",
    "___interceptor",
];

/// Tells where program counters are. Looks at each object once, when it is first needed.
#[derive(Debug, Default)]
pub struct Sampler {
    /// Run-time addresses of functions with counts.
    counted: HashSet<u64>,
    /// Load biases of the objects that have some.
    objects: HashSet<u64>,
    symbols: Symbols,
    known: HashMap<u64, Option<SampledFunction>>,
}

impl std::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Symbols")
    }
}

impl Sampler {
    /// Creates one for the functions that are loaded now, which quagmire's pass has counted.
    pub fn new(program: &Program) -> Self {
        let mut symbols = Symbols::new();
        let counted: HashSet<u64> = program.loaded_functions().map(|function| function.address() as u64).collect();
        let objects = counted.iter().filter_map(|&address| symbols.base(address)).collect();
        symbols.update();
        Self { counted, objects, symbols, known: HashMap::new() }
    }

    /// The function at a program counter; `None` outside of all objects.
    pub fn function(&mut self, pc: u64) -> Option<SampledFunction> {
        if let Some(known) = self.known.get(&pc) {
            return known.clone();
        }
        let function = self.symbols.symbol(pc).map(|at| self.classified(&at));
        self.known.insert(pc, function.clone());
        function
    }

    fn classified(&self, at: &SymbolAt) -> SampledFunction {
        let object = if at.object == Path::new("/proc/self/exe") {
            std::fs::read_link(&at.object).unwrap_or_default()
        } else {
            at.object.clone()
        };
        let file = object.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let has_counts = self.objects.contains(&at.base);
        let is_of_system = !has_counts && is_of_system(&object);
        let (code, name) = match &at.found {
            Some((_, start)) if self.counted.contains(start) => (Code::Counted, None),
            // beside counted functions stands the runtime, whose own functions have any name
            Some((name, _)) if has_counts => (Code::Runtime, Some(demangle(name))),
            Some((name, _)) => (code(name, is_of_system), Some(demangle(name))),
            // a C library without symbols: most of it is charged to callers, and nothing tells the rest
            None if is_of_system && file.starts_with("libc.") => (Code::Counted, None),
            None if is_of_system => (Code::System, None),
            // in a stripped object, nothing tells counted functions from others
            None if has_counts => (Code::Counted, None),
            None => (Code::Uncounted, None),
        };
        SampledFunction { code, name: name.unwrap_or_else(|| file.clone()), object: file }
    }
}

/// Whether an object is none of the user's own.
fn is_of_system(object: &Path) -> bool {
    !object.is_absolute() || SYSTEM.iter().any(|folder| object.starts_with(folder))
}

/// Kind of the code of a function without counts.
fn code(name: &str, is_of_system: bool) -> Code {
    let begins = |name: &str, all: &[&str]| all.iter().any(|beginning| name.starts_with(beginning));
    // the runtime brings an allocator, which calls the system's; what headers draw is no work of the program
    let of_c = name.trim_start_matches('_');
    let is_charged = begins(of_c, &CHARGED) && !begins(of_c, &NOT_CHARGED) || begins(of_c, &ALLOCATOR);
    match is_of_system {
        _ if begins(name, &RUNTIMES) || name.contains("FuzzedDataProvider") => Code::Runtime,
        true if is_charged => Code::Counted,
        true => Code::System,
        false if matches!(name, "malloc" | "calloc" | "realloc" | "free") => Code::Runtime,
        false => Code::Uncounted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_c_library_does_is_charged_or_costs_time_only() {
        for name in ["__memmove_avx_unaligned_erms", "strlen", "_int_malloc", "__libc_free", "malloc_consolidate"] {
            assert_eq!(code(name, true), Code::Counted, "{name}");
        }
        for name in ["regexec", "____strtod_l_internal", "qsort_r", "printf", "strftime"] {
            assert_eq!(code(name, true), Code::System, "{name}");
        }
    }

    #[test]
    fn code_of_the_user_is_told_from_runtimes() {
        assert_eq!(code("parse", false), Code::Uncounted);
        assert_eq!(code("strip", false), Code::Uncounted);
        for name in ["__quagmire_guarded", "__asan_memcpy", "malloc", "_ZN18FuzzedDataProvider11ConsumeBoolEv"] {
            assert_eq!(code(name, false), Code::Runtime, "{name}");
        }
        assert!(is_of_system(Path::new("linux-vdso.so.1")) && is_of_system(Path::new("/usr/lib/libz.so.1")));
        assert!(!is_of_system(Path::new("/usr/local/lib/libz.so")) && !is_of_system(Path::new("/home/me/h")));
    }

    #[test]
    fn this_program_has_no_counts_and_nothing_is_nowhere() {
        let mut sampler = Sampler::new(&Program::default());
        let here = sampler.function(is_of_system as *const () as u64).expect("a function");
        assert!(here.code == Code::Uncounted && here.name.contains("is_of_system"), "{here:?}");
        assert_eq!(sampler.function(16), None);
    }
}
